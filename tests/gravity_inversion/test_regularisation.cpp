// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// The quadratic form of inversions of gravity data: values, gradients, rows and their transpose.

#include <moho/gravity_inversion/regularisation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using moho::Instance;
using moho::gravity_inversion::Cells;
using moho::gravity_inversion::Link;
using moho::gravity_inversion::mesh_cells;
using moho::gravity_inversion::Regularisation;

using Host = Instance<Kokkos::HostSpace>;

std::vector<double> numbers(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<double> values(count);
  for (double& value : values) value = 0.5 + static_cast<double>(engine()) / 4294967296.0;
  return values;
}

// More cells than a block of the sums has.
struct Setting {
  Cells cells = mesh_cells({{31, 23, 17}, {0.0, 0.0, 0.0}, {310.0, 230.0, 170.0}});
  std::size_t count = static_cast<std::size_t>(cells.size());
  std::vector<double> weights = numbers(count, 1), compact = numbers(count, 2);
  std::vector<double> model = numbers(count, 3), reference = numbers(count, 4);

  Regularisation on(const Host& exec) const {
    Regularisation form(exec, count, cells.links);
    form.set(weights, compact, 0.7, {0.2, 0.3, 0.4});
    return form;
  }
};

TEST(Regularisation, ValueAndGradientAreThoseOfTheirDefinition) {
  const Setting s;
  const Regularisation form = s.on(Kokkos::DefaultHostExecutionSpace());
  const double smooth[] = {0.2, 0.3, 0.4};
  long double sum = 0.0L;
  std::vector<double> expected(s.count, 0.0), diagonal(s.count, 0.0), gradient;
  for (std::size_t k = 0; k < s.count; ++k) {
    const double a = 0.7 * s.weights[k] * s.compact[k], change = s.model[k] - s.reference[k];
    sum += static_cast<long double>(a) * change * change;
    expected[k] += a * change;
    diagonal[k] += a;
  }
  for (const Link& link : s.cells.links) {
    const auto i = static_cast<std::size_t>(link.first), j = static_cast<std::size_t>(link.second);
    const double b =
        0.5 * smooth[link.axis] * (s.weights[i] + s.weights[j]) * s.compact[i] * s.compact[j];
    const double difference = s.model[i] - s.model[j];
    sum += static_cast<long double>(b) * difference * difference;
    expected[i] += b * difference;
    expected[j] -= b * difference;
    diagonal[i] += b;
    diagonal[j] += b;
  }
  const double value = form.value(s.model, s.reference, &gradient);
  EXPECT_NEAR(value, static_cast<double>(sum), 1e-13 * value);
  EXPECT_EQ(form.value(s.model, s.reference, nullptr), value);
  ASSERT_EQ(gradient.size(), s.count);
  for (std::size_t k = 0; k < s.count; ++k) {
    ASSERT_NEAR(gradient[k], expected[k], 1e-14) << k;
    ASSERT_NEAR(form.inverse_diagonal()[k] * diagonal[k], 1.0, 1e-14) << k;
  }
  EXPECT_GT(form.value(s.model, {}, nullptr), value);
  EXPECT_GT(form.value(s.reference, s.reference, nullptr), 0.0);  // the links remain
}

TEST(Regularisation, RowsGiveTheValueAndTheirTransposeTheGradient) {
  const Setting s;
  const Regularisation form = s.on(Kokkos::DefaultHostExecutionSpace());
  ASSERT_EQ(form.rows(), s.count + s.cells.links.size());
  std::vector<double> product(form.rows()), back(s.count, 0.0), gradient;
  form.apply(2.0, s.model.data(), product.data());
  long double squares = 0.0L;
  for (const double row : product) squares += static_cast<long double>(row) * row;
  const double value = form.value(s.model, {}, &gradient);
  EXPECT_NEAR(static_cast<double>(squares), 4.0 * value, 1e-13 * value);
  form.add_adjoint(0.5, product.data(), back.data());
  for (std::size_t k = 0; k < s.count; ++k) ASSERT_NEAR(back[k], gradient[k], 1e-14) << k;
  // the reference is in the rows of cells alone
  form.apply(2.0, s.model.data(), product.data());
  form.add_reference(-2.0, s.reference.data(), product.data());
  squares = 0.0L;
  for (const double row : product) squares += static_cast<long double>(row) * row;
  const double with = form.value(s.model, s.reference, nullptr);
  EXPECT_NEAR(static_cast<double>(squares), 4.0 * with, 1e-13 * value);
  form.add_reference(2.0, s.reference.data(), product.data());
  std::fill(back.begin(), back.end(), 0.0);
  form.add_adjoint(0.5, product.data(), back.data());
  // it adds
  form.add_adjoint(0.5, product.data(), back.data());
  for (std::size_t k = 0; k < s.count; ++k) ASSERT_NEAR(back[k], 2.0 * gradient[k], 1e-13) << k;
}

TEST(Regularisation, BitsDoNotDependOnThreads) {
  const Setting s;
  const Regularisation one = s.on(Kokkos::Serial());
  const Regularisation all = s.on(Kokkos::DefaultHostExecutionSpace());
  std::vector<double> left, right;
  EXPECT_EQ(one.value(s.model, s.reference, &left), all.value(s.model, s.reference, &right));
  EXPECT_EQ(left, right);
  std::vector<double> product(one.rows()), other(one.rows());
  one.apply(0.3, s.model.data(), product.data());
  all.apply(0.3, s.model.data(), other.data());
  EXPECT_EQ(product, other);
  one.add_adjoint(0.3, product.data(), left.data());
  all.add_adjoint(0.3, product.data(), right.data());
  EXPECT_EQ(left, right);
}

TEST(Regularisation, DiagonalOfCellsWithoutFactorsIsTheirWeight) {
  Regularisation form(Kokkos::DefaultHostExecutionSpace(), 2, {});
  form.set({2.0, 4.0}, {}, 0.0, {1.0, 1.0, 1.0});
  EXPECT_EQ(form.inverse_diagonal(), (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(form.value({3.0, 5.0}, {}, nullptr), 0.0);
}

}  // namespace
