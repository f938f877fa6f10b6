// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench_eikonal/run.hpp"
#include "common/program.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/phases.hpp>
#include <moho/eikonal/eikonal.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace moho::bench {

namespace detail {

template <int Dim>
Grid<Dim> eikonal_grid(int n) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] = n;
    grid.spacing[d] = 10.0;
    grid.origin[d] = 0.0;
  }
  return grid;
}

template <class T, int Dim, class Memory>
eikonal::Model<T, Dim, Memory> eikonal_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                             const EikonalCase& what) {
  eikonal::Model<T, Dim, Memory> model;
  model.velocity = make_field<T>(exec, grid, "velocity");
  std::vector<T> values(static_cast<std::size_t>(grid.size()));
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const Index<Dim> node = grid.node(i);
    const double last = static_cast<double>(what.n - 1);
    values[static_cast<std::size_t>(i)] =
        static_cast<T>(eikonal_velocity(what.model, static_cast<double>(node[0]) / last,
                                        static_cast<double>(node[Dim - 1]) / last, i));
  }
  using List = Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  copy(exec, List(model.velocity.data(), values.size()),
       HostElements<const T>(values.data(), values.size()));
  if (what.anisotropic) {
    model.epsilon = make_field<T>(exec, grid, "epsilon");
    model.delta = make_field<T>(exec, grid, "delta");
    fill(exec, model.epsilon, T(0.2));
    fill(exec, model.delta, T(0.1));
  }
  exec.fence();
  return model;
}

template <int Dim>
Points<Dim> eikonal_source(const Grid<Dim>& grid) {
  Point<Dim> source = grid.origin;
  for (int d = 0; d + 1 < Dim; ++d) {
    source[d] = grid.spacing[d] * static_cast<double>(grid.extents[d] / 2);
  }
  return {source};
}

/// Largest grid, in nodes, whose times are compared with those of fast_marching(). Those of larger
/// grids are compared with those of the other parallel method.
inline constexpr std::int64_t max_marched = std::int64_t(1) << 26;

/// Returns the times to compare with, cached for the last case.
template <class T, int Dim, class Memory>
const std::vector<T>& eikonal_reference(const Instance<Memory>& exec, const EikonalCase& what) {
  static std::string kept;
  static std::vector<T> times;
  const auto grid = eikonal_grid<Dim>(what.n);
  const bool march = grid.size() <= max_marched;
  const std::string name =
      concat(to_string(what.model), what.n, "/", what.order, "/", what.anisotropic, "/",
             march ? "fast_marching" : to_string(what.method));
  if (kept == name) return times;
  const auto source = eikonal_source(grid);
  eikonal::Options options;
  options.order = what.order;
  if (march) {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    const auto model = eikonal_model<T>(host, grid, what);
    const auto field = make_field<T>(host, grid, "times");
    eikonal::fast_marching(host, grid, model, source, field, options);
    times.assign(field.data(), field.data() + field.size());
  } else {
    const bool tiles = what.method == eikonal::Method::active_tiles;
    options.method = tiles ? eikonal::Method::sweeping : eikonal::Method::active_tiles;
    const auto model = eikonal_model<T>(exec, grid, what);
    const auto field = make_field<T>(exec, grid, "times");
    eikonal::solve(exec, grid, model, source, field, options);
    times = download(exec, field);
  }
  kept = name;
  return times;
}

template <class T, int Dim, class Memory>
void time_eikonal(const Instance<Memory>& exec, benchmark::State& state, const EikonalCase& what) {
  const auto grid = eikonal_grid<Dim>(what.n);
  const auto source = eikonal_source(grid);
  const auto model = eikonal_model<T>(exec, grid, what);
  const auto times = make_field<T>(exec, grid, "times");
  eikonal::Options options;
  options.order = what.order;
  options.method = what.method;
  eikonal::Report report;
  const auto pass = [&] {
    const Stopwatch watch;
    if constexpr (is_host_memory<Memory>) {
      if (what.marching) {
        report = eikonal::fast_marching(exec, grid, model, source, times, options);
      }
    }
    if (!what.marching) report = eikonal::solve(exec, grid, model, source, times, options);
    exec.fence();
    return watch.seconds();
  };
  if (!what.marching) pass();  // loads code and touches memory; excluded from the time
  double best = infinity<double>();
  for (auto _ : state) {
    const double seconds = pass();
    state.SetIterationTime(seconds);
    best = std::min(best, seconds);
  }
  const std::vector<T>& reference = eikonal_reference<T, Dim>(exec, what);
  const std::vector<T> found = download(exec, times);
  double latest = 0.0, worst = 0.0, sum = 0.0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double t = static_cast<double>(found[i]);
    const double difference = std::abs(t - static_cast<double>(reference[i]));
    if (!(difference <= worst)) worst = difference;
    latest = std::max(latest, static_cast<double>(reference[i]));
    sum += t;
  }
  worst /= latest;
  const double nodes = static_cast<double>(grid.size());
  state.counters["best_s"] = best;
  state.counters["points_per_s"] = nodes / best;
  state.counters["updates_per_node"] = static_cast<double>(report.updates) / nodes;
  state.counters["rounds"] = static_cast<double>(report.rounds);
  state.counters["mean_time_s"] = sum / nodes;
  state.counters["max_rel_diff"] = worst;
  // Second order gives the same bits on hosts. Rounding differs on devices. In single precision
  // this changes the neighbours selected at some nodes of rough models.
  double allowed = what.single ? 1e-4 : 1e-12;
  if (what.order == 2) allowed = is_host_memory<Memory> ? 0.0 : what.single ? 2e-3 : 1e-12;
  if (!(worst <= allowed)) {
    fail(state,
         concat("times differ from the reference's by ", worst, " (allowed: ", allowed, ")"));
  }
}

}  // namespace detail

template <class Memory>
void time_eikonal(const Instance<Memory>& exec, benchmark::State& state, const EikonalCase& what) {
  if (what.dim == 2 && what.single) return detail::time_eikonal<float, 2>(exec, state, what);
  if (what.dim == 3 && what.single) return detail::time_eikonal<float, 3>(exec, state, what);
  if (what.dim == 2) return detail::time_eikonal<double, 2>(exec, state, what);
  return detail::time_eikonal<double, 3>(exec, state, what);
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_EIKONAL(Memory) \
  template void time_eikonal<Memory>(const Instance<Memory>&, benchmark::State&, const EikonalCase&)

}  // namespace moho::bench
