// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/parse.hpp>
#include <moho/core/text.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
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

TEST(Text, CountedUnits) {
  EXPECT_EQ(counted(0, "shot"), "0 shots");
  EXPECT_EQ(counted(std::size_t{1}, "shot"), "1 shot");
  EXPECT_EQ(counted(1.0, "process", "processes"), "1 process");
  EXPECT_EQ(counted(12345678901.0, "process", "processes"), "1.23456789e+10 processes");
}

TEST(Parse, Counts) {
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parse_count("--shape", "7", 1, 7), 7);
  EXPECT_EQ(parse_count("--seed", "9223372036854775807", 0, max), max);
  for (const char* text : {"0", "8", "", "3.0", "3 ", "+3"}) {
    EXPECT_EQ(message_of<moho::InputError>([&] { parse_count("--shape", text, 1, 7); }),
              moho::concat("--shape is '", text, "' (allowed: whole numbers from 1 to 7)"));
  }
  EXPECT_EQ(message_of<moho::InputError>([] { parse_count("--seed", "-1", 0, max); }),
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

TEST(Parse, WordsOrFiles) {
  const auto check = [](const std::string& text) {
    moho::text::check_word_or_file("--start", text, {"auto", "layers"}, "auto|layers|v|FILE");
  };
  for (const char* text : {"auto", "layers", "layer.npy", "./layer", "1500,0.5", "-5", ""}) {
    EXPECT_NO_THROW(check(text)) << text;
  }
  const std::string allowed = "is unknown, and no such file exists (allowed: auto|layers|v|FILE)";
  EXPECT_EQ(message_of<moho::InputError>([&] { check("layer"); }),
            "--start 'layer' " + allowed + ": did you mean layers?");
  EXPECT_EQ(message_of<moho::InputError>([&] { check("my_model-2"); }),
            "--start 'my_model-2' " + allowed);
  const std::string name = "moho_word_or_file_" + std::to_string(::getpid());
  std::ofstream(name) << "1";
  EXPECT_NO_THROW(check(name));
  std::filesystem::remove(name);
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
