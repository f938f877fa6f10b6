// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/parse.hpp>
#include <moho/core/text.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "refusals.hpp"

namespace {

using namespace moho::text;
using moho::testing::message_of;

TEST(Parse, Numbers) {
  EXPECT_EQ(parse_number("--time", "-2.5e1", "s"), -25.0);
  for (const char* text : {"", "2s", " 2", "nan", "inf", "1e400"}) {
    EXPECT_EQ(message_of<moho::InputError>([&] { parse_number("--time", text, "seconds"); }),
              moho::concat("--time: '", text, "' is not a number (allowed: seconds)"));
  }
}

TEST(Parse, Counts) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parse_count("--shape", "7", 1, 7), 7);
  EXPECT_EQ(parse_count("--seed", "9223372036854775807", 0, most), most);
  for (const char* text : {"0", "8", "", "3.0", "3 ", "+3"}) {
    EXPECT_EQ(message_of<moho::InputError>([&] { parse_count("--shape", text, 1, 7); }),
              moho::concat("--shape is '", text, "' (allowed: whole numbers from 1 to 7)"));
  }
  EXPECT_EQ(message_of<moho::InputError>([] { parse_count("--seed", "-1", 0, most); }),
            "--seed is '-1' (allowed: whole numbers from 0 up)");
}

TEST(Parse, Names) {
  EXPECT_EQ(parse_name("--expand", "layers", {"none", "layers"}), 1U);
  EXPECT_EQ(message_of<moho::InputError>([] {
              parse_name("--expand", "layer", {"none", "layers"});
            }),
            "--expand 'layer' is unknown (allowed: none, layers): did you mean layers?");
  EXPECT_EQ(message_of<moho::InputError>([] {
              parse_name("--expand", "quickly", {"none", "layers"});
            }),
            "--expand 'quickly' is unknown (allowed: none, layers)");
}

TEST(Text, SignificantDigits) {
  EXPECT_EQ(significant(0.012345, 3), "0.0123");
  EXPECT_EQ(significant(1.5e9, 6), "1.5e+09");
  EXPECT_EQ(seconds(0.01234), "0.012");
  EXPECT_EQ(seconds(98.7), "99");
  EXPECT_EQ(seconds(160.6), "161");
  EXPECT_EQ(also_allowed("it is -1 (allowed: 1 or more)", "auto"),
            "it is -1 (allowed: 1 or more, or auto)");
  EXPECT_EQ(also_allowed("it is -1 (allowed: 1, or auto)", "auto"),
            "it is -1 (allowed: 1, or auto)");
  EXPECT_EQ(also_allowed("no such file", "auto"), "no such file");
}

}  // namespace
