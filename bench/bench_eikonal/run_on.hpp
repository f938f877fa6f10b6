// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bench_eikonal/run.hpp"
#include "common/program.hpp"

#include <moho/eikonal/eikonal.hpp>

#include <algorithm>
#include <chrono>
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

template <class T, int Dim, class Exec>
eikonal::Model<T, Dim, MemoryOf<Exec>> eikonal_medium(const Exec& exec, const Grid<Dim>& grid,
                                                      const EikonalCase& what) {
  eikonal::Model<T, Dim, MemoryOf<Exec>> medium;
  medium.velocity = make_field<T>(exec, grid, "velocity");
  const auto host = Kokkos::create_mirror_view(medium.velocity);
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const Index<Dim> node = grid.node(i);
    const double last = static_cast<double>(what.n - 1);
    host.data()[i] =
        static_cast<T>(eikonal_velocity(what.model, static_cast<double>(node[0]) / last,
                                        static_cast<double>(node[Dim - 1]) / last, i));
  }
  Kokkos::deep_copy(exec, medium.velocity, host);
  if (what.anisotropic) {
    medium.epsilon = make_field<T>(exec, grid, "epsilon");
    medium.delta = make_field<T>(exec, grid, "delta");
    Kokkos::deep_copy(exec, medium.epsilon, T(0.2));
    Kokkos::deep_copy(exec, medium.delta, T(0.1));
  }
  exec.fence();
  return medium;
}

template <int Dim>
Points<Dim> eikonal_source(const Grid<Dim>& grid) {
  Point<Dim> source = grid.origin;
  for (int d = 0; d + 1 < Dim; ++d) {
    source[d] = grid.spacing[d] * static_cast<double>(grid.extents[d] / 2);
  }
  return {source};
}

/// Times of the sequential reference, kept for the last case.
template <class T, int Dim>
const std::vector<T>& eikonal_reference(const EikonalCase& what) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  static std::string kept;
  static std::vector<T> times;
  const std::string name =
      concat(to_string(what.model), what.n, "/", what.order, "/", what.anisotropic);
  if (kept == name) return times;
  const Host exec;
  const auto grid = eikonal_grid<Dim>(what.n);
  const auto medium = eikonal_medium<T>(exec, grid, what);
  const auto field = make_field<T>(exec, grid, "times");
  eikonal::fast_marching(exec, grid, medium, eikonal_source(grid), field, {.order = what.order});
  times.assign(field.data(), field.data() + field.size());
  kept = name;
  return times;
}

}  // namespace detail

template <class T, int Dim, class Exec>
void time_eikonal(benchmark::State& state, const EikonalCase& what) {
  const Exec exec;
  const auto grid = detail::eikonal_grid<Dim>(what.n);
  const auto source = detail::eikonal_source(grid);
  double best = infinity<double>(), total = 0.0, worst = 0.0, sum = 0.0;
  eikonal::Report report;
  try {
    const auto medium = detail::eikonal_medium<T>(exec, grid, what);
    const auto times = make_field<T>(exec, grid, "times");
    eikonal::Options options;
    options.order = what.order;
    options.method = what.method;
    const auto pass = [&] {
      if constexpr (is_host_space<Exec>) {
        if (what.marching) {
          report = eikonal::fast_marching(exec, grid, medium, source, times, options);
        }
      }
      if (!what.marching) {
        report = eikonal::solve(exec, grid, medium, source, times, options);
      }
      exec.fence();
    };
    if (!what.marching) pass();  // loads code and touches memory; does not count
    for (auto _ : state) {
      const auto start = std::chrono::steady_clock::now();
      pass();
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      state.SetIterationTime(seconds);
      best = std::min(best, seconds);
      total += seconds;
    }
    const std::vector<T>& reference = detail::eikonal_reference<T, Dim>(what);
    const auto host = Kokkos::create_mirror_view(times);
    Kokkos::deep_copy(host, times);
    double latest = 0.0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const double t = static_cast<double>(host.data()[i]);
      const double difference = std::abs(t - static_cast<double>(reference[i]));
      if (!(difference <= worst)) worst = difference;
      latest = std::max(latest, static_cast<double>(reference[i]));
      sum += t;
    }
    worst /= latest;
  } catch (const std::exception& error) {
    note_error();
    state.SkipWithError(error.what());
    return;
  }
  const double nodes = static_cast<double>(grid.size());
  state.counters["best_s"] = best;
  state.counters["points_per_s"] = nodes / best;
  state.counters["updates_per_node"] = static_cast<double>(report.updates) / nodes;
  state.counters["rounds"] = static_cast<double>(report.rounds);
  state.counters["mean_time_s"] = sum / nodes;
  state.counters["max_rel_diff"] = worst;
  // Second order on rough velocities has several nearby solutions: which one depends on the order
  // of visits.
  const double allowed = what.order == 2 ? 2e-3 : std::is_same_v<T, float> ? 1e-4 : 1e-12;
  if (!(worst <= allowed)) {
    note_error();
    state.SkipWithError(
        concat("times differ from fast marching's by ", worst, " (allowed: ", allowed, ")")
            .c_str());
  }
}

/// Compiles the benchmarks of one space.
#define MOHO_TIME_EIKONAL_ON(Exec)                                                           \
  template void moho::bench::time_eikonal<float, 2, Exec>(benchmark::State&,                 \
                                                          const moho::bench::EikonalCase&);  \
  template void moho::bench::time_eikonal<float, 3, Exec>(benchmark::State&,                 \
                                                          const moho::bench::EikonalCase&);  \
  template void moho::bench::time_eikonal<double, 2, Exec>(benchmark::State&,                \
                                                           const moho::bench::EikonalCase&); \
  template void moho::bench::time_eikonal<double, 3, Exec>(benchmark::State&,                \
                                                           const moho::bench::EikonalCase&)

}  // namespace moho::bench
