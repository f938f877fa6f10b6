// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of a grid that several devices step with the driver of one: bits of the complete grid with
// slow neighbours, joined traces, minima, exchanged arrays, a second grid, and errors.

#include <moho/stream/device_count.hpp>
#include <moho/stream/kernel/grid_parts.hpp>
#include <moho/wave/source_term.hpp>

#include <chrono>
#include <random>
#include <stdexcept>
#include <thread>

#include "stream/shots.hpp"
#include "stream/support.hpp"

namespace moho::testing::grid_parts {
namespace {

using stream::GridParts;
using ::testing::HasSubstr;

template <class C>
class Parts : public ::testing::Test {};
TYPED_TEST_SUITE(Parts, LongTestCases, CaseName);

template <class Memory>
int part_count(const Instance<Memory>& exec) {
  return is_host_memory<Memory> ? 3 : std::min(stream::device_count(exec), 4);
}

/// Wavefield and traces after some steps, with a source of one step.
template <class T>
struct Outcome {
  std::vector<T> p, traces;
};

/// A model, a source and receivers on both sides of the cuts.
template <class T, class Memory>
struct Problem {
  static constexpr std::int64_t steps = 40;
  Grid<2> grid = cube<2>(61, 10.0);
  Model<T, 2, HostModelMemory> model;
  PropagatorOptions<2> options;
  Points<2> source{{307.0, 41.0}}, receivers;

  Problem() {
    model.vp = random_field<T, 2, HostModelMemory>(host(), grid, 3, 1900.0, 2600.0);
    options.boundaries = wave::all_faces<2>(FaceKind::cpml, 8);
    options.dt = 1e-3;
    options.order = 4;
    for (int r = 0; r < 40; ++r) receivers.push_back({3.0 + 14.9 * r, 200.0});
  }
  /// Runs the steps of one propagator; `between` is called before each of them.
  template <class Between>
  Outcome<T> run(const Instance<Memory>& exec, const Propagator<T, 2, Memory>& propagator,
                 const Between& between, wave::PointSet<T, 2, Memory>* recorded = nullptr) const {
    const auto points = [&](const Points<2>& positions) {
      return wave::PointSet<T, 2, Memory>(exec, propagator.grid(), propagator.layout(), positions,
                                          wave::point_options(propagator, "point", true));
    };
    const auto sources = points(source);
    const auto set = points(receivers);
    const auto series = allocate<wave::PointSeries<T, Memory>>(
        exec, "series", static_cast<std::size_t>(steps + 1), receivers.size());
    fill(exec, series, T(0));
    auto field = propagator.make_wavefield(exec);
    const wave::SourceTerm<T, 2, Memory> term{
        &propagator, &sources,
        wave::wavelet_series<T, Memory>(exec, {1.0, -2.0, 1.0}, steps, sources.count())};
    wave::RunOptions<T, 2, Memory> run;
    run.last = steps;
    run.check_every = 7;
    run.present = [&](std::int64_t time) {
      set.record(exec, field.now[0], series, time, propagator.pressure_factors());
      between(time);
    };
    term.run(exec, field, run);
    if (recorded != nullptr) *recorded = set;
    Outcome<T> result;
    result.traces = download(exec, series);
    const std::vector<T> padded = download(exec, field.now[0]);
    const Box<2> own = propagator.own(whole_box(propagator.grid()));
    for (std::int64_t n = 0; n < own.size(); ++n) {
      result.p.push_back(padded[static_cast<std::size_t>(field.layout.flat(own.node(n)))]);
    }
    return result;
  }
  Outcome<T> on_one_device(const Instance<Memory>& exec) const {
    const auto on_device = stream::detail::model_in<T, 2, Memory>(exec, grid, model);
    const Propagator<T, 2, Memory> propagator(
        exec, wave::extended_grid(grid, options.boundaries),
        wave::extend_model<T, 2, Memory>(exec, grid, on_device, options.boundaries), options);
    return run(exec, propagator, [](std::int64_t) {});
  }
  /// Calls work(parts, g, propagator) for each part.
  template <class Work>
  void in_parts(const Instance<Memory>& exec, int count, const Work& work) const {
    const Grid<2> extended = wave::extended_grid(grid, options.boundaries);
    const wave::Limits limits =
        wave::limits_of<T, 2, HostModelMemory>(host(), grid, model, options.order);
    GridParts<T, 2, Memory> parts(stream::slab_instances(exec, count),
                                  stream::equal_parts(extended.extents[0], count, 8), 8);
    parts.run([&](std::size_t g) {
      Propagator<T, 2, Memory> propagator(parts.instance(g), extended, model.medium(), limits,
                                          options, parts.part(g));
      stream::load_part<T, 2, Memory>(parts.instance(g), propagator, grid, model, {});
      work(parts, g, propagator);
    });
  }
};

// Neighbours that sleep at random steps, and traces of points on both sides of the cuts.
MEMORY_TEST(Parts, HaveTheBitsOfTheGridWithSlowNeighbours) {
  const Problem<T, Memory> problem;
  const Outcome<T> expected = problem.on_one_device(exec);
  ASSERT_GT(largest(expected.traces), 0.0);
  const int count = part_count(exec);
  for (int slow = 0; slow <= count; ++slow) {  // none for the last one
    std::vector<Outcome<T>> found(static_cast<std::size_t>(count));
    problem.in_parts(exec, count, [&](auto& parts, std::size_t g, const auto& propagator) {
      std::mt19937 numbers(static_cast<unsigned>(slow));
      wave::PointSet<T, 2, Memory> set;
      found[g] = problem.run(
          parts.instance(g), propagator,
          [&](std::int64_t) {
            if (static_cast<int>(g) != slow || uniform(numbers, 0.0, 1.0) > 0.3) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          },
          &set);
      found[g].traces = parts.gathered(g, set, found[g].traces);
    });
    std::vector<T> p;
    for (const Outcome<T>& one : found) {
      p.insert(p.end(), one.p.begin(), one.p.end());
      EXPECT_EQ(one.traces, expected.traces) << slow;
    }
    EXPECT_EQ(p, expected.p) << slow;
  }
}

MEMORY_TEST(Parts, FindMinimaAndPassOnErrors) {
  const Problem<T, Memory> problem;
  const int count = part_count(exec);
  problem.in_parts(exec, count, [&](auto& parts, std::size_t g, const auto&) {
    for (std::int64_t turn = 0; turn < 20; ++turn) {
      const auto value = static_cast<std::int64_t>((g + 7 * static_cast<std::size_t>(turn)) % 5);
      const std::int64_t min = parts.part(g).min(value);
      std::int64_t expected = value;
      for (std::size_t h = 0; h < parts.count(); ++h) {
        expected = std::min(
            expected, static_cast<std::int64_t>((h + 7 * static_cast<std::size_t>(turn)) % 5));
      }
      EXPECT_EQ(min, expected);
    }
  });
  // others wait for the part that fails, and end with it
  const auto fail = [&] {
    problem.in_parts(exec, count, [&](auto& parts, std::size_t g, const auto& propagator) {
      problem.run(parts.instance(g), propagator, [&](std::int64_t time) {
        if (time == 11 && static_cast<int>(g) == count - 1) {
          throw std::runtime_error("the device is lost");
        }
      });
    });
  };
  EXPECT_THAT(fail, ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("the device is lost")));
}

// Arrays on planes of a second division, which the same threads and instances exchange in turn with
// those of the first one. Neighbours are slow.
MEMORY_TEST(Parts, ExchangeArraysOfTwoGrids) {
  const int count = part_count(exec);
  GridParts<T, 2, Memory> first(stream::slab_instances(exec, count),
                                stream::equal_parts(50, count, 4), 4);
  const auto wide = stream::parts_with_layers(
      stream::equal_parts(50, count, 4), 7, 71, 4,
      [](std::int64_t parts) { return stream::equal_parts(50, parts, 4); });
  GridParts<T, 2, Memory> second(first, wide, 4);
  const auto planes_of = [count](const std::vector<PlaneRange>& own, std::int64_t reach) {
    stream::PartPlanes planes{own, own, 3};
    for (std::size_t g = 0; g < own.size(); ++g) {
      planes.held[g].begin = std::max(own[g].begin - reach, own.front().begin);
      planes.held[g].end = std::min(own[g].end + reach, own.back().end);
    }
    return planes;
  };
  const std::vector<stream::PartPlanes> all{planes_of(stream::equal_parts(50, count, 4), 9),
                                            planes_of(wide, 5)};
  const auto value = [](std::int64_t plane, std::int64_t element, int array, int turn) {
    return static_cast<T>(1000 * plane + 100 * element + 10 * array + turn + 1);
  };
  const auto turn = [&](GridParts<T, 2, Memory>& parts, const stream::PartPlanes& planes,
                        std::size_t g, int number) {
    const Instance<Memory>& on = parts.instance(g);
    std::vector<wave::Storage<T, Memory>> arrays;
    const PlaneRange held = planes.held[g];
    for (int array = 0; array < 2; ++array) {
      std::vector<T> values;
      for (std::int64_t i = held.begin * 3; i < held.end * 3; ++i) {
        values.push_back(planes.own[g].contains(i / 3) ? value(i / 3, i % 3, array, number) : T(0));
      }
      arrays.push_back(upload(on, values, "array"));
    }
    if (static_cast<int>(g) == number % count) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    parts.exchange(g, on, {arrays.begin(), arrays.end()}, planes);
    for (int array = 0; array < 2; ++array) {
      const std::vector<T> found = download(on, arrays[static_cast<std::size_t>(array)]);
      for (std::int64_t i = held.begin * 3; i < held.end * 3; ++i) {
        EXPECT_EQ(found[static_cast<std::size_t>(i - held.begin * 3)],
                  value(i / 3, i % 3, array, number))
            << "part " << g << ", plane " << i / 3;
      }
    }
  };
  first.run([&](std::size_t g) {
    for (int number = 0; number < 12; ++number) {
      turn(number % 2 == 0 ? first : second, all[static_cast<std::size_t>(number % 2)], g, number);
    }
  });
}

TEST(PartsWithLayers, HaveTheSamePlanesOfTheModel) {
  const std::vector<PlaneRange> own{{0, 20}, {20, 40}, {40, 61}};
  const auto division = [](std::int64_t parts) { return stream::equal_parts(61, parts, 8); };
  EXPECT_EQ(stream::parts_with_layers(own, 7, 80, 8, division),
            (std::vector<PlaneRange>{{0, 27}, {27, 47}, {47, 80}}));
  EXPECT_EQ(stream::parts_with_layers(own, -9, 50, 8, division),
            (std::vector<PlaneRange>{{0, 11}, {11, 31}, {31, 50}}));
  const auto refused = [&](std::int64_t shift, const auto& divide, const char* allowed) {
    EXPECT_THAT([&] { stream::parts_with_layers(own, shift, 50, 8, divide); },
                ::testing::ThrowsMessage<InputError>(
                    ::testing::AllOf(HasSubstr(allowed), HasSubstr("has "))));
  };
  refused(-13, division, "devices is 3 (allowed: up to 2, so that each has 8 planes");
  refused(-23, division, "devices is 3 (allowed: up to 1, so that each has 8 planes");
  // no division
  const auto none = [](std::int64_t) { return std::vector<PlaneRange>(); };
  refused(-13, none, "devices is 3 (allowed: up to 1, so that each has 8 planes");
}

TEST(EqualParts, CoverTheGridOrAreRefused) {
  for (std::int64_t planes : {24, 57, 100}) {
    for (std::int64_t count = 1; count <= planes / 8; ++count) {
      const auto parts = stream::equal_parts(planes, count, 8);
      ASSERT_EQ(static_cast<std::int64_t>(parts.size()), count);
      EXPECT_EQ(parts.front().begin, 0);
      EXPECT_EQ(parts.back().end, planes);
      for (std::size_t g = 1; g < parts.size(); ++g) EXPECT_EQ(parts[g].begin, parts[g - 1].end);
    }
    EXPECT_THAT([&] { stream::equal_parts(planes, planes / 8 + 1, 8); },
                ::testing::ThrowsMessage<InputError>(HasSubstr("allowed: up to ")));
  }
}

}  // namespace
}  // namespace moho::testing::grid_parts
