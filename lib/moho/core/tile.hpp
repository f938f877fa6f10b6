// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tiles with halos in team scratch memory, for ray kernels and stencils.

#include <moho/core/grid.hpp>

namespace moho {

/// The shape of a tile in scratch memory, halo included; the last axis is contiguous.
template <int Dim>
struct TileBox {
  int extents[Dim];  ///< elements along each axis, halo included

  /// Returns the number of elements.
  KOKKOS_INLINE_FUNCTION int size() const {
    int n = 1;
    for (int d = 0; d < Dim; ++d) n *= extents[d];
    return n;
  }
  /// Returns the distance in memory between neighbours along an axis.
  KOKKOS_INLINE_FUNCTION int stride(int axis) const {
    int n = 1;
    for (int d = axis + 1; d < Dim; ++d) n *= extents[d];
    return n;
  }
};

/// Fills a tile in scratch memory: destination[i] = load(offset) for every element of the box.
///
/// `offset` (Kokkos::Array<int, Dim>) is relative to the first element of the box. On a device
/// adjacent threads load adjacent elements; on a host each row is one vectorisable loop. The caller
/// must issue a team barrier afterwards.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec, int Dim, class Member, class T, class Load>
KOKKOS_INLINE_FUNCTION void load_tile(const Member& member, const TileBox<Dim>& box, T* destination,
                                      const Load& load) {
  const int row_length = box.extents[Dim - 1];
  if constexpr (is_host_space<Exec>) {
    const int rows = box.size() / row_length;
    for (int row = member.team_rank(); row < rows; row += member.team_size()) {
      Kokkos::Array<int, Dim> offset{};
      int rest = row;
      for (int d = Dim - 2; d >= 0; --d) {
        offset[d] = rest % box.extents[d];
        rest /= box.extents[d];
      }
      T* const out = destination + static_cast<std::ptrdiff_t>(row) * row_length;
      for (int i = 0; i < row_length; ++i) {
        offset[Dim - 1] = i;
        out[i] = load(offset);
      }
    }
  } else {
    const int n = box.size();
    for (int i = member.team_rank(); i < n; i += member.team_size()) {
      Kokkos::Array<int, Dim> offset{};
      int rest = i;
      for (int d = Dim - 1; d >= 0; --d) {
        offset[d] = rest % box.extents[d];
        rest /= box.extents[d];
      }
      destination[i] = load(offset);
    }
  }
}

}  // namespace moho
