// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief From options to files.

#include "common/program.hpp"
#include "trace_rays/options.hpp"

namespace moho::examples::trace_rays {

/// Reads and checks the input, traces, writes the results and draws the picture. Kokkos has to run.
/// \param options what was asked for
/// \param stage set to Stage::output once the input is read and checked
void run(const Options& options, Stage& stage);

}  // namespace moho::examples::trace_rays
