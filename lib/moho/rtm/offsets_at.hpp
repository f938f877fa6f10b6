// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Offset gathers at positions of a model.

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/rtm/image.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::rtm {

/// \brief Returns the columns and half offsets of gathers at positions.
/// \param grid of the model
/// \param positions x, in 3D x and y, of each column, m; columns are at the nearest nodes
/// \param half_offset largest one, m; 0: a tenth of the model's width. It is at most a quarter of
/// the width; at most 33 half offsets are equidistant
/// \param name name of `positions` in messages
/// \throws InputError for positions outside of the model
template <int Dim>
OffsetOptions<Dim> offsets_at(const Grid<Dim>& grid, const std::vector<double>& positions,
                              double half_offset, const std::string& name = "columns") {
  constexpr std::size_t numbers = Dim - 1;
  OffsetOptions<Dim> offsets;
  if (positions.size() % numbers != 0) {
    throw InputError(concat(name, " has ", positions.size(),
                            " numbers (allowed in 3D: an x and a y for each column)"));
  }
  for (std::size_t c = 0; c < positions.size() / numbers; ++c) {
    Index<Dim> column{};
    for (std::size_t d = 0; d < numbers; ++d) {
      const double at = positions[c * numbers + d];
      const int axis = static_cast<int>(d);
      const double node = (at - grid.origin[axis]) / grid.spacing[axis];
      column[axis] = static_cast<std::int64_t>(std::llround(node));
      if (node > -0.5 && column[axis] >= 0 && column[axis] < grid.extents[axis]) continue;
      throw InputError(concat(name, ": ", at, " m is outside of the model (allowed: ",
                              grid.origin[axis], " to ", grid.upper(axis), " m)"));
    }
    offsets.columns.push_back(column);
  }
  if (offsets.columns.empty()) return offsets;
  const double width = grid.upper(0) - grid.origin[0];
  const double largest = half_offset > 0.0 ? half_offset : 0.1 * width;
  offsets.largest =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(std::llround(largest / grid.spacing[0])),
                               1, (grid.extents[0] - 1) / 4);
  offsets.apart = std::max<std::int64_t>(offsets.largest / 16, 1);
  offsets.largest = offsets.largest / offsets.apart * offsets.apart;
  return offsets;
}

}  // namespace moho::rtm
