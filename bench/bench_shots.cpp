// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of small shots, several of them concurrently on one device or host.
//
// A survey of 60 shots with 401 receivers over a section of 1601 x 401 nodes (hosts: 8 shots over
// 401 x 201 nodes), isotropic, order 8, single precision, perfectly matched layers of 20 nodes. The
// time is from the first shot to the last and includes sources, receivers, transfer and
// transposition of traces. Points are all nodes, including those of the layers. Every trace is
// compared with that of sequential shots: the bits must be equal.
//
// Names: shots/isotropic/float/<space>/<nx>x<nz>/at_once:<n>/together:<m>. n shots run
// concurrently, m of them in one batch (1: a thread and a stream for each); auto: the library
// chooses.

#include "bench_shots/runner.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace moho;
using bench::ShotsResult;
using bench::ShotsRunner;
using bench::ShotsSettings;

/// The survey of a space, and its traces from sequential shots.
struct Kept {
  std::unique_ptr<ShotsRunner> runner;
  ShotsResult alone;
};

Kept& kept(const std::string& space, const ShotsSettings& settings) {
  static std::map<std::string, Kept> all;
  static bool first = true;
  if (first) Kokkos::push_finalize_hook([] { all.clear(); });
  first = false;
  Kept& one = all[space];
  if (!one.runner) {
    with_space(space,
               [&](const auto& exec) { one.runner = bench::make_shots_runner(exec, settings); });
    one.alone = one.runner->run(1, 1);
  }
  return one;
}

void time_shots(benchmark::State& state, const std::string& space, const ShotsSettings& settings,
                int at_once, int together) {
  Kept& survey = kept(space, settings);
  double points = 0.0, seconds = 0.0;
  for (auto _ : state) {
    const ShotsResult result = survey.runner->run(at_once, together);
    state.SetIterationTime(result.seconds);
    points += result.points;
    seconds += result.seconds;
    state.counters["at_once"] = result.at_once;
    state.counters["together"] = result.together;
    if (result.traces != survey.alone.traces) {
      bench::fail(state, "traces differ from those of one shot after the other");
      return;
    }
  }
  state.counters["points/s"] = points / seconds;
  state.counters["shots/s"] =
      static_cast<double>(settings.shots) * static_cast<double>(state.iterations()) / seconds;
}

void add_space(const std::string& space) {
  const bool host = bench::on_host(space), smoke = bench::smoke();
  ShotsSettings settings;
  if (host || smoke) {
    settings.extents[0] = smoke ? 61 : 401;
    settings.extents[1] = smoke ? 41 : 201;
    settings.shots = smoke ? 5 : 8;
    settings.receivers = smoke ? 21 : 101;
    settings.seconds = smoke ? 0.1 : 1.0;
  }
  using Ways = std::vector<std::pair<int, int>>;
  const Ways on_host = {{1, 1}, {2, 1}, {2, 2}, {4, 4}, {8, 8}, {0, 0}};
  const Ways on_device = {{1, 1}, {2, 1}, {3, 1},  {4, 1},  {8, 1},   {2, 2},   {4, 4},  {4, 2},
                          {8, 8}, {8, 4}, {12, 6}, {16, 8}, {16, 16}, {32, 16}, {32, 8}, {0, 0}};
  const auto text = [](int n) { return n > 0 ? concat(n) : std::string("auto"); };
  for (const auto& [at_once, together] : host ? on_host : on_device) {
    const std::string name =
        concat("shots/isotropic/float/", space, "/", settings.extents[0], "x", settings.extents[1],
               "/at_once:", text(at_once), "/together:", text(together));
    bench::add(name, smoke ? 1 : 3,
               [space, settings, at_once = at_once, together = together](benchmark::State& state) {
                 time_shots(state, space, settings, at_once, together);
               });
  }
}

void register_benchmarks() {
  add_space(bench::host_space());
  if (default_space_name() == "cuda") add_space("cuda");
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
