// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Grid of a model whose number of dimensions is known at run time.

#include <moho/core/grid.hpp>
#include <moho/core/statistics.hpp>
#include <moho/wave/sponge_width.hpp>

#include "app/json.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// Name of a model, and the nodes of its values.
/// Lists are in the library's order of axes: (x, z) or (x, y, z).
struct ModelGrid {
  std::string name;                 ///< for messages: the file, or the name of a built-in model
  std::vector<std::int64_t> shape;  ///< nodes along each axis
  std::vector<double> spacing;      ///< metres
  std::vector<double> origin;       ///< metres
  std::vector<std::string> notes;   ///< lines for the user
  wave::SpongeWave sponge;          ///< of a run, for a note that depends on its time step

  /// Returns the coordinate of the last node along an axis, m.
  double upper(std::size_t axis) const {
    return origin[axis] + spacing[axis] * static_cast<double>(shape[axis] - 1);
  }
  /// Returns the name of an axis: "x", "z" or "x", "y", "z".
  const char* axis(std::size_t axis) const;
};

/// Returns the checked grid of a model. \throws InputError for an invalid grid
template <int Dim>
Grid<Dim> grid_of(const ModelGrid& model);

/// Returns the text of the extent: "x 0 to 4000, z 0 to 2000".
/// \param from text between axis and number
std::string describe_extent(const ModelGrid& model, const char* from = " ");

/// Returns the text of a grid: "401 x 201 nodes, 10 m apart (x 0 to 4000, z 0 to 2000 m)".
std::string describe_grid(const ModelGrid& model);

/// Adds axes, shape, spacing and origin to an object.
void add_grid(const ModelGrid& model, Json& json);

/// Returns values for all axes, from a list of one value, or of one value for each axis.
/// \param option its name in messages
/// \throws InputError for a list of another length
std::vector<double> spread(const char* option, const std::vector<double>& values,
                           std::size_t dimensions, const char* form);

}  // namespace moho::examples
