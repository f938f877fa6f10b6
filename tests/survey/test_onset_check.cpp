// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Start times of data against first arrivals.

#include <moho/survey/onset_check.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using moho::survey::OnsetCheck;
using moho::survey::shots_to_check;
using moho::survey::WaveletZero;

// Differences of data whose pulses, of a wavelet from 0 to 0.2 s with its peak at 0.1 s, are moved.
auto difference(double moved, WaveletZero zero = WaveletZero::start) {
  constexpr std::int64_t samples = 400, receivers = 9;
  constexpr double dt = 0.01;
  std::vector<float> traces(static_cast<std::size_t>(receivers * samples), 0.0F);
  moho::survey::ShotGather<2> gather;
  std::vector<double> arrivals;
  for (std::int64_t r = 0; r < receivers; ++r) {
    arrivals.push_back(0.4 + 0.05 * static_cast<double>(r));
    const auto first = std::llround((arrivals.back() + moved) / dt);
    for (std::int64_t i = 0; i <= 20; ++i) {
      const auto at = static_cast<std::size_t>(r * samples + first + i);
      traces[at] = 1.0F - std::fabs(static_cast<float>(i) - 10.0F) / 10.5F;
    }
  }
  gather.samples = traces;
  gather.count = samples;
  gather.dt = dt;
  gather.t0 = zero == WaveletZero::peak ? -0.1 : 0.0;
  moho::survey::WaveletTimes wavelet;
  wavelet.begin = 0.0;
  wavelet.peak = 0.1;
  OnsetCheck check(zero, wavelet, 24.0);  // a period of 0.1 s
  check.add(gather, arrivals);
  return check.difference();
}

TEST(OnsetCheck, FindsDataThatBeginLateOrEarly) {
  for (const double moved : {-0.15, 0.0, 0.15}) EXPECT_FALSE(difference(moved)) << moved;
  const auto late = difference(1.0), early = difference(-0.35);
  ASSERT_TRUE(late && early);
  EXPECT_TRUE(late->late);
  EXPECT_FALSE(early->late);
  EXPECT_NEAR(late->seconds, 1.0, 0.011);
  EXPECT_NEAR(early->seconds, 0.35, 0.011);
  EXPECT_EQ(late->traces, 3u);  // the third of the traces with the earliest arrivals
}

TEST(OnsetCheck, TimeZeroMayBeThePeak) {
  EXPECT_FALSE(difference(0.0, WaveletZero::peak));
  EXPECT_NEAR(difference(1.0, WaveletZero::peak)->seconds, 1.0, 0.011);
}

TEST(OnsetCheck, SilentTracesHaveNoOnset) {
  OnsetCheck check(WaveletZero::start, {}, 24.0);
  check.add(std::vector<float>(20, 0.0F), 10, 0.01, 0.0, {0.01, 0.02});
  EXPECT_FALSE(check.difference());
}

TEST(OnsetCheck, NeedsFewShots) {
  EXPECT_EQ(shots_to_check<2>(1), (std::vector<std::size_t>{0}));
  EXPECT_EQ(shots_to_check<2>(9), (std::vector<std::size_t>{0, 4, 8}));
  EXPECT_EQ(shots_to_check<3>(9), (std::vector<std::size_t>{4}));
}

}  // namespace
