// SPDX-License-Identifier: BSD-3-Clause
#include "bench_rays/run.hpp"

#include "common/program.hpp"

#include <cmath>
#include <limits>

namespace moho::bench {

Grid<2> model_grid(int n) {
  Grid<2> grid;
  grid.extents = {n, n};
  grid.spacing = {10.0, 10.0};
  grid.origin = {0.0, 0.0};
  return grid;
}

double model_velocity(int k, int n) { return 500.0 + 3500.0 * k / (n - 1); }

int source_column(int index, int count, int n) {
  return count == 1 ? 0 : static_cast<int>(std::lround(double(index) * (n - 1) / (count - 1)));
}

template <class T>
void check_source(const std::vector<T>& reference, const T* times, const std::int16_t* predecessors,
                  const std::vector<std::int64_t>& step, RayCheck& check) {
  double sum = 0.0;
  double worst = check.max_relative_difference;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double expected = static_cast<double>(reference[i]),
                 found = static_cast<double>(times[i]);
    sum += found;
    const double difference = std::abs(found - expected);
    if (expected > 0.0) {
      // NaN compares false and must count
      if (!(difference <= worst * expected)) worst = difference / expected;
      if (!(difference < std::numeric_limits<double>::infinity())) worst = 1e300;
    } else if (found != 0.0) {
      worst = 1e300;
    }
    if (predecessors == nullptr || expected == 0.0) continue;
    const int k = predecessors[i];
    if (k < 0 || k >= static_cast<int>(step.size())) {
      ++check.without_predecessor;
      continue;
    }
    const std::int64_t before = static_cast<std::int64_t>(i) + step[static_cast<std::size_t>(k)];
    const bool inside = before >= 0 && before < static_cast<std::int64_t>(reference.size());
    if (!inside || !(times[before] < times[i])) ++check.without_predecessor;
  }
  if (check.mean_time == 0.0) check.mean_time = sum / static_cast<double>(reference.size());
  check.max_relative_difference = worst;
}

template void check_source<float>(const std::vector<float>&, const float*, const std::int16_t*,
                                  const std::vector<std::int64_t>&, RayCheck&);
template void check_source<double>(const std::vector<double>&, const double*, const std::int16_t*,
                                   const std::vector<std::int64_t>&, RayCheck&);

void report(benchmark::State& state, const RayPhases& phases, double best, const RayWork& work,
            const RayCheck& check, double tolerance) {
  using benchmark::Counter;
  const double iterations = static_cast<double>(state.iterations());
  auto& counters = state.counters;
  counters["transfer_s"] = phases.transfer / iterations;
  counters["weights_s"] = phases.weights / iterations;
  counters["trace_s"] = phases.trace / iterations;
  counters["predecessors_s"] = phases.predecessors / iterations;
  counters["best_s"] = best;

  // Useful work: every edge of every vertex once per source. A relaxation is an addition and a
  // minimum.
  const double useful = work.vertices * work.sources * work.neighbours;
  counters["relaxations_per_s"] = useful * iterations / phases.total();
  counters["work_ratio"] = work.relaxations / (useful * iterations);
  counters["rounds"] = work.rounds / iterations;

  // Minimum traffic: the model is read once, traveltimes and predecessors are written once. With a
  // table each weight of the half star is written and read once.
  const double table =
      work.storage == rays::WeightStorage::stored ? work.neighbours * work.scalar_bytes : 0.0;
  const double bytes =
      work.vertices * (work.scalar_bytes + table + work.sources * (work.scalar_bytes + 2.0));
  const double flops = work.vertices * 2.0 * work.stencil_terms + 2.0 * useful;
  counters["bytes_per_relaxation"] = bytes / useful;
  counters["flops_per_relaxation"] = flops / useful;
  if (work.bandwidth > 0.0) {
    counters["copy_GBps"] = work.bandwidth * 1e-9;
    counters["floor_fraction"] = bytes / work.bandwidth * iterations / phases.compute();
  }

  counters["max_rel_diff"] = check.max_relative_difference;
  counters["mean_time_s"] = check.mean_time;
  counters["fragments"] = work.fragments / iterations;
  counters["exchanges"] = work.exchanges / iterations;
  constexpr const char* labels[] = {"", "stored", "on the fly", "by fragments"};
  state.SetLabel(concat("weights ", labels[static_cast<int>(work.storage)]));
  if (!(check.max_relative_difference <= tolerance)) {
    fail(state, concat("traveltimes differ from Dijkstra's by ", check.max_relative_difference,
                       " (allowed: ", tolerance, ")"));
  } else if (check.without_predecessor > 0) {
    fail(state, concat(check.without_predecessor, " vertices have no earlier predecessor"));
  }
}

}  // namespace moho::bench
