// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Memory plan of evaluations in core. Included by core_evaluator.hpp.

#include <moho/core/text.hpp>
#include <moho/fwi/detail/core_evaluator.hpp>
#include <moho/wave/run.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::fwi {

template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::plan_memory(ObjectivePlan& plan, SourceField requested) {
  plan_lags(plan);
  plan_concurrency(plan, requested);
  plan.seconds = estimate_seconds(plan);
}

template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::plan_lags(ObjectivePlan& plan) const {
  std::size_t allowed = m_options.device_memory;
  // a host is its own device
  if (const std::size_t rest = m_options.rest_of_memory(); is_host_memory<Memory> && rest > 0) {
    allowed = allowed > 0 ? std::min(allowed, rest) : rest;
  }
  if (!(plan.budget > 0.0)) plan.budget = static_cast<double>(memory_budget(m_exec, allowed));
  if (!m_options.lags) return;
  this->check_lags();
  plan.lags_bytes = Image::bytes_of(m_gradients->box(), *m_options.lags);
  plan.lags_sum_bytes = this->lags_sum_bytes();
  if constexpr (!is_host_memory<Memory>) {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    const auto budget = static_cast<double>(memory_budget(host, m_options.rest_of_memory()));
    // an image on its way to the sum
    plan.host_bytes = plan.lags_bytes + plan.lags_sum_bytes;
    const double on_host = plan.data_bytes + plan.host_bytes;
    if (on_host > budget) this->refuse_lags_on_host(on_host, budget);
  }
}

// Throws CoreDoesNotFit for lags whose image does not fit the memory, with the largest lags that
// fit.
template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::refuse_lags(const ObjectivePlan& plan, double rest) const {
  const double room = plan.budget - rest;
  const Box<Dim> box = m_gradients->box();
  if (Image::bytes_of(box, {0, 0}) > room) return;
  const Lags& lags = *m_options.lags;
  const double sum =
      is_host_memory<Memory> && plan.lags_sum_bytes > 0.0 ? BinnedSum::bytes_per_element : 0.0;
  const Lags fitting = fitting_lags<T, Dim, Memory>(box, lags, room, sum);
  const std::string name = m_options.names("lags");
  throw CoreDoesNotFit(
      concat(name, ": ", text::counted(lags.count(), "lag takes", "lags take"), " ",
             format_bytes(plan.lags_bytes + (sum > 0.0 ? plan.lags_sum_bytes : 0.0)), " besides ",
             format_bytes(rest), " of the gradient (allowed: ", m_options.limit_text(plan.budget),
             "): ", text::counted(fitting.count(), "lag"), " would fit, ", name, " ", fitting.x,
             Dim == 3 && lags.y > 0 ? concat(",", fitting.y) : "", this->streaming_advice()));
}

// Chooses the number of concurrent shots: where it is free, as many as need no slower method.
template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::plan_concurrency(ObjectivePlan& plan, SourceField requested) {
  // with a taper around sources each shot has a separate model
  const bool one = m_plan.source_taper > 0.0;
  const std::size_t count = m_input.data.shots.size();
  const int shots = m_options.only ? 1 : static_cast<int>(std::min<std::size_t>(count, 1024));
  const int given = m_options.concurrent_shots;
  const int wished =
      one ? 1
          : std::min(shots,
                     given > 0 ? given : wave::shots_at_once(m_exec, m_plan.grid.size(), shots));
  m_batch_size = plan.batch_size = 1;
  if (!one && plan_batches(plan, requested, given > 0 ? std::min(shots, given) : shots)) return;
  if (given > 0 || wished == 1) return plan_source_field(plan, requested, wished);
  plan_source_field(plan, requested, 1);
  const SourceField method = plan.source_field;
  for (int concurrent = wished; concurrent > 1; --concurrent) {
    try {
      plan_source_field(plan, requested, concurrent);
      if (plan.source_field == method) return;
    } catch (const InputError&) {  // insufficient memory for this number of shots
    }
  }
  plan_source_field(plan, requested, 1);
}

// Chooses shots that advance in the same launches, with a stored source wavefield. Returns false
// where that is not possible or not faster.
template <class T, int Dim, class Memory>
bool CoreEvaluator<T, Dim, Memory>::plan_batches(ObjectivePlan& plan, SourceField requested,
                                                 int shots) {
  const int given = m_options.batch_size;
  const auto& scheme = m_shots->propagator().scheme();
  const bool possible = (requested == SourceField::automatic || requested == SourceField::stored) &&
                        !m_options.lags && shots > 1 && given != 1;
  const bool faster = !is_host_memory<Memory> &&
                      wave::steps_in_one_launch<T, Dim, Memory>(
                          m_plan.medium, scheme.options().equations, scheme.options().boundaries);
  if (!possible || !(faster || given > 1)) return false;
  const int max = m_options.concurrent_shots > 0
                      ? shots
                      : wave::shots_at_once_together(m_plan.grid.size(), shots, 64);
  for (int concurrent = std::max(given, max); concurrent > 1; --concurrent) {
    try {
      plan_source_field(plan, SourceField::stored, std::min(concurrent, shots));
    } catch (const InputError&) {  // insufficient memory for this number of shots
      continue;
    }
    // one batch steps while misfits of the other are computed
    const int size = given > 0 ? given : std::max((plan.concurrent_shots + 1) / 2, 2);
    m_batch_size = plan.batch_size = std::min(size, plan.concurrent_shots);
    return m_batch_size > 1;
  }
  return false;
}

template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::plan_fixed_bytes(ObjectivePlan& plan, int concurrent) const {
  const auto& scheme = m_shots->propagator().scheme();
  const double state = 2.0 * static_cast<double>(sizeof(T)) * static_cast<double>(scheme.fields()) *
                       static_cast<double>(scheme.layout().size);
  const double search = (2.0 * m_options.memory_pairs + 8.0) * plan.variables * sizeof(T);
  const wave::MemoryNeed& need = m_plan.memory;
  plan.fixed_bytes = static_cast<double>(need.peak) + static_cast<double>(m_gradients->bytes()) +
                     search + sum_bytes(plan.variables, static_cast<double>(m_grid.size()));
  // points of all shots are kept; series besides `need.gathers`, those of the misfit
  for (const auto& shot : m_input.data.shots) plan.fixed_bytes += this->point_bytes(shot);
  plan.fixed_bytes +=
      concurrent * (is_host_memory<Memory> ? this->misfit_bytes() : this->series_bytes());
  // concurrent shots have arrays in addition to those of the run
  const double workers = concurrent > 1 ? static_cast<double>(concurrent) : 0.0;
  plan.fixed_bytes += workers * (static_cast<double>(need.wavefield + need.gathers) +
                                 static_cast<double>(m_gradients->bytes()));
  if (concurrent > 1) {
    // derivatives and illuminations of pending shots
    plan.fixed_bytes += max_pending_results(concurrent) * sizeof(T) *
                        (plan.variables + static_cast<double>(m_grid.size()));
  }
  if (m_options.source_field == SourceField::random) plan.fixed_bytes += concurrent * 2.0 * state;
  plan.fixed_bytes += plan.lags_bytes;
  if (is_host_memory<Memory>) plan.fixed_bytes += plan.lags_sum_bytes;
}

// Chooses the method for the source wavefield with a number of concurrent shots.
template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::plan_source_field(ObjectivePlan& plan, SourceField requested,
                                                      int concurrent) {
  const SourceFieldBytes source =
      source_field_bytes(m_shots->propagator().scheme(), m_gradients->snapshot_nodes(),
                         m_gradients->outside(), plan.time.steps, plan.product_interval);
  plan.concurrent_shots = concurrent;
  plan_fixed_bytes(plan, concurrent);
  const double data = is_host_memory<Memory> ? plan.data_bytes : 0.0;
  const double room = plan.budget - plan.fixed_bytes - data;
  const auto take = [&](SourceField method, double bytes) {
    plan.source_field = method;
    plan.source_bytes = concurrent * bytes;
    return plan.source_bytes <= room;
  };
  bool fits = false;
  switch (requested) {
    case SourceField::boundary_shell:
      fits = take(SourceField::boundary_shell, source.shell);
      break;
    case SourceField::random:
      fits = take(SourceField::random, source.random);
      break;
    case SourceField::stored:
      fits = take(SourceField::stored, source.stored);
      break;
    case SourceField::replay:
      fits = take(SourceField::replay, source.replay);
      break;
    default:
      fits = take(SourceField::boundary_shell, source.shell) ||
             take(SourceField::replay, source.replay);
  }
  m_source_field = plan.source_field;
  m_states = source.states;
  m_piece = source.piece;
  m_concurrent = concurrent;
  m_workers.clear();
  m_batches.clear();
  if (fits) return;
  if (m_options.lags) {
    const double sums = is_host_memory<Memory> ? plan.lags_sum_bytes : 0.0;
    refuse_lags(plan, plan.fixed_bytes - plan.lags_bytes - sums + plan.source_bytes + data);
  }
  const ArgumentNames& names = m_options.names;
  throw CoreDoesNotFit(
      concat(names("source_field"), " ", to_string(requested), ": it takes ",
             format_bytes(plan.source_bytes), " besides ", format_bytes(plan.fixed_bytes),
             data > 0.0 ? concat(" and the data ", format_bytes(data)) : "",
             " (allowed: ", m_options.limit_text(plan.budget), "): take another way, ",
             concurrent > 1 ? concat("fewer shots ", names("(concurrent_shots)"), ", ") : "",
             "fewer receivers or steps, a coarser grid, or more memory (",
             this->memory_options(plan.budget), ")", this->streaming_advice()));
}

// Returns the seconds of an evaluation, from ten steps.
template <class T, int Dim, class Memory>
double CoreEvaluator<T, Dim, Memory>::estimate_seconds(const ObjectivePlan& plan) {
  auto& field = m_shots->wavefield();
  field.clear(m_exec);
  wave::RunOptions<T, Dim, Memory> run;
  run.last = 2;
  wave::run_steps<T, Dim, Memory>(m_exec, m_shots->propagator(), field, run);
  run.last = 12;
  const auto report = wave::run_steps<T, Dim, Memory>(m_exec, m_shots->propagator(), field, run);
  const double shots = static_cast<double>(m_input.data.shots.size());
  if (m_batch_size > 1) {
    const double of_shot = wave::kernel::seconds_of_batched_step<T, Dim, Memory>(
        m_exec, m_shots->propagator(), m_batch_size);
    return 2.6 * of_shot * static_cast<double>(plan.time.steps) * shots;
  }
  const bool repeated =
      plan.source_field == SourceField::random || plan.source_field == SourceField::replay;
  const double runs = repeated ? 4.4 : 3.4;  // of as many steps, with their products
  return runs * report.seconds / 10.0 * static_cast<double>(plan.time.steps) * shots;
}

}  // namespace moho::fwi
