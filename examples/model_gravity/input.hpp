// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Prisms and stations of model_gravity, read or made, and checked.

#include "model_gravity/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::model_gravity {

/// Prisms and stations.
struct Input {
  std::string name;                 ///< of the ensemble, for messages
  bool regular = false;             ///< densities of a mesh, else rows of prisms
  gravity::RegularMesh mesh;        ///< regular
  std::vector<double> densities;    ///< regular: of all cells, x fastest
  std::vector<double> prisms;       ///< irregular: rows of x1, x2, y1, y2, z1, z2, density
  std::vector<double> stations;     ///< rows of x, y, z, z down
  std::optional<StationGrid> grid;  ///< of the stations, if they lie on one
  std::string stations_name;        ///< for messages
  std::vector<std::string> notes;   ///< on names of columns and of notes_on_stations()
};

/// What the input and the results take, from options and headers alone.
struct InputNeed {
  double rows = 0.0;  ///< prisms of a list, or cells of a mesh
  double stations = 0.0;
  double input = 0.0;    ///< bytes of both, as load_input() keeps them
  double passing = 0.0;  ///< bytes beside them while they are read or made
};

/// Reads no values.
InputNeed need_of_input(const Options& options);

/// Reads or makes the prisms and the stations. Shapes are checked, values are not.
Input load_input(const Options& options);

/// Throws InputError, which names the row, unless all values can be used.
void check_input(const Options& options, const Input& input);

/// What the automatic strategy stands for, decided once for all ranks and from the whole ensemble.
gravity::Strategy strategy_of_all(const Options& options, const Input& input);

/// Number of prisms with mass, and the range of their densities.
struct Masses {
  std::int64_t prisms = 0;
  double lowest = 0.0, highest = 0.0;  ///< kg/m^3
};

/// Counts the prisms whose density is not zero.
Masses count_masses(const Input& input);

/// What the user should know of where stations are: below z = 0, or inside of prisms with a
/// density.
std::vector<std::string> notes_on_stations(const Input& input);

}  // namespace moho::examples::model_gravity
