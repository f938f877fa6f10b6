// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Prisms that overlap.

#include <cstdint>
#include <optional>
#include <utility>

namespace moho::gravity {

/// \brief Two prisms that share volume, if there are any: their rows, the lower first.
///
/// Prisms that touch, or reach into each other by rounding (some ulps of their coordinates), do not
/// overlap. Prisms of zero density are ignored. It builds an R-tree and makes a query for each
/// prism: O(n log n) for prisms of a mesh.
/// \param rows x1, x2, y1, y2, z1, z2, density of each prism, on the host
/// \param count number of prisms
std::optional<std::pair<std::int64_t, std::int64_t>> find_overlap(const double* rows,
                                                                  std::int64_t count);

}  // namespace moho::gravity
