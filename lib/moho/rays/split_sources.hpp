// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief trace_sources() over several devices, each with slabs of the model.

#include <moho/core/space.hpp>
#include <moho/core/wrap.hpp>
#include <moho/rays/paths.hpp>
#include <moho/rays/split_graph.hpp>
#include <moho/rays/trace_job.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::rays {

namespace detail {

/// Traces sources in groups, with the graph in slabs and the rays on the host.
template <class T, int Dim, class Memory>
class SplitTracer {
 public:
  SplitTracer(const std::vector<Instance<Memory>>& instances, const TraceJob<T, Dim>& job)
      : m_instances(instances), m_job(job), m_nodes(static_cast<std::size_t>(job.grid.size())) {}

  TraceResult<T, Dim> run() {
    m_out.device = device_name(m_instances.front());
    if (m_instances.size() > 1) m_out.device = concat(m_instances.size(), " x ", m_out.device);
    m_out.threads = m_instances.front().concurrency();
    m_out.devices = static_cast<int>(m_instances.size());
    check_devices();
    if (m_job.progress) m_job.progress(0.0, "weights");
    const SplitGraph<T, Dim, Memory> graph(m_instances, m_job.grid, velocity().data(),
                                           graph_options(), m_job.slabs);
    describe(graph);
    const auto sources = static_cast<std::int64_t>(m_job.sources.size());
    using Times = FieldPerSource<T, Dim, Kokkos::HostSpace>;
    m_out.times =
        m_job.borrowed_times != nullptr
            ? wrap_field_per_source<Times>(m_job.borrowed_times, sources, m_job.grid)
            : make_field_per_source<T>(host_instance(), sources, m_job.grid, "traveltime on host");
    // on hosts the memory is that of the slabs, too
    const std::int64_t group =
        host
            ? 1
            : static_cast<std::int64_t>(graph.sources_at_a_time(static_cast<std::size_t>(sources)));
    m_out.groups = (sources + group - 1) / group;
    m_out.solver_bytes = graph.solver_bytes(static_cast<std::size_t>(group)) + medium_bytes();
    std::vector<std::int16_t> predecessors(m_nodes * static_cast<std::size_t>(group));
    const GridGraph<T, Dim, Kokkos::HostSpace> whole(host_instance(), m_job.grid, velocity(),
                                                     ray_options());
    for (std::int64_t begin = 0; begin < sources; begin += group) {
      trace_group(graph, whole, begin, std::min(group, sources - begin), predecessors.data());
    }
    return std::move(m_out);
  }

 private:
  static constexpr bool host = is_host_memory<Memory>;
  using Split = SplitGraph<T, Dim, Memory>;
  using HostGraph = GridGraph<T, Dim, Kokkos::HostSpace>;

  Instance<Kokkos::HostSpace> host_instance() const {
    if constexpr (host) {
      return m_instances.front();
    } else {
      return Instance<Kokkos::HostSpace>(Kokkos::DefaultHostExecutionSpace());
    }
  }

  Field<T, Dim, Kokkos::HostSpace> velocity() const {
    const T* const data =
        m_job.borrowed_velocity != nullptr ? m_job.borrowed_velocity : m_job.velocity.data();
    return wrap_field<Field<T, Dim, Kokkos::HostSpace>>(const_cast<T*>(data), m_job.grid);
  }

  void check_devices() const {
    const int rows = SplitGraph<T, Dim, Memory>::rows_of_tiles(m_job.grid);
    const auto count = static_cast<int>(m_instances.size());
    if (count <= rows) return;
    throw InputError(concat(m_job.names.devices, ": ", count, " (allowed for this model: 1 to ",
                            rows, ", its rows of ", tile_extent<Memory, Dim>(0),
                            " nodes along x): take fewer devices"));
  }

  /// The graph that rays are followed through: no weights.
  GraphOptions ray_options() const {
    GraphOptions options = m_job.graph;
    options.storage = WeightStorage::on_the_fly;
    options.memory_budget = 0;
    return options;
  }

  std::size_t medium_bytes() const {
    return static_cast<std::size_t>(
               PaddedGrid<Dim>::template make<Kokkos::HostSpace>(m_job.grid, m_job.graph.radius)
                   .size) *
           sizeof(T);
  }

  GraphOptions graph_options() {
    GraphOptions options = m_job.graph;
    options.sources = std::max(static_cast<std::int64_t>(m_job.sources.size()), m_job.all_sources);
    m_out.budget = memory_budget(m_instances.front(), m_job.memory);
    options.memory_budget = m_job.memory;
    if (!host) return options;
    m_out.field_bytes = m_nodes * (sizeof(T) * (1 + m_job.sources.size()) + sizeof(std::int16_t));
    const std::size_t taken = m_out.field_bytes + medium_bytes();
    if (taken >= m_out.budget) {
      throw MemoryError(concat(
          "memory: the model and the traveltimes take ", format_bytes(static_cast<double>(taken)),
          " (allowed: ", format_bytes(static_cast<double>(m_out.budget)), "): raise ",
          m_job.names.memory, ", take fewer nodes or ", m_job.names.single_precision));
    }
    options.memory_budget = m_out.budget - taken;
    return options;
  }

  void describe(const Split& graph) {
    m_out.slabs = graph.slabs();
    m_out.storage = graph.storage();
    m_out.storage_reason = graph.storage_reason();
    m_out.weight_bytes = graph.weight_bytes();
    m_out.neighbours = graph.slab(0).neighbours();
    for (int s = 0; s < graph.slabs(); ++s) m_out.fragments += graph.slab(s).fragments();
    m_out.phases.add("weights", graph.weight_seconds());
  }

  void trace_group(const Split& graph, const HostGraph& whole, std::int64_t begin,
                   std::int64_t count, std::int16_t* predecessors) {
    const Points<Dim> sources(m_job.sources.begin() + begin, m_job.sources.begin() + begin + count);
    TraceOptions options;
    options.method = m_job.method;
    if (m_job.progress) {
      options.progress = [&, begin, count](double fraction, const std::string& what) {
        m_job.progress((static_cast<double>(begin) + fraction * static_cast<double>(count)) /
                           static_cast<double>(m_job.sources.size()),
                       what);
      };
    }
    T* const times = m_out.times.data() + begin * m_job.grid.size();
    const TraceReport report = graph.trace(sources, times, predecessors, options);
    m_out.report.rounds += report.rounds;
    m_out.report.tile_visits += report.tile_visits;
    m_out.report.relaxations += report.relaxations;
    m_out.report.fragments += report.fragments;
    m_out.report.exchanges += report.exchanges;
    m_out.report.batches = begin == 0 ? report.batches : m_out.report.batches + report.batches;
    for (const auto& [phase, seconds] : report.times.phases()) {
      m_out.phases.add(phase.substr(phase.rfind(':') + 1), seconds);
    }
    const auto exec = host_instance();
    ScopedPhase phase(exec, m_out.phases, "rays");
    using Times = FieldPerSource<T, Dim, Kokkos::HostSpace>;
    using Predecessors = FieldPerSource<std::int16_t, Dim, Kokkos::HostSpace>;
    append<Dim>(
        m_out.paths,
        ray_paths<T, Dim, Kokkos::HostSpace>(
            exec, whole, sources, wrap_field_per_source<Times>(times, count, m_job.grid),
            wrap_field_per_source<Predecessors>(predecessors, count, m_job.grid), m_job.receivers,
            [&](std::int64_t points) { check_ray_memory(m_job, m_out, count, points); }));
  }

  const std::vector<Instance<Memory>>& m_instances;
  const TraceJob<T, Dim>& m_job;
  std::size_t m_nodes;
  TraceResult<T, Dim> m_out;
};

}  // namespace detail

/// \brief Traces all sources with one model over several instances.
/// \param instances at least one, on the same or on different devices; they are waited for
/// \param job velocity, sources, receivers and options; its number of devices is not used
/// \throws InputError as SplitGraph, MemoryError if a slab does not fit its part of the memory, or
/// rays do not fit theirs
template <class T, int Dim, class Memory>
TraceResult<T, Dim> trace_split_sources(const std::vector<Instance<Memory>>& instances,
                                        const TraceJob<T, Dim>& job) {
  return detail::SplitTracer<T, Dim, Memory>(instances, job).run();
}

}  // namespace moho::rays
