// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Components, options, reports and views of gravity forward modelling.
///
/// Axes are right-handed: x north, y east, **z down**; any other right-handed axes are possible.
/// Lengths are in metres, densities in kg/m^3. The attraction is positive towards the mass along an
/// axis: a dense body below a station gives a positive gz. The gradient is the second derivative of
/// the potential, gab = d(ga)/db. Its trace is 0 outside the mass and -4 pi G rho inside.

#include <moho/core/kokkos.hpp>
#include <moho/core/progress.hpp>
#include <moho/core/timer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace moho::gravity {

/// Gravitational constant, CODATA 2018, m^3/(kg s^2).
inline constexpr double gravitational_constant = 6.6743e-11;
/// The constant of Couder-Castaneda et al. (2013).
inline constexpr double gravitational_constant_2013 = 6.673e-11;
/// Milligals in 1 m/s^2.
inline constexpr double milligal = 1e5;
/// Eotvos in 1/s^2.
inline constexpr double eotvos = 1e9;

/// Components of the field: potential (m^2/s^2), attraction (mGal) and its gradient (Eotvos).
enum class Component { potential, gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz };

/// Number of components.
inline constexpr int component_count = 10;

/// Returns the name of a component for command lines and file names, e.g. "gxx".
inline const char* to_string(Component component) {
  constexpr const char* names[] = {"potential", "gx",  "gy",  "gz",  "gxx",
                                   "gyy",       "gzz", "gxy", "gxz", "gyz"};
  return names[static_cast<int>(component)];
}

/// Returns the unit of a component: "m2/s2", "mGal" or "Eotvos".
inline const char* unit_of(Component component) {
  const int c = static_cast<int>(component);
  return c == 0 ? "m2/s2" : c < 4 ? "mGal" : "Eotvos";
}

/// A list of distinct components in the order of the results.
using Components = std::vector<Component>;

/// Returns the attraction and its gradient: gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz.
inline Components nine_components() {
  Components all;
  for (int c = 1; c < component_count; ++c) all.push_back(static_cast<Component>(c));
  return all;
}

/// Returns the potential and the nine components of nine_components().
inline Components all_components() {
  Components all;
  for (int c = 0; c < component_count; ++c) all.push_back(static_cast<Component>(c));
  return all;
}

/// Returns components from their names, e.g. "gz,gxx", or "all" for all ten.
/// \throws InputError for an unknown name (the message lists the valid ones), an empty list or a
///         name given twice
Components parse_components(std::string_view names);

/// Arrangement of the sum over prisms and stations. All strategies give the same field.
enum class Strategy {
  automatic,    ///< tiles; by_corners for meshes with few corners of non-zero weight, in double
  tiles,        ///< teams of stations times chunks of prisms; partial sums are added in order
  by_stations,  ///< every thread owns stations and processes all prisms, staged in scratch
  /// The paper's scheme: T threads with private grids, prisms t, T + t, ..., then a sum.
  by_prisms,
  by_corners,  ///< regular meshes, in double: corners shared by prisms are evaluated once
  /// Meshes and stations on their lattice, in double: LatticeOperator, for compute_field() only.
  lattice,
  /// Fast multipole method, in double: FmmOperator, for compute_field() only. Values differ from
  /// direct sums by Options::tolerance.
  fmm
};

/// Returns the name of a strategy, for command lines and reports.
inline std::string to_string(Strategy strategy) {
  constexpr const char* names[] = {"automatic",  "tiles",   "by_stations", "by_prisms",
                                   "by_corners", "lattice", "fmm"};
  return names[static_cast<int>(strategy)];
}

/// Computation of products with the matrix of fields.
enum class Products { automatic, direct, lattice, fmm };

/// Returns the name of a choice, for messages and reports.
inline const char* to_string(Products products) {
  constexpr const char* names[] = {"automatic", "direct", "lattice", "fmm"};
  return names[static_cast<int>(products)];
}

/// Default relative error of a prism's far field, in single and in double precision.
template <class T>
inline constexpr double default_far_tolerance = sizeof(T) == 4 ? 1e-6 : 1e-11;

/// Least tolerance of the fast multipole method.
inline constexpr double min_fmm_tolerance = 1e-10;

/// Options of forward().
struct Options {
  Strategy strategy = Strategy::automatic;   ///< arrangement of the sum
  double constant = gravitational_constant;  ///< G, m^3/(kg s^2)
  /// Relative error allowed for the multipole expansion that replaces a prism's closed form. 0: to
  /// rounding. Negative: default_far_tolerance of the precision.
  double far_tolerance = -1.0;
  std::size_t memory_budget = 0;  ///< bytes allowed in the memory space; 0: the free memory
  int team_size = 0;              ///< threads per team on a device; 0: tuned value
  int teams = 0;  ///< by_prisms: number of teams, T = teams * team_size; 0: tuned value
  bool check_overlaps = false;  ///< check for overlapping prisms first (irregular ensembles)
  /// Error allowed for fmm in compute_field(), of the largest value of a component.
  double tolerance = 1e-9;
  int part = 0;   ///< fmm: the part of the stations that is computed, values elsewhere are 0
  int parts = 1;  ///< fmm: number of parts
  Progress progress = {};  ///< receives the progress of the work
};

/// Statistics of one call of forward().
struct Report {
  Strategy strategy = Strategy::tiles;  ///< the strategy used
  std::int64_t prisms = 0;              ///< prisms with mass (density other than zero)
  std::int64_t corners = 0;             ///< by_corners: corners of non-zero weight
  std::int64_t stations = 0;            ///< number of stations
  std::int64_t private_grids = 0;       ///< by_prisms: T; tiles: chunks of prisms
  std::int64_t passes = 1;  ///< by_prisms: ceil(M / T); otherwise launches over the prisms
  std::size_t memory = 0;   ///< bytes allocated in the memory space
  /// lattice, fmm: largest difference from direct sums at 12 stations, of the largest value of its
  /// component; -1: not measured
  double difference = -1.0;
  PhaseTimes times;  ///< phases "check", "prepare", "sum" and "reduce"
};

/// Irregular ensembles, one row per prism: x1, x2, y1, y2, z1, z2, density. Coordinates are metres
/// with z down, so that z1 is the top; densities are kg/m^3, and contrasts may be negative. `Space`
/// is a memory space, here and below, or an execution space that stands for its memory. Rows are
/// contiguous.
template <class Space>
using PrismView =
    Kokkos::View<const double* [7], Kokkos::LayoutRight, typename Space::memory_space>;

/// Stations, one row each: x, y, z (metres, z down; a station at 100 m elevation has z = -100).
template <class Space>
using StationView =
    Kokkos::View<const double* [3], Kokkos::LayoutRight, typename Space::memory_space>;

/// Densities of a regular mesh, kg/m^3, x fastest, then y, then z.
template <class Space>
using DensityView = Kokkos::View<const double*, Kokkos::LayoutRight, typename Space::memory_space>;

/// Results: one row per component, one column per station.
template <class Space>
using ResultView = Kokkos::View<double**, Kokkos::LayoutRight, typename Space::memory_space>;

/// A regular ensemble: a box divided into nx x ny x nz equal prisms.
struct RegularMesh {
  Kokkos::Array<std::int64_t, 3> cells{};  ///< prisms along x, y and z
  Kokkos::Array<double, 3> lower{};        ///< lowest x, lowest y and the top, metres
  Kokkos::Array<double, 3> upper{};        ///< highest x, highest y and the bottom, metres

  /// Returns the number of prisms.
  KOKKOS_INLINE_FUNCTION std::int64_t size() const { return cells[0] * cells[1] * cells[2]; }
  /// Returns the position of face k along an axis. Neighbouring prisms evaluate the same
  /// expression, so that they share faces.
  KOKKOS_INLINE_FUNCTION double face(int axis, std::int64_t k) const {
    if (k == cells[axis]) return upper[axis];
    return lower[axis] + static_cast<double>(k) *
                             ((upper[axis] - lower[axis]) / static_cast<double>(cells[axis]));
  }
};

}  // namespace moho::gravity
