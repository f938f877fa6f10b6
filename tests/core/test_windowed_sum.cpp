// SPDX-License-Identifier: BSD-3-Clause
//
// Sums at each exponent of a window: the bits of an ExactSum with the exponent of the largest term,
// for any order and grouping; limits of the window; damaged states.

#include <moho/core/windowed_sum.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "refusals.hpp"

namespace {

namespace windowed_sum {

using moho::ExactSum;
using moho::HostElements;
using moho::InputError;
using moho::Instance;
using moho::SumOverflow;
using moho::WindowedSum;
using moho::WindowedSumState;
using moho::testing::message_of;
using ::testing::HasSubstr;

constexpr std::int64_t elements = 311;

Instance<Kokkos::HostSpace> on_host() { return Kokkos::DefaultHostExecutionSpace(); }

/// Returns terms whose largest magnitudes are less than 2^power, and numbers half way between two
/// multiples of a quantum.
template <class T>
std::vector<std::vector<T>> random_terms(const std::vector<int>& powers) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<std::vector<T>> terms;
  for (const int power : powers) {
    std::vector<T> term(static_cast<std::size_t>(elements));
    for (T& value : term) {
      const int lower = static_cast<int>(random() % 48);
      const double x = random() % 4 == 0 ? std::ldexp(1.0 + static_cast<double>(random() % 8), -4)
                                         : uniform(random);
      value = static_cast<T>(std::ldexp(random() % 2 == 0 ? x : -x, power - lower));
    }
    term[random() % term.size()] = static_cast<T>(std::ldexp(0.75, power));
    terms.push_back(term);
  }
  return terms;
}

template <class T>
std::vector<T> result_of(const WindowedSum& sum) {
  std::vector<T> values(static_cast<std::size_t>(elements));
  sum.result(on_host(), values.data());
  return values;
}

template <class T>
std::vector<T> exact(const std::vector<std::vector<T>>& terms) {
  double largest = 0.0;
  for (const auto& term : terms) {
    for (const T value : term) largest = std::max(largest, std::fabs(static_cast<double>(value)));
  }
  ExactSum<Kokkos::HostSpace> sum(on_host(), elements, moho::exact_exponent(largest));
  for (const auto& term : terms) {
    sum.add(on_host(), HostElements<const T>(term.data(), term.size()));
  }
  std::vector<T> values(static_cast<std::size_t>(elements));
  sum.result(on_host(), HostElements<T>(values.data(), values.size()));
  on_host().fence();
  return values;
}

template <class T>
void any_order(const std::vector<int>& powers) {
  const auto terms = random_terms<T>(powers);
  const std::vector<T> expected = exact(terms);
  std::vector<std::size_t> order(terms.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 40; ++trial) {
    WindowedSum all(elements);
    std::vector<WindowedSum> groups(4, WindowedSum(elements));
    for (const std::size_t k : order) {
      all.add(on_host(), terms[k].data());
      groups[random() % 4].add(on_host(), terms[k].data());
    }
    WindowedSum merged(elements);
    for (const std::size_t g : {2, 0, 3, 1}) {
      merged.merge(on_host(), WindowedSum(std::move(groups[g]).state()));
    }
    EXPECT_EQ(all.terms(), static_cast<std::int64_t>(terms.size()));
    EXPECT_EQ(merged.terms(), all.terms());
    ASSERT_EQ(result_of<T>(all), expected) << "trial " << trial;
    ASSERT_EQ(result_of<T>(merged), expected) << "trial " << trial;
    std::shuffle(order.begin(), order.end(), random);
  }
}

TEST(WindowedSum, HasTheBitsOfAnExactSumInAnyOrder) {
  any_order<float>({0, 0, 0, 0, 0});
  any_order<float>({0, 1, 0, 3, -2, 5, 4, 2, -1, 5});
  any_order<float>({-100, -103, -97, -99, -100});
  any_order<double>({0, 7, 1, 6, 2, 5, 3, 4, 0, 7});
  any_order<double>({-1012, -1010, -1008, -1015});  // beyond the largest exponent
  any_order<double>({700, 702, 704, 699});
}

TEST(WindowedSum, HasZerosWithoutTerms) {
  WindowedSum sum(elements);
  const std::vector<float> zeros(static_cast<std::size_t>(elements), 0.0F);
  EXPECT_EQ(result_of<float>(sum), zeros);
  sum.add(on_host(), zeros.data());
  sum.merge(on_host(), WindowedSum(elements));
  EXPECT_EQ(sum.terms(), 1);
  EXPECT_EQ(result_of<float>(sum), zeros);
  EXPECT_TRUE(sum.state().values.empty());
  sum = WindowedSum(sum.state());
  EXPECT_EQ(sum.count(), elements);
  EXPECT_EQ(result_of<float>(sum), zeros);
  const auto terms = random_terms<float>({3});
  WindowedSum other(elements);
  other.add(on_host(), terms[0].data());
  sum.merge(on_host(), other);
  EXPECT_EQ(sum.terms(), 2);
  EXPECT_EQ(result_of<float>(sum), exact(terms));
}

TEST(WindowedSum, AddsPartsOfAGrid) {
  const moho::Grid<2> grid{{8, 5}, {1.0, 1.0}, {0.0, 0.0}};
  WindowedSum sum(grid.size());
  const std::vector<double> ones(12, 1.0), twos(40, 2.0);
  const moho::Box<2> box{{2, 1}, {6, 4}};
  sum.add(on_host(), grid, box, ones.data());
  sum.add(on_host(), grid, moho::whole_box(grid), twos.data());
  std::vector<double> values(40);
  sum.result(on_host(), values.data());
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(i)], box.contains(grid.node(i)) ? 3.0 : 2.0) << i;
  }
  EXPECT_THAT(message_of<InputError>([&] {
                sum.add(on_host(), grid, moho::Box<2>{{2, 1}, {9, 4}}, ones.data());
              }),
              HasSubstr("allowed: boxes inside of the grid"));
}

TEST(WindowedSum, RefusesTermsBeyondTheWindow) {
  for (const int power : {7, 8}) {
    const auto terms = random_terms<float>({0, power});
    WindowedSum sum(elements), other(elements);
    sum.add(on_host(), terms[0].data());
    other.add(on_host(), terms[1].data());
    const auto before = result_of<float>(sum);
    if (power == 7) {  // 128 times as large
      sum.add(on_host(), terms[1].data());
      EXPECT_EQ(result_of<float>(sum), exact(terms));
      continue;
    }
    EXPECT_THROW(sum.add(on_host(), terms[1].data()), SumOverflow);
    EXPECT_THROW(sum.merge(on_host(), other), SumOverflow);
    EXPECT_EQ(sum.terms(), 1);
    EXPECT_EQ(result_of<float>(sum), before);
    // a smaller term may be of any magnitude, if it is added after the larger one
    other.add(on_host(), terms[0].data());
    EXPECT_EQ(result_of<float>(other), exact(terms));
  }
}

TEST(WindowedSum, RefusesWhatCannotBeAdded) {
  EXPECT_THAT(message_of<InputError>([] { WindowedSum(0); }), HasSubstr("0 elements"));
  EXPECT_THAT(message_of<InputError>([] { WindowedSum(5, 17); }), HasSubstr("1 to 16 exponents"));
  WindowedSum sum(elements);
  std::vector<float> values(static_cast<std::size_t>(elements), 1.0F);
  sum.add(on_host(), values.data());
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    values[100] = bad;
    EXPECT_THAT(message_of<InputError>([&] { sum.add(on_host(), values.data()); }),
                HasSubstr("allowed: finite numbers"));
  }
  EXPECT_EQ(sum.terms(), 1);
  EXPECT_EQ(result_of<float>(sum), std::vector<float>(static_cast<std::size_t>(elements), 1.0F));
  EXPECT_THAT(message_of<InputError>([&] { sum.merge(on_host(), WindowedSum(elements + 1)); }),
              HasSubstr(moho::concat(elements + 1, " elements to be added to ", elements)));
}

TEST(WindowedSum, RefusesDamagedStates) {
  WindowedSum sum(elements);
  const auto terms = random_terms<float>({0, 2});
  for (const auto& term : terms) sum.add(on_host(), term.data());
  EXPECT_EQ(result_of<float>(WindowedSum(sum.state())), exact(terms));
  WindowedSumState state = sum.state();
  state.values[7] = std::int64_t{1} << 45;
  EXPECT_THAT(message_of<InputError>([&] { WindowedSum{state}; }), HasSubstr("damaged"));
  state = sum.state();
  state.differences[2][3] = 3;
  EXPECT_THAT(message_of<InputError>([&] { WindowedSum{state}; }), HasSubstr("damaged"));
  state = sum.state();
  state.differences[1].pop_back();
  EXPECT_THAT(message_of<InputError>([&] { WindowedSum{state}; }), HasSubstr("damaged"));
}

}  // namespace windowed_sum

}  // namespace
