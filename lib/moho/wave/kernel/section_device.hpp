// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernels of small sections on devices: a thread for a node.
///
/// A march through planes (march_device.hpp) reads each plane once, but its planes follow each
/// other, and a section of 10^5 nodes has too few marches to hide their latency. Here all nodes are
/// computed at once, and neighbours are read through the cache.

#include <moho/wave/kernel/arguments.hpp>

#include <cstdint>

namespace moho::wave::kernel {

/// Largest number of values, of all fields and wavefields of a launch, that are computed this way.
///
/// On an H200 841 x 441 nodes take 0.61 times the time of marches, and 2041 x 1041 nodes 1.3 times.
inline constexpr std::int64_t largest_section_step = std::int64_t{1} << 19;

/// Returns true for stencils with such kernels.
constexpr bool has_section_step(Stencil stencil) { return info(stencil).layer_march; }

/// Returns the second derivative along x at an element of a field.
template <int radius, class T>
KOKKOS_FORCEINLINE_FUNCTION T second_across(const StepArguments<T>& s, const T* p) {
  T sum = s.second[0][0] * p[0];
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) {
    sum += s.second[0][k] * (p[k * s.stride_x] + p[-k * s.stride_x]);
  }
  return sum;
}
/// Returns the second derivative along z.
template <int radius, class T>
KOKKOS_FORCEINLINE_FUNCTION T second_down(const StepArguments<T>& s, const T* q) {
  T sum = s.second[2][0] * q[0];
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) sum += s.second[2][k] * (q[k] + q[-k]);
  return sum;
}

/// Threads of a launch over a section: rows along z of a multiple of 32 threads, one after another.
struct SectionThreads {
  static constexpr int warp = 32;
  int first_z = 0;  ///< node of the first thread of a row
  int row = 0;      ///< threads of a row
  int nodes = 0;    ///< threads of a wavefield

  /// \brief Covers the box of the arguments. Returns the number of threads of all wavefields; 0
  /// for a box with more than `max` values.
  /// \param fields of a wavefield
  template <class T>
  std::int64_t cover(const StepArguments<T>& s, int fields,
                     std::int64_t max = largest_section_step) {
    first_z = static_cast<int>(s.lower[2] / warp * warp);
    row = static_cast<int>((s.upper[2] - first_z + warp - 1) / warp * warp);
    const std::int64_t count = row * (s.upper[0] - s.lower[0]);
    nodes = static_cast<int>(count * fields * s.shots <= max ? count : 0);
    return static_cast<std::int64_t>(nodes) * s.shots;
  }
  /// Sets wavefield and node of a thread. Returns false for a thread without a node.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION bool place(const StepArguments<T>& s, std::int64_t thread, int& shot,
                                         int& x, int& z) const {
    shot = static_cast<int>(thread) / nodes;
    const int i = static_cast<int>(thread) - shot * nodes;
    x = i / row;
    z = first_z + i - x * row;
    x += static_cast<int>(s.lower[0]);
    return z >= s.lower[2] && z < s.upper[2];
  }
};

}  // namespace moho::wave::kernel
