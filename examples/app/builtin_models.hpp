// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Velocity models by formula, for any number of nodes.

#include "app/model_grid.hpp"

#include <vector>

namespace moho::examples {

/// Returns the P velocity of a synthetic salt model at a point, m/s.
///
/// Eight undulating layers of sediments (1500 to 3500 m/s) each have a velocity at their top and a
/// gradient. A body of salt (4500 m/s) drags them up and pierces them. The body is a bed near the
/// bottom, a stem, and a wide cap; the rugged cap overhangs the stem.
///
/// \param x fraction of the model's length, 0 to 1
/// \param y fraction of the model's width; 0.5 is the plane that a 2D model shows
/// \param z fraction of the model's depth, 0 at the top
double salt_velocity(double x, double y, double z);

/// Returns salt_velocity() at the nodes of a grid, m/s, z fastest.
///
/// Fractions refer to the size of the grid. Along a missing axis, or one with a single node, x and
/// y are 0.5, and z is 0.
template <class T>
std::vector<T> salt_model(const ModelGrid& grid);

/// Returns v0 + gradient z at the nodes of a grid, z fastest.
template <class T>
std::vector<T> gradient_model(const ModelGrid& grid, double v0, double gradient);

}  // namespace moho::examples
