// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The plan of an objective as the package shows it.

#include "plan_numbers.hpp"

#include <moho/fwi/objective_types.hpp>
#include <moho/stream/slab_plan.hpp>
#include <moho/wave/media.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

/// What Objective shows of its plan.
struct ObjectivePlan {
  double dt = 0.0, frequency = 0.0;
  std::int64_t steps = 0;
  int concurrent_shots = 1;
  bool streamed = false;
  std::string notes;  ///< on the initial model; empty: none
  std::string medium, source_field;
  std::vector<std::string> stream;
  stream::SlabPlan slabs;
  std::vector<std::pair<double, double>> bounds;
  PlanNumbers numbers;
};

/// Returns the numbers of a plan that moho.Plan has.
inline PlanNumbers numbers_of(const fwi::ObjectivePlan& plan, int order) {
  return {{"medium", std::string(wave::info(plan.medium).name)},
          {"nodes", plan.nodes},
          {"order", whole_number(order)},
          {"dt", plan.time.dt},
          {"largest_dt", plan.max_dt},
          {"steps", plan.time.steps},
          {"frequency", plan.frequency},
          {"nodes_per_wave", plan.nodes_per_wave},
          {"gradient_steps", plan.product_interval},
          {"source_field", std::string(fwi::to_string(plan.source_field))},
          {"source_bytes", whole_number(plan.source_bytes)},
          {"fixed_bytes", whole_number(plan.fixed_bytes)},
          {"memory_limit", whole_number(plan.budget)},
          {"data_bytes", whole_number(plan.data_bytes)},
          {"concurrent_shots", whole_number(plan.concurrent_shots)},
          {"batch_size", whole_number(plan.batch_size)},
          {"stream", plan.stream},
          {"variables", whole_number(plan.variables)},
          {"seconds", plan.seconds}};
}

}  // namespace moho::python
