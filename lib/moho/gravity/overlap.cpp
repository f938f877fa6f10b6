// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity/overlap.hpp>

#include <boost/geometry.hpp>
#include <boost/geometry/geometries/box.hpp>
#include <boost/geometry/geometries/point.hpp>
#include <boost/geometry/index/rtree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace moho::gravity {

namespace bg = boost::geometry;
using Corner = bg::model::point<double, 3, bg::cs::cartesian>;
using Box = bg::model::box<Corner>;
using Entry = std::pair<Box, std::int64_t>;

std::optional<std::pair<std::int64_t, std::int64_t>> find_overlap(const double* rows,
                                                                  std::int64_t count) {
  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const double* p = rows + 7 * i;
    if (p[6] == 0.0) continue;  // without mass
    entries.emplace_back(Box(Corner(p[0], p[2], p[4]), Corner(p[1], p[3], p[5])), i);
  }
  const bg::index::rtree<Entry, bg::index::quadratic<16>> tree(entries.begin(), entries.end());
  const auto share_volume = [&](std::int64_t i, std::int64_t j) {
    const double *p = rows + 7 * i, *q = rows + 7 * j;
    for (int axis = 0; axis < 3; ++axis) {
      const double lower = std::max(p[2 * axis], q[2 * axis]);
      const double upper = std::min(p[2 * axis + 1], q[2 * axis + 1]);
      const double side = std::min(p[2 * axis + 1] - p[2 * axis], q[2 * axis + 1] - q[2 * axis]);
      // faces computed as origin + i * side agree only within rounding
      const double rounding =
          8.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(lower), std::abs(upper));
      if (!(upper - lower > rounding + 1e-12 * side)) return false;
    }
    return true;
  };
  for (const Entry& entry : entries) {
    const std::int64_t i = entry.second;
    const auto overlapping = [&](const Entry& other) {
      return other.second > i && share_volume(i, other.second);
    };
    const auto hit =
        tree.qbegin(bg::index::intersects(entry.first) && bg::index::satisfies(overlapping));
    if (hit != tree.qend()) return std::make_pair(i, hit->second);
  }
  return std::nullopt;
}

}  // namespace moho::gravity
