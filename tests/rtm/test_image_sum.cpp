// SPDX-License-Identifier: BSD-3-Clause
//
// Sums of shots that grow: the bits of stack() for random orders, partitions and interruptions;
// duplicate shots; shots beyond the window; damaged bytes.

#include <moho/rtm/image_sum.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "refusals.hpp"

namespace moho::testing {
namespace {
namespace image_sum {

using rtm::ImageSum;
using ::testing::HasSubstr;

constexpr int parts = 3;
const Grid<2> grid{{37, 23}, {10.0, 10.0}, {0.0, 0.0}};

Instance<Kokkos::HostSpace> on_host() { return Kokkos::DefaultHostExecutionSpace(); }

template <class T>
struct StoredShot {
  std::int64_t number;
  Box<2> box;
  std::vector<T> values;
};

/// Returns shots with windows at random places, whose largest magnitudes differ by up to 2^6.
template <class T>
std::vector<StoredShot<T>> random_shots(int count) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<StoredShot<T>> shots;
  for (int k = 0; k < count; ++k) {
    StoredShot<T> shot{100 + k, whole_box(grid), {}};
    if (k % 3 != 0) {
      for (int d = 0; d < 2; ++d) {
        shot.box.lower[d] = static_cast<std::int64_t>(random() % 10);
        shot.box.upper[d] = grid.extents[d] - static_cast<std::int64_t>(random() % 10);
      }
    }
    const int power = static_cast<int>(random() % 7);
    shot.values.resize(static_cast<std::size_t>(parts * shot.box.size()));
    for (T& value : shot.values) {
      value = static_cast<T>(std::ldexp(uniform(random), power - static_cast<int>(random() % 40)));
    }
    if (k == 4) std::fill(shot.values.begin(), shot.values.end(), T(0));  // without live traces
    shots.push_back(std::move(shot));
  }
  return shots;
}

template <class T>
std::vector<std::vector<T>> stacked(const std::vector<StoredShot<T>>& shots) {
  std::vector<std::vector<T>> result;
  for (int p = 0; p < parts; ++p) {
    std::vector<rtm::StoredPart<2>> stored;
    for (const auto& shot : shots) stored.push_back({shot.box, {}});
    result.push_back(rtm::stack<T, 2>(on_host(), grid, stored, [&](std::size_t k) {
      const auto nodes = static_cast<std::ptrdiff_t>(shots[k].box.size());
      const auto begin = shots[k].values.begin() + nodes * p;
      return std::vector<T>(begin, begin + nodes);
    }));
  }
  return result;
}

template <class T>
std::vector<std::vector<T>> values_of(const ImageSum<2>& sum) {
  std::vector<std::vector<T>> result;
  for (int p = 0; p < parts; ++p) result.push_back(sum.part<T>(on_host(), p));
  return result;
}

template <class T>
void add(ImageSum<2>& sum, const StoredShot<T>& shot) {
  sum.add(on_host(), shot.number, shot.box, shot.values.data());
}

template <class T>
void random_partitions() {
  const auto shots = random_shots<T>(14);
  const auto expected = stacked(shots);
  std::vector<std::size_t> order(shots.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::mt19937_64 random(17);
  for (int trial = 0; trial < 30; ++trial) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<ImageSum<2>> sums(1 + random() % 5, ImageSum<2>(grid, parts));
    for (const std::size_t k : order) {
      ImageSum<2>& sum = sums[random() % sums.size()];
      add(sum, shots[k]);
      // a process ends, and another one continues with the bytes
      if (random() % 4 == 0) sum = ImageSum<2>::unpack(grid, sum.pack());
    }
    ImageSum<2> all(grid, parts);
    for (ImageSum<2>& sum : sums) all.merge(on_host(), std::move(sum));
    EXPECT_EQ(all.shots().size(), shots.size());
    ASSERT_FALSE(all.closed());
    ASSERT_EQ(values_of<T>(all), expected) << "trial " << trial;
  }
}

TEST(ImageSum, HasTheBitsOfAStackForRandomOrdersPartitionsAndInterruptions) {
  random_partitions<float>();
  random_partitions<double>();
}

TEST(ImageSum, CountsEachShotOnce) {
  const auto shots = random_shots<float>(3);
  ImageSum<2> sum(grid, parts), other(grid, parts);
  add(sum, shots[0]);
  add(other, shots[1]);
  add(other, shots[0]);
  EXPECT_THAT(message_of<InputError>([&] { add(sum, shots[0]); }), HasSubstr("shot 100: it is"));
  EXPECT_THAT(message_of<InputError>([&] { sum.merge(on_host(), ImageSum<2>(other)); }),
              HasSubstr("allowed: each shot once"));
  EXPECT_EQ(sum.shots(), std::set<std::int64_t>{100});
}

TEST(ImageSum, ClosesForShotsThatItCannotHold) {
  for (const float value : {1000.0F, std::numeric_limits<float>::quiet_NaN()}) {
    auto shots = random_shots<float>(2);
    std::fill(shots[0].values.begin(), shots[0].values.end(), 1.0F);
    std::fill(shots[1].values.begin(), shots[1].values.end(), value);
    ImageSum<2> sum(grid, parts), other(grid, parts);
    add(sum, shots[0]);
    add(sum, shots[1]);
    EXPECT_TRUE(sum.closed());
    EXPECT_EQ(sum.shots().size(), 2U);
    EXPECT_THAT(message_of<InputError>([&] { sum.part<float>(on_host(), 0); }),
                HasSubstr("closed"));
    const auto closed = ImageSum<2>::unpack(grid, sum.pack());
    EXPECT_TRUE(closed.closed());
    other.merge(on_host(), ImageSum<2>(closed));
    EXPECT_TRUE(other.closed());
    EXPECT_EQ(other.shots().size(), 2U);
  }
}

TEST(ImageSum, KeepsPartsThatAreZero) {
  auto shots = random_shots<float>(2);
  for (auto& shot : shots) {
    const auto size = static_cast<std::ptrdiff_t>(shot.box.size());
    std::fill(shot.values.begin() + size, shot.values.begin() + 2 * size, 0.0F);
  }
  ImageSum<2> sum(grid, parts), other(grid, parts), both(grid, parts);
  add(sum, shots[0]);
  add(other, shots[1]);
  for (const auto& shot : shots) add(both, shot);
  sum.merge(on_host(), other.pack());
  for (int p = 0; p < parts; ++p) {
    EXPECT_EQ(sum.part<float>(on_host(), p), both.part<float>(on_host(), p)) << p;
  }
  const std::vector<float> zeros(static_cast<std::size_t>(grid.size()), 0.0F);
  EXPECT_EQ(sum.part<float>(on_host(), 1), zeros);
  EXPECT_NE(sum.part<float>(on_host(), 0), zeros);
}

TEST(ImageSum, HasBytesThatDependOnTheNumbersOfShotsOnly) {
  auto shots = random_shots<float>(16);
  for (auto& shot : shots) shot.values.front() = 64.0F;  // of all shots alike
  std::vector<std::size_t> bytes;
  ImageSum<2> sum(grid, parts);
  for (const auto& shot : shots) {
    add(sum, shot);
    bytes.push_back(sum.pack().size());
  }
  EXPECT_EQ(bytes[15] - bytes[3], 12 * sizeof(std::int64_t));
  EXPECT_LE(static_cast<double>(bytes[3]), ImageSum<2>::bytes(grid, parts) + 4 * 8 + 256);
}

TEST(ImageSum, RefusesDamagedBytes) {
  const auto shots = random_shots<float>(2);
  ImageSum<2> sum(grid, parts);
  for (const auto& shot : shots) add(sum, shot);
  const std::string bytes = sum.pack();
  for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_THAT(message_of<InputError>([&] { ImageSum<2>::unpack(grid, damaged); }),
                HasSubstr("damaged"));
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, bytes.size() - 8}) {
    EXPECT_THAT(message_of<InputError>([&] { ImageSum<2>::unpack(grid, bytes.substr(0, size)); }),
                HasSubstr("damaged"));
  }
  const Grid<2> wider{{38, 23}, {10.0, 10.0}, {0.0, 0.0}};
  EXPECT_THAT(message_of<InputError>([&] { ImageSum<2>::unpack(wider, bytes); }),
              HasSubstr("of another grid"));
}

}  // namespace image_sum
}  // namespace
}  // namespace moho::testing
