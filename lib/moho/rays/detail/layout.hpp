// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tile shapes of the ray kernels, and the model completed with dummy vertices.

#include <moho/core/instance.hpp>
#include <moho/core/tile.hpp>

#include <algorithm>

namespace moho::rays {

/// Shape of the tiles that are relaxed in scratch, by memory. A tile is at least as
/// wide as the largest radius, so that only adjacent tiles touch each other.
template <class Memory, int Dim>
struct RayTile {
  /// Vertices along each axis. Host: a thread takes a tile; its traveltimes stay in L1, its
  /// weights in L2.
  static constexpr int extents[3] = {Dim == 2 ? 32 : 8, Dim == 2 ? 32 : 8, 32};
};
#ifdef KOKKOS_ENABLE_CUDA
/// \cond
template <int Dim>
struct RayTile<Kokkos::CudaSpace, Dim> {
  // One thread a vertex. 2D: 512 threads with 128 registers each fill a multiprocessor. 3D: a tile
  // with the overlap of radius 4 in double precision, 12 x 12 x 24 times 8 bytes, fits 48 KiB of
  // scratch.
  static constexpr int extents[3] = {Dim == 2 ? 16 : 4, Dim == 2 ? 32 : 4, 16};
};
/// \endcond
#endif

/// Vertices of a tile along an axis.
template <class Memory, int Dim>
KOKKOS_INLINE_FUNCTION constexpr int tile_extent(int axis) {
  constexpr int e0 = RayTile<Memory, Dim>::extents[0];
  constexpr int e1 = RayTile<Memory, Dim>::extents[1];
  constexpr int e2 = RayTile<Memory, Dim>::extents[2];
  return axis == 0 ? e0 : axis == 1 ? e1 : e2;
}

/// Vertices of a tile.
template <class Memory, int Dim>
KOKKOS_INLINE_FUNCTION constexpr int tile_volume() {
  int n = 1;
  for (int d = 0; d < Dim; ++d) n *= tile_extent<Memory, Dim>(d);
  return n;
}

/// The model's grid extended by dummy vertices: at least `radius` of them on every side, and up to
/// whole tiles. Traveltimes of dummies are and stay infinite, so that kernels need no test for
/// borders.
template <int Dim>
struct PaddedGrid {
  Index<Dim> extents{};            ///< of the model
  int low[Dim] = {};               ///< dummies before node 0
  int tiles[Dim] = {};             ///< tiles along each axis
  std::int64_t padded[Dim] = {};   ///< extents with dummies
  std::int64_t strides[Dim] = {};  ///< distance between neighbours along each axis
  std::int64_t size = 0;           ///< vertices with dummies

  PaddedGrid() = default;

  /// Lays out the grid for the tiles of a memory.
  template <class Memory>
  static PaddedGrid make(const Grid<Dim>& grid, int radius) {
    PaddedGrid result;
    result.extents = grid.extents;
    for (int d = 0; d < Dim; ++d) {
      const int tile = tile_extent<Memory, Dim>(d);
      result.tiles[d] = static_cast<int>((grid.extents[d] + tile - 1) / tile);
      result.low[d] = d == Dim - 1 ? (radius + 7) / 8 * 8 : radius;
      result.padded[d] = result.low[d] + static_cast<std::int64_t>(result.tiles[d]) * tile + radius;
      if (d == Dim - 1) result.padded[d] = (result.padded[d] + 15) / 16 * 16;
    }
    result.strides[Dim - 1] = 1;
    for (int d = Dim - 2; d >= 0; --d) {
      result.strides[d] = result.strides[d + 1] * result.padded[d + 1];
    }
    result.size = result.strides[0] * result.padded[0];
    return result;
  }

  /// Number of tiles.
  KOKKOS_INLINE_FUNCTION std::int64_t tile_count() const {
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) n *= tiles[d];
    return n;
  }
  /// Place of a node, which may be a dummy.
  KOKKOS_INLINE_FUNCTION std::int64_t at(const Index<Dim>& node) const {
    std::int64_t i = 0;
    for (int d = 0; d < Dim; ++d) i += (node[d] + low[d]) * strides[d];
    return i;
  }
  /// The node at a place; dummies have indices outside the model.
  KOKKOS_INLINE_FUNCTION Index<Dim> node(std::int64_t place) const {
    Index<Dim> result{};
    for (int d = 0; d < Dim; ++d) {
      result[d] = place / strides[d] - low[d];
      place %= strides[d];
    }
    return result;
  }
  /// True for a vertex of the model, false for a dummy.
  KOKKOS_INLINE_FUNCTION bool inside(const Index<Dim>& node) const {
    for (int d = 0; d < Dim; ++d) {
      if (node[d] < 0 || node[d] >= extents[d]) return false;
    }
    return true;
  }
  /// First node of a tile.
  template <class Memory>
  KOKKOS_INLINE_FUNCTION Index<Dim> tile_origin(std::int64_t tile) const {
    Index<Dim> result{};
    for (int d = Dim - 1; d >= 0; --d) {
      result[d] = tile % tiles[d] * tile_extent<Memory, Dim>(d);
      tile /= tiles[d];
    }
    return result;
  }
};

namespace detail {

/// Copies a box of a padded grid row by row, on a host.
/// \param relaxed other threads may be writing what is read
/// \param strides of the padded grid
/// \param from first vertex of the box in the padded grid
/// \param to box.size() elements
template <bool relaxed, int Dim, class T>
void load_box(const TileBox<Dim>& box, const std::int64_t (&strides)[Dim], const T* from, T* to) {
  const int length = box.extents[Dim - 1];
  const int rows = box.size() / length;
  for (int row = 0; row < rows; ++row, to += length) {
    const T* start = from;
    int rest = row;
    for (int d = Dim - 2; d >= 0; --d) {
      start += rest % box.extents[d] * strides[d];
      rest /= box.extents[d];
    }
    if constexpr (relaxed) {
      for (int i = 0; i < length; ++i) to[i] = relaxed_load(start + i);
    } else {
      std::copy_n(start, length, to);
    }
  }
}

}  // namespace detail

}  // namespace moho::rays
