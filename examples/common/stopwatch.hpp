// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Seconds of host work, added to a phase.

#include <moho/core/timer.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace moho::examples {

/// Adds the seconds from construction to destruction to a phase. Unlike ScopedPhase it needs no
/// Kokkos that runs.
class Stopwatch {
 public:
  /// Starts it.
  Stopwatch(PhaseTimes& times, std::string phase) : m_times(times), m_phase(std::move(phase)) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    m_times.add(m_phase,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count());
  }

 private:
  PhaseTimes& m_times;
  std::string m_phase;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

}  // namespace moho::examples
