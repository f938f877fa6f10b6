// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/failed_step.hpp"
#include "common/wave_fields.hpp"
#include "model_waves/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/rtm/expand.hpp>
#include <moho/wave/driver.hpp>
#include <moho/wave/snapshots.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace moho::examples::model_waves {

namespace detail {

// What the library chooses and checks before the first step.
template <class T, int Dim, class Memory>
wave::Modelling<T, Dim, Memory> prepare(const Instance<Memory>& exec, const WaveJob<T, Dim>& job,
                                        PhaseTimes& phases) {
  wave::Model<T, Dim, Memory> model;
  {
    const ScopedPhase<Instance<Memory>> phase(exec, phases, "transfer");
    model = to_model<T, Dim, Memory>(exec, job.grid, *job.values);
  }
  const ScopedPhase<Instance<Memory>> phase(exec, phases, "prepare");
  try {
    auto modelling = wave::make_modelling<T, Dim, Memory>(
        exec, job.grid, std::move(model), job.boundaries, job.wavelet, job.modelling_of_shots());
    modelling.check(exec, job.shots);
    return modelling;
  } catch (const InputError& error) {
    throw InputError(job.in_options(error.what()));
  }
}

}  // namespace detail

template <class T, int Dim, class Memory>
WaveReport compute_on(const Instance<Memory>& exec, const WaveJob<T, Dim>& job,
                      const TakeSnapshot<T>& snapshot) {
  WaveReport out;
  out.device = device_name(exec);
  out.threads = exec.concurrency();
  std::optional<wave::Modelling<T, Dim, Memory>> made;
  job.together([&] { made.emplace(detail::prepare<T, Dim, Memory>(exec, job, out.phases)); });
  wave::Modelling<T, Dim, Memory>& modelling = *made;
  const wave::ModellingPlan<Dim>& plan = modelling.plan();
  const wave::Propagator<T, Dim, Memory>& propagator = modelling.propagator();
  out.take(plan);
  out.bytes = plan.memory.most;
  if (!job.begins(out)) return out;

  for (std::size_t k = 0; k < job.shots.size(); ++k) {
    if (!job.takes(k)) continue;
    const wave::Shot<Dim>& shot = job.shots[k];
    const Stopwatch preparing;
    const auto sources = modelling.sources(exec, shot);
    const auto receivers = modelling.receivers(exec, shot);
    rtm::DomainOptions domain_options;
    domain_options.onset = rtm::onset(plan.wavelet, plan.time.dt);
    domain_options.frequency = plan.frequency;
    const auto domain = rtm::make_domain<T, Dim, Memory>(
        job.expand, exec, propagator, modelling.extended_model(), sources, domain_options);
    exec.fence();

    wave::ShotOptions<T, Dim, Memory> options = modelling.shot_options();
    if (job.expand != rtm::Expansion::none) options.domain = domain.get();
    std::unique_ptr<wave::SnapshotQueue<T, Dim, Memory>> snapshots;
    if (k == 0 && options.snapshot_every > 0) {
      snapshots = std::make_unique<wave::SnapshotQueue<T, Dim, Memory>>(exec, propagator.interior(),
                                                                        snapshot);
      options.snapshot = [&](const wave::Wavefield<T, Dim, Memory>& field, const Box<Dim>&,
                             std::int64_t step) {
        snapshots->put(field.layout, field.now[0], step);
      };
    }
    out.phases.add("prepare", preparing.seconds());
    if (job.progress) {
      options.progress = [&job, k](const wave::ShotProgress& now) { job.tell(k, now); };
    }
    const wave::ShotResult<T, Dim, Memory> result = tell_failed_step<T, Dim, Memory>(
        exec, propagator, modelling.wavefield(), job.grid, options, [&](const auto& how) {
          return wave::model_shot<T, Dim, Memory>(exec, propagator, modelling.wavefield(), sources,
                                                  plan.wavelet, receivers, how);
        });
    double seconds = result.seconds;
    if (snapshots) {
      seconds = std::max(seconds - snapshots->seconds_waited(), 0.0);
      snapshots->finish();
      out.phases.add("snapshots", snapshots->seconds_waited());
    }
    out.phases.add("steps", seconds);
    out.seconds += seconds;
    out.points += result.points;
    out.whole_points += result.whole_points;
    out.domain_seconds += domain->report().seconds();
    job.gather(k,
               Gather<T>{result.traces.data(), static_cast<std::int64_t>(result.traces.extent(0)),
                         static_cast<std::int64_t>(result.traces.extent(1))});
  }
  return out;
}

/// The four kinds of call on one memory.
#define MOHO_MODEL_WAVES(Memory)          \
  MOHO_MODEL_WAVES_ON(float, 2, Memory);  \
  MOHO_MODEL_WAVES_ON(float, 3, Memory);  \
  MOHO_MODEL_WAVES_ON(double, 2, Memory); \
  MOHO_MODEL_WAVES_ON(double, 3, Memory)
/// One of them.
#define MOHO_MODEL_WAVES_ON(T, Dim, Memory)                                                       \
  template WaveReport compute_on<T, Dim, Memory>(const Instance<Memory>&, const WaveJob<T, Dim>&, \
                                                 const TakeSnapshot<T>&)

}  // namespace moho::examples::model_waves
