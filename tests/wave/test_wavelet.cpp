// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Source time functions: their values, their spectra, and their textual descriptions.

#include <moho/wave/wavelet.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "refusals.hpp"

namespace {

using moho::testing::infinite;
using moho::testing::message_of;
using moho::testing::not_a_number;
using moho::wave::highest_frequency;
using moho::wave::make_wavelet;
using moho::wave::ormsby;
using moho::wave::parse_wavelet;
using moho::wave::resample;
using moho::wave::ricker;
using moho::wave::WaveletText;
using std::numbers::pi;
using ::testing::HasSubstr;

// Returns the amplitude of the Fourier integral at a frequency.
double amplitude(const std::vector<double>& samples, double dt, double f) {
  std::complex<double> sum = 0.0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    sum += samples[i] * std::polar(dt, -2.0 * pi * f * dt * static_cast<double>(i));
  }
  return std::abs(sum);
}

TEST(Ricker, HasItsPeakAtTheDelayAndQuietEnds) {
  const double f = 15.0, dt = 0.001;
  const std::vector<double> samples = ricker(f, dt);
  ASSERT_EQ(samples.size(), 201u);  // 3 / f
  EXPECT_EQ(std::max_element(samples.begin(), samples.end()) - samples.begin(), 100);
  EXPECT_NEAR(samples[100], 1.0, 1e-15);
  EXPECT_LT(std::fabs(samples.front()), 1.1e-8);
  EXPECT_LT(std::fabs(samples.back()), 1.1e-8);
  // troughs of -2 exp(-3/2) at sqrt(3/2) / (pi f) from the peak
  const double trough = std::sqrt(1.5) / (pi * f);
  EXPECT_NEAR(*std::min_element(samples.begin(), samples.end()), -2.0 * std::exp(-1.5), 1e-3);
  EXPECT_NEAR(samples[static_cast<std::size_t>(std::lround((0.1 - trough) / dt))],
              -2.0 * std::exp(-1.5), 1e-3);
}

TEST(Ricker, WithADelay) {
  const std::vector<double> samples = ricker(10.0, 0.002, 0.3);
  ASSERT_EQ(samples.size(), 226u);
  EXPECT_NEAR(samples[150], 1.0, 1e-14);
  EXPECT_EQ(ricker(10.0, 0.002, 0.0).front(), 1.0);
}

TEST(Ricker, SpectrumIsTheAnalyticOne) {
  const double f0 = 20.0, dt = 0.001;
  const std::vector<double> samples = ricker(f0, dt);
  for (const double f : {2.0, 10.0, 20.0, 35.0, 48.0, 60.0}) {
    const double expected =
        2.0 * f * f / (std::sqrt(pi) * f0 * f0 * f0) * std::exp(-f * f / (f0 * f0));
    EXPECT_NEAR(amplitude(samples, dt, f), expected, 1e-9) << f;
  }
}

TEST(HighestFrequency, OfARickerWavelet) {
  // y exp(1 - y) = 0.05 with y = (f / f0)^2, by fixed-point iteration
  double y = 5.0;
  for (int i = 0; i < 100; ++i) y = 1.0 + std::log(y) - std::log(0.05);
  for (const double f0 : {5.0, 15.0, 40.0}) {
    for (const double dt : {0.0005, 0.002, 0.004}) {
      const double found = highest_frequency(ricker(f0, dt), dt);
      EXPECT_NEAR(found, std::sqrt(y) * f0, 0.005 * found) << f0 << ' ' << dt;
      EXPECT_LT(found, 2.4 * f0);
    }
  }
}

TEST(HighestFrequency, OfASpikeIsThatOfNyquist) {
  EXPECT_DOUBLE_EQ(highest_frequency({1.0}, 0.002), 250.0);
  EXPECT_DOUBLE_EQ(highest_frequency({0.0, 0.0, -3.0, 0.0}, 0.004), 125.0);
}

TEST(HighestFrequency, DependsOnTheLevel) {
  const std::vector<double> samples = ricker(20.0, 0.001);
  double y = 4.0;
  for (int i = 0; i < 100; ++i) y = 1.0 + std::log(y) - std::log(0.5);
  EXPECT_NEAR(highest_frequency(samples, 0.001, 0.5), 20.0 * std::sqrt(y), 0.2);
}

TEST(Ormsby, SpectrumIsATrapezium) {
  const double dt = 0.002;
  const std::vector<double> samples = ormsby({5.0, 15.0, 40.0, 60.0}, dt, 1.0);
  const double flat = amplitude(samples, dt, 27.0);
  for (const double f : {18.0, 22.0, 33.0, 37.0}) {
    EXPECT_NEAR(amplitude(samples, dt, f) / flat, 1.0, 2e-3) << f;
  }
  EXPECT_NEAR(amplitude(samples, dt, 10.0) / flat, 0.5, 2e-3);
  EXPECT_NEAR(amplitude(samples, dt, 50.0) / flat, 0.5, 2e-3);
  for (const double f : {0.0, 2.0, 63.0, 80.0, 200.0}) {
    EXPECT_LT(amplitude(samples, dt, f) / flat, 2e-3) << f;
  }
  EXPECT_NEAR(highest_frequency(samples, dt), 59.0, 0.5);
}

TEST(Ormsby, IsSymmetricWithItsPeakAtTheDelay) {
  const double dt = 0.001;
  const std::vector<double> samples = ormsby({5.0, 10.0, 40.0, 50.0}, dt);
  ASSERT_EQ(samples.size(), 801u);  // twice 2 / 5 Hz
  EXPECT_NEAR(samples[400], 1.0, 1e-14);
  for (std::size_t i = 0; i < 400; ++i) EXPECT_NEAR(samples[i], samples[800 - i], 1e-12);
  EXPECT_LT(std::fabs(samples.front()), 1e-15);
  const std::vector<double> later = ormsby({0.0, 10.0, 10.0, 50.0}, dt, 0.6);
  EXPECT_EQ(std::max_element(later.begin(), later.end()) - later.begin(), 600);
}

TEST(Resample, ToAFinerInterval) {
  const std::vector<double> coarse = ricker(20.0, 0.004);
  for (const double dt : {0.001, 0.0007, 0.00333}) {
    const std::vector<double> found = resample(coarse, 0.004, dt), expected = ricker(20.0, dt);
    ASSERT_LE(found.size(), expected.size());
    EXPECT_GT(static_cast<double>(found.size()) * dt, 0.145);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-7) << dt << ' ' << i;
    }
  }
}

TEST(Resample, UpToEightTenthsOfNyquist) {
  // a tone of 0.78 Nyquist under an envelope narrow enough to stay below 0.8
  const double interval = 0.004, f = 97.5;
  const auto tone = [&](double t) {
    return std::cos(2.0 * pi * f * (t - 2.0)) * std::exp(-std::pow((t - 2.0) / 0.4, 2));
  };
  std::vector<double> samples;
  for (int i = 0; i <= 1000; ++i) samples.push_back(tone(i * interval));
  const std::vector<double> found = resample(samples, interval, 0.0013);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], tone(static_cast<double>(i) * 0.0013), 1e-7) << i;
  }
}

TEST(Resample, TheSameIntervalGivesTheSameSamples) {
  const std::vector<double> samples = ricker(20.0, 0.002);
  EXPECT_EQ(resample(samples, 0.002, 0.002), samples);
  const std::vector<double> half = resample(samples, 0.002, 0.004);
  ASSERT_EQ(half.size(), (samples.size() + 1) / 2);
  for (std::size_t i = 0; i < half.size(); ++i) EXPECT_EQ(half[i], samples[2 * i]);
}

TEST(WaveletInput, Ricker) {
  for (const double f : {0.0, -15.0, not_a_number, infinite}) {
    EXPECT_THAT(message_of([&] { ricker(f, 0.001); }),
                HasSubstr(moho::concat("wavelet: the frequency is ", f, " Hz (allowed: positive")));
  }
  for (const double dt : {0.0, -0.001, not_a_number, infinite}) {
    EXPECT_THAT(message_of([&] { ricker(15.0, dt); }),
                HasSubstr(moho::concat("wavelet: dt is ", dt, " s (allowed: positive")));
  }
  EXPECT_THAT(message_of([] { ricker(15.0, 0.001, not_a_number); }),
              HasSubstr("the delay is nan s"));
  EXPECT_EQ(message_of([] { ricker(25.0, 0.01); }),
            "wavelet: dt is 0.01 s, too coarse for frequencies up to 60 Hz (allowed: up to "
            "0.008333333333 s, half their period): take a smaller dt or lower frequencies");
  EXPECT_EQ(message_of([] { ricker(25.0, 1.0 / 120.0); }), "no exception");
  EXPECT_THAT(message_of([] { ricker(15.0, 1e-3, 1e9); }),
              HasSubstr("it would have 1e+12 samples"));
  // the step of a velocity of 1e9 m/s on nodes 10 m apart
  EXPECT_THAT(
      message_of([] { ricker(15.0, 5e-9); }),
      HasSubstr("it would have 40000001 samples of 5e-09 s (allowed: 2000000 samples): take "
                "a shorter delay, higher frequencies or a larger dt, and check the "
                "velocities"));
}

TEST(WaveletInput, Ormsby) {
  const std::vector<std::array<double, 4>> wrong = {
      {10.0, 5.0, 40.0, 50.0},    {-1.0, 5.0, 40.0, 50.0}, {5.0, 5.0, 40.0, 50.0},
      {5.0, 10.0, 50.0, 50.0},    {5.0, 10.0, 9.0, 50.0},  {5.0, not_a_number, 40.0, 50.0},
      {5.0, 10.0, 40.0, infinite}};
  for (const auto& corners : wrong) {
    EXPECT_THAT(message_of([&] { ormsby(corners, 0.001); }),
                HasSubstr(moho::concat("the corners are ", corners[0], ", ", corners[1], ", ",
                                       corners[2], ", ", corners[3], " Hz (allowed: 0 <= f1")));
  }
  EXPECT_THAT(message_of([] {
                ormsby({5.0, 10.0, 40.0, 50.0}, 0.011);
              }),
              HasSubstr("too coarse for frequencies up to 50 Hz (allowed: up to 0.01 s"));
  EXPECT_THAT(message_of([] {
                ormsby({5.0, 10.0, 40.0, 50.0}, 0.001, 0.0);
              }),
              HasSubstr("the delay is 0 s"));
}

TEST(WaveletInput, Samples) {
  EXPECT_THAT(message_of([] { resample({}, 0.004, 0.001); }), HasSubstr("there is no sample"));
  EXPECT_THAT(message_of([] {
                resample({0.0, 0.0}, 0.004, 0.001);
              }),
              HasSubstr("all samples are zero"));
  EXPECT_THAT(message_of([] {
                resample({0.0, 1.0, not_a_number}, 0.004, 0.001);
              }),
              HasSubstr("sample 2 is nan (allowed: finite numbers)"));
  EXPECT_THAT(message_of([] { resample({1.0}, 0.0, 0.001); }),
              HasSubstr("the interval of the samples is 0 s"));
  EXPECT_THAT(message_of([] { resample({1.0}, 0.004, not_a_number); }), HasSubstr("dt is nan s"));
  EXPECT_THAT(message_of([] { resample(ricker(40.0, 0.004), 0.004, 0.008); }),
              HasSubstr("dt is 0.008 s, too coarse for frequencies up to 95."));
  EXPECT_THAT(message_of([] { highest_frequency({}, 0.004); }), HasSubstr("there is no sample"));
  EXPECT_THAT(message_of([] { highest_frequency({1.0}, -1.0); }), HasSubstr("dt is -1 s"));
  EXPECT_THAT(message_of([] { highest_frequency({1.0}, 0.001, 1.0); }),
              HasSubstr("the level is 1"));
}

TEST(WaveletText, Ricker) {
  WaveletText text = parse_wavelet(" ricker:15 ");
  EXPECT_EQ(text.kind, WaveletText::Kind::ricker);
  EXPECT_EQ(text.frequency, 15.0);
  EXPECT_EQ(make_wavelet(text, 0.001), ricker(15.0, 0.001));
  text = parse_wavelet("ricker: 12.5 : 0.1");
  EXPECT_EQ(text.frequency, 12.5);
  EXPECT_EQ(text.delay, 0.1);
  EXPECT_EQ(make_wavelet(text, 0.001), ricker(12.5, 0.001, 0.1));
}

TEST(WaveletText, Ormsby) {
  WaveletText text = parse_wavelet("ormsby:5,10, 40,50");
  EXPECT_EQ(text.kind, WaveletText::Kind::ormsby);
  EXPECT_EQ(make_wavelet(text, 0.001), ormsby({5.0, 10.0, 40.0, 50.0}, 0.001));
  text = parse_wavelet("ormsby:5,10,40,50:0.3");
  EXPECT_EQ(make_wavelet(text, 0.001), ormsby({5.0, 10.0, 40.0, 50.0}, 0.001, 0.3));
}

TEST(WaveletText, Files) {
  WaveletText text = parse_wavelet("file:shots/air gun.csv");
  EXPECT_EQ(text.kind, WaveletText::Kind::file);
  EXPECT_EQ(text.path, "shots/air gun.csv");
  EXPECT_EQ(text.interval, 0.0);
  text = parse_wavelet("file:a:b.csv:0.002");
  EXPECT_EQ(text.path, "a:b.csv");
  EXPECT_EQ(text.interval, 0.002);
  EXPECT_EQ(parse_wavelet("wavelet.csv").path, "wavelet.csv");
  EXPECT_EQ(parse_wavelet("./a:b.csv").path, "./a:b.csv");
  EXPECT_THAT(message_of([&] { make_wavelet(text, 0.001); }),
              HasSubstr("wavelet 'a:b.csv': it is a file"));
}

TEST(WaveletText, RefusesOthers) {
  const auto message = [](const std::string& text) {
    return message_of([&] { parse_wavelet(text); });
  };
  EXPECT_EQ(message("ricker:fast"),
            "wavelet 'ricker:fast': the frequency 'fast' is not a number (allowed: "
            "ricker:FREQUENCY[:DELAY], ormsby:F1,F2,F3,F4[:DELAY], file:PATH[:INTERVAL], or a "
            "path)");
  EXPECT_THAT(message("ricker"), HasSubstr("the frequency '' is not a number"));
  EXPECT_THAT(message("ricker:"), HasSubstr("the frequency '' is not a number"));
  EXPECT_THAT(message("ricker:15Hz"), HasSubstr("the frequency '15Hz' is not a number"));
  EXPECT_THAT(message("ricker:nan"), HasSubstr("the frequency 'nan' is not a number"));
  EXPECT_THAT(message("ricker:-3"), HasSubstr("the frequency is -3, which is not positive"));
  EXPECT_THAT(message("ricker:15:x"), HasSubstr("the delay 'x' is not a number"));
  EXPECT_THAT(message("ricker:15:-1"), HasSubstr("the delay -1 is negative"));
  EXPECT_THAT(message("ricker:15:0.1:3"), HasSubstr("there is too much"));
  EXPECT_THAT(message("ormsby:5,10,40"), HasSubstr("the number of corners is 3"));
  EXPECT_THAT(message("ormsby"), HasSubstr("the number of corners is 0"));
  EXPECT_THAT(message("ormsby:5,10,,50"), HasSubstr("the corner '' is not a number"));
  EXPECT_THAT(message("gabor:15"), HasSubstr("there is no kind 'gabor'"));
  EXPECT_THAT(message("15"),
              HasSubstr("wavelet '15': a number has no kind: did you mean ricker:15?"));
  EXPECT_THAT(message("file:"), HasSubstr("the path is missing"));
  EXPECT_THAT(message("file:a.csv:-1"), HasSubstr("the interval -1 is not positive"));
  EXPECT_THAT(message("  "), HasSubstr("there is nothing"));
}

}  // namespace
