// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Shots: against a plain loop, domains, samples between steps, callbacks, checks for overflow,
// invalid options.

#include <moho/wave/model_shot.hpp>

#include "support.hpp"

namespace moho::testing {
namespace {

using ::testing::HasSubstr;
using wave::model_shot;
using wave::PointSet;
using wave::ShotOptions;
using wave::ShotResult;

// Square of 61 nodes, absorbing on all sides, with random velocities, and points between nodes.
template <class T, class Memory, Medium medium = Medium::isotropic>
struct Survey {
  Instance<Memory> exec;
  Grid<2> grid = cube<2>(61, 10.0);
  Propagator<T, 2, Memory> propagator{exec, grid, random_model<T, 2, Memory>(exec, grid, medium, 5),
                                      options()};
  PointSet<T, 2, Memory> sources = set({{304.0, 281.0}, {287.0, 300.0}}, "source", true);
  PointSet<T, 2, Memory> receivers =
      set({{310.0, 150.0}, {122.0, 333.0}, {440.0, 400.0}}, "receiver", false);
  std::vector<double> wavelet = wave::ricker(12.0, 0.001);

  static PropagatorOptions<2> options() {
    PropagatorOptions<2> result;
    result.dt = 0.001;
    result.order = 4;
    result.boundaries = wave::all_faces<2>(FaceKind::sponge, 8);
    return result;
  }
  PointSet<T, 2, Memory> set(const Points<2>& points, const char* name, bool injects) const {
    return {exec, grid, propagator.layout(), points,
            wave::point_options(propagator, name, injects)};
  }
  ShotResult<T, 2, Memory> run(const ShotOptions<T, 2, Memory>& shot) const {
    return model_shot<T, 2, Memory>(exec, propagator, sources, wavelet, receivers, shot);
  }
  // Returns the relative difference of two sets of traces.
  template <class A, class B>
  static double difference(const A& a, const B& b) {
    double square = 0.0, norm = 0.0;
    for (std::size_t r = 0; r < a.extent(0); ++r) {
      for (std::size_t n = 0; n < a.extent(1); ++n) {
        square += std::pow(static_cast<double>(a(r, n)) - static_cast<double>(b(r, n)), 2);
        norm += std::pow(static_cast<double>(b(r, n)), 2);
      }
    }
    return std::sqrt(square / norm);
  }
};

template <class C>
class Modelling : public ::testing::Test {};
TYPED_TEST_SUITE(Modelling, TestCases, CaseName);

// The order of a step's parts, written out for a medium of two wavefields.
MEMORY_TEST(Modelling, IsTheLoopOfItsDescription) {
  const Survey<T, Memory, Medium::vti> s{exec};

  const auto result = s.run({.steps = 150});
  auto field = s.propagator.make_wavefield(s.exec);
  auto values = moho::wave::make_storage<T>(s.exec, Layout<2>{.size = 3}, "values");
  Storage<T, Memory> amplitudes("amplitudes", 2);
  ASSERT_EQ(result.traces.extent(1), 151u);
  ASSERT_EQ(result.gather.extent(0), 151u);
  EXPECT_EQ(result.interval, 0.001);
  double max = 0.0;
  for (int n = 0; n <= 150; ++n) {
    s.receivers.record(s.exec, field.now[0], values);
    const auto there = Kokkos::create_mirror_view(values);
    Kokkos::deep_copy(there, values);
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_EQ(result.traces(r, static_cast<std::size_t>(n)), there(r));
      max = std::max(max, std::fabs(static_cast<double>(there(r))));
    }
    s.propagator.step(s.exec, field);
    Kokkos::deep_copy(amplitudes, static_cast<T>(s.wavelet[static_cast<std::size_t>(n)]));
    for (int f = 0; f < 2; ++f) {
      s.sources.inject(s.exec, field.next[f], amplitudes, s.propagator.source_scale(f),
                       static_cast<T>(1.0 / 100.0));
    }
    s.exec.fence();
    field.advance();
  }
  EXPECT_GT(max, 0.0);
}

MEMORY_TEST(Modelling, SamplesEverySomeStepsAndBetweenSteps) {
  const Survey<T, Memory> s{exec};
  const auto fine = s.run({.steps = 300});
  const auto third = s.run({.steps = 300, .interval = 0.003});
  ASSERT_EQ(third.traces.extent(1), 101u);
  EXPECT_EQ(third.steps, 300);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t n = 0; n < 101; ++n) {
      EXPECT_EQ(third.traces(r, n), fine.traces(r, 3 * n));
    }
  }
  // At 2.5 steps every other sample is on a step.
  const auto between = s.run({.steps = 300, .interval = 0.0025});
  ASSERT_EQ(between.traces.extent(1), 121u);
  ASSERT_EQ(between.gather.extent(0), 121u);
  double worst = 0.0, max = 0.0;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t n = 0; n < 121; ++n) {
      const double found = static_cast<double>(between.traces(r, n));
      if (n % 2 == 0) {
        EXPECT_EQ(between.traces(r, n), fine.traces(r, n / 2 * 5));
      } else if (n > 1 && n < 119) {
        // cubic interpolation in time: its error is of fourth order in (frequency dt)
        const std::size_t k = (5 * n - 1) / 2;
        const auto at = [&](std::size_t i) { return static_cast<double>(fine.traces(r, i)); };
        const double cubic = (9.0 * (at(k) + at(k + 1)) - at(k - 1) - at(k + 2)) / 16.0;
        worst = std::max(worst, std::fabs(found - cubic));
      }
      max = std::max(max, std::fabs(found));
    }
  }
  EXPECT_GT(max, 0.0);
  EXPECT_LT(worst, 1e-3 * max);
  const auto gather = Kokkos::create_mirror_view(between.gather);
  Kokkos::deep_copy(gather, between.gather);
  for (std::size_t n = 0; n < 121; ++n) {
    for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(gather(n, r), between.traces(r, n));
  }
}

// Domain that omits the sources and shrinks: the loop corrects both.
template <class T, class Memory>
struct Forgetful : wave::Domain<T, 2, Memory> {
  std::int64_t calls = 0;
  Box<2> box(const Instance<Memory>&, const Propagator<T, 2, Memory>& propagator,
             const Wavefield<T, 2, Memory>&, std::int64_t step) override {
    EXPECT_EQ(step, calls++);
    if (step % 2 == 1) return {};
    // A generous circle: 5000 m/s, and the source's window.
    const std::int64_t reach = 12 + step;
    Box<2> result{{30 - reach, 30 - reach}, {31 + reach, 31 + reach}};
    if (step == 0) result = {};
    (void)propagator;
    return result;
  }
};

MEMORY_TEST(Modelling, DomainsSaveNodesAndNothingElse) {
  const Survey<T, Memory> s{exec};

  const auto whole = s.run({.steps = 200});
  EXPECT_EQ(whole.points, 200.0 * 61 * 61);
  EXPECT_EQ(whole.whole_points, whole.points);
  wave::WholeDomain<T, 2, Memory> same;
  const auto again = s.run({.steps = 200, .domain = &same});
  EXPECT_EQ(again.points, whole.points);
  Forgetful<T, Memory> forgetful;
  const auto part = s.run({.steps = 200, .domain = &forgetful});
  EXPECT_EQ(forgetful.calls, 200);
  EXPECT_LT(part.points, 0.97 * whole.points);
  EXPECT_EQ(part.whole_points, whole.points);
  EXPECT_LT(s.difference(part.traces, whole.traces), by_precision<T>(1e-5, 1e-9));
  EXPECT_EQ(s.difference(again.traces, whole.traces), 0.0);
}

MEMORY_TEST(Modelling, CallsBack) {
  const Survey<T, Memory> s{exec};

  std::vector<std::int64_t> seen;
  std::vector<wave::ShotProgress> reports;
  ShotOptions<T, 2, Memory> options;
  options.steps = 100;
  options.interval = 0.0015;  // needs additional steps, without snapshots
  options.snapshot_every = 30;
  options.snapshot = [&](const Wavefield<T, 2, Memory>& field, const Box<2>& box,
                         std::int64_t step) {
    seen.push_back(step);
    EXPECT_EQ(box, whole_box(s.grid));
    EXPECT_GT((wave::amplitude<T, 2, Memory>(s.exec, field.layout, field.now[0], box).max), 0.0);
  };
  options.progress = [&](const wave::ShotProgress& now) { reports.push_back(now); };
  const auto result = s.run(options);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{30, 60, 90}));
  EXPECT_EQ(result.steps, 132);
  ASSERT_FALSE(reports.empty());
  for (std::size_t k = 1; k < reports.size(); ++k) EXPECT_GT(reports[k].step, reports[k - 1].step);
  EXPECT_EQ(reports.back().step, reports.back().steps);
  EXPECT_EQ(reports.back().seconds_left, 0.0);
  EXPECT_GT(reports.back().points_per_second, 0.0);
  EXPECT_GT(result.points_per_second(), 0.0);
}

MEMORY_TEST(Modelling, AWavefieldThatServedAnotherShotIsCleared) {
  const Survey<T, Memory> s{exec};

  auto field = s.propagator.make_wavefield(s.exec);
  const auto first = model_shot<T, 2, Memory>(s.exec, s.propagator, field, s.sources, s.wavelet,
                                              s.receivers, {.steps = 120});
  const auto second = model_shot<T, 2, Memory>(s.exec, s.propagator, field, s.sources, s.wavelet,
                                               s.receivers, {.steps = 120});
  EXPECT_EQ(s.difference(first.traces, second.traces), 0.0);
}

MEMORY_TEST(Modelling, NoReceivers) {
  const Survey<T, Memory> s{exec};

  const auto result = model_shot<T, 2, Memory>(s.exec, s.propagator, s.sources, s.wavelet,
                                               PointSet<T, 2, Memory>(), {.steps = 10});
  EXPECT_EQ(result.traces.extent(0), 0u);
  EXPECT_EQ(result.steps, 10);
}

MEMORY_TEST(Modelling, NoticesOverflow) {
  Survey<T, Memory> s{exec};
  for (double& sample : s.wavelet) sample *= std::is_same_v<T, float> ? 3.3e38 : 1e300;
  // 1e300 overflows between two checks in any precision.
  EXPECT_THAT(message_of<Error>([&] { s.run({.steps = 150, .check_every = 50}); }),
              HasSubstr("is no longer finite at node ("));
}

MEMORY_TEST(Modelling, RefusesBadOptions) {
  const Survey<T, Memory> s{exec};

  EXPECT_THAT(message_of([&] { s.run({.steps = 0}); }), HasSubstr("steps is 0 (allowed: 1 or"));
  EXPECT_THAT(message_of([&] { s.run({.steps = 10, .interval = 0.0005}); }),
              HasSubstr("interval is 0.0005 s (allowed: dt, 0.001 s, or more"));
  EXPECT_THAT(message_of([&] { s.run({.steps = 100, .interval = 0.05}); }),
              HasSubstr("interval is 0.05 s (allowed: at most 0.01"));
  EXPECT_THAT(message_of([&] { s.run({.steps = 10, .check_every = -1}); }),
              HasSubstr("check_every is -1"));
  Wavefield<T, 2, Memory> other;
  EXPECT_THAT(message_of([&] {
                model_shot<T, 2, Memory>(s.exec, s.propagator, other, s.sources, s.wavelet,
                                         s.receivers, {.steps = 10});
              }),
              HasSubstr("wavefield: it does not belong to the propagator"));
}

}  // namespace
}  // namespace moho::testing
