// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What was asked of invert_waves, as summary.json tells it, and what was chosen, as it is
/// printed.

#include "common/json.hpp"
#include "common/program.hpp"
#include "invert_waves/options.hpp"

#include <moho/fwi/objective_types.hpp>

#include <cstddef>

namespace moho::examples::invert_waves {

/// The options by their names; --resume compares them with those of the interrupted run.
Json asked_json(const Options& options);

/// Prints parameters, steps, the method of the source wavefield, memory and time of a plan.
void print_scheme(Session& session, const Options& options, const fwi::ObjectivePlan& plan,
                  std::size_t shots);

}  // namespace moho::examples::invert_waves
