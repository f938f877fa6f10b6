// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Start models from the picks alone.

#include <moho/tomography/ground.hpp>
#include <moho/tomography/types.hpp>

#include <vector>

namespace moho::tomography {

/// A velocity that increases linearly with depth below the ground.
struct LinearVelocity {
  double v0 = 0.0;        ///< at the ground, m/s
  double gradient = 0.0;  ///< 1/s, 0 or more
  double rms = 0.0;       ///< of the residuals of the fit, s
};

/// Traveltime of the direct ray in the velocity v0 + g z, s.
/// \param offset horizontal distance, m
/// \param from,to depths of its ends, m
/// \param v velocity and gradient
double linear_time(double offset, double from, double to, const LinearVelocity& v);

/// \brief Fits a linear velocity to all picks by least squares of the logarithm of times.
///
/// Large residuals have Huber's weights, so that some bad picks do not matter.
template <int Dim>
LinearVelocity fit_linear_velocity(const PickSet<Dim>& picks, const Grid<Dim>& grid,
                                   const Ground<Dim>& ground);

/// Returns the velocity at all nodes, m/s; above the ground it is v0.
template <int Dim>
std::vector<double> linear_model(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                 const LinearVelocity& velocity);

/// Divides horizontal velocities, which first arrivals along the surface show, by sqrt(1 + 2
/// epsilon). An empty list of epsilon changes nothing.
void to_vertical(std::vector<double>& velocity, const std::vector<double>& epsilon);

}  // namespace moho::tomography
