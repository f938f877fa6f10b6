// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Forecast of the time of an iteration, from some of the sources.

#include "spaces.hpp"
#include "tomography/line.hpp"

#include <gmock/gmock.h>

namespace moho::testing::tomography_forecast {

using namespace moho::tomography;

namespace {

TEST(SomeSources, AreSpreadEvenly) {
  const PickSet<2> picks = line_picks(12, 24, 0.002);
  const PickSet<2> some = picks_of_some<2>(picks, 4);
  ASSERT_EQ(some.sources.size(), 4u);
  EXPECT_EQ(some.receivers.size(), picks.receivers.size());
  const std::size_t expected[] = {1, 4, 7, 10};
  std::size_t count = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(some.sources[k][0], picks.sources[expected[k]][0]);
    for (const Pick& pick : picks.picks) {
      count += static_cast<std::size_t>(pick.source) == expected[k] ? 1 : 0;
    }
  }
  EXPECT_EQ(some.picks.size(), count);
  EXPECT_EQ(picks_of_some<2>(picks, 20).picks.size(), picks.picks.size());
  EXPECT_EQ(picks_of_some<2>(picks, 1).sources.front()[0], picks.sources[6][0]);
}

template <class S>
class TomographyForecast : public ::testing::Test {};
TYPED_TEST_SUITE(TomographyForecast, TestSpaces, SpaceName);

TYPED_TEST(TomographyForecast, IsMeasuredWithSomeSources) {
  using Memory = typename TypeParam::Memory;
  const Instance<Memory> exec = TypeParam::exec();
  InversionJob<2> job;
  job.grid = line_grid(24, 12.5, 200.0);
  job.picks = line_picks(12, 24, 0.002);
  job.start = linear_model<2>(job.grid, {}, line_truth);
  job.options.prior.lengths = {50.0, 25.0};
  const IterationForecast all = forecast<float>(exec, job);
  EXPECT_GT(all.seconds, 0.0);
  EXPECT_EQ(all.measured, 8u);
  EXPECT_EQ(all.sources, 12u);
  EXPECT_THAT(all.text(), ::testing::HasSubstr("measured with 8 of 12 sources"));
  EXPECT_THAT(all.text(), ::testing::HasSubstr(" s an iteration, "));
  job.picks = picks_of_some<2>(job.picks, 2);
  EXPECT_EQ(forecast<double>(exec, job, 2).measured, 2u);
}

}  // namespace
}  // namespace moho::testing::tomography_forecast
