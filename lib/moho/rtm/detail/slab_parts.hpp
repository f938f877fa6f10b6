// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Planes of the slabs of a migration (internal).

#include <moho/core/error.hpp>
#include <moho/stream/kernel/grid_parts.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace moho::rtm::detail {

/// Planes of a grid that is divided into slabs.
struct SlabDivision {
  std::int64_t planes;  ///< of the grid with layers
  std::int64_t beside;  ///< planes that slabs read of a neighbour, positive
  std::int64_t align;   ///< slabs begin at multiples of it
  PlaneRange model;     ///< planes of the model
};

/// Returns the planes of slabs; empty if there would be slabs with fewer planes than neighbours
/// read, or without planes of the model.
inline std::vector<PlaneRange> parts_of(const SlabDivision& grid, std::int64_t devices) {
  if (grid.planes / devices < grid.beside) return {};
  std::vector<PlaneRange> own = stream::equal_parts(grid.planes, devices, grid.beside);
  for (std::size_t g = 1; g < own.size(); ++g) {
    own[g].begin = (own[g].begin + grid.align / 2) / grid.align * grid.align;
    own[g - 1].end = own[g].begin;
  }
  const bool possible = std::all_of(own.begin(), own.end(), [&](const PlaneRange& slab) {
    return slab.count() >= grid.beside && !intersection(slab, grid.model).empty();
  });
  return possible ? own : std::vector<PlaneRange>();
}

/// \brief Returns the planes of slabs.
/// \throws InputError for too many devices, with the largest number
inline std::vector<PlaneRange> divide(const SlabDivision& grid, std::int64_t devices) {
  std::vector<PlaneRange> own = parts_of(grid, devices);
  if (!own.empty()) return own;
  std::int64_t most = std::clamp<std::int64_t>(grid.planes / grid.beside, 1, devices);
  while (most > 1 && parts_of(grid, most).empty()) --most;
  throw InputError(concat("devices is ", devices, " (allowed: up to ", most, ", so that each has ",
                          grid.beside, " planes of the ", grid.planes,
                          ", and planes of the model next to those of layers)"));
}

}  // namespace moho::rtm::detail
