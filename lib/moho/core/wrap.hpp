// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Views of values that others own as fields on grids.

#include <moho/core/grid.hpp>

#include <cstdint>

namespace moho {

/// A view of type View of the values of a grid's nodes; the values have to outlive it.
template <class View, int Dim>
View wrap_field(typename View::value_type* data, const Grid<Dim>& grid) {
  if constexpr (Dim == 2) {
    return View(data, grid.extents[0], grid.extents[1]);
  } else {
    return View(data, grid.extents[0], grid.extents[1], grid.extents[2]);
  }
}

/// A view of type View of the values of a grid's nodes for each of `sources` sources.
template <class View, int Dim>
View wrap_field_per_source(typename View::value_type* data, std::int64_t sources,
                           const Grid<Dim>& grid) {
  if constexpr (Dim == 2) {
    return View(data, sources, grid.extents[0], grid.extents[1]);
  } else {
    return View(data, sources, grid.extents[0], grid.extents[1], grid.extents[2]);
  }
}

}  // namespace moho
