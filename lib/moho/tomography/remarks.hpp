// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Remarks on picks and results, for the user of an inversion.

#include <moho/core/argument_names.hpp>
#include <moho/core/grid.hpp>
#include <moho/rays/paths.hpp>
#include <moho/tomography/types.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace moho::tomography {

/// Numbers of picks whose rays run along faces of the grid.
struct EdgeRays {
  std::int64_t picks = 0;   ///< all picks
  std::int64_t bottom = 0;  ///< along the bottom for more than four nodes
  std::int64_t sides = 0;   ///< along a side for more than four nodes
};

/// Counts rays that run within a quarter of a node of the bottom or of a side.
/// \param grid nodes of the model
/// \param paths a ray for each pick
template <int Dim>
EdgeRays edge_rays(const Grid<Dim>& grid, const rays::RayPaths<Dim>& paths);

/// \brief Returns a remark for the bottom and one for the sides, where the rays of more than 2 % of
/// the picks run along them. \param names of "depth" and "margin" in messages
std::vector<std::string> describe_edges(const EdgeRays& rays, const ArgumentNames& names = {});

/// Returns remarks where the errors of more than half of the picks are larger than their times, and
/// where origin times and delays of sources are both unknown.
template <int Dim>
std::vector<std::string> remarks_on_options(const PickSet<Dim>& picks, const Options<Dim>& options);

/// Returns a remark where the bounds allow velocities below 20 m/s alone, as those in km/s do.
template <int Dim>
std::vector<std::string> remarks_on_bounds(const Options<Dim>& options);

/// \brief Returns a remark where stations are farther than a node beyond a table of the ground.
///
/// There the ground continues with the depth of the nearest point. In 3D a table reaches from its
/// least to its greatest x and y.
/// \param table points of ground_of_table() \param grid nodes of the model
template <int Dim>
std::vector<std::string> remarks_on_ground(const Points<Dim>& table, const Grid<Dim>& grid,
                                           const PickSet<Dim>& picks);

/// \brief Returns remarks on arguments without effect.
/// \param options of the inversion \param given of "deviation_max", "target" and "tolerance" those
/// that were given, by their names in messages
template <int Dim>
std::vector<std::string> remarks_on_unused(const Options<Dim>& options,
                                           const std::set<std::string>& given);

/// \brief Cuts velocities to the bounds of the options.
/// \returns a remark with the number of nodes whose velocity changed, if any changed
template <int Dim>
std::vector<std::string> cut_to_bounds(std::vector<double>& velocity, const Options<Dim>& options);

/// \brief Returns a remark where the steps of the last bidiagonalisation limit the lambda of gcv,
/// or "".
///
/// There the degrees of freedom are more than a half of the steps. \param last the last iteration
/// \param picks number of picks
template <int Dim>
std::string describe_gcv(const IterationReport& last, std::size_t picks,
                         const Options<Dim>& options);

/// chi^2 without robust weights.
struct FitSummary {
  std::int64_t picks = 0;       ///< all picks
  std::int64_t flagged = 0;     ///< of them more than four standard deviations away
  double chi2 = 0.0;            ///< of all picks
  double chi2_unflagged = 0.0;  ///< of the others; 0 if all are flagged
};

/// Returns the mean squares of residual / sigma, with the weights of the picks themselves alone.
template <int Dim>
FitSummary summarise_fits(const PickSet<Dim>& picks, const std::vector<PickFit>& fits);

/// Returns "without robust weights chi^2 is 0.97 of 533 picks that are not flagged, 10.4 of all".
std::string describe_fit(const FitSummary& fit);

/// \brief Returns remarks on single stations of a line that are far above or below both of their
/// neighbours, as a wrong digit of an elevation puts them.
///
/// Far is more than half of the distance to the nearer neighbour, at an end the distance itself,
/// and eight times the median of all stations. Below the line only receivers with a place of their
/// own count, and three at most: others are in boreholes. \param picks of a line \param max number
/// of remarks
std::vector<std::string> odd_heights(const PickSet<2>& picks, std::size_t max = 5);

}  // namespace moho::tomography
