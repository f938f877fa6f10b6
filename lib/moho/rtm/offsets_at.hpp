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
/// \param half_offset largest one, m, from one node to a quarter of the model's width; 0: a tenth
/// of the width. At most 33 half offsets are equidistant
/// \param name,offset_name names of `positions` and `half_offset` in messages
/// \throws InputError for positions outside of the model, and half offsets out of range
template <int Dim>
OffsetOptions<Dim> offsets_at(const Grid<Dim>& grid, const std::vector<double>& positions,
                              double half_offset, const std::string& name = "columns",
                              const std::string& offset_name = "half_offset") {
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
  const std::int64_t max = (grid.extents[0] - 1) / 4;
  if (max < 1) {
    throw InputError(concat(name, ": the model has ", grid.extents[0],
                            " nodes along x (allowed: 5 or more, for half offsets up to a quarter "
                            "of its width): leave it out"));
  }
  const double width = grid.upper(0) - grid.origin[0];
  const double nodes = (half_offset > 0.0 ? half_offset : 0.1 * width) / grid.spacing[0];
  const double last = static_cast<double>(max);
  if (half_offset > 0.0 && !(nodes >= 0.5 && nodes < last + 0.5)) {
    throw InputError(concat(offset_name, " is ", half_offset, " m (allowed: ", grid.spacing[0],
                            " to ", last * grid.spacing[0],
                            " m, from a node to a quarter of the width of the model)"));
  }
  offsets.max_half_offset = std::llround(std::clamp(nodes, 1.0, last));
  offsets.offset_step = std::max<std::int64_t>(offsets.max_half_offset / 16, 1);
  offsets.max_half_offset = offsets.max_half_offset / offsets.offset_step * offsets.offset_step;
  return offsets;
}

/// Returns the positions of the columns of gathers: x, in 3D x and y, of each, m.
template <int Dim>
std::vector<double> column_positions(const Grid<Dim>& grid, const OffsetOptions<Dim>& offsets) {
  std::vector<double> positions;
  for (const Index<Dim>& column : offsets.columns) {
    for (int d = 0; d < Dim - 1; ++d) {
      positions.push_back(grid.origin[d] + static_cast<double>(column[d]) * grid.spacing[d]);
    }
  }
  return positions;
}

/// \brief Returns which columns are not at the positions given, "304 m is at 300 m"; empty if all
/// are. \param given positions of offsets_at(), m
template <int Dim>
std::string moved_columns(const Grid<Dim>& grid, const OffsetOptions<Dim>& offsets,
                          const std::vector<double>& given) {
  const std::vector<double> nodes = column_positions(grid, offsets);
  std::string moved;
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (std::abs(given[k] - nodes[k]) < 1e-6 * (1.0 + std::abs(given[k]))) continue;
    moved += concat(moved.empty() ? "" : ", ", given[k], " m is at ", nodes[k], " m");
  }
  return moved;
}

}  // namespace moho::rtm
