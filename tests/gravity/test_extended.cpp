// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Functions in extended precision, the reference of all fields, by identities.

#include "gravity/fields.hpp"

namespace {

using namespace moho::testing;

TEST(Extended, FunctionsObeyIdentities) {
  // Machin's formula, and ln 2 = 2 atanh(1/3)
  const Extended one(1.0);
  const auto inverse = [&](double n) { return one / Extended(n); };
  Extended difference = Extended(16.0) * arc_tangent(inverse(5.0), one) -
                        Extended(4.0) * arc_tangent(inverse(239.0), one) - pi_extended();
  EXPECT_LE(std::abs(to_double(difference)), 1e-30);
  Extended two, power = inverse(3.0);
  for (int k = 0; k < 40; ++k) {
    two += Extended(2.0) * power / Extended(2.0 * k + 1.0);
    power = power * inverse(9.0);
  }
  EXPECT_LE(std::abs(to_double(logarithm(Extended(2.0)) - two)), 1e-31);
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const Extended a =
        Extended(random.log_between(1e-12, 1e12)) + Extended(random.between(0, 1e-15));
    const Extended b = Extended(random.log_between(1e-12, 1e12)) / Extended(3.0);
    const Extended root = square_root(a);
    EXPECT_LE(std::abs(to_double(root * root - a)), 1e-30 * to_double(a));
    // log(a b) = log a + log b; absolute values are at most 60
    EXPECT_LE(std::abs(to_double(logarithm(a * b) - logarithm(a) - logarithm(b))), 1e-29);
    // atan(a / b) + atan(b / a) = pi / 2, and the angle halved
    const Extended angle = arc_tangent(a, b);
    EXPECT_LE(std::abs(to_double(angle + arc_tangent(b, a) - pi_extended() / Extended(2.0))),
              1e-30);
    const Extended half = arc_tangent(a, b + square_root(a * a + b * b));
    EXPECT_LE(std::abs(to_double(half + half - angle)), 1e-30);
  }
}

}  // namespace
