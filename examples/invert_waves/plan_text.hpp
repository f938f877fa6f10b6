// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The printed plan of an inversion.

#include "app/program.hpp"
#include "invert_waves/options.hpp"

#include <moho/fwi/objective_types.hpp>

#include <cstddef>

namespace moho::examples::invert_waves {

/// Prints parameters, steps, method of the source wavefield, memory and time of a plan.
void print_scheme(Session& session, const Options& options, const fwi::ObjectivePlan& plan,
                  std::size_t shots);

}  // namespace moho::examples::invert_waves
