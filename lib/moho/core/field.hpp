// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Fields on grids: Kokkos views with the rank of the grid and a contiguous last axis.

#include <moho/core/grid.hpp>
#include <moho/core/instance.hpp>

#include <string>
#include <type_traits>

namespace moho {

namespace detail {
template <class T, int Rank>
struct add_pointers {
  using type = typename add_pointers<T, Rank - 1>::type*;
};
template <class T>
struct add_pointers<T, 0> {
  using type = T;
};
}  // namespace detail

/// A field of scalars T on a Dim-dimensional grid.
///
/// `Space` is a memory space, or an execution space that stands for its memory space.
template <class T, int Dim, class Space>
using Field = Kokkos::View<typename detail::add_pointers<T, Dim>::type, Kokkos::LayoutRight,
                           typename Space::memory_space>;

/// A field for each source: a view of rank Dim + 1 whose first axis is the source.
template <class T, int Dim, class Space>
using FieldPerSource = Field<T, Dim + 1, Space>;

/// Allocates an uninitialised field with the shape of the grid.
///
/// `exec` is an Instance or a Kokkos execution space instance.
template <class T, class Exec>
Field<T, 2, Exec> make_field(const Exec& exec, const Grid<2>& grid, const std::string& label) {
  return allocate<Field<T, 2, Exec>>(exec, label, grid.extents[0], grid.extents[1]);
}
/// \overload
template <class T, class Exec>
Field<T, 3, Exec> make_field(const Exec& exec, const Grid<3>& grid, const std::string& label) {
  return allocate<Field<T, 3, Exec>>(exec, label, grid.extents[0], grid.extents[1],
                                     grid.extents[2]);
}
/// Allocates an uninitialised field with the shape of the grid for each of `sources` sources.
template <class T, class Exec>
FieldPerSource<T, 2, Exec> make_field_per_source(const Exec& exec, std::int64_t sources,
                                                 const Grid<2>& grid, const std::string& label) {
  return allocate<FieldPerSource<T, 2, Exec>>(exec, label, sources, grid.extents[0],
                                              grid.extents[1]);
}
/// \overload
template <class T, class Exec>
FieldPerSource<T, 3, Exec> make_field_per_source(const Exec& exec, std::int64_t sources,
                                                 const Grid<3>& grid, const std::string& label) {
  return allocate<FieldPerSource<T, 3, Exec>>(exec, label, sources, grid.extents[0],
                                              grid.extents[1], grid.extents[2]);
}

/// Checks that a view is contiguous and has the shape of the grid.
///
/// Its last Dim extents are those of the grid; the first extent of a view of rank Dim + 1 is
/// `leading`. Kernels index the elements as contiguous, and would read the gaps of a subview as
/// values.
/// \throws InputError if one of these does not hold
template <int Dim, class ViewType>
void check_shape(const Grid<Dim>& grid, const ViewType& view, const char* argument,
                 std::int64_t leading = 1) {
  constexpr int rank = static_cast<int>(ViewType::rank);
  static_assert(rank == Dim || rank == Dim + 1);
  bool same = true;
  if (rank == Dim + 1) same = static_cast<std::int64_t>(view.extent(0)) == leading;
  for (int d = 0; d < Dim; ++d) {
    same = same && static_cast<std::int64_t>(view.extent(d + rank - Dim)) == grid.extents[d];
  }
  if (same && view.span_is_contiguous()) return;
  if (same) {
    throw InputError(concat(argument,
                            ": it is a part of a larger view, with gaps between its rows (allowed: "
                            "views whose elements lie one after the other): copy it into a field "
                            "of its own with Kokkos::deep_copy"));
  }
  std::string shape;
  for (int d = 0; d < rank; ++d) shape += concat(d ? " x " : "", view.extent(d));
  throw InputError(concat(argument, ": its shape is ", shape,
                          " (allowed: ", rank == Dim + 1 ? concat(leading, " x ") : std::string(),
                          shape_string(grid), ", the shape of the grid): allocate it with ",
                          rank == Dim ? "moho::make_field" : "moho::make_field_per_source"));
}

}  // namespace moho
