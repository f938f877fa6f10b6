// SPDX-License-Identifier: BSD-3-Clause
//
// Sums in bins: identical bits for any order and grouping, errors of sums, invalid arguments.
//
// The magnitudes of the terms differ by many powers of ten.

#include <moho/core/binned_sum.hpp>

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

using moho::BinnedSum;
using moho::BinnedSumOn;
using moho::InputError;
using moho::Instance;
using moho::testing::message_of;
using ::testing::HasSubstr;

constexpr std::int64_t elements = 257;

Instance<Kokkos::HostSpace> on_host() { return Kokkos::DefaultHostExecutionSpace(); }

/// Returns terms whose largest magnitudes are 2^power, in the order of `powers`.
template <class T>
std::vector<std::vector<T>> random_terms(const std::vector<int>& powers) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<std::vector<T>> terms;
  for (const int power : powers) {
    std::vector<T> term(static_cast<std::size_t>(elements));
    for (T& value : term) {
      value = static_cast<T>(std::ldexp(uniform(random), power - static_cast<int>(random() % 30)));
    }
    term[random() % term.size()] = static_cast<T>(std::ldexp(1.0, power));
    terms.push_back(term);
  }
  return terms;
}

template <class T>
std::vector<T> result_of(const BinnedSum& sum) {
  std::vector<T> values(static_cast<std::size_t>(elements));
  sum.result(on_host(), values.data());
  return values;
}

template <class T>
void any_order(const std::vector<int>& powers) {
  const auto terms = random_terms<T>(powers);
  std::vector<std::size_t> order(terms.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::mt19937_64 random(11);
  std::vector<T> expected;
  for (int trial = 0; trial < 20; ++trial) {
    BinnedSum all(elements);
    std::vector<BinnedSum> groups(3, BinnedSum(elements));
    for (const std::size_t k : order) {
      all.add(on_host(), terms[k].data());
      groups[random() % 3].add(on_host(), terms[k].data());
    }
    BinnedSum merged(elements);
    for (const std::size_t g : {2, 0, 1}) merged.merge(on_host(), groups[g]);
    EXPECT_EQ(all.terms(), static_cast<std::int64_t>(terms.size()));
    EXPECT_EQ(merged.terms(), all.terms());
    if (expected.empty()) expected = result_of<T>(all);
    ASSERT_EQ(result_of<T>(all), expected) << "trial " << trial;
    ASSERT_EQ(result_of<T>(merged), expected) << "trial " << trial;
    std::shuffle(order.begin(), order.end(), random);
  }
  const double largest = std::ldexp(1.0, *std::max_element(powers.begin(), powers.end()));
  const double rounding = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
    long double sum = 0.0L;
    for (const auto& term : terms) sum += static_cast<long double>(term[i]);
    const double bound = static_cast<double>(terms.size()) * 0x1p-40 * largest +
                         2.0 * rounding * std::fabs(static_cast<double>(sum));
    EXPECT_NEAR(static_cast<double>(expected[i]), static_cast<double>(sum), bound) << i;
  }
}

TEST(BinnedSum, HasTheSameBitsInAnyOrder) {
  any_order<float>({0, 1, 0, 3, -2, 5});
  any_order<float>({-20, 60, 0, 39, 40, 41, -90, 100});
  any_order<double>({0, -39, -40, -41, 41, 80, 3, 79});
  any_order<double>({-300, 500, -900, 499, 460, 1000, 2});
  any_order<double>({-990, -1000, -960, -1005});
}

// Sums in the memory of an instance and their states, with the bits of BinnedSum.
template <class T, class Memory>
void any_memory(const Instance<Memory>& exec, const std::vector<int>& powers) {
  const auto terms = random_terms<T>(powers);
  BinnedSum all(elements);
  for (const auto& term : terms) all.add(on_host(), term.data());
  std::vector<std::size_t> order(terms.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::mt19937_64 random(13);
  const auto values =
      moho::allocate<Kokkos::View<T*, Memory>>(exec, "values", static_cast<std::size_t>(elements));
  std::vector<BinnedSumOn<Memory>> groups;
  for (int g = 0; g < 3; ++g) groups.emplace_back(exec, elements);
  for (int trial = 0; trial < 10; ++trial) {
    for (auto& group : groups) group.clear(exec);
    for (const std::size_t k : order) {
      const auto term = moho::upload(exec, terms[k], "term");
      groups[random() % 3].add(exec, term.data());
      exec.fence();
    }
    BinnedSumOn<Memory> merged(exec, elements);
    for (const std::size_t g : {2, 0, 1}) merged.merge(exec, groups[g].state(exec));
    EXPECT_EQ(merged.terms(), all.terms());
    merged.result(exec, values.data());
    ASSERT_EQ(moho::download(exec, values), result_of<T>(all)) << "trial " << trial;
    std::shuffle(order.begin(), order.end(), random);
  }
}

template <class Memory>
void states_and_errors(const Instance<Memory>& exec) {
  any_memory<float>(exec, {0, 1, 0, 3, -2, 5});
  any_memory<float>(exec, {-20, 60, 0, 39, 40, 41, -90, 100});
  any_memory<double>(exec, {-300, 500, -900, 499, 460, 1000, 2});
  BinnedSumOn<Memory> sum(exec, elements);
  std::vector<float> values(static_cast<std::size_t>(elements), 1.0F);
  sum.add(exec, moho::upload(exec, values, "values").data());
  const moho::BinnedSumState good = sum.state(exec);
  const auto refusal = [&](const auto& change) {
    auto bad = good;
    change(bad);
    return message_of<InputError>([&] { sum.merge(exec, bad); });
  };
  EXPECT_THAT(refusal([](auto& s) { s.upper.pop_back(); }), HasSubstr("a state of 256 elements"));
  EXPECT_THAT(refusal([](auto& s) { s.terms = 0; }), HasSubstr("and 0 terms (allowed"));
  EXPECT_THAT(refusal([](auto& s) { s.top = 26; }), HasSubstr("make the sum again"));
  EXPECT_THAT(refusal([](auto& s) { s.terms = BinnedSum::max_terms; }), HasSubstr("add in groups"));
  EXPECT_EQ(sum.terms(), 1);
  // NaN, whatever is added before and after
  values[100] = std::numeric_limits<float>::infinity();
  sum.add(exec, moho::upload(exec, values, "values").data());
  sum.merge(exec, good);
  const auto result = moho::allocate<Kokkos::View<double*, Memory>>(
      exec, "result", static_cast<std::size_t>(elements));
  sum.result(exec, result.data());
  for (const double value : moho::download(exec, result)) EXPECT_TRUE(std::isnan(value));
  BinnedSumOn<Memory> other(exec, elements);
  other.merge(exec, sum.state(exec));
  EXPECT_EQ(other.terms(), 3);
  EXPECT_FALSE(other.state(exec).finite);
}

TEST(BinnedSum, HasTheSameBitsInAnyMemory) {
  states_and_errors(on_host());
  using Space = Kokkos::DefaultExecutionSpace;
  if constexpr (!moho::is_host_memory<Space::memory_space>) {
    states_and_errors<Space::memory_space>(Space());
  }
}

TEST(BinnedSum, AddsPartsOfAGrid) {
  const moho::Grid<2> grid{{8, 5}, {1.0, 1.0}, {0.0, 0.0}};
  BinnedSum sum(grid.size());
  const std::vector<double> ones(12, 1.0);
  const moho::Box<2> box{{2, 1}, {6, 4}};
  sum.add(on_host(), grid, box, ones.data());
  sum.add(on_host(), grid, box, ones.data());
  std::vector<double> values(40);
  sum.result(on_host(), values.data());
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(i)], box.contains(grid.node(i)) ? 2.0 : 0.0) << i;
  }
  EXPECT_THAT(message_of<InputError>([&] {
                sum.add(on_host(), grid, moho::Box<2>{{2, 1}, {9, 4}}, ones.data());
              }),
              HasSubstr("allowed: boxes inside of the grid"));
}

TEST(BinnedSum, RefusesWhatCannotBeAdded) {
  EXPECT_THAT(message_of<InputError>([] { BinnedSum(0); }), HasSubstr("0 elements"));
  BinnedSum sum(elements);
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
  const BinnedSum other(elements + 1);
  EXPECT_THAT(message_of<InputError>([&] { sum.merge(on_host(), other); }),
              HasSubstr(moho::concat(elements + 1, " elements to be added to ", elements)));
}

}  // namespace
