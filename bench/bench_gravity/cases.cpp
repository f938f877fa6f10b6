// SPDX-License-Identifier: BSD-3-Clause
#include "bench_gravity/cases.hpp"

#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <random>
#include <tuple>

namespace moho::bench {

namespace {

using gravity::component_count;
using gravity::Components;

/// A problem with the textbook's values at a few stations. The last one is cached; cases of one
/// problem are registered one after the other.
struct Prepared {
  GravityProblem problem;
  std::vector<std::int64_t> stations;
  std::vector<std::array<double, component_count>> reference;
};

const Prepared& prepared(const ProblemSize& size) {
  using Key = std::tuple<std::string, std::int64_t, std::int64_t, std::array<int, 3>>;
  static Key last;
  static Prepared kept;
  const Key key{size.name, size.prisms, size.stations, size.cells};
  if (key == last && !kept.reference.empty()) return kept;
  kept.problem = make_problem(size);
  kept.stations.clear();
  // For large ensembles the textbook's form needs a second per station.
  const std::int64_t count = kept.problem.station_count();
  const std::int64_t checked = std::min<std::int64_t>(count, 6);
  for (std::int64_t i = 0; i < checked; ++i) {
    kept.stations.push_back((2 * i + 1) * count / (2 * checked));
  }
  kept.reference = textbook_field(kept.problem, kept.stations);
  last = key;
  return kept;
}

/// Differences of results from the textbook's values.
struct Difference {
  /// Relative to the largest value of the component; the largest over components.
  double relative = 0.0;
  double mgal = 0.0;    ///< largest difference of the attraction, mGal
  double eotvos = 0.0;  ///< largest difference of the gradient, Eotvos
  double mean = 0.0;    ///< mean magnitude of the results, for comparison between programs
};

Difference compare(const Prepared& truth, const Components& components, const double* results) {
  Difference found;
  const std::size_t stations = static_cast<std::size_t>(truth.problem.station_count());
  for (std::size_t row = 0; row < components.size(); ++row) {
    const std::size_t c = static_cast<std::size_t>(components[row]);
    double worst = 0.0, largest = 0.0;
    for (std::size_t i = 0; i < truth.stations.size(); ++i) {
      const double expected = truth.reference[i][c];
      const double got = results[row * stations + static_cast<std::size_t>(truth.stations[i])];
      const double difference = std::abs(got - expected);
      // NaN compares false and must count
      if (!(difference <= worst)) worst = std::isfinite(difference) ? difference : 1e300;
      largest = std::max(largest, std::abs(expected));
    }
    found.relative = std::max(found.relative, largest > 0.0 ? worst / largest : worst);
    if (c >= 1 && c <= 3) found.mgal = std::max(found.mgal, worst);
    if (c >= 4) found.eotvos = std::max(found.eotvos, worst);
    double sum = 0.0;
    for (std::size_t s = 0; s < stations; ++s) sum += std::abs(results[row * stations + s]);
    found.mean += sum / static_cast<double>(stations * components.size());
  }
  return found;
}

/// Returns the minimum number of bytes moved: prisms, stations and results once, and private grids
/// read and written once per pass.
double min_bytes(const GravityProblem& problem, const GravitySettings& settings,
                 const gravity::Report& report) {
  const double results = 8.0 * static_cast<double>(settings.components.size()) *
                         static_cast<double>(problem.station_count());
  const double prisms = problem.regular ? 8.0 * static_cast<double>(problem.densities.size())
                                        : 56.0 * static_cast<double>(problem.prism_count());
  double bytes = prisms + 24.0 * static_cast<double>(problem.station_count()) + results;
  if (report.strategy == gravity::Strategy::by_prisms &&
      settings.arrangement == Arrangement::forward) {
    bytes += 2.0 * results * static_cast<double>(report.private_grids) *
             static_cast<double>(report.passes);
  }
  return bytes;
}

}  // namespace

std::string name_of(const Components& components) {
  if (components == gravity::nine_components()) return "nine";
  if (components == gravity::all_components()) return "all";
  std::string name;
  for (const gravity::Component component : components) {
    if (!name.empty()) name += ",";
    name += to_string(component);
  }
  return name;
}

void time_gravity(benchmark::State& state, const GravityCase& what) {
  const GravitySettings& settings = what.settings;
  GravityPass sum, last;
  double best = std::numeric_limits<double>::infinity();
  std::map<std::string, double> phases;
  Difference found;
  double bytes = 0.0, pairs = 0.0;
  try {
    const Prepared& truth = prepared(what.problem);
    std::unique_ptr<GravityRunner> runner;
    with_space(what.space, [&](const auto& exec) { runner = make_runner(exec, truth.problem); });
    runner->pass(settings);  // loads code and touches memory; excluded from the time
    runner->spoil();
    for (auto _ : state) {
      last = runner->pass(settings);
      state.SetIterationTime(last.total);
      sum.transfer += last.transfer;
      sum.total += last.total;
      best = std::min(best, last.total);
      for (const auto& [phase, took] : last.report.times.phases()) phases[phase] += took;
    }
    found = compare(truth, settings.components, runner->results());
    bytes = min_bytes(truth.problem, settings, last.report);
    pairs = static_cast<double>(truth.problem.prism_count()) *
            static_cast<double>(truth.problem.station_count());
  } catch (const std::exception& error) {
    // A sweep over threads per team ends at the limit of a kernel's registers.
    const bool too_large =
        settings.options.team_size > 0 && std::string(error.what()).rfind("team_size: ", 0) == 0;
    if (!too_large) throw;
    state.SkipWithError(error.what());
    return;
  }
  const double iterations = static_cast<double>(state.iterations());
  auto& counters = state.counters;
  counters["pairs/s"] = pairs * iterations / sum.total;
  counters["best_s"] = best;
  counters["pairs"] = pairs;
  counters["transfer_s"] = sum.transfer / iterations;
  for (const auto& [phase, took] : phases) {
    const auto colon = phase.rfind(':');
    counters[phase.substr(colon == std::string::npos ? 0 : colon + 1) + "_s"] = took / iterations;
  }
  counters["bytes"] = bytes;
  counters["memory"] = static_cast<double>(last.report.memory);
  counters["grids"] = static_cast<double>(last.report.private_grids);
  counters["passes"] = static_cast<double>(last.report.passes);
  if (last.report.corners > 0) counters["corners"] = static_cast<double>(last.report.corners);
  counters["max_rel_error"] = found.relative;
  counters["error_mGal"] = found.mgal;
  counters["error_Eotvos"] = found.eotvos;
  counters["mean_abs"] = found.mean;
  if (settings.arrangement == Arrangement::forward) state.SetLabel(to_string(last.report.strategy));
  // 1e-7 covers the textbook's own cancellation in double precision, 1e-3 that of closed forms in
  // single precision.
  const bool closed = settings.options.far_tolerance == 0.0;
  const double tolerance = !settings.single ? 1e-7 : closed ? 1e-3 : 1e-5;
  if (!(found.relative <= tolerance)) {
    fail(state, concat("fields differ from the textbook's by ", found.relative,
                       " of the largest value (allowed: ", tolerance, ")"));
  }
}

namespace {

// Writes the counters that operators share.
void report_times(benchmark::State& state, const FmmTimes& times) {
  auto& counters = state.counters;
  counters["construct_s"] = times.construct;
  counters["apply_s"] = times.apply;
  counters["adjoint_s"] = times.adjoint;
  counters["direct_s"] = times.direct;
  counters["difference"] = times.difference;
  counters["memory"] = static_cast<double>(times.bytes);
}

}  // namespace

void time_fmm_case(benchmark::State& state, const FmmCase& what) {
  FmmProblem problem;
  problem.components = what.components;
  problem.tolerance = what.tolerance;
  // prisms side by side; stations 1 m above a layer of columns or cells, 1 to 100 m above a slab,
  // among those of a cube
  std::mt19937_64 bits(5);
  const auto between = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  };
  const double size = 20e3, depth = what.scene == "cube"   ? size
                                    : what.scene == "slab" ? 4e3
                                                           : 400.0;
  const auto prisms = static_cast<double>(what.prisms);
  const bool layer = what.scene == "layer", close = layer || what.scene == "cells";
  const double side = layer ? size / std::sqrt(prisms) : std::cbrt(size * size * depth / prisms);
  const auto across = static_cast<std::int64_t>(size / side);
  for (std::int64_t k = 0; k < what.prisms; ++k) {
    const auto position = layer ? k % (across * across) : k;
    const double x = side * static_cast<double>(position % across);
    const double y = side * static_cast<double>(position / across % across);
    const double z = layer ? 0.0 : side * static_cast<double>(position / (across * across));
    const double bottom = layer ? between(50.0, 400.0) : z + side;
    for (const double value : {x, x + side, y, y + side, z, bottom, between(-500.0, 3000.0)}) {
      problem.prisms.push_back(value);
    }
  }
  for (std::int64_t k = 0; k < what.stations; ++k) {
    problem.stations.push_back(between(0.0, size));
    problem.stations.push_back(between(0.0, size));
    problem.stations.push_back(what.scene == "cube" ? between(0.0, size)
                               : close              ? -1.0
                                                    : -between(1.0, 100.0));
  }
  FmmTimes times;
  for (auto _ : state) {
    with_space(what.space, [&](const auto& exec) { times = time_fmm(exec, problem, 3); });
    state.SetIterationTime(times.apply);
  }
  report_times(state, times);
  auto& counters = state.counters;
  counters["order"] = times.report.order;
  counters["far_pairs"] = static_cast<double>(times.report.far_pairs);
  counters["near_pairs"] = times.report.near_pairs;
  counters["work"] = times.report.work;
  if (!(times.difference <= what.tolerance)) {
    fail(state, concat("fields differ from direct sums by ", times.difference,
                       " of the largest value (allowed: ", what.tolerance, ")"));
  }
}

void time_lattice_case(benchmark::State& state, const std::string& space,
                       const std::array<int, 3>& cells, const Components& components) {
  FmmTimes times;
  for (auto _ : state) {
    with_space(space, [&](const auto& exec) { times = time_lattice(exec, cells, components, 3); });
    state.SetIterationTime(times.apply);
  }
  report_times(state, times);
  if (!(times.difference <= 1e-11)) {
    fail(state, concat("fields differ from direct sums by ", times.difference,
                       " of the largest value (allowed: 1e-11)"));
  }
}

void time_operation(benchmark::State& state, const std::string& space, Operation operation,
                    bool single) {
  double rate = 0.0;
  for (auto _ : state) {
    with_space(space, [&](const auto& exec) { rate = operation_rate(exec, operation, single); });
    state.SetIterationTime(1e9 / rate);
  }
  state.counters["operations/s"] = rate;
}

}  // namespace moho::bench
