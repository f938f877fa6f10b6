// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/error.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <type_traits>

namespace {

TEST(Error, MessagesAreConcatenatedLikeAStream) {
  EXPECT_EQ(moho::concat("radius ", 9, " of ", std::string("the star"), ' ', true),
            "radius 9 of the star 1");
}

TEST(Error, NumbersKeepTenDigits) {
  EXPECT_EQ(moho::concat(123456.7891), "123456.7891");
  EXPECT_EQ(moho::concat(0.1), "0.1");
  EXPECT_EQ(moho::concat(2.5e-12), "2.5e-12");
}

TEST(Error, BytesInWords) {
  EXPECT_EQ(moho::format_bytes(0), "0 B");
  EXPECT_EQ(moho::format_bytes(512), "512 B");
  EXPECT_EQ(moho::format_bytes(1023), "1023 B");
  EXPECT_EQ(moho::format_bytes(1024), "1 KiB");
  EXPECT_EQ(moho::format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(moho::format_bytes(468.0 * 1024 * 1024), "468 MiB");
  EXPECT_EQ(moho::format_bytes(12.0 * 1024 * 1024 * 1024), "12 GiB");
  EXPECT_EQ(moho::format_bytes(3000.0 * 1024 * 1024 * 1024 * 1024 * 1024), "3000 PiB");
}

TEST(Error, KindsCanBeCaughtTogetherAndApart) {
  static_assert(std::is_base_of_v<std::runtime_error, moho::Error>);
  EXPECT_THROW(throw moho::InputError("x"), moho::Error);
  EXPECT_THROW(throw moho::FileError("x"), moho::Error);
  EXPECT_THROW(throw moho::MemoryError("x"), moho::Error);
  static_assert(!std::is_base_of_v<moho::InputError, moho::FileError>);
  try {
    throw moho::InputError("radius: 0 (allowed: 1 to 8)");
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "radius: 0 (allowed: 1 to 8)");
  }
}

}  // namespace
