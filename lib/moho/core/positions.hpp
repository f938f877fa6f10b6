// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks positions of sources, receivers and the like.

#include <moho/core/box.hpp>
#include <moho/core/grid.hpp>

#include <string>

namespace moho {

/// \brief Throws InputError for the first position outside, naming its number, the position and
/// what is allowed.
/// \param grid that they must lie in
/// \param points the positions
/// \param name what messages call a point: "source", "receiver"
/// \param interior the nodes that are in no boundary layer; empty: all
template <int Dim>
void check_positions(const Grid<Dim>& grid, const Points<Dim>& points, const std::string& name,
                     const Box<Dim>& interior = {});

}  // namespace moho
