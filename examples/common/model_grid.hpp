// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The grid of a model before its number of dimensions is a type.

#include <moho/core/grid.hpp>
#include <moho/core/statistics.hpp>

#include "common/json.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// A model's name and the nodes it is given on. Lists are in the library's order of axes: (x, z) or
/// (x, y, z).
struct ModelGrid {
  std::string name;                 ///< for messages: the file, or what was made
  std::vector<std::int64_t> shape;  ///< nodes along each axis
  std::vector<double> spacing;      ///< metres
  std::vector<double> origin;       ///< metres
  std::vector<std::string> notes;   ///< what the user should know

  /// Metres from the origin to the last node along an axis, and the coordinate there.
  double upper(std::size_t axis) const {
    return origin[axis] + spacing[axis] * static_cast<double>(shape[axis] - 1);
  }
  /// "x", "z" or "x", "y", "z".
  const char* axis(std::size_t axis) const;
};

/// The grid of a model, checked. \throws InputError
template <int Dim>
Grid<Dim> grid_of(const ModelGrid& model);

/// "x from 0 to 4000, z from 0 to 2000", with `from` and `to` as words of choice.
std::string describe_extent(const ModelGrid& model, const char* from = " ");

/// "401 x 201 nodes, 10 m apart (x 0 to 4000, z 0 to 2000 m)".
std::string describe_grid(const ModelGrid& model);

/// Puts axes, shape, spacing and origin into an object.
void add_grid(const ModelGrid& model, Json& json);

/// Values for all axes from a list of one, or of as many.
/// \param option what to call it in messages
/// \throws InputError
std::vector<double> spread(const char* option, const std::vector<double>& values,
                           std::size_t dimensions, const char* form);

}  // namespace moho::examples
