// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Cases of the ray tracer's benchmarks: models, sources, and the timing functions.

#include <moho/core/grid.hpp>
#include <moho/core/instance.hpp>
#include <moho/rays/types.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::bench {

/// One line of the table.
struct RayCase {
  std::string space;                                 ///< name of the execution space
  bool single = true;                                ///< single precision, otherwise double
  rays::Method method = rays::Method::active_tiles;  ///< method of the search
  int n = 128;                                       ///< vertices along each side of the model
  int radius = 6;                                    ///< radius of the neighbourhood
  int sources = 1;                                   ///< sources in one call
  rays::WeightStorage storage = rays::WeightStorage::automatic;  ///< table of weights
  rays::Star star = rays::Star::coprime;                         ///< neighbours of a node
  bool mutex = false;  ///< true: push with mutexes (mutex.hpp) instead of `method`
  rays::WeightRule rule = rays::WeightRule::slowness;  ///< weights of edges
  double table = 0.0;  ///< memory for weights as a part of their table; 0: all that is free
  int instances = 0;   ///< instances on one device that share the model; 0: no slabs
  int devices = 0;     ///< devices that share the model; 0: no slabs
  int slabs = 0;       ///< slabs of each instance; 0: chosen

  /// True if the model is split into slabs.
  bool split() const { return instances + devices > 0; }
  /// True if sequential Dijkstra would take too long and too much memory: the reference is then
  /// trace() with a complete table on the same space, whose bits are expected.
  bool large() const { return n > 2048; }
};

/// Returns the grid of the model: n x n nodes, spacing 10 m.
Grid<2> model_grid(int n);

/// Returns the velocity at depth node k of n: the paper's gradient from 500 m/s to 4000 m/s.
double model_velocity(int k, int n);

/// Returns the column of source `index` of `count`, evenly spaced on the surface. The first one is
/// the corner (0, 0), which has the longest path to the far corner.
int source_column(int index, int count, int n);

/// Returns sequential Dijkstra's n x n traveltimes from the node (column, 0) in the graph of a
/// case. They are cached for the last graph.
template <class T>
const std::vector<T>& reference_times(const RayCase& what, int column);

/// Times moho::rays::Dijkstra: its weights, the search, and the copy to arrays without dummies.
template <class T>
void time_dijkstra(benchmark::State& state, const RayCase& what);

/// Times moho::rays::trace() as in the paper: model to the space, weights, tracing, results back.
/// The results are traveltimes and predecessors. A host needs no transfers.
template <class Memory>
void time_trace(const Instance<Memory>& exec, benchmark::State& state, const RayCase& what);

/// Seconds of each phase, summed over the iterations of a benchmark.
struct RayPhases {
  double transfer = 0.0;      ///< copies to and from the device
  double weights = 0.0;       ///< computation of weights
  double trace = 0.0;         ///< search
  double predecessors = 0.0;  ///< predecessors from times
  double total() const { return transfer + weights + trace + predecessors; }
  double compute() const { return weights + trace + predecessors; }
};

/// Amount of work of one iteration.
struct RayWork {
  double vertices = 0.0;    ///< vertices of the model
  double sources = 1.0;     ///< sources in one call
  double neighbours = 0.0;  ///< neighbours of a vertex
  /// Terms of the half star's stencils; a weight is a dot product of them.
  double stencil_terms = 0.0;
  double scalar_bytes = 4.0;                                  ///< bytes of a number
  rays::WeightStorage storage = rays::WeightStorage::stored;  ///< of the weights
  double fragments = 0.0;    ///< tiles whose weights were computed into a block, all iterations
  double exchanges = 0.0;    ///< of rows between slabs, all iterations
  double relaxations = 0.0;  ///< relaxations by the solver, over all iterations
  double rounds = 0.0;       ///< rounds of the solver, over all iterations
  double bandwidth = 0.0;    ///< copy bandwidth of the space, bytes per second
};

/// Results of the output's check.
struct RayCheck {
  /// Largest difference of traveltimes relative to the reference.
  double max_relative_difference = 0.0;
  double mean_time = 0.0;                ///< mean over all vertices of the first source, seconds
  std::int64_t without_predecessor = 0;  ///< vertices whose predecessor is absent or not earlier
};

/// Compares one source's outputs with the reference. `step` is the flat offset of the neighbour in
/// each direction; predecessors may be null.
template <class T>
void check_source(const std::vector<T>& reference, const T* times, const std::int16_t* predecessors,
                  const std::vector<std::int64_t>& step, RayCheck& check);

/// Writes counters and label, and reports an error if the check failed. The check fails for
/// relative traveltime differences above `tolerance` and for vertices without predecessor.
void report(benchmark::State& state, const RayPhases& phases, double best, const RayWork& work,
            const RayCheck& check, double tolerance = 1e-5);

}  // namespace moho::bench
