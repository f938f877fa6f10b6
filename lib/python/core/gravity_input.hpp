// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arguments that fields of prisms and their inversion have in common.

#include "arrays.hpp"

#include <moho/gravity/field.hpp>
#include <moho/gravity/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::python {

/// Returns a mesh of prisms from nx, ny, nz, x1, x2, y1, y2, z1, z2.
inline gravity::RegularMesh mesh_of(const std::vector<double>& box) {
  gravity::RegularMesh mesh;
  for (std::size_t d = 0; d < 3; ++d) {
    mesh.cells[d] = static_cast<std::int64_t>(box.at(d));
    mesh.lower[d] = box.at(3 + 2 * d);
    mesh.upper[d] = box.at(4 + 2 * d);
  }
  return mesh;
}

/// Prisms as rows, or a mesh with a value for each cell; checked for type and shape by the package.
struct Ensemble {
  std::optional<Input> prisms, values;
  gravity::RegularMesh mesh;
};

/// Returns an ensemble. \param box of a mesh as in mesh_of(), not used for prisms
inline Ensemble make_ensemble(const std::optional<Input>& prisms, const std::vector<double>& box,
                              const std::optional<Input>& values) {
  Ensemble ensemble{prisms, values, {}};
  if (values) ensemble.mesh = mesh_of(box);
  return ensemble;
}

/// Returns the strategy with a name; others are automatic.
inline gravity::Strategy strategy_of(const std::string& name) {
  using gravity::Strategy;
  for (const Strategy one : {Strategy::tiles, Strategy::by_stations, Strategy::by_prisms,
                             Strategy::by_corners, Strategy::lattice, Strategy::fmm}) {
    if (gravity::to_string(one) == name) return one;
  }
  return Strategy::automatic;
}

/// Returns the values of an array of doubles.
inline std::vector<double> vector_of(const Input& array) {
  const auto* const first = static_cast<const double*>(array.data());
  return {first, first + array.size()};
}

/// Copies ensemble and stations to a job of the library.
inline void set_masses(gravity::FieldJob& job, const Ensemble& ensemble, const Input& stations) {
  job.regular = !ensemble.prisms.has_value();
  job.mesh = ensemble.mesh;
  if (ensemble.prisms) job.prisms = vector_of(*ensemble.prisms);
  if (ensemble.values) job.densities = vector_of(*ensemble.values);
  job.stations = vector_of(stations);
}

}  // namespace moho::python
