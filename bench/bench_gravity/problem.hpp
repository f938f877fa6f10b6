// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Prisms and stations that the benchmarks of gravity run on, and reference values there.

#include <moho/gravity/types.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace moho::bench {

/// Prisms and stations.
struct GravityProblem {
  std::string name;
  std::vector<double> prisms;     ///< rows of x1, x2, y1, y2, z1, z2, density
  bool regular = false;           ///< the mesh is what is computed; its prisms are above
  gravity::RegularMesh mesh;      ///< regular problems
  std::vector<double> densities;  ///< regular problems, cells without mass among them
  std::vector<double> stations;   ///< rows of x, y, z

  /// Prisms with mass.
  std::int64_t prism_count() const { return static_cast<std::int64_t>(prisms.size() / 7); }
  /// Stations.
  std::int64_t station_count() const { return static_cast<std::int64_t>(stations.size() / 3); }
};

/// What to make of a problem. Numbers of 0 mean all.
struct ProblemSize {
  std::string name = "spheres";   ///< spheres, spheres_mesh or dense
  std::int64_t prisms = 0;        ///< prisms of "spheres": so many, evenly out of the list
  std::int64_t stations = 0;      ///< likewise
  std::array<int, 3> cells = {};  ///< cells of "dense"
};

/// "spheres": the seven spheres of Couder-Castaneda et al. (2013) as a list of prisms,
/// "spheres_mesh": the same as a regular mesh, "dense": a box of the same size whose every cell has
/// a density, drawn from a generator with a fixed seed. All have the paper's 150 x 100 stations 100
/// m above.
GravityProblem make_problem(const ProblemSize& size);

/// `count` rows evenly out of a table, row i being row i * rows / count of the table.
std::vector<double> pick_rows(const std::vector<double>& table, std::int64_t columns,
                              std::int64_t count);

/// The ten components at some stations by the textbook's closed forms (prism_reference), added in
/// the order of the prisms, one sum after the other. Stations run in parallel, sums do not.
/// \param stations which rows
/// \return a row a station, ten values in the order of Component
std::vector<std::array<double, gravity::component_count>> textbook_field(
    const GravityProblem& problem, const std::vector<std::int64_t>& stations,
    double constant = gravity::gravitational_constant);

/// The same in long double, every operation of the closed forms and of the sums.
std::vector<std::array<long double, gravity::component_count>> long_double_field(
    const GravityProblem& problem, const std::vector<std::int64_t>& stations,
    double constant = gravity::gravitational_constant);

}  // namespace moho::bench
