// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arguments and availability of the one-pass step of self-adjoint TTI.
/// \see axis_ring_device.hpp

#include <moho/core/box.hpp>
#include <moho/core/cuda.hpp>
#include <moho/core/instances.hpp>
#include <moho/wave/kernel/arguments.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace moho::wave::detail {

/// Arguments of a step in one pass.
template <class T>
struct AxisRingArguments {
  StepArguments<T> s;         ///< axis derivatives and components of the axis are not read
  const std::uint32_t* axis;  ///< node (0, 0, 0) of the packed axis; no_axis outside the grid
  int extents[3];             ///< nodes of the grid along y and z; that along x is not read
  int first_plane;            ///< first plane of p and q that may be read
  int last_plane;             ///< last plane of p and q that may be read
  bool free_y, free_z;        ///< true if the lower face across y, z is a free surface
};

/// \brief Returns the largest number of planes of a launch: its elements have indices of 32 bits.
/// \param stride_x elements of a plane
/// \param radius half of the order
inline std::int64_t ring_planes_at_once(std::int64_t stride_x, int radius) {
  return std::numeric_limits<std::int32_t>::max() / stride_x - 4 * radius - 3;
}

/// \brief Returns the arguments for some planes of a box, counted from the first of them.
/// \param a arguments of the box
/// \param planes planes of the box
/// \param extent planes of the grid
/// \param radius half of the order
template <class T>
AxisRingArguments<T> ring_arguments_of(const AxisRingArguments<T>& a, const PlaneRange& planes,
                                       std::int64_t extent, int radius) {
  AxisRingArguments<T> result = a;
  StepArguments<T>& s = result.s;
  const std::int64_t first = planes.begin * s.stride_x;
  for (int f = 0; f < 2; ++f) {
    s.now[f] += first;
    s.next[f] += first;
  }
  s.scale += first;
  s.a += first;
  s.b += first;
  s.taper[0] += planes.begin;
  result.axis += first;
  s.lower[0] = 0;
  s.upper[0] = planes.count();
  result.first_plane =
      static_cast<int>(std::max<std::int64_t>(-radius - planes.begin, -2 * radius));
  result.last_plane = static_cast<int>(
      std::min<std::int64_t>(extent + radius - 1 - planes.begin, planes.count() + 2 * radius - 1));
  return result;
}

/// Largest order of the one-pass kernel: order 10 exceeds registers and shared memory.
inline constexpr int largest_ring_order = 8;

/// Shape of a block's tile and of a thread's work.
struct AxisRingTraits {
  static constexpr int rows = 32, columns = 32;  ///< rows along y and columns along z of a tile
  static constexpr int turns = 2;                ///< unrolled planes
  /// Padding of the ring's rows in elements, against bank conflicts.
  static constexpr int spare = 8;
};

/// Sizes and offsets in shared memory.
template <int radius, class Traits>
struct AxisRingShape {
  static constexpr int width = 2;  ///< nodes of a thread, neighbours along z
  static constexpr int rows = Traits::rows, columns = Traits::columns;
  static constexpr int points = rows * columns, threads = points / width;
  static constexpr int side = (2 * radius + 3) / 4 * 4;  ///< halo along z in copies of 16 bytes
  static constexpr int ring_row = columns + 2 * side + Traits::spare;
  static constexpr int ring_rows = rows + 4 * radius;
  /// Elements of a plane of one field, or of the axis.
  static constexpr int plane = ring_rows * ring_row;
  static constexpr int slots = radius + 2;  ///< planes of the ring
  static constexpr int flux_side = (radius + 1) / 2 * 2;
  static constexpr int flux_y = (rows + 2 * radius) * columns;  ///< ny g of one field
  static constexpr int flux_z = rows * ring_row;                ///< nz g of one field
  static constexpr int flux = 2 * (flux_y + flux_z);            ///< fluxes of a plane
  static constexpr int halo = 2 * radius * (rows + columns);  ///< halo nodes at which g is computed
  static constexpr int stage = 5 * points;  ///< further values that the update of a plane reads
  static constexpr int bytes = 4 * (slots * 2 * plane + 2 * flux + points + 2 * plane + stage);
  static constexpr int flux_window = 2 * flux_side + width;  ///< nodes around those of a thread
  /// Loads of `nodes` nodes that hold the neighbours along z on one side.
  template <int nodes>
  static constexpr int aside = (radius + nodes - 1) / nodes;
  static constexpr int chunks = (columns + 2 * side) / 4, lanes = 16;
  static constexpr int at_once = threads / lanes;
  static constexpr int copies = (ring_rows + at_once - 1) / at_once;
  static_assert(halo <= threads, "one node of the halo a thread");
  static_assert(chunks <= lanes, "sixteen threads copy a row");
};

/// \brief Distribution of the columns of a box among blocks.
///
/// Blocks march through complete columns as long as every multiprocessor gets one. Neighbouring
/// columns march concurrently and share their reads. The remaining columns are cut along x so that
/// all multiprocessors finish together; neighbours are concurrent there also.
struct AxisRingWork {
  int first_z;         ///< first node of the box along z, rounded down to 16 bytes
  int tiles_z, tiles;  ///< tiles along z; tiles of a plane
  int planes;          ///< planes of the box
  int whole;           ///< blocks that march through a complete column
  int share;           ///< planes of each other block

  /// Returns the blocks for a box on a number of multiprocessors.
  template <int radius, class Traits>
  int cover(const StepArguments<float>& s, int multiprocessors) {
    first_z = static_cast<int>(s.lower[2] / 4 * 4);
    tiles_z = static_cast<int>((s.upper[2] - first_z + Traits::columns - 1) / Traits::columns);
    tiles = tiles_z * static_cast<int>((s.upper[1] - s.lower[1] + Traits::rows - 1) / Traits::rows);
    planes = static_cast<int>(s.upper[0] - s.lower[0]);
    whole = tiles / multiprocessors * multiprocessors;
    share = planes;
    const int rest = tiles - whole;
    if (rest == 0) return whole;
    // cost of a march in addition, in planes: 2 radius planes of halo, and its start
    constexpr int before = 2 * radius + 4;
    int parts = 1;
    std::int64_t min = INT64_MAX;
    for (int p = 1; p <= planes; ++p) {
      const int length = (planes + p - 1) / p, count = (planes + length - 1) / length;
      const std::int64_t rounds =
          (static_cast<std::int64_t>(rest) * count + multiprocessors - 1) / multiprocessors;
      if (rounds * (length + before) < min) {
        min = rounds * (length + before);
        share = length;
        parts = count;
      }
      if (length <= before) break;
    }
    return whole + rest * parts;
  }

  /// Returns the tile of a block and sets its planes of the box.
  KOKKOS_FORCEINLINE_FUNCTION int place(int block, int& begin, int& end) const {
    begin = 0;
    end = planes;
    if (block < whole) return block;
    const int n = block - whole, rest = tiles - whole;
    begin = n / rest * share;
    if (begin + share < planes) end = begin + share;
    return whole + n % rest;
  }
};

/// Returns true if a device has the one-pass kernel of an order.
template <class T, int Dim, class Memory>
bool has_axis_ring(const Instance<Memory>& exec, int order) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (Dim == 3 && std::is_same_v<T, float> && std::is_same_v<Memory, Kokkos::CudaSpace>) {
    constexpr int bytes[] = {
        AxisRingShape<1, AxisRingTraits>::bytes, AxisRingShape<2, AxisRingTraits>::bytes,
        AxisRingShape<3, AxisRingTraits>::bytes, AxisRingShape<4, AxisRingTraits>::bytes};
    if (order > largest_ring_order) return false;
    const int max = device_attribute(exec.space(), cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const int major = device_attribute(exec.space(), cudaDevAttrComputeCapabilityMajor);
    return major >= 8 && bytes[order / 2 - 1] <= max;
  }
#endif
  (void)exec, (void)order;
  return false;
}

}  // namespace moho::wave::detail
