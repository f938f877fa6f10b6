// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Loops, reductions, searches, prefix sums, fills and copies on every space, against plain loops.

#include <moho/core/copy.hpp>
#include <moho/core/launch.hpp>
#include <moho/core/positions.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "spaces.hpp"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Case>
class Launch : public ::testing::Test {};
TYPED_TEST_SUITE(Launch, moho::testing::TestCases, moho::testing::CaseName);

/// Empty ranges, and ranges shorter and longer than the number of threads.
constexpr std::int64_t counts[] = {0, 1, 2, 3, 7, 64, 1000, 4097};

template <class T>
std::vector<T> random_values(std::int64_t count) {
  std::mt19937 random(7);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(static_cast<int>(random() % 2001) - 1000);
  return values;
}

template <class T>
struct Square {
  const T* from;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { to[i] += from[i] * from[i]; }
};

MEMORY_TEST(Launch, CallsTheBodyOnceForEveryPosition) {
  for (const std::int64_t count : counts) {
    const std::vector<T> values = random_values<T>(count);
    const auto from = moho::upload(exec, values, "from");
    const Kokkos::View<T*, Memory> to("to", values.size());
    moho::launch("moho::test::square", exec, count, Square<T>{from.data(), to.data()});
    exec.fence();
    std::vector<T> expected;
    for (const T value : values) expected.push_back(value * value);
    EXPECT_EQ(moho::download(exec, to), expected) << count;
    if constexpr (moho::is_host_memory<Memory>) {
      for (const std::int64_t chunk : {1, 3, 5000}) {
        moho::fill(exec, to, T(0));
        moho::launch_dynamic("moho::test::square", exec, count, Square<T>{from.data(), to.data()},
                             chunk);
        EXPECT_EQ(moho::download(exec, to), expected) << count << ", chunk " << chunk;
      }
    }
  }
}

template <class T>
struct AddUp {
  const T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    sum += static_cast<double>(values[i]);
  }
};
template <class T>
struct Lower {
  const T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, T& min) const {
    if (values[i] < min) min = values[i];
  }
};
template <class T>
struct IsBelow {
  const T* values;
  T limit;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const { return values[i] < limit; }
};
/// A sum and a minimum in one reduction.
struct Both {
  double sum, min;
};
template <class T>
struct FindBoth {
  using value_type = Both;
  const T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, Both& both) const {
    const double value = static_cast<double>(values[i]);
    both.sum += value;
    if (value < both.min) both.min = value;
  }
  KOKKOS_INLINE_FUNCTION void init(Both& both) const {
    both.sum = 0.0;
    both.min = 1e300;
  }
  KOKKOS_INLINE_FUNCTION void join(Both& to, const Both& from) const {
    to.sum += from.sum;
    if (from.min < to.min) to.min = from.min;
  }
};

// Values are integers, so that sums do not depend on the order.
MEMORY_TEST(Launch, Reduces) {
  for (const std::int64_t count : counts) {
    const std::vector<T> values = random_values<T>(count);
    const auto view = moho::upload(exec, values, "values");
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    EXPECT_EQ(moho::sum_of<double>("moho::test::sum", exec, count, AddUp<T>{view.data()}), sum);
    T min = T(5000);
    for (const T value : values) min = std::min(min, value);
    EXPECT_EQ(moho::min_of<T>("moho::test::least", exec, count, T(5000), Lower<T>{view.data()}),
              min);
    const Both both = moho::reduce("moho::test::both", exec, count, FindBoth<T>{view.data()});
    EXPECT_EQ(both.sum, sum);
    EXPECT_EQ(both.min, count == 0 ? 1e300 : static_cast<double>(min));
    for (const T limit : {T(-2000), T(-990), T(0), T(2000)}) {
      const auto found =
          std::find_if(values.begin(), values.end(), [=](const T value) { return value < limit; });
      const std::int64_t expected =
          found == values.end() ? moho::none_found : found - values.begin();
      EXPECT_EQ(moho::find_first("moho::test::find", exec, count, IsBelow<T>{view.data(), limit}),
                expected)
          << count << ", below " << limit;
    }
  }
}

template <class T>
struct SumsBefore {
  const T* values;
  double* before;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum, bool final) const {
    if (final) before[i] = sum;
    sum += static_cast<double>(values[i]);
  }
};

MEMORY_TEST(Launch, SumsUpPrefixes) {
  for (const std::int64_t count : counts) {
    const std::vector<T> values = random_values<T>(count);
    const auto view = moho::upload(exec, values, "values");
    const Kokkos::View<double*, Memory> before("before", values.size());
    const double total = moho::scan<double>("moho::test::scan", exec, count,
                                            SumsBefore<T>{view.data(), before.data()});
    std::vector<double> expected;
    double sum = 0.0;
    for (const T value : values) {
      expected.push_back(sum);
      sum += static_cast<double>(value);
    }
    EXPECT_EQ(total, sum);
    EXPECT_EQ(moho::download(exec, before), expected) << count;
  }
}

MEMORY_TEST(Launch, FillsAndCopies) {
  for (const std::int64_t count : {std::int64_t(1), std::int64_t(513), std::int64_t(40000)}) {
    const std::vector<T> values = random_values<T>(count);
    const auto from = moho::upload(exec, values, "from");
    const Kokkos::View<T*, Memory> to("to", values.size());
    moho::copy(exec, to, from);
    EXPECT_EQ(moho::download(exec, to), values);
    EXPECT_EQ(moho::value_at(exec, to.data() + count - 1), values.back());
    moho::fill(exec, to, T(-3));
    EXPECT_EQ(moho::download(exec, to), std::vector<T>(values.size(), T(-3)));
  }
  EXPECT_TRUE(moho::download(exec, moho::upload(exec, std::vector<T>(), "none")).empty());
}

TEST(Copy, ViewsWithGapsAreRefusedOnHosts) {
  const Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
  const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> big("big", 4, 6);
  const auto part = Kokkos::subview(big, Kokkos::ALL(), std::pair<int, int>(0, 3));
  EXPECT_THROW(moho::fill(exec, part, 1.0f), std::logic_error);
  EXPECT_THROW(moho::copy(exec, part, part), std::logic_error);
  EXPECT_THROW(moho::download(exec, part), std::logic_error);
  const Kokkos::View<float*, Kokkos::HostSpace> three("three", 3), four("four", 4);
  EXPECT_THROW(moho::copy(exec, three, four), std::logic_error);
}

// A field allocated for one host space is valid in the other.
#if defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP)
TEST(Spaces, ShareTheirMemory) {
  const Instance<Kokkos::HostSpace> serial = Kokkos::Serial(), openmp = Kokkos::OpenMP();
  const auto field = moho::upload(serial, std::vector<double>{1.0, 2.0, 3.0}, "field");
  EXPECT_EQ(moho::sum_of<double>("moho::test::sum", openmp, 3, AddUp<double>{field.data()}), 6.0);
  EXPECT_STREQ(serial.name(), "serial");
  EXPECT_STREQ(openmp.name(), "openmp");
  EXPECT_EQ(serial.concurrency(), 1);
}
#endif

TEST(Positions, TheFirstOutsideIsNamed) {
  const moho::Grid<2> grid{{31, 21}, {10.0, 5.0}, {0.0, 0.0}};
  const auto message = [&](const moho::Points<2>& points, const moho::Box<2>& interior = {}) {
    try {
      moho::check_positions(grid, points, "receiver", interior);
    } catch (const moho::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({{0.0, 0.0}, {300.0, 100.0}}), "");
  EXPECT_EQ(message({{0.0, 0.0}, {310.0, 50.0}}),
            "receiver 2: (310, 50) is outside the model (allowed: x 0 to 300, z 0 to 100): move "
            "it, or check --spacing and the order of coordinates");
  EXPECT_THAT(message({{std::numeric_limits<double>::quiet_NaN(), 50.0}}),
              HasSubstr("receiver 1: (nan, 50) is no position"));
  EXPECT_THAT(message({{20.0, 50.0}}, {{5, 0}, {26, 16}}),
              AllOf(HasSubstr("(20, 50) is in the boundary layer"), HasSubstr("x 50 to 250")));
  EXPECT_THAT(message({{400.0, 50.0}}, {{5, 0}, {26, 16}}), HasSubstr("is outside the model"));
}

}  // namespace
