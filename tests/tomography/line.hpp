// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A line of shots and receivers over a velocity that increases linearly with depth, with exact
// times.

#include <moho/tomography/tomography.hpp>

#include <cmath>
#include <random>

namespace moho::testing {

inline const tomography::LinearVelocity line_truth{1500.0, 2.0, 0.0};

// Picks of `shots` sources and `receivers` receivers, 25 m apart at the depth 0, with noise and a
// part of bad ones, whose numbers are returned in `bad`.
inline tomography::PickSet<2> line_picks(int shots, int receivers, double noise, double part = 0.0,
                                         std::vector<unsigned char>* bad = nullptr,
                                         double delays = 0.0,
                                         std::vector<double>* delay = nullptr) {
  tomography::PickSet<2> set;
  std::mt19937_64 generator(7);
  const auto uniform = [&] { return 0x1p-53 * static_cast<double>(generator() >> 11); };
  const auto normal = [&] {
    double sum = -6.0;
    for (int k = 0; k < 12; ++k) sum += uniform();
    return sum;
  };
  const double length = 25.0 * receivers;
  std::vector<double> of_receiver;
  for (int s = 0; s < shots; ++s) set.sources.push_back({length * (s + 0.5) / shots, 0.0});
  for (int r = 0; r < receivers; ++r) {
    set.receivers.push_back({12.5 + 25.0 * r, 0.0});
    of_receiver.push_back(delays * normal());
  }
  for (int s = 0; s < shots; ++s) {
    for (int r = 0; r < receivers; ++r) {
      const double offset = std::abs(set.sources[static_cast<std::size_t>(s)][0] -
                                     set.receivers[static_cast<std::size_t>(r)][0]);
      if (offset < 30.0) continue;
      double t = tomography::linear_time(offset, 0.0, 0.0, line_truth) + noise * normal() +
                 of_receiver[static_cast<std::size_t>(r)];
      const bool wrong = uniform() < part;
      if (wrong) t += (uniform() < 0.5 && t > 0.15 ? -1.0 : 1.0) * (0.03 + 0.09 * uniform());
      set.picks.push_back({s, r, t, noise > 0.0 ? noise : 0.001, 1.0});
      if (bad != nullptr) bad->push_back(wrong);
    }
  }
  if (delay != nullptr) *delay = of_receiver;
  return set;
}

// The grid below a line.
inline Grid<2> line_grid(int receivers, double h, double depth) {
  const double length = 25.0 * receivers;
  return {{static_cast<std::int64_t>(length / h) + 1, static_cast<std::int64_t>(depth / h) + 1},
          {h, h},
          {0.0, 0.0}};
}

// Picks of a source in the middle of a square grid and of one near a corner, receivers around the
// former.
inline tomography::PickSet<2> fan_picks(const Grid<2>& grid) {
  tomography::PickSet<2> picks;
  picks.sources = {{grid.upper(0) / 2.0, grid.upper(1) / 2.0}, {33.0, 41.0}};
  for (int r = 0; r < 9; ++r) {
    const double angle = 0.17 * r;
    picks.receivers.push_back({picks.sources[0][0] + 280.0 * std::sin(angle),
                               picks.sources[0][1] + 280.0 * std::cos(angle)});
  }
  for (int s = 0; s < 2; ++s) {
    for (int r = 0; r < 9; ++r) picks.picks.push_back({s, r, 0.1, 0.001, 1.0});
  }
  return picks;
}

}  // namespace moho::testing
