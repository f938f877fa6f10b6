// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Division of shots among sites. Chunks add up. Simulations of three sites with varying speeds
// agree with the known behaviour of Algorithm 3, and of pulling half of the remaining shots.

#include "io/files.hpp"

#include <moho/cluster/partition.hpp>
#include <moho/core/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

namespace moho::cluster {
namespace {

using io::test::message_of;
using ::testing::HasSubstr;

TEST(Partition, ChunksAddUpAndNoneIsEmpty) {
  std::mt19937 random(3);
  const auto draw = [&](int max) { return std::uniform_int_distribution<int>(0, max)(random); };
  for (int trial = 0; trial < 5000; ++trial) {
    std::vector<SiteRate> sites(static_cast<std::size_t>(1 + draw(5)));
    for (SiteRate& site : sites) {
      site.rate = draw(3) == 0 ? 0.0 : 0.01 * draw(1000);
      site.capacity = draw(2) == 0 ? 0 : draw(300);
      site.min_chunk = draw(20);
    }
    const std::int64_t left = draw(1000);
    const auto chunks = assign_chunks(sites, left);
    std::int64_t sum = 0;
    for (const Chunk& chunk : chunks) {
      EXPECT_GE(chunk.shots, 1);
      EXPECT_LE(chunk.shots, sites[chunk.site].capacity);
      sum += chunk.shots;
    }
    EXPECT_LE(sum, left);
    const bool capacity = std::any_of(sites.begin(), sites.end(),
                                      [](const SiteRate& site) { return site.capacity > 0; });
    EXPECT_EQ(chunks.empty(), left == 0 || !capacity);
  }
}

TEST(Partition, PartsAddUpAndFollowRates) {
  EXPECT_EQ(divide_by_rates({8.0, 3.0, 1.0}, 120), (std::vector<std::int64_t>{80, 30, 10}));
  EXPECT_EQ(divide_by_rates({0.0, 0.0, 0.0}, 10), (std::vector<std::int64_t>{4, 3, 3}));
  std::mt19937 random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> rates;
    for (int k = 0; k < 1 + trial % 6; ++k) {
      rates.push_back(std::uniform_real_distribution<>(0.0, 9.0)(random));
    }
    const auto parts = divide_by_rates(rates, trial);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), trial);
    const double all = std::accumulate(rates.begin(), rates.end(), 0.0);
    for (std::size_t k = 0; k < rates.size(); ++k) {
      EXPECT_NEAR(static_cast<double>(parts[k]), trial * rates[k] / all, 1.0);
    }
  }
}

TEST(Partition, RatesAreSmoothed) {
  EXPECT_DOUBLE_EQ(smooth_rate(0.0, 10.0, 5.0, 0.3), 2.0);
  EXPECT_DOUBLE_EQ(smooth_rate(1.0, 10.0, 5.0, 0.3), 1.3);
  EXPECT_DOUBLE_EQ(smooth_rate(1.0, 10.0, 0.0, 0.3), 1.0);
}

enum class Policy { equal, algorithm3, pull };

// Returns the simulated time divided by the ideal time, for evaluations of 200 shots on sites of
// speeds 8 : 3 : 1. Speeds vary by a factor exp(noise N(0, 1)); `fresh` is the innovation of the
// variation from one evaluation to the next, between 0 and 1.
double time_over_ideal(Policy policy, double noise, double fresh) {
  constexpr std::int64_t shots = 200;
  constexpr int evaluations = 400;
  const std::vector<double> base{8.0, 3.0, 1.0};
  std::mt19937_64 random(11);
  std::normal_distribution<> normal;
  std::vector<double> swing(base.size(), 0.0), rates(base.size(), 1.0);
  double taken = 0.0, ideal = 0.0;
  for (int e = 0; e < evaluations; ++e) {
    std::vector<double> speed;
    for (std::size_t k = 0; k < base.size(); ++k) {
      swing[k] = std::sqrt(1.0 - fresh * fresh) * swing[k] + fresh * normal(random);
      speed.push_back(base[k] * std::exp(noise * swing[k]));
    }
    const double best = shots / std::accumulate(speed.begin(), speed.end(), 0.0);
    double end = 0.0;
    if (policy == Policy::pull) {
      std::vector<double> free(base.size(), 0.0);
      for (std::int64_t left = shots; left > 0;) {
        const auto next = std::min_element(free.begin(), free.end()) - free.begin();
        std::vector<SiteRate> sites;
        for (std::size_t k = 0; k < base.size(); ++k) {
          sites.push_back({rates[k], 1, static_cast<std::ptrdiff_t>(k) == next ? shots : 0, 0});
        }
        const Chunk chunk = assign_chunks(sites, left).at(0);
        const double seconds = static_cast<double>(chunk.shots) / speed[chunk.site];
        free[chunk.site] += seconds;
        rates[chunk.site] =
            smooth_rate(rates[chunk.site], static_cast<double>(chunk.shots), seconds, 0.3);
        left -= chunk.shots;
        end = std::max(end, free[chunk.site]);
      }
    } else {
      const auto parts = divide_by_rates(
          policy == Policy::equal ? std::vector<double>(base.size(), 1.0) : rates, shots);
      for (std::size_t k = 0; k < base.size(); ++k) {
        const double seconds = static_cast<double>(parts[k]) / speed[k];
        end = std::max(end, seconds);
        rates[k] = smooth_rate(rates[k], static_cast<double>(parts[k]), seconds, 0.5);
      }
    }
    if (e < 20) continue;  // rates are measured first
    taken += end;
    ideal += best;
  }
  return taken / ideal;
}

TEST(Partition, PullBeatsAlgorithm3WhereSpeedsVary) {
  const double equal = time_over_ideal(Policy::equal, 0.3, 1.0);
  const double slow3 = time_over_ideal(Policy::algorithm3, 0.3, 0.2);
  const double fast3 = time_over_ideal(Policy::algorithm3, 0.3, 1.0);
  const double faster3 = time_over_ideal(Policy::algorithm3, 0.7, 1.0);
  const double slow = time_over_ideal(Policy::pull, 0.3, 0.2);
  const double fast = time_over_ideal(Policy::pull, 0.3, 1.0);
  const double faster = time_over_ideal(Policy::pull, 0.7, 1.0);
  RecordProperty("time_over_ideal", concat(equal, ' ', slow3, ' ', fast3, ' ', faster3, ' ', slow,
                                           ' ', fast, ' ', faster));
  std::printf("time over the ideal: equal %.2f; Algorithm 3 %.2f %.2f %.2f; pull %.2f %.2f %.2f\n",
              equal, slow3, fast3, faster3, slow, fast, faster);
  EXPECT_GT(equal, 3.5);
  EXPECT_LT(slow3, fast3);
  EXPECT_GT(fast3, 1.3);
  EXPECT_GT(faster3, 2.0);
  EXPECT_LT(slow, 1.06);
  EXPECT_LT(fast, 1.06);
  EXPECT_LT(faster, 1.20);
}

TEST(Partition, RefusesInvalidArguments) {
  EXPECT_THAT(message_of<InputError>([] {
                assign_chunks({{1.0, 1, 1, 0}}, 5, {0.0});
              }),
              HasSubstr("the part of the rest is 0 (allowed: above 0, at most 1)"));
  EXPECT_THAT(message_of<InputError>([] {
                assign_chunks({{1.0, 1, 1, 0}}, -5);
              }),
              HasSubstr("-5 shots are left"));
  EXPECT_THAT(message_of<InputError>([] {
                assign_chunks({{-1.0, 1, 1, 0}}, 5);
              }),
              HasSubstr("site 0 has the rate -1"));
  EXPECT_THAT(message_of<InputError>([] { divide_by_rates({}, 5); }),
              HasSubstr("there is no site"));
  EXPECT_THAT(message_of<InputError>([] { divide_by_rates({NAN}, 5); }),
              HasSubstr("a rate of nan"));
}

}  // namespace
}  // namespace moho::cluster
