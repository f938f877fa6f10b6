// SPDX-License-Identifier: BSD-3-Clause
// ctest: sanitizers without *.KnowsItsMemory
//
// From a model to gathers: the time plan, estimated against allocated memory, the driver against
// its parts, messages, snapshots concurrent with the run.

#include <moho/wave/modelling.hpp>
#include <moho/wave/snapshots.hpp>

#include <cstring>
#include <map>
#include <mutex>

#include "allocations.hpp"
#include "support.hpp"

namespace moho::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using wave::make_modelling;
using wave::make_time_plan;
using wave::TimeOptions;
using wave::TimePlan;

TEST(TimePlan, ChoosesStepsThatDivideTheInterval) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const double largest = std::pow(10.0, uniform(random, -4.0, -2.0));
    TimeOptions options;
    options.time = uniform(random, 0.5, 3.0);
    if (i % 2 == 0) options.interval = std::round(uniform(random, 200.0, 8000.0)) * 1e-6;
    const TimePlan plan = make_time_plan(options, largest);
    EXPECT_LE(plan.dt, 0.9 * largest * (1.0 + 1e-12));
    EXPECT_GT(2.0 * plan.dt, std::min(0.9 * largest, plan.interval) * (1.0 - 1e-12));
    const double ratio = plan.interval / plan.dt;
    EXPECT_NEAR(ratio, std::round(ratio), 1e-9);
    const double micro = plan.interval * 1e6;
    EXPECT_NEAR(micro, std::round(micro), 1e-6);
    if (options.interval > 0.0) {
      EXPECT_NEAR(plan.interval, options.interval, 1e-15);
    }
    const double end = static_cast<double>(plan.samples - 1) * plan.interval;
    EXPECT_LE(end, options.time * (1.0 + 1e-9));
    EXPECT_GT(end + plan.interval, options.time * (1.0 - 1e-9));
    EXPECT_GE(static_cast<double>(plan.steps) * plan.dt, end * (1.0 - 1e-9));
    EXPECT_LT(static_cast<double>(plan.steps - 1) * plan.dt, end);
  }
}

TEST(TimePlan, KeepsWhatIsGiven) {
  const TimePlan plan = make_time_plan({.time = 1.0, .dt = 0.00123, .snapshot_every = 0.1}, 0.01);
  EXPECT_EQ(plan.dt, 0.00123);
  EXPECT_EQ(plan.interval, 0.00123);
  EXPECT_EQ(plan.snapshot_every, 81);  // 0.1 s contain 81 complete steps
  EXPECT_EQ(make_time_plan({.time = 1.0}, 0.01, 1e12).snapshot_every, 0);
  EXPECT_GT(make_time_plan({.time = 1.0}, 0.01, 1e6).snapshot_every, 0);
}

std::string refusal_of(const TimeOptions& options) {
  return message_of([&] { make_time_plan(options, 0.01); });
}

TEST(TimePlan, RefusesWithTheNameOfTheOption) {
  EXPECT_THAT(refusal_of({.time = -1.0}), StartsWith("time is -1 s"));
  EXPECT_THAT(refusal_of({.time = NAN}), StartsWith("time is nan"));
  EXPECT_THAT(refusal_of({.dt = -1.0}), StartsWith("dt is -1 s"));
  EXPECT_THAT(refusal_of({.interval = 1.5e-6}), StartsWith("interval is 1.5e-06 s"));
  EXPECT_THAT(refusal_of({.dt = 0.002, .interval = 0.001}), StartsWith("interval is 0.001 s"));
  EXPECT_THAT(refusal_of({.time = 1e-4, .interval = 0.001}), StartsWith("time is 0.0001 s"));
  EXPECT_THAT(refusal_of({.time = 1e3}), HasSubstr("them): give a longer interval, or a shorter"));
  EXPECT_THAT(refusal_of({.time = 1e4}), HasSubstr("as SEG-Y counts them): give a shorter time"));
  EXPECT_THAT(refusal_of({.interval = 0.3}),
              HasSubstr("as SEG-Y counts them): take a shorter one"));
  EXPECT_THAT(refusal_of({.interval = 1e-8}),
              HasSubstr("as SEG-Y counts them): take a longer one"));
  EXPECT_THAT(refusal_of({.snapshot_every = 2.0}), StartsWith("snapshot_every is 2 s"));
}

template <class C>
class Driver : public ::testing::Test {};
TYPED_TEST_SUITE(Driver, TestCases, CaseName);

template <int Dim>
wave::ModellingOptions<Dim> brief(const Points<Dim>& sources) {
  wave::ModellingOptions<Dim> options;
  options.time.time = 0.1;
  options.time.snapshot_every = 0.0;
  options.order = 4;
  options.sources = sources;
  options.receivers = 2;
  return options;
}

// The driver is equivalent to its parts, called by hand.
MEMORY_TEST(Driver, IsItsPieces) {
  const Grid<2> grid{{61, 51}, {10.0, 10.0}, {-100.0, 50.0}};
  const wave::Shot<2> shot{0, {{203.0, 307.0}}, {{100.0, 100.0}, {450.0, 500.0}}};
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::tti}) {
    const auto model = random_model<T, 2, Memory>(exec, grid, medium, 7);
    const auto faces = wave::absorbing_faces<2>(medium, true);
    auto options = brief<2>(shot.sources);
    options.source_taper = 0.0;
    auto modelling = make_modelling(exec, grid, model, faces, wave::ricker_wavelet(8.0), options);
    const auto result = modelling.shot(exec, shot);
    const auto& plan = modelling.plan();

    const Grid<2> extended = wave::extended_grid(grid, faces);
    PropagatorOptions<2> scheme;
    scheme.dt = plan.time.dt;
    scheme.order = 4;
    scheme.boundaries = faces;
    scheme.frequency = plan.frequency;
    const Propagator<T, 2, Memory> propagator(
        exec, extended, wave::extend_model<T, 2, Memory>(exec, grid, model, faces), scheme);
    const auto points = [&](const Points<2>& positions, const char* name) {
      return wave::PointSet<T, 2, Memory>(exec, extended, propagator.layout(), positions,
                                          wave::point_options(propagator, name, true));
    };
    wave::ShotOptions<T, 2, Memory> by_hand;
    by_hand.steps = plan.time.steps;
    by_hand.interval = plan.time.interval;
    const auto expected = wave::model_shot<T, 2, Memory>(
        exec, propagator, points(shot.sources, "source"), wave::ricker(8.0, plan.time.dt),
        points(shot.receivers, "receiver"), by_hand);
    ASSERT_EQ(result.traces.extent(1), expected.traces.extent(1));
    double max = 0.0;
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t n = 0; n < result.traces.extent(1); ++n) {
        ASSERT_EQ(result.traces(r, n), expected.traces(r, n));
        max = std::max(max, std::fabs(static_cast<double>(expected.traces(r, n))));
      }
    }
    EXPECT_GT(max, 0.0);
    // another shot over the same model begins at rest
    const auto again = modelling.shot(exec, shot);
    for (std::size_t n = 0; n < again.traces.extent(1); ++n) {
      ASSERT_EQ(again.traces(0, n), result.traces(0, n));
    }
  }
}

MEMORY_TEST(Driver, TapersDeltaOnlyWhereSourcesNeedIt) {
  const Grid<2> grid{{61, 61}, {10.0, 10.0}, {0.0, 0.0}};
  const wave::Shot<2> shot{0, {{300.0, 300.0}}, {{100.0, 100.0}}};
  const auto elliptical =
      constant_model<T, 2, Memory>(exec, grid, Medium::vti, {.epsilon = 0.1, .delta = 0.1});
  const auto other =
      constant_model<T, 2, Memory>(exec, grid, Medium::vti, {.epsilon = 0.2, .delta = 0.1});
  const auto faces = wave::absorbing_faces<2>(Medium::vti);
  const auto taper = [&](const auto& model, const auto& options) {
    return make_modelling(exec, grid, model, faces, wave::ricker_wavelet(8.0), options)
        .plan()
        .source_taper;
  };
  auto options = brief<2>(shot.sources);
  EXPECT_EQ(taper(elliptical, options), 0.0);
  EXPECT_GT(taper(other, options), 100.0);
  options.source_taper = 55.0;
  EXPECT_EQ(taper(other, options), 55.0);
  options.source_taper = 0.0;
  EXPECT_EQ(taper(other, options), 0.0);
}

MEMORY_TEST(Driver, SaysWhatIsWrong) {
  const Grid<2> grid{{61, 51}, {10.0, 10.0}, {0.0, 0.0}};
  const auto message = [&](double velocity, double frequency, const auto& change) -> std::string {
    const auto model =
        constant_model<T, 2, Memory>(exec, grid, Medium::isotropic, {.vp = velocity});
    auto options = brief<2>({});
    auto faces = wave::absorbing_faces<2>(Medium::isotropic);
    wave::Shot<2> shot{3, {{300.0, 300.0}}, {{100.0, 100.0}}};
    change(options, faces, shot);
    try {
      auto modelling =
          make_modelling(exec, grid, model, faces, wave::ricker_wavelet(frequency), options);
      modelling.check(exec, {shot, wave::Shot<2>{4, {{0.0, 0.0}}, {{0.0, 0.0}}}});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto none = [](auto&, auto&, auto&) {};
  EXPECT_EQ(message(2000.0, 8.0, none), "");
  EXPECT_THAT(message(-1.0, 8.0, none), StartsWith("vp: the value at node (0, 0)"));
  EXPECT_THAT(message(2000.0, 40.0, none), StartsWith("wavelet: the shortest wave"));
  EXPECT_THAT(message(1.0, 8.0, none), StartsWith("wavelet: dt is "));
  EXPECT_THAT(message(2000.0, 8.0, [](auto& o, auto&, auto&) { o.time.dt = 0.1; }),
              StartsWith("dt: dt is 0.1 s"));
  EXPECT_THAT(message(2000.0, 8.0, [](auto& o, auto&, auto&) { o.time.interval = 0.05; }),
              StartsWith("interval is 0.05 s"));
  EXPECT_THAT(message(2000.0, 8.0, [](auto&, auto& f, auto&) { f.lower[0].width = 99; }),
              StartsWith("boundary: the width of a CPML is 99"));
  EXPECT_THAT(message(2000.0, 8.0, [](auto& o, auto&, auto&) { o.memory = 1000; }),
              StartsWith("memory: the model of 81 x 71 nodes"));
  EXPECT_THAT(message(2000.0, 8.0, [](auto&, auto&, auto& s) { s.sources[0][0] = 700.0; }),
              StartsWith("sources: shot 3: source 1"));
  EXPECT_THAT(message(2000.0, 8.0, [](auto&, auto&, auto& s) { s.receivers[0][1] = -7.0; }),
              StartsWith("receivers: shot 3: receiver 1"));
}

// The estimate is at least the memory of a run, and not much more.
MEMORY_TEST(Driver, UpdatesNameNodesOfTheModel) {
  const Grid<2> grid{{41, 31}, {10.0, 10.0}, {0.0, 0.0}};
  const auto model = random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 7);
  auto modelling = make_modelling(exec, grid, model, wave::absorbing_faces<2>(Medium::isotropic),
                                  wave::ricker_wavelet(8.0), {.time = {.time = 0.1}});
  auto wrong = random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 7);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), wrong.vp);
  values(5, 6) = T(-1);
  Kokkos::deep_copy(wrong.vp, values);
  EXPECT_THAT(message_of([&] { modelling.update(exec, wrong); }),
              StartsWith("vp: the value at node (5, 6), (50, 60), is -1 "));
}

MEMORY_TEST(Driver, KnowsItsMemory) {
  const Grid<3> grid{{61, 45, 50}, {10.0, 10.0, 10.0}, {0.0, 0.0, 0.0}};
  const wave::Shot<3> shot{0, {{300.0, 200.0, 200.0}}, {{100.0, 100.0, 90.0}}};
#ifdef MOHO_BOUNDS_CHECK
  const std::vector<Medium> media{Medium::tti};  // sanitizers make it last minutes
#else
  const std::vector<Medium> media{Medium::isotropic, Medium::variable_density, Medium::vti,
                                  Medium::tti};
#endif
  for (const Medium medium : media) {
    for (const bool keep : {false, true}) {
      auto options = brief<3>(shot.sources);
      options.time.time = 0.01;
      options.keep_model = keep;
      const Allocations allocations;
      auto model = random_model<T, 3, Memory>(exec, grid, medium, 7);
      const auto given = static_cast<std::size_t>(model.given().size());
      auto modelling =
          make_modelling(exec, grid, std::move(model), wave::absorbing_faces<3>(medium),
                         wave::ricker_wavelet(5.0), options);
      modelling.shot(exec, shot);
      const auto max = static_cast<double>(Allocations::max.load());
      const wave::MemoryNeed& need = modelling.plan().memory;
      const auto estimate = static_cast<double>(need.peak + need.host);
      EXPECT_EQ(need.model, given * static_cast<std::size_t>(grid.size()) * sizeof(T));
      EXPECT_LE(max, 1.01 * estimate + 65536.0) << wave::to_string(medium);
      EXPECT_GE(max, 0.9 * static_cast<double>(need.peak)) << wave::to_string(medium);
    }
  }
}

/// Returns traces below a free surface, with `margin` more nodes at the other faces.
///
/// Velocities increase with depth. The receivers are at the faces of the model without a margin.
template <class T, class Memory>
wave::Traces<T> traces_at_faces(const Instance<Memory>& exec, Medium medium,
                                const Boundaries<2>& faces, std::int64_t margin) {
  const Grid<2> grid{
      {81 + 2 * margin, 61 + margin}, {10.0, 10.0}, {-10.0 * static_cast<double>(margin), 0.0}};
  auto model = constant_model<T, 2, Memory>(exec, grid, medium, {2000.0, 1000.0, 0.2, 0.1, 0.0});
  model.vp = field_of<T, 2, Memory>(exec, grid, [](const Index<2>& node) {
    return 1800.0 + 20.0 * static_cast<double>(std::min<std::int64_t>(node[1], 60));
  });
  const wave::Shot<2> shot{0, {{300.0, 100.0}}, {{0.0, 20.0}, {400.0, 600.0}, {800.0, 300.0}}};
  auto options = brief<2>(shot.sources);
  options.time.time = 0.5;
  options.time.dt = 0.001;
  options.order = 8;
  options.receivers = 3;
  return make_modelling(exec, grid, model, faces, wave::ricker_wavelet(15.0), options)
      .shot(exec, shot)
      .traces;
}

// Against a model so large that no reflection arrives.
MEMORY_TEST(Driver, DefaultFacesReflectLittle) {
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    const auto faces = wave::absorbing_faces<2>(medium, true);
    const auto expected = traces_at_faces<T, Memory>(exec, medium, faces, 80);
    const auto reflection = [&](const Boundaries<2>& layers) {
      const auto found = traces_at_faces<T, Memory>(exec, medium, layers, 0);
      double difference = 0.0, max = 0.0;
      for (std::size_t r = 0; r < expected.extent(0); ++r) {
        for (std::size_t n = 0; n < expected.extent(1); ++n) {
          difference = std::max<double>(difference, std::abs(found(r, n) - expected(r, n)));
          max = std::max<double>(max, std::abs(expected(r, n)));
        }
      }
      return difference / max;
    };
    EXPECT_LT(reflection(faces), 2e-3) << to_string(medium);
    auto thin = wave::all_faces<2>(FaceKind::cpml, wave::default_cpml_width / 2);
    thin.lower[1] = faces.lower[1];
    EXPECT_GT(reflection(thin), 1e-2) << to_string(medium);
  }
}

// Snapshots are the wavefield at their steps, in order, during the run.
MEMORY_TEST(Driver, HandsOutSnapshots) {
  const Grid<2> grid{{61, 51}, {10.0, 10.0}, {0.0, 0.0}};
  const wave::Shot<2> shot{0, {{203.0, 307.0}}, {{100.0, 100.0}}};
  auto modelling =
      make_modelling(exec, grid, random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 7),
                     wave::absorbing_faces<2>(Medium::isotropic), wave::ricker_wavelet(8.0),
                     brief<2>(shot.sources));
  const Box<2> box = modelling.propagator().interior();
  auto options = modelling.shot_options();
  options.snapshot_every = 5;
  std::map<std::int64_t, std::vector<T>> expected;
  options.snapshot = [&](const auto& field, const Box<2>&, std::int64_t step) {
    const auto host = download(exec, field.now[0]);
    std::vector<T>& values = expected[step];
    for (std::int64_t n = 0; n < box.size(); ++n) {
      values.push_back(host[static_cast<std::size_t>(field.layout.flat(box.node(n)))]);
    }
  };
  modelling.shot(exec, shot, options);
  ASSERT_GT(expected.size(), 3u);

  std::map<std::int64_t, std::vector<T>> taken;
  std::vector<std::int64_t> order;
  std::mutex mutex;
  const auto take = [&](const wave::SnapshotPart<T>& part) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (part.first()) order.push_back(part.number);
    std::vector<T>& values = taken[part.number];
    EXPECT_EQ(part.begin, static_cast<std::int64_t>(values.size())) << "parts come in order";
    values.insert(values.end(), part.values, part.values + part.count);
    EXPECT_EQ(part.last(), static_cast<std::int64_t>(values.size()) == box.size());
  };
  // parts of 700 values on devices; the last one is shorter
  for (const wave::SnapshotOptions how :
       {wave::SnapshotOptions{}, {1, 1, 700 * sizeof(T)}, {3, 2, 700 * sizeof(T)}}) {
    taken.clear();
    order.clear();
    wave::SnapshotQueue<T, 2, Memory> queue(exec, box, take, how);
    options.snapshot = [&](const auto& field, const Box<2>&, std::int64_t step) {
      queue.put(field.layout, field.now[0], step);
    };
    modelling.shot(exec, shot, options);
    queue.finish();
    EXPECT_TRUE(how.writers > 1 || std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(taken, expected);
  }
}

MEMORY_TEST(Driver, SnapshotsThatFailStopTheRun) {
  const Grid<2> grid{{61, 51}, {10.0, 10.0}, {0.0, 0.0}};
  const wave::Shot<2> shot{0, {{203.0, 307.0}}, {{100.0, 100.0}}};
  auto modelling =
      make_modelling(exec, grid, random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 7),
                     wave::absorbing_faces<2>(Medium::isotropic), wave::ricker_wavelet(8.0),
                     brief<2>(shot.sources));
  auto options = modelling.shot_options();
  options.snapshot_every = 1;
  int calls = 0;
  wave::SnapshotQueue<T, 2, Memory> queue(exec, modelling.propagator().interior(),
                                          [&](const wave::SnapshotPart<T>&) {
                                            if (++calls == 3) throw FileError("the disk is full");
                                          });
  options.snapshot = [&](const auto& field, const Box<2>&, std::int64_t step) {
    queue.put(field.layout, field.now[0], step);
  };
  std::string text;
  try {
    modelling.shot(exec, shot, options);
    queue.finish();
  } catch (const FileError& error) {
    text = error.what();
  }
  EXPECT_EQ(text, "the disk is full");
  EXPECT_EQ(calls, 3);  // no further value is processed
}

}  // namespace
}  // namespace moho::testing
