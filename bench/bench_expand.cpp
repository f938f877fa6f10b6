// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of domains that expand with the wavefield: time of a shot by each of three methods,
// relative to the complete grid.
//
// The shot is similar to that of Suh and Wang (2011): tilted transversely isotropic, 16 x 16 x 16
// km, the source near the centre of the top, a fast body below. They report 0.78 (layers), 0.82
// (eikonal) and 0.75 (amplitude). The time covers the method's preparation and the complete shot:
// steps, source, and 343 receivers. The model is fixed; n is the number of nodes along its sides.
// The wavelet has the highest frequency that the grid resolves. Every gather is compared with that
// of the complete grid.
//
// MOHO_BENCH_EXPAND_N and MOHO_BENCH_EXPAND_SECONDS set n and the modelled time.
//
// Names: expand/<medium>/float/<method>/<space>/n:<n>. Methods: none, layers, eikonal (solved on
// every fourth node), eikonal_full (on all nodes), amplitude.

#include "bench_expand/runner.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

using namespace moho;
using bench::ExpandResult;
using bench::ExpandRunner;
using bench::ExpandSettings;

/// Returns a number from the environment. \throws InputError unless it is within the limits
double from_environment(const char* name, double usual, double min, double max) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return usual;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end != '\0' || !(value >= min && value <= max)) {
    throw InputError(concat(name, " is '", text, "' (allowed: ", min, " to ", max, ")"));
  }
  return value;
}

/// The shot of a space and a medium, and its gather in the complete grid; the last one is cached.
struct Kept {
  std::string key;
  std::unique_ptr<ExpandRunner> runner;
  ExpandResult whole;
};

Kept& kept(const std::string& space, const ExpandSettings& settings) {
  static Kept one;
  static bool first = true;
  if (first) Kokkos::push_finalize_hook([] { one = {}; });
  first = false;
  const std::string key = concat(space, settings.tti, settings.n);
  if (one.key != key) {
    one = {};
    with_space(space,
               [&](const auto& exec) { one.runner = bench::make_expand_runner(exec, settings); });
    one.whole = one.runner->run("none");
    one.key = key;
  }
  return one;
}

/// Returns the largest difference over the largest sample; infinite if a sample is not a number.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double max_difference = 0.0, max = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    const double d = std::fabs(x - y);
    max_difference = d <= 1e300 ? std::max(max_difference, d) : HUGE_VAL;
    max = std::max(max, std::fabs(y));
  }
  return a.size() == b.size() && max > 0.0 ? max_difference / max : HUGE_VAL;
}

void time_expand(benchmark::State& state, const std::string& space, const ExpandSettings& settings,
                 const std::string& method) {
  Kept& shot = kept(space, settings);
  ExpandResult result;
  for (auto _ : state) {
    result = method == "none" ? shot.whole : shot.runner->run(method);
    state.SetIterationTime(result.seconds);
  }
  const double found = difference(result.traces, shot.whole.traces);
  auto& counters = state.counters;
  counters["elapsed_over_whole"] = result.seconds / shot.whole.seconds;
  counters["fraction"] = result.fraction;
  counters["setup_seconds"] = result.setup_seconds;
  counters["method_seconds"] = result.method_seconds;
  counters["method_part"] = (result.setup_seconds + result.method_seconds) / result.seconds;
  counters["method_part_of_step"] = result.method_seconds / (result.seconds - result.setup_seconds);
  counters["points/s"] = result.points / (result.seconds - result.setup_seconds);
  counters["steps"] = static_cast<double>(result.steps);
  counters["dt"] = result.dt;
  counters["difference"] = found;
  if (!(found < 1e-3)) {
    bench::fail(state, concat("the gather differs from the whole grid's by ", found,
                              " of its largest sample (allowed: 1e-3)"));
  }
}

void add_space(const std::string& space) {
  const bool host = bench::on_host(space), smoke = bench::smoke();
  for (const bool tti : {true, false}) {
    ExpandSettings settings;
    settings.tti = tti;
    const double n = smoke ? 24.0 : host ? 80.0 : 512.0;
    settings.n = std::llround(from_environment("MOHO_BENCH_EXPAND_N", n, 24.0, 4096.0));
    settings.seconds =
        from_environment("MOHO_BENCH_EXPAND_SECONDS", smoke ? 4.0 : 6.0, 0.01, 1000.0);
    settings.width = smoke ? 8 : host ? 20 : 30;
    for (const char* const method : {"none", "layers", "eikonal", "eikonal_full", "amplitude"}) {
      const std::string name = concat("expand/", tti ? "tti" : "isotropic", "/float/", method, "/",
                                      space, "/n:", settings.n);
      bench::add(name, 1, [space, settings, method](benchmark::State& state) {
        time_expand(state, space, settings, method);
      });
    }
  }
}

void register_benchmarks() {
  add_space(bench::host_space());
  if (default_space_name() == "cuda") add_space("cuda");
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
