// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What the benchmarks of the ray tracer run: models, sources, and the functions that time
/// them.

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
  std::string space;
  bool single = true;  ///< single precision
  rays::Method method = rays::Method::active_tiles;
  int n = 128;      ///< vertices along each side of the model
  int radius = 6;   ///< of the neighbourhood
  int sources = 1;  ///< in one call
  rays::WeightStorage storage = rays::WeightStorage::automatic;
  rays::Star star = rays::Star::coprime;
};

/// Nodes of the model: n x n, 10 m apart.
Grid<2> model_grid(int n);

/// Velocity at depth node k of n: the paper's vertical gradient, 500 m/s at the top, 4000 m/s at
/// the bottom.
double model_velocity(int k, int n);

/// Column of source `index` of `count`, all on the surface and evenly apart. The first is the
/// corner (0, 0), which has the longest way to the far corner.
int source_column(int index, int count, int n);

/// Sequential Dijkstra's traveltimes from the node (column, 0), n x n of them. Kept for the last
/// (n, radius) that was asked for.
template <class T>
const std::vector<T>& reference_times(int n, int radius, int column);

/// Time of moho::rays::Dijkstra: its weights, the search, and the copy to arrays without dummies.
template <class T>
void time_dijkstra(benchmark::State& state, const RayCase& what);

/// Time of moho::rays::trace() as the paper counts it: the model travels to the space, weights,
/// tracing, traveltimes and predecessors travel back. On a host nothing travels.
template <class Memory>
void time_trace(const Instance<Memory>& exec, benchmark::State& state, const RayCase& what);

/// Seconds by phase, summed over the iterations of a benchmark.
struct RayPhases {
  double transfer = 0.0;
  double weights = 0.0;
  double trace = 0.0;
  double predecessors = 0.0;
  double total() const { return transfer + weights + trace + predecessors; }
  double compute() const { return weights + trace + predecessors; }
};

/// Size of the work of one iteration.
struct RayWork {
  double vertices = 0.0;  ///< of the model
  double sources = 1.0;
  double neighbours = 0.0;     ///< of a vertex
  double stencil_terms = 0.0;  ///< of the half star; a weight is a dot product of so many
  double scalar_bytes = 4.0;
  bool stored = true;        ///< weights in a table
  double relaxations = 0.0;  ///< that the solver did, over all iterations
  double rounds = 0.0;       ///< likewise
  double bandwidth = 0.0;    ///< of a copy in the space, bytes a second
};

/// What the outputs were found to be.
struct RayCheck {
  double max_relative_difference = 0.0;  ///< of traveltimes, to the reference
  double mean_time = 0.0;                ///< over all vertices of the first source, seconds
  std::int64_t without_predecessor = 0;  ///< vertices whose predecessor is missing or not earlier
};

/// Compares one source's outputs with the reference. `step` is the flat distance to the neighbour
/// in each direction; predecessors may be null.
template <class T>
void check_source(const std::vector<T>& reference, const T* times, const std::int16_t* predecessors,
                  const std::vector<std::int64_t>& step, RayCheck& check);

/// Writes counters and label; reports an error if the check failed: traveltimes that differ by more
/// than `tolerance` relative, or vertices without predecessor.
void report(benchmark::State& state, const RayPhases& phases, double best, const RayWork& work,
            const RayCheck& check, double tolerance = 1e-5);

}  // namespace moho::bench
