// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of the shortest-path ray tracer, their names, and nothing that needs Kokkos.

#include <moho/core/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::rays {

/// Largest radius of the neighbourhood: 8 in 2D, 4 in 3D.
template <int Dim>
inline constexpr int max_radius = Dim == 2 ? 8 : 4;

/// Which vertices of the box of radius r around a vertex are its neighbours.
enum class Star {
  coprime,  ///< offsets whose components have no common divisor; all others are sums of these
  full      ///< all (2r+1)^Dim - 1 of them, as in the paper
};

/// How the traveltime of an edge follows from the model at the nodes.
enum class WeightRule {
  slowness,  ///< slowness (bi/tri)linear in every cell, integrated exactly
  velocity,  ///< velocity (bi/tri)linear in every cell, its reciprocal integrated exactly
  cells,     ///< slowness constant in every cell, the mean of the cell's corners
  sampled    ///< the paper's program: r+1 equal steps, on each the reciprocal of the mean end
             ///< velocities
};

/// How the shortest paths are found. All methods give the same traveltimes.
enum class Method {
  active_tiles,  ///< tiles whose halo changed relax many times in scratch; the default
  relaxation,    ///< the paper's Relaxation and WriteBack kernels over the whole model
  push,          ///< Harish and Narayanan's push with atomics, for comparison
  near_far,      ///< a near-far worklist of vertices (delta stepping), for comparison
  dijkstra       ///< the sequential reference, on the host
};

/// Where edge weights come from.
enum class WeightStorage {
  automatic,  ///< what is quicker on the space, if it fits the memory budget
  stored,     ///< a table of half of the symmetric weights, made once for all sources
  on_the_fly  ///< computed from the slowness wherever a tile is relaxed
};

/// Options of a GridGraph.
struct GraphOptions {
  int radius = 6;                                    ///< 1 to max_radius<Dim>
  Star star = Star::coprime;                         ///< neighbours within the radius
  WeightRule rule = WeightRule::slowness;            ///< interpolant behind the weights
  WeightStorage storage = WeightStorage::automatic;  ///< table or on the fly
  std::size_t memory_budget = 0;  ///< bytes allowed in the space; 0: what is free
  std::int64_t sources = 1;       ///< how many are expected; helps the choice of storage
};

/// Options of trace().
struct TraceOptions {
  Method method = Method::active_tiles;  ///< how the paths are found
  int sweeps_per_visit = 0;  ///< most relaxations of a tile in scratch per load; 0: tuned value
  double tiles_ahead = 0.0;  ///< how many tiles ahead of the earliest a tile may be; 0: tuned value
  Progress progress = {};    ///< told how far the work is
};

/// Name of a neighbourhood, as on the command line of programs and in reports.
inline std::string to_string(Star star) { return star == Star::coprime ? "coprime" : "full"; }

/// Name of a weight rule, as on the command line of programs and in reports.
inline std::string to_string(WeightRule rule) {
  constexpr const char* names[] = {"slowness", "velocity", "cells", "sampled"};
  return names[static_cast<int>(rule)];
}

/// Name of a method, as on the command line of programs and in reports.
inline std::string to_string(Method method) {
  constexpr const char* names[] = {"active_tiles", "relaxation", "push", "near_far", "dijkstra"};
  return names[static_cast<int>(method)];
}

/// Name of a storage, as on the command line of programs and in reports.
inline std::string to_string(WeightStorage storage) {
  constexpr const char* names[] = {"automatic", "stored", "on_the_fly"};
  return names[static_cast<int>(storage)];
}

}  // namespace moho::rays
