// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Conjugate gradients for least squares against the normal equations.

#include "refusals.hpp"
#include "spaces.hpp"

#include <moho/core/copy.hpp>
#include <moho/optimize/cgls.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace moho;
using namespace moho::optimize;
using moho::testing::SpaceName;
using moho::testing::TestCases;

constexpr std::size_t rows = 320, columns = 200;

// A random matrix whose columns have very different norms, and a right-hand side.
struct System {
  std::vector<double> a, b;
  System() : a(rows * columns), b(rows) {
    std::mt19937 engine(11);
    const auto next = [&] { return static_cast<double>(engine()) / 2147483648.0 - 1.0; };
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        a[i * columns + j] = next() * std::pow(10.0, static_cast<double>(j % 5));
      }
      b[i] = next();
    }
  }
  std::vector<double> product(const std::vector<double>& x) const {
    std::vector<double> y(rows, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) y[i] += a[i * columns + j] * x[j];
    }
    return y;
  }
  std::vector<double> transposed(const std::vector<double>& y) const {
    std::vector<double> x(columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) x[j] += a[i * columns + j] * y[i];
    }
    return x;
  }
  std::vector<double> column_squares() const {
    std::vector<double> squares(columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        squares[j] += a[i * columns + j] * a[i * columns + j];
      }
    }
    return squares;
  }
};

template <class To, class From>
std::vector<To> as(const std::vector<From>& values) {
  return std::vector<To>(values.begin(), values.end());
}

template <class T, class Memory>
void run(const Instance<Memory>& exec, const System& system, Cgls<T, Memory>& search) {
  while (search.wants() != LinearWant::nothing) {
    if (search.wants() == LinearWant::transposed) {
      const auto r = as<double>(download(exec, search.residual()));
      search.tell_transposed(exec, upload(exec, as<T>(system.transposed(r)), "gradient"));
    } else {
      const auto p = as<double>(download(exec, search.direction()));
      search.tell_product(exec, upload(exec, as<T>(system.product(p)), "image"));
    }
  }
}

std::vector<double> first_point() {
  std::vector<double> start;
  for (std::size_t j = 0; j < columns; ++j) {
    start.push_back(0.25 * std::pow(10.0, -static_cast<double>(j % 5)));
  }
  return start;
}

template <class T, class Memory>
Cgls<T, Memory> solve(const Instance<Memory>& exec, const System& system,
                      const CglsOptions& options, std::vector<double> factors) {
  std::vector<double> start = first_point(), residual = system.product(start);
  for (std::size_t i = 0; i < rows; ++i) residual[i] = system.b[i] - residual[i];
  Cgls<T, Memory> search(exec, upload(exec, as<T>(start), "start"),
                         upload(exec, as<T>(residual), "residual"), options);
  if (!factors.empty()) search.precondition(exec, upload(exec, as<T>(factors), "factors"));
  run(exec, system, search);
  return search;
}

std::vector<double> jacobi(const System& system) {
  std::vector<double> factors = system.column_squares();
  for (double& factor : factors) factor = 1.0 / factor;
  return factors;
}

template <class S>
class CglsOf : public ::testing::Test {};
TYPED_TEST_SUITE(CglsOf, TestCases, moho::testing::CaseName);

TYPED_TEST(CglsOf, SolvesTheNormalEquations) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const System system;
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-12;
  const auto search =
      solve<T>(exec, system, {.gradient = tolerance, .iterations = 2000}, jacobi(system));
  EXPECT_EQ(search.reason(), LinearStop::gradient);
  EXPECT_LT(search.iterations(), 300);
  auto residual = system.product(as<double>(download(exec, search.point())));
  double norm = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    residual[i] = system.b[i] - residual[i];
    norm += residual[i] * residual[i];
  }
  EXPECT_NEAR(search.residual_norm(), std::sqrt(norm), 1e-3 * std::sqrt(norm));
  // the residual is orthogonal to every column
  const auto gradient = system.transposed(residual), squares = system.column_squares();
  for (std::size_t j = 0; j < columns; ++j) {
    EXPECT_LE(std::abs(gradient[j]), (sizeof(T) == 4 ? 1e-3 : 1e-11) * std::sqrt(norm * squares[j]))
        << j;
  }
}

TYPED_TEST(CglsOf, KeepsUnknownsWithoutAFactor) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const System system;
  auto factors = jacobi(system);
  factors[7] = factors[90] = 0.0;
  const auto search = solve<T>(exec, system, {.gradient = 1e-3, .iterations = 500}, factors);
  const auto x = download(exec, search.point());
  EXPECT_EQ(x[7], static_cast<T>(first_point()[7]));
  EXPECT_EQ(x[90], static_cast<T>(first_point()[90]));
  EXPECT_NE(x[8], static_cast<T>(first_point()[8]));
}

TYPED_TEST(CglsOf, StopsAtTheLimit) {
  using T = typename TypeParam::Scalar;
  const auto exec = TypeParam::exec();
  const System system;
  const auto search = solve<T>(exec, system, {.gradient = 1e-12, .iterations = 3}, {});
  EXPECT_EQ(search.reason(), LinearStop::iterations);
  EXPECT_EQ(search.iterations(), 3);
  EXPECT_STREQ(to_string(search.reason()), "iterations");
}

TEST(Cgls, RefusesWhatItCannotUse) {
  using Memory = Kokkos::HostSpace;
  using Search = Cgls<double, Memory>;
  const Instance<Memory> exec = Kokkos::DefaultHostExecutionSpace();
  const auto three = upload(exec, std::vector<double>{1.0, 2.0, 3.0}, "three");
  const auto two = upload(exec, std::vector<double>{1.0, 2.0}, "two");
  const auto bad = upload(exec, std::vector<double>{1.0, std::nan("")}, "bad");
  const auto minus = upload(exec, std::vector<double>{1.0, -1.0}, "minus");
  const auto none = upload(exec, std::vector<double>{}, "none");
  const auto expect_refusal = [](const auto& call, const char* text) {
    EXPECT_THAT(moho::testing::message_of(call), ::testing::HasSubstr(text));
  };
  expect_refusal([&] { Search(exec, none, three); }, "start: it is empty");
  expect_refusal([&] { Search(exec, bad, three); }, "start: element 1 is nan");
  expect_refusal([&] { Search(exec, two, three, {.gradient = -1.0}); }, "tolerance is -1");
  expect_refusal([&] { Search(exec, two, three, {.iterations = -1}); }, "iterations: -1");
  Search search(exec, two, three);
  expect_refusal([&] { search.precondition(exec, three); }, "factors: there are 3 (allowed: 2");
  expect_refusal([&] { search.precondition(exec, minus); }, "that of unknown 1 is -1");
  expect_refusal([&] { search.tell_product(exec, three); }, "not required");
  expect_refusal([&] { search.tell_transposed(exec, three); }, "3 elements (allowed: 2)");
  expect_refusal([&] { search.tell_transposed(exec, bad); }, "not finite");
}

}  // namespace
