// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Unknowns of an inversion: cells of a mesh below the ground, or prisms
/// of a list.

#include <moho/gravity/types.hpp>

#include <cstdint>
#include <vector>

namespace moho::gravity_inversion {

/// Elevations of the ground on a lattice, bilinear between its points.
struct Ground {
  std::int64_t nx = 0;              ///< points along x
  std::int64_t ny = 0;              ///< points along y
  double x0 = 0.0;                  ///< x of the first point, m
  double y0 = 0.0;                  ///< y of the first point, m
  double dx = 0.0;                  ///< distance along x, m
  double dy = 0.0;                  ///< distance along y, m
  std::vector<double> elevation;    ///< m above z = 0, x fastest
  std::string name = "topography";  ///< in messages

  /// Returns the elevation at a position. \throws InputError outside of the
  /// lattice
  double at(double x, double y) const;
};

/// Two cells with a common face.
struct Link {
  std::int64_t first;   ///< the cell with the lower coordinate
  std::int64_t second;  ///< the other one
  int axis;             ///< axis across the face
};

/// The unknowns.
struct Cells {
  gravity::RegularMesh mesh;       ///< without cells: the prisms are a list
  std::vector<double> prisms;      ///< rows of x1, x2, y1, y2, z1, z2, 1
  std::vector<std::int64_t> cell;  ///< cell of the mesh of each unknown, x fastest
  std::vector<Link> links;         ///< neighbours

  /// Returns the number of unknowns.
  std::int64_t size() const { return static_cast<std::int64_t>(prisms.size() / 7); }
  /// Returns true for cells of a mesh.
  bool regular() const { return mesh.size() > 0; }
  /// Returns the volumes, m^3.
  std::vector<double> volumes() const;
  /// Returns values on all cells of the mesh, `other` where there is no
  /// unknown.
  std::vector<double> on_mesh(const std::vector<double>& values, double other) const;
  /// Returns the unknowns' values from those of all cells of the mesh.
  std::vector<double> from_mesh(const std::vector<double>& values) const;
};

/// Returns the memory of a number of cells and their neighbours, bytes.
template <class Count>
constexpr double bytes_of_cells(Count cells) {
  return static_cast<double>(cells) * (56.0 + 8.0 + 3.0 * 24.0 + 5.0 * 8.0);
}

/// Returns the mask of values: 0 where a value is 0, otherwise 1.
/// \param name name of the values, for messages
/// \throws InputError for NaN
std::vector<unsigned char> mask_of(const std::string& name, const std::vector<double>& values);

/// \brief Returns the cells of a mesh that are in the mask and below the
/// ground.
///
/// A cell that the ground at its centre cuts has the ground as its top.
/// \param mesh the box and its division
/// \param mask 0 excludes a cell of the mesh; empty: none is excluded
/// \param ground elevations; null: the whole mesh is below the ground
/// \throws InputError for an invalid mesh, a mask of another size, a ground
/// that does not cover the
///         mesh or has elevations that are not finite, or no cells
Cells mesh_cells(const gravity::RegularMesh& mesh, const std::vector<unsigned char>& mask = {},
                 const Ground* ground = nullptr);

/// \brief Returns the prisms of a list. Two prisms with equal faces are
/// neighbours. \param rows x1, x2, y1, y2, z1, z2, density (ignored) \throws
/// InputError for an invalid prism, or none
Cells list_cells(const std::vector<double>& rows);

/// Heights of stations.
struct Heights {
  double mean = 0.0;        ///< above the ground, or above the highest cell without a ground, m
  std::int64_t below = 0;   ///< stations below the ground or that cell's top
  std::int64_t first = -1;  ///< first of these
};

/// Returns the heights of stations above ground or cells; those below count as 0.
/// \param stations rows of x, y, z; outside of the ground they are compared with the highest cell
Heights station_heights(const Cells& cells, const std::vector<double>& stations,
                        const Ground* ground = nullptr);

/// Stations in places where data are rare.
struct StrangeStations {
  std::int64_t inside = 0;         ///< stations inside of cells, not on their faces
  std::int64_t first_inside = -1;  ///< first of these
  std::int64_t far = 0;         ///< stations farther from the box around the cells than its width
  std::int64_t first_far = -1;  ///< first of these
  double width = 0.0;           ///< the larger horizontal size of that box, m
};

/// \brief Returns the stations inside of cells, and those far from all cells.
/// \param stations rows of x, y, z
/// \param max_comparisons of stations with prisms of a list; with more, `inside` is 0
StrangeStations strange_stations(const Cells& cells, const std::vector<double>& stations,
                                 double max_comparisons = 2e8);

/// \brief Returns weights (d_j + h)^(-exponent / 2), with 1 as the largest.
///
/// d_j is the depth of a cell's centre below the ground, or below the highest
/// cell without a ground. They compensate the decay of the field with depth (Li
/// and Oldenburg 1998): exponent 2 for attractions, 3 for gradients. \param
/// cells the unknowns \param height h, height of the stations above the ground,
/// m \param exponent 0 or more \param ground as in mesh_cells() \throws
/// InputError for an exponent out of range
std::vector<double> depth_weights(const Cells& cells, double height, double exponent,
                                  const Ground* ground = nullptr);

/// \brief Returns weights c_j^(1/4) from sums of squares of columns, with 1 as
/// the largest. \param squares as from FieldOperator::column_squares() with
/// weights 1 / error \param min smallest weight
std::vector<double> sensitivity_weights(const std::vector<double>& squares, double min = 1e-3);

}  // namespace moho::gravity_inversion
