// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options, reports and small types of the shortest-path ray tracer.

#include <moho/core/field.hpp>
#include <moho/core/progress.hpp>
#include <moho/core/timer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::rays {

/// Largest radius of the neighbourhood: 8 in 2D, 4 in 3D.
template <int Dim>
inline constexpr int max_radius = Dim == 2 ? 8 : 4;

/// Which vertices of the box of radius r around a vertex are its neighbours.
enum class Star {
  coprime,  ///< offsets whose components have no common divisor: nothing is lost, the rest are sums
            ///< of these
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

/// Predecessor of a vertex that was reached straight from the source.
inline constexpr std::int16_t from_source = -1;
/// Predecessor of a vertex that no path reaches.
inline constexpr std::int16_t unreached = -2;

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
  Method method = Method::active_tiles;  ///< how
  int sweeps_per_visit = 0;  ///< most relaxations of a tile in scratch per load; 0: tuned value
  double tiles_ahead = 0.0;  ///< how many tiles ahead of the earliest a tile may be; 0: tuned value
  Progress progress = {};    ///< told how far the work is
};

/// What a solver did.
struct TraceReport {
  std::int64_t rounds = 0;       ///< sweeps, or rounds over the list of active tiles
  std::int64_t tile_visits = 0;  ///< tiles loaded into scratch (active_tiles)
  std::int64_t relaxations = 0;  ///< edges looked at
  std::int64_t batches = 1;      ///< groups of sources, more than one if memory was short
  PhaseTimes times;              ///< "trace", "predecessors"
};

/// Rays from sources to receivers as polylines, on the host, in compressed rows: the points of ray
/// k are points[first[k]] ... points[first[k + 1] - 1], from source to receiver, in the grid's
/// units. Ray s * receivers + q belongs to source s and receiver q. A receiver that no path reaches
/// has no points and an infinite time.
template <int Dim>
struct RayPaths {
  std::int64_t sources = 0;         ///< number of sources
  std::int64_t receivers = 0;       ///< number of receivers
  std::vector<std::int64_t> first;  ///< sources * receivers + 1 offsets into points
  std::vector<Point<Dim>> points;   ///< vertices of all rays
  std::vector<double> traveltime;   ///< seconds, one a ray
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
