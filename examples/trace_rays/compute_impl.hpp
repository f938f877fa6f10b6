// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "trace_rays/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/rays/graph.hpp>
#include <moho/rays/paths.hpp>
#include <moho/rays/trace.hpp>

#include <algorithm>
#include <optional>

namespace moho::examples::trace_rays {

namespace detail {

template <class View, int Dim>
View wrap(typename View::value_type* data, const Grid<Dim>& grid) {
  if constexpr (Dim == 2) {
    return View(data, grid.extents[0], grid.extents[1]);
  } else {
    return View(data, grid.extents[0], grid.extents[1], grid.extents[2]);
  }
}

template <class View, int Dim>
View wrap(typename View::value_type* data, std::int64_t sources, const Grid<Dim>& grid) {
  if constexpr (Dim == 2) {
    return View(data, sources, grid.extents[0], grid.extents[1]);
  } else {
    return View(data, sources, grid.extents[0], grid.extents[1], grid.extents[2]);
  }
}

// Appends the rays of further sources to the same receivers.
template <int Dim>
void append(rays::RayPaths<Dim>& all, const rays::RayPaths<Dim>& more) {
  if (all.sources == 0) {
    all = more;
    return;
  }
  const std::int64_t shift = static_cast<std::int64_t>(all.points.size());
  all.sources += more.sources;
  for (std::size_t k = 1; k < more.first.size(); ++k) all.first.push_back(more.first[k] + shift);
  all.points.insert(all.points.end(), more.points.begin(), more.points.end());
  all.traveltime.insert(all.traveltime.end(), more.traveltime.begin(), more.traveltime.end());
}

}  // namespace detail

template <class T, int Dim, class Memory>
Outcome<T, Dim> compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job) {
  constexpr bool host = is_host_memory<Memory>;
  using Exec = Instance<Memory>;
  Outcome<T, Dim> out;
  out.device = device_name(exec);
  out.threads = exec.concurrency();

  const auto nodes = static_cast<std::size_t>(job.grid.size());
  const auto sources = static_cast<std::int64_t>(job.sources.size());
  // On hosts the traveltimes of all sources are there from the beginning.
  const std::size_t model_bytes =
      nodes * sizeof(T) * (host ? 1 + static_cast<std::size_t>(sources) : 1);
  const std::size_t source_bytes = nodes * ((host ? 0 : sizeof(T)) + sizeof(std::int16_t));
  out.budget = memory_budget(exec, job.memory);
  const bool asked = out.budget == job.memory;

  if (model_bytes + source_bytes > out.budget) {
    throw MemoryError(
        concat("memory: the model and the traveltimes and predecessors of one source take ",
               format_bytes(static_cast<double>(model_bytes + source_bytes)),
               " (allowed: ", format_bytes(static_cast<double>(out.budget)),
               asked ? ", the --memory given" : ", what is free",
               "): ", asked ? "raise --memory, " : "", "take fewer nodes or --precision float"));
  }
  // The fields may take half of the memory when there are many sources; the graph takes the rest.
  const std::size_t room = out.budget / 2 > model_bytes ? out.budget / 2 - model_bytes : 0;
  std::int64_t group =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(room / source_bytes), 1, sources);

  using Velocity = Field<T, Dim, Memory>;
  using Times = FieldPerSource<T, Dim, Memory>;
  using Predecessors = FieldPerSource<std::int16_t, Dim, Memory>;
  using Host = Kokkos::HostSpace;
  using HostVelocity = Field<T, Dim, Host>;
  using HostTimes = FieldPerSource<T, Dim, Host>;

  Velocity velocity;
  {
    ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    T* data = const_cast<T*>(job.velocity.data());
    if constexpr (host) {
      velocity = detail::wrap<Velocity>(data, job.grid);
    } else {
      velocity = make_field<T>(exec, job.grid, "velocity");
      copy(exec, velocity, detail::wrap<HostVelocity>(data, job.grid));
    }
  }

  if (job.progress) job.progress(0.0, "weights");
  std::optional<rays::GridGraph<T, Dim, Memory>> made;
  while (!made) {
    out.field_bytes = model_bytes + source_bytes * static_cast<std::size_t>(group);
    rays::GraphOptions options = job.graph;
    options.sources = std::max(sources, job.all_sources);
    options.memory_budget = std::max<std::size_t>(out.budget - out.field_bytes, 1);
    try {
      made.emplace(exec, job.grid, velocity, options);
    } catch (const MemoryError& error) {
      if (group == 1) {
        throw MemoryError(
            concat(error.what(), "; ", format_bytes(static_cast<double>(out.field_bytes)), " of ",
                   asked ? "--memory " : "the ", format_bytes(static_cast<double>(out.budget)),
                   asked ? "" : " that are free", " hold the model and the results of one source"));
      }
      group = (group + 1) / 2;
    }
  }
  const rays::GridGraph<T, Dim, Memory>& graph = *made;
  out.groups = (sources + group - 1) / group;
  exec.fence();
  out.phases.add("weights", graph.weight_seconds());
  out.storage = graph.storage();
  out.storage_reason = graph.storage_reason();
  out.weight_bytes = graph.weight_bytes();
  out.neighbours = graph.neighbours();
  rays::TraceOptions asked_of_solver;
  asked_of_solver.method = job.method;
  out.solver_bytes = rays::detail::bytes_per_source(graph, job.method) *
                         rays::detail::sources_per_batch<T, Dim, Memory>(
                             exec, graph, static_cast<std::size_t>(group), asked_of_solver) +
                     static_cast<std::size_t>(graph.data().grid.size) * sizeof(T) +
                     // for which the graph keeps room
                     nodes * (sizeof(T) + sizeof(std::int16_t));

  Times group_times;
  Predecessors group_predecessors;
  {
    ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    out.times = make_field_per_source<T>(Instance<Host>(Kokkos::DefaultHostExecutionSpace()),
                                         sources, job.grid, "traveltime on host");
    if constexpr (!host)
      group_times = make_field_per_source<T>(exec, group, job.grid, "traveltime");
    group_predecessors = make_field_per_source<std::int16_t>(exec, group, job.grid, "predecessor");
  }

  for (std::int64_t begin = 0; begin < sources; begin += group) {
    const std::int64_t count = std::min(group, sources - begin);
    const std::vector<Point<Dim>> some(job.sources.begin() + begin,
                                       job.sources.begin() + begin + count);
    T* result = out.times.data() + begin * job.grid.size();
    Times times = detail::wrap<Times>(host ? result : group_times.data(), count, job.grid);
    Predecessors predecessors =
        detail::wrap<Predecessors>(group_predecessors.data(), count, job.grid);

    rays::TraceOptions options;
    options.method = job.method;
    if (job.progress) {
      options.progress = [&, begin, count](double fraction, const std::string& what) {
        job.progress((static_cast<double>(begin) + fraction * static_cast<double>(count)) /
                         static_cast<double>(sources),
                     what);
      };
    }
    const rays::TraceReport report =
        rays::trace<T, Dim, Memory>(exec, graph, some, times, predecessors, options);
    out.report.rounds += report.rounds;
    out.report.tile_visits += report.tile_visits;
    out.report.relaxations += report.relaxations;
    out.report.batches = begin == 0 ? report.batches : out.report.batches + report.batches;
    // "rays::trace" is "trace" to the users of this program.
    for (const auto& [phase, seconds] : report.times.phases()) {
      const auto colon = phase.rfind(':');
      out.phases.add(colon == std::string::npos ? phase : phase.substr(colon + 1), seconds);
    }

    {
      ScopedPhase<Exec> phase(exec, out.phases, "rays");
      detail::append<Dim>(out.paths, rays::ray_paths<T, Dim, Memory>(exec, graph, some, times,
                                                                     predecessors, job.receivers));
    }
    if constexpr (!host) {
      ScopedPhase<Exec> phase(exec, out.phases, "transfer");
      copy(exec, detail::wrap<HostTimes>(result, count, job.grid), times);
    }
  }
  return out;
}

/// The four kinds of call on one memory.
#define MOHO_TRACE_RAYS(Memory)                                                      \
  template Outcome<float, 2> compute_on<float, 2, Memory>(const Instance<Memory>&,   \
                                                          const Job<float, 2>&);     \
  template Outcome<float, 3> compute_on<float, 3, Memory>(const Instance<Memory>&,   \
                                                          const Job<float, 3>&);     \
  template Outcome<double, 2> compute_on<double, 2, Memory>(const Instance<Memory>&, \
                                                            const Job<double, 2>&);  \
  template Outcome<double, 3> compute_on<double, 3, Memory>(const Instance<Memory>&, \
                                                            const Job<double, 3>&)

}  // namespace moho::examples::trace_rays
