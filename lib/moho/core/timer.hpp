// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Wall-clock times by phase; each phase is a region of Kokkos Tools.

#include <moho/core/kokkos.hpp>
#include <moho/core/phases.hpp>

#include <string>
#include <utility>

namespace moho {

/// Adds the seconds of a scope, including its kernels, to a phase.
///
/// It fences the instance at both ends of the scope, so that submitted work is included. It pushes
/// a region "moho::<phase>" for Kokkos Tools.
template <class Exec>
class ScopedPhase {
 public:
  /// Starts the phase, which ends with the lifetime of this object. `times` must outlive it.
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
