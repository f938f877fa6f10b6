// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/summary.hpp"
#include "common/wave_fields.hpp"
#include "model_waves/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/rtm/expand.hpp>
#include <moho/wave/driver.hpp>
#include <moho/wave/snapshots.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace moho::examples::model_waves {

namespace detail {

// What the library chooses and checks before the first step.
template <class T, int Dim, class Memory>
wave::Modelling<T, Dim, Memory> prepare(const Instance<Memory>& exec, const Job<T, Dim>& job,
                                        PhaseTimes& phases) {
  wave::Model<T, Dim, Memory> model;
  {
    const ScopedPhase<Instance<Memory>> phase(exec, phases, "transfer");
    model = to_model<T, Dim, Memory>(exec, job.grid, *job.values);
  }
  const ScopedPhase<Instance<Memory>> phase(exec, phases, "prepare");
  wave::ModellingOptions<Dim> options = job.modelling;
  for (const wave::Shot<Dim>& shot : job.shots) {
    options.sources.insert(options.sources.end(), shot.sources.begin(), shot.sources.end());
    options.receivers =
        std::max(options.receivers, static_cast<std::int64_t>(shot.receivers.size()));
  }
  try {
    auto modelling = wave::make_modelling<T, Dim, Memory>(exec, job.grid, std::move(model),
                                                          job.boundaries, job.wavelet, options);
    modelling.check(exec, job.shots);
    return modelling;
  } catch (const InputError& error) {
    throw InputError(in_options(error.what(), job.names,
                                {{"sources", job.sources_name},
                                 {"receivers", job.receivers_name},
                                 {"wavelet", job.wavelet_name}}));
  }
}

}  // namespace detail

template <class T, int Dim, class Memory>
Report compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job) {
  Report out;
  out.device = device_name(exec);
  out.threads = exec.concurrency();
  wave::Modelling<T, Dim, Memory> modelling =
      detail::prepare<T, Dim, Memory>(exec, job, out.phases);
  const wave::ModellingPlan<Dim>& plan = modelling.plan();
  const wave::Propagator<T, Dim, Memory>& propagator = modelling.propagator();
  for (int d = 0; d < Dim; ++d) out.extended.push_back(plan.grid.extents[d]);
  out.time = plan.time;
  out.medium = plan.medium;
  out.limits = plan.limits;
  out.frequency = plan.frequency;
  out.source_taper = plan.source_taper;
  out.peak_time = plan.peak_time;
  out.nodes_per_wave = plan.nodes_per_wave;
  out.nodes_per_wave_wanted = plan.nodes_per_wave_wanted;
  out.bytes = plan.memory.most;
  if (job.begins) job.begins(out);

  for (std::size_t k = 0; k < job.shots.size(); ++k) {
    if (job.is_there && job.is_there(k)) continue;
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
    if (k == 0 && options.snapshot_every > 0 && job.snapshot) {
      snapshots = std::make_unique<wave::SnapshotQueue<T, Dim, Memory>>(exec, propagator.interior(),
                                                                        job.snapshot);
      options.snapshot = [&](const wave::Wavefield<T, Dim, Memory>& field, const Box<Dim>&,
                             std::int64_t step) {
        snapshots->put(field.layout, field.now[0], step);
      };
    }
    out.phases.add("prepare", preparing.seconds());
    if (job.progress) {
      options.progress = [&](const wave::ShotProgress& now) {
        const auto shots = static_cast<double>(job.shots.size());
        const double per_shot = now.seconds + now.seconds_left;
        const double left =
            now.seconds_left + per_shot * static_cast<double>(job.shots.size() - 1 - k);
        const double part = static_cast<double>(now.step) / static_cast<double>(now.steps);
        job.progress(
            (static_cast<double>(k) + part) / shots,
            concat(job.shots.size() > 1 ? concat("shot ", k + 1, " of ", job.shots.size(), ", ")
                                        : std::string(),
                   format_count(now.points_per_second), "points/s, ", std::llround(left),
                   " s left"));
      };
    }
    const wave::ShotResult<T, Dim, Memory> result = wave::model_shot<T, Dim, Memory>(
        exec, propagator, modelling.wavefield(), sources, plan.wavelet, receivers, options);
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
#define MOHO_MODEL_WAVES(Memory)                                                                 \
  template Report compute_on<float, 2, Memory>(const Instance<Memory>&, const Job<float, 2>&);   \
  template Report compute_on<float, 3, Memory>(const Instance<Memory>&, const Job<float, 3>&);   \
  template Report compute_on<double, 2, Memory>(const Instance<Memory>&, const Job<double, 2>&); \
  template Report compute_on<double, 3, Memory>(const Instance<Memory>&, const Job<double, 3>&)

}  // namespace moho::examples::model_waves
