// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Columns and half offsets of gathers at positions, and their refusals.

#include <moho/rtm/offsets_at.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace moho;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Grid<2> grid{{121, 61}, {10.0, 10.0}, {0.0, 0.0}};

std::string refusal(const Grid<2>& of, double half_offset) {
  try {
    rtm::offsets_at(of, {of.origin[0]}, half_offset, "--columns", "--offset");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(OffsetsAt, HalfOffsetsAreNodes) {
  const auto offsets = rtm::offsets_at(grid, {500.0, 604.0}, 100.0);
  EXPECT_EQ(offsets.max_half_offset, 10);
  EXPECT_EQ(offsets.offset_step, 1);
  ASSERT_EQ(offsets.columns.size(), 2u);
  EXPECT_EQ(offsets.columns[1][0], 60);
  const std::vector<double> nodes = rtm::column_positions(grid, offsets);
  EXPECT_EQ(nodes, (std::vector<double>{500.0, 600.0}));
  EXPECT_EQ(rtm::moved_columns(grid, offsets, {500.0, 604.0}), "604 m is at 600 m");
  EXPECT_EQ(rtm::moved_columns(grid, offsets, nodes), "");
  EXPECT_EQ(rtm::offsets_at(grid, {500.0}, 0.0).max_half_offset, 12);
  EXPECT_EQ(rtm::offsets_at(grid, {500.0}, 5.0).max_half_offset, 1);
  EXPECT_EQ(rtm::offsets_at(grid, {500.0}, 304.0).max_half_offset, 30);
  EXPECT_TRUE(rtm::offsets_at(grid, {}, 5000.0).columns.empty());
}

TEST(OffsetsAt, RefusesHalfOffsetsOutOfRange) {
  for (const double half_offset : {306.0, 1e30, 4.0}) {
    EXPECT_THAT(refusal(grid, half_offset),
                AllOf(HasSubstr("--offset is "), HasSubstr("(allowed: 10 to 300 m")));
  }
  EXPECT_THAT(refusal({{4, 61}, {10.0, 10.0}, {}}, 0.0),
              HasSubstr("--columns: the model has 4 nodes along x (allowed: 5 or more"));
}

}  // namespace
