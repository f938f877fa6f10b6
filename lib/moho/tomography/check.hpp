// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of the input of an inversion, and estimates from it.

#include <moho/tomography/types.hpp>

#include <utility>
#include <vector>

namespace moho::tomography {

/// \brief Checks the numbers of picks and of options, before these are used.
/// \param picks the picks
/// \param options what the inversion does
/// \returns picks
/// \throws InputError without picks; for sources and receivers that do not exist, times that are
///         not positive, negative errors and weights, and options out of range
template <int Dim>
const PickSet<Dim>& check_numbers(const PickSet<Dim>& picks, const Options<Dim>& options);

/// \brief Checks picks, start model and options, as the constructor of Inversion does.
/// \param grid nodes of the model
/// \param picks the picks
/// \param start velocity at the nodes, m/s
/// \param mask 1 for nodes of the ground, 0 for air, which ground_mask() returns
/// \param options errors, lengths and bounds
/// \throws InputError for picks without errors, lengths below the distance of unknowns, or
///         with bounds above 1e6 of these, bounds that are crossed, a start model of another size,
///         not positive or out of bounds
template <int Dim>
void check_input(const Grid<Dim>& grid, const PickSet<Dim>& picks, const std::vector<double>& start,
                 const std::vector<unsigned char>& mask, const Options<Dim>& options);

/// Returns true if times are those of the eikonal equation, whose solver knows no air.
/// \param options Options::times
/// \param mask 1 for nodes of the ground, 0 for air
template <int Dim>
bool uses_eikonal(const Options<Dim>& options, const std::vector<unsigned char>& mask);

/// Returns the smallest and the largest standard deviation of picks before that of computed times.
/// \param picks with errors, or without
/// \param options errors of picks without one
template <int Dim>
std::pair<double, double> error_range(const PickSet<Dim>& picks, const Options<Dim>& options);

/// Bytes of the arrays of an inversion.
struct InversionBytes {
  double model = 0.0;    ///< fields at the nodes, on the host
  double rows = 0.0;     ///< derivative and its transpose
  double vectors = 0.0;  ///< of the bidiagonalisation
  double times = 0.0;    ///< traveltimes and predecessors of the sources that are traced at a time
};

/// Estimates the bytes of an inversion from its counts.
/// \param grid nodes of the model
/// \param picks the picks
/// \param options coarsening and steps of a bidiagonalisation
/// \param double_precision of the traced times
template <int Dim>
InversionBytes estimate_bytes(const Grid<Dim>& grid, const PickSet<Dim>& picks,
                              const Options<Dim>& options, bool double_precision);

}  // namespace moho::tomography
