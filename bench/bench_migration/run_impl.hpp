// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Timed part of bench_migration.

#include "bench_migration/runner.hpp"

#include <moho/core/phases.hpp>
#include <moho/rtm/migration.hpp>

#include <cmath>
#include <utility>

namespace moho::bench {

/// Returns data of a shot: a pulse at each receiver.
inline survey::ShotGather<3> pulses(const wave::Shot<3>& shot, double dt, std::int64_t count) {
  survey::ShotGather<3> gather;
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
  costs.device_bytes = static_cast<double>(plan.memory.most) +
                       (streams ? 0.0 : static_cast<double>(plan.storage.strategy.bytes));
  costs.host_bytes = streams ? static_cast<double>(plan.stream_plan.host_bytes) : 0.0;
  costs.interval = plan.storage.interval;
  costs.block = plan.stream_plan.shape.block;
  costs.updates = plan.stream_plan.shape.updates;
  costs.devices = plan.stream_plan.shape.devices;
  return costs;
}

/// Instantiates the benchmark for a memory.
#define MOHO_BENCH_MIGRATION(Memory) \
  template MigrationCosts time_migration<Memory>(const Instance<Memory>&, const MigrationSettings&)

}  // namespace moho::bench
