// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sources shared among processes: data that are sent to them, and data that they return.

#include "ranks/ranks.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/ranks.hpp>
#include <moho/rays/trace_sources.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace moho::examples::trace_rays {

/// Sends every rank the root's job with the rank's part of the sources. Equations 7 to 10 of
/// Couder-Castaneda et al. (2013) divide the sources. \param space name of the space
template <class T, int Dim>
void share(Ranks& ranks, rays::TraceJob<T, Dim>& job, std::string& space) {
  static_assert(std::is_trivially_copyable_v<rays::GraphOptions>);
  static_assert(std::is_trivially_copyable_v<Grid<Dim>>);
  ranks.broadcast(&job.grid, sizeof(job.grid));
  ranks.broadcast(&job.graph, sizeof(job.graph));
  ranks.broadcast(&job.method, sizeof(job.method));
  ranks.broadcast(&job.memory, sizeof(job.memory));
  ranks.broadcast(&job.devices, sizeof(job.devices));
  ranks.broadcast(&job.slabs, sizeof(job.slabs));
  std::vector<char> name(space.begin(), space.end());
  broadcast_list(ranks, name);
  space.assign(name.begin(), name.end());
  broadcast_list(ranks, job.velocity);
  broadcast_list(ranks, job.sources);
  broadcast_list(ranks, job.receivers);
  job.all_sources = static_cast<std::int64_t>(job.sources.size());
  const mpi::Part part = mpi::part_of(job.all_sources, ranks.size(), ranks.rank());
  job.sources = {job.sources.begin() + part.first, job.sources.begin() + part.last};
}

/// Collects the results of all ranks on the root, in the order of the sources.
/// They equal those of one process.
template <class T, int Dim>
void collect(Ranks& ranks, const rays::TraceJob<T, Dim>& job, rays::TraceResult<T, Dim>& outcome) {
  if (ranks.alone()) return;
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
  const auto all = ranks.gather_bytes(mine);
  if (!ranks.root()) return;
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
    rays::RayPaths<Dim>& whole = outcome.paths;
    const auto shift = static_cast<std::int64_t>(whole.points.size());
    const auto rays = static_cast<std::size_t>(part.sources * receivers);
    std::vector<std::int64_t> first(rays + 1);
    get(first.data(), first.size());
    for (std::size_t k = 1; k < first.size(); ++k) whole.first.push_back(first[k] + shift);
    whole.points.resize(whole.points.size() + static_cast<std::size_t>(part.points));
    get(whole.points.data() + shift, static_cast<std::size_t>(part.points));
    const std::size_t before = whole.traveltime.size();
    whole.traveltime.resize(before + rays);
    get(whole.traveltime.data() + before, rays);
    whole.sources += part.sources;
  }
}

}  // namespace moho::examples::trace_rays
