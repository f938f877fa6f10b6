// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Seconds by phase, each phase a region that Kokkos Tools see.

#include <moho/core/kokkos.hpp>
#include <moho/core/phases.hpp>

#include <string>
#include <utility>

namespace moho {

/// Adds the seconds of a scope to a phase. It fences the instance at both ends, so that they are
/// those of the work and not of its submission, and pushes a region of the same name for Kokkos
/// Tools.
template <class Exec>
class ScopedPhase {
 public:
  /// Starts the phase; it ends with the scope of this object.
  ScopedPhase(const Exec& exec, PhaseTimes& times, std::string phase)
      : m_exec(exec), m_times(times), m_phase(std::move(phase)) {
    m_exec.fence();
    Kokkos::Profiling::pushRegion("moho::" + m_phase);
    m_watch = Stopwatch();
  }
  ScopedPhase(const ScopedPhase&) = delete;
  ScopedPhase& operator=(const ScopedPhase&) = delete;
  ~ScopedPhase() {
    m_exec.fence();
    m_times.add(m_phase, m_watch.seconds());
    Kokkos::Profiling::popRegion();
  }

 private:
  Exec m_exec;
  PhaseTimes& m_times;
  std::string m_phase;
  Stopwatch m_watch;
};

}  // namespace moho
