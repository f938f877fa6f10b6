// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How many shots over one model a device or a host takes at once.

#include <moho/core/at_once.hpp>
#include <moho/wave/scheme.hpp>

#include <algorithm>
#include <cstdint>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace moho::wave {

/// \brief The number of shots at once that was fastest in trials (docs/performance/waves.md).
///
/// A device takes as many as have about two million nodes together, 4 at most. Hosts take a shot a
/// thread where a shot has up to a million nodes, there is one for each thread and OpenMP does not
/// bind threads to cores, and one with all threads otherwise.
/// \param exec where they run
/// \param nodes of the grid of a shot, with its layers
/// \param shots that there are
template <class Memory>
int shots_at_once(const Instance<Memory>& exec, std::int64_t nodes, std::int64_t shots) {
  constexpr std::int64_t most = 4, enough = std::int64_t{1} << 21;
  if constexpr (is_host_memory<Memory>) {
#ifdef KOKKOS_ENABLE_SERIAL
    constexpr std::int64_t small = std::int64_t{1} << 20;
#ifdef _OPENMP
    // threads that are begun here would share the core that the first one is bound to
    if (omp_get_proc_bind() != omp_proc_bind_false) return 1;
#endif
    return nodes <= small && shots >= exec.concurrency() ? exec.concurrency() : 1;
#else
    (void)exec, (void)nodes, (void)shots;
    return 1;
#endif
  } else {
    const std::int64_t wanted = (enough + nodes - 1) / std::max<std::int64_t>(nodes, 1);
    return static_cast<int>(
        std::clamp<std::int64_t>(std::min(wanted, shots), std::int64_t{1}, most));
  }
}

/// \brief True where model_together() has one launch a step for all shots: on hosts and, in 2D, on
/// devices, unless perfectly matched layers are corrected after the step there (Fletcher's VTI).
/// \param medium of the model
/// \param equations of VTI and TTI
/// \param faces of the grid
template <class T, int Dim, class Memory>
bool steps_in_one_launch(Medium medium, Equations equations, const Boundaries<Dim>& faces) {
  if constexpr (is_host_memory<Memory>) return true;
  if (Dim != 2) return false;
  bool matched = false;
  for (int d = 0; d < Dim; ++d) {
    matched =
        matched || faces.lower[d].kind == FaceKind::cpml || faces.upper[d].kind == FaceKind::cpml;
  }
  return !matched || detail::has_layer_march(stencil_of(medium, equations));
}

/// \brief Of shots at once, those that one worker steps together, as was fastest in trials.
///
/// A device has two workers where there are four shots or more: while one of them takes traces the
/// other one steps. Hosts step no shots together: threads that share the steps of several shots
/// meet after each of them.
/// \param at_once shots at once
/// \param one_launch steps_in_one_launch()
template <class Memory>
int shots_together(int at_once, bool one_launch) {
  if (is_host_memory<Memory> || !one_launch) return 1;
  return at_once < 4 ? at_once : (at_once + 1) / 2;
}

/// \brief The number of shots at once that was fastest in trials where they are stepped together:
/// as many as have about twelve million nodes, 16 at most.
/// \param nodes of the grid of a shot, with its layers
/// \param shots that there are
inline int shots_at_once_together(std::int64_t nodes, std::int64_t shots) {
  constexpr std::int64_t most = 16, enough = 12 * (std::int64_t{1} << 20);
  const std::int64_t wanted = (enough + nodes - 1) / std::max<std::int64_t>(nodes, 1);
  return static_cast<int>(std::clamp<std::int64_t>(std::min(wanted, shots), std::int64_t{1}, most));
}

/// \brief The most results that wait for their turn where model_shots() has so many shots under
/// way.
///
/// \param at_once shots at once
/// \param together of these, shots in step with each other
/// \param shots that there are
inline int waiting_results(int at_once, int together, std::int64_t shots) {
  const int workers = (at_once + together - 1) / together;
  const std::int64_t held = std::int64_t{results_at_once(workers)} * together;
  return static_cast<int>(std::max<std::int64_t>(std::min(held, shots) - at_once, 0));
}

}  // namespace moho::wave
