// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Quadratic functions within bounds, against conditions of their minimum and projected gradients.

#include <moho/optimize/bounded_quadratic.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>

#include "refusals.hpp"

namespace {

using moho::optimize::BoundedQuadratic;
using moho::optimize::BoundedResult;
using moho::optimize::minimise_within_bounds;
using ::testing::HasSubstr;
using Vector = BoundedQuadratic::Vector;

// H = A^T A + damping with a random A of a few rows, and random g.
BoundedQuadratic random_problem(std::size_t n, double damping, double bound) {
  std::mt19937_64 generator(11);
  const auto uniform = [&] { return 0x1p-52 * static_cast<double>(generator() >> 11) - 1.0; };
  std::vector<Vector> rows(n / 3 + 1, Vector(n));
  for (Vector& row : rows) {
    for (double& value : row) value = uniform();
  }
  BoundedQuadratic problem;
  problem.product = [rows, damping](const Vector& x) {
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = damping * x[i];
    for (const Vector& row : rows) {
      double sum = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += row[i] * x[i];
      for (std::size_t i = 0; i < x.size(); ++i) y[i] += sum * row[i];
    }
    return y;
  };
  for (std::size_t i = 0; i < n; ++i) problem.gradient.push_back(uniform());
  problem.lower.assign(n, -bound);
  problem.upper.assign(n, 0.5 * bound);
  return problem;
}

// The gradient is zero within the bounds, and points outwards at them.
TEST(BoundedQuadratic, FulfilsTheConditionsOfItsMinimum) {
  for (const double damping : {1.0, 1e-2}) {
    const auto problem = random_problem(60, damping, 0.2 / damping);
    const BoundedResult found =
        minimise_within_bounds(problem, Vector(60, 5.0), {.products = 5000, .tolerance = 1e-12});
    const Vector hx = problem.product(found.x);
    int held = 0;
    for (std::size_t i = 0; i < found.x.size(); ++i) {
      const double slope = hx[i] - problem.gradient[i];
      ASSERT_GE(found.x[i], problem.lower[i]);
      ASSERT_LE(found.x[i], problem.upper[i]);
      if (found.x[i] == problem.lower[i]) {
        EXPECT_GT(slope, -1e-3);
      } else if (found.x[i] == problem.upper[i]) {
        EXPECT_LT(slope, 1e-3);
      } else {
        EXPECT_NEAR(slope, 0.0, 1e-3);
      }
      held += found.x[i] == problem.lower[i] || found.x[i] == problem.upper[i] ? 1 : 0;
    }
    EXPECT_GT(held, 5);
    EXPECT_LT(held, 55);
  }
}

// By default it is within a thousandth of the minimum of many projected gradients.
TEST(BoundedQuadratic, ReachesTheValueOfProjectedGradients) {
  const auto problem = random_problem(60, 1e-2, 20.0);
  Vector x(60, 0.0), hx;
  for (int turn = 0; turn < 40000; ++turn) {
    hx = problem.product(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::clamp(x[i] - (hx[i] - problem.gradient[i]) / 60.0, problem.lower[i],
                        problem.upper[i]);
    }
  }
  hx = problem.product(x);
  double value = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) value += x[i] * (hx[i] - 2.0 * problem.gradient[i]);
  const BoundedResult found = minimise_within_bounds(problem, Vector(60, 0.0));
  EXPECT_NEAR(found.value, value, 1e-3 * std::abs(value));
  EXPECT_LT(found.products, 1000);
}

// Without active bounds, and with unbounded unknowns, it is the solution of H x = g.
TEST(BoundedQuadratic, SolvesWithoutBounds) {
  auto problem = random_problem(30, 1.0, 1.0);
  problem.lower.assign(30, -std::numeric_limits<double>::infinity());
  problem.upper.assign(30, std::numeric_limits<double>::infinity());
  const BoundedResult found =
      minimise_within_bounds(problem, Vector(30, 0.0), {.tolerance = 1e-12});
  const Vector hx = problem.product(found.x);
  for (std::size_t i = 0; i < hx.size(); ++i) EXPECT_NEAR(hx[i], problem.gradient[i], 1e-5);
}

TEST(BoundedQuadratic, RefusesOtherLengthsAndCrossedBounds) {
  const auto refusal = [](const auto& change, std::size_t start = 9) {
    auto problem = random_problem(9, 1.0, 1.0);
    change(problem);
    return moho::testing::message_of([&] { minimise_within_bounds(problem, Vector(start, 0.0)); });
  };
  const auto same = [](BoundedQuadratic&) {};
  EXPECT_EQ(refusal(same), "no exception");
  EXPECT_THAT(refusal(same, 8), HasSubstr("start: it has 8 numbers (allowed: 9"));
  EXPECT_THAT(refusal([](auto& p) { p.lower.pop_back(); }), HasSubstr("lower: it has 8"));
  EXPECT_THAT(refusal([](auto& p) { p.upper.push_back(1.0); }), HasSubstr("upper: it has 10"));
  EXPECT_THAT(refusal([](auto& p) { p.lower[3] = 2.0; }), HasSubstr("number 3 is 2 and 0.5"));
  EXPECT_THAT(refusal([](auto& p) { p.upper[4] = NAN; }), HasSubstr("number 4 is -1 and nan"));
}

}  // namespace
