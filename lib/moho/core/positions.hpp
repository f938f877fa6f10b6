// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of the positions of sources and receivers.

#include <moho/core/box.hpp>
#include <moho/core/grid.hpp>

#include <string>

namespace moho {

/// \brief Checks that positions are inside a grid or a part of it.
/// \param grid the grid
/// \param points the positions
/// \param name name of a point in messages: "source", "receiver"
/// \param interior nodes outside of boundary layers; an empty box means all nodes
/// \throws InputError for the first position outside; the message has its number, from 1, its
/// coordinates and the allowed ranges
template <int Dim>
void check_positions(const Grid<Dim>& grid, const Points<Dim>& points, const std::string& name,
                     const Box<Dim>& interior = {});

}  // namespace moho
