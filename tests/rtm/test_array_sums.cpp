// SPDX-License-Identifier: BSD-3-Clause
//
// Sums of several arrays of shots: the bits of rtm::stack() for random orders and partitions;
// shots beyond the window, damaged bytes, other arrays.

#include <moho/rtm/array_sums.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "refusals.hpp"

namespace moho::testing {
namespace {
namespace array_sums {

using rtm::ArraySums;
using rtm::ShotArray;
using ::testing::HasSubstr;

constexpr double memory = 1e9;

Instance<Kokkos::HostSpace> on_host() { return Kokkos::DefaultHostExecutionSpace(); }

/// Arrays of a shot: an image of two parts in three dimensions, and gathers in two.
struct Shot {
  std::int64_t number = 0;
  ShotArray image{"image", 2, {7, 5, 6}, {0, 0, 0}, {7, 5, 6}};
  ShotArray gathers{"gathers", 1, {9, 11}, {0, 0}, {9, 11}};
  std::vector<float> image_values, gather_values;
};

std::vector<Shot> random_shots(int count) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<Shot> shots;
  for (int k = 0; k < count; ++k) {
    Shot shot;
    shot.number = 20 + k;
    if (k % 2 == 1) shot.image.lower = {2, 0, 1}, shot.image.upper = {6, 4, 6};
    std::size_t nodes = 2;
    for (std::size_t d = 0; d < 3; ++d) {
      nodes *= static_cast<std::size_t>(shot.image.upper[d] - shot.image.lower[d]);
    }
    const auto fill = [&](std::vector<float>& values, std::size_t size) {
      const int power = static_cast<int>(random() % 6);
      for (std::size_t i = 0; i < size; ++i) {
        values.push_back(static_cast<float>(
            std::ldexp(uniform(random), power - static_cast<int>(random() % 30))));
      }
    };
    fill(shot.image_values, nodes);
    fill(shot.gather_values, 99);
    shots.push_back(std::move(shot));
  }
  return shots;
}

void add(ArraySums& sums, const Shot& shot) {
  sums.add(on_host(), shot.number, shot.image, shot.image_values.data());
  sums.add(on_host(), shot.number, shot.gathers, shot.gather_values.data());
}

std::vector<float> stacked_gathers(const std::vector<Shot>& shots) {
  Grid<2> grid;
  grid.extents = {9, 11};
  const std::vector<rtm::StoredPart<2>> parts(shots.size(), {whole_box(grid), {}});
  return rtm::stack<float, 2>(on_host(), grid, parts,
                              [&](std::size_t k) { return shots[k].gather_values; });
}

std::vector<float> stacked_image(const std::vector<Shot>& shots, int part) {
  Grid<3> grid;
  grid.extents = {7, 5, 6};
  std::vector<rtm::StoredPart<3>> parts;
  for (const Shot& shot : shots) {
    Box<3> box;
    for (int d = 0; d < 3; ++d) {
      box.lower[d] = shot.image.lower[static_cast<std::size_t>(d)];
      box.upper[d] = shot.image.upper[static_cast<std::size_t>(d)];
    }
    parts.push_back({box, {}});
  }
  return rtm::stack<float, 3>(on_host(), grid, parts, [&](std::size_t k) {
    const std::vector<float>& all = shots[k].image_values;
    const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
    return std::vector<float>(all.begin() + half * part, all.begin() + half * (part + 1));
  });
}

TEST(ArraySums, HaveTheBitsOfFilesForAnyOrderAndPartition) {
  std::vector<Shot> shots = random_shots(13);
  const std::vector<float> gathers = stacked_gathers(shots);
  const std::vector<float> images[] = {stacked_image(shots, 0), stacked_image(shots, 1)};
  std::mt19937_64 random(2);
  for (int turn = 0; turn < 20; ++turn) {
    std::shuffle(shots.begin(), shots.end(), random);
    std::vector<ArraySums> sites;
    for (std::size_t left = 1 + random() % 4; left > 0; --left) sites.emplace_back(memory);
    for (const Shot& shot : shots) add(sites[random() % sites.size()], shot);
    ArraySums sum(memory);
    for (const ArraySums& site : sites) sum.merge(on_host(), site.pack());
    EXPECT_TRUE(sum.hold(13));
    EXPECT_EQ(sum.part<float>(on_host(), "gathers", 0), gathers);
    for (int p = 0; p < 2; ++p) EXPECT_EQ(sum.part<float>(on_host(), "image", p), images[p]);
  }
}

TEST(ArraySums, BytesDoNotGrowWithShots) {
  const std::vector<Shot> shots = random_shots(40);
  std::size_t bytes[2];
  for (const std::size_t many : {0, 1}) {
    ArraySums sums(memory);
    for (std::size_t k = 0; k < (many == 1 ? 40 : 4); ++k) add(sums, shots[k]);
    bytes[many] = sums.pack().size();
  }
  // the numbers of the shots, in each sum and for all; windows may be shorter
  EXPECT_LE(bytes[1], bytes[0] + 3 * 8 * 36);
}

TEST(ArraySums, InBinsHaveTheStateOfOneSumForAnyOrderAndPartition) {
  std::vector<Shot> shots = random_shots(13);
  for (std::size_t k = 0; k < shots.size(); ++k) {
    shots[k].gathers = {"bins", 3, {3, 11}, {0, 0}, {3, 11}, true};
    // magnitudes that no window holds
    for (float& value : shots[k].gather_values) value *= k % 3 == 0 ? 1e15F : 1e-8F;
  }
  const auto add_gathers = [](ArraySums& sums, const Shot& shot) {
    sums.add(on_host(), shot.number, shot.gathers, shot.gather_values.data());
  };
  const auto add_both = [](ArraySums& sums, const Shot& shot) { add(sums, shot); };
  std::vector<BinnedSumOn<Kokkos::HostSpace>> direct;
  for (std::size_t p = 0; p < 3; ++p) {
    direct.emplace_back(on_host(), 33);
    for (const Shot& shot : shots) direct[p].add(on_host(), shot.gather_values.data() + 33 * p);
  }
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 20; ++turn) {
    std::shuffle(shots.begin(), shots.end(), random);
    std::vector<ArraySums> sites;
    for (std::size_t left = 1 + random() % 4; left > 0; --left) sites.emplace_back(memory);
    for (const Shot& shot : shots) {
      ArraySums& site = sites[random() % sites.size()];
      if (turn % 2 == 0) add_gathers(site, shot);
      if (turn % 2 == 1) add_both(site, shot);
    }
    ArraySums sum(memory);
    for (const ArraySums& site : sites) sum.merge(on_host(), site.pack());
    EXPECT_TRUE(sum.hold(13));
    const auto states = sum.bins(on_host(), "bins");
    ASSERT_EQ(states.size(), 3U);
    for (std::size_t p = 0; p < 3; ++p) {
      std::vector<double> found(33), expected(33);
      EXPECT_EQ(states[p].terms, 13);
      BinnedSumOn<Kokkos::HostSpace> merged(on_host(), 33);
      merged.merge(on_host(), states[p]);
      merged.result(on_host(), found.data());
      direct[p].result(on_host(), expected.data());
      EXPECT_EQ(found, expected) << p;
    }
  }
}

TEST(ArraySums, InBinsRefuseOtherGridsDuplicatesAndLittleMemory) {
  const Shot shot = random_shots(1)[0];
  const ShotArray bins{"bins", 1, {9, 11}, {0, 0}, {9, 11}, true};
  const auto add_to = [&](ArraySums& sums, std::int64_t number, const ShotArray& array) {
    return message_of([&] { sums.add(on_host(), number, array, shot.gather_values.data()); });
  };
  ArraySums sums(memory), small(9.0 * 11.0 * 16.0 * 6.0);
  sums.add(on_host(), 1, bins, shot.gather_values.data());
  EXPECT_THAT(add_to(sums, 1, bins), HasSubstr("shot 1: it is already in the sums"));
  ShotArray other = bins;
  other.grid = other.upper = {3, 11};
  EXPECT_THAT(add_to(sums, 2, other), HasSubstr("parts of 33 nodes (allowed: 1 of 99"));
  other = bins;
  other.lower[0] = 1;
  EXPECT_THAT(add_to(sums, 2, other), HasSubstr("on the complete grid"));
  EXPECT_THAT(message_of([&] { sums.bins(on_host(), "others"); }), HasSubstr("none of 'others'"));
  small.add(on_host(), 1, bins, shot.gather_values.data());
  EXPECT_TRUE(small.closed());
  std::string bytes = sums.pack();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
  ArraySums receiver(memory);
  EXPECT_THAT(message_of([&] { receiver.merge(on_host(), bytes); }), HasSubstr("damaged"));
}

TEST(ArraySums, CloseTogether) {
  std::vector<Shot> shots = random_shots(3);
  for (float& value : shots[2].gather_values) value *= 1e9F;  // beyond the window
  ArraySums sums(memory);
  for (const Shot& shot : shots) add(sums, shot);
  EXPECT_TRUE(sums.closed());
  EXPECT_FALSE(sums.hold(3));
  EXPECT_EQ(sums.shots(), (std::set<std::int64_t>{20, 21, 22}));
  EXPECT_THAT(message_of([&] { sums.part<float>(on_host(), "image", 0); }),
              HasSubstr("there is none of 'image'"));
  // a closed sum closes the one that receives it; too little memory closes it at once
  Shot other = random_shots(1)[0];
  other.number = 50;
  ArraySums open(memory), small(1000.0);
  add(open, other);
  EXPECT_TRUE(open.hold(1));
  open.merge(on_host(), sums.pack());
  EXPECT_TRUE(open.closed());
  EXPECT_EQ(open.shots().size(), 4u);
  add(small, other);
  EXPECT_TRUE(small.closed());
}

TEST(ArraySums, RefuseDamagedBytesDuplicatesAndOtherArrays) {
  const std::vector<Shot> shots = random_shots(2);
  ArraySums sums(memory), receiver(memory);
  add(sums, shots[0]);
  const std::string whole = sums.pack();
  for (std::size_t at = 0; at < whole.size(); at += 61) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_THAT(message_of([&] { receiver.merge(on_host(), damaged); }), HasSubstr("damaged"));
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{9}, whole.size() - 1}) {
    EXPECT_THAT(message_of([&] { receiver.merge(on_host(), whole.substr(0, length)); }),
                HasSubstr("damaged"));
  }
  EXPECT_TRUE(receiver.shots().empty());
  receiver.merge(on_host(), whole);
  EXPECT_THAT(message_of([&] { receiver.merge(on_host(), whole); }),
              HasSubstr("shot 20: it is already in the sums"));
  ArraySums image_only(memory);
  image_only.add(on_host(), 21, shots[1].image, shots[1].image_values.data());
  EXPECT_THAT(message_of([&] { receiver.merge(on_host(), image_only.pack()); }),
              HasSubstr("sums of other arrays"));
  ShotArray wrong = shots[1].image;
  wrong.upper[2] = 7;
  EXPECT_THAT(message_of([&] { receiver.add(on_host(), 30, wrong, shots[1].image_values.data()); }),
              HasSubstr("array 'image' of shot 30: invalid grid, box or parts"));
}

}  // namespace array_sums
}  // namespace
}  // namespace moho::testing
