// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tile shapes of the ray kernels, and the model's grid padded with dummy vertices.

#include <moho/core/instance.hpp>
#include <moho/core/tile.hpp>

#include <algorithm>

namespace moho::rays {

/// Shape of the tiles that are relaxed in scratch, for each memory. A tile is at least as wide as
/// the largest radius, so that only adjacent tiles interact.
template <class Memory, int Dim>
struct RayTile {
  /// Vertices along each axis. On a host one thread relaxes a tile; the tile's traveltimes fit L1,
  /// its weights L2.
  static constexpr int extents[3] = {Dim == 2 ? 32 : 8, Dim == 2 ? 32 : 8, 32};
};
#ifdef KOKKOS_ENABLE_CUDA
/// \cond
template <int Dim>
struct RayTile<Kokkos::CudaSpace, Dim> {
  // One thread per vertex. In 2D 512 threads with 128 registers each fill a multiprocessor. In 3D a
  // tile with overlap 4 in double precision, 12 x 12 x 24 times 8 bytes, fits 48 KiB of scratch.
  static constexpr int extents[3] = {Dim == 2 ? 16 : 4, Dim == 2 ? 32 : 4, 16};
};
/// \endcond
#endif

/// Returns the number of a tile's vertices along an axis.
template <class Memory, int Dim>
KOKKOS_INLINE_FUNCTION constexpr int tile_extent(int axis) {
  constexpr int e0 = RayTile<Memory, Dim>::extents[0];
  constexpr int e1 = RayTile<Memory, Dim>::extents[1];
  constexpr int e2 = RayTile<Memory, Dim>::extents[2];
  return axis == 0 ? e0 : axis == 1 ? e1 : e2;
}

/// Returns the number of a tile's vertices.
template <class Memory, int Dim>
KOKKOS_INLINE_FUNCTION constexpr int tile_volume() {
  int n = 1;
  for (int d = 0; d < Dim; ++d) n *= tile_extent<Memory, Dim>(d);
  return n;
}

/// A slab of a model: whole rows of tiles along the first axis. 0 tiles: the complete model.
struct Slab {
  int first_tile = 0;  ///< first row of tiles
  int tiles = 0;       ///< rows of tiles
};

/// The model's grid padded with dummy vertices. Each side has `radius` or more of them, up to
/// complete tiles. Traveltimes of dummies stay infinite, so kernels need no test for borders.
///
/// That of a slab keeps the nodes' numbers of the complete model. Rows beyond a cut are vertices of
/// the adjacent slab, whose times are copied from there. There is one more row of the model than
/// the radius, because the weight of an edge along a row needs the cells on both sides.
template <int Dim>
struct PaddedGrid {
  Index<Dim> extents{};            ///< nodes of the model along each axis
  std::int64_t first = 0;          ///< node along the first axis where the tiles begin
  int outer = 0;                   ///< first and last rows of a slab whose vertices have no edges
  int low[Dim] = {};               ///< dummies before node 0; of a slab, less its first node
  int tiles[Dim] = {};             ///< tiles along each axis
  std::int64_t padded[Dim] = {};   ///< nodes along each axis, with dummies
  std::int64_t strides[Dim] = {};  ///< distance between neighbours along each axis
  std::int64_t size = 0;           ///< number of vertices, with dummies

  PaddedGrid() = default;

  /// Returns the padded grid for the tiles of a memory.
  template <class Memory>
  static PaddedGrid make(const Grid<Dim>& grid, int radius, const Slab& slab = {}) {
    PaddedGrid result;
    result.extents = grid.extents;
    for (int d = 0; d < Dim; ++d) {
      const int tile = tile_extent<Memory, Dim>(d);
      result.tiles[d] = static_cast<int>((grid.extents[d] + tile - 1) / tile);
      result.low[d] = d == Dim - 1 ? (radius + 7) / 8 * 8 : radius;
      int margin = radius;
      if (d == 0 && slab.tiles > 0) {
        result.outer = 1;
        margin = radius + result.outer;
        result.tiles[d] = slab.tiles;
        result.low[d] = margin;
      }
      result.padded[d] = result.low[d] + static_cast<std::int64_t>(result.tiles[d]) * tile + margin;
      if (d == Dim - 1) result.padded[d] = (result.padded[d] + 15) / 16 * 16;
    }
    result.strides[Dim - 1] = 1;
    for (int d = Dim - 2; d >= 0; --d) {
      result.strides[d] = result.strides[d + 1] * result.padded[d + 1];
    }
    result.size = result.strides[0] * result.padded[0];
    result.first = static_cast<std::int64_t>(slab.first_tile) * tile_extent<Memory, Dim>(0);
    result.low[0] -= static_cast<int>(result.first);
    return result;
  }

  /// Returns the node along the first axis after those of the tiles.
  template <class Memory>
  KOKKOS_INLINE_FUNCTION std::int64_t last() const {
    const std::int64_t end =
        first + static_cast<std::int64_t>(tiles[0]) * tile_extent<Memory, Dim>(0);
    return end < extents[0] ? end : extents[0];
  }
  /// Returns the number of the model's nodes in a row along the first axis.
  KOKKOS_INLINE_FUNCTION std::int64_t plane() const {
    std::int64_t n = 1;
    for (int d = 1; d < Dim; ++d) n *= extents[d];
    return n;
  }
  /// Returns the number of the model's nodes in the tiles: all, or those of the slab.
  template <class Memory>
  KOKKOS_INLINE_FUNCTION std::int64_t nodes() const {
    return (last<Memory>() - first) * plane();
  }
  /// Returns the rows of the model that are stored: begin, and one after the last.
  KOKKOS_INLINE_FUNCTION std::int64_t stored_begin() const { return low[0] > 0 ? 0 : -low[0]; }
  /// \copydoc stored_begin()
  KOKKOS_INLINE_FUNCTION std::int64_t stored_end() const {
    const std::int64_t end = padded[0] - low[0];
    return end < extents[0] ? end : extents[0];
  }

  /// Returns the number of tiles.
  KOKKOS_INLINE_FUNCTION std::int64_t tile_count() const {
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) n *= tiles[d];
    return n;
  }
  /// Returns the index of a node, which may be a dummy, in the padded grid.
  KOKKOS_INLINE_FUNCTION std::int64_t at(const Index<Dim>& node) const {
    std::int64_t i = 0;
    for (int d = 0; d < Dim; ++d) i += (node[d] + low[d]) * strides[d];
    return i;
  }
  /// Returns the node with an index in the padded grid; dummies are outside the model's extents.
  KOKKOS_INLINE_FUNCTION Index<Dim> node(std::int64_t index) const {
    Index<Dim> result{};
    for (int d = 0; d < Dim; ++d) {
      result[d] = index / strides[d] - low[d];
      index %= strides[d];
    }
    return result;
  }
  /// Returns true for a node of the model.
  KOKKOS_INLINE_FUNCTION bool in_model(const Index<Dim>& node) const {
    for (int d = 0; d < Dim; ++d) {
      if (node[d] < 0 || node[d] >= extents[d]) return false;
    }
    return true;
  }
  /// Returns true for a vertex of the model that may have an edge, false for a dummy.
  KOKKOS_INLINE_FUNCTION bool inside(const Index<Dim>& node) const {
    const std::int64_t row = node[0] + low[0];
    return in_model(node) && row >= outer && row < padded[0] - outer;
  }
  /// Returns the first node of a tile.
  template <class Memory>
  KOKKOS_INLINE_FUNCTION Index<Dim> tile_origin(std::int64_t tile) const {
    Index<Dim> result{};
    for (int d = Dim - 1; d >= 0; --d) {
      result[d] = tile % tiles[d] * tile_extent<Memory, Dim>(d);
      tile /= tiles[d];
    }
    result[0] += first;
    return result;
  }
};

namespace detail {

/// Copies a box of a padded grid row by row, on a host.
/// \param relaxed other threads may write the source during the copy
/// \param strides strides of the padded grid
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
