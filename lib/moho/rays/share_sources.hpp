// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sources of a job shared among processes: the job is sent to them, and results are
/// collected.
///
/// `Processes` is a class of the caller with alone(), root(), rank(), size(), broadcast(void*,
/// std::size_t) from the root, and gather_bytes(const std::vector<char>&), which returns the bytes
/// of every process on the root.

#include <moho/core/copy.hpp>
#include <moho/core/ranks.hpp>
#include <moho/rays/trace_sources.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace moho::rays {

namespace detail {

/// Sends every process the list of the root.
template <class Processes, class T>
void broadcast_values(Processes& processes, std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::uint64_t count = values.size();
  processes.broadcast(&count, sizeof(count));
  values.resize(static_cast<std::size_t>(count));
  if (count > 0) processes.broadcast(values.data(), values.size() * sizeof(T));
}

}  // namespace detail

/// \brief Sends every process the root's job with the process's part of the sources.
///
/// Equations 7 to 10 of Couder-Castaneda et al. (2013) divide the sources.
template <class Processes, class T, int Dim>
void share_sources(Processes& processes, TraceJob<T, Dim>& job) {
  static_assert(std::is_trivially_copyable_v<GraphOptions>);
  static_assert(std::is_trivially_copyable_v<Grid<Dim>>);
  processes.broadcast(&job.grid, sizeof(job.grid));
  processes.broadcast(&job.graph, sizeof(job.graph));
  processes.broadcast(&job.method, sizeof(job.method));
  processes.broadcast(&job.memory, sizeof(job.memory));
  processes.broadcast(&job.ray_memory, sizeof(job.ray_memory));
  processes.broadcast(&job.devices, sizeof(job.devices));
  processes.broadcast(&job.slabs, sizeof(job.slabs));
  detail::broadcast_values(processes, job.velocity);
  detail::broadcast_values(processes, job.sources);
  detail::broadcast_values(processes, job.receivers);
  job.all_sources = static_cast<std::int64_t>(job.sources.size());
  const mpi::Part part = mpi::part_of(job.all_sources, processes.size(), processes.rank());
  job.sources = {job.sources.begin() + part.first, job.sources.begin() + part.last};
}

/// \brief Collects the results of all processes on the root, in the order of the sources.
///
/// They equal those of one process.
/// \param job of share_sources() \param outcome of trace_sources() of the process; on the root it
/// receives the results of all
template <class Processes, class T, int Dim>
void collect_sources(Processes& processes, const TraceJob<T, Dim>& job,
                     TraceResult<T, Dim>& outcome) {
  if (processes.alone()) return;
  std::vector<char> mine;
  const auto put = [&](const auto* values, std::size_t count) {
    const auto* const bytes = reinterpret_cast<const char*>(values);
    mine.insert(mine.end(), bytes, bytes + count * sizeof(*values));
  };
  struct Head {
    std::int64_t sources, points, rounds, tile_visits, relaxations, batches, groups;
  };
  const auto& paths = outcome.paths;
  const auto own = static_cast<std::int64_t>(job.sources.size());
  const Head head{own,
                  static_cast<std::int64_t>(paths.points.size()),
                  static_cast<std::int64_t>(outcome.report.rounds),
                  static_cast<std::int64_t>(outcome.report.tile_visits),
                  static_cast<std::int64_t>(outcome.report.relaxations),
                  static_cast<std::int64_t>(outcome.report.batches),
                  outcome.groups};
  const auto receivers = static_cast<std::int64_t>(job.receivers.size());
  put(&head, 1);
  if (own > 0) {
    put(outcome.times.data(), static_cast<std::size_t>(own * job.grid.size()));
    put(paths.first.data(), static_cast<std::size_t>(own * receivers + 1));
    put(paths.points.data(), paths.points.size());
    put(paths.traveltime.data(), static_cast<std::size_t>(own * receivers));
  }
  const auto all = processes.gather_bytes(mine);
  if (!processes.root()) return;
  outcome.times =
      make_field_per_source<T>(Instance<Kokkos::HostSpace>(Kokkos::DefaultHostExecutionSpace()),
                               job.all_sources, job.grid, "traveltime of all sources");
  outcome.paths = {};
  outcome.paths.receivers = receivers;
  outcome.paths.first = {0};
  outcome.report.rounds = outcome.report.tile_visits = outcome.report.relaxations = 0;
  outcome.report.batches = 0;
  outcome.groups = 0;
  T* times = outcome.times.data();
  for (const std::vector<char>& theirs : all) {
    const char* at = theirs.data();
    const auto get = [&](auto* values, std::size_t count) {
      std::memcpy(values, at, count * sizeof(*values));
      at += count * sizeof(*values);
    };
    Head part{};
    get(&part, 1);
    outcome.report.rounds += static_cast<decltype(outcome.report.rounds)>(part.rounds);
    outcome.report.tile_visits +=
        static_cast<decltype(outcome.report.tile_visits)>(part.tile_visits);
    outcome.report.relaxations +=
        static_cast<decltype(outcome.report.relaxations)>(part.relaxations);
    outcome.report.batches += static_cast<decltype(outcome.report.batches)>(part.batches);
    outcome.groups += part.groups;
    if (part.sources == 0) continue;
    get(times, static_cast<std::size_t>(part.sources * job.grid.size()));
    times += part.sources * job.grid.size();
    RayPaths<Dim>& whole = outcome.paths;
    const auto shift = static_cast<std::int64_t>(whole.points.size());
    const auto count = static_cast<std::size_t>(part.sources * receivers);
    std::vector<std::int64_t> first(count + 1);
    get(first.data(), first.size());
    for (std::size_t k = 1; k < first.size(); ++k) whole.first.push_back(first[k] + shift);
    whole.points.resize(whole.points.size() + static_cast<std::size_t>(part.points));
    get(whole.points.data() + shift, static_cast<std::size_t>(part.points));
    const std::size_t before = whole.traveltime.size();
    whole.traveltime.resize(before + count);
    get(whole.traveltime.data() + before, count);
    whole.sources += part.sources;
  }
}

}  // namespace moho::rays
