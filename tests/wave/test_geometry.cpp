// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Shots: generated, from texts and tables; invalid input.

#include <moho/wave/geometry.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "refusals.hpp"

namespace {

using moho::Box;
using moho::Grid;
using moho::Point;
using moho::Points;
using moho::testing::message_of;
using moho::wave::fixed_spread;
using moho::wave::moving_spread;
using moho::wave::point_grid;
using moho::wave::point_line;
using moho::wave::Shot;
using ::testing::HasSubstr;

template <int Dim>
void expect_points(const Points<Dim>& found, const Points<Dim>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (int d = 0; d < Dim; ++d) EXPECT_DOUBLE_EQ(found[i][d], expected[i][d]) << i << ' ' << d;
  }
}

TEST(Generated, Lines) {
  expect_points<2>(point_line<2>({0, 10}, {30, 40}, 4), {{0, 10}, {10, 20}, {20, 30}, {30, 40}});
  expect_points<3>(point_line<3>({1, 2, 3}, {1, 2, 3}, 1), {{1, 2, 3}});
  // the ends are exact
  const Points<2> line = point_line<2>({0.1, 0}, {0.7, 0}, 14);
  EXPECT_EQ(line.front()[0], 0.1);
  EXPECT_EQ(line.back()[0], 0.7);
}

TEST(Generated, Grids) {
  expect_points<3>(point_grid<3>({0, 0, 5}, {20, 10, 5}, {3, 2, 1}),
                   {{0, 0, 5}, {0, 10, 5}, {10, 0, 5}, {10, 10, 5}, {20, 0, 5}, {20, 10, 5}});
}

TEST(Generated, RefusesCounts) {
  EXPECT_EQ(message_of([] {
              point_line<2>({0, 0}, {1, 0}, 0);
            }),
            "points: their number is 0 (allowed: 1 to 1000000000)");
  EXPECT_THAT(message_of([] {
                point_line<2>({0, 0}, {1, 0}, 1);
              }),
              HasSubstr("there is one for two different ends"));
  EXPECT_THAT(message_of([] {
                point_grid<2>({0, 0}, {1, 1}, {1, 2});
              }),
              HasSubstr("there is one for two different ends"));
  EXPECT_THAT(message_of([] {
                point_grid<2>({0, 0}, {1, 1}, {100000, 100000});
              }),
              HasSubstr("their number is 1e+10"));
  EXPECT_THAT(message_of([] {
                point_line<2>({0, std::numeric_limits<double>::infinity()}, {1, 0}, 2);
              }),
              HasSubstr("points from (0, inf) to (1, 0): a coordinate is not finite"));
}

TEST(Spreads, Fixed) {
  const auto shots = fixed_spread<2>({{0, 5}, {10, 5}}, {{0, 0}, {5, 0}, {10, 0}});
  ASSERT_EQ(shots.size(), 2u);
  EXPECT_EQ(shots[1].number, 1);
  expect_points<2>(shots[1].sources, {{10, 5}});
  expect_points<2>(shots[1].receivers, {{0, 0}, {5, 0}, {10, 0}});
}

TEST(Spreads, Moving) {
  const Grid<3> grid{{11, 11, 6}, {10, 10, 10}, {0, 0, 0}};
  const Points<3> offsets = {{-10, 0, 8}, {-20, 5, 8}, {-30, 0, 8}};
  const auto shots = moving_spread<3>({{25, 50, 4}, {90, 50, 4}}, offsets, grid);
  ASSERT_EQ(shots.size(), 2u);
  expect_points<3>(shots[0].receivers, {{15, 50, 8}, {5, 55, 8}});
  expect_points<3>(shots[1].receivers, {{80, 50, 8}, {70, 55, 8}, {60, 50, 8}});
  EXPECT_EQ(
      message_of([&] {
        moving_spread<3>({{50, 50, 4}, {5, 50, 4}}, offsets, grid);
      }),
      "shot 2: none of its 3 receivers is inside of the model, with its source at (5, 50, 4) "
      "(allowed: 1 receiver or more): move the source or change the offsets and depths of the "
      "receivers");
}

}  // namespace
