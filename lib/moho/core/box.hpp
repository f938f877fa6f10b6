// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Boxes of grid nodes.

#include <moho/core/grid.hpp>

#include <algorithm>
#include <string>

namespace moho {

/// A box of grid nodes: the half-open range [lower, upper) along each axis.
///
/// Indices are in the order of the axes of the grid: (x, z) or (x, y, z).
template <int Dim>
struct Box {
  Index<Dim> lower{};  ///< first node along each axis
  Index<Dim> upper{};  ///< one past the last node along each axis

  /// Returns the number of nodes along an axis; 0 for an empty range.
  KOKKOS_INLINE_FUNCTION std::int64_t extent(int axis) const {
    return upper[axis] > lower[axis] ? upper[axis] - lower[axis] : 0;
  }
  /// Returns the number of nodes.
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) n *= extent(d);
    return n;
  }
  /// Returns true if the box has no nodes.
  KOKKOS_INLINE_FUNCTION bool empty() const { return size() == 0; }
  /// Returns true if the node is in the box.
  KOKKOS_INLINE_FUNCTION bool contains(const Index<Dim>& node) const {
    for (int d = 0; d < Dim; ++d) {
      if (node[d] < lower[d] || node[d] >= upper[d]) return false;
    }
    return true;
  }
  /// Returns the node at a position in the box, 0 <= count < size(); the last axis is fastest.
  KOKKOS_INLINE_FUNCTION Index<Dim> node(std::int64_t count) const {
    Index<Dim> result{};
    for (int d = Dim - 1; d >= 0; --d) {
      result[d] = lower[d] + count % extent(d);
      count /= extent(d);
    }
    return result;
  }
  /// Returns the box enlarged by `nodes` nodes on every side, or reduced if `nodes` is negative.
  Box grown(std::int64_t nodes) const {
    Box result = *this;
    for (int d = 0; d < Dim; ++d) {
      result.lower[d] -= nodes;
      result.upper[d] += nodes;
    }
    return result;
  }
  /// Compares the lower and upper nodes.
  friend bool operator==(const Box& a, const Box& b) {
    for (int d = 0; d < Dim; ++d) {
      if (a.lower[d] != b.lower[d] || a.upper[d] != b.upper[d]) return false;
    }
    return true;
  }
};

/// Returns the nodes that both boxes contain.
template <int Dim>
Box<Dim> intersection(const Box<Dim>& a, const Box<Dim>& b) {
  Box<Dim> result;
  for (int d = 0; d < Dim; ++d) {
    result.lower[d] = std::max(a.lower[d], b.lower[d]);
    result.upper[d] = std::max(result.lower[d], std::min(a.upper[d], b.upper[d]));
  }
  return result;
}

/// Returns the smallest box that contains both boxes.
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

/// Returns the strides of a box stored contiguously, with the last axis fastest.
///
/// Node `lower` is element 0.
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

/// Returns the box of all nodes of a grid.
template <int Dim>
Box<Dim> whole_box(const Grid<Dim>& grid) {
  return Box<Dim>{{}, grid.extents};
}

/// A half-open range [begin, end) of planes normal to x, the first and slowest axis.
///
/// Consecutive planes are contiguous in memory.
struct PlaneRange {
  std::int64_t begin = 0;  ///< first plane
  std::int64_t end = 0;    ///< one past the last plane

  /// Returns the number of planes.
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return end > begin ? end - begin : 0; }
  /// Returns true if the range has no planes.
  KOKKOS_INLINE_FUNCTION bool empty() const { return end <= begin; }
  /// Returns true if the plane is in the range.
  KOKKOS_INLINE_FUNCTION bool contains(std::int64_t plane) const {
    return plane >= begin && plane < end;
  }
  /// Compares both ends.
  friend bool operator==(const PlaneRange&, const PlaneRange&) = default;
};

/// Returns the range of all planes of a grid.
template <int Dim>
PlaneRange all_planes(const Grid<Dim>& grid) {
  return PlaneRange{0, grid.extents[0]};
}

/// Returns the range of planes of a box.
template <int Dim>
PlaneRange planes_of(const Box<Dim>& box) {
  return PlaneRange{box.lower[0], box.upper[0]};
}

/// Returns the planes that both ranges contain.
inline PlaneRange intersection(const PlaneRange& a, const PlaneRange& b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return PlaneRange{begin, std::max(begin, std::min(a.end, b.end))};
}

/// Formats a box for messages: "[0, 40) x [3, 17)".
template <int Dim>
std::string box_string(const Box<Dim>& box) {
  std::string text;
  for (int d = 0; d < Dim; ++d) {
    text += concat(d ? " x [" : "[", box.lower[d], ", ", box.upper[d], ")");
  }
  return text;
}

}  // namespace moho
