// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Timed part of bench_migration.

#include "bench_migration/runner.hpp"

#include <moho/core/phases.hpp>
#include <moho/rtm/migration.hpp>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace moho::bench {

/// Returns data of a shot: a pulse at each receiver.
template <int Dim>
survey::ShotGather<Dim> pulses(const wave::Shot<Dim>& shot, double dt, std::int64_t count) {
  survey::ShotGather<Dim> gather;
  gather.shot = shot;
  gather.dt = dt;
  gather.count = count;
  for (std::size_t r = 0; r < shot.receivers.size(); ++r) {
    gather.traces.push_back(static_cast<std::int64_t>(r) + 1);
    for (std::int64_t n = 0; n < count; ++n) {
      const double t = static_cast<double>(n - count / 2) / 8.0;
      gather.samples.push_back(static_cast<float>((1.0 - t * t) * std::exp(-0.5 * t * t)));
    }
  }
  return gather;
}

template <class Memory>
MigrationCosts time_migration(const Instance<Memory>& exec, const MigrationSettings& settings) {
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  rtm::MigrationInput<float, 3> input;
  for (int d = 0; d < 3; ++d) {
    input.grid.extents[d] = settings.shape[static_cast<std::size_t>(d)];
    input.grid.spacing[d] = 10.0;
  }
  const auto constant = [&](const char* name, float value) {
    auto field = make_field<float>(host, input.grid, name);
    fill(host, field, value);
    return field;
  };
  input.model.vp = constant("vp", 2500.0f);
  if (wave::fields_of(settings.medium) == 2) {
    input.model.epsilon = constant("epsilon", 0.15f);
    input.model.delta = constant("delta", 0.05f);
  }
  if (settings.medium == wave::Medium::tti) {
    input.model.theta = constant("theta", 0.6f);
    input.model.phi = constant("phi", 0.3f);
  }
  host.fence();
  input.faces = wave::all_faces<3>(wave::FaceKind::sponge, settings.width);
  const double dt = 1e-3;
  input.wavelet = wave::ricker_wavelet(15.0);
  for (std::int64_t k = 0; k < 2; ++k) {
    wave::Shot<3> shot;
    shot.number = k + 1;
    Point<3> at{};
    for (int d = 0; d < 2; ++d) at[d] = 0.5 * input.grid.upper(d) + 1.7 * static_cast<double>(k);
    at[2] = 23.0;
    shot.sources = {at};
    for (std::int64_t r = 0; r < 200; ++r) {
      at[0] = input.grid.upper(0) * (0.5 + static_cast<double>(r)) / 200.0;
      shot.receivers.push_back(at);
    }
    input.shots.push_back(std::move(shot));
  }
  auto& o = input.options;
  o.modelling.time.dt = dt;
  o.modelling.time.time = static_cast<double>(settings.steps) * dt;
  o.storage.method = "random";
  o.storage.random_width = 2 * settings.width;
  o.concurrent_shots = 1;
  o.stream.device_memory = settings.device_memory;
  o.stream.devices = settings.devices;
  MigrationCosts costs;
  const Stopwatch planning;
  rtm::Migration<float, 3, Memory> migration(exec, input);
  costs.plan = planning.seconds();
  const auto& plan = migration.plan();
  for (const auto& shot : input.shots) {
    const auto gather = pulses(shot, dt, settings.steps + 1);
    const Stopwatch watch;
    const auto image = migration.migrate(gather);
    costs.shot = watch.seconds();
    costs.legs = image.report.seconds;
    costs.points = image.report.points + image.report.recomputed_points;
    costs.size = image.largest.front();
  }
  const bool streams = !plan.stream.empty();
  costs.predicted = plan.storage.strategy.seconds;
  costs.device_bytes = static_cast<double>(plan.memory.peak) +
                       (streams ? 0.0 : static_cast<double>(plan.storage.strategy.bytes));
  costs.host_bytes = streams ? static_cast<double>(plan.stream_plan.host_bytes) : 0.0;
  costs.interval = plan.storage.interval;
  costs.block = plan.stream_plan.shape.block;
  costs.updates = plan.stream_plan.shape.updates;
  costs.devices = plan.stream_plan.shape.devices;
  return costs;
}

/// Returns a survey over a section whose velocity increases with depth.
inline rtm::MigrationInput<float, 2> section_survey(const SurveySettings& settings) {
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  rtm::MigrationInput<float, 2> input;
  input.grid = {{settings.nodes[0], settings.nodes[1]}, {20.0, 20.0}, {}};
  const auto vp = make_field<float>(host, input.grid, "vp");
  const std::int64_t depths = settings.nodes[1];
  for (std::int64_t i = 0; i < input.grid.size(); ++i) {
    const double z = static_cast<double>(i % depths) / static_cast<double>(depths);
    vp.data()[i] = static_cast<float>(1500.0 + 2500.0 * z);
  }
  input.model.vp = vp;
  input.faces = wave::all_faces<2>(wave::FaceKind::cpml, 10);
  input.wavelet = wave::ricker_wavelet(8.0);
  const double width = input.grid.upper(0);
  for (int k = 0; k < settings.shots; ++k) {
    const double x = width * (0.5 + static_cast<double>(k)) / static_cast<double>(settings.shots);
    input.shots.push_back(
        {k + 1,
         {{x, 40.0}},
         wave::point_line<2>({40.0, 40.0}, {width - 40.0, 40.0}, settings.receivers)});
  }
  input.options.modelling.time.time = settings.time;
  input.options.storage.method = "device";
  input.options.storage.error = "lossless";
  input.options.data.mute.kind = survey::MuteOptions::Kind::arrivals;
  input.options.concurrent_shots = settings.concurrent;
  input.options.batch_size = settings.batch;
  return input;
}

template <class Memory>
SurveyCosts time_survey(const Instance<Memory>& exec, const SurveySettings& settings) {
  rtm::Migration<float, 2, Memory> migration(exec, section_survey(settings));
  const auto& plan = migration.plan();
  std::vector<survey::ShotGather<2>> gathers;
  for (const auto& shot : migration.shots()) {
    gathers.push_back(pulses(shot, plan.time.dt, plan.time.steps + 1));
  }
  SurveyCosts costs;
  costs.predicted = plan.seconds;
  costs.concurrent = plan.concurrent_shots;
  costs.batch = plan.batch_size;
  costs.interval = plan.storage.interval;
  for (int turn = 0; turn < 2; ++turn) {  // the first one allocates
    const PhaseTimes before = migration.phases();
    costs.points = costs.size = 0.0;
    exec.fence();
    const Stopwatch watch;
    migration.migrate_each(
        [&, k = std::size_t{0}]() mutable {
          return k < gathers.size() ? std::optional<std::size_t>(k++) : std::nullopt;
        },
        [&](std::size_t k) { return gathers[k]; },
        [&](std::size_t, rtm::ShotImage<float, 2>&& image) {
          costs.points += image.report.points;
          costs.size += image.largest.front();
        });
    costs.seconds = watch.seconds();
    const PhaseTimes after = migration.phases();
    const auto spent = [&](const char* name) { return after.seconds(name) - before.seconds(name); };
    costs.prepare = spent("prepare");
    costs.migrate = spent("migrate");
    costs.transfer = spent("transfer");
  }
  return costs;
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_MIGRATION(Memory)                                        \
  template MigrationCosts time_migration<Memory>(const Instance<Memory>&,   \
                                                 const MigrationSettings&); \
  template SurveyCosts time_survey<Memory>(const Instance<Memory>&, const SurveySettings&)

}  // namespace moho::bench
