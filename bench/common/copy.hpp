// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The copy bandwidth of a space, the yardstick of kernels that memory bounds.

#include "common/program.hpp"

#include <moho/core/space.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace moho::bench {

/// Sixteen bytes that travel in one load and one store.
struct alignas(16) Quad {
  float value[4];
};

/// Copies an array of Quads. On a device a call moves four of them, loaded before the first is
/// stored; on a host a call moves a block of 64 KiB as one vector loop.
template <class Exec>
struct CopyQuads {
  static constexpr std::int64_t per_call = is_host_space<Exec> ? 4096 : 4;
  const Quad* from;
  Quad* to;
  std::int64_t calls;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    if constexpr (is_host_space<Exec>) {
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

/// Bytes of the array that copy_seconds() copies: 1 GiB on a device, 256 MiB on a host.
template <class Exec>
std::int64_t copy_size() {
  if (smoke()) return std::int64_t(1) << 24;
  return is_host_space<Exec> ? std::int64_t(1) << 28 : std::int64_t(1) << 30;
}

/// Seconds of one copy: the best of ten, after one that does not count.
template <class Exec>
double copy_seconds() {
  const Exec exec;
  const std::int64_t calls =
      copy_size<Exec>() / static_cast<std::int64_t>(sizeof(Quad)) / CopyQuads<Exec>::per_call;
  using Array = Kokkos::View<Quad*, typename Exec::memory_space>;
  const std::size_t size = static_cast<std::size_t>(calls * CopyQuads<Exec>::per_call);
  const Array from("moho::bench::from", size), to("moho::bench::to", size);
  const CopyQuads<Exec> copy{from.data(), to.data(), calls};
  double best = 0.0;
  for (int k = 0; k <= 10; ++k) {
    exec.fence();
    const auto start = std::chrono::steady_clock::now();
    Kokkos::parallel_for("moho::bench::copy",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, calls),
                         copy);
    exec.fence();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (k > 0) best = k == 1 ? seconds : std::min(best, seconds);
  }
  return best;
}

/// Bytes a second, read and written both counted, measured once in the run.
template <class Exec>
double copy_bandwidth() {
  static const double bandwidth =
      2.0 * static_cast<double>(copy_size<Exec>()) / copy_seconds<Exec>();
  return bandwidth;
}

}  // namespace moho::bench
