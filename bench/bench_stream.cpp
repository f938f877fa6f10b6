// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of streaming: volumes on the host pass through a device, or a chain of devices, that
// hold only a part of them.
//
// A case is a volume of noise in a rough model, single precision, order 8, with a sponge of 20
// nodes. It passes through the device in a few sweeps. points/s is the rate of the complete run,
// including filling and draining. steady_points/s is the rate while all stages are busy, the limit
// of a long run. of_in_core is the steady rate relative to steps of the same volume resident on one
// device, times the devices. The resident rate is measured in the same run (0 if the volume does
// not fit). predicted/s is the forecast for the same sweeps from rates measured on slabs and on the
// link. predicted_over_measured is their ratio.
//
// The medium of every volume is first compared bit by bit with steps without a ring, on a small
// grid.
//
// Names: stream/<medium>/<space>/<nx>x<ny>x<nz>/memory:<GiB> (planned for this memory),
// .../block:<B>/updates:<U>[/devices:<D>] (as given), .../whole/block:<B>/updates:<U>. In "whole"
// stages sweep over arrays of the complete grid, which improves the use of caches on hosts.
// updates:1 with all planes is the plain loop.
//
// .../slabs:<D>: each of D devices holds a slab of the grid, and steps are in core. of_in_core is
// the rate relative to D times that of one device with the complete grid. Bits of a small grid in D
// slabs are first compared with those in one.
//
// MOHO_BENCH_STREAM_DEVICES: devices of the chain and of slabs (default 1).

#include "bench_stream/runner.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace moho;
using bench::StreamFound;
using bench::StreamMethod;
using bench::StreamRunner;
using bench::StreamSettings;
using bench::WaveMedium;
using Extents = std::array<std::int64_t, 3>;

/// The volume of the last case; one volume is cached.
struct Kept {
  std::string key;
  std::unique_ptr<StreamRunner> runner;
  double in_core = 0.0;
};

Kept& kept(const std::string& space, const StreamSettings& settings) {
  static Kept one;
  static bool first = true;
  if (first) Kokkos::push_finalize_hook([] { one = {}; });
  first = false;
  const std::string key = concat(space, bench::to_string(settings.medium), settings.extents[0], "x",
                                 settings.extents[1], "x", settings.extents[2]);
  if (one.key != key) {
    one = {};
    with_space(space,
               [&](const auto& exec) { one.runner = bench::make_stream_runner(exec, settings); });
    if (!one.runner->agrees()) {
      throw Error("a stream of a small volume differs from the same steps without a ring");
    }
    one.in_core = one.runner->in_core();
    one.key = key;
  }
  return one;
}

void time_stream(benchmark::State& state, const std::string& space, const StreamSettings& settings,
                 const StreamMethod& method) {
  Kept& volume = kept(space, settings);
  if (method.slabs && method.devices > 1 && !volume.runner->slabs_agree(method.devices)) {
    throw Error("steps of a small volume in slabs differ from those in one");
  }
  StreamFound found;
  for (auto _ : state) {
    found = volume.runner->run(method);
    state.SetIterationTime(found.seconds);
  }
  const double devices = found.plan.shape.devices;
  const double rate = found.points / found.seconds;
  const double steady = found.steady > 0.0 ? found.steady : rate;
  auto& counters = state.counters;
  counters["points/s"] = rate;
  counters["steady_points/s"] = steady;
  counters["in_core_points/s"] = volume.in_core;
  counters["of_in_core"] = volume.in_core > 0.0 ? steady / (volume.in_core * devices) : 0.0;
  counters["predicted/s"] = found.plan.forecast.points_per_second;
  counters["predicted_over_measured"] = found.plan.forecast.points_per_second / rate;
  counters["block"] = static_cast<double>(found.plan.shape.block);
  counters["updates"] = static_cast<double>(found.plan.shape.updates);
  counters["lag"] = static_cast<double>(found.plan.shape.lag);
  counters["devices"] = devices;
  counters["resident"] = found.plan.resident ? 1.0 : 0.0;
  counters["sweeps"] = static_cast<double>(method.sweeps);
  counters["ring_planes"] = static_cast<double>(found.plan.ring_planes);
  counters["device_bytes"] = static_cast<double>(found.plan.device_bytes);
  counters["host_bytes"] = static_cast<double>(found.plan.host_bytes);
  counters["in/s"] = found.bytes_in / found.seconds;
  counters["out/s"] = found.bytes_out / found.seconds;
  counters["link_in/s"] = volume.runner->rates().in;
  counters["link_out/s"] = volume.runner->rates().out;
  counters["locked"] = volume.runner->locked() ? 1.0 : 0.0;
  counters["lock_seconds"] = volume.runner->lock_seconds();
}

void add(const std::string& space, WaveMedium medium, const Extents& extents, StreamMethod method) {
  StreamSettings settings;
  settings.medium = medium;
  settings.extents = extents;
  if (bench::smoke()) settings.width = 5;
  std::string name = concat("stream/", bench::to_string(medium), "/", space, "/", extents[0], "x",
                            extents[1], "x", extents[2]);
  if (method.whole) name += "/whole";
  if (method.device_memory > 0) name += concat("/memory:", method.device_memory >> 30);
  if (method.block > 0) name += concat("/block:", method.block);
  if (method.updates > 0) name += concat("/updates:", method.updates);
  if (method.slabs) name += concat("/slabs:", method.devices);
  if (!method.slabs && method.devices > 1) name += concat("/devices:", method.devices);
  bench::add(name, 1,
             [=](benchmark::State& state) { time_stream(state, space, settings, method); });
}

constexpr WaveMedium media[] = {WaveMedium::isotropic, WaveMedium::variable_density,
                                WaveMedium::vti, WaveMedium::tti};

// One slab and more, with the same grid.
void add_slabs(const std::string& space, WaveMedium medium, const Extents& extents, int devices,
               std::int64_t steps) {
  for (int d = 1; d <= devices; ++d) {
    StreamMethod method;
    method.slabs = true;
    method.devices = d;
    method.steps = steps;
    add(space, medium, extents, method);
  }
}

void add_smoke(const std::string& space) {
  for (const WaveMedium medium : media) {
    StreamMethod method;
    method.block = 8;
    method.updates = 3;
    method.sweeps = 2;
    add(space, medium, {64, 40, 48}, method);
    method.whole = true;
    add(space, medium, {64, 40, 48}, method);
    add_slabs(space, medium, {64, 40, 48}, 2, 20);
  }
}

// Grids in slabs, one for each device.
void add_device_slabs(const std::string& space, int devices) {
  for (const WaveMedium medium : {WaveMedium::isotropic, WaveMedium::vti, WaveMedium::tti}) {
    add_slabs(space, medium, {512, 512, 512}, devices, 200);
  }
  add_slabs(space, WaveMedium::isotropic, {256, 256, 256}, devices, 1000);
  // nearly no nodes: the submission of launches and transfers
  add_slabs(space, WaveMedium::isotropic, {96, 48, 48}, devices, 1000);
  for (const WaveMedium medium : {WaveMedium::isotropic, WaveMedium::vti, WaveMedium::tti}) {
    add_slabs(space, medium, {1024, 1024, 1024}, devices, 60);
  }
  for (int d = 2; d <= devices; ++d) {  // as many nodes on each device as 512 x 512 x 512 on one
    for (const WaveMedium medium : {WaveMedium::isotropic, WaveMedium::vti, WaveMedium::tti}) {
      StreamMethod method;
      method.slabs = true;
      method.devices = d;
      add(space, medium, {512 * d, 512, 512}, method);
    }
  }
}

// Volumes of about 40 and 160 GiB through chains of devices.
void add_large_chains(const std::string& space, int devices) {
  constexpr std::size_t gib = std::size_t(1) << 30;
  const auto chain = [&](std::int64_t planes, int d) {
    StreamMethod method;
    method.device_memory = 16 * gib;
    method.devices = d;
    method.sweeps = 3;
    add(space, WaveMedium::isotropic, {planes, 1530, 1530}, method);
  };
  for (int d = 1; d <= devices; d *= 2) chain(1536, d);
  chain(6144, devices);
}

void add_device(const std::string& space, int devices) {
  constexpr std::size_t gib = std::size_t(1) << 30;
  if (devices > 1) {
    add_device_slabs(space, devices);
    add_large_chains(space, devices);
    for (const WaveMedium medium : {WaveMedium::isotropic, WaveMedium::tti}) {
      const Extents extents =
          medium == WaveMedium::tti ? Extents{3072, 512, 512} : Extents{1536, 1024, 1024};
      for (int d = 1; d <= devices; ++d) {
        StreamMethod method;
        method.block = 32;
        method.updates = medium == WaveMedium::tti ? 32 : 64;
        method.devices = d;
        method.sweeps = 8 / d;
        add(space, medium, extents, method);
      }
    }
    for (int d = 1; d <= devices; ++d) {
      StreamMethod method;
      method.block = 4;
      method.updates = 8;
      method.devices = d;
      method.sweeps = 8;
      add(space, WaveMedium::vti, {500, 1000, 1000}, method);
    }
    return;
  }
  // volumes of about 40 GiB
  const auto planned = [&](WaveMedium medium, const Extents& extents, std::size_t memory) {
    StreamMethod method;
    method.device_memory = memory * gib;
    method.sweeps = 6;
    add(space, medium, extents, method);
  };
  planned(WaveMedium::isotropic, {1536, 1530, 1530}, 8);
  planned(WaveMedium::isotropic, {1536, 1530, 1530}, 16);
  planned(WaveMedium::tti, {4096, 512, 512}, 8);
  planned(WaveMedium::vti, {1154, 1153, 1153}, 16);
  // the paper's volume along its axis, with its blocks and steps per pass
  for (const WaveMedium medium : {WaveMedium::isotropic, WaveMedium::vti}) {
    for (const std::int64_t updates : {2, 4, 8, 16, 32, 64}) {
      StreamMethod method;
      method.block = 4;
      method.updates = updates;
      method.sweeps = updates < 8 ? 4 : 2;
      add(space, medium, {500, 1000, 1000}, method);
    }
    StreamMethod method;
    method.block = 32;
    method.updates = 64;
    method.sweeps = 2;
    add(space, medium, {500, 1000, 1000}, method);
  }
  // a volume of as many points: rates by steps per pass, and by block
  for (const WaveMedium medium : media) {
    for (const std::int64_t block : {4, 16, 32, 64}) {
      for (const std::int64_t updates : {1, 2, 4, 8, 16, 32, 64, 96}) {
        if (block != 32 && updates != 32 && updates != 64) continue;
        StreamMethod method;
        method.block = block;
        method.updates = updates;
        method.sweeps = updates < 8 ? 4 : 3;
        add(space, medium, {1000, 1000, 500}, method);
      }
    }
  }
}

void add_host(const std::string& space) {
  for (const WaveMedium medium : {WaveMedium::isotropic, WaveMedium::tti}) {
    add_slabs(space, medium, {256, 256, 256}, 2, 20);
  }
  for (const WaveMedium medium : media) {
    const Extents extents =
        medium == WaveMedium::isotropic ? Extents{256, 256, 256} : Extents{192, 192, 192};
    const auto sweep = [&](std::int64_t block, std::int64_t updates) {
      StreamMethod method;
      method.whole = true;
      method.block = block;
      method.updates = updates;
      method.sweeps = std::max<std::int64_t>(1, 24 / updates);
      add(space, medium, extents, method);
    };
    sweep(extents[0], 1);
    for (const std::int64_t updates : {2, 4, 8}) {
      for (const std::int64_t block : {4, 8, 16}) sweep(block, updates);
    }
  }
}

void register_benchmarks() {
  const char* const text = std::getenv("MOHO_BENCH_STREAM_DEVICES");
  const int devices = text != nullptr ? std::atoi(text) : 1;
  const std::string space = default_space_name();
  if (bench::smoke()) return add_smoke(space);
  if (bench::on_host(space)) {
    add_host(space);
  } else {
    add_device(space, devices);
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
