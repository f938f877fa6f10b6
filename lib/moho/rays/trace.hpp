// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Traveltimes and predecessors from sources to every vertex.

#include <moho/rays/active_tiles_device.hpp>
#include <moho/rays/active_tiles_host.hpp>
#include <moho/rays/dijkstra.hpp>
#include <moho/rays/push.hpp>
#include <moho/rays/relaxation.hpp>

namespace moho::rays {

namespace detail {

/// Tuned numbers of the active-tile method (docs/performance/rays.md has the measurements).
template <class Exec, int Dim>
struct TileTuning {
  /// Most relaxations of a tile per visit.
  static constexpr int sweeps = is_host_space<Exec> ? 32 : 8;
  /// How far ahead of the earliest tile another may be visited, in tiles.
  static constexpr double tiles_ahead = is_host_space<Exec> ? 1.0 : 4.0;
  /// Relaxations of a vertex between two barriers, device.
  static constexpr int repeats = 2;
  /// Rounds launched before the host looks at the list's length.
  static constexpr int rounds_per_check = is_host_space<Exec> ? 1 : 16;
};

/// Places of the half star's offsets within a box.
template <class T, int Dim, class Exec>
Kokkos::View<int*, typename Exec::memory_space> box_steps(const Exec& exec,
                                                          const GridGraph<T, Dim, Exec>& graph,
                                                          const TileBox<Dim>& box) {
  const auto steps = allocate<Kokkos::View<int*, typename Exec::memory_space>>(
      exec, "moho::rays::tile_step", graph.star().size());
  auto host = Kokkos::create_mirror_view(steps);
  for (std::size_t e = 0; e < graph.star().size(); ++e) {
    host(e) = 0;
    for (int d = 0; d < Dim; ++d) host(e) += graph.star()[e][d] * box.stride(d);
  }
  Kokkos::deep_copy(exec, steps, host);
  exec.fence();
  return steps;
}

/// Sums the slowness of the model.
template <class T, int Dim, class Exec>
struct MeanSlowness {
  GraphData<T, Dim, Exec> graph;
  Grid<Dim> grid;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    const double value = static_cast<double>(graph.medium(graph.grid.at(grid.node(i))));
    const bool slowness = graph.rule == WeightRule::slowness || graph.rule == WeightRule::cells;
    sum += slowness ? value : 1.0 / value;
  }
};

/// Mean slowness of the model.
template <class T, int Dim, class Exec>
double mean_model_slowness(const Exec& exec, const GridGraph<T, Dim, Exec>& graph) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "moho::rays::mean_slowness",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, graph.grid().size()),
      MeanSlowness<T, Dim, Exec>{graph.data(), graph.grid()}, Kokkos::Sum<double>(sum));
  exec.fence();
  return sum / static_cast<double>(graph.grid().size());
}

/// How far ahead of the earliest active tile another may be visited: about the time that the wave
/// takes through `tiles_ahead` tiles.
template <class T, int Dim, class Exec>
T tile_delta(const Exec& exec, const GridGraph<T, Dim, Exec>& graph, const TraceOptions& options) {
  double across = infinity<double>();
  for (int d = 0; d < Dim; ++d) {
    across = std::min(across, graph.grid().spacing[d] * tile_extent<Exec, Dim>(d));
  }
  const double tiles =
      options.tiles_ahead > 0.0 ? options.tiles_ahead : TileTuning<Exec, Dim>::tiles_ahead;
  return static_cast<T>(tiles * across * mean_model_slowness(exec, graph));
}

/// Runs rounds over the active tiles until the list is empty. `launch(round, count)` starts one
/// round; `count` is the length of the list where it is known, and -1 otherwise.
template <class T, int Dim, class Exec, class Launch>
void run_rounds(const Exec& exec, const WorkList<T, Dim, Exec>& list, const TraceOptions& options,
                TraceReport& report, const Launch& launch) {
  int counts[3] = {1, 0, 0};
  unsigned statistics[3] = {};
  std::int64_t visits = 0, first_visits = 0, relaxations = 0;
  const auto accumulate = [&](const unsigned(&before)[3]) {  // the counters may have wrapped
    visits += statistics[0] - before[0];
    first_visits += statistics[1] - before[1];
    relaxations += statistics[2] - before[2];
  };
  const Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(counts,
                                                                                            3);
  const Kokkos::View<unsigned*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      host_statistics(statistics, 3);
  const double items = static_cast<double>(list.seen.extent(0));
  int round = 0;
  while (true) {
    const unsigned before[3] = {statistics[0], statistics[1], statistics[2]};
    Kokkos::deep_copy(exec, host, list.counts);
    Kokkos::deep_copy(exec, host_statistics, list.statistics);
    exec.fence();
    accumulate(before);
    if (counts[round % 3] == 0) break;
    if (options.progress) {
      // tiles reached for the first time; visits for better news may still follow
      options.progress(0.99 * static_cast<double>(first_visits) / items, "relaxing active tiles");
    }
    for (int k = 0; k < TileTuning<Exec, Dim>::rounds_per_check; ++k, ++round) {
      launch(round, k == 0 ? counts[round % 3] : -1);
    }
  }
  report.rounds += round;
  report.tile_visits += visits;
  report.relaxations += relaxations;  // of rows or tiles; the caller scales
}

template <class FixedStar, class T, int Dim, class Exec, class Weights>
void solve_active_tiles_device(const Exec& exec, const GridGraph<T, Dim, Exec>& graph,
                               const Weights& weights, const Batch<T, Dim, Exec>& batch,
                               const TraceOptions& options, TraceReport& report) {
  using Kernel = RelaxTilesOnDevice<T, Dim, Exec, Weights, FixedStar>;
  Kernel kernel;
  kernel.weights = weights;
  kernel.list = start_work_list(exec, graph.data(), batch, tile_delta(exec, graph, options));
  kernel.times = batch.times;
  for (int d = 0; d < Dim; ++d) {
    kernel.box.extents[d] = tile_extent<Exec, Dim>(d) + 2 * graph.radius();
  }
  kernel.tile_step = box_steps(exec, graph, kernel.box);
  kernel.sweeps =
      options.sweeps_per_visit > 0 ? options.sweeps_per_visit : TileTuning<Exec, Dim>::sweeps;
  const std::int64_t capacity = static_cast<std::int64_t>(kernel.list.seen.extent(0));
  const int league = static_cast<int>(std::min<std::int64_t>(
      capacity, std::max(1, static_cast<int>(exec.concurrency()) / Kernel::threads)));
  typename Kernel::Policy policy(exec, league, Kernel::threads);
  kernel.repeats = TileTuning<Exec, Dim>::repeats;
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

template <class T, int Dim, class Exec, class Weights>
void solve_active_tiles_host(const Exec& exec, const GridGraph<T, Dim, Exec>& graph,
                             const Weights& weights, const Batch<T, Dim, Exec>& batch,
                             const TraceOptions& options, TraceReport& report) {
  using Kernel = RelaxTilesOnHost<T, Dim, Exec, Weights>;
  Kernel kernel;
  kernel.tile = make_host_tile(exec, graph, weights);
  kernel.list = start_work_list(exec, graph.data(), batch, tile_delta(exec, graph, options));
  kernel.times = batch.times;
  kernel.sweeps =
      options.sweeps_per_visit > 0 ? options.sweeps_per_visit : TileTuning<Exec, Dim>::sweeps;
  TraceReport rounds;
  run_rounds(exec, kernel.list, options, rounds, [&](int round, int count) {
    kernel.round = round;
    typename Kernel::Policy policy(exec, count, 1);
    policy.set_scratch_size(1, Kokkos::PerTeam(kernel.tile.scratch_bytes()));
    Kokkos::parallel_for("moho::rays::relax_tiles", policy, kernel);
  });
  report.rounds += rounds.rounds;
  report.tile_visits += rounds.tile_visits;
  report.relaxations += rounds.relaxations * Kernel::width * graph.neighbours();
}

/// Chooses the kernel of the active-tile method.
template <class T, int Dim, class Exec, class Weights>
void solve_active_tiles(const Exec& exec, const GridGraph<T, Dim, Exec>& graph,
                        const Weights& weights, const Batch<T, Dim, Exec>& batch,
                        const TraceOptions& options, TraceReport& report) {
  if constexpr (is_host_space<Exec>) {
    solve_active_tiles_host(exec, graph, weights, batch, options, report);
  } else {
    bool done = false;
    if constexpr (Dim == 2) {
      // weights of a vertex in registers: up to 96 words
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

/// Copies traveltimes off the padded grid.
template <class T, int Dim, class Exec>
struct CopyTimes {
  PaddedGrid<Dim> padded;
  Grid<Dim> grid;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> times;
  T* out;
  /// What one call copies: a row on a host, a vertex on a device, so that both see contiguous
  /// accesses.
  std::int64_t chunk() const { return is_host_space<Exec> ? grid.extents[Dim - 1] : 1; }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t n = is_host_space<Exec> ? grid.extents[Dim - 1] : 1;
    const std::int64_t source = i * n / grid.size();
    const T* const from = &times(source, padded.at(grid.node(i * n % grid.size())));
    for (std::int64_t k = 0; k < n; ++k) out[i * n + k] = from[k];
  }
};

/// Copies predecessors off the padded grid; an unreached vertex has none.
template <class T, int Dim, class Exec>
struct CopyPredecessors {
  PaddedGrid<Dim> padded;
  Grid<Dim> grid;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> times;
  Kokkos::View<std::int16_t**, Kokkos::LayoutRight, typename Exec::memory_space> predecessors;
  std::int16_t* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t source = i / grid.size();
    const std::int64_t place = padded.at(grid.node(i % grid.size()));
    out[i] = times(source, place) < infinity<T>() ? predecessors(source, place) : unreached;
  }
};

/// Predecessors from converged traveltimes, vertex by vertex: the best neighbour that is strictly
/// earlier, so that every chain of predecessors ends.
template <class T, int Dim, class Exec, class Weights>
struct FindPredecessors {
  Weights weights;
  Grid<Dim> grid;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> times;
  std::int16_t* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const auto& graph = weights.graph;
    const std::int64_t source = i / grid.size();
    const std::int64_t place = graph.grid.at(grid.node(i % grid.size()));
    const T* const time = &times(source, place);
    const T own = *time;
    T best = infinity<T>();
    int direction = unreached;
    for (int e = 0; e < graph.half; ++e) {
      const std::int64_t offset = graph.offset(e);
      const T forward = time[offset];
      if (forward < own) {
        const T candidate = forward + weights(e, place);
        if (candidate < best) {
          best = candidate;
          direction = e;
        }
      }
      const T backward = time[-offset];
      if (backward < own) {
        const T candidate = backward + weights(e, place - offset);
        if (candidate < best) {
          best = candidate;
          direction = graph.half + e;
        }
      }
    }
    out[i] = static_cast<std::int16_t>(direction);
  }
};

/// Vertices whose time is still that of their seed come straight from the source.
template <class T, int Dim, class Exec>
struct MarkSeeds {
  PaddedGrid<Dim> padded;
  Grid<Dim> grid;
  Kokkos::View<Seed<T, Dim>*, typename Exec::memory_space> seeds;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> times;
  std::int16_t* out;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    const Seed<T, Dim> seed = seeds(i);
    if (times(seed.source, seed.place) < seed.time) return;
    out[seed.source * grid.size() + grid.flat(padded.node(seed.place))] = from_source;
  }
};

/// Counts vertices that have a time but no predecessor.
template <class T, class Exec>
struct CountLost {
  const T* times;
  const std::int16_t* predecessors;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& lost) const {
    if (times[i] < infinity<T>() && predecessors[i] == unreached) ++lost;
  }
};

/// Dijkstra's algorithm for every source of a batch, one after the other.
template <class T, int Dim, class Exec>
Kokkos::View<std::int16_t**, Kokkos::LayoutRight, typename Exec::memory_space> solve_dijkstra(
    const Exec& exec, const GridGraph<T, Dim, Exec>& graph, const Batch<T, Dim, Exec>& batch,
    TraceReport& report) {
  using Predecessors =
      Kokkos::View<std::int16_t**, Kokkos::LayoutRight, typename Exec::memory_space>;
  auto predecessors = allocate<Predecessors>(exec, "moho::rays::predecessors",
                                             batch.times.extent(0), batch.times.extent(1));
  Kokkos::deep_copy(exec, predecessors, from_source);
  exec.fence();
  const Dijkstra<T, Dim, Exec> dijkstra(graph);
  std::vector<std::vector<std::int64_t>> seeds(batch.times.extent(0));
  for (std::size_t i = 0; i < batch.seeds.extent(0); ++i) {
    seeds[static_cast<std::size_t>(batch.seeds(i).source)].push_back(batch.seeds(i).place);
  }
  for (std::size_t s = 0; s < seeds.size(); ++s) {
    dijkstra.solve(&batch.times(s, 0), &predecessors(s, 0), seeds[s], report.relaxations);
  }
  return predecessors;
}

/// Bytes that a method needs for each source beside the outputs.
template <class T, int Dim, class Exec>
std::size_t bytes_per_source(const GridGraph<T, Dim, Exec>& graph, Method method) {
  const std::size_t places = static_cast<std::size_t>(graph.data().grid.size);
  const std::size_t tiles = static_cast<std::size_t>(graph.data().grid.tile_count());
  switch (method) {
    case Method::active_tiles:
      return places * sizeof(T) + tiles * (4 * sizeof(int) + 2 * sizeof(T) + 1);
    case Method::relaxation:
      return places * (2 * sizeof(T) + 2 * sizeof(std::int16_t));
    case Method::push:
      return places * (2 * sizeof(T) + sizeof(int));
    case Method::near_far:
      return places * (2 * sizeof(T) + sizeof(int) + 4 * sizeof(std::int64_t));
    case Method::dijkstra:
      return places * (sizeof(T) + sizeof(std::int16_t));
  }
  return places * sizeof(T);
}

/// How many sources are solved at a time: all, unless memory is short.
template <class T, int Dim, class Exec>
std::size_t sources_per_batch(const Exec& exec, const GridGraph<T, Dim, Exec>& graph,
                              std::size_t sources, const TraceOptions& options) {
  const std::size_t each = bytes_per_source(graph, options.method);
  std::size_t room = graph.solver_budget();
  const bool given = graph.options().memory_budget > 0;
  if (!given) room = std::min(room, available_memory(exec) / 20 * 19);
  // items of the work lists are counted in 32 bits
  const std::size_t items = static_cast<std::size_t>(
      options.method == Method::near_far ? graph.data().grid.size : graph.data().grid.tile_count());
  const std::size_t most = (std::size_t(1) << 31) / (items + 1);
  const std::size_t fits = room / each;
  if (fits == 0 || most == 0) {
    throw MemoryError(concat("memory: one source needs ", format_bytes(static_cast<double>(each)),
                             " with the method ", to_string(options.method), " (",
                             format_bytes(static_cast<double>(room)), " of the ",
                             given ? "budget" : "free memory",
                             " are left): raise the budget, compute weights on the fly, or use the "
                             "method active_tiles"));
  }
  return std::min({sources, fits, most});
}

/// Solves one batch with weights from one place, and writes its share of the outputs.
template <class T, int Dim, class Exec, class Weights>
void solve_batch(const Exec& exec, const GridGraph<T, Dim, Exec>& graph, const Weights& weights,
                 const Batch<T, Dim, Exec>& batch, T* times, std::int16_t* predecessors,
                 const TraceOptions& options, TraceReport& report) {
  using Wide = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  const Grid<Dim>& grid = graph.grid();
  const std::int64_t outputs = grid.size() * batch.sources;
  Kokkos::View<std::int16_t**, Kokkos::LayoutRight, typename Exec::memory_space>
      padded_predecessors;
  {
    const ScopedPhase<Exec> phase(exec, report.times, "rays::trace");
    switch (options.method) {
      case Method::active_tiles:
        solve_active_tiles(exec, graph, weights, batch, options, report);
        break;
      case Method::relaxation:
        padded_predecessors = solve_relaxation(exec, weights, batch, options, report);
        break;
      case Method::push:
        solve_push(exec, weights, batch, options, report);
        break;
      case Method::near_far: {
        // thresholds a few edges apart: enough work a step, little of it in vain
        double spacing = 0.0;
        for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, grid.spacing[d]);
        const double slowness = mean_model_slowness(exec, graph);
        solve_near_far(exec, weights, batch,
                       static_cast<T>(4.0 * graph.radius() * spacing * slowness), options, report);
        break;
      }
      case Method::dijkstra:
        if constexpr (is_host_space<Exec>) {
          padded_predecessors = solve_dijkstra(exec, graph, batch, report);
        }
        break;
    }
    const CopyTimes<T, Dim, Exec> copy{graph.data().grid, grid, batch.times, times};
    Kokkos::parallel_for("moho::rays::copy_times", Wide(exec, 0, outputs / copy.chunk()), copy);
  }
  if (!predecessors) return;
  const ScopedPhase<Exec> phase(exec, report.times, "rays::predecessors");
  if (padded_predecessors.size() > 0) {
    const CopyPredecessors<T, Dim, Exec> copy{graph.data().grid, grid, batch.times,
                                              padded_predecessors, predecessors};
    Kokkos::parallel_for("moho::rays::copy_predecessors", Wide(exec, 0, outputs), copy);
    return;
  }
  if constexpr (is_host_space<Exec>) {
    using Find = FindPredecessorsOnHost<T, Dim, Exec, Weights>;
    const Find find{make_host_tile(exec, graph, weights), batch.times, batch.sources, predecessors};
    typename Find::Policy policy(exec, static_cast<int>(graph.data().grid.tile_count()), 1);
    policy.set_scratch_size(1, Kokkos::PerTeam(find.tile.scratch_bytes()));
    Kokkos::parallel_for("moho::rays::find_predecessors", policy, find);
  } else {
    const FindPredecessors<T, Dim, Exec, Weights> find{weights, grid, batch.times, predecessors};
    Kokkos::parallel_for("moho::rays::find_predecessors", Wide(exec, 0, outputs), find);
  }
  const MarkSeeds<T, Dim, Exec> mark{graph.data().grid, grid, batch.seeds, batch.times,
                                     predecessors};
  Kokkos::parallel_for("moho::rays::mark_seeds",
                       Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(batch.seeds.extent(0))),
                       mark);
  std::int64_t lost = 0;
  Kokkos::parallel_reduce("moho::rays::count_lost", Wide(exec, 0, outputs),
                          CountLost<T, Exec>{times, predecessors}, Kokkos::Sum<std::int64_t>(lost));
  exec.fence();
  if (lost > 0) {
    throw Error(
        concat("predecessors: ", lost,
               " vertices are as late as all their neighbours (an edge weighs less than the "
               "rounding of the traveltime): use double precision, or a smaller contrast"));
  }
}

}  // namespace detail

/// First-arrival traveltimes, and the directions of predecessors, from each source to every vertex.
///
/// The sources of a batch are solved together; there is more than one batch only if memory is
/// short. A source between nodes is joined to all nodes within the radius by straight segments.
///
/// \param exec all work goes to this instance; the function returns when it is done
/// \param graph the model
/// \param sources positions in the grid's units
/// \param times out, sources x shape of the grid, seconds; infinite where no path leads
/// \param predecessors out, the same shape, directions for GridGraph::neighbour(), from_source or
///        unreached; a default-constructed view if they are not wanted
/// \param options method and progress
/// \throws InputError a source outside the model, none at all, an output of the wrong shape, or
///         Method::dijkstra on a device
/// \throws MemoryError not even one source fits
template <class T, int Dim, class Exec>
TraceReport trace(const Exec& exec, const GridGraph<T, Dim, Exec>& graph,
                  const Points<Dim>& sources, const FieldPerSource<T, Dim, Exec>& times,
                  const FieldPerSource<std::int16_t, Dim, Exec>& predecessors,
                  const TraceOptions& options = {}) {
  if (sources.empty())
    throw InputError("sources: there are none (allowed: one or more): give a source");
  check_positions(graph.grid(), sources, "source");
  const std::int64_t count = static_cast<std::int64_t>(sources.size());
  check_shape(graph.grid(), times, "times", count);
  const bool wanted = predecessors.size() > 0;
  if (wanted) check_shape(graph.grid(), predecessors, "predecessors", count);
  if (options.method == Method::dijkstra && !is_host_space<Exec>) {
    throw InputError(
        "method 'dijkstra' runs on the host alone (allowed on a device: active_tiles, relaxation, "
        "push, "
        "near_far): choose another method, or the space serial or openmp");
  }

  TraceReport report;
  const std::size_t batch_size = detail::sources_per_batch(exec, graph, sources.size(), options);
  report.batches = static_cast<std::int64_t>((sources.size() + batch_size - 1) / batch_size);
  for (std::size_t begin = 0; begin < sources.size(); begin += batch_size) {
    const std::size_t end = std::min(sources.size(), begin + batch_size);
    const double share = static_cast<double>(end - begin) / static_cast<double>(sources.size());
    const double before = static_cast<double>(begin) / static_cast<double>(sources.size());
    TraceOptions batch_options = options;
    if (options.progress) {
      batch_options.progress = [&](double fraction, const std::string& what) {
        options.progress(before + share * fraction, what);
      };
    }
    const auto batch = detail::start_batch(exec, graph, sources, begin, end);
    const std::int64_t offset = static_cast<std::int64_t>(begin) * graph.grid().size();
    T* const batch_times = times.data() + offset;
    std::int16_t* const batch_predecessors = wanted ? predecessors.data() + offset : nullptr;
    if (graph.storage() == WeightStorage::stored) {
      const detail::StoredWeights<T, Dim, Exec> weights{graph.data()};
      detail::solve_batch(exec, graph, weights, batch, batch_times, batch_predecessors,
                          batch_options, report);
    } else {
      const detail::ComputedWeights<T, Dim, Exec> weights{graph.data()};
      detail::solve_batch(exec, graph, weights, batch, batch_times, batch_predecessors,
                          batch_options, report);
    }
  }
  if (options.progress) options.progress(1.0, "done");
  return report;
}

}  // namespace moho::rays
