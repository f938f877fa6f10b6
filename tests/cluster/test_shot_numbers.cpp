// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Lists of shots: numbers, ranges, and texts that are no lists.

#include <moho/cluster/shot_numbers.hpp>
#include <moho/core/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using moho::cluster::parse_shots;

std::vector<std::int64_t> numbers(const std::string& list) {
  std::vector<std::int64_t> result;
  for (const moho::cluster::Task& task : parse_shots(list)) result.push_back(task.shot);
  return result;
}

TEST(ShotNumbers, AreThoseOfTheList) {
  EXPECT_EQ(numbers("7"), (std::vector<std::int64_t>{7}));
  EXPECT_EQ(numbers("9, 1-3"), (std::vector<std::int64_t>{9, 1, 2, 3}));
  EXPECT_EQ(numbers("1-8:3,2-8:3"), (std::vector<std::int64_t>{1, 4, 7, 2, 5, 8}));
}

TEST(ShotNumbers, OtherTextsAreRefused) {
  for (const char* list : {"", "x", "-1", "3-1", "1-4:0", "1,1", "1-9:2,3", "0-1000000"}) {
    EXPECT_THROW(numbers(list), moho::InputError) << list;
  }
  try {
    parse_shots("4,1-5", "--shots");
    FAIL();
  } catch (const moho::InputError& error) {
    EXPECT_STREQ(error.what(),
                 "--shots: the shot 4 is repeated (allowed: each number once): remove one");
  }
}

TEST(ShotNumbers, ReadingEndsOnRequest) {
  EXPECT_THROW(parse_shots("1-4", "shots", [] { return true; }), moho::Error);
}

}  // namespace
