// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The plan of an inversion, printed and in the summary.

#include "app/model_grid.hpp"
#include "app/program.hpp"
#include "invert_waves/options.hpp"

#include <moho/fwi/objective_types.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace moho::examples::invert_waves {

/// Model and data of a plan.
struct PlanInput {
  const ModelGrid& model;
  std::string faces;  ///< text of the boundaries
  Json description;   ///< of the model, for the summary
  std::size_t shots = 0, traces = 0;
  const std::vector<std::string>& notes;  ///< on the data
};

/// Prints model, data, parameters, steps, method of the source wavefield, memory and time of a
/// plan.
void print_plan(Session& session, const Options& options, const PlanInput& input,
                const fwi::ObjectivePlan& plan);
/// Adds a plan to the summary.
void add_plan(Session& session, const Options& options, const PlanInput& input,
              const fwi::ObjectivePlan& plan);

}  // namespace moho::examples::invert_waves
