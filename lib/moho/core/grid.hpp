// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Regular grids in two and three dimensions.
///
/// In all of moho axes are (x, z) in 2D and (x, y, z) in 3D. z is depth, positive down, and **the
/// last axis is contiguous** in memory and in files. SEG-Y traces and RSF files with n1 = nz have
/// the same order, so that models need no transposition.

#include <moho/core/error.hpp>
#include <moho/core/kokkos.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace moho {

/// A position (x, z) or (x, y, z), in the units of the grid.
template <int Dim>
using Point = Kokkos::Array<double, Dim>;

/// A list of positions. Dim is not deduced from it but from another argument, such as the grid.
template <int Dim>
using Points = std::vector<std::type_identity_t<Point<Dim>>>;

/// Indices of a node or a cell along the axes.
template <int Dim>
using Index = Kokkos::Array<std::int64_t, Dim>;

/// Returns the name of an axis: "x", "z" in 2D; "x", "y", "z" in 3D.
template <int Dim>
const char* axis_name(int axis) {
  static_assert(Dim == 2 || Dim == 3);
  constexpr const char* names[2][3] = {{"x", "z", ""}, {"x", "y", "z"}};
  return names[Dim - 2][axis];
}

/// A regular grid of nodes.
///
/// Lengths are in any one unit, for example metres; velocities are in that unit per second.
template <int Dim>
struct Grid {
  static_assert(Dim == 2 || Dim == 3, "moho::Grid is made for 2 and 3 dimensions");

  Index<Dim> extents{};  ///< nodes along each axis, at least 1
  Point<Dim> spacing{};  ///< distance between nodes along each axis, positive
  Point<Dim> origin{};   ///< position of node (0, ..., 0)

  /// Returns the number of nodes.
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) n *= extents[d];
    return n;
  }

  /// Returns the number of cells; 0 if an axis has a single node.
  KOKKOS_INLINE_FUNCTION std::int64_t cells() const {
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) n *= extents[d] - 1;
    return n;
  }

  /// Returns the flat index of a node; the last axis is contiguous.
  KOKKOS_INLINE_FUNCTION std::int64_t flat(const Index<Dim>& node) const {
    std::int64_t i = node[0];
    for (int d = 1; d < Dim; ++d) i = i * extents[d] + node[d];
    return i;
  }

  /// Returns the indices of the node with a flat index.
  KOKKOS_INLINE_FUNCTION Index<Dim> node(std::int64_t flat_index) const {
    Index<Dim> result{};
    for (int d = Dim - 1; d >= 0; --d) {
      result[d] = flat_index % extents[d];
      flat_index /= extents[d];
    }
    return result;
  }

  /// Returns the flat index of a cell, given by its lowest node; the last axis is contiguous.
  KOKKOS_INLINE_FUNCTION std::int64_t flat_cell(const Index<Dim>& cell) const {
    std::int64_t i = cell[0];
    for (int d = 1; d < Dim; ++d) i = i * (extents[d] - 1) + cell[d];
    return i;
  }

  /// Returns the position of a node.
  KOKKOS_INLINE_FUNCTION Point<Dim> position(const Index<Dim>& node) const {
    Point<Dim> p{};
    for (int d = 0; d < Dim; ++d) p[d] = origin[d] + spacing[d] * static_cast<double>(node[d]);
    return p;
  }

  /// Returns a position relative to the origin, in units of the spacing.
  KOKKOS_INLINE_FUNCTION Point<Dim> to_index_space(const Point<Dim>& p) const {
    Point<Dim> q{};
    for (int d = 0; d < Dim; ++d) q[d] = (p[d] - origin[d]) / spacing[d];
    return q;
  }

  /// Returns true if the position is inside the grid or on its border.
  ///
  /// The tolerance is 1e-9 of the spacing, so that positions printed with ten digits remain inside
  /// when they are read.
  KOKKOS_INLINE_FUNCTION bool contains(const Point<Dim>& p) const {
    const Point<Dim> q = to_index_space(p);
    for (int d = 0; d < Dim; ++d) {
      if (!(q[d] >= -1e-9 && q[d] <= static_cast<double>(extents[d] - 1) + 1e-9)) return false;
    }
    return true;
  }

  /// Returns the coordinate of the last node along an axis.
  KOKKOS_INLINE_FUNCTION double upper(int axis) const {
    return origin[axis] + spacing[axis] * static_cast<double>(extents[axis] - 1);
  }

  static constexpr double min_spacing = 1e-6;  ///< its square and inverse square are finite
  static constexpr double max_spacing = 1e9;   ///< its square and inverse square are finite
  /// Checks the grid.
  ///
  /// Every extent must be at least 1, every spacing from min_spacing to max_spacing, and
  /// every origin finite. The number of nodes must be at most 4e18. \throws InputError otherwise
  void check() const {
    double nodes = 1.0;
    for (int d = 0; d < Dim; ++d) {
      if (extents[d] < 1) {
        throw InputError(
            concat("grid: extent along ", axis_name<Dim>(d), " is ", extents[d],
                   " (allowed: 1 or more nodes): give the number of nodes along each axis"));
      }
      if (!(spacing[d] >= min_spacing && spacing[d] <= max_spacing)) {
        throw InputError(concat("grid: spacing along ", axis_name<Dim>(d), " is ", spacing[d],
                                " (allowed: positive and finite, ", min_spacing, " to ",
                                max_spacing, "): give the distance between nodes"));
      }
      if (!std::isfinite(origin[d])) {
        throw InputError(concat("grid: origin along ", axis_name<Dim>(d), " is ", origin[d],
                                " (allowed: finite numbers)"));
      }
      nodes *= static_cast<double>(extents[d]);
    }
    if (nodes > 4.0e18) throw InputError("grid: the number of nodes overflows 64-bit indices");
  }
};

/// Formats a position for messages: "(12.5, 300)".
template <std::size_t Dim>
std::string format_point(const Kokkos::Array<double, Dim>& p) {
  std::string text = "(";
  for (std::size_t d = 0; d < Dim; ++d) text += concat(d ? ", " : "", p[d]);
  return text + ")";
}

/// Formats indices for messages: "(12, 300)".
template <std::size_t Dim>
std::string format_index(const Kokkos::Array<std::int64_t, Dim>& p) {
  std::string text = "(";
  for (std::size_t d = 0; d < Dim; ++d) text += concat(d ? ", " : "", p[d]);
  return text + ")";
}

/// Formats the shape of a grid for messages: "401 x 201".
template <int Dim>
std::string shape_string(const Grid<Dim>& grid) {
  std::string text;
  for (int d = 0; d < Dim; ++d) text += concat(d ? " x " : "", grid.extents[d]);
  return text;
}

}  // namespace moho
