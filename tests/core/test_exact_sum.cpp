// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Exact sums: identical bits for any order and grouping in every space, rounding errors, overflow.

#include <moho/core/exact_sum.hpp>
#include <moho/core/field.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "refusals.hpp"
#include "spaces.hpp"

namespace {

using moho::ExactSum;
using moho::ExactSumState;
using moho::testing::message_of;
using ::testing::HasSubstr;

TEST(NearestInteger, IsThatOfTheLibrary) {
  std::mt19937_64 random(3);
  const double limit = moho::detail::largest_term;
  for (const double x : {0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, limit, -limit,
                         limit - 1.0, 1e-300, -1e-310, 1099511627775.5}) {
    EXPECT_EQ(moho::detail::nearest_integer(x), std::llrint(x)) << x;
  }
  for (int n = 0; n < 100000; ++n) {
    const double x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                -static_cast<int>(13 + random() % 60));
    ASSERT_EQ(moho::detail::nearest_integer(x), std::llrint(x)) << x;
  }
}

TEST(ExactExponent, MakesTheLargestTwoToThe38) {
  for (const double largest :
       {1.0, 1.5, 0.999, 3e-20, 7e25, 1e-40, 1e300, std::numeric_limits<double>::denorm_min()}) {
    const int e = moho::exact_exponent(largest);
    const double q = std::ldexp(largest, e);
    EXPECT_LT(q, std::ldexp(1.0, 39)) << largest;
    if (e < 1000) {
      EXPECT_GE(q, std::ldexp(1.0, 38)) << largest;
    }
    // a million terms 16 times as large fit
    EXPECT_LT(16e6 * q, std::ldexp(1.0, 63)) << largest;
  }
  for (const double largest : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(message_of<moho::InputError>([&] { moho::exact_exponent(largest); }),
                HasSubstr(moho::concat("the largest magnitude is ", largest)));
  }
}

/// Returns random terms of several magnitudes, like those of a survey.
template <class T>
std::vector<std::vector<T>> make_terms(int number, std::int64_t count) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  std::vector<std::vector<T>> terms;
  for (int n = 0; n < number; ++n) {
    std::vector<T> term(static_cast<std::size_t>(count));
    for (T& value : term) {
      value = static_cast<T>(3e-7 * normal(random) * std::exp(4.0 * normal(random)));
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

template <class Case>
class Sums : public ::testing::Test {};
TYPED_TEST_SUITE(Sums, moho::testing::TestCases, moho::testing::CaseName);

MEMORY_TEST(Sums, HaveTheSameBitsInAnyOrderAndGrouping) {
  constexpr std::int64_t count = 1001;
  const auto terms = make_terms<T>(24, count);
  double largest = 0.0;
  std::vector<Kokkos::View<T*, Memory>> views;
  for (const auto& term : terms) {
    views.push_back(moho::upload(exec, term, "term"));
    for (const T value : term) largest = std::max(largest, std::fabs(static_cast<double>(value)));
    EXPECT_LE(moho::largest_magnitude(exec, views.back()), largest);
  }
  EXPECT_EQ(moho::largest_magnitude(exec, views[0]),
            std::fabs(static_cast<double>(
                *std::max_element(terms[0].begin(), terms[0].end(),
                                  [](T a, T b) { return std::fabs(a) < std::fabs(b); }))));
  const int e = moho::exact_exponent(largest);

  // the definition, evaluated on the host
  ExactSumState expected{e, 24, 0, std::vector<std::int64_t>(count)};
  for (const auto& term : terms) {
    std::int64_t max = 0;
    for (std::size_t i = 0; i < term.size(); ++i) {
      const std::int64_t q = std::llrint(std::ldexp(static_cast<double>(term[i]), e));
      expected.values[i] += q;
      max = std::max(max, std::abs(q));
    }
    expected.bound += max;
  }

  std::mt19937 random(5);
  std::vector<std::size_t> order(terms.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(order.begin(), order.end(), random);
    // random distribution to workers; their sums are merged in random order, some through the host
    const std::size_t workers = 1 + random() % 5;
    std::vector<ExactSum<Memory>> sums;
    for (std::size_t w = 0; w < workers; ++w) sums.emplace_back(exec, count, e);
    for (const std::size_t n : order) sums[random() % workers].add(exec, views[n]);
    while (sums.size() > 1) {
      const ExactSum<Memory> last = sums.back();
      sums.pop_back();
      ExactSum<Memory>& other = sums[random() % sums.size()];
      if (random() % 2 == 0) {
        other.merge(exec, last);
      } else {
        other.merge(exec, ExactSum<Memory>(exec, last.state(exec)).state(exec));
      }
    }
    const ExactSumState found = sums[0].state(exec);
    ASSERT_EQ(found.values, expected.values) << trial;
    EXPECT_EQ(found.bound, expected.bound);
    EXPECT_EQ(found.terms, 24);
    EXPECT_EQ(found.exponent, e);

    // The rounding error of a term is at most 2^-39 of the largest one. (long double adds 24 terms
    // to 1e-18.)
    const auto numbers = moho::allocate<Kokkos::View<double*, Memory>>(exec, "sum", count);
    sums[0].result(exec, numbers);
    const std::vector<double> values = moho::download(exec, numbers);
    for (std::size_t i = 0; i < values.size(); ++i) {
      long double exact = 0.0L;
      for (const auto& term : terms) exact += static_cast<long double>(term[i]);
      ASSERT_NEAR(values[i], static_cast<double>(exact), 24 * std::ldexp(largest, -39) * 1.0001);
    }
  }
}

MEMORY_TEST(Sums, TakePartsOfTheGrid) {
  using moho::Box;
  const moho::Grid<3> grid{{5, 6, 7}, {1.0, 1.0, 1.0}};
  const Box<3> box{{1, 0, 3}, {4, 6, 5}};
  std::vector<T> values(static_cast<std::size_t>(box.size()));
  std::iota(values.begin(), values.end(), T(1));
  ExactSum<Memory> sum(exec, grid.size(), 3);
  sum.add(exec, grid, box, moho::upload(exec, values, "part"));
  sum.add(exec, grid, moho::whole_box(grid),
          moho::upload(exec, std::vector<T>(static_cast<std::size_t>(grid.size()), T(-2)), "all"));
  sum.add(exec, grid, Box<3>{{2, 2, 2}, {2, 4, 4}}, Kokkos::View<T*, Memory>("none", 0));
  const auto numbers = moho::make_field<T>(exec, grid, "sum");
  sum.result(exec, numbers);
  const std::vector<T> found = moho::download(exec, numbers);
  T next = 1;
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const T expected = box.contains(grid.node(i)) ? next++ : T(0);
    EXPECT_EQ(found[static_cast<std::size_t>(i)], expected - 2);
  }
  EXPECT_EQ(sum.terms(), 2);
  const auto part = moho::upload(exec, values, "part");
  EXPECT_THAT(message_of<moho::InputError>([&] {
                sum.add(exec, grid, Box<3>{{1, 0, 3}, {4, 6, 8}}, part);
              }),
              HasSubstr("the box [1, 4) x [0, 6) x [3, 8) of a grid of 5 x 6 x 7 nodes"));
  EXPECT_THAT(message_of<moho::InputError>([&] { sum.add(exec, part); }),
              HasSubstr("an array of 36 elements (allowed: 210"));
}

MEMORY_TEST(Sums, FindOverflowAndStayAsTheyWere) {
  const std::vector<T> ones(100, T(1));
  const auto one = moho::upload(exec, ones, "ones");
  // 1 becomes 2^50: the largest number of such terms is 8191, for any signs
  ExactSum<Memory> sum(exec, 100, 50);
  for (int n = 0; n < 8191; ++n) sum.add(exec, one);
  EXPECT_EQ(sum.bound(), 8191 * (std::int64_t(1) << 50));
  const auto before = sum.state(exec);
  const auto minus = moho::upload(exec, std::vector<T>(100, T(-1)), "minus ones");
  for (const auto& next : {one, minus}) {
    EXPECT_EQ(message_of<moho::SumOverflow>([&] { sum.add(exec, next); }),
              "exact sum: 8191 terms and the next one can exceed 64 bits with the exponent 50 "
              "(allowed: up to 48 for these): add all terms again with a lower exponent");
    EXPECT_EQ(sum.state(exec).values, before.values);
    EXPECT_EQ(sum.terms(), 8191);
  }
  ExactSum<Memory> other(exec, 100, 50);
  other.add(exec, minus);
  EXPECT_THAT(message_of<moho::SumOverflow>([&] { sum.merge(exec, other); }),
              HasSubstr("can exceed 64 bits"));
  EXPECT_THAT(message_of<moho::SumOverflow>([&] { sum.merge(exec, other.state(exec)); }),
              HasSubstr("can exceed 64 bits"));
  EXPECT_EQ(sum.state(exec).values, before.values);

  // one term is too large: 4 becomes 2^52
  std::vector<T> values = ones;
  values[42] = T(4);
  const auto large = moho::upload(exec, values, "large");
  EXPECT_EQ(message_of<moho::SumOverflow>([&] { other.add(exec, large); }),
            "exact sum: element 42 is 4, too large for the exponent 50 (allowed: up to 2): add all "
            "terms again with the exponent 36");
  EXPECT_EQ(other.state(exec).values, std::vector<std::int64_t>(100, -(std::int64_t(1) << 50)));

  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    values[42] = T(1);
    values[7] = -bad;
    EXPECT_THAT(message_of<moho::InputError>(
                    [&] { other.add(exec, moho::upload(exec, values, "not finite")); }),
                HasSubstr("exact sum: element 7 is "));
    EXPECT_EQ(other.state(exec).values, std::vector<std::int64_t>(100, -(std::int64_t(1) << 50)));
    EXPECT_FALSE(std::isfinite(moho::largest_magnitude(exec, moho::upload(exec, values, "bad"))));
  }
}

MEMORY_TEST(Sums, RefuseWhatDoesNotBelongTogether) {
  ExactSum<Memory> sum(exec, 10, 20);
  const ExactSum<Memory> longer(exec, 11, 20), finer(exec, 10, 21);
  EXPECT_THAT(message_of<moho::InputError>([&] { sum.merge(exec, longer); }),
              HasSubstr("11 elements with the exponent 20 to be added to 10 with the exponent 20"));
  EXPECT_THAT(message_of<moho::InputError>([&] { sum.merge(exec, finer.state(exec)); }),
              HasSubstr("10 elements with the exponent 21 to be added to 10 with the exponent 20"));
  EXPECT_THAT(message_of<moho::InputError>([&] { ExactSum<Memory>(exec, 0, 20); }),
              HasSubstr("0 elements with the exponent 20 (allowed: 1 element"));
  EXPECT_THAT(message_of<moho::InputError>([&] { ExactSum<Memory>(exec, 5, 1001); }),
              HasSubstr("the exponent 1001"));
  ExactSumState state = sum.state(exec);
  state.values[3] = 1;  // exceeds the bound of an empty sum
  EXPECT_THAT(message_of<moho::InputError>([&] { sum.merge(exec, state); }),
              HasSubstr("values beyond the bound 0 of 0 terms"));
  EXPECT_THAT(message_of<moho::InputError>([&] { ExactSum<Memory>(exec, state); }),
              HasSubstr("values beyond the bound 0 of 0 terms"));
}

}  // namespace
