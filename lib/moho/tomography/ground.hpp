// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The grid of an inversion, the ground below its points, and the nodes of air above it.

#include <moho/tomography/types.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace moho::tomography {

/// How plan_grid() chooses a grid. Values that are not given are derived from the picks.
template <int Dim>
struct GridRequest {
  double spacing = 0.0;                   ///< m; 0: half of the receivers' distance
  double depth = 0.0;                     ///< below the points, m; 0: 0.4 longest offsets
  std::optional<double> margin = {};      ///< beside the points, m; empty: four nodes
  std::optional<Point<Dim>> origin = {};  ///< position of the first node, m
  std::optional<Index<Dim>> shape = {};   ///< nodes along the axes
  std::int64_t max_nodes = 4000000;       ///< that are chosen without being asked
};

/// \brief Chooses a grid that contains all points.
/// \param picks sources and receivers
/// \param longest_offset,receiver_spacing as check_picks() found them, m
/// \param request what the user asks for
/// \throws InputError if a point is outside of the requested grid, or for too many nodes
template <int Dim>
Grid<Dim> plan_grid(const PickSet<Dim>& picks, double longest_offset, double receiver_spacing,
                    const GridRequest<Dim>& request = {});

/// \brief Returns the ground through the points of a 2D line.
///
/// It is linear between points and constant beyond them. Points more than `buried_below` metres
/// below the line between their neighbours are in boreholes and do not count; the first and the
/// last point may besides be below their neighbour by their distance.
Ground<2> ground_of_points(const PickSet<2>& picks, const Grid<2>& grid, double buried_below = 2.0);

/// \brief Returns the ground of a table of positions and depths.
///
/// In 2D it is linear between the points; in 3D it is the inverse-distance weighted mean of the
/// four nearest ones. Beyond them it has the depth of the nearest one.
template <int Dim>
Ground<Dim> ground_of_table(const Points<Dim>& table, const Grid<Dim>& grid);

/// \brief Reads a table x[,y],z of positions on the ground, for ground_of_table().
/// \param path table of comma-separated values
/// \param elevations true: z is an elevation and points up
/// \throws FileError for a table that cannot be read, or with two depths at one position
template <int Dim>
Points<Dim> read_ground_table(const std::filesystem::path& path, bool elevations = false);

/// \brief Marks the nodes of the ground: 1, or 0 for air.
///
/// Ground are all nodes of cells with at least one node on or below the ground, and those of cells
/// that contain a source or a receiver. That layer above the ground is the skin; without it points
/// on the ground would lie in cells with nodes of air.
/// \throws InputError for a point more than two cells above the ground
template <int Dim>
std::vector<unsigned char> ground_mask(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                       const PickSet<Dim>& picks);

/// Replaces the values of air by that of the highest node of the ground below; columns without
/// ground are unchanged.
/// \param grid nodes of the model
/// \param mask 1 for nodes of the ground, 0 for air; empty: no air
/// \param values at the nodes
template <int Dim>
void fill_air(const Grid<Dim>& grid, const std::vector<unsigned char>& mask,
              std::vector<double>& values);

/// Returns the depth of a point below the ground, m; below the top of the grid without a ground.
template <int Dim>
double depth_below(const Grid<Dim>& grid, const Ground<Dim>& ground,
                   const std::type_identity_t<Point<Dim>>& point);

}  // namespace moho::tomography
