// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Start models from the picks alone; layers.hpp fits layers.

#include <moho/tomography/ground.hpp>
#include <moho/tomography/types.hpp>

#include <string>
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

/// A velocity that depends on the depth below the ground alone.
struct LayeredVelocity {
  double spacing = 0.0;          ///< of the depths, m
  std::vector<double> velocity;  ///< m/s, from the ground down, linear between depths
  int medians = 0;               ///< medians of picks that it was fitted to
  double chi2 = 0.0;             ///< of these medians
  /// Returns the velocity at a depth, m/s; beyond the first and the last depth theirs.
  double at(double depth) const;
};

/// The picks of a survey as medians over offset and depth, in a plane of layers.
struct LayerPicks {
  Grid<2> grid;        ///< offset from 0 and depth below the ground
  PickSet<2> medians;  ///< sources at the offset 0
};

/// \brief Sorts picks by offset and by the depths of their ends, and returns a median of each bin.
///
/// A median is that of the picks' times over their distances, times the distance of the bin. Its
/// deviation is the spread of its picks, at least their median deviation, over the square root of
/// their number.
/// \param picks the picks
/// \param grid nodes of the model
/// \param ground depth of the ground; empty: no air
/// \param options errors of picks without one
template <int Dim>
LayerPicks layer_picks(const PickSet<Dim>& picks, const Grid<Dim>& grid, const Ground<Dim>& ground,
                       const Options<Dim>& options);

/// Returns the velocity at all nodes, m/s; above the ground it is that of the ground.
template <int Dim>
std::vector<double> layered_model(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                  const LayeredVelocity& velocity);

/// Returns the velocities at five depths in words.
std::string describe_layers(const LayeredVelocity& velocity);

/// Divides horizontal velocities, which first arrivals along the surface show, by sqrt(1 + 2
/// epsilon), and returns words that say so. An empty list of epsilon changes nothing: "".
std::string to_vertical(std::vector<double>& velocity, const std::vector<double>& epsilon);

}  // namespace moho::tomography
