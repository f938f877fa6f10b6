// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The active-tile method: rounds over tiles with changes in their overlap, host or device.

#include <moho/rays/detail/active_tiles_device.hpp>
#include <moho/rays/detail/active_tiles_host.hpp>

#include <algorithm>
#include <functional>
#include <memory>
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

/// Sums the slowness over the graph's nodes, in seconds per grid unit.
template <class T, int Dim, class Memory>
struct MeanSlowness {
  GraphData<T, Dim, Memory> graph;
  Grid<Dim> grid;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    const Index<Dim> node = grid.node(graph.grid.first * graph.grid.plane() + i);
    const double value = static_cast<double>(graph.medium(graph.grid.at(node)));
    const bool slowness = graph.rule == WeightRule::slowness || graph.rule == WeightRule::cells;
    sum += slowness ? value : 1.0 / value;
  }
};

/// Returns the mean slowness of the graph's nodes in seconds per grid unit.
template <class T, int Dim, class Memory>
double mean_model_slowness(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph) {
  const std::int64_t nodes = graph.data().grid.template nodes<Memory>();
  const double sum = sum_of<double>("moho::rays::mean_slowness", exec, nodes,
                                    MeanSlowness<T, Dim, Memory>{graph.data(), graph.grid()});
  return sum / static_cast<double>(nodes);
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

/// Rounds done by a solver, and counters that its kernels accumulate.
struct RoundState {
  int round = 0;                  ///< number of the next round
  int counted = 0;                ///< fragments counted of the current half
  unsigned statistics[3] = {};    ///< counters at the last reading
  std::int64_t first_visits = 0;  ///< items visited at least once
};

/// Runs rounds over the active tiles until the list is empty or `checks` readings of its length are
/// done (-1: no limit). Returns true if the list is empty. `start_round(round, count)` starts one
/// round; `count` is the length of the list if known, otherwise -1. `weights` are those of the
/// kernel, whose blocks take turns between rounds. \param edges relaxations per counted one
template <class T, int Dim, class Memory, class Weights, class Round>
bool run_rounds(const Instance<Memory>& exec, const WorkList<T, Dim, Memory>& list,
                Weights& weights, int checks, std::int64_t edges, const Progress& progress,
                RoundState& state, TraceReport& report, const Round& start_round) {
  int counts[3] = {1, 0, 0};
  const double items = static_cast<double>(list.seen.extent(0));
  for (int check = 0; check != checks; ++check) {
    exec.check_stop();
    const unsigned before[3] = {state.statistics[0], state.statistics[1], state.statistics[2]};
    read_counters(exec, list.counts, counts);
    read_counters(exec, list.statistics, state.statistics);
    // differences stay correct when counters wrap
    report.tile_visits += state.statistics[0] - before[0];
    state.first_visits += state.statistics[1] - before[1];
    report.relaxations += edges * (state.statistics[2] - before[2]);
    if constexpr (!Weights::stored) report.fragments += weights.blocks.turn(exec, state.counted);
    if (counts[state.round % 3] == 0) return true;
    if (progress) {
      // tiles visited at least once; further visits may follow
      progress(0.99 * static_cast<double>(state.first_visits) / items, "relaxing active tiles");
    }
    for (int k = 0; k < TileTuning<Memory, Dim>::rounds_per_check; ++k) {
      start_round(state.round, k == 0 ? counts[state.round % 3] : -1);
      ++state.round;
      ++report.rounds;
    }
  }
  return false;
}

/// The rounds over one batch, with the kernel behind a function.
template <class T, int Dim, class Memory>
struct TileSolver {
  WorkList<T, Dim, Memory> list;
  std::shared_ptr<RoundState> state = std::make_shared<RoundState>();
  /// run_rounds(); the graph and the batch must exist
  std::function<bool(int checks, TraceReport& report)> run;
};

template <class FixedStar, class Vertex, class T, int Dim, class Memory, class Weights>
TileSolver<T, Dim, Memory> make_device_solver(const Instance<Memory>& exec,
                                              const GridGraph<T, Dim, Memory>& graph,
                                              const Weights& weights,
                                              const Batch<T, Dim, Memory>& batch,
                                              const TraceOptions& options) {
  using Kernel = RelaxTilesOnDevice<T, Dim, Memory, Weights, FixedStar, Vertex>;
  const auto shared = std::make_shared<Kernel>();
  Kernel& kernel = *shared;
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
  kernel.repeats = TileTuning<Memory, Dim>::repeats;
  if constexpr (Kernel::at_once) kernel.vertex.set(graph.coefficients());
  typename Kernel::Policy policy(exec.space(), league, Kernel::threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes()));
  TileSolver<T, Dim, Memory> solver;
  solver.list = kernel.list;
  const std::int64_t edges = static_cast<std::int64_t>(Kernel::width) * graph.neighbours();
  solver.run = [=, state = solver.state, progress = options.progress](int checks,
                                                                      TraceReport& report) {
    return run_rounds(exec, shared->list, shared->weights, checks, edges, progress, *state, report,
                      [&](int round, int) {
                        shared->round = round;
                        Kokkos::parallel_for("moho::rays::relax_tiles", light_weight(policy),
                                             *shared);
                      });
  };
  return solver;
}

template <class T, int Dim, class Weights>
TileSolver<T, Dim, Kokkos::HostSpace> make_host_solver(
    const Instance<Kokkos::HostSpace>& exec, const GridGraph<T, Dim, Kokkos::HostSpace>& graph,
    const Weights& weights, const Batch<T, Dim, Kokkos::HostSpace>& batch,
    const TraceOptions& options) {
  using Kernel = RelaxTilesOnHost<T, Dim, Weights>;
  using Tuning = TileTuning<Kokkos::HostSpace, Dim>;
  const std::shared_ptr<Kernel> kernel(new Kernel{
      HostTile<T, Dim, Weights>(exec, graph, weights),
      start_work_list(exec, graph.data(), batch, tile_delta(exec, graph, options)), batch.times,
      options.sweeps_per_visit > 0 ? options.sweeps_per_visit : Tuning::sweeps});
  TileSolver<T, Dim, Kokkos::HostSpace> solver;
  solver.list = kernel->list;
  const std::int64_t edges = static_cast<std::int64_t>(Kernel::width) * graph.neighbours();
  solver.run = [=, state = solver.state, progress = options.progress](int checks,
                                                                      TraceReport& report) {
    return run_rounds(exec, kernel->list, kernel->tile.weights, checks, edges, progress, *state,
                      report, [&](int round, int count) {
                        kernel->round = round;
                        launch_dynamic("moho::rays::relax_tiles", exec, count,
                                       RelaxEach<Kernel>{kernel.get()});
                      });
  };
  return solver;
}

/// Selects the kernel of the active-tile method for a batch.
template <class T, int Dim, class Memory, class Weights>
TileSolver<T, Dim, Memory> make_tile_solver(const Instance<Memory>& exec,
                                            const GridGraph<T, Dim, Memory>& graph,
                                            const Weights& weights,
                                            const Batch<T, Dim, Memory>& batch,
                                            const TraceOptions& options) {
  if constexpr (is_host_memory<Memory>) {
    return make_host_solver(exec, graph, weights, batch, options);
  } else {
    TileSolver<T, Dim, Memory> solver;
    if constexpr (Dim == 2) {
      with_fixed_star<T>(graph.radius(), graph.options().star, [&](auto star) {
        using Fixed = decltype(star);
        if constexpr (!Weights::stored) {
          using Vertex = VertexWeights<T, Fixed, tile_extent<Memory, Dim>(1)>;
          if (graph.options().rule == WeightRule::slowness && Vertex().set(graph.coefficients())) {
            solver = make_device_solver<Fixed, Vertex>(exec, graph, weights, batch, options);
            return;
          }
        }
        solver = make_device_solver<Fixed, NoVertexWeights>(exec, graph, weights, batch, options);
      });
    }
    if (!solver.run) {
      solver =
          make_device_solver<RuntimeStar, NoVertexWeights>(exec, graph, weights, batch, options);
    }
    return solver;
  }
}

}  // namespace moho::rays::detail
