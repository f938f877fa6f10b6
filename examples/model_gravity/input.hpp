// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Prisms and stations of model_gravity, read or made, and checked.

#include "model_gravity/options.hpp"

#include <moho/gravity/inspect.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::model_gravity {

/// Prisms and stations.
struct Input {
  std::string name;                 ///< of the ensemble, for messages
  bool regular = false;             ///< true: densities of a mesh; false: rows of prisms
  gravity::RegularMesh mesh;        ///< regular
  std::vector<double> densities;    ///< regular: of all cells, x fastest
  std::vector<double> prisms;       ///< irregular: rows of x1, x2, y1, y2, z1, z2, density
  std::vector<double> stations;     ///< rows of x, y, z, z down
  std::vector<double> remanence;    ///< A/m along x, y, z for each prism or cell; or empty
  std::vector<double> strengths;    ///< --magnetic: magnetisation of each prism or cell, A/m
  std::optional<StationGrid> grid;  ///< of the stations, if they form one
  std::string stations_name;        ///< for messages
  std::vector<std::string> notes;   ///< on names of columns and of notes_on_stations()

  /// The ensemble, for the library.
  gravity::HostEnsemble ensemble() const {
    return {regular ? &mesh : nullptr, regular ? densities : prisms};
  }
};

/// Memory of the input and the results, estimated from options and headers.
struct InputNeed {
  double rows = 0.0;      ///< prisms of a list, or cells of a mesh
  double stations = 0.0;  ///< number of stations
  double input = 0.0;     ///< bytes of prisms and stations, as load_input() returns them
  double passing = 0.0;   ///< temporary bytes in addition while they are read or made
};

/// Estimates it without reading values.
InputNeed need_of_input(const Options& options);

/// Reads or makes the prisms and the stations. Shapes are checked, values are not.
Input load_input(const Options& options);

/// Calls a function whose InputError gets a name in front, unless empty, and counts from 1.
void call_named(const std::string& name, const std::function<void()>& check);
/// Throws InputError, which names the row, unless all values are valid.
void check_input(const Options& options, const Input& input);

/// Resolves the automatic strategy, once for all ranks, from the complete ensemble.
/// \param prisms number of prisms with mass
gravity::Strategy strategy_of_all(const Options& options, const Input& input, std::int64_t prisms);

/// Returns the remanence of all prisms, A/m along x, y and z; empty without --remanence.
std::vector<double> load_remanence(const Options& o, Input& input);
/// Returns lines on the ambient field and the magnetisation.
std::string magnetic_text(const Options& o, const Input& input);

/// Notes on stations below z = 0, or inside of prisms with a density.
std::vector<std::string> notes_on_stations(const Input& input);

}  // namespace moho::examples::model_gravity
