// SPDX-License-Identifier: BSD-3-Clause
//
// Concurrent shots: the bits of sequential ones, their memory, their automatic number; sources and
// receivers of a step in one call.

#include <moho/wave/shots.hpp>

#include <limits>
#include <utility>

#include "allocations.hpp"
#include "support.hpp"

namespace moho::testing {
namespace {

using ::testing::HasSubstr;
using wave::make_modelling;

template <class C>
class ShotsAtOnce : public ::testing::Test {};
TYPED_TEST_SUITE(ShotsAtOnce, TestCases, CaseName);

template <class T, class Memory>
auto modelling_at_once(const Instance<Memory>& exec, const Grid<2>& grid, Medium medium,
                       int at_once, std::int64_t shots, std::size_t memory = 0, int together = 0) {
  wave::ModellingOptions<2> options;
  options.time.time = 0.08;
  options.order = 4;
  options.receivers = 7;
  options.shots = shots;
  options.concurrent_shots = at_once;
  options.batch_size = together;
  options.memory = memory;
  auto model = constant_model<T, 2, Memory>(exec, grid, medium, {.epsilon = 0.1, .delta = 0.1});
  return make_modelling<T, 2, Memory>(exec, grid, model, wave::absorbing_faces<2>(medium),
                                      wave::ricker_wavelet(10.0), options);
}

MEMORY_TEST(ShotsAtOnce, NameTracesThatTakeTheMemory) {
  const Grid<2> grid = cube<2>(31, 10.0);
  wave::ModellingOptions<2> options;
  options.receivers = 100000;
  options.memory = 1000000;
  auto model = constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {});
  const auto prepare = [&] {
    make_modelling<T, 2, Memory>(exec, grid, model, wave::all_faces<2>(wave::FaceKind::rigid),
                                 wave::ricker_wavelet(10.0), options);
  };
  EXPECT_THAT(
      moho::testing::message_of<MemoryError>(prepare),
      AllOf(HasSubstr("31 x 31 nodes, its wavefield and the traces of 100000 receivers take "),
            HasSubstr("as asked): take fewer receivers or a shorter time")));
}

MEMORY_TEST(ShotsAtOnce, EndTheirPreparationWhenTheFlagIsSet) {
  const Grid<2> grid = cube<2>(31, 10.0);
  moho::StopFlag flag;
  const Instance<Memory> stopped = moho::stopped_by<Memory>(exec, flag);
  const auto prepare = [&](const wave::WaveletAt& wavelet) {
    auto model = constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {});
    make_modelling<T, 2, Memory>(stopped, grid, model, wave::absorbing_faces<2>(Medium::isotropic),
                                 wavelet, {});
  };
  const wave::WaveletAt ricker = wave::ricker_wavelet(10.0);
  EXPECT_NO_THROW(prepare(ricker));
  const auto requests = [&](double dt) {
    flag.request();
    return ricker(dt);
  };
  EXPECT_THROW(prepare(requests), moho::Stopped) << "after the plan";
  EXPECT_THROW(prepare(ricker), moho::Stopped) << "before it";
}

MEMORY_TEST(ShotsAtOnce, HaveTheBitsOfOneAfterTheOther) {
  Grid<2> grid = cube<2>(61, 10.0);
  grid.extents[1] = 45;
  const auto shots = wave::fixed_spread<2>(wave::point_line<2>({50.0, 33.0}, {550.0, 70.0}, 6),
                                           wave::point_line<2>({0.0, 20.0}, {600.0, 27.0}, 7));
  for (const Medium medium : {Medium::isotropic, Medium::tti}) {
    auto alone = modelling_at_once<T, Memory>(exec, grid, medium, 1, 6);
    std::vector<std::vector<T>> expected;
    for (const auto& shot : shots) {
      const auto result = alone.shot(exec, shot);
      expected.emplace_back(result.traces.data(), result.traces.data() + result.traces.size());
    }
    EXPECT_GT(std::fabs(static_cast<double>(expected[4].back())), 0.0);
    for (const int at_once : {2, 5, 0}) {
      auto modelling = modelling_at_once<T, Memory>(exec, grid, medium, at_once, 6);
      if (at_once > 0) {
        EXPECT_EQ(modelling.plan().concurrent_shots, at_once);
      }
      std::size_t count = 0;
      wave::model_shots<T, 2, Memory>(
          exec, modelling, shots, [&](std::size_t k, const wave::ShotResult<T, 2, Memory>& result) {
            EXPECT_EQ(k, count++);
            const std::vector<T> traces(result.traces.data(),
                                        result.traces.data() + result.traces.size());
            EXPECT_EQ(traces, expected[k]) << at_once << " at once, shot " << k;
          });
      EXPECT_EQ(count, shots.size());
    }
  }
}

// With two concurrent shots two more results may wait for delivery (max_pending_results()). The
// first shot has many sources, and lasts longer than those that wait for it.
MEMORY_TEST(ShotsAtOnce, WaitingResultsAreInTheEstimate) {
  constexpr std::int64_t receivers = 3000;
  const Grid<2> grid = cube<2>(41, 10.0);
  const auto model = constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {});
  auto shots = wave::fixed_spread<2>(wave::point_line<2>({50.0, 50.0}, {350.0, 50.0}, 7),
                                     wave::point_line<2>({0.0, 20.0}, {400.0, 20.0}, receivers));
  shots.front().sources = wave::point_line<2>({51.0, 52.0}, {349.0, 58.0}, 1000);
  const auto make = [&](std::int64_t count, bool gathers_wait) {
    wave::ModellingOptions<2> options;
    options.time.time = 0.3;
    options.order = 4;
    options.receivers = receivers;
    options.shots = count;
    options.concurrent_shots = 2;
    options.batch_size = 1;
    options.gathers_wait = gathers_wait;
    return make_modelling<T, 2, Memory>(exec, grid, model,
                                        wave::absorbing_faces<2>(Medium::isotropic),
                                        wave::ricker_wavelet(10.0), options);
  };
  const wave::MemoryNeed none = make(2, true).plan().memory, one = make(3, true).plan().memory,
                         hosts = make(7, false).plan().memory;
  const Allocations allocations;
  auto modelling = make(7, true);
  const wave::MemoryNeed need = modelling.plan().memory;
  const std::size_t traces = sizeof(T) * receivers * modelling.plan().time.samples;
  EXPECT_EQ(need.gathers - none.gathers, 2 * traces);
  EXPECT_EQ(need.host - none.host, 2 * traces);
  EXPECT_EQ(need.peak - none.peak, 2 * traces);
  EXPECT_EQ(one.gathers - none.gathers, traces) << "of three shots";
  EXPECT_EQ(hosts.gathers, none.gathers);
  EXPECT_EQ(hosts.host, need.host);
  std::size_t taken = 0;
  wave::model_shots<T, 2, Memory>(
      exec, modelling, shots, [&](std::size_t, const wave::ShotResult<T, 2, Memory>&) { ++taken; });
  EXPECT_EQ(taken, shots.size());
  EXPECT_LE(static_cast<double>(Allocations::max),
            1.01 * static_cast<double>(need.peak + need.host) + 65536.0);
}

/// Shots with increasing numbers of sources and receivers, at nodes and between them.
std::vector<wave::Shot<2>> different_shots(int count) {
  std::vector<wave::Shot<2>> shots;
  for (int n = 0; n < count; ++n) {
    const double shift = n % 2 == 0 ? 0.0 : 3.7;
    wave::Shot<2> shot;
    shot.number = n + 1;
    for (int k = 0; k <= n % 3; ++k) {
      shot.sources.push_back({50.0 + 70.0 * n + 13.0 * k, 30.0 + shift + 7.0 * k});
    }
    shot.receivers =
        wave::point_line<2>({10.0, 20.0 + shift}, {560.0, 20.0 + shift}, 3 + 5 * (n % 4));
    shots.push_back(shot);
  }
  return shots;
}

template <class T, class Memory>
std::vector<T> samples_of(const wave::ShotResult<T, 2, Memory>& result) {
  return {result.traces.data(), result.traces.data() + result.traces.size()};
}

MEMORY_TEST(ShotsAtOnce, TogetherHaveTheBitsOfOneAfterTheOther) {
  Grid<2> grid = cube<2>(61, 10.0);
  grid.extents[1] = 45;
  const auto shots = different_shots(7);
  for (const Medium medium :
       {Medium::isotropic, Medium::variable_density, Medium::vti, Medium::tti}) {
    for (const bool free : {false, true}) {
      const auto model =
          constant_model<T, 2, Memory>(exec, grid, medium, {.epsilon = 0.1, .delta = 0.1});
      const auto make = [&](int at_once, int together) {
        wave::ModellingOptions<2> options;
        options.time.time = 0.07;
        options.order = 4;
        options.shots = 7;
        options.concurrent_shots = at_once;
        options.batch_size = together;
        return make_modelling<T, 2, Memory>(exec, grid, model,
                                            wave::absorbing_faces<2>(medium, free),
                                            wave::ricker_wavelet(10.0), options);
      };
      auto alone = make(1, 1);
      std::vector<std::vector<T>> expected;
      for (const auto& shot : shots) expected.push_back(samples_of(alone.shot(exec, shot)));
      const auto& longest = expected[3];
      EXPECT_GT(std::fabs(static_cast<double>(longest.back())), 0.0);
      for (const auto& [at_once, together] :
           {std::pair(1, 1), std::pair(2, 2), std::pair(5, 5), std::pair(5, 2), std::pair(7, 4)}) {
        auto modelling = make(at_once, together);
        EXPECT_EQ(modelling.plan().concurrent_shots, at_once);
        EXPECT_EQ(modelling.plan().batch_size, together);
        std::size_t count = 0;
        wave::model_shots<T, 2, Memory>(
            exec, modelling, shots,
            [&](std::size_t k, const wave::ShotResult<T, 2, Memory>& result) {
              EXPECT_EQ(k, count++);
              EXPECT_EQ(result.points, result.whole_points);
              EXPECT_EQ(samples_of(result), expected[k])
                  << at_once << " at once, " << together << " together, shot " << k;
            });
        EXPECT_EQ(count, shots.size());
      }
    }
  }
}

/// All nodes in every step, with a time that a domain reports.
template <class T, class Memory>
wave::DomainFactory<T, 2, Memory> whole_domains(double seconds) {
  return [seconds](const Instance<Memory>&, const wave::PointSet<T, 2, Memory>& sources) {
    EXPECT_GT(sources.count(), 0);
    return wave::ShotDomain<T, 2, Memory>{std::make_unique<wave::WholeDomain<T, 2, Memory>>(),
                                          [seconds] { return seconds; }};
  };
}

MEMORY_TEST(ShotsAtOnce, ModelTheClaimedShotsWithDomainsAndSnapshots) {
  Grid<2> grid = cube<2>(61, 10.0);
  grid.extents[1] = 45;
  const auto shots = different_shots(7);
  const auto model = constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {});
  std::vector<std::vector<T>> expected_traces, expected_snapshots;
  for (const int at_once : {1, 3}) {
    wave::ModellingOptions<2> modelling_options;
    modelling_options.time.time = 0.07;
    modelling_options.time.snapshot_every = 0.02;
    modelling_options.order = 4;
    modelling_options.shots = 7;
    modelling_options.concurrent_shots = at_once;
    auto modelling =
        make_modelling<T, 2, Memory>(exec, grid, model, wave::absorbing_faces<2>(Medium::isotropic),
                                     wave::ricker_wavelet(10.0), modelling_options);
    const std::int64_t every = modelling.plan().time.snapshot_every;
    ASSERT_GT(every, 0);
    for (const bool domains : {false, true}) {
      wave::SurveyRunOptions<T, 2, Memory> options;
      std::size_t requested = 0;
      options.claim = [&](std::size_t k) {
        EXPECT_EQ(k, requested++);
        return k != 2;
      };
      if (domains) options.domain = whole_domains<T, Memory>(0.25);
      options.keep_gathers = domains;
      std::vector<std::vector<T>> snapshots(20);
      std::vector<std::int64_t> steps;
      options.snapshot = [&](const wave::SnapshotPart<T>& part) {
        EXPECT_EQ(part.size, grid.size());
        auto& values = snapshots[static_cast<std::size_t>(part.index)];
        values.insert(values.end(), part.values, part.values + part.count);
      };
      options.snapshot_done = [&](std::int64_t index, std::int64_t step) {
        EXPECT_EQ(index, static_cast<std::int64_t>(steps.size()));
        EXPECT_EQ(snapshots[steps.size()].size(), static_cast<std::size_t>(grid.size()));
        steps.push_back(step);
      };
      std::vector<std::size_t> taken;
      std::vector<std::vector<T>> traces;
      const auto take = [&](std::size_t k, const auto& result) {
        taken.push_back(k);
        traces.push_back(samples_of(result));
        EXPECT_EQ(result.gather.data() != nullptr, domains);
      };
      const wave::SurveyReport report = wave::model_shots(exec, modelling, shots, take, options);
      EXPECT_EQ(taken, (std::vector<std::size_t>{0, 1, 3, 4, 5, 6}));
      EXPECT_EQ(requested, shots.size());
      EXPECT_EQ(report.shots, 6);
      EXPECT_EQ(report.domain_seconds, domains ? 6 * 0.25 : 0.0);
      EXPECT_GT(report.points, 0.0);
      EXPECT_EQ(report.points, report.whole_points);
      ASSERT_EQ(steps.size(), static_cast<std::size_t>(modelling.plan().time.steps / every));
      EXPECT_EQ(steps.back(), every * static_cast<std::int64_t>(steps.size()));
      if (expected_traces.empty()) {
        expected_traces = traces;
        expected_snapshots = snapshots;
        EXPECT_NE(snapshots[steps.size() - 1], std::vector<T>(snapshots[0].size(), T(0)));
      }
      EXPECT_EQ(traces, expected_traces) << at_once << " at once";
      EXPECT_EQ(snapshots, expected_snapshots) << at_once << " at once";
    }
  }
}

MEMORY_TEST(ShotsAtOnce, NameTheShotThatOverflows) {
  const Grid<2> grid = cube<2>(41, 10.0);
  auto shots = wave::fixed_spread<2>({{100.0, 100.0}, {300.0, 100.0}}, {{200.0, 100.0}});
  for (wave::Shot<2>& shot : shots) shot.number += 17;
  const auto model = constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {});
  const wave::WaveletAt huge = [](double dt) {
    auto samples = wave::ricker(10.0, dt);
    for (double& sample : samples) sample *= 1e48;
    return samples;
  };
  for (const int together : {1, 2}) {
    wave::ModellingOptions<2> modelling_options;
    modelling_options.time.time = 0.1;
    modelling_options.order = 4;
    modelling_options.shots = 2;
    modelling_options.concurrent_shots = 2;
    modelling_options.batch_size = together;
    auto modelling = make_modelling<T, 2, Memory>(
        exec, grid, model, wave::absorbing_faces<2>(Medium::isotropic), huge, modelling_options);
    wave::SurveyRunOptions<T, 2, Memory> options;
    options.advice = "change nothing";
    options.claim = [](std::size_t k) { return k == 1; };
    const auto run = [&] {
      wave::model_shots(
          exec, modelling, shots, [](std::size_t, const auto&) {}, options);
    };
    EXPECT_THAT(
        message_of<moho::Error>(run),
        ::testing::AllOf(HasSubstr("shot 18, step "), HasSubstr("is no longer finite at node ("),
                         HasSubstr("change nothing")));
    options.claim = {};
    EXPECT_THAT(message_of<moho::Error>(run), HasSubstr("is no longer finite at node ("));
  }
}

MEMORY_TEST(ShotsAtOnce, StepTogetherAsOneAfterTheOther) {
  const Grid<3> grid = cube<3>(24, 10.0);
  const auto model = random_model<T, 3, Memory>(exec, grid, Medium::vti, 4);
  PropagatorOptions<3> options;
  options.order = 4;
  options.dt = 2e-4;
  options.boundaries = wave::all_faces<3>(FaceKind::cpml, 4);
  options.boundaries.lower[2] = {FaceKind::free_surface, 0};
  const Propagator<T, 3, Memory> propagator(exec, grid, model, options);
  auto together = wave::make_wavefields<T, 3, Memory>(exec, propagator.scheme(), 3);
  EXPECT_EQ((wave::detail::in_one_launch<T, 3, Memory>(propagator.scheme(), together).has_value()),
            is_host_memory<Memory>);
  std::vector<Wavefield<T, 3, Memory>> alone;
  for (std::size_t n = 0; n < 3; ++n) {
    alone.push_back(propagator.make_wavefield(exec));
    const wave::PointSet<T, 3, Memory> source(exec, grid, propagator.layout(),
                                              {{50.0 + 40.0 * static_cast<double>(n), 101.0, 97.0}},
                                              point_options(propagator, "source", true));
    const auto one = upload(exec, std::vector<T>(1, T(1)), "amplitude");
    for (auto* wavefield : {&alone[n], &together[n]}) {
      for (int f = 0; f < 2; ++f) source.inject(exec, wavefield->now[f], one);
    }
  }
  for (int step = 0; step < 5; ++step) {
    wave::step_batch<T, 3, Memory>(exec, propagator, together);
    for (std::size_t n = 0; n < 3; ++n) {
      propagator.step(exec, alone[n]);
      alone[n].advance();
      together[n].advance();
    }
  }
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_GT((check_finite<T, 3, Memory>(exec, grid, alone[n], whole_box(grid), 5).max), 0.0);
    for (int f = 0; f < 2; ++f) {
      EXPECT_EQ(download(exec, together[n].now[f]), download(exec, alone[n].now[f])) << n;
    }
    for (std::size_t k = 0; k < alone[n].layers.size(); ++k) {
      EXPECT_EQ(download(exec, together[n].layers[k].zeta), download(exec, alone[n].layers[k].zeta))
          << n << ", layer " << k;
    }
  }
}

MEMORY_TEST(ShotsAtOnce, TogetherRefuseWhatTheyCannot) {
  const Grid<2> grid = cube<2>(61, 10.0);
  auto modelling = modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 2, 2, 0, 2);
  const auto& propagator = modelling.propagator();
  auto wavefields = wave::make_wavefields<T, 2, Memory>(exec, propagator.scheme(), 2);
  const auto all = different_shots(3);
  std::vector<wave::ShotPoints<T, 2, Memory>> points;
  for (const auto& shot : all) {
    points.push_back({modelling.sources(exec, shot), modelling.receivers(exec, shot)});
  }
  const std::vector<double>& wavelet = modelling.plan().wavelet;
  const auto text_of = [&](const std::vector<double>& samples, const auto& options) {
    try {
      wave::model_batch<T, 2, Memory>(exec, propagator, wavefields, points, samples, options);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(text_of(wavelet, modelling.shot_options()),
              HasSubstr("wavefields: there are 2 for 3 shots (allowed: one a shot, or more)"));
  points.pop_back();
  auto with_domain = modelling.shot_options();
  wave::WholeDomain<T, 2, Memory> domain;
  with_domain.domain = &domain;
  EXPECT_THAT(text_of(wavelet, with_domain), HasSubstr("domain is given for shots that are"));
  // sources at one position, whose sum overflows
  wave::Shot<2> loud;
  loud.sources.assign(64, {300.0, 300.0});
  const auto quiet = std::exchange(points[1].sources, modelling.sources(exec, loud));
  std::vector<double> large = wavelet;
  for (double& sample : large) sample *= std::numeric_limits<T>::max();
  EXPECT_THAT(text_of(large, modelling.shot_options()),
              HasSubstr("the wavefield p is no longer finite"));
  points[1].sources = quiet;
  EXPECT_EQ(text_of(wavelet, modelling.shot_options()), "");
}

MEMORY_TEST(ShotsAtOnce, TakeTheMemoryOfAll) {
  const Grid<2> grid = cube<2>(301, 10.0);
  const auto one = modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 1, 20).plan();
  const auto five = modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 5, 20).plan();
  EXPECT_EQ(five.memory.wavefield, 5 * one.memory.wavefield);
  // and results of 7 receivers that wait for delivery
  const int others = wave::waiting_results(five.concurrent_shots, five.batch_size, 20);
  const std::size_t waiting = others * sizeof(T) * 7 * five.time.samples;
  EXPECT_EQ(five.memory.gathers, 5 * one.memory.gathers + waiting);
  EXPECT_EQ(five.memory.peak - one.memory.peak,
            4 * (one.memory.wavefield + one.memory.gathers) + waiting);
  EXPECT_EQ(wave::waiting_results(5, 1, 20), 5);
  EXPECT_EQ(wave::waiting_results(5, 3, 20), 7) << "four groups of three";
  EXPECT_EQ(wave::waiting_results(5, 1, 7), 2) << "no more than there are";
  EXPECT_EQ(wave::waiting_results(4, 4, 20), 0) << "one worker holds what it steps";
  // no more than the number of shots
  EXPECT_EQ(
      (modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 5, 3).plan().concurrent_shots),
      3);
  const std::size_t room = one.memory.peak + one.memory.wavefield / 2;
  try {
    modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 5, 20, room);
    ADD_FAILURE() << "it fits";
  } catch (const MemoryError& error) {
    EXPECT_THAT(error.what(), HasSubstr("wavefields of 5 shots at once take"));
    EXPECT_THAT(error.what(), HasSubstr("as asked): take fewer shots at once"));
  }
  // the automatic choice fits
  EXPECT_EQ((modelling_at_once<T, Memory>(exec, grid, Medium::isotropic, 0, 20, room)
                 .plan()
                 .concurrent_shots),
            1);
  const int few = wave::shots_at_once(exec, std::int64_t{1} << 30, 1000);
  EXPECT_EQ(few, 1);
  EXPECT_GE(wave::shots_at_once(exec, 1000, 1000), few);
}

}  // namespace
}  // namespace moho::testing
