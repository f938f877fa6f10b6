// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What the step of self-adjoint TTI in one pass needs, and where there is one.
/// \see axis_ring_device.hpp

#include <moho/core/error.hpp>
#include <moho/core/instances.hpp>
#include <moho/wave/kernel/arguments.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace moho::wave::detail {

/// What a step in one pass takes.
template <class T>
struct AxisRingArguments {
  StepArguments<T> s;         ///< slopes and components of the axis are not read
  const std::uint32_t* axis;  ///< node (0, 0, 0) of the words of the axis; no axis out of the grid
  int extents[3];             ///< nodes of the grid
  bool free_y, free_z;        ///< the lower face across y, z is a free surface
};

/// The largest order with a kernel of one pass: at order 10 registers and shared memory run out.
inline constexpr int largest_ring_order = 8;

/// Shape of a block's tile and of a thread's work.
struct AxisRingTraits {
  static constexpr int rows = 32, columns = 32;  ///< of a tile, along y and z
  static constexpr int turns = 2;                ///< planes written out
  static constexpr int spare = 8;  ///< elements between rows of the ring, against bank conflicts
};

/// What is where in shared memory.
template <int radius, class Traits>
struct AxisRingShape {
  static constexpr int width = 2;  ///< nodes of a thread, neighbours along z
  static constexpr int rows = Traits::rows, columns = Traits::columns;
  static constexpr int points = rows * columns, threads = points / width;
  static constexpr int side = (2 * radius + 3) / 4 * 4;  ///< halo along z in copies of 16 bytes
  static constexpr int ring_row = columns + 2 * side + Traits::spare;
  static constexpr int ring_rows = rows + 4 * radius;
  static constexpr int plane = ring_rows * ring_row;  ///< of one field, or of the axis
  static constexpr int slots = radius + 2;            ///< planes of the ring
  static constexpr int flux_side = (radius + 1) / 2 * 2;
  static constexpr int flux_y = (rows + 2 * radius) * columns;  ///< ny g of one field
  static constexpr int flux_z = rows * ring_row;                ///< nz g of one field
  static constexpr int flux = 2 * (flux_y + flux_z);            ///< of a plane
  static constexpr int halo = 2 * radius * (rows + columns);    ///< nodes whose g is needed, too
  static constexpr int stage = 5 * points;  ///< what the update of a plane reads besides
  static constexpr int bytes = 4 * (slots * 2 * plane + 2 * flux + points + 2 * plane + stage);
  static constexpr int flux_window = 2 * flux_side + width;  ///< nodes around those of a thread
  /// Loads of so many nodes that hold the neighbours along z on one side.
  template <int nodes>
  static constexpr int aside = (radius + nodes - 1) / nodes;
  static constexpr int chunks = (columns + 2 * side) / 4, lanes = 16;
  static constexpr int at_once = threads / lanes;
  static constexpr int copies = (ring_rows + at_once - 1) / at_once;
  static_assert(halo <= threads, "one node of the halo a thread");
  static_assert(chunks <= lanes, "sixteen threads copy a row");
};

/// \brief How blocks share the columns of a box.
///
/// Whole columns as long as every multiprocessor gets one: neighbours march side by side and share
/// what they read. The columns that are left are cut along x so that all multiprocessors end
/// together, and again side by side.
struct AxisRingWork {
  int first_z;         ///< the box's first node along z, rounded down to 16 bytes
  int tiles_z, tiles;  ///< tiles along z, and of a plane
  int planes;          ///< of the box
  int whole;           ///< blocks that march through a whole column
  int share;           ///< planes of the other blocks

  /// Blocks for a box on so many multiprocessors.
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
    // a march takes 2 radius planes more, and the time of some to begin
    constexpr int before = 2 * radius + 4;
    int parts = 1;
    std::int64_t least = INT64_MAX;
    for (int p = 1; p <= planes; ++p) {
      const int length = (planes + p - 1) / p, count = (planes + length - 1) / length;
      const std::int64_t rounds =
          (static_cast<std::int64_t>(rest) * count + multiprocessors - 1) / multiprocessors;
      if (rounds * (length + before) < least) {
        least = rounds * (length + before);
        share = length;
        parts = count;
      }
      if (length <= before) break;
    }
    return whole + rest * parts;
  }

  /// The tile of a block and its planes of the box.
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

#ifdef KOKKOS_ENABLE_CUDA
/// Throws Error where CUDA refused.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error(concat(what, ": CUDA says '", cudaGetErrorString(status),
                     "': another program may have disturbed the device; try again"));
}

/// A value of the device of an instance.
inline int device_attribute(const Kokkos::Cuda& space, cudaDeviceAttr attribute) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, attribute, space.cuda_device()),
             "asking for an attribute of the device");
  return value;
}
#endif

/// True where a device has the kernel of one pass for an order.
template <class T, int Dim, class Memory>
bool has_axis_ring(const Instance<Memory>& exec, int order) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (Dim == 3 && std::is_same_v<T, float> && std::is_same_v<Memory, Kokkos::CudaSpace>) {
    constexpr int bytes[] = {
        AxisRingShape<1, AxisRingTraits>::bytes, AxisRingShape<2, AxisRingTraits>::bytes,
        AxisRingShape<3, AxisRingTraits>::bytes, AxisRingShape<4, AxisRingTraits>::bytes};
    if (order > largest_ring_order) return false;
    const int most = device_attribute(exec.space(), cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const int major = device_attribute(exec.space(), cudaDevAttrComputeCapabilityMajor);
    return major >= 8 && bytes[order / 2 - 1] <= most;
  }
#endif
  (void)exec, (void)order;
  return false;
}

}  // namespace moho::wave::detail
