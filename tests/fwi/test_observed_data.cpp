// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Times of data in a run: where nothing was recorded, nothing has a weight.

#include <moho/fwi/observed_data.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "refusals.hpp"

namespace {

using moho::InputError;
using moho::fwi::ObjectiveOptions;
using moho::fwi::ObservedData;
using moho::survey::ShotGather;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two shots of a trace each, whose signal lasts from the beginning to the end of the samples.
struct TwoTraces {
  static constexpr double dt = 0.002, frequency = 30.0, peak = 0.1;
  std::vector<moho::wave::Shot<2>> shots{{1, {{0.0, 0.0}}, {{100.0, 0.0}}},
                                         {2, {{0.0, 0.0}}, {{100.0, 0.0}}}};
  std::vector<double> starts{0.0, 0.0};
  std::int64_t count = 501;
  moho::wave::ModellingPlan<2> plan;
  ObjectiveOptions<2> options;
  std::vector<std::string> notes;

  TwoTraces() {
    plan.time.dt = dt;
    plan.time.steps = 500;
    plan.frequency = frequency;
    plan.wavelet = wavelet(dt);
    options.modelling.time.time = 1.0;
    options.note = [this](const std::string& note) { notes.push_back(note); };
  }
  static std::vector<double> wavelet(double interval) {
    return moho::wave::ricker(frequency / 2.4, interval, peak);
  }
  ObservedData<2> read(double corner = 0.0) {
    notes.clear();
    ObservedData<2> data(options);
    data.read(shots, wavelet, plan, [this](std::size_t k) {
      ShotGather<2> gather;
      gather.shot = shots[k];
      gather.name = moho::concat("shot ", k + 1);
      gather.dt = dt;
      gather.t0 = starts[k];
      gather.count = count;
      for (std::int64_t n = 0; n < count; ++n) {
        const double steps = static_cast<double>(n) + starts[k] / dt;
        gather.samples.push_back(static_cast<float>(std::cos(0.2 * steps)));
      }
      return gather;
    });
    data.filter(plan, corner);
    return data;
  }
};

// First and last time with a weight above one half.
std::vector<double> half_weights(const moho::fwi::ObservedShot& shot) {
  std::vector<double> times;
  for (std::int64_t n = 0; n < shot.count; ++n) {
    if (shot.weight(0, n) > 0.5) times.push_back(static_cast<double>(n) * shot.dt);
  }
  return {times.front(), times.back()};
}

TEST(ObservedData, CountFromTheFirstSampleToTheLast) {
  TwoTraces survey;
  auto whole = survey.read();
  EXPECT_EQ(whole.in_band()[0].weight(0, 0), 1.0);
  EXPECT_THAT(survey.notes, ElementsAre());
  const double taper = 1.0 - half_weights(whole.in_band()[0])[1];

  survey.starts = {0.4, -0.3};
  const auto data = survey.read();
  EXPECT_EQ(data.in_band()[0].weight(0, 199), 0.0);
  EXPECT_NEAR(half_weights(data.in_band()[0])[0], 0.4 + 0.25 / TwoTraces::frequency, TwoTraces::dt);
  EXPECT_EQ(data.in_band()[1].weight(0, 0), 1.0);
  EXPECT_NEAR(half_weights(data.in_band()[1])[1], 0.7 - taper, 2.0 * TwoTraces::dt);
  EXPECT_EQ(data.in_band()[1].weight(0, 351), 0.0);
  EXPECT_THAT(survey.notes,
              ElementsAre("1 of 2 shots has no data in up to 0.4 s at the beginning of the run, "
                          "which have no weight",
                          "1 of 2 shots has no data in up to 0.3 s at the end of the run, which "
                          "have no weight"));
}

TEST(ObservedData, BeginAtTheMuteOrTheFirstSample) {
  TwoTraces survey;
  survey.starts = {0.4, 0.0};
  survey.options.mute = moho::survey::parse_mute("velocity:1000:0.4:0");
  const auto data = survey.read();
  EXPECT_EQ(data.in_band()[0].begins, (std::vector<double>{0.5}));
  survey.options.mute = moho::survey::parse_mute("velocity:1000:0.1:0");
  EXPECT_EQ(survey.read().in_band()[0].begins, (std::vector<double>{0.4}));
  EXPECT_EQ(survey.read().in_band()[1].begins, (std::vector<double>{0.2}));
}

TEST(ObservedData, OfZeroPhaseBeginAtThePeak) {
  TwoTraces survey;
  survey.options.zero = moho::survey::WaveletZero::peak;
  EXPECT_NEAR(survey.read().in_band()[0].data_begin, TwoTraces::peak, 1e-6);
  survey.starts = {-TwoTraces::peak, -TwoTraces::peak};
  EXPECT_EQ(survey.read().in_band()[0].data_begin, 0.0);
  survey.options.complete_records = true;
  survey.options.modelling.time.time = 1.2;
  survey.plan.time.steps = 600;
  EXPECT_THAT(moho::testing::message_of<InputError>([&] { survey.read(); }),
              HasSubstr("time is 1.2 s, and the data end at 1 s of the run"));
  survey.starts[1] += 0.2;  // one of the shots ends with the run
  survey.read();
  EXPECT_THAT(survey.notes, ::testing::SizeIs(2));
}

TEST(ObservedData, OutsideOfTheRunAreRefused) {
  TwoTraces survey;
  survey.starts = {0.0, 1.5};
  EXPECT_THAT(
      moho::testing::message_of<InputError>([&] { survey.read(); }),
      HasSubstr("data: shot 2 has data from 1.5 to 2.5 s of the run (allowed: data within 0 "
                "to 1 s): change time, or leave it out"));
  survey.starts = {-1.5, 0.0};
  EXPECT_THAT(moho::testing::message_of<InputError>([&] { survey.read(); }),
              HasSubstr("from -1.5 to -0.5 s"));
}

// Data that begin within a wave differ from complete ones while the low-pass responds.
TEST(ObservedData, LowPassesNeedTheirResponse) {
  TwoTraces survey;
  const auto whole = survey.read(20.0);
  survey.starts = {0.4, 0.4};
  survey.count = 301;
  const auto cut = survey.read(20.0);
  const moho::fwi::ObservedShot &shot = cut.in_band()[0], &other = whole.in_band()[0];
  EXPECT_GT(half_weights(shot)[0], 0.5);
  EXPECT_LT(half_weights(shot)[0], 0.7);
  double difference = 0.0, size = 0.0;
  for (std::int64_t n = 0; n < shot.count; ++n) {
    const auto i = static_cast<std::size_t>(n);
    const double w = shot.weight(0, n), b = other.samples[i];
    difference += w * w * (shot.samples[i] - b) * (shot.samples[i] - b);
    size += w * w * b * b;
  }
  EXPECT_GT(size, 0.0);
  EXPECT_LT(std::sqrt(difference), 0.02 * std::sqrt(size));
}

// The note is that of the first shot in order, whichever thread compares first.
TEST(ObservedData, AmplitudesAreThoseOfTheFirstShot) {
  TwoTraces survey;
  const auto note = [&](const std::vector<std::size_t>& order) {
    auto data = survey.read();
    for (const std::size_t k : order) {
      std::vector<double> modelled(501), source;
      for (std::size_t n = 0; n < modelled.size(); ++n) {
        modelled[n] = (k == 0 ? 1e-3 : 1e-4) * std::cos(0.2 * static_cast<double>(n));
      }
      data.misfit(k, modelled, TwoTraces::dt, 1, source);
    }
    data.note_amplitudes();
    return survey.notes.empty() ? "" : survey.notes.back();
  };
  EXPECT_THAT(note({0, 1}), HasSubstr("the data are 1000"));
  EXPECT_EQ(note({1, 0}), note({0, 1}));
}

}  // namespace
