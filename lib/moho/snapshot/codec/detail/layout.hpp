// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Blocks of nodes: their position in a grid, and how they are read from a field.

#include <moho/core/box.hpp>
#include <moho/wave/layout.hpp>

#include <cstdint>
#include <limits>

namespace moho::snapshot {

/// \brief Blocks of 512 nodes that cover a box: 8 x 8 x 8 in 3D, 16 x 32 in 2D.
///
/// They begin at absolute multiples of these numbers. Blocks are counted with the last axis
/// fastest.
template <int Dim>
struct BlockGrid {
  static constexpr int nodes = 512;  ///< nodes of a block

  Box<Dim> box{};      ///< covered nodes
  Index<Dim> begin{};  ///< first node of the first block: at or before the box
  Index<Dim> count{};  ///< blocks along each axis

  BlockGrid() = default;
  /// Constructs the blocks of a box.
  explicit BlockGrid(const Box<Dim>& nodes_of_box) : box(nodes_of_box) {
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t n = side(d);
      const std::int64_t lower = box.lower[d];
      begin[d] = (lower >= 0 ? lower : lower - n + 1) / n * n;
      count[d] = box.empty() ? 0 : (box.upper[d] - begin[d] + n - 1) / n;
    }
  }

  /// Returns the nodes of a block along an axis.
  KOKKOS_INLINE_FUNCTION static constexpr int side(int axis) {
    return Dim == 3 ? 8 : axis == 0 ? 16 : 32;
  }
  /// Returns the number of blocks.
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) n *= count[d];
    return n;
  }
  /// Returns the first node of a block, which may lie before the box.
  KOKKOS_INLINE_FUNCTION Index<Dim> first(std::int64_t block) const {
    Index<Dim> result{};
    for (int d = Dim - 1; d >= 0; --d) {
      result[d] = begin[d] + block % count[d] * side(d);
      block /= count[d];
    }
    return result;
  }
  /// Sets the range of a block's nodes along an axis that are in a box.
  ///
  /// The range is from `lower` up to, not including, `upper`, counted in the block that begins at
  /// `first`.
  KOKKOS_INLINE_FUNCTION static void part(const Box<Dim>& within, const Index<Dim>& first, int axis,
                                          int& lower, int& upper) {
    const std::int64_t below = within.lower[axis] - first[axis];
    const std::int64_t above = within.upper[axis] - first[axis];
    lower = static_cast<int>(below < 0 ? 0 : below > side(axis) ? side(axis) : below);
    upper = static_cast<int>(above < lower ? lower : above > side(axis) ? side(axis) : above);
  }
  /// Returns true if the block that begins at `first` has nodes in a box.
  KOKKOS_INLINE_FUNCTION static bool meets(const Box<Dim>& within, const Index<Dim>& first) {
    bool result = true;
    for (int d = 0; d < Dim; ++d) {
      result = result && first[d] < within.upper[d] && first[d] + side(d) > within.lower[d];
    }
    return result;
  }
  /// Returns the number of a block's nodes that are in the box.
  KOKKOS_INLINE_FUNCTION int inside(std::int64_t block) const {
    const Index<Dim> node = first(block);
    int n = 1;
    for (int d = 0; d < Dim; ++d) {
      int lower = 0, upper = 0;
      part(box, node, d, lower, upper);
      n *= upper - lower;
    }
    return n;
  }
};

namespace detail {

/// \brief Functor that reads blocks of a padded array and scales them by a power of two.
///
/// The power of two scales the largest amplitude to about 1. Nodes outside the box are never read:
/// the nearest node of the box replaces them.
template <class T, int Dim>
struct BlockSource {
  const T* field;
  wave::Layout<Dim> layout;
  BlockGrid<Dim> blocks;
  T up;

  KOKKOS_INLINE_FUNCTION void load(std::int64_t block, float* KOKKOS_RESTRICT values) const {
    const Index<Dim> first = blocks.first(block);
    int lower[Dim], upper[Dim];
    bool whole = true;
    for (int d = 0; d < Dim; ++d) {
      BlockGrid<Dim>::part(blocks.box, first, d, lower[d], upper[d]);
      whole = whole && lower[d] == 0 && upper[d] == BlockGrid<Dim>::side(d);
    }
    constexpr int row = BlockGrid<Dim>::side(Dim - 1);
    constexpr int rows = BlockGrid<Dim>::nodes / row;
    for (int r = 0; r < rows; ++r) {
      Index<Dim> node = first;
      if constexpr (Dim == 3) {
        node[0] += clamped(r / 8, lower[0], upper[0]);
        node[1] += clamped(r % 8, lower[1], upper[1]);
      } else {
        node[0] += clamped(r, lower[0], upper[0]);
      }
      const T* const from = field + layout.flat(node);
      float* const to = values + r * row;
      if (whole) {
#if !defined(__CUDA_ARCH__)
        // Rows are read in pieces, too many for the hardware prefetcher.
        __builtin_prefetch(from + row + 64 / sizeof(T));
        if (Dim == 2) __builtin_prefetch(from + row + 128 / sizeof(T));
#endif
        MOHO_UNROLL
        for (int k = 0; k < row; ++k) to[k] = static_cast<float>(from[k] * up);
      } else {
        for (int k = 0; k < row; ++k) {
          to[k] = static_cast<float>(from[clamped(k, lower[Dim - 1], upper[Dim - 1])] * up);
        }
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static int clamped(int n, int lower, int upper) {
    return n < lower ? lower : n >= upper ? upper - 1 : n;
  }
};

/// Limits values so that their products with `down` are finite, although lossy values of a finite
/// field may be larger than its largest amplitude. Values are below 2^20.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void keep_finite(float* values, int count, T down) {
  constexpr T peak = std::numeric_limits<T>::max();
  if (down < peak / (1 << 20)) return;
  const auto limit = static_cast<float>(peak / down);  // exact in single precision
  for (int k = 0; k < count; ++k) {
    values[k] = values[k] > limit ? limit : values[k] < -limit ? -limit : values[k];
  }
}

/// Functor that passes the nodes of a block that are in a box to a functor.
template <class T, int Dim, class Functor>
struct BlockTarget {
  using ValueType = T;
  using FunctorType = Functor;
  Functor functor;
  Box<Dim> box;
  T down;

  /// Passes the values of the block that begins at `first`, limited to finite ones.
  KOKKOS_INLINE_FUNCTION void store(const Index<Dim>& first, float* values) const {
    keep_finite(values, BlockGrid<Dim>::nodes, down);
    int lower[Dim], upper[Dim];
    for (int d = 0; d < Dim; ++d) BlockGrid<Dim>::part(box, first, d, lower[d], upper[d]);
    if constexpr (Dim == 3) {
      for (int i = lower[0]; i < upper[0]; ++i) {
        for (int j = lower[1]; j < upper[1]; ++j) {
          const Index<3> row{first[0] + i, first[1] + j, first[2]};
          store_row(row, lower[2], upper[2], values + 64 * i + 8 * j);
        }
      }
    } else {
      for (int i = lower[0]; i < upper[0]; ++i) {
        const Index<2> row{first[0] + i, first[1]};
        store_row(row, lower[1], upper[1], values + 32 * i);
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void store_row(const Index<Dim>& row, int lower, int upper,
                                             const float* values) const {
    if constexpr (requires { functor.row(row, upper, values, down); }) {
      Index<Dim> node = row;
      node[Dim - 1] += lower;
      functor.row(node, upper - lower, values + lower, down);
    } else {
      for (int k = lower; k < upper; ++k) {
        Index<Dim> node = row;
        node[Dim - 1] += k;
        functor(node, static_cast<T>(values[k]) * down);
      }
    }
  }
};

}  // namespace detail
}  // namespace moho::snapshot
