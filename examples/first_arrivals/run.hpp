// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief From options to files.

#include "common/program.hpp"
#include "first_arrivals/options.hpp"

namespace moho::examples::first_arrivals {

/// Reads and checks the input, solves, writes the results and draws the picture. Kokkos has to run.
/// \param options what was asked for
/// \param stage set to Stage::output once the times are there
void run(const Options& options, Stage& stage);

}  // namespace moho::examples::first_arrivals
