// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of trace_rays that runs on a space, compiled once for each memory.

#include <moho/core/field.hpp>
#include <moho/core/instance.hpp>
#include <moho/rays/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::examples::trace_rays {

/// Checked input.
template <class T, int Dim>
struct Job {
  Grid<Dim> grid;
  std::vector<T> velocity;  ///< of the grid's nodes, last axis contiguous
  std::vector<Point<Dim>> sources;
  std::vector<Point<Dim>> receivers;
  std::int64_t all_sources = 0;  ///< with those of other processes, by which weights are kept
  rays::GraphOptions graph;
  rays::Method method = rays::Method::active_tiles;
  std::size_t memory = 0;  ///< most bytes to take in the space; 0: what is free
  Progress progress;
};

/// How a run went.
struct Results {
  rays::TraceReport report;
  PhaseTimes phases;  ///< "transfer", "weights", "trace", "predecessors", "rays"
  std::string device;
  int threads = 1;
  rays::WeightStorage storage = rays::WeightStorage::stored;
  std::string storage_reason;
  std::size_t weight_bytes = 0;
  int neighbours = 0;
  std::int64_t groups = 1;       ///< calls of rays::trace, more than one if memory was short
  std::size_t budget = 0;        ///< bytes allowed in the space
  std::size_t field_bytes = 0;   ///< bytes of velocity, traveltimes and predecessors in the space
  std::size_t solver_bytes = 0;  ///< most bytes that the solver takes beside them and the weights
};

/// Everything that the files are written from.
template <class T, int Dim>
struct Outcome : Results {
  FieldPerSource<T, Dim, Kokkos::HostSpace> times;
  rays::RayPaths<Dim> paths;
};

/// Traces all sources on a space.
/// \throws MemoryError if the memory allowed does not hold the model and the result of one source
template <class T, int Dim, class Memory>
Outcome<T, Dim> compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job);

}  // namespace moho::examples::trace_rays
