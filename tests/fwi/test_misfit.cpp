// SPDX-License-Identifier: BSD-3-Clause
//
// Misfits against hand calculations, derivatives against differences, weights, and the low-pass.

#include <moho/fwi/misfit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "refusals.hpp"

namespace {

using namespace moho::fwi;
using moho::testing::message_of;
using std::numbers::pi;
using ::testing::HasSubstr;

ObservedShot random_shot(std::int64_t receivers, std::int64_t count) {
  ObservedShot shot;
  shot.receivers = receivers;
  shot.count = count;
  shot.dt = 0.004;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < receivers * count; ++i) shot.samples.push_back(normal(random));
  return shot;
}
std::vector<double> random_rows(const ObservedShot& shot) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  std::vector<double> rows;
  for (std::int64_t i = 0; i < shot.receivers * shot.count; ++i) rows.push_back(normal(random));
  return rows;
}

TEST(Misfit, IsWhatItSaysByHand) {
  ObservedShot shot;
  shot.receivers = 2;
  shot.count = 2;
  shot.dt = 0.5;
  shot.samples = {1.0f, 2.0f, 3.0f, 4.0f};  // by trace
  shot.weights = {1.0, 2.0};
  const std::vector<double> modelled{2.0, 3.0, 2.0, 3.0};  // by sample: (2, 2), (3, 3)
  std::vector<double> derivative;
  // residuals 1, 0 and 0, -1; the second trace has weight 2
  EXPECT_DOUBLE_EQ(shot_misfit({}, shot, modelled, derivative), 0.5 * 0.5 * (1.0 + 4.0));
  EXPECT_EQ(derivative, (std::vector<double>{0.5, 0.0, 0.0, -2.0}));
  // c = 0.5 rms, rms^2 = (1 + 4 + 36 + 64) / 4
  const double c = 0.2 * std::sqrt(105.0 / 4.0);
  EXPECT_NEAR(shot_misfit({MisfitKind::huber, 0.2}, shot, modelled, derivative),
              0.5 * (0.5 + c * (2.0 - 0.5 * c)) + 0.5 * (c < 1.0 ? c * (1 - 0.5 * c) - 0.5 : 0.0),
              1e-12);
  // (2, 2) . (1, 2) = 6, |(2, 2)| |(1, 2)| = sqrt(40); (3, 3) . (3, 4) = 21, sqrt(18) 5
  EXPECT_NEAR(shot_misfit({MisfitKind::correlation}, shot, modelled, derivative),
              2.0 - 6.0 / std::sqrt(40.0) - 21.0 / (5.0 * std::sqrt(18.0)), 1e-12);
}

TEST(Misfit, DerivativesAreThoseOfDifferences) {
  ObservedShot shot = random_shot(3, 20);
  shot.weights = {1.0, 0.5, 2.0};
  shot.begins = {-1.0, 0.01, 0.03};
  shot.taper = 0.02;
  const auto rows = random_rows(shot);
  for (const MisfitKind kind : {MisfitKind::least_squares, MisfitKind::correlation,
                                MisfitKind::huber, MisfitKind::envelope}) {
    std::vector<double> derivative, ignored;
    shot_misfit({kind, 0.7}, shot, rows, derivative);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double h = 1e-5;
      auto up = rows, down = rows;
      up[i] += h;
      down[i] -= h;
      const double slope = (shot_misfit({kind, 0.7}, shot, up, ignored) -
                            shot_misfit({kind, 0.7}, shot, down, ignored)) /
                           (2.0 * h);
      EXPECT_NEAR(slope, derivative[i], 1e-9) << to_string(kind) << " " << i;
    }
  }
}

TEST(Misfit, TimesWithoutDataHaveNoWeight) {
  ObservedShot shot = random_shot(2, 100);
  shot.end_taper = 10.0 * shot.dt;
  const double last = 99.0 * shot.dt, weight = shot.weight(0, 95);
  EXPECT_GT(weight, 0.0);
  shot.data_begin = 29.5 * shot.dt;
  EXPECT_EQ(shot.weight(1, 29), 0.0);
  EXPECT_EQ(shot.weight(1, 30), 1.0);
  EXPECT_EQ(shot.weight(0, 95), weight);
  shot.data_end = 80.0 * shot.dt;  // where the final taper ends, too
  EXPECT_NEAR(shot.weight(0, 76), weight, 1e-9);
  EXPECT_EQ(shot.weight(0, 81), 0.0);
  EXPECT_GT(last, shot.data_end);
  const auto rows = random_rows(shot);
  for (const MisfitKind kind : {MisfitKind::least_squares, MisfitKind::correlation,
                                MisfitKind::huber, MisfitKind::envelope}) {
    std::vector<double> derivative;
    shot_misfit({kind}, shot, rows, derivative);
    for (std::size_t n = 0; n < 100; ++n) {
      if (n >= 30 && n <= 79) continue;
      EXPECT_EQ(derivative[2 * n], 0.0) << to_string(kind) << " " << n;
    }
  }
}

TEST(Misfit, CorrelationDoesNotSeeAmplitudes) {
  const ObservedShot shot = random_shot(2, 30);
  const auto rows = random_rows(shot);
  auto louder = rows;
  for (double& value : louder) value *= 7.0;
  std::vector<double> derivative;
  const MisfitOptions correlation{MisfitKind::correlation};
  EXPECT_NEAR(shot_misfit(correlation, shot, rows, derivative),
              shot_misfit(correlation, shot, louder, derivative), 1e-12);
  // for a multiple of the observed trace the misfit has its minimum, 0
  std::vector<double> same(rows.size());
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t n = 0; n < 30; ++n) {
      same[n * 2 + r] = 3.0 * static_cast<double>(shot.samples[r * 30 + n]);
    }
  }
  EXPECT_NEAR(shot_misfit(correlation, shot, same, derivative), 0.0, 1e-12);
  for (const double value : derivative) EXPECT_NEAR(value, 0.0, 1e-12);
}

// Wave packets of equal envelope and any phase have misfit 0. The misfit of a shifted packet
// increases with the shift, also beyond half a period: no cycle skipping.
TEST(Misfit, EnvelopeDoesNotSeePhases) {
  ObservedShot shot;
  shot.receivers = 1;
  shot.count = 400;
  shot.dt = 0.004;
  const auto packet = [&](double phase, double delay) {
    std::vector<double> samples;
    for (std::int64_t n = 0; n < shot.count; ++n) {
      const double t = static_cast<double>(n) * shot.dt - 0.8 - delay;
      samples.push_back(std::exp(-0.5 * t * t / (0.1 * 0.1)) *
                        std::cos(2.0 * pi * 15.0 * t + phase));
    }
    return samples;
  };
  const auto observed = packet(0.0, 0.0);
  shot.samples.assign(observed.begin(), observed.end());
  std::vector<double> derivative;
  const MisfitOptions envelope{MisfitKind::envelope};
  const double none = shot_misfit(envelope, shot, std::vector<double>(observed.size()), derivative);
  // 1/2 of the integral of exp(-t^2 / 0.1^2)
  EXPECT_NEAR(none, 0.5 * 0.1 * std::sqrt(pi), 0.01 * none);
  for (const double phase : {0.7, 1.6, pi}) {
    EXPECT_LT(shot_misfit(envelope, shot, packet(phase, 0.0), derivative), 1e-6 * none);
  }
  double before = 0.0;
  for (const double delay : {0.02, 0.04, 0.06, 0.08, 0.1}) {  // the period is 0.067 s
    const double f = shot_misfit(envelope, shot, packet(0.0, delay), derivative);
    EXPECT_GT(f, before) << delay;
    before = f;
  }
}

TEST(Misfit, WeightsByOffsetAreLinear) {
  const auto weights = parse_offset_weights("0:0,200:0.3,400:0.7,600:1");
  EXPECT_DOUBLE_EQ(offset_weight(weights, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(offset_weight(weights, 100.0), 0.15);
  EXPECT_DOUBLE_EQ(offset_weight(weights, 300.0), 0.5);
  EXPECT_DOUBLE_EQ(offset_weight(weights, 5000.0), 1.0);
  EXPECT_DOUBLE_EQ(offset_weight({}, 5.0), 1.0);
  for (const char* text : {"", "200", "0:0,x:1", "200:1,100:1", "-5:1", "0:-1", "0:1:2"}) {
    EXPECT_THAT(message_of([&] { parse_offset_weights(text); }), HasSubstr("allowed: DISTANCE"))
        << text;
  }
}

// The amplitude of a sine after the low-pass: 1 / sqrt(1 + (tan(pi f dt) / tan(pi f0 dt))^16).
TEST(Misfit, LowPassLeavesWhatItShould) {
  constexpr double dt = 0.002, corner = 8.0;
  constexpr std::int64_t count = 20000;
  for (const double frequency : {2.0, 6.0, 8.0, 12.0, 24.0}) {
    std::vector<double> samples(count);
    for (std::size_t n = 0; n < samples.size(); ++n) {
      samples[n] = std::sin(2.0 * pi * frequency * dt * static_cast<double>(n));
    }
    low_pass(samples, count, dt, corner);
    double max = 0.0;
    for (std::size_t n = samples.size() / 2; n < samples.size(); ++n) {
      max = std::max(max, std::fabs(samples[n]));
    }
    const double ratio = std::tan(pi * frequency * dt) / std::tan(pi * corner * dt);
    EXPECT_NEAR(max, 1.0 / std::sqrt(1.0 + std::pow(ratio, 16.0)), 2e-3) << frequency;
  }
  // the filter is causal and does not mix traces
  std::vector<double> traces(400, 0.0);
  traces[250] = 1.0;
  low_pass(traces, 200, dt, corner);
  for (std::size_t n = 0; n < 250; ++n) EXPECT_EQ(traces[n], 0.0);
  EXPECT_NE(traces[250], 0.0);
  EXPECT_THAT(message_of([&] { low_pass(traces, 200, dt, 300.0); }),
              HasSubstr("low-pass of 300 Hz for samples every 0.002 s (allowed: above 0 and"));
}

TEST(Misfit, DerivativesKnowTheTaperOfTheEnd) {
  for (const auto kind : {MisfitKind::least_squares, MisfitKind::correlation, MisfitKind::huber,
                          MisfitKind::envelope}) {
    ObservedShot shot = random_shot(2, 60);
    shot.end_taper = 0.1;
    const MisfitOptions options{kind, 1.0};
    std::vector<double> rows = random_rows(shot), derivative, ignored;
    shot_misfit(options, shot, rows, derivative);
    EXPECT_EQ(derivative[59 * 2], 0.0);  // of the last sample
    EXPECT_EQ(shot.weight(0, 30), 1.0);
    EXPECT_GT(std::fabs(derivative[30 * 2]), 0.0);
    for (const std::size_t i : {7U, 80U, 95U, 100U, 105U}) {
      const double h = 1e-5, there = rows[i];
      rows[i] = there + h;
      const double more = shot_misfit(options, shot, rows, ignored);
      rows[i] = there - h;
      const double less = shot_misfit(options, shot, rows, ignored);
      rows[i] = there;
      EXPECT_NEAR((more - less) / (2.0 * h), derivative[i], 1e-6) << to_string(kind) << ' ' << i;
    }
  }
}

TEST(Misfit, CorrelationLeavesSilentTracesOut) {
  ObservedShot shot = random_shot(2, 40);
  std::vector<double> rows = random_rows(shot), derivative;
  const double both = shot_misfit({MisfitKind::correlation, 1.0}, shot, rows, derivative);
  EXPECT_GT(std::fabs(derivative[1]), 0.0);
  for (std::size_t n = 40; n < 80; ++n) shot.samples[n] *= 1e-4f;
  const double one = shot_misfit({MisfitKind::correlation, 1.0}, shot, rows, derivative);
  EXPECT_GT(std::fabs(both - one), 1e-3);
  for (std::size_t n = 0; n < 40; ++n) {
    EXPECT_EQ(derivative[2 * n + 1], 0.0);
    EXPECT_NE(derivative[2 * n], 0.0);
  }
}

TEST(Misfit, RemovesFrequenciesThatAlias) {
  const double dt = 0.001, pass = 30.0, stop = 90.0;
  const auto largest = [&](double frequency) {
    std::vector<double> rows;  // two points, the second has the opposite sign
    for (int n = 0; n < 1000; ++n) {
      const double t = n * dt - 0.5;
      const double value = std::cos(2.0 * pi * frequency * t) * std::exp(-std::pow(t / 0.1, 2));
      rows.insert(rows.end(), {value, -value});
    }
    const std::vector<double> before = rows;
    remove_aliases(rows, 2, dt, pass, stop);
    double max = 0.0, change = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      max = std::max(max, std::fabs(rows[i]));
      change = std::max(change, std::fabs(rows[i] - before[i]));
      EXPECT_EQ(rows[i], -rows[i % 2 == 1 ? i - 1 : i + 1]);
    }
    return std::pair(max, change);
  };
  EXPECT_LT(largest(20.0).second, 1e-3);
  EXPECT_LT(largest(100.0).first, 1e-3);
  EXPECT_LT(largest(300.0).first, 2e-4);
  // rows without aliases are unchanged
  std::vector<float> rows{1.0f, -1.0f, 1.0f, -1.0f};
  const std::vector<float> same = rows;
  remove_aliases(rows, 1, dt, pass, 500.0);
  EXPECT_EQ(rows, same);
  // the last row remains zero
  rows.assign(200, 1.0f);
  rows.back() = 0.0f;
  remove_aliases(rows, 1, dt, pass, stop);
  EXPECT_NEAR(rows.back(), 0.0f, 1e-6f);
  EXPECT_THAT(message_of([&] { remove_aliases(rows, 1, dt, 90.0, 30.0); }),
              HasSubstr("filter from 90 to 30 Hz"));
}

TEST(Misfit, RefusesWhatMakesNoSense) {
  EXPECT_EQ(parse_misfit("huber"), MisfitKind::huber);
  EXPECT_EQ(parse_misfit("envelope"), MisfitKind::envelope);
  EXPECT_THAT(message_of([] { parse_misfit("l3"); }), HasSubstr("misfit 'l3' is unknown"));
  ObservedShot shot = random_shot(2, 10);
  shot.name = "shot 7";
  shot.weights = {1.0};
  EXPECT_THAT(message_of([&] { check_observed(shot); }),
              HasSubstr("shot 7: 20 samples, 1 weights"));
  shot.weights.clear();
  shot.samples[13] = std::nanf("");
  EXPECT_THAT(message_of([&] { check_observed(shot); }), HasSubstr("sample 3 of trace 2 is nan"));
  shot.samples[13] = 0.0f;
  check_observed(shot);
  shot.weights = {0.0, 0.0};
  EXPECT_THAT(message_of([&] { check_observed(shot); }),
              HasSubstr("shot 7: all samples that count are zero"));
  std::vector<double> derivative;
  EXPECT_THAT(message_of([&] { shot_misfit({}, shot, std::vector<double>(18), derivative); }),
              HasSubstr("there are 18 modelled samples of 2 traces (allowed: 10"));
}

}  // namespace
