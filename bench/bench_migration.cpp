// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of migration: a shot with random layers in core and in a stream, and a survey of small
// shots.
//
// The model is a homogeneous box in a sponge of 20 nodes, random layers have 40; order 8, single
// precision, 200 receivers. The time is that of the second of two shots, with its preparation. The
// first one allocates volumes and page-locks them. "legs" are the seconds of the propagations,
// "predicted" those of the plan.
//
// MOHO_BENCH_MIGRATION_SHAPE (nx,ny,nz), _STEPS and _DEVICE (MiB that a stream may use; 0: in core
// only) set the shot, _DEVICES the devices of the chain of a stream (1).
//
// The survey has 24 shots of 2.4 s with 231 receivers over a section in perfectly matched layers of
// 10 nodes, with uncompressed snapshots in the memory of the run and the mute of first arrivals.
// The time is that of all shots, with the preparation of their data, the second time. "prepare",
// "migrate" and "transfer" are the phases of concurrent shots.
//
// Names: migration/<medium>/<core or stream>/<space>/<nx>x<ny>x<nz>,
// survey/at_once:<n>/batch:<m>/<space>/shots:<shots>/<nx>x<nz>, with n concurrent shots, of which m
// advance in the same launches (0: chosen).

#include "bench_migration/runner.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

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

void time_survey(benchmark::State& state, const std::string& space,
                 const bench::SurveySettings& settings) {
  bench::SurveyCosts costs;
  for (auto _ : state) {
    with_space(space, [&](const auto& exec) { costs = bench::time_survey(exec, settings); });
    state.SetIterationTime(costs.seconds);
  }
  auto& counters = state.counters;
  counters["points/s"] = costs.points / costs.seconds;
  counters["prepare"] = costs.prepare;
  counters["migrate"] = costs.migrate;
  counters["transfer"] = costs.transfer;
  counters["predicted"] = costs.predicted;
  counters["concurrent"] = costs.concurrent;
  counters["batch"] = costs.batch;
  counters["interval"] = static_cast<double>(costs.interval);
  if (!(costs.size > 0.0) || !std::isfinite(costs.size)) {
    bench::fail(state, concat("the sum of the largest values of the images is ", costs.size));
  }
}

/// Adds a survey by concurrent shots and shots in the same launches.
void add_surveys(const std::string& space) {
  const bool host = bench::on_host(space), smoke = bench::smoke();
  bench::SurveySettings settings;
  if (smoke) settings = {{61, 41}, 3, 1.0, 20, 0, 0};
  using Case = std::array<int, 2>;
  const std::vector<Case> all = {{1, 1},  {4, 1},   {0, 0},   {4, 2},  {4, 4},
                                 {12, 6}, {12, 12}, {24, 12}, {24, 24}};
  for (const auto& [concurrent, batch] : smoke || host ? std::vector<Case>{{0, 1}, {2, 2}} : all) {
    settings.concurrent = concurrent;
    settings.batch = batch;
    bench::add(concat("survey/at_once:", concurrent, "/batch:", batch, "/", space,
                      "/shots:", settings.shots, "/", settings.nodes[0], "x", settings.nodes[1]),
               1,
               [space, settings](benchmark::State& state) { time_survey(state, space, settings); });
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
  std::vector<std::string> spaces{bench::host_space()};
  if (default_space_name() == "cuda") spaces.emplace_back("cuda");
  for (const std::string& space : spaces) {
    add_space(space);
    add_surveys(space);
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
