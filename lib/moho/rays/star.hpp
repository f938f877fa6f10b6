// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The neighbourhood of a vertex as a list of offsets, of which half are stored.
///
/// An edge and its reverse have the same weight. Only the H offsets whose first non-zero component
/// is positive are stored. They are numbered by ring (largest component), then lexicographically.
/// Direction k < H means +offset(k), direction k >= H means -offset(k - H). Predecessors are stored
/// as such directions.

#include <moho/rays/options.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace moho::rays {

namespace detail {

constexpr int gcd_of(int a, int b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b != 0) {
    const int t = a % b;
    a = b;
    b = t;
  }
  return a;
}

constexpr int absolute(int a) { return a < 0 ? -a : a; }

/// Calls visit(offset) for every offset of the half star in order. Can be evaluated at compile
/// time.
template <int Dim, class Visit>
constexpr void visit_half_star(int radius, bool full, Visit&& visit) {
  for (int ring = 1; ring <= radius; ++ring) {
    for (int a = 0; a <= ring; ++a) {
      for (int b = -ring; b <= ring; ++b) {
        for (int c = Dim == 3 ? -ring : 0; c <= (Dim == 3 ? ring : 0); ++c) {
          int largest = a;
          if (absolute(b) > largest) largest = absolute(b);
          if (absolute(c) > largest) largest = absolute(c);
          if (largest != ring) continue;
          if (a == 0 && (b < 0 || (b == 0 && c <= 0))) continue;
          if (!full && gcd_of(gcd_of(a, b), c) != 1) continue;
          std::array<int, Dim> offset{};
          offset[0] = a;
          offset[1] = b;
          if constexpr (Dim == 3) offset[2] = c;
          visit(offset);
        }
      }
    }
  }
}

template <int Dim>
constexpr int half_star_size(int radius, bool full) {
  int n = 0;
  visit_half_star<Dim>(radius, full, [&](const auto&) { ++n; });
  return n;
}

/// The half star as a compile-time table, for kernels that unroll over it.
template <int Dim, int Radius, bool Full>
struct StaticStar {
  static constexpr int radius = Radius;
  static constexpr bool full = Full;
  static constexpr int half = half_star_size<Dim>(Radius, Full);
  static constexpr auto make() {
    std::array<std::array<int, Dim>, half> table{};
    int n = 0;
    visit_half_star<Dim>(Radius, Full, [&](const auto& offset) { table[n++] = offset; });
    return table;
  }
  static constexpr std::array<std::array<int, Dim>, half> offsets = make();
};

}  // namespace detail

/// Returns the half star of a radius: 48 offsets for the coprime star of radius 6 in 2D.
template <int Dim>
std::vector<std::array<int, Dim>> half_star(int radius, Star star) {
  std::vector<std::array<int, Dim>> offsets;
  detail::visit_half_star<Dim>(radius, star == Star::full,
                               [&](const auto& offset) { offsets.push_back(offset); });
  return offsets;
}

/// \brief Returns the largest relative error of traveltimes between nodes of a constant 2D model.
///
/// The worst direction bisects the widest angle between neighbouring offsets. With equal spacing
/// they are (r, 0) and (r, 1), and the error is 1 / cos(atan(1/r) / 2) - 1. It does not decrease
/// with the spacing.
/// \param radius at least 1
/// \param ratio spacing along one axis over that along the other
inline double angular_error_bound(int radius, double ratio = 1.0) {
  std::vector<double> angles;  // of the offsets of a quadrant
  for (int i = 0; i <= radius; ++i) {
    for (int j = i == 0 ? 1 : 0; j <= radius; ++j) angles.push_back(std::atan2(ratio * i, j));
  }
  std::sort(angles.begin(), angles.end());
  double widest = 0.0;
  for (std::size_t k = 1; k < angles.size(); ++k) {
    widest = std::max(widest, angles[k] - angles[k - 1]);
  }
  return 1.0 / std::cos(0.5 * widest) - 1.0;
}

}  // namespace moho::rays
