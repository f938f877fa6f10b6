// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options, reports and small types of the shortest-path ray tracer.

#include <moho/core/grid.hpp>
#include <moho/core/timer.hpp>
#include <moho/rays/options.hpp>

#include <cstdint>
#include <vector>

namespace moho::rays {

/// Predecessor of a vertex that is joined directly to the source.
inline constexpr std::int16_t from_source = -1;
/// Predecessor of a vertex that no path reaches.
inline constexpr std::int16_t unreached = -2;

/// Statistics of one call of trace().
struct TraceReport {
  std::int64_t rounds = 0;       ///< sweeps, or rounds over the list of active tiles
  std::int64_t tile_visits = 0;  ///< tiles loaded into scratch (active_tiles)
  std::int64_t relaxations = 0;  ///< relaxed edges
  std::int64_t fragments = 0;    ///< tiles whose weights were computed into a block
  std::int64_t exchanges = 0;    ///< of rows between slabs (SplitGraph)
  std::int64_t batches = 1;      ///< groups of sources, more than one if memory was short
  PhaseTimes times;              ///< phases "trace" and "predecessors"
};

/// Rays from sources to receivers as polylines, on the host, in compressed rows. The points of ray
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

}  // namespace moho::rays
