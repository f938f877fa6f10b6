// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// The exponential prior against its covariance, and the sparse products against loops.

#include "spaces.hpp"

#include <moho/tomography/jacobian.hpp>
#include <moho/tomography/prior.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Instance;
using moho::Point;
using moho::tomography::ExponentialPrior;
using moho::tomography::RayJacobian;
using moho::tomography::SparseRows;

template <class S>
class TomographyPrior : public ::testing::Test {};
TYPED_TEST_SUITE(TomographyPrior, TestSpaces, SpaceName);

std::vector<double> random_vector(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(generator() / 4294967296.0 - 0.5);
  return x;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

enum class Apply { forward, transposed, inverse, transposed_inverse };

template <int Dim, class Memory>
std::vector<double> applied(const Instance<Memory>& exec,
                            const ExponentialPrior<Dim, Memory>& prior,
                            const std::vector<double>& x, Apply how) {
  const auto view = moho::upload(exec, x, "x");
  if (how == Apply::forward) prior.apply(exec, view);
  if (how == Apply::transposed) prior.transpose(exec, view);
  if (how == Apply::inverse) prior.inverse(exec, view);
  if (how == Apply::transposed_inverse) prior.transposed_inverse(exec, view);
  return moho::download(exec, view);
}

template <int Dim, class Memory>
void check_covariance(const Instance<Memory>& exec, const Grid<Dim>& grid,
                      const Point<Dim>& lengths) {
  const ExponentialPrior<Dim, Memory> prior(grid, lengths);
  const std::int64_t n = grid.size();
  for (std::int64_t i = 0; i < n; i += 7) {
    std::vector<double> unit(static_cast<std::size_t>(n), 0.0);
    unit[static_cast<std::size_t>(i)] = 1.0;
    const auto column =
        applied(exec, prior, applied(exec, prior, unit, Apply::transposed), Apply::forward);
    for (std::int64_t j = 0; j < n; ++j) {
      double exponent = 0.0;
      for (int d = 0; d < Dim; ++d) {
        const auto cells = static_cast<double>(grid.node(i)[d] - grid.node(j)[d]);
        exponent -= std::abs(cells * grid.spacing[d]) / lengths[d];
      }
      ASSERT_NEAR(column[static_cast<std::size_t>(j)], std::exp(exponent), 1e-13) << i << ' ' << j;
    }
  }
  const auto x = random_vector(n, 1), y = random_vector(n, 2);
  const double left = dot(applied(exec, prior, x, Apply::forward), y);
  EXPECT_NEAR(left, dot(x, applied(exec, prior, y, Apply::transposed)), 1e-13 * n);
  const auto back = applied(exec, prior, applied(exec, prior, x, Apply::forward), Apply::inverse);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], x[i], 1e-12);
  const double inverse = dot(applied(exec, prior, x, Apply::inverse), y);
  EXPECT_NEAR(inverse, dot(x, applied(exec, prior, y, Apply::transposed_inverse)), 1e-12 * n);
}

TYPED_TEST(TomographyPrior, IsTheSquareRootOfTheCovariance) {
  check_covariance<2>(TypeParam::exec(), {{11, 8}, {2.0, 1.0}, {0.0, 0.0}}, {7.0, 3.0});
  check_covariance<3>(TypeParam::exec(), {{4, 5, 3}, {2.0, 1.0, 3.0}, {}}, {7.0, 3.0, 3.0});
  check_covariance<2>(TypeParam::exec(), {{1, 9}, {2.0, 1.0}, {}}, {7.0, 3.0});
}

TYPED_TEST(TomographyPrior, AnInfiniteLengthMakesAnAxisEqual) {
  const Grid<2> grid{{5, 4}, {1.0, 1.0}, {}};
  const ExponentialPrior<2, typename TypeParam::Memory> prior(grid, {INFINITY, 2.0});
  const auto y = applied(TypeParam::exec(), prior, random_vector(20, 3), Apply::forward);
  for (std::size_t i = 4; i < 20; ++i) EXPECT_EQ(y[i], y[i % 4]);
  // the inverse is exact for such models, the mean for others, and its transpose is that
  const auto& exec = TypeParam::exec();
  const auto back = applied(exec, prior, applied(exec, prior, y, Apply::inverse), Apply::forward);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(back[i], y[i], 1e-14);
  const auto x = random_vector(20, 4), z = random_vector(20, 5);
  const auto mean = applied(exec, prior, applied(exec, prior, x, Apply::inverse), Apply::forward);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(mean[i], (x[i] + x[i + 4] + x[i + 8] + x[i + 12] + x[i + 16]) / 5.0, 1e-14);
  }
  EXPECT_NEAR(dot(applied(exec, prior, x, Apply::inverse), z),
              dot(x, applied(exec, prior, z, Apply::transposed_inverse)), 1e-13);
}

template <class Memory>
void check_products(const Instance<Memory>& exec) {
  SparseRows rows;
  rows.columns = 9;
  std::mt19937 generator(5);
  std::vector<std::vector<double>> dense(6, std::vector<double>(9, 0.0));
  for (auto& line : dense) {
    for (int c = 0; c < 9; ++c) {
      if (generator() % 3 != 0) continue;
      line[static_cast<std::size_t>(c)] = 1.0 + generator() % 10;
      rows.column.push_back(c);
      rows.value.push_back(line[static_cast<std::size_t>(c)]);
    }
    rows.first.push_back(static_cast<std::int64_t>(rows.value.size()));
  }
  const RayJacobian<Memory> matrix(exec, rows);
  EXPECT_EQ(matrix.entries(), static_cast<std::int64_t>(rows.value.size()));
  const auto x = random_vector(9, 6), y = random_vector(6, 7);
  const auto product = moho::upload(exec, y, "product");
  matrix.product(exec, moho::upload(exec, x, "x"), product);
  const auto transposed = moho::upload(exec, x, "transposed");
  matrix.product_transposed(exec, moho::upload(exec, y, "y"), transposed);
  const auto forward = moho::download(exec, product), back = moho::download(exec, transposed);
  for (std::size_t r = 0; r < 6; ++r) EXPECT_NEAR(forward[r], dot(dense[r], x), 1e-14);
  EXPECT_NEAR(dot(forward, y), dot(x, back), 1e-13);
}
TYPED_TEST(TomographyPrior, ProductsAreThoseOfTheMatrix) { check_products(TypeParam::exec()); }

}  // namespace
