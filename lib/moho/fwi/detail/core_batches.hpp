// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Evaluation of shots that advance in the same launches. Included by core_evaluator.hpp.

#include <moho/fwi/detail/core_evaluator.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace moho::fwi {

// Batches are computed concurrently too: one fetches traces while another one steps.
template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::evaluate_batches(const Model& model, const Claim& claim,
                                                     const Add& add) {
  const int workers = (m_concurrent + m_batch_size - 1) / m_batch_size;
  if (m_batches.empty()) {
    std::size_t receivers = 0;
    for (const auto& shot : m_data.shots()) receivers = std::max(receivers, shot.receivers.size());
    const std::int64_t samples = (m_plan.time.steps + 1) * static_cast<std::int64_t>(receivers);
    for (const auto& exec : concurrent_instances(m_exec, workers)) {
      m_batches.push_back(std::make_unique<Batch>(
          exec, *m_shots, m_inverted, m_gradients->product_interval(), m_batch_size, samples));
      for (const auto& gradients : m_batches.back()->gradients) gradients->update(exec);
    }
  }
  std::vector<std::vector<std::size_t>> groups(m_data.shots().size());
  auto next = [&, shot = std::size_t{0}, group = std::size_t{0}]() mutable {
    std::vector<std::size_t> taken;
    while (shot < m_data.shots().size() && taken.size() < static_cast<std::size_t>(m_batch_size)) {
      const std::size_t k = shot++;
      if (!claim || claim(k)) taken.push_back(k);
    }
    if (taken.empty()) return std::optional<std::size_t>();
    groups[group] = std::move(taken);
    return std::optional<std::size_t>(group++);
  };
  const auto work = [&](int worker, std::size_t group, CallingThread& caller) {
    Report on_caller;
    if (m_options.progress) {
      on_caller = [&](std::size_t shot, int propagation, const wave::ShotProgress& now) {
        caller.call([&] { this->report_progress(shot, propagation, now); });
      };
    }
    std::vector<Result> results;
    compute_batch(*m_batches[static_cast<std::size_t>(worker)], groups[group], model, results,
                  on_caller);
    return results;
  };
  run_concurrently<std::vector<Result>>(workers, next, work,
                                        [&](std::size_t, std::vector<Result>&& results) {
                                          for (Result& result : results) {
                                            add(result.contribution.shot, result.contribution,
                                                result.derivatives, result.illumination);
                                          }
                                          m_exec.fence();
                                        });
}

// Computes shots in the same launches. If that fails they are computed one by one, which finds the
// shot, the step and the node of an overflow.
template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::compute_batch(Batch& batch,
                                                  const std::vector<std::size_t>& shots,
                                                  const Model& model, std::vector<Result>& results,
                                                  const Report& report) {
  const Instance<Memory>& exec = batch.exec;
  results.resize(shots.size());
  std::vector<wave::SourceTerm<T, Dim, Memory>> terms(shots.size());
  std::vector<std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>>> stores;
  std::vector<BatchedGradient<T, Dim, Memory>> members;
  for (std::size_t n = 0; n < shots.size(); ++n) {
    const std::size_t k = shots[n];
    results[n].contribution.shot = k;
    batch.gradients[n]->clear(exec);
    this->with_shot(k, [&] {
      const ShotPoints& points = points_of(exec, k);
      terms[n] = {&m_shots->propagator(), &points.sources, points.amplitudes};
      stores.push_back(make_store(batch.bench(n), terms[n]));
      members.push_back({batch.gradients[n].get(), &terms[n], &points.receivers,
                         this->misfit_of(batch.lanes[n], k, batch.unfiltered[n].get()),
                         stores.back().get()});
    });
  }
  ShotGradientOptions<T, Dim, Memory> options;
  options.steps = m_plan.time.steps;
  options.series = &batch.series;
  const auto threads = static_cast<int>(std::thread::hardware_concurrency());
  options.misfit_threads = std::clamp(threads / static_cast<int>(m_batches.size()), 1, 8);
  if (report) {
    options.progress = [&](int propagation, const wave::ShotProgress& now) {
      report(shots.front(), propagation, now);
    };
  }
  try {
    const auto done = Gradients::add_batch(exec, members, batch.wavefields, options);
    for (std::size_t n = 0; n < shots.size(); ++n) {
      ShotContribution<T>& contribution = results[n].contribution;
      contribution.misfit = done[n].misfit;
      contribution.points = done[n].points;
      contribution.forward_seconds = done[n].forward_seconds;
      contribution.backward_seconds = done[n].backward_seconds;
    }
  } catch (const Stopped&) {
    throw;
  } catch (const Error&) {
    for (std::size_t n = 0; n < shots.size(); ++n) {
      this->with_shot(shots[n], [&] {
        batch.gradients[n]->clear(exec);
        compute_shot(batch.bench(n), shots[n], model, results[n].contribution, report);
      });
    }
  }
  for (std::size_t n = 0; n < shots.size(); ++n) {
    results[n].derivatives = batch.gradients[n]->derivatives(exec, m_grid, model);
    results[n].illumination = batch.gradients[n]->illumination(exec, m_grid);
  }
  exec.fence();
}

}  // namespace moho::fwi
