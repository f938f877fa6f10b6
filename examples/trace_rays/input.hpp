// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Model, sources and receivers of trace_rays, read or made, and checked.

#include "app/model_grid.hpp"
#include "trace_rays/options.hpp"

#include <moho/io/text_columns.hpp>

#include <vector>

namespace moho::examples::trace_rays {

/// A velocity model in 2D or 3D.
template <class T>
struct Model : ModelGrid {
  std::vector<T> velocity;  ///< m/s, z fastest
};

/// Reads or makes the model.
/// Its number of dimensions and its spacing are checked, its velocities are not.
template <class T>
Model<T> load_model(const Options& options);

/// Throws InputError, which names the node, unless all velocities are positive and finite.
template <class T, int Dim>
void check_velocity(const Model<T>& model, const Grid<Dim>& grid);

/// Number of receivers on the default line along the surface.
constexpr std::int64_t default_receivers = 41;

/// Returns the sources. \throws InputError for a source outside of the grid
template <int Dim>
std::vector<Point<Dim>> make_sources(const Options& options, const Grid<Dim>& grid);

/// Returns the receivers. \param[out] texts text columns of their table \throws InputError
template <int Dim>
std::vector<Point<Dim>> make_receivers(const Options& options, const Grid<Dim>& grid,
                                       std::vector<io::TextColumn>& texts);

/// Returns the requested or default radius. \throws InputError if it is too large
template <int Dim>
int check_radius(const Options& options);

}  // namespace moho::examples::trace_rays
