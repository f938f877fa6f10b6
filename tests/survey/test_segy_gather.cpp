// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Shots written as SEG-Y, and read as a survey.

#include <moho/core/error.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/segy_gather.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "io/files.hpp"

namespace {

using moho::Points;
using moho::io::test::message_of;
using moho::survey::segy_gather;
using moho::wave::Shot;
using ::testing::HasSubstr;

template <int Dim>
void expect_same_after_reading(const std::vector<Shot<Dim>>& shots) {
  constexpr std::int64_t count = 5;
  std::vector<moho::io::Gather<float>> gathers;
  for (const Shot<Dim>& shot : shots) {
    std::vector<float> samples;
    for (std::size_t k = 0; k < shot.receivers.size() * count; ++k) {
      samples.push_back(static_cast<float>(100 * shot.number + static_cast<int>(k) + 1));
    }
    gathers.push_back(segy_gather(shot, 0.002, samples.data(), count));
  }
  const moho::io::test::Folder folder;
  moho::io::write_gathers(folder / "line.sgy", gathers);
  const moho::survey::Survey<Dim> survey(folder / "line.sgy");
  ASSERT_EQ(survey.size(), shots.size());
  EXPECT_DOUBLE_EQ(survey.interval(), 0.002);
  for (std::size_t k = 0; k < shots.size(); ++k) {
    const auto found = survey.read(k);
    EXPECT_EQ(found.shot.number, shots[k].number);
    EXPECT_EQ(found.count, count);
    EXPECT_EQ(found.samples, gathers[k].samples.data);
    ASSERT_EQ(found.shot.receivers.size(), shots[k].receivers.size());
    for (int d = 0; d < Dim; ++d) {
      EXPECT_DOUBLE_EQ(found.shot.sources[0][d], shots[k].sources[0][d]);
      for (std::size_t r = 0; r < shots[k].receivers.size(); ++r) {
        EXPECT_DOUBLE_EQ(found.shot.receivers[r][d], shots[k].receivers[r][d]);
      }
    }
  }
}

TEST(SegyGather, IsReadAsASurvey) {
  expect_same_after_reading<2>(
      {{7, {{100.0, 6.5}}, {{0.0, 8.0}, {250.0, 8.25}}}, {9, {{200.0, 6.5}}, {{50.0, 8.0}}}});
  expect_same_after_reading<3>(
      {{1, {{100.0, 40.0, 6.0}}, {{0.0, 10.0, 8.0}, {250.0, 20.0, 12.0}}},
       {2, {{100.0, 80.0, 6.0}}, {{10.0, 30.0, 8.0}, {260.0, 40.0, 0.0}, {5.0, 5.0, 1.0}}}});
}

TEST(SegyGather, OfTraces) {
  const Shot<2> shot{3, {{10.0, 2.0}}, {{0.0, 1.0}, {5.0, 1.0}}};
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> traces("traces", 2, 3);
  for (int k = 0; k < 6; ++k) traces.data()[k] = k;
  const auto gather = segy_gather(shot, 0.004, traces);
  EXPECT_EQ(gather.record, 3);
  EXPECT_EQ(gather.receiver_elevation[1], -1.0);
  EXPECT_THAT(gather.samples.shape, ::testing::ElementsAre(2, 3));
  EXPECT_EQ(gather.samples.data, (std::vector<double>{0, 1, 2, 3, 4, 5}));
  const Shot<2> shorter{3, {{10.0, 2.0}}, {{0.0, 1.0}}};
  EXPECT_THAT(message_of<moho::InputError>([&] { segy_gather(shorter, 0.004, traces); }),
              HasSubstr("shot 3: it has 2 traces (allowed: 1, one for each receiver)"));
  const Shot<2> silent{4, {}, {}};
  EXPECT_THAT(message_of<moho::InputError>([&] { segy_gather(silent, 0.004, traces.data(), 3); }),
              HasSubstr("shot 4 has no source (allowed: 1 or more)"));
}

TEST(SegyGather, HasTheFirstOfSeveralSources) {
  const std::vector<Shot<2>> shots{{1, {{0.0, 1.0}}, {}}, {2, {{0.0, 1.0}, {5.0, 1.0}}, {}}};
  EXPECT_EQ(
      moho::survey::note_of_sources(shots),
      "1 shot has several sources, of which gather.sgy has the first: use the folder as data");
  EXPECT_EQ(moho::survey::note_of_sources<2>({shots[0]}), "");
}

}  // namespace
