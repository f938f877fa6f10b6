// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One model over several devices: slabs of tiles that exchange the rows beside their cuts.

#include <moho/core/device_instances.hpp>
#include <moho/core/event.hpp>
#include <moho/core/space.hpp>
#include <moho/core/text.hpp>
#include <moho/core/wrap.hpp>
#include <moho/rays/detail/halo.hpp>
#include <moho/rays/trace.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moho::rays {

/// A velocity model as a graph over several instances, each with its part of the model, weights and
/// traveltimes. Traveltimes and predecessors have the bits of one GridGraph with the same storage
/// of weights, or another one.
///
/// The model is cut along the first axis into slabs of whole rows of tiles, which instances take in
/// turn. A slab also stores the radius + 1 rows beyond each cut. Slabs relax their active tiles for
/// some rounds and then exchange the times of the rows beside the cuts, until no tile is active.
///
/// \tparam T float or double, the precision of weights and traveltimes
/// \tparam Dim 2 or 3
/// \tparam Memory memory space of the slabs
template <class T, int Dim, class Memory>
class SplitGraph {
 public:
  /// Cuts the model and lays out the slabs.
  ///
  /// \param instances at least one, on the same or on different devices
  /// \param grid nodes of the model
  /// \param velocity on the host, one positive finite number per node, last axis contiguous; it
  ///        must exist as long as the object
  /// \param options neighbourhood, rule and storage of weights; the memory budget is that of each
  ///        device, or of all slabs on a host
  /// \param slabs slabs per instance; 0: chosen, several where there are several instances, because
  ///        the wavefront is in few of them at a time
  /// \throws InputError as GridGraph; more instances than rows of tiles
  /// \throws MemoryError a slab does not fit its part of the memory
  SplitGraph(const std::vector<Instance<Memory>>& instances, const Grid<Dim>& grid,
             const T* velocity, const GraphOptions& options = {}, int slabs = 0);

  /// Returns the number of rows of tiles of a model along the first axis, the largest number of
  /// slabs.
  static int rows_of_tiles(const Grid<Dim>& grid) {
    constexpr int tile = tile_extent<Memory, Dim>(0);
    return static_cast<int>((grid.extents[0] + tile - 1) / tile);
  }
  /// Returns the number of slabs.
  int slabs() const { return static_cast<int>(m_slabs.size()); }
  /// Returns the graph of a slab, 0 to slabs() - 1.
  const GridGraph<T, Dim, Memory>& slab(int number) const {
    return *m_slabs[static_cast<std::size_t>(number)].graph;
  }
  /// Returns the source of the weights of the first slab.
  WeightStorage storage() const { return slab(0).storage(); }
  /// Returns the number of slabs and the reason for the storage of the first one, for reports.
  std::string storage_reason() const;
  /// Returns the bytes of all tables of weights or their fragments.
  std::size_t weight_bytes() const;
  /// Returns the bytes that all slabs need for a number of sources, without graphs and weights.
  std::size_t solver_bytes(std::size_t sources) const;
  /// Returns the seconds for the layout and the tables of weights.
  double weight_seconds() const { return m_weight_seconds; }
  /// Returns how many of `sources` fit the memory at a time.
  /// \throws MemoryError not even one
  std::size_t sources_at_a_time(std::size_t sources) const;

  /// Computes first-arrival traveltimes and predecessors from each source to every vertex.
  ///
  /// \param sources positions in the grid's units, at least one
  /// \param times out, on the host, sources x shape of the grid, seconds
  /// \param predecessors out, on the host, sources x shape of the grid, as of trace(); or nullptr
  /// \param options progress and tuning; the method is active_tiles
  /// \throws InputError a source outside the model, no source, another method
  /// \throws MemoryError a single source does not fit the memory
  TraceReport trace(const Points<Dim>& sources, T* times, std::int16_t* predecessors,
                    const TraceOptions& options = {}) const;

 private:
  using Graph = GridGraph<T, Dim, Memory>;
  struct Part {
    Instance<Memory> exec;
    std::unique_ptr<Graph> graph;
  };
  /// The state of a slab during a batch.
  struct Run {
    detail::Batch<T, Dim, Memory> batch;
    detail::WeightBlocks<T, Memory> fragments;
    detail::TileSolver<T, Dim, Memory> solver;
    Kokkos::View<T*, Memory> from_above, from_below;
    bool active = false;  ///< had rounds since the last exchange
    Event<Memory> relaxed, copied;
    Kokkos::View<T*, Memory> times;
    Kokkos::View<std::int16_t*, Memory> predecessors;
  };

  void cut(const std::vector<Instance<Memory>>& instances, int slabs);
  void make_slab(const Instance<Memory>& exec, const Slab& slab, const T* velocity,
                 std::size_t budget);
  std::size_t bytes_of_source(const Graph& graph) const;
  template <class Use>
  static void with_weights(const Graph& graph, const detail::WeightBlocks<T, Memory>& fragments,
                           const Use& use);
  std::vector<Run> start(const Points<Dim>& sources, std::size_t begin, std::size_t end,
                         const TraceOptions& options) const;
  void relax(std::vector<Run>& runs, const TraceOptions& options, TraceReport& report) const;
  void exchange(std::vector<Run>& runs) const;
  detail::SlabSide<T, Dim, Memory> side(std::size_t number, const Run& run,
                                        const Kokkos::View<T*, Memory>& buffer) const;
  void write(std::vector<Run>& runs, T* times, std::int16_t* predecessors,
             TraceReport& report) const;
  template <class Value>
  void to_host(std::size_t number, const Kokkos::View<Value*, Memory>& from, int sources,
               Value* to) const;

  Grid<Dim> m_grid;
  GraphOptions m_options;
  std::vector<Instance<Memory>> m_instances;  ///< of each slab
  std::vector<Slab> m_cuts;
  std::vector<Part> m_slabs;
  double m_weight_seconds = 0.0;
};

template <class T, int Dim, class Memory>
SplitGraph<T, Dim, Memory>::SplitGraph(const std::vector<Instance<Memory>>& instances,
                                       const Grid<Dim>& grid, const T* velocity,
                                       const GraphOptions& options, int slabs)
    : m_grid(grid), m_options(options) {
  grid.check();
  if (options.radius < 1 || options.radius > max_radius<Dim>) {
    throw InputError(concat("radius: ", options.radius, " (allowed in ", Dim, "D: 1 to ",
                            max_radius<Dim>, "): a larger radius is more accurate and costs more"));
  }
  const Stopwatch watch;
  cut(instances, slabs);
  // before the first allocation, because slabs of a device share its free memory
  std::vector<std::size_t> budgets;
  const std::size_t count = m_cuts.size();
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t all = memory_budget(m_instances[s], options.memory_budget);
    std::size_t sharing = 0;
    for (const auto& other : m_instances) sharing += share_memory(m_instances[s], other) ? 1 : 0;
    budgets.push_back(std::max<std::size_t>(all / sharing, 1));
  }
  for (std::size_t s = 0; s < count; ++s) {
    make_slab(m_instances[s], m_cuts[s], velocity, budgets[s]);
  }
  for (const Part& part : m_slabs) part.exec.fence();
  m_weight_seconds = watch.seconds();
}

// Chooses the slabs, and the instance of each.
template <class T, int Dim, class Memory>
void SplitGraph<T, Dim, Memory>::cut(const std::vector<Instance<Memory>>& instances, int slabs) {
  const int rows = rows_of_tiles(m_grid);
  const auto count = static_cast<int>(instances.size());
  if (count < 1 || count > rows) {
    throw InputError(concat("devices: ", count, " (allowed for this model: 1 to ", rows,
                            ", its rows of ", tile_extent<Memory, Dim>(0),
                            " nodes along the first axis): take fewer devices"));
  }
  if (slabs < 0) {
    throw InputError(concat("slabs: ", slabs, " per instance (allowed: 1 or more; 0: chosen)"));
  }
  // several slabs of an instance have four or more rows of tiles
  const int wanted = slabs > 0 ? slabs : count == 1 ? 1 : std::clamp(rows / (4 * count), 1, 4);
  const int all = std::min(rows, count * wanted);
  for (int s = 0; s < all; ++s) {
    const int first = static_cast<int>(static_cast<std::int64_t>(rows) * s / all);
    const int next = static_cast<int>(static_cast<std::int64_t>(rows) * (s + 1) / all);
    m_cuts.push_back({first, next - first});
    const Instance<Memory>& exec = instances[static_cast<std::size_t>(s % count)];
    m_instances.push_back(s < count ? exec : new_instance(exec));
  }
}

template <class T, int Dim, class Memory>
void SplitGraph<T, Dim, Memory>::make_slab(const Instance<Memory>& exec, const Slab& slab,
                                           const T* velocity, std::size_t budget) {
  const auto padded = PaddedGrid<Dim>::template make<Memory>(m_grid, m_options.radius, slab);
  Grid<Dim> rows = m_grid;
  rows.extents[0] = padded.stored_end() - padded.stored_begin();
  T* const from = const_cast<T*>(velocity) + padded.stored_begin() * padded.plane();
  GraphOptions options = m_options;
  options.memory_budget = budget;
  Field<T, Dim, Memory> field;
  if constexpr (is_host_memory<Memory>) {
    field = wrap_field<Field<T, Dim, Memory>>(from, rows);
  } else {
    // needed until the medium is filled
    const std::size_t bytes = static_cast<std::size_t>(rows.size()) * sizeof(T);
    if (bytes >= budget) {
      throw MemoryError(concat("memory: the velocity of a slab takes ",
                               format_bytes(static_cast<double>(bytes)),
                               " (allowed: ", format_bytes(static_cast<double>(budget)),
                               ", its part of the device): take more devices or fewer nodes"));
    }
    options.memory_budget = budget - bytes;
    field = make_field<T>(exec, rows, "moho::rays::velocity");
    copy(exec, field, wrap_field<Field<T, Dim, Kokkos::HostSpace>>(from, rows));
  }
  m_slabs.push_back({exec, std::make_unique<Graph>(exec, m_grid, slab, field, options)});
}

template <class T, int Dim, class Memory>
std::string SplitGraph<T, Dim, Memory>::storage_reason() const {
  if (slabs() == 1) return slab(0).storage_reason();
  return concat(text::counted(slabs(), "slab"), ", of each: ", slab(0).storage_reason());
}

template <class T, int Dim, class Memory>
std::size_t SplitGraph<T, Dim, Memory>::weight_bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : m_slabs) bytes += part.graph->weight_bytes();
  return bytes;
}

template <class T, int Dim, class Memory>
std::size_t SplitGraph<T, Dim, Memory>::bytes_of_source(const Graph& graph) const {
  const auto& padded = graph.data().grid;
  const auto rows = static_cast<std::size_t>(2 * m_options.radius * padded.strides[0]);
  const auto nodes = static_cast<std::size_t>(padded.template nodes<Memory>());
  return detail::bytes_per_source(graph, Method::active_tiles) + rows * sizeof(T) +
         nodes * (sizeof(T) + sizeof(std::int16_t));
}

template <class T, int Dim, class Memory>
std::size_t SplitGraph<T, Dim, Memory>::solver_bytes(std::size_t sources) const {
  std::size_t bytes = 0;
  for (const Part& part : m_slabs) bytes += sources * bytes_of_source(*part.graph);
  return bytes;
}

template <class T, int Dim, class Memory>
std::size_t SplitGraph<T, Dim, Memory>::sources_at_a_time(std::size_t sources) const {
  std::size_t fits = sources;
  for (const Part& part : m_slabs) {
    const std::size_t each = bytes_of_source(*part.graph);
    const std::size_t room = part.graph->solver_budget();
    const auto tiles = static_cast<std::size_t>(part.graph->data().grid.tile_count());
    fits = std::min({fits, room / each, (std::size_t(1) << 31) / (tiles + 1)});
    if (fits > 0) continue;
    throw MemoryError(concat("memory: one source needs ", format_bytes(static_cast<double>(each)),
                             " in a slab (", format_bytes(static_cast<double>(room)),
                             " of its part are left): raise the memory, compute weights on the "
                             "fly, or take more devices"));
  }
  return fits;
}

template <class T, int Dim, class Memory>
template <class Use>
void SplitGraph<T, Dim, Memory>::with_weights(const Graph& graph,
                                              const detail::WeightBlocks<T, Memory>& fragments,
                                              const Use& use) {
  if (graph.storage() == WeightStorage::stored) {
    use(detail::StoredWeights<T, Dim, Memory>{graph.data()});
  } else {
    use(detail::ComputedWeights<T, Dim, Memory>{graph.data(), fragments});
  }
}

template <class T, int Dim, class Memory>
auto SplitGraph<T, Dim, Memory>::start(const Points<Dim>& sources, std::size_t begin,
                                       std::size_t end, const TraceOptions& options) const
    -> std::vector<Run> {
  std::vector<Run> runs(m_slabs.size());
  TraceOptions own = options;
  own.progress = {};
  for (std::size_t s = 0; s < runs.size(); ++s) {
    const auto& [exec, graph] = m_slabs[s];
    Run& run = runs[s];
    run.batch = detail::start_batch(exec, *graph, sources, begin, end);
    run.fragments = graph->make_fragments(exec);
    const auto& padded = graph->data().grid;
    const auto rows =
        static_cast<std::size_t>(m_options.radius * padded.strides[0]) * (end - begin);
    const auto nodes = static_cast<std::size_t>(padded.template nodes<Memory>()) * (end - begin);
    run.from_above = allocate<Kokkos::View<T*, Memory>>(exec, "moho::rays::rows_above", rows);
    run.from_below = allocate<Kokkos::View<T*, Memory>>(exec, "moho::rays::rows_below", rows);
    run.times = allocate<Kokkos::View<T*, Memory>>(exec, "moho::rays::slab_times", nodes);
    with_weights(*graph, run.fragments, [&](const auto& weights) {
      run.solver =
          detail::make_tile_solver(m_slabs[s].exec, *m_slabs[s].graph, weights, run.batch, own);
    });
  }
  return runs;
}

template <class T, int Dim, class Memory>
void SplitGraph<T, Dim, Memory>::relax(std::vector<Run>& runs, const TraceOptions& options,
                                       TraceReport& report) const {
  double items = 0.0;
  for (const Run& run : runs) items += static_cast<double>(run.solver.list.seen.extent(0));
  const std::int64_t before = report.rounds;
  std::int64_t rounds = 0;
  for (bool active = true; active;) {
    active = false;
    double visited = 0.0;
    for (Run& run : runs) {
      // waits for the slab alone; the others work meanwhile
      run.active = !run.solver.run(1, report);
      active = active || run.active;
      visited += static_cast<double>(run.solver.state->first_visits);
      rounds = std::max<std::int64_t>(rounds, run.solver.state->round);
    }
    if (!active) break;
    if (options.progress) options.progress(0.99 * visited / items, "relaxing active tiles");
    if (runs.size() > 1) exchange(runs);
    ++report.exchanges;
  }
  report.rounds = before + rounds;
}

template <class T, int Dim, class Memory>
detail::SlabSide<T, Dim, Memory> SplitGraph<T, Dim, Memory>::side(
    std::size_t number, const Run& run, const Kokkos::View<T*, Memory>& buffer) const {
  const Part& part = m_slabs[number];
  return {part.exec,       part.graph->data().grid, run.batch.times,
          run.solver.list, run.solver.state->round, buffer};
}

template <class T, int Dim, class Memory>
void SplitGraph<T, Dim, Memory>::exchange(std::vector<Run>& runs) const {
  for (std::size_t s = 0; s < runs.size(); ++s) runs[s].relaxed.record(m_slabs[s].exec);
  const int radius = m_options.radius;
  for (std::size_t s = 0; s + 1 < runs.size(); ++s) {
    Run& upper = runs[s];
    Run& lower = runs[s + 1];
    const std::int64_t cut = m_slabs[s + 1].graph->data().grid.first;
    const auto above = side(s, upper, upper.from_below);
    const auto below = side(s + 1, lower, lower.from_above);
    if (upper.active) {  // else its rows are those of the last exchange
      upper.relaxed.make_wait(below.exec);
      detail::exchange_rows(above, below, cut - radius, radius, true);
    }
    if (lower.active) {
      lower.relaxed.make_wait(above.exec);
      detail::exchange_rows(below, above, cut, radius, false);
    }
  }
  // rows are not changed while they are copied
  for (std::size_t s = 0; s < runs.size(); ++s) runs[s].copied.record(m_slabs[s].exec);
  for (std::size_t s = 0; s + 1 < runs.size(); ++s) {
    runs[s].copied.make_wait(m_slabs[s + 1].exec);
    runs[s + 1].copied.make_wait(m_slabs[s].exec);
  }
}

template <class T, int Dim, class Memory>
template <class Value>
void SplitGraph<T, Dim, Memory>::to_host(std::size_t number,
                                         const Kokkos::View<Value*, Memory>& from, int sources,
                                         Value* to) const {
  using Elements = Kokkos::View<Value*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto& [exec, graph] = m_slabs[number];
  const auto& padded = graph->data().grid;
  const std::int64_t nodes = padded.template nodes<Memory>();
  for (std::int64_t s = 0; s < sources; ++s) {
    copy(exec,
         HostElements<Value>(to + s * m_grid.size() + padded.first * padded.plane(),
                             static_cast<std::size_t>(nodes)),
         Elements(from.data() + s * nodes, static_cast<std::size_t>(nodes)));
  }
}

template <class T, int Dim, class Memory>
void SplitGraph<T, Dim, Memory>::write(std::vector<Run>& runs, T* times, std::int16_t* predecessors,
                                       TraceReport& report) const {
  const Stopwatch watch;
  for (std::size_t s = 0; s < runs.size(); ++s) {
    const auto& [exec, graph] = m_slabs[s];
    Run& run = runs[s];
    detail::copy_times(exec, *graph, run.batch, run.times.data());
    if (predecessors == nullptr) continue;
    run.predecessors = allocate<Kokkos::View<std::int16_t*, Memory>>(
        exec, "moho::rays::slab_predecessors", run.times.extent(0));
    with_weights(*graph, run.fragments, [&](const auto& weights) {
      detail::find_predecessors(m_slabs[s].exec, *m_slabs[s].graph, weights, run.batch,
                                run.predecessors.data());
    });
  }
  for (std::size_t s = 0; s < runs.size() && predecessors != nullptr; ++s) {
    detail::check_predecessors(m_slabs[s].exec, static_cast<std::int64_t>(runs[s].times.extent(0)),
                               runs[s].times.data(), runs[s].predecessors.data());
  }
  for (const Part& part : m_slabs) part.exec.fence();
  report.times.add("rays::predecessors", watch.seconds());
  const Stopwatch moving;
  for (std::size_t s = 0; s < runs.size(); ++s) {
    to_host(s, runs[s].times, runs[s].batch.sources, times);
    if (predecessors != nullptr) {
      to_host(s, runs[s].predecessors, runs[s].batch.sources, predecessors);
    }
  }
  for (const Part& part : m_slabs) part.exec.fence();
  report.times.add("rays::transfer", moving.seconds());
}

template <class T, int Dim, class Memory>
TraceReport SplitGraph<T, Dim, Memory>::trace(const Points<Dim>& sources, T* times,
                                              std::int16_t* predecessors,
                                              const TraceOptions& options) const {
  if (sources.empty())
    throw InputError("sources: there are none (allowed: one or more): give a source");
  check_positions(m_grid, sources, "source");
  if (options.method != Method::active_tiles) {
    throw InputError(concat("method '", to_string(options.method),
                            "' with several slabs (allowed: active_tiles): take one device"));
  }
  TraceReport report;
  const std::size_t batch = sources_at_a_time(sources.size());
  report.batches = static_cast<std::int64_t>((sources.size() + batch - 1) / batch);
  const double all = static_cast<double>(sources.size());
  for (std::size_t begin = 0; begin < sources.size(); begin += batch) {
    const std::size_t end = std::min(sources.size(), begin + batch);
    TraceOptions part = options;
    if (options.progress) {
      part.progress = [&](double fraction, const std::string& what) {
        options.progress(
            (static_cast<double>(begin) + fraction * static_cast<double>(end - begin)) / all, what);
      };
    }
    const Stopwatch watch;
    std::vector<Run> runs = start(sources, begin, end, part);
    relax(runs, part, report);
    report.times.add("rays::trace", watch.seconds());
    const std::int64_t offset = static_cast<std::int64_t>(begin) * m_grid.size();
    write(runs, times + offset, predecessors == nullptr ? nullptr : predecessors + offset, report);
  }
  if (options.progress) options.progress(1.0, "done");
  return report;
}

/// \cond
#ifdef MOHO_RAYS_KERNELS
MOHO_FOR_ALL(MOHO_CLASS, extern template class, SplitGraph)
#endif
/// \endcond

}  // namespace moho::rays
