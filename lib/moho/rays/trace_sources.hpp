// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Traveltimes and rays of many sources from a velocity on the host, in groups that fit the
/// memory.

#include <moho/core/copy.hpp>
#include <moho/core/node_values.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/core/wrap.hpp>
#include <moho/rays/graph.hpp>
#include <moho/rays/paths.hpp>
#include <moho/rays/split_sources.hpp>
#include <moho/rays/trace.hpp>
#include <moho/rays/trace_job.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::rays {

namespace detail {

/// Traces sources in groups that fit the memory.
template <class T, int Dim, class Memory>
class SourceTracer {
 public:
  SourceTracer(const Instance<Memory>& exec, const TraceJob<T, Dim>& job)
      : m_exec(exec),
        m_job(job),
        m_nodes(static_cast<std::size_t>(job.grid.size())),
        m_sources(static_cast<std::int64_t>(job.sources.size())) {}

  TraceResult<T, Dim> run() {
    m_out.device = device_name(m_exec);
    m_out.threads = m_exec.concurrency();
    choose_group();
    send_velocity();
    if (m_job.progress) m_job.progress(0.0, "weights");
    const Stopwatch watch;
    make_graph();
    describe_graph();
    m_out.phases.add("prepare", std::max(watch.seconds() - m_graph->weight_seconds(), 0.0));
    allocate_results();
    for (std::int64_t begin = 0; begin < m_sources; begin += m_group) trace_group(begin);
    return std::move(m_out);
  }

 private:
  static constexpr bool host = is_host_memory<Memory>;
  using Exec = Instance<Memory>;
  using Velocity = Field<T, Dim, Memory>;
  using Times = FieldPerSource<T, Dim, Memory>;
  using Predecessors = FieldPerSource<std::int16_t, Dim, Memory>;
  using HostVelocity = Field<T, Dim, Kokkos::HostSpace>;
  using HostTimes = FieldPerSource<T, Dim, Kokkos::HostSpace>;

  void choose_group();
  void send_velocity();
  void make_graph();
  void describe_graph();
  void allocate_results();
  void trace_group(std::int64_t begin);

  const Instance<Memory>& m_exec;
  const TraceJob<T, Dim>& m_job;
  std::size_t m_nodes;
  std::int64_t m_sources, m_group = 1;  // sources of a call of trace()
  // the model; the results of a source
  std::size_t m_model_bytes = 0, m_source_bytes = 0;
  bool m_limited = false;  // the budget is that of the job
  Velocity m_velocity;
  std::optional<GridGraph<T, Dim, Memory>> m_graph;
  Times m_times;  // of a group, on devices
  Predecessors m_predecessors;
  TraceResult<T, Dim> m_out;
};

template <class T, int Dim, class Memory>
void SourceTracer<T, Dim, Memory>::choose_group() {
  // on hosts the traveltimes of all sources are allocated from the beginning
  m_model_bytes = m_nodes * sizeof(T) * (host ? 1 + static_cast<std::size_t>(m_sources) : 1);
  m_source_bytes = m_nodes * ((host ? 0 : sizeof(T)) + sizeof(std::int16_t));
  m_out.budget = memory_budget(m_exec, m_job.memory);
  m_limited = m_out.budget == m_job.memory;
  if (m_model_bytes + m_source_bytes > m_out.budget) {
    throw MemoryError(
        concat("memory: the model and the traveltimes and predecessors of one source take ",
               format_bytes(static_cast<double>(m_model_bytes + m_source_bytes)),
               " (allowed: ", format_bytes(static_cast<double>(m_out.budget)),
               m_limited ? concat(", the ", m_job.names.memory, " given") : ", what is free",
               "): ", m_limited ? concat("raise ", m_job.names.memory, ", ") : "",
               "take fewer nodes or ", m_job.names.single_precision));
  }
  // the fields may take half of the memory when there are many sources; the graph takes the rest
  const std::size_t room = m_out.budget / 2 > m_model_bytes ? m_out.budget / 2 - m_model_bytes : 0;
  m_group =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(room / m_source_bytes), 1, m_sources);
}

template <class T, int Dim, class Memory>
void SourceTracer<T, Dim, Memory>::send_velocity() {
  ScopedPhase<Exec> phase(m_exec, m_out.phases, "transfer");
  T* data = const_cast<T*>(m_job.borrowed_velocity != nullptr ? m_job.borrowed_velocity
                                                              : m_job.velocity.data());
  if constexpr (host) {
    m_velocity = wrap_field<Velocity>(data, m_job.grid);
  } else {
    m_velocity = make_field<T>(m_exec, m_job.grid, "velocity");
    copy(m_exec, m_velocity, wrap_field<HostVelocity>(data, m_job.grid));
  }
}

// With smaller groups where the weights do not fit beside the fields.
template <class T, int Dim, class Memory>
void SourceTracer<T, Dim, Memory>::make_graph() {
  while (!m_graph) {
    m_out.field_bytes = m_model_bytes + m_source_bytes * static_cast<std::size_t>(m_group);
    GraphOptions options = m_job.graph;
    options.sources = std::max(m_sources, m_job.all_sources);
    options.memory_budget = std::max<std::size_t>(m_out.budget - m_out.field_bytes, 1);
    try {
      m_graph.emplace(m_exec, m_job.grid, m_velocity, options);
    } catch (const MemoryError& error) {
      if (m_group == 1) {
        throw MemoryError(concat(
            error.what(), "; ", format_bytes(static_cast<double>(m_out.field_bytes)), " of ",
            m_limited ? m_job.names.memory + " " : "the ",
            format_bytes(static_cast<double>(m_out.budget)), m_limited ? "" : " that are free",
            " hold the model and the results of one source"));
      }
      m_group = (m_group + 1) / 2;
    }
  }
}

template <class T, int Dim, class Memory>
void SourceTracer<T, Dim, Memory>::describe_graph() {
  const GridGraph<T, Dim, Memory>& graph = *m_graph;
  m_out.groups = (m_sources + m_group - 1) / m_group;
  m_exec.fence();
  m_out.phases.add("weights", graph.weight_seconds());
  m_out.storage = graph.storage();
  m_out.storage_reason = graph.storage_reason();
  m_out.weight_bytes = graph.weight_bytes();
  m_out.fragments = graph.fragments();
  m_out.neighbours = graph.neighbours();
  m_out.min_bytes = graph.min_bytes() + m_nodes * sizeof(std::int16_t);  // predecessors
  TraceOptions options;
  options.method = m_job.method;
  const std::size_t batch =
      sources_per_batch<T, Dim, Memory>(m_exec, graph, static_cast<std::size_t>(m_group), options);
  m_out.solver_bytes = bytes_per_source(graph, m_job.method) * batch +
                       bytes_of_method(graph, m_job.method, batch) +
                       static_cast<std::size_t>(graph.data().grid.size) * sizeof(T);
}

template <class T, int Dim, class Memory>
void SourceTracer<T, Dim, Memory>::allocate_results() {
  ScopedPhase<Exec> phase(m_exec, m_out.phases, "transfer");
  if (m_job.borrowed_times != nullptr) {
    m_out.times = wrap_field_per_source<HostTimes>(m_job.borrowed_times, m_sources, m_job.grid);
  } else {
    m_out.times =
        make_field_per_source<T>(Instance<Kokkos::HostSpace>(Kokkos::DefaultHostExecutionSpace()),
                                 m_sources, m_job.grid, "traveltime on host");
  }
  if constexpr (!host) {
    m_times = make_field_per_source<T>(m_exec, m_group, m_job.grid, "traveltime");
  }
  m_predecessors = make_field_per_source<std::int16_t>(m_exec, m_group, m_job.grid, "predecessor");
}

template <class T, int Dim, class Memory>
void SourceTracer<T, Dim, Memory>::trace_group(std::int64_t begin) {
  const std::int64_t count = std::min(m_group, m_sources - begin);
  const Points<Dim> sources(m_job.sources.begin() + begin, m_job.sources.begin() + begin + count);
  T* result = m_out.times.data() + begin * m_job.grid.size();
  Times times = wrap_field_per_source<Times>(host ? result : m_times.data(), count, m_job.grid);
  Predecessors predecessors =
      wrap_field_per_source<Predecessors>(m_predecessors.data(), count, m_job.grid);
  TraceOptions options;
  options.method = m_job.method;
  if (m_job.progress) {
    options.progress = [&, begin, count](double fraction, const std::string& what) {
      m_job.progress((static_cast<double>(begin) + fraction * static_cast<double>(count)) /
                         static_cast<double>(m_sources),
                     what);
    };
  }
  const Stopwatch watch;
  const TraceReport report =
      trace<T, Dim, Memory>(m_exec, *m_graph, sources, times, predecessors, options);
  double preparing = watch.seconds();
  m_out.report.rounds += report.rounds;
  m_out.report.tile_visits += report.tile_visits;
  m_out.report.relaxations += report.relaxations;
  m_out.report.fragments += report.fragments;
  m_out.report.batches = begin == 0 ? report.batches : m_out.report.batches + report.batches;
  // "rays::trace" becomes "trace"
  for (const auto& [phase, seconds] : report.times.phases()) {
    const auto colon = phase.rfind(':');
    m_out.phases.add(colon == std::string::npos ? phase : phase.substr(colon + 1), seconds);
    preparing -= seconds;
  }
  m_out.phases.add("prepare", std::max(preparing, 0.0));
  {
    ScopedPhase<Exec> phase(m_exec, m_out.phases, "rays");
    append<Dim>(m_out.paths,
                ray_paths<T, Dim, Memory>(
                    m_exec, *m_graph, sources, times, predecessors, m_job.receivers,
                    [&](std::int64_t points) { check_ray_memory(m_job, m_out, count, points); }));
  }
  if constexpr (!host) {
    ScopedPhase<Exec> phase(m_exec, m_out.phases, "transfer");
    copy(m_exec, wrap_field_per_source<HostTimes>(result, count, m_job.grid), times);
  }
}

}  // namespace detail

/// \brief Traces all sources, in groups where the memory does not hold the fields of all.
/// \param exec where everything runs; it is waited for. With several devices the first one
/// \param job velocity, sources, receivers and options
/// \throws InputError as GridGraph and trace(), without sources, or for a velocity of another size
/// than the grid; MemoryError if the memory allowed does not hold the model and the result of one
/// source, or all rays
template <class T, int Dim, class Memory>
TraceResult<T, Dim> trace_sources(const Instance<Memory>& exec, const TraceJob<T, Dim>& job) {
  if (job.sources.empty())
    throw InputError("sources: there are none (allowed: one or more): give a source");
  if (job.borrowed_velocity == nullptr) {
    check_node_values("velocity", job.velocity.size(), job.grid);
  }
  if (job.devices == 1 && job.slabs < 2)
    return detail::SourceTracer<T, Dim, Memory>(exec, job).run();
  return trace_split_sources<T, Dim, Memory>(instances_on_devices(exec, job.devices), job);
}

}  // namespace moho::rays
