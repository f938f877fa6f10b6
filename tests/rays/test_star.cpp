// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain

#include <moho/rays/star.hpp>

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <set>

namespace {

using moho::rays::half_star;
using moho::rays::Star;
using moho::rays::detail::StaticStar;

TEST(HalfStar, HasHalfOfTheKnownNumberOfNeighbours) {
  const int coprime_2d[] = {8, 16, 32, 48, 80, 96, 144, 176};
  for (int r = 1; r <= 8; ++r) {
    EXPECT_EQ(2 * half_star<2>(r, Star::coprime).size(), coprime_2d[r - 1]) << "radius " << r;
    EXPECT_EQ(2 * half_star<2>(r, Star::full).size(), (2 * r + 1) * (2 * r + 1) - 1);
  }
  const int coprime_3d[] = {26, 98, 290, 578};
  const int full_3d[] = {26, 124, 342, 728};
  for (int r = 1; r <= 4; ++r) {
    EXPECT_EQ(2 * half_star<3>(r, Star::coprime).size(), coprime_3d[r - 1]) << "radius " << r;
    EXPECT_EQ(2 * half_star<3>(r, Star::full).size(), full_3d[r - 1]) << "radius " << r;
  }
}

// The half star and its mirror image contain every (coprime) offset of the box once.
template <int Dim>
void expect_complete(int radius, Star star) {
  std::set<std::array<int, Dim>> seen;
  for (const auto& offset : half_star<Dim>(radius, star)) {
    std::array<int, Dim> mirror;
    int divisor = 0;
    for (int d = 0; d < Dim; ++d) {
      EXPECT_LE(std::abs(offset[d]), radius);
      mirror[d] = -offset[d];
      divisor = std::gcd(divisor, offset[d]);
    }
    EXPECT_GE(divisor, 1);
    if (star == Star::coprime) {
      EXPECT_EQ(divisor, 1);
    }
    EXPECT_GT(offset, mirror);  // the first non-zero component is positive
    EXPECT_TRUE(seen.insert(offset).second);
    EXPECT_TRUE(seen.insert(mirror).second);
  }
}

TEST(HalfStar, IsCompleteWithItsMirrorImage) {
  for (const auto star : {Star::coprime, Star::full}) {
    for (int r = 1; r <= 8; ++r) expect_complete<2>(r, star);
    for (int r = 1; r <= 4; ++r) expect_complete<3>(r, star);
  }
}

// A larger star begins with the smaller ones, so that directions keep their indices.
TEST(HalfStar, IsOrderedByRing) {
  const auto large = half_star<2>(8, Star::coprime);
  for (int r = 1; r < 8; ++r) {
    const auto small = half_star<2>(r, Star::coprime);
    ASSERT_LT(small.size(), large.size());
    EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin()));
  }
}

template <int Dim, int Radius, bool Full>
void expect_static() {
  using Fixed = StaticStar<Dim, Radius, Full>;
  const auto star = half_star<Dim>(Radius, Full ? Star::full : Star::coprime);
  ASSERT_EQ(Fixed::half, static_cast<int>(star.size()));
  for (int e = 0; e < Fixed::half; ++e) EXPECT_EQ(Fixed::offsets[e], star[e]);
}

TEST(StaticStar, IsTheHalfStar) {
  expect_static<2, 1, false>();
  expect_static<2, 2, true>();
  expect_static<2, 4, true>();
  expect_static<2, 6, false>();
  expect_static<3, 1, true>();
  expect_static<3, 2, false>();
}

}  // namespace
