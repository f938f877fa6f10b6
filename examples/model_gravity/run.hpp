// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief From options to files.

#include "common/program.hpp"
#include "model_gravity/options.hpp"
#include "model_gravity/ranks.hpp"

namespace moho::examples::model_gravity {

/// Reads and checks the input, computes on all ranks, writes the results and draws the maps. Kokkos
/// has to run. Collective.
/// \param options what was asked for; read on the root alone
/// \param ranks all processes; MPI has ended when this returns
/// \param stage set to Stage::output once the field is computed
void run(const Options& options, Ranks& ranks, Stage& stage);

}  // namespace moho::examples::model_gravity
