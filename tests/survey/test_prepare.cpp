// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Preparation of traces: resampling against sampled functions, mutes against known times of events,
// spreading against Green's functions.

#include "io/files.hpp"
#include "spaces.hpp"

#include <moho/survey/first_arrivals.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace {

using namespace moho;
using namespace moho::survey;
using io::test::message_of;
using std::numbers::pi;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Samples of a function of time at each receiver.
ShotGather<2> gather_of(const std::vector<double>& offsets, std::int64_t count, double dt,
                        double t0, const std::function<double(double offset, double t)>& signal) {
  ShotGather<2> gather;
  gather.shot.number = 3;
  gather.shot.sources = {Point<2>{0.0, 0.0}};
  gather.count = count;
  gather.dt = dt;
  gather.t0 = t0;
  for (const double offset : offsets) {
    gather.shot.receivers.push_back(Point<2>{offset, 0.0});
    for (std::int64_t i = 0; i < count; ++i) {
      gather.samples.push_back(
          static_cast<float>(signal(offset, t0 + static_cast<double>(i) * dt)));
    }
  }
  return gather;
}

PrepareOptions steps(double dt, std::int64_t samples) {
  PrepareOptions options;
  options.dt = dt;
  options.samples = samples;
  return options;
}

/// A Ricker wavelet about time zero.
double pulse(double frequency, double t) {
  const double a = pi * frequency * t;
  return (1.0 - 2.0 * a * a) * std::exp(-a * a);
}

TEST(Prepare, CopiesSamplesThatAreOnSteps) {
  const ShotGather<2> gather =
      gather_of({100.0, 200.0}, 50, 0.002, 0.0, [](double x, double t) { return x * t + 1.0; });
  const PreparedShot<2> same = prepare(gather, steps(0.002, 50));
  EXPECT_EQ(same.samples, gather.samples);
  EXPECT_THAT(same.notes, IsEmpty());
  EXPECT_EQ(same.count, 50);
  EXPECT_EQ(same.dt, 0.002);
  EXPECT_EQ(same.scale, 1.0);
  EXPECT_EQ(same.adjoint_scale, 1.0);
  EXPECT_EQ(same.shot.receivers.size(), 2U);
  // with half the data's interval every second step is at a sample
  const PreparedShot<2> finer = prepare(gather, steps(0.001, 99));
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(finer.samples[2 * i], gather.samples[i]);
  EXPECT_EQ(finer.adjoint_scale, 0.5);
}

TEST(Prepare, ResamplesSinesExactly) {
  // 4 ms to 1.5 ms, first sample between steps; frequencies up to 0.8 of the Nyquist, 125 Hz
  const double interval = 0.004, dt = 0.0015, t0 = -0.0371;
  std::vector<double> frequencies{3.0, 17.0, 40.0, 77.0, 100.0};
  const ShotGather<2> gather = gather_of(frequencies, 400, interval, t0, [](double f, double t) {
    return std::sin(2.0 * pi * f * t + 0.3);
  });
  const PreparedShot<2> fine = prepare(gather, steps(dt, 900));
  for (std::size_t r = 0; r < frequencies.size(); ++r) {
    for (std::size_t n = 0; n < 900; ++n) {
      const double t = static_cast<double>(n) * dt;
      // 32 samples from the ends all samples of the interpolation exist
      if (t < t0 + 33 * interval || t > t0 + 366 * interval) continue;
      // error 1e-7 of resample(), and rounding of samples to single precision
      EXPECT_NEAR(fine.samples[r * 900 + n], std::sin(2.0 * pi * frequencies[r] * t + 0.3), 5e-7)
          << frequencies[r] << " Hz, " << t << " s";
    }
  }
  EXPECT_DOUBLE_EQ(fine.adjoint_scale, 0.375);
  EXPECT_THAT(fine.notes, Contains("resampled from 4 ms to 1.5 ms"));
}

/// Returns the largest magnitude of a trace's samples between two times.
double largest(const PreparedShot<2>& shot, std::size_t trace, double from, double to) {
  double result = 0.0;
  for (std::int64_t n = 0; n < shot.count; ++n) {
    const double t = static_cast<double>(n) * shot.dt;
    if (t < from || t > to) continue;
    const auto at = trace * static_cast<std::size_t>(shot.count) + static_cast<std::size_t>(n);
    result = std::max(result, std::fabs(static_cast<double>(shot.samples[at])));
  }
  return result;
}

TEST(Prepare, LowPassKeepsWhatTheGridCarries) {
  const std::vector<double> frequencies{5.0, 20.0, 30.0, 37.5, 60.0, 200.0};
  const ShotGather<2> gather = gather_of(
      frequencies, 2000, 0.002, 0.0, [](double f, double t) { return std::sin(2.0 * pi * f * t); });
  PrepareOptions options = steps(0.0013, 3000);
  options.highest = 30.0;
  const PreparedShot<2> shot = prepare(gather, options);
  EXPECT_THAT(shot.notes, ElementsAre(HasSubstr("frequencies up to 30 Hz stay, those above 37.5 Hz "
                                                "go"),
                                      HasSubstr("the rest is cut off")));
  // the filter extends 10 / (pi 0.25 30 Hz) = 0.42 s; it attenuates by 100 dB
  for (std::size_t r = 0; r < frequencies.size(); ++r) {
    for (std::size_t n = 400; n < 2600; ++n) {
      const double t = static_cast<double>(n) * 0.0013;
      const double expected = r < 3 ? std::sin(2.0 * pi * frequencies[r] * t) : 0.0;
      EXPECT_NEAR(shot.samples[r * 3000 + n], expected, 3e-5) << frequencies[r] << " Hz, " << t;
    }
  }
  options.dt = gather.dt;  // the samples of the run
  options.highest = 33.33333333;
  EXPECT_THAT(prepare(gather, options).notes,
              ElementsAre("low-pass: frequencies up to 33.33 Hz stay, those above 41.67 Hz go",
                          HasSubstr("zeros follow")));
  options.dt = 0.0013;
  // if the grid carries higher frequencies than the data have, no low-pass is applied
  options.highest = 240.0;
  EXPECT_THAT(prepare(gather, options).notes, Not(Contains(HasSubstr("low-pass"))));
}

TEST(Prepare, LongStepsDoNotAlias) {
  const std::vector<double> frequencies{79.0, 101.0, 180.0};
  const ShotGather<2> gather = gather_of(
      frequencies, 2000, 0.002, 0.0, [](double f, double t) { return std::sin(2.0 * pi * f * t); });
  const PreparedShot<2> shot = prepare(gather, steps(0.005, 700));  // 100 Hz
  for (std::size_t n = 100; n < 600; ++n) {
    EXPECT_NEAR(shot.samples[n], std::sin(2.0 * pi * 79.0 * 0.005 * static_cast<double>(n)), 3e-5);
  }
  EXPECT_LT(largest(shot, 1, 0.5, 3.0), 3e-5);
  EXPECT_LT(largest(shot, 2, 0.5, 3.0), 3e-5);
}

TEST(Prepare, PutsDataOnTheTimeOfTheRun) {
  // an event 0.8 s after the shot, its largest sample there; recording began 0.3 s after the shot
  const double f = 20.0;
  const ShotGather<2> gather =
      gather_of({100.0}, 500, 0.002, 0.3, [&](double, double t) { return pulse(f, t - 0.8); });
  PrepareOptions options = steps(0.001, 1501);
  const std::vector<double> wavelet = wave::ricker(f, options.dt);
  options.wavelet = wavelet_times(wavelet, options.dt);
  EXPECT_NEAR(options.wavelet.peak, 1.5 / f, 1e-12);
  for (const WaveletZero zero : {WaveletZero::start, WaveletZero::peak}) {
    options.zero = zero;
    const PreparedShot<2> shot = prepare(gather, options);
    // the wavelet of the run has its peak 1.5 / f after time zero
    const double expected = zero == WaveletZero::peak ? 0.8 + 1.5 / f : 0.8;
    for (std::size_t n = 0; n < 1501; ++n) {
      const double t = static_cast<double>(n) * options.dt;
      EXPECT_NEAR(shot.samples[n], pulse(f, t - expected), 1e-6) << t;
    }
    EXPECT_EQ(shot.notes.size(), zero == WaveletZero::peak ? 3U : 2U);
  }
}

TEST(Prepare, SaysWhereDataEndBeforeOrAfterTheRun) {
  const ShotGather<2> gather = gather_of({0.0}, 101, 0.01, 0.0, [](double, double) { return 1.0; });
  const PreparedShot<2> longer = prepare(gather, steps(0.01, 151));
  EXPECT_THAT(longer.notes, ElementsAre("data end at 1 s, the run at 1.5 s: zeros follow"));
  EXPECT_EQ(longer.samples[100], 1.0F);
  EXPECT_EQ(longer.samples[101], 0.0F);
  const PreparedShot<2> shorter = prepare(gather, steps(0.01, 51));
  EXPECT_THAT(shorter.notes,
              ElementsAre("data go on to 1 s, the run ends at 0.5 s: the rest is cut off"));
  EXPECT_EQ(shorter.samples.size(), 51U);
  PrepareOptions options = steps(0.01, 151);
  options.end_taper = 0.2;
  const PreparedShot<2> tapered = prepare(gather, options);
  EXPECT_EQ(tapered.samples[79], 1.0F);
  EXPECT_NEAR(tapered.samples[90], 0.5, 1e-6);
  EXPECT_NEAR(tapered.samples[85] + tapered.samples[95], 1.0, 1e-6);
  EXPECT_NEAR(tapered.samples[100], 0.0, 1e-6);
  // data as long as the run, or longer, also end smoothly
  for (const std::int64_t samples : {101, 61}) {
    options.samples = samples;
    const PreparedShot<2> whole = prepare(gather, options);
    const auto last = static_cast<std::size_t>(samples) - 1;
    EXPECT_EQ(whole.samples[last - 21], 1.0F) << samples;
    EXPECT_NEAR(whole.samples[last - 10], 0.5, 1e-6) << samples;
    EXPECT_NEAR(whole.samples[last], 0.0, 1e-6) << samples;
  }
}

/// Direct wave at 2000 m/s and reflection from a depth of 600 m.
///
/// The wavelet has its peak `peak` seconds after the shot.
struct Events {
  double frequency = 25.0, peak = 0.0, velocity = 2000.0, depth = 600.0;
  double direct(double x, double t) const {
    return 20.0 * pulse(frequency, t - std::fabs(x) / velocity - peak);
  }
  double reflection(double x, double t) const {
    return pulse(frequency, t - std::hypot(x, 2.0 * depth) / velocity - peak);
  }
};

TEST(Prepare, MuteRemovesTheDirectWaveAndKeepsReflections) {
  const std::vector<double> offsets{0.0, 50.0, 300.0, -700.0};
  PrepareOptions options = steps(0.001, 1201);
  for (const WaveletZero zero : {WaveletZero::start, WaveletZero::peak}) {
    const Events events;
    options.wavelet = wavelet_times(wave::ricker(events.frequency, options.dt), options.dt);
    options.zero = zero;
    const double peak = zero == WaveletZero::start ? options.wavelet.peak : 0.0;
    const ShotGather<2> both = gather_of(offsets, 600, 0.002, 0.0, [&](double x, double t) {
      return events.direct(x, t - peak) + events.reflection(x, t - peak);
    });
    const ShotGather<2> wanted = gather_of(offsets, 600, 0.002, 0.0, [&](double x, double t) {
      return events.reflection(x, t - peak);
    });
    const PreparedShot<2> reflections = prepare(wanted, options);
    for (const bool by_arrivals : {false, true}) {
      PrepareOptions muted = options;
      muted.mute.kind = by_arrivals ? MuteOptions::Kind::arrivals : MuteOptions::Kind::velocity;
      muted.mute.velocity = events.velocity;
      std::vector<double> arrivals;
      for (const double x : offsets) arrivals.push_back(std::fabs(x) / events.velocity);
      const PreparedShot<2> shot = prepare(both, muted, arrivals);
      EXPECT_THAT(shot.notes, Contains(HasSubstr(by_arrivals ? "first arrivals of the model"
                                                             : "straight ways at 2000 m/s")));
      // a thousandth of the direct wave, of amplitude 20, may remain at the end of the wavelet
      double difference = 0.0;
      for (std::size_t i = 0; i < shot.samples.size(); ++i) {
        difference = std::max(difference, std::fabs(static_cast<double>(shot.samples[i]) -
                                                    static_cast<double>(reflections.samples[i])));
      }
      EXPECT_LT(difference, 20.0 * 1e-3);
      // the reflections remain
      for (std::size_t r = 0; r < offsets.size(); ++r) EXPECT_GT(largest(shot, r, 0.0, 1.2), 0.99);
    }
  }
}

TEST(Prepare, MuteIsACosineAfterTheArrival) {
  const ShotGather<2> gather =
      gather_of({0.0, 1000.0}, 101, 0.01, 0.0, [](double, double) { return 1.0; });
  PrepareOptions options = steps(0.01, 101);
  options.mute = parse_mute("velocity:5000:0.1:0.2");
  const PreparedShot<2> shot = prepare(gather, options);
  for (std::size_t r = 0; r < 2; ++r) {
    const double from = r == 0 ? 0.1 : 0.3;
    for (std::size_t n = 0; n < 101; ++n) {
      const double u = std::clamp((static_cast<double>(n) * 0.01 - from) / 0.2, 0.0, 1.0);
      EXPECT_NEAR(shot.samples[r * 101 + n], 0.5 - 0.5 * std::cos(pi * u), 1e-6) << r << " " << n;
    }
  }
  options.mute = parse_mute("velocity:5000:0.105:0");
  const PreparedShot<2> hard = prepare(gather, options);
  EXPECT_EQ(hard.samples[10], 0.0F);
  EXPECT_EQ(hard.samples[11], 1.0F);
  EXPECT_EQ(hard.samples[101 + 30], 0.0F);
  EXPECT_EQ(hard.samples[101 + 31], 1.0F);
}

TEST(Prepare, GainIsAPowerOfTheTimeSinceTheShot) {
  const ShotGather<2> gather = gather_of({0.0}, 101, 0.01, 0.0, [](double, double) { return 1.0; });
  PrepareOptions options = steps(0.01, 101);
  options.spreading = parse_spreading("gain:2");
  const PreparedShot<2> shot = prepare(gather, options);
  EXPECT_EQ(shot.samples[0], 0.0F);
  EXPECT_NEAR(shot.samples[50], 0.25, 1e-6);
  // time zero of the shot is at the wavelet's peak
  options.zero = WaveletZero::peak;
  options.wavelet.peak = 0.1;
  EXPECT_NEAR(prepare(gather, options).samples[60], 0.25, 1e-6);
}

TEST(Prepare, TheSpreadingOfPointSourcesIsNotForDataOfTwoDimensions) {
  ShotGather<2> gather = gather_of({0.0}, 101, 0.01, 0.0, [](double, double) { return 1.0; });
  PrepareOptions options = steps(0.01, 101);
  const auto noted = Contains(HasSubstr("the spreading 'line' is for point sources in three"));
  for (const bool modelled : {false, true}) {
    gather.two_dimensional = modelled;
    for (const char* text : {"line", "line:2000", "gain:0.5", "none"}) {
      options.spreading = parse_spreading(text);
      const auto notes = prepare(gather, options).notes;
      if (modelled && options.spreading.line) {
        EXPECT_THAT(notes, noted) << text;
      } else {
        EXPECT_THAT(notes, Not(noted)) << text;
      }
    }
  }
}

TEST(Prepare, HalfDerivatives) {
  // three traces: the Ricker wavelet at 0.7 s, at 0.8 s times -2, and silence
  const double dt = 0.001, f = 20.0;
  constexpr std::size_t count = 2000;
  std::vector<float> traces(3 * count);
  for (std::size_t n = 0; n < count; ++n) {
    const double t = static_cast<double>(n) * dt;
    traces[n] = static_cast<float>(pulse(f, t - 0.7));
    traces[count + n] = static_cast<float>(-2.0 * pulse(f, t - 0.8));
  }
  std::vector<float> twice = traces, back = traces;
  const auto half = [&](std::vector<float>& values, int order) {
    survey::detail::half_derivatives(values.data(), 3, count, dt, order);
  };
  half(twice, 1);
  half(twice, 1);
  half(back, 1);
  half(back, -1);
  const auto derivative = [&](double t) {
    const double a = pi * f;
    return (4.0 * a * a * a * a * t * t * t - 6.0 * a * a * t) * std::exp(-a * a * t * t);
  };
  const double max = 2.0 * pi * f;  // approximate maximum of the derivative
  for (std::size_t n = 300; n < 1200; ++n) {
    const double t = static_cast<double>(n) * dt;
    // each half derivative loses its values after the end of the trace
    EXPECT_NEAR(twice[n], derivative(t - 0.7), 1e-4 * max);
    EXPECT_NEAR(twice[count + n], -2.0 * derivative(t - 0.8), 2e-4 * max);
    EXPECT_EQ(twice[2 * count + n], 0.0F);
    EXPECT_NEAR(back[n], traces[n], 1e-4);
    EXPECT_NEAR(back[count + n], traces[count + n], 2e-4);
  }
}

TEST(Prepare, MakesLineSourcesOfPoints) {
  // point: S(t - r / v) / (4 pi r); line: 1 / (2 pi) integral of S(t - u) / sqrt(u^2 - (r / v)^2)
  const double f = 20.0, v = 2000.0, r = 2000.0, t0 = r / v, delay = 1.5 / f;
  const auto wavelet = [&](double t) { return pulse(f, t - delay); };
  const ShotGather<2> point = gather_of({r}, 801, 0.002, 0.0, [&](double x, double t) {
    return 1e3 * pulse(f, t - x / v) / (4.0 * pi * x);
  });
  PrepareOptions options = steps(0.002, 801);
  options.zero = WaveletZero::peak;
  options.wavelet.peak = delay;
  options.spreading = parse_spreading("line:2000");
  const PreparedShot<2> line = prepare(point, options);
  double difference = 0.0, norm = 0.0;
  for (std::size_t n = 480; n < 640; ++n) {
    const double t = static_cast<double>(n) * 0.002;
    // u = t0 cosh(a): the integral of S(t - t0 cosh(a)) da
    double sum = 0.0;
    const double end = t > t0 ? std::acosh(t / t0) : 0.0;
    const int parts = 4000;
    for (int k = 0; k < parts; ++k) {
      sum += wavelet(t - t0 * std::cosh(end * (k + 0.5) / parts)) * end / parts;
    }
    const double expected = 1e3 * sum / (2.0 * pi);
    const double found = static_cast<double>(line.samples[n]);
    difference += (found - expected) * (found - expected);
    norm += expected * expected;
  }
  // at 20 wavelengths the kernels differ by sqrt((t + t0) / (2 t0)): 1 + 0.025 / 4 after half a
  // period; the half power of t varies by +-0.025 / 2 over the wavelet
  EXPECT_LT(std::sqrt(difference / norm), 0.02);
}

TEST(Prepare, Normalises) {
  const ShotGather<2> gather = gather_of({0.0, 1.0}, 200, 0.002, 0.0, [](double x, double t) {
    return 1e7 * (1.0 + x) * std::sin(60.0 * t);
  });
  PrepareOptions options = steps(0.002, 200);
  const PreparedShot<2> as_is = prepare(gather, options);
  options.normalise = true;
  const PreparedShot<2> shot = prepare(gather, options);
  double sum = 0.0;
  for (const float value : shot.samples) sum += static_cast<double>(value) * value;
  EXPECT_NEAR(std::sqrt(sum / 400.0), 1.0, 1e-6);
  EXPECT_EQ(as_is.scale, 1.0);
  EXPECT_EQ(as_is.rms, shot.rms);
  EXPECT_DOUBLE_EQ(shot.scale * shot.rms, 1.0);
  EXPECT_NEAR(shot.samples[150] / shot.scale, as_is.samples[150], 1e-6 * shot.rms);
  EXPECT_THAT(shot.notes, Contains(HasSubstr("root mean square of the shot")));
  // zeros remain zeros
  const ShotGather<2> silent = gather_of({0.0}, 20, 0.002, 0.0, [](double, double) { return 0.0; });
  EXPECT_EQ(prepare(silent, steps(0.002, 20)).rms, 0.0);
  options.samples = 20;
  EXPECT_EQ(prepare(silent, options).scale, 1.0);
}

TEST(Prepare, TimesItsScaleIsTheAdjointOfSampling) {
  // u is sampled at the interval of the data d by R; P is the preparation: <R u, d> = <u, s P d>
  const double dt = 0.0015, interval = 0.004;
  const auto u = [](double t) { return pulse(22.0, t - 0.61); };
  const auto d = [](double t) { return pulse(15.0, t - 0.6); };
  const ShotGather<2> data =
      gather_of({0.0}, 300, interval, 0.0, [&](double, double t) { return d(t); });
  const PreparedShot<2> back = prepare(data, steps(dt, 800));
  double sampled = 0.0, at_steps = 0.0;
  for (int i = 0; i < 300; ++i) sampled += u(i * interval) * static_cast<double>(data.samples[i]);
  for (int n = 0; n < 800; ++n) {
    at_steps += u(n * dt) * back.adjoint_scale * static_cast<double>(back.samples[n]);
  }
  EXPECT_NEAR(at_steps, sampled, 1e-6 * std::fabs(sampled));
}

TEST(Prepare, TakesShotsWithoutTraces) {
  const ShotGather<2> none = gather_of({}, 100, 0.002, 0.0, [](double, double) { return 0.0; });
  PrepareOptions options = steps(0.001, 300);
  options.normalise = true;
  options.mute = parse_mute("arrivals:0.1:0.1");
  const PreparedShot<2> shot = prepare(none, options);
  EXPECT_TRUE(shot.samples.empty());
  EXPECT_EQ(shot.count, 300);
}

TEST(Prepare, RefusesWhatMakesNoSense) {
  const ShotGather<2> gather =
      gather_of({0.0, 10.0}, 20, 0.002, 0.0, [](double, double t) { return t; });
  const auto refusal = [&](const std::function<void(PrepareOptions&)>& change,
                           const std::vector<double>& arrivals = {}) {
    PrepareOptions options = steps(0.001, 30);
    change(options);
    return message_of<InputError>([&] { (void)prepare(gather, options, arrivals); });
  };
  using O = PrepareOptions;
  EXPECT_THAT(refusal([](O& o) { o.dt = 0.0; }), HasSubstr("dt is 0 (allowed: positive seconds)"));
  EXPECT_THAT(refusal([](O& o) { o.samples = 0; }), HasSubstr("samples is 0"));
  EXPECT_THAT(refusal([](O& o) { o.highest = -1.0; }), HasSubstr("highest is -1"));
  EXPECT_THAT(refusal([](O& o) { o.end_taper = std::nan(""); }), HasSubstr("end_taper is nan"));
  EXPECT_THAT(refusal([](O& o) { o.mute.kind = MuteOptions::Kind::velocity; }),
              HasSubstr("mute.velocity is 0"));
  EXPECT_THAT(refusal([](O& o) { o.mute.kind = MuteOptions::Kind::arrivals; }),
              AllOf(HasSubstr("mute.delay is -1"), HasSubstr("wavelet_times()")));
  EXPECT_THAT(refusal([](O& o) { o.spreading.half_order = 2; }), HasSubstr("spreading.power"));
  const auto by_arrivals = [](O& o) { o.mute = parse_mute("arrivals:0:0"); };
  EXPECT_THAT(refusal(by_arrivals), HasSubstr("shot 3: there are 0 first arrivals (allowed: 2"));
  EXPECT_THAT(refusal(by_arrivals, {0.0, std::nan("")}), HasSubstr("at receiver 2 is nan s"));
  ShotGather<2> cut = gather;
  cut.samples.pop_back();
  EXPECT_THAT(message_of<InputError>([&] { (void)prepare(cut, steps(0.001, 30)); }),
              HasSubstr("it has 39 samples"));
  ShotGather<2> bad = gather;
  bad.samples[23] = std::nanf("");
  EXPECT_THAT(message_of<InputError>([&] { (void)prepare(bad, steps(0.001, 30)); }),
              HasSubstr("shot 3: sample 4 of receiver 2 is nan"));
  bad = gather;
  bad.dt = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message_of<InputError>([&] { (void)prepare(bad, steps(0.001, 30)); }),
              HasSubstr("40 samples, inf s apart"));
}

TEST(PrepareOptions, AreRead) {
  EXPECT_EQ(parse_wavelet_zero("peak"), WaveletZero::peak);
  EXPECT_EQ(parse_wavelet_zero("start"), WaveletZero::start);
  EXPECT_THAT(message_of<InputError>([] { (void)parse_wavelet_zero("end"); }),
              HasSubstr("wavelet zero 'end' is unknown (allowed: start"));

  EXPECT_EQ(parse_mute("none").kind, MuteOptions::Kind::none);
  const MuteOptions arrivals = parse_mute("arrivals");
  EXPECT_EQ(arrivals.kind, MuteOptions::Kind::arrivals);
  EXPECT_LT(arrivals.delay, 0.0);
  EXPECT_LT(arrivals.taper, 0.0);
  EXPECT_EQ(parse_mute("arrivals:0.1").delay, 0.1);
  const MuteOptions velocity = parse_mute("velocity:1500:0.1:0.05");
  EXPECT_EQ(velocity.kind, MuteOptions::Kind::velocity);
  EXPECT_EQ(velocity.velocity, 1500.0);
  EXPECT_EQ(velocity.delay, 0.1);
  EXPECT_EQ(velocity.taper, 0.05);
  for (const char* text : {"", "all", "none:1", "velocity", "velocity:-1", "velocity:a",
                           "arrivals:1:2:3", "arrivals:-1", "velocity:1:2:3:4"}) {
    EXPECT_THAT(
        message_of<InputError>([&] { (void)parse_mute(text); }),
        AllOf(HasSubstr(concat("mute '", text, "'")), HasSubstr("arrivals[:DELAY[:TAPER]]")))
        << text;
  }

  EXPECT_EQ(parse_spreading("none").power, 0.0);
  const SpreadingOptions line = parse_spreading("line");
  EXPECT_EQ(line.power, 0.5);
  EXPECT_EQ(line.half_order, -1);
  EXPECT_EQ(line.velocity, 0.0);
  const SpreadingOptions joined = parse_spreading("gain:1.5+half-derivative");
  EXPECT_EQ(joined.power, 1.5);
  EXPECT_EQ(joined.half_order, 1);
  for (const char* text :
       {"", "line:0", "line+gain:1", "gain", "gain:x", "half-integral+half-integral", "none:1"}) {
    EXPECT_THAT(message_of<InputError>([&] { (void)parse_spreading(text); }),
                HasSubstr("half-derivative, half-integral joined by +"))
        << text;
  }
}

TEST(WaveletTimes, OfARicker) {
  // at the ends |S| is a thousandth: (2 a - 1) exp(-a) = 1e-3 with a = (pi f t)^2, a = 9.8
  const double f = 10.0, dt = 0.0007;
  const WaveletTimes times = wavelet_times(wave::ricker(f, dt), dt);
  double a = 9.0;
  for (int k = 0; k < 100; ++k) a = std::log((2.0 * a - 1.0) / 1e-3);
  const double half = std::sqrt(a) / (pi * f);
  EXPECT_NEAR(times.peak, 0.15, 1e-3 * dt);
  EXPECT_NEAR(times.begin, 0.15 - half, dt);
  EXPECT_NEAR(times.end, 0.15 + half, dt);
  EXPECT_THAT(message_of<InputError>([] {
                (void)wavelet_times({0.0, 0.0}, 0.001);
              }),
              HasSubstr("not all zero"));
  EXPECT_THAT(message_of<InputError>([] { (void)wavelet_times({1.0}, 0.0); }),
              HasSubstr("dt is 0 s"));
}

template <class Case>
class ArrivalTimes : public ::testing::Test {};
TYPED_TEST_SUITE(ArrivalTimes, moho::testing::TestCases, moho::testing::CaseName);

/// Compares arrivals at a constant velocity with distance over velocity.
///
/// Arrivals between nodes are interpolated linearly.
template <class T, int Dim, class Memory>
void check_arrivals(const Instance<Memory>& exec, const Grid<Dim>& grid,
                    const wave::Shot<Dim>& shot) {
  constexpr double velocity = 2000.0;
  eikonal::Model<T, Dim, Memory> model;
  model.velocity = make_field<T>(exec, grid, "velocity");
  fill(exec, model.velocity, static_cast<T>(velocity));
  const std::vector<double> times = arrival_times<T, Dim, Memory>(exec, grid, model, shot);
  ASSERT_EQ(times.size(), shot.receivers.size());
  for (std::size_t r = 0; r < times.size(); ++r) {
    double distance = 1e30, diagonal = 0.0;
    for (const Point<Dim>& source : shot.sources) {
      double sum = 0.0;
      for (int d = 0; d < Dim; ++d) {
        sum += (source[d] - shot.receivers[r][d]) * (source[d] - shot.receivers[r][d]);
      }
      distance = std::min(distance, std::sqrt(sum));
    }
    for (int d = 0; d < Dim; ++d) diagonal += grid.spacing[d] * grid.spacing[d];
    // h^2 / 8 times the second derivative, at most 1 / (v distance), along each axis
    const double bound = diagonal / (8.0 * velocity * (distance - std::sqrt(diagonal)));
    EXPECT_NEAR(times[r], distance / velocity, bound + 2e-6 * distance / velocity) << r;
  }
}

MEMORY_TEST(ArrivalTimes, AreThoseOfTheNearestSource) {
  const Grid<2> plane{Index<2>{81, 31}, Point<2>{10.0, 10.0}, Point<2>{-100.0, 5.0}};
  wave::Shot<2> shot;
  shot.sources = {Point<2>{0.0, 15.0}, Point<2>{600.0, 105.0}};
  for (const double x : {-100.0, 103.0, 250.0, 333.3, 700.0}) {
    shot.receivers.push_back(Point<2>{x, 5.0});
    shot.receivers.push_back(Point<2>{x, 305.0});
    shot.receivers.push_back(Point<2>{x, 222.2});
  }
  check_arrivals<T, 2, Memory>(exec, plane, shot);
  const Grid<3> cube{Index<3>{21, 17, 15}, Point<3>{10.0, 12.0, 10.0}, Point<3>{}};
  wave::Shot<3> deep;
  deep.sources = {Point<3>{20.0, 24.0, 30.0}};
  deep.receivers = {Point<3>{200.0, 192.0, 140.0}, Point<3>{123.4, 99.9, 0.0},
                    Point<3>{20.0, 190.0, 71.0}};
  check_arrivals<T, 3, Memory>(exec, cube, deep);
  const std::string text = message_of<InputError>([&] {
    wave::Shot<3> outside = deep;
    outside.number = 9;
    outside.receivers.push_back(Point<3>{0.0, 0.0, 141.0});
    check_arrivals<T, 3, Memory>(exec, cube, outside);
  });
  EXPECT_THAT(text, AllOf(HasSubstr("shot 9: receiver 4"), HasSubstr("141")));
}

}  // namespace
