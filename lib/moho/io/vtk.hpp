// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Polylines for VTK and ParaView (the legacy .vtk format).

#include <moho/core/grid.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace moho::io {

/// One number per polyline, for colouring: traveltime, source, receiver, ...
struct VtkCellData {
  std::string name;            ///< without white space
  std::vector<double> values;  ///< one per polyline
};

/// Options of write_vtk_polylines().
struct VtkOptions {
  std::string title = "rays";  ///< second line of the file, one line of at most 255 characters
  bool binary = false;         ///< binary (big endian) instead of text
};

/// Writes polylines in compressed rows: those of line k are points[first[k]] ... points[first[k +
/// 1] - 1], as rays::RayPaths holds them.
///
/// A 2D point (x, z) is written as (x, 0, z), a 3D point as (x, y, z). Depth stays positive down as
/// in the grid, so that coordinates in ParaView are those of the model; to see depth pointing down
/// there, scale z by -1 in the display. Coordinates are doubles; in text they have the fewest
/// digits that give the same double when read. Lines without points are left out, with their cell
/// data; a line of one point has it twice, since VTK asks for two. \throws FileError, InputError
/// when the arguments do not agree
template <int Dim>
void write_vtk_polylines(const std::filesystem::path& path, const std::vector<std::int64_t>& first,
                         const std::vector<Point<Dim>>& points,
                         const std::vector<VtkCellData>& cell_data = {},
                         const VtkOptions& options = {});

}  // namespace moho::io
