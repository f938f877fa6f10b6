// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Blocks on devices whose lanes read and write four neighbouring nodes in one access.
///
/// Nodes are counted with 32 bits here, which keeps addresses short.

#include <moho/snapshot/codec/detail/layout.hpp>
#include <moho/snapshot/codec/detail/warp.hpp>
#include <moho/snapshot/correlation.hpp>

#include <cstdint>

namespace moho::snapshot::detail {

/// \brief A block of a grid of blocks, from which one goes to later ones.
template <int Dim>
struct BlockWalk {
  std::int32_t node[Dim];   ///< first node of the block
  std::int32_t begin[Dim];  ///< first node of the first block
  std::int32_t end[Dim];    ///< end of the last block

  KOKKOS_FORCEINLINE_FUNCTION BlockWalk(const BlockGrid<Dim>& blocks, std::int64_t block) {
    auto rest = static_cast<std::uint32_t>(block);
    for (int d = Dim - 1; d >= 0; --d) {
      const auto count = static_cast<std::uint32_t>(blocks.count[d]);
      begin[d] = static_cast<std::int32_t>(blocks.begin[d]);
      end[d] = begin[d] + static_cast<std::int32_t>(count) * BlockGrid<Dim>::side(d);
      node[d] = begin[d] + static_cast<std::int32_t>(rest % count) * BlockGrid<Dim>::side(d);
      rest /= count;
    }
  }
  /// Goes to the block `count` blocks further on.
  KOKKOS_FORCEINLINE_FUNCTION void advance(int count) {
    node[Dim - 1] += count * BlockGrid<Dim>::side(Dim - 1);
    MOHO_UNROLL
    for (int d = Dim - 1; d > 0; --d) {
      MOHO_NO_UNROLL
      while (node[d] >= end[d]) {
        node[d] -= end[d] - begin[d];
        node[d - 1] += BlockGrid<Dim>::side(d - 1);
      }
    }
  }
};

/// A box with numbers of 32 bits.
template <int Dim>
struct SmallBox {
  std::int32_t lower[Dim], upper[Dim];

  explicit SmallBox(const Box<Dim>& box) {
    for (int d = 0; d < Dim; ++d) {
      lower[d] = static_cast<std::int32_t>(box.lower[d]);
      upper[d] = static_cast<std::int32_t>(box.upper[d]);
    }
  }
  /// Returns true if all nodes of the block that begins at `first` are in the box.
  KOKKOS_FORCEINLINE_FUNCTION bool holds(const std::int32_t* first) const {
    bool result = true;
    MOHO_UNROLL
    for (int d = 0; d < Dim; ++d) {
      result = result && first[d] >= lower[d] && first[d] + BlockGrid<Dim>::side(d) <= upper[d];
    }
    return result;
  }
  /// Returns true if a node of the block is in the box.
  KOKKOS_FORCEINLINE_FUNCTION bool meets(const std::int32_t* first) const {
    bool result = true;
    MOHO_UNROLL
    for (int d = 0; d < Dim; ++d) {
      result = result && first[d] < upper[d] && first[d] + BlockGrid<Dim>::side(d) > lower[d];
    }
    return result;
  }
};

/// \brief Nodes of a lane: four groups of four nodes along the last axis.
///
/// In 3D the groups are 2 x 2 neighbours along the other axes, in 2D four along the first one.
template <int Dim>
struct LaneQuads {
  std::int32_t node[Dim];  ///< first node of the lane

  KOKKOS_FORCEINLINE_FUNCTION LaneQuads(const std::int32_t* first, int lane) {
    if constexpr (Dim == 3) {
      node[0] = first[0] + lane / 8 * 2;
      node[1] = first[1] + lane / 2 % 4 * 2;
      node[2] = first[2] + lane % 2 * 4;
    } else {
      node[0] = first[0] + lane / 8 * 4;
      node[1] = first[1] + lane % 8 * 4;
    }
  }
  /// Returns the nodes from the first group to another one along an axis.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int step(int axis, int j) {
    return axis == Dim - 1 ? 0 : Dim == 2 ? j : axis == 0 ? j / 2 : j % 2;
  }
  /// Returns the position of a group's first node in the block.
  KOKKOS_FORCEINLINE_FUNCTION static int element(int lane, int j) {
    const std::int32_t zero[Dim] = {};
    const LaneQuads nodes(zero, lane);
    int e = nodes.node[Dim - 1] + 8 * (Dim == 3 ? nodes.node[Dim - 2] + step(Dim - 2, j) : 0);
    return e + (Dim == 3 ? 64 : 32) * (nodes.node[0] + step(0, j));
  }
  /// Returns the element of the first node in an array with these strides.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t flat(const Index<Dim>& strides) const {
    std::int64_t element = node[Dim - 1];
    MOHO_UNROLL
    for (int d = 0; d < Dim - 1; ++d) element += node[d] * strides[d];
    return element;
  }
  /// Returns the elements from the first group to another one in an array with these strides.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t jump(const Index<Dim>& strides, int j) {
    return Dim == 3 ? j / 2 * strides[0] + j % 2 * strides[1] : j * strides[0];
  }
};

/// Reads the nodes of a lane as BlockSource::load() does, without the power of two.
template <class T, int Dim>
struct QuadSource {
  const T* field;  ///< element of node (0, ..., 0)
  Index<Dim> strides;
  SmallBox<Dim> box;
  bool aligned;  ///< groups of four nodes are at multiples of their size

  explicit QuadSource(const BlockSource<T, Dim>& source)
      : field(source.field + source.layout.offset),
        strides(source.layout.strides),
        box(source.blocks.box),
        aligned(kernel::on_16_bytes(field)) {
    for (int d = 0; d < Dim - 1; ++d) aligned = aligned && strides[d] % 4 == 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(const std::int32_t* first, int lane, T* values) const {
    const LaneQuads<Dim> nodes(first, lane);
    if (aligned && box.holds(first)) {
      const T* const from = field + nodes.flat(strides);
      MOHO_UNROLL
      for (int j = 0; j < 4; ++j) {
        const auto pack =
            *reinterpret_cast<const kernel::Pack4<T>*>(from + LaneQuads<Dim>::jump(strides, j));
        MOHO_UNROLL
        for (int k = 0; k < 4; ++k) values[4 * j + k] = pack.at[k];
      }
      return;
    }
    // the nearest node of the box replaces others
    std::int64_t last[4];
    MOHO_UNROLL
    for (int k = 0; k < 4; ++k) last[k] = clamped(nodes.node[Dim - 1] + k, Dim - 1);
    MOHO_UNROLL
    for (int j = 0; j < 4; ++j) {
      std::int64_t row = 0;
      MOHO_UNROLL
      for (int d = 0; d < Dim - 1; ++d) {
        row += clamped(nodes.node[d] + LaneQuads<Dim>::step(d, j), d) * strides[d];
      }
      MOHO_UNROLL
      for (int k = 0; k < 4; ++k) values[4 * j + k] = field[row + last[k]];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t clamped(std::int32_t node, int axis) const {
    return node < box.lower[axis]    ? box.lower[axis]
           : node >= box.upper[axis] ? box.upper[axis] - 1
                                     : node;
  }
};

/// Passes the nodes of a lane that are in the box to a target.
template <class Target, int Dim>
struct QuadTarget {
  using T = typename Target::ValueType;
  using Functor = typename Target::FunctorType;
  Functor functor;
  SmallBox<Dim> box;
  T down;
  bool aligned = false;  ///< groups of four nodes are at multiples of their size

  explicit QuadTarget(const Target& target)
      : functor(target.functor), box(target.box), down(target.down) {
    if constexpr (requires { functor.array(Index<Dim>{}); }) {
      aligned = kernel::on_16_bytes(functor.array(Index<Dim>{}));
      for (int d = 0; d < Dim - 1; ++d) aligned = aligned && functor.steps()[d] % 4 == 0;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(const std::int32_t* first, int lane, float* values) const {
    keep_finite(values, 16, down);
    const LaneQuads<Dim> nodes(first, lane);
    const bool whole = box.holds(first);
    if constexpr (requires { functor.array(Index<Dim>{}); }) {
      if (whole && aligned) {
        T* const to = functor.array(Index<Dim>{}) + nodes.flat(functor.steps());
        MOHO_UNROLL
        for (int j = 0; j < 4; ++j) {
          kernel::Pack4<T> pack;
          MOHO_UNROLL
          for (int k = 0; k < 4; ++k) pack.at[k] = static_cast<T>(values[4 * j + k]) * down;
          *reinterpret_cast<kernel::Pack4<T>*>(to + LaneQuads<Dim>::jump(functor.steps(), j)) =
              pack;
        }
        return;
      }
    }
    MOHO_UNROLL
    for (int j = 0; j < 4; ++j) {
      Index<Dim> node{};
      bool inside = true;
      MOHO_UNROLL
      for (int d = 0; d < Dim - 1; ++d) {
        const std::int32_t at = nodes.node[d] + LaneQuads<Dim>::step(d, j);
        inside = inside && at >= box.lower[d] && at < box.upper[d];
        node[d] = at;
      }
      MOHO_UNROLL
      for (int k = 0; k < 4; ++k) {
        const std::int32_t at = nodes.node[Dim - 1] + k;
        node[Dim - 1] = at;
        if (inside && at >= box.lower[Dim - 1] && at < box.upper[Dim - 1]) {
          functor(node, static_cast<T>(values[4 * j + k]) * down);
        }
      }
    }
  }
};

}  // namespace moho::snapshot::detail
