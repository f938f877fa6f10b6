// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of model_gravity.

#include "app/common_options.hpp"

#include <moho/gravity/magnetic_types.hpp>
#include <moho/gravity/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::model_gravity {

/// Origin of the prisms.
enum class Ensemble { prisms, mesh, spheres };

/// Stations on a horizontal grid, x fastest: station (i, j) is at (x0 + i dx, y0 + j dy).
struct StationGrid {
  std::int64_t nx = 0, ny = 0;  ///< stations along x and y
  double dx = 0.0, dy = 0.0;    ///< metres between them
  double x0 = 0.0, y0 = 0.0;    ///< position of the first station
};

/// Options of model_gravity.
struct Options : CommonOptions {
  Ensemble ensemble = Ensemble::prisms;  ///< origin of the prisms
  std::string prisms_file;               ///< for Ensemble::prisms
  gravity::RegularMesh mesh;             ///< for Ensemble::mesh
  bool spheres = false;                  ///< for Ensemble::spheres
  std::string densities_file;            ///< for Ensemble::mesh

  std::string stations_file;        ///< a list of stations; empty: a grid
  std::optional<StationGrid> grid;  ///< empty without a list: the paper's grid, for the spheres
  std::string elevation_file;       ///< metres above z = 0 of each station of the grid
  double elevation = 0.0;           ///< elevation of all stations, without a file

  gravity::Components components{gravity::Component::gz};     ///< in the order of the results
  gravity::Strategy strategy = gravity::Strategy::automatic;  ///< order of the sum
  double constant = gravity::gravitational_constant;          ///< G, m^3/(kg s^2)
  double far_tolerance = -1.0;  ///< negative: default of the precision
  double tolerance = 1e-9;      ///< of fmm, of the largest value of a component
  int team_size = 0;            ///< 0: tuned value
  int teams = 0;                ///< 0: tuned value
  bool check_overlaps = false;  ///< true: refuse prisms that overlap
  bool csv = false;             ///< also write gravity.csv

  bool magnetic = false;              ///< the magnetic anomaly instead of gravity
  gravity::AmbientField ambient;      ///< of the anomaly
  std::string susceptibilities_file;  ///< for Ensemble::mesh
  std::string remanence_file;         ///< rows of A/m
  std::vector<double> remanence;      ///< A/m, inclination, declination of all prisms; or empty
  gravity::MagneticComponents magnetic_components{gravity::MagneticComponent::total};
};

/// A result at each station.
struct Quantity {
  std::string name, unit;
};
/// Returns the requested results in their order.
std::vector<Quantity> quantities(const Options& options);
/// Reads --components.
void read_components(const Arguments& given, Options& options);
/// Adds the options of magnetic fields to the table.
void bind_magnetic(Description& d, Options& o);

/// Returns the table of the options, bound to them.
Description describe(Options& options);

}  // namespace moho::examples::model_gravity
