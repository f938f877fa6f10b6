// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Start models of layers against the velocities of exact times.

#include "spaces.hpp"
#include "tomography/line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace moho::testing;
using namespace moho::tomography;
using moho::Grid;
using moho::Instance;

Instance<Kokkos::HostSpace> layers_host() { return Kokkos::DefaultHostExecutionSpace(); }

InversionJob<2> layers_job(PickSet<2> picks, double length) {
  InversionJob<2> job;
  job.picks = std::move(picks);
  job.grid = line_grid(48, 12.5, 350.0);
  job.options.prior.lengths = {length, length};
  return job;
}

// Picks of 500 m/s over 2000 m/s below 40 m.
PickSet<2> two_layers() {
  PickSet<2> picks = line_picks(12, 48, 0.001);
  for (Pick& pick : picks.picks) {
    const double offset = std::abs(picks.sources[static_cast<std::size_t>(pick.source)][0] -
                                   picks.receivers[static_cast<std::size_t>(pick.receiver)][0]);
    const double refracted =
        offset / 2000.0 + 2.0 * 40.0 * std::sqrt(1.0 / 500.0 / 500.0 - 1.0 / 2000.0 / 2000.0);
    pick.time = std::min(offset / 500.0, refracted);
  }
  return picks;
}

// rms of the residuals of a start model over the times.
double misfit(const InversionJob<2>& job, const std::vector<double>& velocity) {
  const Forward<double, 2, Kokkos::HostSpace> forward(job.grid, job.picks, {}, {.radius = 8});
  const auto times = forward.evaluate(layers_host(), velocity).times;
  double sum = 0.0;
  for (std::size_t k = 0; k < times.size(); ++k) {
    sum += std::pow(times[k] / job.picks.picks[k].time - 1.0, 2);
  }
  return std::sqrt(sum / static_cast<double>(times.size()));
}

TEST(TomographyLayers, FitARefractor) {
  const auto job = layers_job(two_layers(), 60.0);
  const LayeredVelocity layers = fit_layers<double, 2, Kokkos::HostSpace>(layers_host(), job);
  EXPECT_NEAR(layers.at(5.0), 500.0, 50.0);
  EXPECT_NEAR(layers.at(90.0), 2000.0, 100.0);
  EXPECT_EQ(layers.at(-5.0), layers.at(0.0));
  EXPECT_EQ(layers.at(1e6), layers.velocity.back());
  const double of_layers = misfit(job, layered_model<2>(job.grid, {}, layers));
  const auto linear = fit_linear_velocity<2>(job.picks, job.grid, {});
  EXPECT_LT(of_layers, 0.03);
  EXPECT_LT(of_layers, 0.4 * misfit(job, linear_model<2>(job.grid, {}, linear)));
  EXPECT_THAT(describe_layers(layers), ::testing::HasSubstr(" m/s at 0, "));
}

TEST(TomographyLayers, FitALineAndABorehole) {
  const auto check = [](PickSet<2> picks, double tolerance) {
    const auto job = layers_job(std::move(picks), 150.0);
    const LayeredVelocity layers = fit_layers<float, 2, Kokkos::HostSpace>(layers_host(), job);
    EXPECT_LT(layers.chi2, 1.5);
    for (const double depth : {20.0, 60.0, 120.0}) {
      const double truth = line_truth.v0 + line_truth.gradient * depth;
      EXPECT_NEAR(layers.at(depth), truth, tolerance * truth) << depth;
    }
  };
  PickSet<2> line = line_picks(12, 48, 0.002, 0.05);
  check(line, 0.03);
  // receivers in a borehole in the middle of the line
  PickSet<2> borehole = line_picks(12, 48, 0.002);
  for (std::size_t r = 0; r < borehole.receivers.size(); ++r) {
    borehole.receivers[r] = {600.0, 6.0 * static_cast<double>(r)};
  }
  for (Pick& pick : borehole.picks) {
    const auto& a = borehole.sources[static_cast<std::size_t>(pick.source)];
    const auto& b = borehole.receivers[static_cast<std::size_t>(pick.receiver)];
    pick.time = linear_time(std::abs(a[0] - b[0]), 0.0, b[1], line_truth);
  }
  check(borehole, 0.03);
}

// Bins have exact times where all of their picks have one geometry, and the order of the ends of a
// pick does not matter.
TEST(TomographyLayers, AreFittedToMediansOfBins) {
  PickSet<3> picks;
  picks.sources = {{0.0, 0.0, 0.0}, {30.0, 40.0, 20.0}};
  picks.receivers = {{30.0, 40.0, 20.0}, {0.0, 0.0, 0.0}, {60.0, 80.0, 0.0}};
  picks.picks = {{0, 0, 0.10, 0.0, 1.0}, {0, 2, 0.20, 0.004, 1.0}, {1, 1, 0.12, 0.0, 1.0}};
  const Grid<3> grid{{41, 41, 21}, {2.0, 2.0, 2.0}, {}};
  Options<3> options;
  options.error_absolute = 0.001;
  const LayerPicks layers = layer_picks<3>(picks, grid, {}, options);
  ASSERT_EQ(layers.medians.picks.size(), 2u);
  ASSERT_EQ(layers.medians.sources.size(), 1u);
  const auto& far = layers.medians.picks[0];
  EXPECT_EQ(layers.medians.receivers[0][0], 100.0);
  EXPECT_NEAR(far.time, 0.20, 1e-15);
  EXPECT_NEAR(far.error, 0.004, 1e-15);
  const auto& near = layers.medians.picks[1];
  EXPECT_EQ(layers.medians.receivers[1][0], 50.0);
  EXPECT_EQ(layers.medians.receivers[1][1], 20.0);
  EXPECT_NEAR(near.time, 0.12, 1e-15);
  EXPECT_GT(layers.grid.upper(0), 100.0);
}

}  // namespace
