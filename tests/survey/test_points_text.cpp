// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Points and shots as texts, read and written.

#include <moho/core/error.hpp>
#include <moho/survey/points_text.hpp>
#include <moho/survey/tables.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/files.hpp"

namespace {

using moho::Point;
using moho::Points;
using moho::io::test::message_of;
using moho::survey::format_shots;
using moho::survey::points_from_text;
using moho::survey::shots_from_text;
using moho::wave::fixed_spread;
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

TEST(PointText, OnePointALineAndAGrid) {
  expect_points<2>(points_from_text<2>(" 100, 10 ", "--source"), {{100, 10}});
  expect_points<3>(points_from_text<3>("1,-2,+3.5e1", "--source"), {{1, -2, 35}});
  expect_points<2>(points_from_text<2>("0,5 : 100,5 : 3", "--receivers"),
                   {{0, 5}, {50, 5}, {100, 5}});
  expect_points<3>(points_from_text<3>("0,0,5:10,20,5:2x2x1", "--receivers"),
                   {{0, 0, 5}, {0, 20, 5}, {10, 0, 5}, {10, 20, 5}});
  expect_points<2>(points_from_text<2>("7,5; 0,5:10,5:2", "--receivers"),
                   {{7, 5}, {0, 5}, {10, 5}});
}

TEST(PointText, WithNamesInAnyOrder) {
  expect_points<2>(points_from_text<2>("z = 10, x=100", "--source"), {{100, 10}});
  expect_points<3>(points_from_text<3>("z=3,x=1,y=2; 4,5,6", "--source"), {{1, 2, 3}, {4, 5, 6}});
  expect_points<3>(points_from_text<3>("x=0,z=5,y=0:z=6,x=10,y=20:2", "--source"),
                   {{0, 0, 5}, {10, 20, 6}});
  // counts follow the names of the first corner
  expect_points<3>(points_from_text<3>("x=0,z=5,y=0:z=5,x=10,y=20:2x1x2", "--source"),
                   {{0, 0, 5}, {0, 20, 5}, {10, 0, 5}, {10, 20, 5}});
  const auto message = [](const std::string& text) {
    return message_of<moho::Error>([&] { points_from_text<3>(text, "--source"); });
  };
  EXPECT_THAT(message("x=1,2,z=3"), HasSubstr("has names for some of its values only"));
  EXPECT_THAT(message("x=1,z=3"), HasSubstr("has 2 coordinates, not 3"));
  EXPECT_THAT(message("x=1,y=2"), HasSubstr("'x=1,y=2' has no z (allowed: x=..,z=.. in 2D"));
  EXPECT_THAT(message("x=1,x=2,z=3"), HasSubstr("names x twice"));
  EXPECT_THAT(message("east=1,y=2,z=3"), HasSubstr("names 'east', which is no axis"));
  EXPECT_THAT(message("x=1,y=b,z=3"), HasSubstr("has 'b' where a number should be"));
}

TEST(PointText, ALineOfCommas) {
  expect_points<2>(points_from_text<2>("0,5,100,5,3", "--receivers"), {{0, 5}, {50, 5}, {100, 5}});
  expect_points<3>(points_from_text<3>("0,1,5,10,3,5,2", "--receivers"), {{0, 1, 5}, {10, 3, 5}});
}

TEST(PointText, ThreeNumbersAreXYZ) {
  expect_points<3>(points_from_text<3>("605,601,597", "--source"), {{605, 601, 597}});
  expect_points<3>(points_from_text<3>("5,0,10:50,20,10:2x3x1", "--source"),
                   {{5, 0, 10}, {5, 10, 10}, {5, 20, 10}, {50, 0, 10}, {50, 10, 10}, {50, 20, 10}});
  expect_points<3>(points_from_text<3>("5,120,30; x=5,z=30,y=20", "--source"),
                   {{5, 120, 30}, {5, 20, 30}});
}

TEST(PointText, RefusesOthers) {
  const auto message = [](const std::string& text) {
    return message_of<moho::Error>([&] { points_from_text<2>(text, "--receivers"); });
  };
  EXPECT_EQ(message("1,2,3"),
            "--receivers: '1,2,3' has 3 coordinates, not 2 (allowed: \"x,z\" for one point, "
            "\"x,z:x,z:n\" for a line of n, \"x,z:x,z:nxm\" for a grid, several of them joined by "
            "\";\")");
  EXPECT_THAT(message("5"), HasSubstr("'5' has 1 coordinate, not 2"));
  EXPECT_THAT(message(""), HasSubstr("'' has 0 coordinates, not 2"));
  EXPECT_THAT(message("1,2;"), HasSubstr("'' has 0 coordinates, not 2"));
  EXPECT_THAT(message("1,two"), HasSubstr("'1,two' has 'two' where a number should be"));
  EXPECT_THAT(message("1,nan"), HasSubstr("has 'nan' where a number should be"));
  EXPECT_THAT(message("0,0:1,1"), HasSubstr("has 2 parts, neither 1 nor 3"));
  EXPECT_THAT(message("0,0:1,1:many"), HasSubstr("has 'many' where a number of points should be"));
  EXPECT_THAT(message("0,0:1,1:0"), HasSubstr("has '0' where a number of points should be"));
  EXPECT_THAT(message("0,0:1,1:2x2x2"), HasSubstr("has 3 counts, neither 1 nor 2"));
  EXPECT_THAT(message("0,0:1,1:1"),
              HasSubstr("--receivers: '0,0:1,1:1': points: there is one for two different ends"));
}

TEST(ShotTable, IsRead) {
  const auto shots = shots_from_text<2>(
      "# a line of two shots\n"
      "shot, kind, x, z\n"
      "\n"
      "7, source, 1000, 10   # the first\n"
      "*, receiver, 25, 20\r\n"
      "3; s; 1100; 10\n"
      "7 receiver 0 20\n"
      "3,\tr , 5,21\n"
      "*, r, 50, 20",
      "shots.csv");
  ASSERT_EQ(shots.size(), 2u);
  EXPECT_EQ(shots[0].number, 7);
  EXPECT_EQ(shots[1].number, 3);
  expect_points<2>(shots[0].sources, {{1000, 10}});
  expect_points<2>(shots[0].receivers, {{0, 20}, {25, 20}, {50, 20}});
  expect_points<2>(shots[1].sources, {{1100, 10}});
  expect_points<2>(shots[1].receivers, {{5, 21}, {25, 20}, {50, 20}});
}

TEST(ShotTable, NamesSayWhereColumnsAre) {
  const auto shots =
      shots_from_text<3>("kind, shot, x, z, y\ns, 4, 1, 2, 3\nr, 4, 5, 6, 7\n", "shots");
  ASSERT_EQ(shots.size(), 1u);
  EXPECT_EQ(shots[0].number, 4);
  expect_points<3>(shots[0].sources, {{1, 3, 2}});
  expect_points<3>(shots[0].receivers, {{5, 7, 6}});
}

TEST(ShotTable, WithoutNamesAndInThreeDimensions) {
  const auto shots = shots_from_text<3>("0 s 1 2 3\n0 s 4 5 6\n0 r 7 8 9\n", "shots");
  ASSERT_EQ(shots.size(), 1u);
  expect_points<3>(shots[0].sources, {{1, 2, 3}, {4, 5, 6}});
  expect_points<3>(shots[0].receivers, {{7, 8, 9}});
}

template <int Dim>
void expect_same_shots(const std::vector<Shot<Dim>>& found,
                       const std::vector<Shot<Dim>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].number, expected[i].number);
    ASSERT_EQ(found[i].sources.size(), expected[i].sources.size());
    ASSERT_EQ(found[i].receivers.size(), expected[i].receivers.size());
    for (int d = 0; d < Dim; ++d) {
      for (std::size_t p = 0; p < found[i].sources.size(); ++p) {
        EXPECT_EQ(found[i].sources[p][d], expected[i].sources[p][d]);
      }
      for (std::size_t p = 0; p < found[i].receivers.size(); ++p) {
        EXPECT_EQ(found[i].receivers[p][d], expected[i].receivers[p][d]);
      }
    }
  }
}

TEST(ShotTable, IsWrittenAndReadBitByBit) {
  const Points<3> sources = point_line<3>({0.1, 1.0 / 3.0, 1e-7}, {1e5, 7.7, 30.0}, 7);
  const Points<3> receivers = point_grid<3>({0, 0, 0.3}, {1e3 / 7, 9, 0.3}, {5, 4, 1});
  const auto fixed = fixed_spread<3>(sources, receivers);
  const std::string text = format_shots<3>(fixed);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 7 + 20);  // common receivers once
  expect_same_shots<3>(shots_from_text<3>(text, "text"), fixed);
  auto moving = fixed;
  moving[2].receivers.pop_back();
  moving[4].receivers.front()[1] += 1e-13;
  expect_same_shots<3>(shots_from_text<3>(format_shots<3>(moving), "text"), moving);
}

TEST(ShotTable, RefusesRows) {
  const auto message = [](const std::string& row) {
    return message_of<moho::Error>(
        [&] { shots_from_text<2>("shot, kind, x, z\n1, s, 0, 0\n" + row, "shots.csv"); });
  };
  EXPECT_EQ(
      message("1, receiver, 0"),
      "shots.csv:3: there are 3 fields, not 4 (allowed: shot, kind, x, z, where the shot is a "
      "number from 0 up or *, the kind source or receiver)");
  EXPECT_THAT(message("1, receiver, 0, 0,"), HasSubstr("shots.csv:3: there are 5 fields, not 4"));
  EXPECT_THAT(message("\n1, hydrophone, 0, 0"), HasSubstr("shots.csv:4: 'hydrophone' is no kind"));
  EXPECT_THAT(message("-1, r, 0, 0"), HasSubstr("'-1' is no shot"));
  EXPECT_THAT(message("1.5, r, 0, 0"), HasSubstr("'1.5' is no shot"));
  EXPECT_THAT(message("one, r, 0, 0"), HasSubstr("'one' is no shot"));
  EXPECT_THAT(message("1, r, , 0"), HasSubstr("'' is not a number"));
  EXPECT_THAT(message("1, r, 0, inf"), HasSubstr("'inf' is not a number"));
  EXPECT_EQ(message("2, s, 0, 0\n2, r, 0, 0"),
            "shots.csv: shot 1 has no receiver (allowed: 1 or more): add its row");
  EXPECT_THAT(message("1, r, 0, 0\n2, r, 0, 0"), HasSubstr("shots.csv: shot 2 has no source"));
  EXPECT_EQ(message_of<moho::Error>([] { shots_from_text<3>("# nothing\n", "empty.csv"); }),
            "empty.csv: there is no shot (allowed: 1 or more): give rows \"shot, kind, x, y, z\"");
  EXPECT_THROW(shots_from_text<2>("*, r, 0, 0\n", "receivers.csv"), moho::FileError);
}

}  // namespace
