// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief From options to files.

#include "common/program.hpp"
#include "model_waves/options.hpp"

namespace moho::examples::model_waves {

/// Reads and checks the input, models all shots, writes the results and draws the pictures. Kokkos
/// has to run.
/// \param options what was asked for
/// \param stage set to Stage::output once the input is read and checked
void run(const Options& options, Stage& stage);

}  // namespace moho::examples::model_waves
