// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Traveltimes and predecessors from sources to every vertex.

#include <moho/core/instances.hpp>
#include <moho/rays/detail/active_tiles.hpp>
#include <moho/rays/detail/launch_parts.hpp>
#include <moho/rays/detail/predecessors_device.hpp>
#include <moho/rays/detail/push.hpp>
#include <moho/rays/detail/relaxation.hpp>
#include <moho/rays/dijkstra.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace moho::rays {

/// Computes first-arrival traveltimes and predecessors from each source to every vertex.
///
/// The sources of a batch are solved together; more than one batch is needed only if memory is
/// short. A source between nodes is joined to all nodes within the radius by straight segments.
///
/// \param exec all work is submitted to this instance; the function returns when it is complete
/// \param graph the model
/// \param sources positions in the grid's units, at least one
/// \param times out, sources x shape of the grid, seconds; infinite at unreached vertices
/// \param predecessors out, sources x shape of the grid: directions for GridGraph::neighbour(),
///         from_source or unreached; a default-constructed view disables this output
/// \param options method and progress
/// \throws InputError a source outside the model, no source, an output of the wrong shape, or
///         Method::dijkstra on a device
/// \throws MemoryError a single source does not fit the memory
/// \throws Stopped after a round or a part of one, or a source of Method::dijkstra, see StopFlag
template <class T, int Dim, class Memory>
TraceReport trace(const InstanceOf<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
                  const Points<Dim>& sources, const FieldPerSource<T, Dim, Memory>& times,
                  const FieldPerSource<std::int16_t, Dim, Memory>& predecessors,
                  const TraceOptions& options = {});

namespace detail {

/// Copies traveltimes from the padded grid to the output.
template <class T, int Dim, class Memory>
struct CopyTimes {
  PaddedGrid<Dim> padded;
  Grid<Dim> grid;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  T* out;
  /// Vertices per call: a row on a host, one on a device; both give contiguous accesses.
  std::int64_t chunk() const { return is_host_memory<Memory> ? grid.extents[Dim - 1] : 1; }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t n = is_host_memory<Memory> ? grid.extents[Dim - 1] : 1;
    const std::int64_t nodes = padded.template nodes<Memory>();
    const std::int64_t source = i * n / nodes;
    const std::int64_t node = padded.first * padded.plane() + i * n % nodes;
    const T* const from = &times(source, padded.at(grid.node(node)));
    for (std::int64_t k = 0; k < n; ++k) out[i * n + k] = from[k];
  }
};

/// Copies predecessors from the padded grid to the output; writes `unreached` where no path leads.
template <class T, int Dim, class Memory>
struct CopyPredecessors {
  PaddedGrid<Dim> padded;
  Grid<Dim> grid;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  Kokkos::View<std::int16_t**, Kokkos::LayoutRight, Memory> predecessors;
  std::int16_t* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t source = i / grid.size();
    const std::int64_t index = padded.at(grid.node(i % grid.size()));
    out[i] = times(source, index) < infinity<T>() ? predecessors(source, index) : unreached;
  }
};

/// Finds the predecessor of each vertex from converged times: the best strictly earlier neighbour.
/// Times decrease strictly along a chain of predecessors, so every chain ends.
template <class T, int Dim, class Memory, class Weights>
struct FindPredecessors {
  Weights weights;
  Grid<Dim> grid;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  std::int16_t* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const auto& graph = weights.graph;
    const std::int64_t nodes = graph.grid.template nodes<Memory>();
    const std::int64_t source = i / nodes;
    const std::int64_t index =
        graph.grid.at(grid.node(graph.grid.first * graph.grid.plane() + i % nodes));
    const T* const time = &times(source, index);
    const T own = *time;
    T best = infinity<T>();
    int direction = unreached;
    for (int e = 0; e < graph.half; ++e) {
      const std::int64_t offset = graph.offset(e);
      const T forward = time[offset];
      if (forward < own) {
        const T candidate = forward + weights(e, index);
        if (candidate < best) {
          best = candidate;
          direction = e;
        }
      }
      const T backward = time[-offset];
      if (backward < own) {
        const T candidate = backward + weights(e, index - offset);
        if (candidate < best) {
          best = candidate;
          direction = graph.half + e;
        }
      }
    }
    out[i] = static_cast<std::int16_t>(direction);
  }
};

/// Sets from_source at vertices whose time equals that of their seed.
template <class T, int Dim, class Memory>
struct MarkSeeds {
  PaddedGrid<Dim> padded;
  Grid<Dim> grid;
  Kokkos::View<Seed<T, Dim>*, Memory> seeds;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  std::int16_t* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Seed<T, Dim> seed = seeds(i);
    if (times(seed.source, seed.index) < seed.time) return;
    const std::int64_t node = grid.flat(padded.node(seed.index)) - padded.first * padded.plane();
    out[seed.source * padded.template nodes<Memory>() + node] = from_source;
  }
};

/// Counts vertices that have a finite time but no predecessor.
template <class T>
struct CountLost {
  const T* times;
  const std::int16_t* predecessors;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& lost) const {
    if (times[i] < infinity<T>() && predecessors[i] == unreached) ++lost;
  }
};

/// Predecessors on the padded grid.
template <class Memory>
using PaddedPredecessors = Kokkos::View<std::int16_t**, Kokkos::LayoutRight, Memory>;

/// Returns the bytes that a method needs per source, without the outputs.
template <class T, int Dim, class Memory>
std::size_t bytes_per_source(const GridGraph<T, Dim, Memory>& graph, Method method) {
  const std::size_t padded_size = static_cast<std::size_t>(graph.data().grid.size);
  const std::size_t tiles = static_cast<std::size_t>(graph.data().grid.tile_count());
  switch (method) {
    case Method::active_tiles:
      return padded_size * sizeof(T) + tiles * (4 * sizeof(int) + 2 * sizeof(T) + 1);
    case Method::relaxation:
      return padded_size * (2 * sizeof(T) + 2 * sizeof(std::int16_t));
    case Method::push:
      return padded_size * (2 * sizeof(T) + sizeof(int));
    case Method::near_far:
      return padded_size * (2 * sizeof(T) + sizeof(int) + 4 * sizeof(std::int64_t));
    case Method::dijkstra:
      return padded_size * (sizeof(T) + sizeof(std::int16_t));
  }
  return padded_size * sizeof(T);
}

/// Runs Dijkstra's algorithm for every source of a batch, one after the other.
template <class T, int Dim>
PaddedPredecessors<Kokkos::HostSpace> solve_dijkstra(
    const Instance<Kokkos::HostSpace>& exec, const GridGraph<T, Dim, Kokkos::HostSpace>& graph,
    const Batch<T, Dim, Kokkos::HostSpace>& batch, const TraceOptions& options,
    TraceReport& report) {
  const auto predecessors = allocate<PaddedPredecessors<Kokkos::HostSpace>>(
      exec, "moho::rays::predecessors", batch.times.extent(0), batch.times.extent(1));
  fill(exec, predecessors, from_source);
  exec.fence();
  const Dijkstra<T, Dim> dijkstra(
      graph, batch.times.extent(0) * bytes_per_source(graph, Method::dijkstra));
  std::vector<std::vector<std::int64_t>> seeds(batch.times.extent(0));
  for (std::size_t i = 0; i < batch.seeds.extent(0); ++i) {
    seeds[static_cast<std::size_t>(batch.seeds(i).source)].push_back(batch.seeds(i).index);
  }
  for (std::size_t s = 0; s < seeds.size(); ++s) {
    if (options.progress) {
      options.progress(static_cast<double>(s) / static_cast<double>(seeds.size()),
                       "Dijkstra's algorithm");
    }
    exec.check_stop();
    dijkstra.solve(&batch.times(s, 0), &predecessors(s, 0), seeds[s], report.relaxations);
  }
  return predecessors;
}

/// Returns the bytes that a method needs once, without those of the sources of a batch.
template <class T, int Dim, class Memory>
std::size_t bytes_of_method(const GridGraph<T, Dim, Memory>& graph, Method method,
                            std::size_t sources) {
  if constexpr (is_host_memory<Memory>) {
    if (method == Method::dijkstra) {
      using Solver = Dijkstra<T, Dim>;
      return Solver::search_bytes(graph) +
             Solver::table_bytes(graph, sources * bytes_per_source(graph, method));
    }
  }
  return 0;
}

/// Returns the number of sources per batch: all, unless memory is short.
template <class T, int Dim, class Memory>
std::size_t sources_per_batch(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
                              std::size_t sources, const TraceOptions& options) {
  const std::size_t each = bytes_per_source(graph, options.method);
  std::size_t room = graph.solver_budget();
  const bool given = graph.options().memory_budget > 0;
  if (!given) room = std::min(room, memory_budget(exec));
  if constexpr (is_host_memory<Memory>) {
    if (options.method == Method::dijkstra) {
      room -= std::min(room, Dijkstra<T, Dim>::search_bytes(graph));
    }
  }
  // items of the work lists are counted with 32 bits
  const std::size_t items = static_cast<std::size_t>(
      options.method == Method::near_far ? graph.data().grid.size : graph.data().grid.tile_count());
  const std::size_t max = (std::size_t(1) << 31) / (items + 1);
  const std::size_t fits = room / each;
  if (fits == 0 || max == 0) {
    throw MemoryError(concat("memory: one source needs ", format_bytes(static_cast<double>(each)),
                             " with the method ", to_string(options.method), " (",
                             format_bytes(static_cast<double>(room)), " of the ",
                             given ? "budget" : "free memory",
                             " are left): raise the budget, compute weights on the fly, or use the "
                             "method active_tiles"));
  }
  return std::min({sources, fits, max});
}

/// Starts the copy of a batch's traveltimes to the output, sources x nodes of the graph.
template <class T, int Dim, class Memory>
void copy_times(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
                const Batch<T, Dim, Memory>& batch, T* times) {
  const CopyTimes<T, Dim, Memory> body{graph.data().grid, graph.grid(), batch.times, times};
  launch("moho::rays::copy_times", exec,
         graph.data().grid.template nodes<Memory>() * batch.sources / body.chunk(), body);
}

/// Starts the search for the predecessors of a batch from its converged times.
/// \param predecessors out, sources x nodes of the graph
template <class T, int Dim, class Memory, class Weights>
void find_predecessors(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
                       const Weights& weights, const Batch<T, Dim, Memory>& batch,
                       std::int16_t* predecessors) {
  const Grid<Dim>& grid = graph.grid();
  if constexpr (is_host_memory<Memory>) {
    HostTile<T, Dim, Weights> tile(exec, graph, weights);
    if constexpr (!Weights::stored) tile.weights.blocks.closed = true;
    const FindPredecessorsOnHost<T, Dim, Weights> find{&tile, batch.times.data(), batch.sources,
                                                       predecessors};
    const std::int64_t vertices = std::int64_t(find.width) * HostTile<T, Dim, Weights>::rows;
    launch_dynamic_parts("moho::rays::find_predecessors", exec, graph.data().grid.tile_count(),
                         batch.sources * vertices * graph.neighbours(), find);
  } else if (!find_predecessors_by_tiles(exec, graph, weights, batch, predecessors)) {
    launch("moho::rays::find_predecessors", exec,
           graph.data().grid.template nodes<Memory>() * batch.sources,
           FindPredecessors<T, Dim, Memory, Weights>{weights, grid, batch.times, predecessors});
  }
  launch(
      "moho::rays::mark_seeds", exec, static_cast<std::int64_t>(batch.seeds.extent(0)),
      MarkSeeds<T, Dim, Memory>{graph.data().grid, grid, batch.seeds, batch.times, predecessors});
}

/// Throws unless all vertices with a time have a predecessor. \param outputs sources times nodes
template <class T, class Memory>
void check_predecessors(const Instance<Memory>& exec, std::int64_t outputs, const T* times,
                        const std::int16_t* predecessors) {
  const std::int64_t lost = sum_of<std::int64_t>("moho::rays::count_lost", exec, outputs,
                                                 CountLost<T>{times, predecessors});
  if (lost == 0) return;
  throw Error(concat("predecessors: ", lost,
                     " vertices are as late as all their neighbours (an edge weighs less than the "
                     "rounding of the traveltime): use double precision, or a smaller contrast"));
}

/// Solves one batch with the given weights, and writes its part of the outputs.
template <class T, int Dim, class Memory, class Weights>
void solve_batch(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
                 const Weights& weights, const Batch<T, Dim, Memory>& batch, T* times,
                 std::int16_t* predecessors, const TraceOptions& options, TraceReport& report) {
  const Grid<Dim>& grid = graph.grid();
  const std::int64_t outputs = grid.size() * batch.sources;
  PaddedPredecessors<Memory> padded_predecessors;
  {
    const ScopedPhase phase(exec, report.times, "rays::trace");
    switch (options.method) {
      case Method::active_tiles:
        make_tile_solver(exec, graph, weights, batch, options).run(-1, report);
        break;
      case Method::relaxation:
        padded_predecessors = solve_relaxation(exec, weights, batch, options, report);
        break;
      case Method::push:
        solve_push(exec, weights, batch, options, report);
        break;
      case Method::near_far: {
        // thresholds a few edges apart: many vertices per step, few processed twice
        double spacing = 0.0;
        for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, grid.spacing[d]);
        const double slowness = mean_model_slowness(exec, graph);
        solve_near_far(exec, weights, batch,
                       static_cast<T>(4.0 * graph.radius() * spacing * slowness), options, report);
        break;
      }
      case Method::dijkstra:
        if constexpr (is_host_memory<Memory>) {
          padded_predecessors = solve_dijkstra(exec, graph, batch, options, report);
        }
        break;
    }
    copy_times(exec, graph, batch, times);
  }
  if (!predecessors) return;
  const ScopedPhase phase(exec, report.times, "rays::predecessors");
  if (padded_predecessors.size() > 0) {
    launch("moho::rays::copy_predecessors", exec, outputs,
           CopyPredecessors<T, Dim, Memory>{graph.data().grid, grid, batch.times,
                                            padded_predecessors, predecessors});
    return;
  }
  find_predecessors(exec, graph, weights, batch, predecessors);
  check_predecessors(exec, outputs, times, predecessors);
}

}  // namespace detail

template <class T, int Dim, class Memory>
TraceReport trace(const InstanceOf<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
                  const Points<Dim>& sources, const FieldPerSource<T, Dim, Memory>& times,
                  const FieldPerSource<std::int16_t, Dim, Memory>& predecessors,
                  const TraceOptions& options) {
  if (sources.empty())
    throw InputError("sources: there are none (allowed: one or more): give a source");
  if (graph.data().grid.template nodes<Memory>() != graph.grid().size()) {
    throw InputError("graph: it is a slab of a model (allowed: a complete one): use SplitGraph");
  }
  check_positions(graph.grid(), sources, "source");
  const std::int64_t count = static_cast<std::int64_t>(sources.size());
  check_shape(graph.grid(), times, "times", count);
  const bool wanted = predecessors.size() > 0;
  if (wanted) check_shape(graph.grid(), predecessors, "predecessors", count);
  if (options.method == Method::dijkstra && !is_host_memory<Memory>) {
    throw InputError(
        "method 'dijkstra' runs on the host alone (allowed on a device: active_tiles, relaxation, "
        "push, "
        "near_far): choose another method, or the space serial or openmp");
  }

  TraceReport report;
  detail::WeightBlocks<T, Memory> fragments;
  if (options.method == Method::active_tiles) fragments = graph.make_fragments(exec);
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
      const detail::StoredWeights<T, Dim, Memory> weights{graph.data()};
      detail::solve_batch(exec, graph, weights, batch, batch_times, batch_predecessors,
                          batch_options, report);
    } else {
      const detail::ComputedWeights<T, Dim, Memory> weights{graph.data(), fragments};
      fragments.reset(exec);
      detail::solve_batch(exec, graph, weights, batch, batch_times, batch_predecessors,
                          batch_options, report);
    }
  }
  if (options.progress) options.progress(1.0, "done");
  return report;
}

/// \cond
#define MOHO_RAYS_WEIGHTS(prefix, name, T, Dim, Memory)                              \
  MOHO_FUNCTION(prefix, name, T, Dim, Memory, detail::StoredWeights<T, Dim, Memory>) \
  MOHO_FUNCTION(prefix, name, T, Dim, Memory, detail::ComputedWeights<T, Dim, Memory>)
#ifdef MOHO_RAYS_KERNELS
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, trace)
MOHO_FOR_ALL(MOHO_RAYS_WEIGHTS, extern template, detail::solve_batch)
MOHO_FOR_ALL(MOHO_RAYS_WEIGHTS, extern template, detail::make_tile_solver)
MOHO_FOR_ALL(MOHO_RAYS_WEIGHTS, extern template, detail::find_predecessors)
#endif
/// \endcond

}  // namespace moho::rays
