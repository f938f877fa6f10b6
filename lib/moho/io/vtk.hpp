// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Writing of polylines and grids for VTK and ParaView (legacy .vtk format).

#include <moho/core/grid.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace moho::io {

/// A number for each polyline, for colouring: traveltime, source, receiver, ...
struct VtkCellData {
  std::string name;            ///< without white space
  std::vector<double> values;  ///< one per polyline
};

/// Options of write_vtk_polylines() and write_vtk_grid().
struct VtkOptions {
  std::string title = "rays";  ///< second line of the file, a single line of at most 255 characters
  bool binary = false;         ///< binary (big endian); false: text
};

/// Writes polylines given as compressed rows, as in rays::RayPaths.
///
/// Line k consists of points[first[k]] to points[first[k + 1] - 1]. A 2D point (x, z) is written as
/// (x, 0, z), a 3D point as (x, y, z). Depth is positive down as in the grid, so that coordinates
/// in ParaView are those of the model. Scale z by -1 in the display to plot depth downwards.
/// Coordinates are doubles; in text they have the fewest digits from which the same double is read.
/// Lines without points are omitted, with their cell data. A line of one point is written with this
/// point twice, because VTK requires two. \throws FileError; InputError if the arguments do not
/// agree
template <int Dim>
void write_vtk_polylines(const std::filesystem::path& path, const std::vector<std::int64_t>& first,
                         const std::vector<Point<Dim>>& points,
                         const std::vector<VtkCellData>& cell_data = {},
                         const VtkOptions& options = {});

/// Values at the nodes of a grid.
struct VtkPointData {
  std::string name;            ///< without white space
  std::vector<double> values;  ///< one per node, the last axis contiguous
};

/// \brief Writes values at the nodes of a grid as structured points.
///
/// A 2D grid (x, z) is a section of one node along y. Depth is positive down, as in
/// write_vtk_polylines(): polylines and grids fit together. \throws FileError; InputError if the
/// arguments do not agree
template <int Dim>
void write_vtk_grid(const std::filesystem::path& path, const Grid<Dim>& grid,
                    const std::vector<VtkPointData>& point_data,
                    const VtkOptions& options = {.title = "grid"});

}  // namespace moho::io
