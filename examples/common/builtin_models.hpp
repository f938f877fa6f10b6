// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Velocity models made by formula, for any number of nodes, for the example programs.

#include "common/model_grid.hpp"

#include <vector>

namespace moho::examples {

/// P velocity of a made-up salt model, in m/s, at a place given in fractions of the model's size.
///
/// Eight undulating layers of sediments, each with its own velocity on top and a gradient inside
/// (1500 to 3500 m/s altogether), are dragged up and pierced by a body of salt (4500 m/s): a bed of
/// salt near the bottom, a stem, and a wide cap with a rugged top whose flanks overhang the stem.
///
/// \param x fraction of the model's length, 0 to 1
/// \param y fraction of the model's width; 0.5 is the plane that a 2D model shows
/// \param z fraction of the model's depth, 0 at the top
double salt_velocity(double x, double y, double z);

/// salt_velocity() at the nodes of a grid, whose size the fractions are of (0.5 along an axis that
/// is missing or has a single node, but 0 for z).
template <class T>
std::vector<T> salt_model(const ModelGrid& grid);

/// v0 + gradient z at the nodes of a grid.
template <class T>
std::vector<T> gradient_model(const ModelGrid& grid, double v0, double gradient);

}  // namespace moho::examples
