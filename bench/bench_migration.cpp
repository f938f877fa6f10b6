// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of migration with random layers: a shot in core and in a stream.
//
// The model is a homogeneous box in a sponge of 20 nodes, random layers have 40; order 8, single
// precision, 200 receivers. The time is that of the second of two shots, with its preparation. The
// first one allocates volumes and page-locks them. "legs" are the seconds of the propagations,
// "predicted" those of the plan.
//
// MOHO_BENCH_MIGRATION_SHAPE (nx,ny,nz), _STEPS and _DEVICE (MiB that a stream may use; 0: in core
// only) set the shot, _DEVICES the devices of the chain of a stream (1).
//
// Names: migration/<medium>/<core or stream>/<space>/<nx>x<ny>x<nz>.

#include "bench_migration/runner.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

using namespace moho;
using bench::MigrationSettings;

std::int64_t from_environment(const char* name, std::int64_t usual) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return usual;
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  if (*end != '\0' || value < 0 || value > 1000000) {
    throw InputError(concat(name, " is '", text, "' (allowed: 0 to 1000000)"));
  }
  return value;
}

std::array<std::int64_t, 3> shape_from_environment(std::int64_t usual) {
  const char* const text = std::getenv("MOHO_BENCH_MIGRATION_SHAPE");
  if (text == nullptr || *text == '\0') return {usual, usual, usual};
  std::array<std::int64_t, 3> shape{};
  std::istringstream in(text);
  char comma = ',';
  for (std::size_t d = 0; d < 3; ++d) {
    if (d > 0) in >> comma;
    in >> shape[d];
    if (!in || comma != ',' || shape[d] < 20 || shape[d] > 8192) {
      throw InputError(concat("MOHO_BENCH_MIGRATION_SHAPE is '", text,
                              "' (allowed: three numbers from 20 to 8192, as 512,512,512)"));
    }
  }
  return shape;
}

void time_shot(benchmark::State& state, const std::string& space,
               const MigrationSettings& settings) {
  bench::MigrationCosts costs;
  for (auto _ : state) {
    with_space(space, [&](const auto& exec) { costs = bench::time_migration(exec, settings); });
    state.SetIterationTime(costs.shot);
  }
  auto& counters = state.counters;
  counters["points/s"] = costs.points / costs.legs;
  counters["legs"] = costs.legs;
  counters["predicted"] = costs.predicted;
  counters["legs_over_predicted"] = costs.legs / costs.predicted;
  counters["plan"] = costs.plan;
  counters["device_bytes"] = costs.device_bytes;
  counters["host_bytes"] = costs.host_bytes;
  counters["interval"] = static_cast<double>(costs.interval);
  counters["block"] = static_cast<double>(costs.block);
  counters["updates"] = static_cast<double>(costs.updates);
  counters["devices"] = costs.devices;
  if (!(costs.size > 0.0) || !std::isfinite(costs.size)) {
    bench::fail(state, concat("the largest value of the image is ", costs.size));
  }
}

void add_space(const std::string& space) {
  const bool host = bench::on_host(space), smoke = bench::smoke();
  MigrationSettings settings;
  settings.shape = shape_from_environment(smoke ? 24 : host ? 100 : 512);
  settings.steps = from_environment("MOHO_BENCH_MIGRATION_STEPS", smoke ? 40 : host ? 100 : 400);
  if (smoke) settings.width = 6;
  const std::int64_t mib = from_environment("MOHO_BENCH_MIGRATION_DEVICE", smoke  ? 64
                                                                           : host ? 64
                                                                                  : 4096);
  const auto devices = static_cast<int>(
      std::max<std::int64_t>(1, from_environment("MOHO_BENCH_MIGRATION_DEVICES", 1)));
  for (const wave::Medium medium :
       {wave::Medium::isotropic, wave::Medium::vti, wave::Medium::tti}) {
    settings.medium = medium;
    for (const bool streams : {false, true}) {
      if (streams && mib == 0) continue;
      settings.device_memory = streams ? static_cast<std::size_t>(mib) << 20 : 0;
      settings.devices = streams ? devices : 1;
      const std::string name =
          concat("migration/", wave::to_string(medium), streams ? "/stream/" : "/core/", space, "/",
                 settings.shape[0], "x", settings.shape[1], "x", settings.shape[2]);
      bench::add(name, 1,
                 [space, settings](benchmark::State& state) { time_shot(state, space, settings); });
    }
  }
}

void register_benchmarks() {
  add_space(bench::host_space());
  if (default_space_name() == "cuda") add_space("cuda");
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
