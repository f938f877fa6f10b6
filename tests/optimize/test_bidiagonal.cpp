// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Damped least squares for every damping, against the normal equations of a dense matrix.

#include "spaces.hpp"

#include <moho/optimize/bidiagonalise.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using namespace moho::testing;
using moho::Instance;
using moho::optimize::DoubleVector;

template <class S>
class Bidiagonalisation : public ::testing::Test {};
TYPED_TEST_SUITE(Bidiagonalisation, TestSpaces, SpaceName);

using Dense = std::vector<std::vector<double>>;

// A dense operator that works on the host.
template <class Memory>
struct DenseOperator {
  const Dense* matrix;
  std::int64_t rows() const { return static_cast<std::int64_t>(matrix->size()); }
  std::int64_t columns() const { return static_cast<std::int64_t>(matrix->front().size()); }
  void apply(const Instance<Memory>& exec, const DoubleVector<Memory>& x,
             const DoubleVector<Memory>& y) const {
    const auto in = moho::download(exec, x);
    std::vector<double> out;
    for (const auto& row : *matrix) {
      double sum = 0.0;
      for (std::size_t k = 0; k < in.size(); ++k) sum += row[k] * in[k];
      out.push_back(sum);
    }
    moho::copy(exec, y, moho::upload(exec, out, "y"));
    exec.fence();
  }
  void transpose(const Instance<Memory>& exec, const DoubleVector<Memory>& y,
                 const DoubleVector<Memory>& x) const {
    const auto in = moho::download(exec, y);
    std::vector<double> out(static_cast<std::size_t>(columns()), 0.0);
    for (std::size_t r = 0; r < in.size(); ++r) {
      for (std::size_t k = 0; k < out.size(); ++k) out[k] += (*matrix)[r][k] * in[r];
    }
    moho::copy(exec, x, moho::upload(exec, out, "x"));
    exec.fence();
  }
};

// Solves (A^T A + lambda^2) x = b by elimination; also returns the trace of the influence matrix.
std::vector<double> solve(const Dense& a, std::vector<double> b, double lambda, double& dof) {
  const std::size_t n = a.front().size();
  Dense left(n, std::vector<double>(2 * n + 1, 0.0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (const auto& row : a) left[i][j] += row[i] * row[j];
      left[i][n + j] = left[i][j];
    }
    left[i][i] += lambda * lambda;
    for (std::size_t r = 0; r < a.size(); ++r) left[i][2 * n] += a[r][i] * b[r];
  }
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = left[i][p] / left[p][p];
      for (std::size_t k = p; k <= 2 * n; ++k) left[i][k] -= factor * left[p][k];
    }
  }
  std::vector<double> x;
  dof = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    x.push_back(left[i][2 * n] / left[i][i]);
    dof += left[i][n + i] / left[i][i];
  }
  return x;
}

Dense random_matrix(std::size_t rows, std::size_t columns) {
  std::mt19937 generator(11);
  Dense a(rows, std::vector<double>(columns));
  for (auto& row : a) {
    for (std::size_t k = 0; k < columns; ++k) {
      row[k] = (generator() / 4294967296.0 - 0.5) * std::pow(0.8, static_cast<double>(k));
    }
  }
  return a;
}

template <class Memory>
void check_solutions(const Instance<Memory>& exec, std::size_t rows, std::size_t columns) {
  const Dense a = random_matrix(rows, columns);
  std::vector<double> b;
  std::mt19937 generator(12);
  for (std::size_t r = 0; r < rows; ++r) b.push_back(generator() / 4294967296.0);
  const auto krylov =
      moho::optimize::bidiagonalise(exec, DenseOperator<Memory>{&a}, moho::upload(exec, b, "b"),
                                    {.steps = 100, .tolerance = 0.0});
  const auto view = moho::upload(exec, std::vector<double>(columns), "x");
  for (const double lambda : {1e-2, 0.1, 0.5, 2.0, 20.0}) {
    double dof = 0.0, misfit = 0.0, norm = 0.0;
    const auto exact = solve(a, b, lambda, dof);
    moho::optimize::combine(exec, krylov, krylov.matrix.coefficients(lambda), view);
    const auto x = moho::download(exec, view);
    for (std::size_t k = 0; k < columns; ++k) {
      EXPECT_NEAR(x[k], exact[k], 1e-8) << lambda;
      norm += exact[k] * exact[k];
    }
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = -b[r];
      for (std::size_t k = 0; k < columns; ++k) sum += a[r][k] * exact[k];
      misfit += sum * sum;
    }
    EXPECT_NEAR(krylov.matrix.misfit(lambda), misfit, 1e-9);
    EXPECT_NEAR(krylov.matrix.norm(lambda), norm, 1e-7 * std::max(1.0, norm));
    EXPECT_NEAR(krylov.matrix.degrees_of_freedom(lambda), dof, 1e-7);
  }
  const double middle = krylov.matrix.misfit(0.3);
  EXPECT_NEAR(krylov.matrix.largest_damping(middle, 1e-3, 100.0), 0.3, 1e-6);
  EXPECT_EQ(krylov.matrix.largest_damping(1e9, 1e-3, 100.0), 100.0);
  EXPECT_EQ(krylov.matrix.largest_damping(0.0, 1e-3, 100.0), 1e-3);
}
TYPED_TEST(Bidiagonalisation, SolvesForEveryDamping) {
  check_solutions(TypeParam::exec(), 30, 12);
  check_solutions(TypeParam::exec(), 9, 9);
  check_solutions(TypeParam::exec(), 90, 60);
  check_solutions(TypeParam::exec(), 20, 45);
}

TYPED_TEST(Bidiagonalisation, OfZeroDataIsEmpty) {
  using Memory = typename TypeParam::Memory;
  const Dense a = random_matrix(4, 3);
  const auto krylov = moho::optimize::bidiagonalise(
      TypeParam::exec(), DenseOperator<Memory>{&a},
      moho::upload(TypeParam::exec(), std::vector<double>(4, 0.0), "b"));
  EXPECT_EQ(krylov.matrix.steps(), 0u);
  EXPECT_EQ(krylov.matrix.misfit(1.0), 0.0);
}

TEST(Bidiagonal, RefusesListsOfOtherLengths) {
  EXPECT_THROW(moho::optimize::Bidiagonal(1.0, {1.0, 2.0}, {1.0}), moho::InputError);
}

}  // namespace
