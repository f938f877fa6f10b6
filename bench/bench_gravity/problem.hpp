// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Prisms and stations of the gravity benchmarks, and reference values at stations.

#include <moho/gravity/types.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace moho::bench {

/// Prisms and stations.
struct GravityProblem {
  std::string name;               ///< "spheres", "spheres_mesh" or "dense"
  std::vector<double> prisms;     ///< rows x1, x2, y1, y2, z1, z2 (m), density (kg/m^3)
  bool regular = false;           ///< compute the mesh; `prisms` holds its prisms
  gravity::RegularMesh mesh;      ///< for regular problems
  std::vector<double> densities;  ///< for regular problems, including cells without mass
  std::vector<double> stations;   ///< rows x, y, z (m)

  /// Returns the number of prisms with mass.
  std::int64_t prism_count() const { return static_cast<std::int64_t>(prisms.size() / 7); }
  /// Returns the number of stations.
  std::int64_t station_count() const { return static_cast<std::int64_t>(stations.size() / 3); }
};

/// Size of a problem; 0 means all.
struct ProblemSize {
  std::string name = "spheres";   ///< spheres, spheres_mesh or dense
  std::int64_t prisms = 0;        ///< number of prisms of "spheres", evenly spaced in the list
  std::int64_t stations = 0;      ///< number of stations, evenly spaced in the list
  std::array<int, 3> cells = {};  ///< cells of "dense"
};

/// Returns a problem with the paper's 150 x 100 stations 100 m above. "spheres": the seven spheres
/// of Couder-Castaneda et al. (2013) as a list of prisms. "spheres_mesh": the same spheres as a
/// regular mesh. "dense": a box of the same size with a random density in every cell, from a fixed
/// seed.
GravityProblem make_problem(const ProblemSize& size);

/// Returns `count` rows evenly spaced in a table; row i is row i * rows / count of the table.
std::vector<double> pick_rows(const std::vector<double>& table, std::int64_t columns,
                              std::int64_t count);

/// Returns the ten components at some stations by the textbook's closed forms (prism_reference).
/// Each sum is sequential in the order of the prisms; stations are computed in parallel.
/// \param stations indices of the stations
/// \return one row per station: ten values in the order of Component
std::vector<std::array<double, gravity::component_count>> textbook_field(
    const GravityProblem& problem, const std::vector<std::int64_t>& stations,
    double constant = gravity::gravitational_constant);

/// textbook_field() with all operations of the closed forms and sums in long double.
std::vector<std::array<long double, gravity::component_count>> long_double_field(
    const GravityProblem& problem, const std::vector<std::int64_t>& stations,
    double constant = gravity::gravitational_constant);

}  // namespace moho::bench
