// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Inspection of ensembles on the host: densities, parts of ranks, stations inside prisms.

#include <moho/core/ranks.hpp>
#include <moho/gravity/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace moho::gravity {

/// An ensemble on the host; the arrays must outlive it.
struct HostEnsemble {
  const RegularMesh* mesh = nullptr;  ///< the mesh; null: a list of prisms
  /// Densities of the mesh, kg/m^3, or rows x1, x2, y1, y2, z1, z2, density of the prisms.
  std::span<const double> values;

  /// Returns the number of cells or prisms.
  std::int64_t size() const {
    return static_cast<std::int64_t>(mesh != nullptr ? values.size() : values.size() / 7);
  }
  /// Returns the density of a cell or prism, kg/m^3.
  double density(std::int64_t k) const {
    return values[static_cast<std::size_t>(mesh != nullptr ? k : 7 * k + 6)];
  }
};

/// Number of prisms with mass, and the range of their densities.
struct Masses {
  std::int64_t prisms = 0;  ///< prisms with a density other than zero
  double lowest = 0.0,      ///< smallest density, kg/m^3
      highest = 0.0;        ///< largest density, kg/m^3
};

/// Counts the prisms whose density is not zero.
Masses count_masses(const HostEnsemble& ensemble);

/// \brief Divides an ensemble among ranks.
///
/// Parts of a mesh have equal numbers of prisms with mass, for any number of empty cells between
/// them.
/// \param ensemble the ensemble
/// \param masses count_masses(ensemble).prisms
/// \param ranks number of ranks
/// \return rows or cells of each rank
std::vector<mpi::Part> divide_ensemble(const HostEnsemble& ensemble, std::int64_t masses,
                                       int ranks);

/// Range of a component, and the stations where it does not exist.
struct Extremes {
  double lowest = 0.0,       ///< smallest value
      highest = 0.0;         ///< largest value
  std::int64_t missing = 0;  ///< stations with NaN
  bool any = false;          ///< true if it exists at some station
};

/// Returns the range of the values of a component.
Extremes extremes_of(std::span<const double> values);

/// Stations inside of prisms with mass.
struct InnerStations {
  std::size_t candidates = 0;  ///< stations between the lowest and highest coordinates of prisms
  bool searched = false;    ///< false: more comparisons than allowed; the members below are unset
  std::size_t inside = 0;   ///< stations inside of a prism or on its faces
  std::size_t first = 0;    ///< first of these
  std::int64_t prism = -1;  ///< a prism around it
};

/// \brief Searches stations inside of prisms or on their faces.
/// \param ensemble the ensemble
/// \param stations rows x, y, z, m
/// \param max_comparisons limit of comparisons of stations with prisms
InnerStations find_inner_stations(const HostEnsemble& ensemble, std::span<const double> stations,
                                  double max_comparisons);

}  // namespace moho::gravity
