// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Data and cells of invert_gravity, read or made, and checked.

#include "invert_gravity/options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace moho::examples::invert_gravity {

/// Data and unknowns.
struct Input {
  gravity_inversion::InversionProblem problem;      ///< without sensitivity weights
  std::optional<gravity_inversion::Ground> ground;  ///< topography
  std::vector<double> truth;                        ///< true densities of the unknowns, if known
  std::string data_name, cells_name;                ///< for messages
  double height = 0.0;                              ///< of stations above ground or cells, mean, m
  std::vector<double> demo_errors;                  ///< the data are to be made with these errors
  std::vector<std::string> notes;                   ///< on names of columns, on positions
};

/// Reads or makes the input. The demo's data are made later, with its operator.
Input load_input(const Options& options);

}  // namespace moho::examples::invert_gravity
