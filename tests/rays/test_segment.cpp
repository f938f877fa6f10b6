// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Integrals along segments, against adaptive quadrature in extended precision.

#include <moho/rays/segment.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "rays/quadrature.hpp"

namespace {

using moho::Index;
using moho::Point;
using moho::rays::WeightRule;
using moho::rays::detail::mean_reciprocal;
using moho::rays::detail::mean_slowness;
using moho::testing::brute_mean_slowness;
using moho::testing::integrate;
using Real = long double;

double uniform(std::mt19937& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random()) / 4294967296.0;
}
double log_uniform(std::mt19937& random, double low, double high) {
  return std::exp(uniform(random, std::log(low), std::log(high)));
}

Real quadratic(double a, double b, double c, Real t) {
  return (1 - t) * (1 - t) * a + 2 * t * (1 - t) * b + t * t * c;
}

TEST(MeanReciprocal, OfALinearFunctionIsALogarithm) {
  for (const double c : {2.0, 1.5, 1000.0, 1e6, 1e-6}) {
    const double expected = std::log(c) / (c - 1.0);
    EXPECT_NEAR(mean_reciprocal(1.0, 0.5 * (1.0 + c), c), expected, 1e-14 * expected) << c;
  }
  EXPECT_DOUBLE_EQ(mean_reciprocal(4.0, 4.0, 4.0), 0.25);
  EXPECT_DOUBLE_EQ(mean_reciprocal(4.0, 4.0, 4.0, 4.0), 0.25);
}

TEST(MeanReciprocal, OfAQuadraticIsItsIntegral) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const double a = log_uniform(random, 1e-3, 1e3), c = log_uniform(random, 1e-3, 1e3);
    const double b = uniform(random, -0.5, 3.0) * std::sqrt(a * c);
    const Real expected = integrate([&](Real t) { return 1 / quadratic(a, b, c, t); }, 0, 1);
    EXPECT_NEAR(mean_reciprocal(a, b, c), expected, 2e-13 * expected) << a << ' ' << b << ' ' << c;
  }
}

// Cancellation in the closed forms: b^2 - a c near zero from both sides, and at the limits of the
// series.
TEST(MeanReciprocal, OfNearlyConstantAndNearlyDegenerateQuadratics) {
  for (const double scale : {1.0, 1500.0}) {
    for (const double a : {1.0, 7.0}) {
      for (const double relative : {-0.3, -0.0101, -0.0099, -1e-4, -1e-9, -1e-15, 0.0, 1e-15, 1e-9,
                                    1e-4, 0.0099, 0.0101, 0.3}) {
        const double c = 2.0;
        const double b = std::sqrt(a * c / (1.0 - relative));
        const Real expected = integrate(
            [&](Real t) { return 1 / quadratic(scale * a, scale * b, scale * c, t); }, 0, 1);
        EXPECT_NEAR(mean_reciprocal(scale * a, scale * b, scale * c), expected, 1e-14 * expected)
            << "a " << a << ", (b^2 - a c) / b^2 = " << relative;
      }
    }
  }
}

Real cubic(const double (&b)[4], Real t) {
  const Real u = 1 - t;
  return u * u * u * b[0] + 3 * u * u * t * b[1] + 3 * u * t * t * b[2] + t * t * t * b[3];
}

TEST(MeanReciprocal, OfACubicIsItsIntegral) {
  std::mt19937 random(2);
  for (const double contrast : {1.0 + 1e-9, 1.2, 10.0, 1e3, 1e6}) {
    for (int i = 0; i < 40; ++i) {
      double b[4];
      for (double& value : b) value = log_uniform(random, 1.0, contrast);
      const Real expected = integrate([&](Real t) { return 1 / cubic(b, t); }, 0, 1);
      EXPECT_NEAR(mean_reciprocal(b[0], b[1], b[2], b[3]), expected, 2e-13 * expected)
          << "contrast " << contrast;
    }
  }
}

// The values are positive although a coefficient is negative.
TEST(MeanReciprocal, OfACubicWithANegativeCoefficient) {
  const double b[4] = {1.0, -0.4, 1.3, 0.2};
  const Real expected = integrate([&](Real t) { return 1 / cubic(b, t); }, 0, 1);
  EXPECT_NEAR(mean_reciprocal(b[0], b[1], b[2], b[3]), expected, 1e-13 * expected);
}

TEST(MeanReciprocal, OfAQuadraticRaisedToACubicIsTheSame) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const double a = log_uniform(random, 1, 100), b = log_uniform(random, 1, 100),
                 c = log_uniform(random, 1, 100);
    const double expected = mean_reciprocal(a, b, c);
    EXPECT_NEAR(mean_reciprocal(a, (a + 2 * b) / 3, (2 * b + c) / 3, c), expected,
                1e-13 * expected);
  }
}

// The pieces are contiguous from 0 to 1, each inside its cell.
template <int Dim>
void expect_pieces(const Point<Dim>& p, const Point<Dim>& q, const Index<Dim>& extents) {
  double end = 0.0;
  moho::rays::detail::for_each_piece<Dim>(
      p, q, extents, [&](double t0, double t1, const Index<Dim>& cell) {
        EXPECT_EQ(t0, end);
        EXPECT_GT(t1, t0);
        end = t1;
        for (int d = 0; d < Dim; ++d) {
          EXPECT_GE(cell[d], 0);
          EXPECT_LE(cell[d], std::max<std::int64_t>(0, extents[d] - 2));
          for (const double t : {t0, t1}) {
            const double x = p[d] + t * (q[d] - p[d]) - static_cast<double>(cell[d]);
            EXPECT_GE(x, -1e-5);
            EXPECT_LE(x, 1.0 + 1e-5);
          }
        }
      });
  EXPECT_EQ(end, 1.0);
}

TEST(ForEachPiece, CoversTheSegmentCellByCell) {
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) {
    Point<2> p, q;
    Point<3> a, b;
    for (int d = 0; d < 3; ++d) {
      a[d] = uniform(random, 0.0, 7.0);
      b[d] = uniform(random, 0.0, 7.0);
      if (i % 2) a[d] = std::floor(a[d]);
      if (i % 3 == 0) b[d] = std::floor(b[d]) + 1.0;
      if (d < 2) p[d] = a[d], q[d] = b[d];
    }
    if (p[0] != q[0] || p[1] != q[1]) expect_pieces<2>(p, q, {8, 8});
    if (a[0] != b[0] || a[1] != b[1] || a[2] != b[2]) expect_pieces<3>(a, b, {8, 8, 8});
  }
  expect_pieces<2>({7.0, 0.0}, {7.0, 7.0}, {8, 8});  // along the last grid line
  expect_pieces<2>({0.0, 5.0}, {0.0, 2.0}, {1, 8});  // grid with a single node along this axis
}

TEST(ForEachPiece, OfAPointThereAreNone) {
  int pieces = 0;
  moho::rays::detail::for_each_piece<2>(Point<2>{1.5, 2.0}, Point<2>{1.5, 2.0}, Index<2>{4, 4},
                                        [&](double, double, const Index<2>&) { ++pieces; });
  EXPECT_EQ(pieces, 0);
}

// Segments between nodes, between a node and any position, along grid lines and along the border.
template <int Dim>
void expect_rule(WeightRule rule, double contrast) {
  std::mt19937 random(static_cast<unsigned>(rule) + 10 * Dim);
  Index<Dim> extents;
  std::int64_t size = 1;
  for (int d = 0; d < Dim; ++d) size *= extents[d] = 6 + d;
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; ++i) values.push_back(log_uniform(random, 1.0, contrast));
  const auto value = [&](const Index<Dim>& node) {
    std::int64_t i = 0;
    for (int d = 0; d < Dim; ++d) {
      EXPECT_GE(node[d], 0);
      EXPECT_LT(node[d], extents[d]);
      i = i * extents[d] + node[d];
    }
    return values[static_cast<std::size_t>(i)];
  };
  for (int i = 0; i < 60; ++i) {
    Point<Dim> p, q;
    for (int d = 0; d < Dim; ++d) {
      const double last = static_cast<double>(extents[d] - 1);
      p[d] = std::floor(uniform(random, 0.0, last + 1.0));
      q[d] = uniform(random, 0.0, last);
      if (i % 2) q[d] = std::floor(q[d] + 0.5);
      if (i % 5 == 0 && d == i % Dim) p[d] = q[d] = i % 2 ? last : 0.0;  // along a border
      if (i % 5 == 1 && d == i % Dim) p[d] = q[d] = 2.0;                 // along a grid line
    }
    if (p[0] == q[0] && p[1] == q[1] && p[Dim - 1] == q[Dim - 1]) continue;
    const int radius = 1 + i % 4;
    const double found = mean_slowness<Dim>(rule, radius, p, q, extents, value);
    const double expected =
        static_cast<double>(brute_mean_slowness<Dim>(rule, radius, p, q, extents, value));
    EXPECT_NEAR(found, expected, 2e-13 * expected)
        << "segment " << i << ", rule " << to_string(rule);
    // the reverse segment has the same weight
    const double back = mean_slowness<Dim>(rule, radius, q, p, extents, value);
    EXPECT_NEAR(back, found, 1e-13 * found) << "segment " << i << ", rule " << to_string(rule);
  }
}

TEST(MeanSlowness, IsTheIntegralOfTheInterpolant2D) {
  for (const double contrast : {1.0, 4.0, 1000.0}) {
    for (const auto rule :
         {WeightRule::slowness, WeightRule::velocity, WeightRule::cells, WeightRule::sampled}) {
      expect_rule<2>(rule, contrast);
    }
  }
}

TEST(MeanSlowness, IsTheIntegralOfTheInterpolant3D) {
  for (const double contrast : {1.0, 4.0, 1000.0}) {
    for (const auto rule :
         {WeightRule::slowness, WeightRule::velocity, WeightRule::cells, WeightRule::sampled}) {
      expect_rule<3>(rule, contrast);
    }
  }
}

// Nearly constant velocity, where differences of the ends are below rounding.
TEST(MeanSlowness, OfNearlyConstantVelocity) {
  for (const double bump : {1e-3, 1e-8, 1e-13}) {
    const auto value = [&](const Index<2>& node) {
      return 2000.0 * (1.0 + bump * static_cast<double>((node[0] * 3 + node[1] * 5) % 4));
    };
    const Point<2> p{0.0, 1.0}, q{5.0, 4.0};
    const Real expected = brute_mean_slowness<2>(WeightRule::velocity, 6, p, q, {6, 6}, value);
    EXPECT_NEAR(mean_slowness<2>(WeightRule::velocity, 6, p, q, Index<2>{6, 6}, value), expected,
                1e-15 * 1e-3 + 4e-16 * expected)
        << bump;
  }
}

}  // namespace
