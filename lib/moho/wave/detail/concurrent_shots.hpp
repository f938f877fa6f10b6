// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Number of concurrent shots over one model on a device or a host.

#include <moho/core/concurrent.hpp>
#include <moho/wave/scheme.hpp>

#include <algorithm>
#include <cstdint>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace moho::wave {

/// \brief Returns the number of concurrent shots that was fastest in trials.
///
/// See docs/performance/waves.md. On a device the concurrent shots have about two million nodes
/// together; their number is at most 4. Hosts run one shot in each thread under three conditions. A
/// shot has up to a million nodes, the shots suffice for all threads, and OpenMP does not bind
/// threads to cores. Otherwise one shot uses all threads.
/// \param exec execution instance
/// \param nodes of the grid of a shot, with its layers
/// \param shots total number of shots
template <class Memory>
int shots_at_once(const Instance<Memory>& exec, std::int64_t nodes, std::int64_t shots) {
  constexpr std::int64_t max = 4, enough = std::int64_t{1} << 21;
  if constexpr (is_host_memory<Memory>) {
#ifdef KOKKOS_ENABLE_SERIAL
    constexpr std::int64_t small = std::int64_t{1} << 20;
#ifdef _OPENMP
    // new threads would share the core to which the first one is bound
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
        std::clamp<std::int64_t>(std::min(wanted, shots), std::int64_t{1}, max));
  }
}

/// \brief Returns true if model_batch() needs one launch in a step for all shots.
///
/// It does on hosts and, in 2D, on devices, unless CPML is corrected after the step there
/// (Fletcher's VTI).
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
  const kernel::Stencil stencil = stencil_of(medium, equations);
  return info(stencil).tuned && (!matched || detail::has_layer_march(stencil));
}

/// \brief Returns the batch size of concurrent shots that was fastest in trials.
///
/// A device has two workers for four shots or more: one of them fetches traces while the other one
/// steps. Hosts do not batch shots, since threads that share the steps of several shots synchronise
/// after each step.
/// \param concurrent_shots concurrent shots
/// \param one_launch steps_in_one_launch()
template <class Memory>
int shots_together(int concurrent_shots, bool one_launch) {
  if (is_host_memory<Memory> || !one_launch) return 1;
  return concurrent_shots < 4 ? concurrent_shots : (concurrent_shots + 1) / 2;
}

/// \brief Returns the number of concurrent batched shots that was fastest in trials.
///
/// Together they have about twelve million nodes.
/// \param nodes of the grid of a shot, with its layers
/// \param shots total number of shots
/// \param max largest number: 16 for modelling; gradients are faster in batches of more shots
inline int shots_at_once_together(std::int64_t nodes, std::int64_t shots, std::int64_t max = 16) {
  constexpr std::int64_t enough = 12 * (std::int64_t{1} << 20);
  const std::int64_t wanted = (enough + nodes - 1) / std::max<std::int64_t>(nodes, 1);
  return static_cast<int>(std::clamp<std::int64_t>(std::min(wanted, shots), std::int64_t{1}, max));
}

/// \brief Returns the largest number of results that wait for delivery in model_shots().
///
/// \param concurrent_shots concurrent shots
/// \param batch_size batch size
/// \param shots total number of shots
inline int waiting_results(int concurrent_shots, int batch_size, std::int64_t shots) {
  const int workers = (concurrent_shots + batch_size - 1) / batch_size;
  const std::int64_t held = std::int64_t{max_pending_results(workers)} * batch_size;
  return static_cast<int>(std::max<std::int64_t>(std::min(held, shots) - concurrent_shots, 0));
}

}  // namespace moho::wave
