// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Remarks on picks and results: rays along faces, odd heights, fits without flagged picks, layers
// of checks.

#include "tomography/line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace moho::testing;
using namespace moho::tomography;
using moho::Grid;
using moho::Point;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Straight rays as polylines.
moho::rays::RayPaths<2> paths_of(const std::vector<std::vector<Point<2>>>& rays) {
  moho::rays::RayPaths<2> paths;
  paths.sources = 1;
  paths.receivers = static_cast<std::int64_t>(rays.size());
  paths.first.assign(1, 0);
  for (const auto& ray : rays) {
    paths.points.insert(paths.points.end(), ray.begin(), ray.end());
    paths.first.push_back(static_cast<std::int64_t>(paths.points.size()));
  }
  return paths;
}

TEST(TomographyRemarks, RaysAlongFacesAreCounted) {
  const Grid<2> grid{{41, 21}, {2.0, 2.0}, {-10.0, 0.0}};  // x to 70, z to 40
  const auto found = edge_rays<2>(
      grid, paths_of({
                {{0.0, 0.0}, {20.0, 40.0}, {29.0, 40.0}, {50.0, 0.0}},   // 9 m of the bottom
                {{0.0, 0.0}, {20.0, 40.0}, {26.0, 40.0}, {50.0, 0.0}},   // 6 m: three nodes
                {{0.0, 0.0}, {20.0, 39.0}, {50.0, 39.0}, {60.0, 0.0}},   // half of a node above it
                {{0.0, 0.0}, {-10.0, 5.0}, {-10.0, 20.0}, {0.0, 30.0}},  // 15 m of a side
                {{0.0, 0.0}, {60.0, 0.0}},                               // along the surface
                {{50.0, 0.0}, {70.0, 10.0}, {70.0, 30.0}},               // of the other side
            }));
  EXPECT_EQ(found.picks, 6);
  EXPECT_EQ(found.bottom, 1);
  EXPECT_EQ(found.sides, 2);
  EXPECT_THAT(describe_edges({100, 2, 2}), IsEmpty());
  EXPECT_THAT(describe_edges({100, 3, 0}, {{"depth", "--depth"}}),
              ElementsAre("rays of 3 of 100 picks (3 %) run along the bottom of the grid, which "
                          "keeps them in: take a greater --depth"));
  EXPECT_THAT(describe_edges({100, 0, 50}), ElementsAre(HasSubstr("the sides of the grid")));
}

TEST(TomographyRemarks, RaysAlongFacesOfAVolumeAreCounted) {
  const Grid<3> grid{{21, 21, 11}, {1.0, 1.0, 1.0}, {0.0, 0.0, 0.0}};
  moho::rays::RayPaths<3> paths;
  paths.first = {0, 2, 4, 6};
  paths.points = {{5.0, 0.0, 5.0},  {15.0, 0.0, 5.0},   // the side y = 0
                  {5.0, 5.0, 10.0}, {5.0, 15.0, 10.0},  // the bottom
                  {5.0, 5.0, 0.0},  {5.0, 15.0, 0.0}};  // the top
  const auto found = edge_rays<3>(grid, paths);
  EXPECT_EQ(found.bottom, 1);
  EXPECT_EQ(found.sides, 1);
}

TEST(TomographyRemarks, BoundsInKilometresASecond) {
  moho::tomography::Options<2> options;
  EXPECT_THAT(remarks_on_bounds<2>(options), IsEmpty());
  options.velocity_max = 6000.0;
  EXPECT_THAT(remarks_on_bounds<2>(options), IsEmpty());
  options.velocity_max = 6.0;
  EXPECT_THAT(remarks_on_bounds<2>(options),
              ElementsAre("bounds allow no velocity beyond 6 m/s: are they in km/s? Give m/s"));
}

TEST(TomographyRemarks, StationsBeyondATableOfTheGround) {
  const Grid<2> grid{{41, 21}, {2.0, 2.0}, {-10.0, 0.0}};
  PickSet<2> picks;
  picks.sources = {{0.0, 0.0}};
  picks.receivers = {{5.0, 0.0}, {42.0, 1.0}, {50.0, 2.0}};
  EXPECT_THAT(remarks_on_ground<2>({}, grid, picks), IsEmpty());
  EXPECT_THAT(remarks_on_ground<2>({{2.0, 0.0}, {48.0, 2.0}}, grid, picks), IsEmpty());
  EXPECT_THAT(remarks_on_ground<2>({{30.0, 1.0}, {0.0, 0.0}}, grid, picks),
              ElementsAre("the table of the ground ends at x = 0 to 30 m: receiver 2 at (42, 1) m "
                          "is the first of 2 stations beyond it, where the ground continues "
                          "level"));
  const Grid<3> volume{{41, 41, 21}, {2.0, 2.0, 2.0}, {-10.0, -10.0, 0.0}};
  PickSet<3> spread;
  spread.sources = {{0.0, 0.0, 0.0}, {0.0, 20.0, 0.0}};
  spread.receivers = {{5.0, 5.0, 0.0}};
  EXPECT_THAT(remarks_on_ground<3>({{0.0, 0.0, 0.0}, {9.0, 9.0, 0.0}}, volume, spread),
              ElementsAre(HasSubstr("x = 0 to 9, y = 0 to 9 m: source 2 at (0, 20, 0) m is "
                                    "beyond it")));
}

// Stations of a slope with small steps, 2 m apart.
PickSet<2> slope() {
  PickSet<2> picks;
  for (int k = 0; k < 24; ++k) {
    picks.receivers.push_back({2.0 * k, -100.0 - 0.3 * k + 0.1 * (k % 3)});
  }
  picks.sources = {{1.0, -100.2}, {21.0, -103.1}};
  return picks;
}

TEST(TomographyRemarks, OddHeightsAreNamed) {
  EXPECT_THAT(odd_heights(slope()), IsEmpty());
  auto picks = slope();
  picks.receivers[7][1] -= 10.0;
  EXPECT_THAT(odd_heights(picks), ElementsAre(HasSubstr("receiver 8 at (14, -112")));
  EXPECT_THAT(odd_heights(picks)[0], HasSubstr(" m above the line through its neighbours"));
  picks.receivers[15][1] += 10.0;
  picks.sources[1][1] -= 20.0;
  const auto lines = odd_heights(picks);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], HasSubstr("source 2 at "));
  EXPECT_THAT(lines[1], HasSubstr("receiver 8 at "));
  EXPECT_THAT(lines[2], HasSubstr("receiver 16 at "));
  EXPECT_THAT(lines[2], HasSubstr(" m below the line through its neighbours"));
  // the last station
  picks = slope();
  picks.receivers.back()[1] -= 10.0;
  EXPECT_THAT(odd_heights(picks), ElementsAre(HasSubstr("receiver 24 at ")));
}

TEST(TomographyRemarks, BoreholesAndCliffsAreNoOddHeights) {
  auto picks = slope();
  for (int k = 1; k < 9; ++k) picks.receivers.push_back({25.0, -104.0 + 2.0 * k});  // a borehole
  picks.sources.push_back({31.0, -95.0});                                           // a shot in one
  for (int k = 16; k < 24; ++k) picks.receivers[static_cast<std::size_t>(k)][1] -= 6.0;  // a cliff
  EXPECT_THAT(odd_heights(picks), IsEmpty());
}

TEST(TomographyRemarks, FitsWithoutFlaggedPicks) {
  const auto picks = line_picks(1, 6, 0.0);
  std::vector<PickFit> fits(picks.picks.size());
  for (auto& fit : fits) fit = {0.1, 0.001, 0.001, 1.0};
  fits[1].residual = 0.01;
  fits[1].weight = 0.0;
  const auto found = summarise_fits<2>(picks, fits);
  const double count = static_cast<double>(fits.size());
  EXPECT_EQ(found.flagged, 1);
  EXPECT_NEAR(found.chi2_unflagged, 1.0, 1e-12);
  EXPECT_NEAR(found.chi2, (count + 99.0) / count, 1e-9);
  EXPECT_THAT(describe_fit(found), HasSubstr("chi^2 is 1 of "));
}

// Half of the nodes of the second layer have no rays; one of ten is not enough.
TEST(TomographyRemarks, LayersOfChecksSayWhereRaysAre) {
  const Grid<2> grid{{11, 9}, {1.0, 1.0}, {0.0, -102.0}};
  const Checkerboard<2> checks{{2.0, 4.0}, 5.0};
  CheckerboardResult<2> changes;
  changes.truth = checkerboard<2>(grid, checks);
  changes.found = changes.truth;
  std::vector<double> coverage(changes.truth.size(), 1.0);
  std::vector<unsigned char> mask(changes.truth.size(), 1);
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const auto node = grid.node(i);
    const auto at = static_cast<std::size_t>(i);
    if (node[1] < 1) mask[at] = 0;
    if (node[1] >= 2 && node[0] > 4) coverage[at] = 0.0;
    if (node[1] >= 4 && node[0] > 1 && node[1] < 6) coverage[at] = 0.0;
  }
  Ground<2> ground;
  ground.depth.assign(11, -101.0);
  const auto layers = compare_checks<2>(grid, ground, mask, checks, coverage, changes);
  ASSERT_GE(layers.size(), 2u);
  EXPECT_NEAR(layers[0].z, -101.0, 1e-12);
  EXPECT_NEAR(layers[0].depth, 0.0, 1e-12);
  EXPECT_NEAR(layers[0].covered, 1.0, 1e-12);
  EXPECT_NEAR(layers[1].depth, 2.0, 1e-12);
  EXPECT_NEAR(layers[1].covered, 5.0 / 11.0, 1e-12);
  EXPECT_THAT(describe_layer(layers[1]), HasSubstr("rays at 45 % of the nodes"));
  EXPECT_EQ(describe_layer({3.0, 0.5, 0.1, 0.1, 3.0}),
            "depth 3 m: correlation 0.5, 10 % recovered, rays at 10 % of the nodes: not resolved");
}

TEST(TomographyRemarks, ReasonsToEndAreTold) {
  EXPECT_THAT(to_string(StopReason::floor, {{"deviation_max", "--deviation-max"}}),
              HasSubstr("1 / --deviation-max"));
  EXPECT_THAT(to_string(StopReason::failed), HasSubstr("no better model"));
}

}  // namespace
