// SPDX-License-Identifier: BSD-3-Clause
//
// Sequential Dijkstra: the baseline of the parallel methods and the reference for their
// traveltimes.

#include "bench_rays/run.hpp"
#include "common/program.hpp"

#include <moho/core/phases.hpp>
#include <moho/rays/dijkstra.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace moho::bench {

namespace {

using Memory = Kokkos::HostSpace;

#ifdef KOKKOS_ENABLE_SERIAL
using Sequential = Kokkos::Serial;
#else
using Sequential = Kokkos::DefaultHostExecutionSpace;
#endif

/// Size, radius, weight rule and neighbourhood of a graph.
using GraphKey = std::tuple<int, int, rays::WeightRule, rays::Star>;
GraphKey key_of(const RayCase& what) { return {what.n, what.radius, what.rule, what.star}; }

/// Traveltimes of the last graph, by column of the source.
template <class T>
struct References {
  GraphKey graph{};
  std::map<int, std::vector<T>> times;
  void turn_to(const RayCase& what) {
    if (graph == key_of(what)) return;
    times.clear();
    graph = key_of(what);
  }
};

template <class T>
References<T>& references() {
  static References<T> cache;
  return cache;
}

/// A run of Dijkstra's algorithm with all memory allocated beforehand.
template <class T>
struct Run {
  std::vector<T> times;
  std::vector<std::int16_t> predecessors;
  std::vector<std::int64_t> step;
  RayPhases phases;
  RayWork work;

  Run(const RayCase& what, int column) {
    const int n = what.n;
    const Instance<Memory> exec = Sequential();
    const Grid<2> grid = model_grid(n);
    const auto velocity = make_field<T>(exec, grid, "moho::bench::velocity");
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) velocity(i, k) = static_cast<T>(model_velocity(k, n));
    }
    times.resize(static_cast<std::size_t>(grid.size()));
    predecessors.resize(times.size());

    // Fastest construction of Dijkstra's table, which is ordered by vertex: the graph's table is
    // computed by a kernel with vector loops, and read from there. Integration edge by edge takes
    // ten times as long.
    rays::GraphOptions options;
    options.radius = what.radius;
    options.star = what.star;
    options.rule = what.rule;
    options.storage = rays::WeightStorage::stored;
    Stopwatch watch;
    const rays::GridGraph<T, 2, Memory> graph(exec, grid, velocity, options);
    const rays::Dijkstra<T, 2> dijkstra(graph);
    phases.weights = watch.seconds();

    watch = Stopwatch();
    const auto& padded = graph.data().grid;
    std::vector<T> padded_times(static_cast<std::size_t>(padded.size), infinity<T>());
    std::vector<std::int16_t> padded_predecessors(padded_times.size(), rays::from_source);
    const std::int64_t seed = padded.at({column, 0});
    padded_times[static_cast<std::size_t>(seed)] = T(0);
    std::int64_t relaxations = 0;
    dijkstra.solve(padded_times.data(), padded_predecessors.data(), {seed}, relaxations);
    phases.trace = watch.seconds();

    watch = Stopwatch();
    for (int i = 0; i < n; ++i) {
      const std::int64_t row = padded.at({i, 0});
      std::copy_n(padded_times.data() + row, n, times.data() + std::ptrdiff_t(i) * n);
      std::copy_n(padded_predecessors.data() + row, n, predecessors.data() + std::ptrdiff_t(i) * n);
    }
    phases.predecessors = watch.seconds();

    for (int k = 0; k < graph.neighbours(); ++k) {
      step.push_back(std::int64_t(graph.neighbour(k)[0]) * n + graph.neighbour(k)[1]);
    }
    work.vertices = static_cast<double>(grid.size());
    work.neighbours = graph.neighbours();
    work.stencil_terms = static_cast<double>(graph.data().terms.extent(0));
    work.scalar_bytes = sizeof(T);
    work.relaxations = static_cast<double>(relaxations);
  }
};

}  // namespace

template <class T>
const std::vector<T>& reference_times(const RayCase& what, int column) {
  RayCase graph = what;
  // these weights give the same traveltimes in both neighbourhoods
  if (graph.rule == rays::WeightRule::slowness) graph.star = rays::Star::coprime;
  References<T>& cache = references<T>();
  cache.turn_to(graph);
  const auto found = cache.times.find(column);
  if (found != cache.times.end()) return found->second;
  Run<T> run(graph, column);
  return cache.times.emplace(column, std::move(run.times)).first->second;
}

template <class T>
void time_dijkstra(benchmark::State& state, const RayCase& what) {
  RayPhases sum;
  RayWork work;
  RayCheck check;
  double best = infinity<double>();
  double relaxations = 0.0;
  for (auto _ : state) {
    Run<T> run(what, 0);
    state.SetIterationTime(run.phases.total());
    sum.weights += run.phases.weights;
    sum.trace += run.phases.trace;
    sum.predecessors += run.phases.predecessors;
    best = std::min(best, run.phases.total());
    work = run.work;
    relaxations += run.work.relaxations;
    // The reference cannot be compared with itself. The check covers repeatability, and that rays
    // end.
    check_source(run.times, run.times.data(), run.predecessors.data(), run.step, check);
    References<T>& cache = references<T>();
    cache.turn_to(what);
    const auto known = cache.times.find(0);
    if (known == cache.times.end()) {
      cache.times.emplace(0, std::move(run.times));
    } else {
      check_source(known->second, run.times.data(), nullptr, run.step, check);
    }
  }
  work.relaxations = relaxations;
  report(state, sum, best, work, check);
}

template const std::vector<float>& reference_times<float>(const RayCase&, int);
template const std::vector<double>& reference_times<double>(const RayCase&, int);
template void time_dijkstra<float>(benchmark::State&, const RayCase&);
template void time_dijkstra<double>(benchmark::State&, const RayCase&);

}  // namespace moho::bench
