// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Detection of overlapping prisms.

#include <cstdint>
#include <optional>
#include <utility>

namespace moho::gravity {

/// \brief Returns the rows of two prisms that share volume, the lower row first, if any.
///
/// Prisms that touch, or that intersect by rounding only (some ulps of their coordinates), do not
/// overlap. Prisms of zero density are ignored. An R-tree is queried for each prism: O(n log n) for
/// prisms of a mesh.
/// \param rows x1, x2, y1, y2, z1, z2, density of each prism, on the host
/// \param count number of prisms
std::optional<std::pair<std::int64_t, std::int64_t>> find_overlap(const double* rows,
                                                                  std::int64_t count);

}  // namespace moho::gravity
