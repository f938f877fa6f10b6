// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Division of a grid into slabs (internal).

#include <moho/core/box.hpp>
#include <moho/core/error.hpp>
#include <moho/stream/slab_plan.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace moho::stream {

namespace detail {

/// Throws InputError if slabs have fewer planes than neighbours read.
inline void check_slabs(std::int64_t planes, std::int64_t devices, std::int64_t halo) {
  if (planes / devices >= halo) return;
  throw InputError(concat("devices is ", devices, " (allowed: up to ",
                          std::max<std::int64_t>(1, planes / halo), " for a grid of ", planes,
                          " planes, of which each reads ", halo, " of its neighbours)"));
}

/// Returns the planes of a slab.
inline PlaneRange slab_planes(std::int64_t planes, std::int64_t devices, std::int64_t device) {
  return {device * planes / devices, (device + 1) * planes / devices};
}

}  // namespace detail

/// \brief Returns the planes of parts with equal numbers of planes.
/// \throws InputError if parts have fewer planes than neighbours read
inline std::vector<PlaneRange> equal_parts(std::int64_t planes, std::int64_t parts,
                                           std::int64_t halo) {
  detail::check_slabs(planes, parts, halo);
  std::vector<PlaneRange> result;
  for (std::int64_t g = 0; g < parts; ++g) {
    result.push_back(detail::slab_planes(planes, parts, g));
  }
  return result;
}

namespace detail {

/// Returns the numbers of planes of parts.
inline std::vector<std::int64_t> plane_counts(const std::vector<PlaneRange>& parts) {
  std::vector<std::int64_t> result;
  for (const PlaneRange& part : parts) result.push_back(part.count());
  return result;
}

/// Planes of a grid that is divided into slabs.
struct SlabDivision {
  std::int64_t planes;     ///< of the grid with layers
  std::int64_t halo;       ///< planes that slabs read of a neighbour, positive
  std::int64_t align;      ///< slabs begin at multiples of it
  PlaneRange model;        ///< planes of the model
  std::int64_t inner = 1;  ///< least number of these in a slab between two others
};

/// Returns true if all slabs have as many planes as neighbours read, and those of the model.
inline bool possible(const SlabDivision& grid, const std::vector<PlaneRange>& own) {
  for (std::size_t g = 0; g < own.size(); ++g) {
    const bool inner = g > 0 && g + 1 < own.size();
    if (own[g].count() < grid.halo) return false;
    if (intersection(own[g], grid.model).count() < (inner ? grid.inner : 1)) return false;
  }
  return true;
}

/// Returns the planes of slabs; empty if not possible().
inline std::vector<PlaneRange> parts_of(const SlabDivision& grid, std::int64_t devices) {
  if (grid.planes / devices < grid.halo) return {};
  std::vector<PlaneRange> own = equal_parts(grid.planes, devices, grid.halo);
  for (std::size_t g = 1; g < own.size(); ++g) {
    own[g].begin = (own[g].begin + grid.align / 2) / grid.align * grid.align;
    own[g - 1].end = own[g].begin;
  }
  return possible(grid, own) ? own : std::vector<PlaneRange>();
}

/// \brief Returns the planes of slabs.
/// \throws TooManySlabs
inline std::vector<PlaneRange> divide(const SlabDivision& grid, std::int64_t devices) {
  std::vector<PlaneRange> own = parts_of(grid, devices);
  if (!own.empty()) return own;
  std::int64_t max = std::clamp<std::int64_t>(grid.planes / grid.halo, 1, devices);
  while (max > 1 && parts_of(grid, max).empty()) --max;
  throw TooManySlabs(devices, max,
                     concat("each has ", grid.halo, " planes of the ", grid.planes,
                            ", and planes of the model next to those of layers"));
}

/// Steps of a shot in the same box.
struct BoxSteps {
  PlaneRange planes;  ///< of the box along x
  double nodes;       ///< of the box in a plane
  double steps;       ///< number of steps
};

/// Returns the boxes of a shot. \param boxes nodes of the step from a time \param steps of the shot
template <int Dim>
std::vector<BoxSteps> box_steps(const std::function<Box<Dim>(std::int64_t)>& boxes,
                                std::int64_t steps) {
  std::vector<BoxSteps> result;
  Box<Dim> last{};
  for (std::int64_t n = 0; n < steps; ++n) {
    const Box<Dim> box = boxes(n);
    if (box.empty()) continue;
    if (!result.empty() && box == last) {
      result.back().steps += 1.0;
      continue;
    }
    last = box;
    result.push_back(
        {{box.lower[0], box.upper[0]}, static_cast<double>(box.size() / box.extent(0)), 1.0});
  }
  return result;
}

/// Nodes that slabs step, summed over the steps of a shot.
struct SlabWork {
  double steps = 0.0;    ///< those of the slab with most nodes in each step, which others wait for
  double largest = 0.0;  ///< those of the slab with most nodes in all steps
};

/// Returns the work of slabs.
inline SlabWork work_of(const std::vector<PlaneRange>& own, const std::vector<BoxSteps>& boxes) {
  SlabWork work;
  std::vector<double> sums(own.size(), 0.0);
  for (const BoxSteps& box : boxes) {
    std::int64_t max = 0;
    for (std::size_t g = 0; g < own.size(); ++g) {
      const std::int64_t planes =
          std::max<std::int64_t>(intersection(own[g], box.planes).count(), 0);
      max = std::max(max, planes);
      sums[g] += static_cast<double>(planes) * box.nodes * box.steps;
    }
    work.steps += static_cast<double>(max) * box.nodes * box.steps;
  }
  for (const double sum : sums) work.largest = std::max(work.largest, sum);
  return work;
}

/// \brief Returns the planes of slabs for which the steps of a shot on an expanding domain take the
/// least time, as far as a search along each cut in turn finds it.
/// \param grid,own planes of the grid, and of slabs as equal as possible
/// \param boxes of the shot
/// \param allowed returns false for slabs that do not fit; those of `own` do
inline std::vector<PlaneRange> balanced_parts(
    const SlabDivision& grid, const std::vector<PlaneRange>& own,
    const std::vector<BoxSteps>& boxes,
    const std::function<bool(const std::vector<PlaneRange>&)>& allowed) {
  // begins with equal planes, and with equal work of all steps
  std::vector<double> work(static_cast<std::size_t>(grid.planes), 0.0);
  double total = 0.0;
  for (const BoxSteps& box : boxes) {
    for (std::int64_t x = box.planes.begin; x < box.planes.end; ++x) {
      work[static_cast<std::size_t>(x)] += box.nodes * box.steps;
    }
    total += static_cast<double>(box.planes.count()) * box.nodes * box.steps;
  }
  std::vector<PlaneRange> equal_work = own;
  std::int64_t plane = 0;
  double before = 0.0;
  for (std::size_t g = 1; g < own.size(); ++g) {
    const double wanted = total * static_cast<double>(g) / static_cast<double>(own.size());
    while (plane < grid.planes && before < wanted)
      before += work[static_cast<std::size_t>(plane++)];
    equal_work[g].begin = (plane + grid.align / 2) / grid.align * grid.align;
    equal_work[g - 1].end = equal_work[g].begin;
  }
  // a slab has not more snapshots than one of equal size that is stepped completely
  double planned = 0.0, steps = 0.0;
  for (const BoxSteps& box : boxes) planned = std::max(planned, box.nodes), steps += box.steps;
  std::int64_t max = 0;
  for (const PlaneRange& slab : own) max = std::max(max, slab.count());
  planned *= static_cast<double>(max) * steps;
  const auto fits = [&](const std::vector<PlaneRange>& parts) {
    return possible(grid, parts) && allowed(parts) && work_of(parts, boxes).largest <= planned;
  };
  std::vector<PlaneRange> best = own;
  double min = work_of(best, boxes).steps;
  for (std::vector<PlaneRange> parts : {own, equal_work}) {
    if (!fits(parts)) continue;
    double present = work_of(parts, boxes).steps;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t g = 1; g < parts.size(); ++g) {
        std::vector<PlaneRange> tried = parts;
        const std::int64_t first = (parts[g - 1].begin / grid.align + 1) * grid.align;
        for (std::int64_t cut = first; cut < parts[g].end; cut += grid.align) {
          tried[g - 1].end = tried[g].begin = cut;
          const double work_there = work_of(tried, boxes).steps;
          if (work_there < 0.999 * present && fits(tried)) {
            present = work_there;
            parts = tried;
            moved = true;
          }
        }
      }
    }
    if (present < 0.99 * min) {
      min = present;
      best = parts;
    }
  }
  return best;
}

}  // namespace detail

}  // namespace moho::stream
