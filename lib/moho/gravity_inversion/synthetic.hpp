// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A synthetic survey: a dipping dyke below a lattice of stations.

#include <moho/gravity/field_operator.hpp>
#include <moho/gravity/types.hpp>

#include <cstdint>
#include <vector>

namespace moho::gravity_inversion {

/// A dyke of 400 kg/m^3 that dips 45 degrees towards x: 150 m thick, 1000 m long along y, from 100
/// to 550 m depth, in a box of 2000 x 2000 x 800 m; a station 20 m above each column of cells.
struct DykeSurvey {
  gravity::RegularMesh mesh;      ///< cubic cells
  std::vector<double> densities;  ///< kg/m^3 of all cells
  std::vector<double> stations;   ///< rows of x, y, z
};

/// Returns the survey with cells of a size. \param cell m; a divisor of 400
/// \throws InputError for another size
DykeSurvey dyke_survey(double cell = 50.0);

/// Density of the dyke, kg/m^3.
inline constexpr double dyke_density = 400.0;

/// \brief Returns the field of densities with a trend in gz and normal errors.
///
/// The trend of gz is 3 + 1.5 x - 0.8 y mGal, with x and y in km.
/// \param field operator of the cells \param densities kg/m^3 of each cell
/// \param stations rows of x, y, z \param components of the field
/// \param errors standard error of each component
/// \param seed of the random numbers, which are the same on every machine
std::vector<double> synthetic_data(gravity::FieldOperator& field,
                                   const std::vector<double>& densities,
                                   const std::vector<double>& stations,
                                   const gravity::Components& components,
                                   const std::vector<double>& errors, std::uint64_t seed = 1);

/// \brief Returns the dip of a model as dx/dz of its mass: 1 for 45 degrees, 0 without a dip.
/// \param mesh cells of the model \param densities kg/m^3; negative ones and NaN do not count
double dip_of(const gravity::RegularMesh& mesh, const std::vector<double>& densities);

/// \brief Returns the correlation coefficient of two lists of numbers about 0; NaN do not count.
double correlation_of(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace moho::gravity_inversion
