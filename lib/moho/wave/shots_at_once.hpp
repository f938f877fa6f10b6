// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How many shots over one model a device or a host takes at once.

#include <moho/core/at_once.hpp>

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
/// bind threads to cores, and one with all threads otherwise. \param exec where they run \param
/// nodes of the grid of a shot, with its layers \param shots that there are
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

}  // namespace moho::wave
