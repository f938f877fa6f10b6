// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Sines and cosines of angles in degrees.
#include <moho/core/angles.hpp>

#include <gtest/gtest.h>

namespace moho {
namespace {

TEST(Angles, AreExactForQuarterTurns) {
  for (const double turns : {-720.0, -360.0, 0.0, 360.0, 36000.0}) {
    const double expected[4][2] = {{0.0, 1.0}, {1.0, 0.0}, {0.0, -1.0}, {-1.0, 0.0}};
    for (int quarter = 0; quarter < 4; ++quarter) {
      const auto found = sine_and_cosine(turns + 90.0 * quarter);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(found[i], expected[quarter][i]) << turns << " + " << quarter;
        EXPECT_FALSE(found[i] == 0.0 && std::signbit(found[i])) << turns << " + " << quarter;
      }
    }
  }
}

TEST(Angles, AreThoseOfRadians) {
  for (double degrees = -725.0; degrees < 725.0; degrees += 0.625) {
    const auto [sine, cosine] = sine_and_cosine(degrees);
    const double radians = degrees * std::numbers::pi / 180.0;
    EXPECT_NEAR(sine, std::sin(radians), 1e-14) << degrees;
    EXPECT_NEAR(cosine, std::cos(radians), 1e-14) << degrees;
  }
}

}  // namespace
}  // namespace moho
