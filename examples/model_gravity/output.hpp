// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Result files of model_gravity.

#include "model_gravity/input.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace moho::examples::model_gravity {

/// Writes <component>.npy for every component.
/// The shape is ny x nx for stations on a grid, otherwise one axis.
/// \param results one row a component, one column a station
/// \returns the names of the files
std::vector<std::string> write_components(const std::filesystem::path& folder, const Input& input,
                                          const gravity::Components& components,
                                          const std::vector<double>& results);

/// Writes gravity.csv: x,y,z (metres, z down) and every component, one line a station.
void write_gravity_csv(const std::filesystem::path& path, const Input& input,
                       const gravity::Components& components, const std::vector<double>& results);

}  // namespace moho::examples::model_gravity
