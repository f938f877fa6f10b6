// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Seconds by phase, each phase a region that Kokkos Tools see.

#include <moho/core/kokkos.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace moho {

/// Wall-clock seconds of named phases, in the order in which they first ran.
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
  /// Seconds of one phase, zero if it never ran.
  double seconds(const std::string& phase) const {
    for (const auto& entry : m_phases) {
      if (entry.first == phase) return entry.second;
    }
    return 0.0;
  }
  /// Seconds of all phases.
  double total() const {
    double sum = 0.0;
    for (const auto& entry : m_phases) sum += entry.second;
    return sum;
  }
  /// Name and seconds of every phase.
  const std::vector<std::pair<std::string, double>>& phases() const { return m_phases; }

 private:
  std::vector<std::pair<std::string, double>> m_phases;
};

/// Times a scope and adds it to a phase. It fences the instance at both ends, so that the time is
/// that of the work and not of its submission, and pushes a region of the same name for Kokkos
/// Tools.
template <class Exec>
class ScopedPhase {
 public:
  /// Starts the phase; it ends with the scope of this object.
  ScopedPhase(const Exec& exec, PhaseTimes& times, std::string phase)
      : m_exec(exec), m_times(times), m_phase(std::move(phase)) {
    m_exec.fence();
    Kokkos::Profiling::pushRegion("moho::" + m_phase);
    m_start = std::chrono::steady_clock::now();
  }
  ScopedPhase(const ScopedPhase&) = delete;
  ScopedPhase& operator=(const ScopedPhase&) = delete;
  ~ScopedPhase() {
    m_exec.fence();
    m_times.add(m_phase,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count());
    Kokkos::Profiling::popRegion();
  }

 private:
  Exec m_exec;
  PhaseTimes& m_times;
  std::string m_phase;
  std::chrono::steady_clock::time_point m_start;
};

}  // namespace moho
