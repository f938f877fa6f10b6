// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of the shortest-path ray tracer and their names; needs no Kokkos.

#include <moho/core/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::rays {

/// Largest radius of the neighbourhood: 8 in 2D, 4 in 3D.
template <int Dim>
inline constexpr int max_radius = Dim == 2 ? 8 : 4;

/// Selection of a vertex's neighbours in the box of radius r around it.
enum class Star {
  coprime,  ///< offsets whose components have no common divisor; all others are sums of these
  full      ///< all (2r+1)^Dim - 1 vertices, as in Monsegny and Agudelo (2013)
};

/// Rule that gives the traveltime of an edge from the model at the nodes.
enum class WeightRule {
  slowness,  ///< slowness (bi/tri)linear in every cell, integrated exactly
  velocity,  ///< velocity (bi/tri)linear in every cell, its reciprocal integrated exactly
  cells,     ///< slowness constant in every cell, the mean of the cell's corners
  /// Monsegny and Agudelo's program: r+1 equal steps. Each has the reciprocal of the mean end
  /// velocities.
  sampled
};

/// Shortest-path method. All methods give the same traveltimes.
enum class Method {
  active_tiles,  ///< tiles whose halo changed relax many times in scratch; the default
  relaxation,  ///< Monsegny and Agudelo's kernels Relaxation and WriteBack over the complete model
  push,        ///< Harish and Narayanan's push with atomics, for comparison
  near_far,    ///< a near-far worklist of vertices (delta stepping), for comparison
  dijkstra     ///< the sequential reference, on the host
};

/// Source of the edge weights.
enum class WeightStorage {
  automatic,   ///< the faster one on the execution space, if it fits the memory budget
  stored,      ///< a table of half of the symmetric weights, computed once for all sources
  on_the_fly,  ///< computed from the slowness at every relaxation of a tile
  /// fragments of the table: those of tiles at the wavefront, computed when a tile becomes active
  /// and kept in the memory that is left (active_tiles; other methods compute on the fly)
  fragments
};

/// Options of a GridGraph.
struct GraphOptions {
  int radius = 6;                          ///< radius of the neighbourhood, 1 to max_radius<Dim>
  Star star = Star::coprime;               ///< selection of neighbours within the radius
  WeightRule rule = WeightRule::slowness;  ///< interpolation of the model on an edge
  WeightStorage storage = WeightStorage::automatic;  ///< stored or on the fly
  std::size_t memory_budget = 0;  ///< bytes allowed in the memory space; 0: the free memory
  std::int64_t sources = 1;       ///< expected number of sources; a criterion for the storage
};

/// Options of trace().
struct TraceOptions {
  Method method = Method::active_tiles;  ///< shortest-path method
  /// Largest number of relaxations of a tile in scratch per load; 0: tuned value.
  int sweeps_per_visit = 0;
  /// Time window of a round, in tiles after the earliest tile; 0: tuned value.
  double tiles_ahead = 0.0;
  Progress progress = {};  ///< receives the progress of the work
};

/// Returns the name of a neighbourhood, for command lines and reports.
inline std::string to_string(Star star) { return star == Star::coprime ? "coprime" : "full"; }

/// Returns the name of a weight rule, for command lines and reports.
inline std::string to_string(WeightRule rule) {
  constexpr const char* names[] = {"slowness", "velocity", "cells", "sampled"};
  return names[static_cast<int>(rule)];
}

/// Returns the name of a method, for command lines and reports.
inline std::string to_string(Method method) {
  constexpr const char* names[] = {"active_tiles", "relaxation", "push", "near_far", "dijkstra"};
  return names[static_cast<int>(method)];
}

/// Returns the name of a storage, for command lines and reports.
inline std::string to_string(WeightStorage storage) {
  constexpr const char* names[] = {"automatic", "stored", "on_the_fly", "fragments"};
  return names[static_cast<int>(storage)];
}

}  // namespace moho::rays
