// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Result files of invert_gravity.

#include "invert_gravity/input.hpp"

#include <filesystem>
#include <vector>

namespace moho::examples::invert_gravity {

/// Writes densities: nz x ny x nx with NaN where there is no unknown, or one value a prism.
void write_densities(const std::filesystem::path& path, const gravity_inversion::Cells& cells,
                     const std::vector<double>& values);

/// Writes predicted.csv: x,y,z and data, field, trend and residual of each component.
void write_predicted(const std::filesystem::path& path,
                     const gravity_inversion::InversionProblem& problem,
                     const gravity_inversion::Fit& fit);

/// Writes history.csv: stage,beta,chi2,regularisation,iterations,products, a line a minimisation.
void write_history(const std::filesystem::path& path,
                   const std::vector<gravity_inversion::InversionStep>& history);

}  // namespace moho::examples::invert_gravity
