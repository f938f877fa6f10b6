// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of the input of an inversion.

#include <moho/tomography/types.hpp>

#include <vector>

namespace moho::tomography {

/// \brief Checks picks, start model and options, as the constructor of Inversion does.
/// \param grid nodes of the model
/// \param picks the picks
/// \param start velocity at the nodes, m/s
/// \param mask 1 for nodes of the ground, 0 for air, which ground_mask() returns
/// \param options errors, lengths and bounds
/// \throws InputError for picks without errors, lengths below the distance of unknowns, bounds that
///         are crossed, a start model of another size, not positive or out of bounds
template <int Dim>
void check_input(const Grid<Dim>& grid, const PickSet<Dim>& picks, const std::vector<double>& start,
                 const std::vector<unsigned char>& mask, const Options<Dim>& options);

/// Returns true if times are those of the eikonal equation, whose solver knows no air.
/// \param options Options::times
/// \param mask 1 for nodes of the ground, 0 for air
template <int Dim>
bool uses_eikonal(const Options<Dim>& options, const std::vector<unsigned char>& mask);

}  // namespace moho::tomography
