// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Wall-clock times by phase, independent of Kokkos.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace moho {

/// A stopwatch that starts on construction.
class Stopwatch {
 public:
  /// Returns the wall-clock seconds since construction.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }

 private:
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

/// Wall-clock seconds of named phases, in the order of their first calls.
class PhaseTimes {
 public:
  /// Adds seconds to a phase.
  void add(const std::string& phase, double seconds) {
    for (auto& entry : m_phases) {
      if (entry.first == phase) {
        entry.second += seconds;
        return;
      }
    }
    m_phases.emplace_back(phase, seconds);
  }
  /// Returns the seconds of a phase; 0 if the phase has not run.
  double seconds(const std::string& phase) const {
    for (const auto& entry : m_phases) {
      if (entry.first == phase) return entry.second;
    }
    return 0.0;
  }
  /// Returns the seconds of all phases.
  double total() const {
    double sum = 0.0;
    for (const auto& entry : m_phases) sum += entry.second;
    return sum;
  }
  /// Returns the name and the seconds of every phase.
  const std::vector<std::pair<std::string, double>>& phases() const { return m_phases; }

 private:
  std::vector<std::pair<std::string, double>> m_phases;
};

/// Adds the seconds between its construction and destruction to a phase of host work.
///
/// Unlike ScopedPhase it does not fence, and Kokkos need not be initialised.
class HostPhase {
 public:
  /// Starts the phase. `times` must outlive the object.
  HostPhase(PhaseTimes& times, std::string phase) : m_times(times), m_phase(std::move(phase)) {}
  HostPhase(const HostPhase&) = delete;
  HostPhase& operator=(const HostPhase&) = delete;
  ~HostPhase() { m_times.add(m_phase, m_watch.seconds()); }

 private:
  PhaseTimes& m_times;
  std::string m_phase;
  Stopwatch m_watch;
};

}  // namespace moho
