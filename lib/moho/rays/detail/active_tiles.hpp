// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The active-tile method: rounds over tiles with changes in their overlap, host or device.

#include <moho/rays/detail/active_tiles_device.hpp>
#include <moho/rays/detail/active_tiles_host.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace moho::rays::detail {

/// Tuning parameters of the active-tile method; docs/performance/rays.md has the measurements.
template <class Memory, int Dim>
struct TileTuning {
  /// Largest number of relaxations of a tile per visit.
  static constexpr int sweeps = is_host_memory<Memory> ? 32 : 8;
  /// Time window of the visited tiles after the earliest active tile, in tiles.
  static constexpr double tiles_ahead = is_host_memory<Memory> ? 1.0 : 4.0;
  /// Relaxations of a vertex between two barriers on a device.
  static constexpr int repeats = 2;
  /// Rounds launched before the host reads the length of the list.
  static constexpr int rounds_per_check = is_host_memory<Memory> ? 1 : 16;
};

/// Indices of the half star's offsets within a box.
template <class T, int Dim, class Memory>
Kokkos::View<int*, Memory> box_steps(const Instance<Memory>& exec,
                                     const GridGraph<T, Dim, Memory>& graph,
                                     const TileBox<Dim>& box) {
  std::vector<int> steps;
  for (const auto& offset : graph.star()) {
    int step = 0;
    for (int d = 0; d < Dim; ++d) step += offset[d] * box.stride(d);
    steps.push_back(step);
  }
  return upload(exec, steps, "moho::rays::tile_step");
}

/// Sums the slowness over the model's nodes, in seconds per grid unit.
template <class T, int Dim, class Memory>
struct MeanSlowness {
  GraphData<T, Dim, Memory> graph;
  Grid<Dim> grid;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    const double value = static_cast<double>(graph.medium(graph.grid.at(grid.node(i))));
    const bool slowness = graph.rule == WeightRule::slowness || graph.rule == WeightRule::cells;
    sum += slowness ? value : 1.0 / value;
  }
};

/// Returns the mean slowness of the model in seconds per grid unit.
template <class T, int Dim, class Memory>
double mean_model_slowness(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph) {
  const double sum = sum_of<double>("moho::rays::mean_slowness", exec, graph.grid().size(),
                                    MeanSlowness<T, Dim, Memory>{graph.data(), graph.grid()});
  return sum / static_cast<double>(graph.grid().size());
}

/// Returns the time window of a round: active tiles later than the earliest by more than it wait.
/// The window is about the traveltime of the wave through `tiles_ahead` tiles.
template <class T, int Dim, class Memory>
T tile_delta(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
             const TraceOptions& options) {
  double across = infinity<double>();
  for (int d = 0; d < Dim; ++d) {
    across = std::min(across, graph.grid().spacing[d] * tile_extent<Memory, Dim>(d));
  }
  const double tiles =
      options.tiles_ahead > 0.0 ? options.tiles_ahead : TileTuning<Memory, Dim>::tiles_ahead;
  return static_cast<T>(tiles * across * mean_model_slowness(exec, graph));
}

/// Runs rounds over the active tiles until the list is empty. `start_round(round, count)` starts
/// one round; `count` is the length of the list if known, otherwise -1.
template <class T, int Dim, class Memory, class Round>
void run_rounds(const Instance<Memory>& exec, const WorkList<T, Dim, Memory>& list,
                const TraceOptions& options, TraceReport& report, const Round& start_round) {
  int counts[3] = {1, 0, 0};
  unsigned statistics[3] = {};
  std::int64_t visits = 0, first_visits = 0, relaxations = 0;
  // differences stay correct when counters wrap
  const auto accumulate = [&](const unsigned(&before)[3]) {
    visits += statistics[0] - before[0];
    first_visits += statistics[1] - before[1];
    relaxations += statistics[2] - before[2];
  };
  const double items = static_cast<double>(list.seen.extent(0));
  int round = 0;
  while (true) {
    const unsigned before[3] = {statistics[0], statistics[1], statistics[2]};
    read_counters(exec, list.counts, counts);
    read_counters(exec, list.statistics, statistics);
    accumulate(before);
    if (counts[round % 3] == 0) break;
    if (options.progress) {
      // tiles visited at least once; further visits may follow
      options.progress(0.99 * static_cast<double>(first_visits) / items, "relaxing active tiles");
    }
    for (int k = 0; k < TileTuning<Memory, Dim>::rounds_per_check; ++k, ++round) {
      start_round(round, k == 0 ? counts[round % 3] : -1);
    }
  }
  report.rounds += round;
  report.tile_visits += visits;
  report.relaxations += relaxations;  // counted in rows or tiles; the caller scales
}

template <class FixedStar, class T, int Dim, class Memory, class Weights>
void solve_active_tiles_device(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
                               const Weights& weights, const Batch<T, Dim, Memory>& batch,
                               const TraceOptions& options, TraceReport& report) {
  using Kernel = RelaxTilesOnDevice<T, Dim, Memory, Weights, FixedStar>;
  Kernel kernel;
  kernel.weights = weights;
  kernel.list = start_work_list(exec, graph.data(), batch, tile_delta(exec, graph, options));
  kernel.times = batch.times;
  for (int d = 0; d < Dim; ++d) {
    kernel.box.extents[d] = tile_extent<Memory, Dim>(d) + 2 * graph.radius();
  }
  kernel.tile_step = box_steps(exec, graph, kernel.box);
  kernel.sweeps =
      options.sweeps_per_visit > 0 ? options.sweeps_per_visit : TileTuning<Memory, Dim>::sweeps;
  const std::int64_t capacity = static_cast<std::int64_t>(kernel.list.seen.extent(0));
  const int league = static_cast<int>(
      std::min<std::int64_t>(capacity, std::max(1, exec.concurrency() / Kernel::threads)));
  typename Kernel::Policy policy(exec.space(), league, Kernel::threads);
  kernel.repeats = TileTuning<Memory, Dim>::repeats;
  policy.set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes()));
  TraceReport rounds;
  run_rounds(exec, kernel.list, options, rounds, [&](int round, int) {
    kernel.round = round;
    Kokkos::parallel_for("moho::rays::relax_tiles", light_weight(policy), kernel);
  });
  report.rounds += rounds.rounds;
  report.tile_visits += rounds.tile_visits;
  report.relaxations += rounds.relaxations * Kernel::width * graph.neighbours();
}

template <class T, int Dim, class Weights>
void solve_active_tiles_host(const Instance<Kokkos::HostSpace>& exec,
                             const GridGraph<T, Dim, Kokkos::HostSpace>& graph,
                             const Weights& weights, const Batch<T, Dim, Kokkos::HostSpace>& batch,
                             const TraceOptions& options, TraceReport& report) {
  using Kernel = RelaxTilesOnHost<T, Dim, Weights>;
  using Tuning = TileTuning<Kokkos::HostSpace, Dim>;
  Kernel kernel{HostTile<T, Dim, Weights>(exec, graph, weights),
                start_work_list(exec, graph.data(), batch, tile_delta(exec, graph, options)),
                batch.times,
                options.sweeps_per_visit > 0 ? options.sweeps_per_visit : Tuning::sweeps};
  TraceReport rounds;
  run_rounds(exec, kernel.list, options, rounds, [&](int round, int count) {
    kernel.round = round;
    launch_dynamic("moho::rays::relax_tiles", exec, count, RelaxEach<Kernel>{&kernel});
  });
  report.rounds += rounds.rounds;
  report.tile_visits += rounds.tile_visits;
  report.relaxations += rounds.relaxations * Kernel::width * graph.neighbours();
}

/// Selects the kernel of the active-tile method and solves a batch.
template <class T, int Dim, class Memory, class Weights>
void solve_active_tiles(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
                        const Weights& weights, const Batch<T, Dim, Memory>& batch,
                        const TraceOptions& options, TraceReport& report) {
  if constexpr (is_host_memory<Memory>) {
    solve_active_tiles_host(exec, graph, weights, batch, options, report);
  } else {
    bool done = false;
    if constexpr (Dim == 2) {
      // keep the weights of a vertex in registers: up to 96 words
      auto attempt = [&](auto radius, auto full) {
        using Fixed = StaticStar<2, decltype(radius)::value, decltype(full)::value>;
        if constexpr (2 * Fixed::half * sizeof(T) <= 96 * 4) {
          const Star star = Fixed::full ? Star::full : Star::coprime;
          if (graph.radius() == Fixed::radius && graph.options().star == star) {
            solve_active_tiles_device<Fixed>(exec, graph, weights, batch, options, report);
            done = true;
          }
        }
      };
      auto attempt_both = [&](auto radius) {
        attempt(radius, std::false_type());
        attempt(radius, std::true_type());
      };
      attempt_both(std::integral_constant<int, 1>());
      attempt_both(std::integral_constant<int, 2>());
      attempt_both(std::integral_constant<int, 3>());
      attempt_both(std::integral_constant<int, 4>());
      attempt(std::integral_constant<int, 5>(), std::false_type());
      attempt(std::integral_constant<int, 6>(), std::false_type());
    }
    if (!done) {
      solve_active_tiles_device<RuntimeStar>(exec, graph, weights, batch, options, report);
    }
  }
}

}  // namespace moho::rays::detail
