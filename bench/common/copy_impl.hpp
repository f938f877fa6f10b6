// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/copy.hpp"

#include <moho/core/launch.hpp>
#include <moho/core/phases.hpp>

#include <algorithm>

namespace moho::bench {

/// Sixteen bytes moved by one load and one store.
struct alignas(16) Quad {
  float value[4];
};

/// Copies an array of Quads. On a device a call moves four Quads, all loaded before the first
/// store. On a host a call moves a block of 64 KiB as one vector loop.
template <class Memory>
struct CopyQuads {
  static constexpr std::int64_t per_call = is_host_memory<Memory> ? 4096 : 4;
  const Quad* from;
  Quad* to;
  std::int64_t calls;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    if constexpr (is_host_memory<Memory>) {
      const Quad* const a = from + i * per_call;
      Quad* const b = to + i * per_call;
      for (std::int64_t k = 0; k < per_call; ++k) b[k] = a[k];
    } else {
      Quad held[per_call];
      for (int k = 0; k < per_call; ++k) held[k] = from[i + k * calls];
      for (int k = 0; k < per_call; ++k) to[i + k * calls] = held[k];
    }
  }
};

template <class Memory>
double copy_seconds(const Instance<Memory>& exec) {
  const std::int64_t calls = copy_size(is_host_memory<Memory>) /
                             static_cast<std::int64_t>(sizeof(Quad)) / CopyQuads<Memory>::per_call;
  using Array = Kokkos::View<Quad*, Memory>;
  const auto size = static_cast<std::size_t>(calls * CopyQuads<Memory>::per_call);
  const Array from("moho::bench::from", size), to("moho::bench::to", size);
  const CopyQuads<Memory> copy{from.data(), to.data(), calls};
  double best = 0.0;
  for (int k = 0; k <= 10; ++k) {
    exec.fence();
    const Stopwatch watch;
    launch("moho::bench::copy", exec, calls, copy);
    exec.fence();
    const double seconds = watch.seconds();
    if (k > 0) best = k == 1 ? seconds : std::min(best, seconds);
  }
  return best;
}

/// Instantiates copy_seconds() for a memory.
#define MOHO_BENCH_COPY(Memory) template double copy_seconds<Memory>(const Instance<Memory>&)

}  // namespace moho::bench
