// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain, cost 4
//
// Changes of a velocity that inversions of a line recover, by depth.

#include "spaces.hpp"
#include "tomography/line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace {

using namespace moho::testing;
using namespace moho::tomography;
using moho::Grid;
using moho::Instance;
using moho::Point;
using Memory = Kokkos::HostSpace;

Instance<Memory> resolution_host() { return Kokkos::DefaultHostExecutionSpace(); }

// The linear velocity times a product of sines of 8 %, with wavelengths of 960 and 480 m.
std::vector<double> waves_in(const Grid<2>& grid, const Point<2>& shift) {
  std::vector<double> velocity = linear_model<2>(grid, {}, line_truth);
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    const Point<2> p = grid.position(grid.node(static_cast<std::int64_t>(i)));
    velocity[i] *= 1.0 + 0.08 * std::sin(std::numbers::pi * (p[0] / 480.0 + shift[0])) *
                             std::sin(std::numbers::pi * (p[1] / 240.0 + shift[1]));
  }
  return velocity;
}

// The four waves are in quadrature along both axes, so that the sum of their squares is equal at
// all nodes: their correlations together do not depend on the depths of the changes of sign.
TEST(TomographyResolution, WavesAreRecoveredByDepth) {
  InversionJob<2> job;
  job.grid = line_grid(96, 20.0, 600.0);
  job.start = linear_model<2>(job.grid, {}, line_truth);
  job.options.prior.lengths = {150.0, 75.0};
  CheckerboardResult<2> changes;
  std::vector<double> coverage;
  for (const Point<2> shift : {Point<2>{0.0, 0.0}, {0.0, 0.5}, {0.5, 0.0}, {0.5, 0.5}}) {
    job.picks = line_picks(24, 96, 0.002);
    const auto exact = line_picks(24, 96, 0.0);
    const Grid<2> fine = line_grid(96, 10.0, 600.0);
    const Forward<double, 2, Memory> forward(fine, job.picks, {}, {.eikonal = true});
    const auto times = forward.evaluate(resolution_host(), waves_in(fine, shift)).times;
    for (std::size_t k = 0; k < times.size(); ++k) {
      job.picks.picks[k].time += times[k] - exact.picks[k].time;
    }
    const auto result = invert<float, 2, Memory>(resolution_host(), job);
    EXPECT_EQ(result.stop, StopReason::target);
    const std::vector<double> truth = waves_in(job.grid, shift);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      changes.truth.push_back(truth[i] / job.start[i] - 1.0);
      changes.found.push_back(result.velocity[i] / job.start[i] - 1.0);
      coverage.push_back(result.coverage[i] < 20.0 ? 0.0 : result.coverage[i]);
    }
  }
  // the four grids, joined along x; layers of 120 m
  const Grid<2> joined{{4 * job.grid.extents[0], job.grid.extents[1]}, {20.0, 20.0}, {}};
  const auto layers = compare_checks<2>(joined, {}, {}, {{480.0, 240.0}}, coverage, changes);
  ASSERT_GE(layers.size(), 3u);
  EXPECT_GT(layers[0].correlation, 0.9);
  EXPECT_GT(layers[1].correlation, 0.75);
  EXPECT_GT(layers[2].correlation, 0.6);
  EXPECT_GT(layers[0].recovered, 0.75);
  EXPECT_LT(layers[0].recovered, 1.05);
}

}  // namespace
