// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Boxes of nodes.

#include <moho/core/grid.hpp>

#include <algorithm>
#include <string>

namespace moho {

/// A box of nodes: from `lower` up to, not including, `upper`.
template <int Dim>
struct Box {
  Index<Dim> lower{};  ///< first node along each axis
  Index<Dim> upper{};  ///< one behind the last node along each axis

  /// Nodes along an axis, zero if there are none.
  KOKKOS_INLINE_FUNCTION std::int64_t extent(int axis) const {
    return upper[axis] > lower[axis] ? upper[axis] - lower[axis] : 0;
  }
  /// Number of nodes.
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) n *= extent(d);
    return n;
  }
  /// True where there is no node.
  KOKKOS_INLINE_FUNCTION bool empty() const { return size() == 0; }
  /// True where the node is in the box.
  KOKKOS_INLINE_FUNCTION bool contains(const Index<Dim>& node) const {
    for (int d = 0; d < Dim; ++d) {
      if (node[d] < lower[d] || node[d] >= upper[d]) return false;
    }
    return true;
  }
  /// The node at a position in the box, counted with the last axis fastest.
  KOKKOS_INLINE_FUNCTION Index<Dim> node(std::int64_t count) const {
    Index<Dim> result{};
    for (int d = Dim - 1; d >= 0; --d) {
      result[d] = lower[d] + count % extent(d);
      count /= extent(d);
    }
    return result;
  }
  /// The box with so many more nodes on every side.
  Box grown(std::int64_t nodes) const {
    Box result = *this;
    for (int d = 0; d < Dim; ++d) {
      result.lower[d] -= nodes;
      result.upper[d] += nodes;
    }
    return result;
  }
  /// Both boxes have the same nodes' ranges.
  friend bool operator==(const Box& a, const Box& b) {
    for (int d = 0; d < Dim; ++d) {
      if (a.lower[d] != b.lower[d] || a.upper[d] != b.upper[d]) return false;
    }
    return true;
  }
};

/// The nodes that are in both boxes.
template <int Dim>
Box<Dim> intersection(const Box<Dim>& a, const Box<Dim>& b) {
  Box<Dim> result;
  for (int d = 0; d < Dim; ++d) {
    result.lower[d] = std::max(a.lower[d], b.lower[d]);
    result.upper[d] = std::max(result.lower[d], std::min(a.upper[d], b.upper[d]));
  }
  return result;
}

/// All nodes of a grid.
template <int Dim>
Box<Dim> whole_box(const Grid<Dim>& grid) {
  return Box<Dim>{{}, grid.extents};
}

/// "[0, 40) x [3, 17)" for messages.
template <int Dim>
std::string box_string(const Box<Dim>& box) {
  std::string text;
  for (int d = 0; d < Dim; ++d) {
    text += concat(d ? " x [" : "[", box.lower[d], ", ", box.upper[d], ")");
  }
  return text;
}

}  // namespace moho
