// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Result files of model_gravity.

#include "model_gravity/input.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace moho::examples::model_gravity {

/// Writes <name>.npy for every quantity.
/// The shape is ny x nx for stations on a grid, otherwise one axis.
/// \param results one row a quantity, one column a station
/// \returns the names of the files
std::vector<std::string> write_components(const std::filesystem::path& folder, const Input& input,
                                          const std::vector<Quantity>& quantities,
                                          const std::vector<double>& results);

/// Writes x,y,z (metres, z down) and every quantity, one line a station.
void write_gravity_csv(const std::filesystem::path& path, const Input& input,
                       const std::vector<Quantity>& quantities, const std::vector<double>& results);

}  // namespace moho::examples::model_gravity
