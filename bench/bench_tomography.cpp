// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of traveltime tomography: complete inversions of synthetic picks, an evaluation with
// its rows, and products.
//
// Times are computed on the grid of the inversion, with normal noise; start models lack the smooth
// changes of 10 % of the truth. Files are not part of the times.
//
// Names: tomography/<what>/<space>/<case>. what: invert (to its stop), invert_8 (8 iterations
// without a target), products (evaluation, G x and G^T y, a step of a bidiagonalisation), and
// recover (to the stop of a line of 2400 m with 2256 picks of 2 ms, five seeds of the noise).
// Cases: issue_967 (3D, the size of pyGIMLi's issue 967: 34 sources, 577 receivers, 66 x 66 x 18
// nodes), line (2D, 200 sources, 480 receivers, 2001 x 201 nodes), volume (3D, 500,000 picks: 1000
// sources, 500 receivers, 106 x 106 x 30 nodes). Cases of recover: gradient (exact times of
// 1500 m/s + 2 1/s z, from 1600 m/s + 2.3 1/s z, lengths of the prior of 200 m), short_lengths (150
// and 75 m), bad_picks (every tenth pick wrong by 30 to 120 ms, lengths of 200 m), checks (of 480 x
// 240 m and 8 %, lengths of 150 and 75 m), waves (a product of sines of that amplitude with
// wavelengths of 480 and 240 m), long_waves (twice these). Times of the last three are those of the
// eikonal equation at half of the spacing. They are inverted in four placements, with a change of
// sign or the middle of a check at the surface and at the first node along x. Correlations are
// those of layers of 120 m: of all placements, and the least and the largest one of a placement.

#include "bench_tomography/runner.hpp"
#include "common/copy.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace moho;
using bench::TomographyCase;

std::vector<TomographyCase> cases() {
  TomographyCase one;
  one.name = "issue_967";
  one.nx = one.ny = 66;
  one.nz = 18;
  one.sources = 34;
  one.receivers = 577;
  TomographyCase line;
  line.name = "line";
  line.three = false;
  line.nx = 2001;
  line.nz = 201;
  line.spacing = 10.0;
  line.sources = 200;
  line.receivers = 480;
  line.error = 0.002;
  TomographyCase volume = one;
  volume.name = "volume";
  volume.nx = volume.ny = 106;
  volume.nz = 30;
  volume.sources = 1000;
  volume.receivers = 500;
  if (bench::smoke()) {
    one.nx = one.ny = 17;
    one.nz = 9;
    one.sources = 3;
    one.receivers = 20;
    line.nx = 61;
    line.nz = 21;
    line.sources = 3;
    line.receivers = 20;
    return {one, line};
  }
  return {one, line, volume};
}

// Fails a benchmark whose result is not closer to the true velocity than the start model.
void require_improvement(benchmark::State& state, double error, double start_error) {
  if (error < start_error) return;
  bench::fail(state, concat("the velocity is off by ", error, ", at the start by ", start_error));
}

void time_inversion(benchmark::State& state, const std::string& space, const TomographyCase& what) {
  bench::TomographyResult result;
  for (auto _ : state) {
    with_space(space, [&](const auto& exec) { result = bench::run_tomography(exec, what); });
    state.SetIterationTime(result.seconds);
  }
  auto& counters = state.counters;
  counters["cpu_s"] = result.cpu_seconds;
  counters["iteration_s"] = result.iteration_seconds;
  counters["appraisal_s"] = result.appraisal_seconds;
  counters["picks"] = result.picks;
  counters["entries"] = result.entries;
  counters["unknowns"] = result.unknowns;
  counters["iterations"] = result.iterations;
  counters["evaluations"] = result.evaluations;
  counters["chi2"] = result.chi2;
  counters["start_error"] = result.start_error;
  counters["error"] = result.error;
  // without a target the model ends by fitting noise
  if (what.iterations == 0) require_improvement(state, result.error, result.start_error);
}

void time_products(benchmark::State& state, const std::string& space, const TomographyCase& what) {
  bench::ProductResult result;
  for (auto _ : state) {
    with_space(space, [&](const auto& exec) { result = bench::run_products(exec, what); });
    state.SetIterationTime(result.product);
  }
  auto& counters = state.counters;
  counters["evaluation_s"] = result.evaluation;
  counters["krylov_step_s"] = result.krylov;
  counters["entries"] = result.entries;
  counters["bytes"] = result.bytes;
  counters["GBps"] = 1e-9 * result.bytes / result.product;
  counters["difference"] = result.difference;
  if (!(result.difference < 1e-12)) {
    bench::fail(state,
                concat("x . G^T y and y . G x differ by ", result.difference, " (allowed: 1e-12)"));
  }
}

void time_recovery(benchmark::State& state, const std::string& space, bench::Recovery what,
                   std::uint64_t seed) {
  bench::RecoveryResult result;
  for (auto _ : state) {
    with_space(space, [&](const auto& exec) { result = bench::run_recovery(exec, what, seed); });
    state.SetIterationTime(result.seconds);
  }
  auto& counters = state.counters;
  counters["cpu_s"] = result.cpu_seconds;
  counters["picks"] = result.picks;
  counters["iterations"] = result.iterations;
  counters["chi2"] = result.chi2;
  counters["start_error"] = result.start_error;
  counters["error"] = result.error;
  counters["bad"] = result.bad;
  counters["missed"] = result.missed;
  counters["flagged"] = result.flagged;
  for (std::size_t k = 0; k < result.correlations.size(); ++k) {
    counters[concat("correlation_", k + 1)] = result.correlations[k];
    double min = 1.0, largest = -1.0;
    for (const std::vector<double>& layers : result.placements) {
      if (k >= layers.size()) continue;  // no rays
      min = std::min(min, layers[k]);
      largest = std::max(largest, layers[k]);
    }
    counters[concat("least_", k + 1)] = min;
    counters[concat("largest_", k + 1)] = largest;
  }
  require_improvement(state, result.error, result.start_error);
}

void add_recoveries(const std::string& space) {
  using bench::Recovery;
  const std::pair<const char*, Recovery> all[] = {
      {"gradient", Recovery::gradient},   {"short_lengths", Recovery::short_lengths},
      {"bad_picks", Recovery::bad_picks}, {"checks", Recovery::checks},
      {"waves", Recovery::waves},         {"long_waves", Recovery::long_waves}};
  const std::uint64_t seeds = bench::smoke() ? 1 : 5;
  for (const auto& [name, what] : all) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      bench::add(concat("tomography/recover/", space, "/", name, "/", seed), 1,
                 [space, what, seed](benchmark::State& state) {
                   time_recovery(state, space, what, seed);
                 });
    }
  }
}

void add_space(const std::string& space) {
  bench::add_copy(space);
  add_recoveries(space);
  for (const TomographyCase& what : cases()) {
    // 500,000 picks take a host half an hour
    if (what.name == "volume" && bench::on_host(space)) continue;
    TomographyCase forced = what;
    forced.iterations = bench::smoke() ? 2 : 8;
    if (what.name == "issue_967") {
      bench::add(concat("tomography/invert/", space, "/", what.name), 1,
                 [space, what](benchmark::State& state) { time_inversion(state, space, what); });
    }
    bench::add(concat("tomography/invert_8/", space, "/", what.name), 1,
               [space, forced](benchmark::State& state) { time_inversion(state, space, forced); });
    bench::add(concat("tomography/products/", space, "/", what.name), 1,
               [space, what](benchmark::State& state) { time_products(state, space, what); });
  }
}

void register_benchmarks() {
  add_space(bench::host_space());
  if (default_space_name() == "cuda") add_space("cuda");
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
