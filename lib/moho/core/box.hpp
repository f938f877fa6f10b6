// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Boxes of nodes.

#include <moho/core/grid.hpp>

#include <algorithm>
#include <string>

namespace moho {

/// A box of nodes: along each axis, those from `lower` up to, not including, `upper`. Indices are
/// in the order of the grid's axes, (x, z) or (x, y, z).
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
  /// The box with `nodes` more nodes on every side; fewer if `nodes` is negative.
  Box grown(std::int64_t nodes) const {
    Box result = *this;
    for (int d = 0; d < Dim; ++d) {
      result.lower[d] -= nodes;
      result.upper[d] += nodes;
    }
    return result;
  }
  /// True for boxes with the same lower and upper nodes.
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

/// The smallest box that holds both.
template <int Dim>
Box<Dim> hull(const Box<Dim>& a, const Box<Dim>& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Box<Dim> result;
  for (int d = 0; d < Dim; ++d) {
    result.lower[d] = std::min(a.lower[d], b.lower[d]);
    result.upper[d] = std::max(a.upper[d], b.upper[d]);
  }
  return result;
}

/// Distances along each axis between the nodes of a box that lie one after the other, the last axis
/// fastest: node `lower` is element 0.
template <int Dim>
Index<Dim> dense_strides(const Box<Dim>& box) {
  Index<Dim> strides{};
  std::int64_t stride = 1;
  for (int d = Dim - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= box.extent(d);
  }
  return strides;
}

/// All nodes of a grid.
template <int Dim>
Box<Dim> whole_box(const Grid<Dim>& grid) {
  return Box<Dim>{{}, grid.extents};
}

/// Planes across x, the first and slowest axis: from `begin` up to, not including, `end`.
/// Consecutive planes are contiguous in memory.
struct Planes {
  std::int64_t begin = 0;  ///< first plane
  std::int64_t end = 0;    ///< one behind the last plane

  /// Number of planes.
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return end > begin ? end - begin : 0; }
  /// True where there is none.
  KOKKOS_INLINE_FUNCTION bool empty() const { return end <= begin; }
  /// True where the plane is among them.
  KOKKOS_INLINE_FUNCTION bool contains(std::int64_t plane) const {
    return plane >= begin && plane < end;
  }
  /// True for the same planes.
  friend bool operator==(const Planes&, const Planes&) = default;
};

/// All planes of a grid.
template <int Dim>
Planes all_planes(const Grid<Dim>& grid) {
  return Planes{0, grid.extents[0]};
}

/// The planes of a box.
template <int Dim>
Planes planes_of(const Box<Dim>& box) {
  return Planes{box.lower[0], box.upper[0]};
}

/// The planes that are among both.
inline Planes intersection(const Planes& a, const Planes& b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return Planes{begin, std::max(begin, std::min(a.end, b.end))};
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
