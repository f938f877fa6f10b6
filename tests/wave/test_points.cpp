// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Injection and recording at points: against plain sums, as transposes of each other, at free
// surfaces, and with invalid points.

#include <moho/wave/points.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "refusals.hpp"
#include "spaces.hpp"
#include "wave/random.hpp"

namespace {

using moho::Box;
using moho::Grid;
using moho::Index;
using moho::Point;
using moho::Points;
using moho::testing::message_of;
using moho::testing::uniform;
using moho::wave::Layout;
using moho::wave::PointOptions;
using moho::wave::PointSeries;
using moho::wave::PointSet;
using moho::wave::Storage;
using ::testing::HasSubstr;

template <int Dim>
Grid<Dim> make_grid() {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] = 17 + 4 * d;
    grid.spacing[d] = 10.0 + d;
    grid.origin[d] = -50.0 + 20.0 * d;
  }
  return grid;
}

// Random positions, on nodes and near faces, the first one twice.
template <int Dim>
Points<Dim> make_points(const Grid<Dim>& grid, int count, unsigned seed) {
  std::mt19937 random(seed);
  Points<Dim> points;
  for (int i = 0; i < count; ++i) {
    Point<Dim> p{};
    for (int d = 0; d < Dim; ++d) {
      double q = uniform(random, 0.0, static_cast<double>(grid.extents[d] - 1));
      if (random() % 4 == 0) q = std::min(std::floor(q) + 1.0, grid.extents[d] - 2.0);
      if (random() % 6 == 0) q = uniform(random, 0.1, 0.9);
      if (random() % 6 == 0) q = static_cast<double>(grid.extents[d] - 1) - 0.3;
      p[d] = grid.origin[d] + q * grid.spacing[d];
    }
    points.push_back(p);
  }
  points.push_back(points.front());
  return points;
}

template <class T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(uniform(random, -1.0, 1.0));
  return values;
}

template <class T, class Memory>
Storage<T, Memory> storage_of(const Instance<Memory>& exec, const std::vector<T>& values) {
  return moho::upload(exec, values, "values");
}

// The weight of every node of the grid at a point, by definition. Along each axis it is the weight
// of the node minus that of its images beyond free surfaces.
double plain_weight(double position, int radius, std::int64_t node, std::int64_t extent, bool lower,
                    bool upper) {
  if ((lower && node == 0) || (upper && node == extent - 1)) return 0.0;
  const moho::wave::SincWeights all = moho::wave::sinc_weights(position, radius);
  double sum = 0.0;
  for (int i = 0; i < all.count; ++i) {
    const double w = all.weight[static_cast<std::size_t>(i)];
    const std::int64_t at = all.first + i;
    if (at == node) sum += w;
    if (lower && -at == node) sum -= w;
    if (upper && 2 * (extent - 1) - at == node) sum -= w;
  }
  return sum;
}

template <int Dim>
double plain_weight(const Grid<Dim>& grid, const Point<Dim>& p, const PointOptions<Dim>& options,
                    const Index<Dim>& node) {
  const Point<Dim> q = grid.to_index_space(p);
  double weight = 1.0;
  for (int d = 0; d < Dim && weight != 0.0; ++d) {
    weight *= plain_weight(q[d], options.radius, node[d], grid.extents[d], options.free_lower[d],
                           options.free_upper[d]);
  }
  return weight;
}

template <class Case>
class PointsTest : public ::testing::Test {};
TYPED_TEST_SUITE(PointsTest, moho::testing::TestCases, moho::testing::CaseName);

template <class T, class Memory, int Dim>
void expect_plain_sums(const Instance<Memory>& exec, int radius, bool free_surfaces) {
  const Grid<Dim> grid = make_grid<Dim>();
  const auto layout = moho::wave::make_layout<T>(grid, 4);
  const Points<Dim> points = make_points<Dim>(grid, 12, 1);
  PointOptions<Dim> options;
  options.radius = radius;
  options.free_lower[Dim - 1] = options.free_upper[0] = free_surfaces;
  const PointSet<T, Dim, Memory> set(exec, grid, layout, points, options);
  EXPECT_EQ(set.count(), 13);

  const auto size = static_cast<std::size_t>(layout.size);
  const std::vector<T> field = random_values<T>(size, 2), scale = random_values<T>(size, 3),
                       amplitudes = random_values<T>(points.size(), 4);
  const auto recorded = moho::allocate<Storage<T, Memory>>(exec, "recorded", points.size());
  set.record(exec, storage_of(exec, field), recorded);
  const auto injected = storage_of(exec, field);
  set.inject(exec, injected, storage_of(exec, amplitudes), storage_of(exec, scale), T(0.5));

  std::vector<double> expected(field.begin(), field.end()), values(points.size(), 0.0);
  std::int64_t weights = 0;
  const Box<Dim> whole = moho::whole_box(grid);
  for (std::int64_t n = 0; n < whole.size(); ++n) {
    const auto at = static_cast<std::size_t>(layout.flat(whole.node(n)));
    for (std::size_t p = 0; p < points.size(); ++p) {
      const double w = plain_weight<Dim>(grid, points[p], options, whole.node(n));
      if (w == 0.0) continue;
      ++weights;
      EXPECT_TRUE(set.box().contains(whole.node(n)));
      values[p] += w * static_cast<double>(field[at]);
      expected[at] += w * 0.5 * static_cast<double>(scale[at]) * static_cast<double>(amplitudes[p]);
    }
  }
  EXPECT_GE(set.weights(), weights);
  const double tolerance = std::is_same_v<T, float> ? 4e-6 : 1e-14;
  const std::vector<T> found = download(exec, recorded), after = download(exec, injected);
  for (std::size_t p = 0; p < points.size(); ++p) EXPECT_NEAR(found[p], values[p], tolerance) << p;
  for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(after[i], expected[i], tolerance) << i;
}

MEMORY_TEST(PointsTest, PlainSums) {
  for (const int radius : {1, 4, 10}) {
    for (const bool free_surfaces : {false, true}) {
      expect_plain_sums<T, Memory, 2>(exec, radius, free_surfaces);
    }
  }
  for (const bool free_surfaces : {false, true})
    expect_plain_sums<T, Memory, 3>(exec, 3, free_surfaces);
}

template <class T, class Memory, int Dim>
void expect_transposes(const Instance<Memory>& exec, bool free_surface) {
  const Grid<Dim> grid = make_grid<Dim>();
  const auto layout = moho::wave::make_layout<T>(grid, 2);
  PointOptions<Dim> options;
  options.free_lower[Dim - 1] = free_surface;
  const Points<Dim> points = make_points<Dim>(grid, 200, 5);
  const PointSet<T, Dim, Memory> set(exec, grid, layout, points, options);
  const auto size = static_cast<std::size_t>(layout.size);
  const std::vector<T> field = random_values<T>(size, 6),
                       amplitudes = random_values<T>(points.size(), 7);
  const auto values = moho::allocate<Storage<T, Memory>>(exec, "values", points.size());
  set.record(exec, storage_of(exec, field), values);
  const auto injected = moho::wave::make_storage<T>(exec, layout, "injected");
  set.inject(exec, injected, storage_of(exec, amplitudes));
  const std::vector<T> wf = download(exec, values), wta = download(exec, injected);
  double left = 0.0, right = 0.0, magnitude = 0.0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    left += static_cast<double>(wf[p]) * static_cast<double>(amplitudes[p]);
    magnitude += std::fabs(static_cast<double>(wf[p]) * static_cast<double>(amplitudes[p]));
  }
  for (std::size_t i = 0; i < size; ++i) {
    right += static_cast<double>(wta[i]) * static_cast<double>(field[i]);
  }
  EXPECT_GT(magnitude, 1.0);
  EXPECT_NEAR(left, right, (std::is_same_v<T, float> ? 1e-6 : 1e-14) * magnitude);
}

MEMORY_TEST(PointsTest, InjectionIsTheTransposeOfRecording) {
  for (const bool free_surface : {false, true}) {
    expect_transposes<T, Memory, 2>(exec, free_surface);
    expect_transposes<T, Memory, 3>(exec, free_surface);
  }
}

MEMORY_TEST(PointsTest, EveryRunGivesTheSameBits) {
  const Grid<3> grid = make_grid<3>();
  const auto layout = moho::wave::make_layout<T>(grid, 4);
  const Points<3> points = make_points<3>(grid, 300, 8);
  const auto size = static_cast<std::size_t>(layout.size);
  const auto field = storage_of(exec, random_values<T>(size, 9));
  const auto amplitudes = storage_of(exec, random_values<T>(points.size(), 10));
  std::vector<T> injected, recorded;
  for (int run = 0; run < 3; ++run) {
    const PointSet<T, 3, Memory> set(exec, grid, layout, points);
    const auto sum = moho::wave::make_storage<T>(exec, layout, "sum");
    const auto values = moho::allocate<Storage<T, Memory>>(exec, "values", points.size());
    set.inject(exec, sum, amplitudes);
    set.record(exec, field, values);
    if (run == 0) {
      injected = download(exec, sum);
      recorded = download(exec, values);
    } else {
      EXPECT_EQ(injected, download(exec, sum));
      EXPECT_EQ(recorded, download(exec, values));
    }
  }
}

MEMORY_TEST(PointsTest, ANodeHasAWeightOfOne) {
  const Grid<3> grid{{9, 8, 7}, {12.5, 0.1, 1.0 / 3.0}, {1e5, 0.3, 7.0}};
  const auto layout = moho::wave::make_layout<T>(grid, 4);
  const Box<3> whole = moho::whole_box(grid);
  Points<3> points;
  for (std::int64_t n = 0; n < whole.size(); ++n) points.push_back(grid.position(whole.node(n)));
  const PointSet<T, 3, Memory> set(exec, grid, layout, points);
  EXPECT_EQ(set.weights(), whole.size());
  EXPECT_TRUE(set.box() == whole);
  const std::vector<T> amplitudes = random_values<T>(points.size(), 11);
  const auto field = moho::wave::make_storage<T>(exec, layout, "field");
  set.inject(exec, field, storage_of(exec, amplitudes));
  const std::vector<T> values = download(exec, field);
  double outside = 0.0;
  for (const T value : values) outside += std::fabs(static_cast<double>(value));
  for (std::int64_t n = 0; n < whole.size(); ++n) {
    const T value = values[static_cast<std::size_t>(layout.flat(whole.node(n)))];
    EXPECT_EQ(value, amplitudes[static_cast<std::size_t>(n)]);
    outside -= std::fabs(static_cast<double>(value));
  }
  EXPECT_NEAR(outside, 0.0, 1e-10);  // zero in the halo
  const auto recorded = moho::allocate<Storage<T, Memory>>(exec, "recorded", points.size());
  set.record(exec, field, recorded);
  EXPECT_EQ(download(exec, recorded), amplitudes);
}

// The half-space below a free surface against a full space, in which the field and the sources are
// odd about the surface.
MEMORY_TEST(PointsTest, AFreeSurfaceIsAnOddMirror) {
  const std::int64_t depth = 15;
  const Grid<2> half{{20, depth}, {10.0, 10.0}, {0.0, 0.0}};
  const Grid<2> whole{{20, 2 * depth - 1}, {10.0, 10.0}, {0.0, -10.0 * (depth - 1.0)}};
  const auto half_layout = moho::wave::make_layout<T>(half, 4);
  const auto whole_layout = moho::wave::make_layout<T>(whole, 4);
  Points<2> below, both;
  std::vector<T> below_amplitudes, both_amplitudes;
  std::mt19937 random(12);
  for (int i = 0; i < 20; ++i) {
    const double x = uniform(random, 0.0, 190.0), z = uniform(random, 1.0, 60.0);
    const T amplitude = static_cast<T>(uniform(random, -1.0, 1.0));
    below.push_back({x, z});
    both.push_back({x, z});
    both.push_back({x, -z});
    below_amplitudes.push_back(amplitude);
    both_amplitudes.push_back(amplitude);
    both_amplitudes.push_back(-amplitude);
  }
  PointOptions<2> options;
  options.free_lower[1] = true;
  const PointSet<T, 2, Memory> half_set(exec, half, half_layout, below, options);
  const PointSet<T, 2, Memory> whole_set(exec, whole, whole_layout, both);
  const auto half_field = moho::wave::make_storage<T>(exec, half_layout, "half");
  const auto whole_field = moho::wave::make_storage<T>(exec, whole_layout, "whole");
  half_set.inject(exec, half_field, storage_of(exec, below_amplitudes));
  whole_set.inject(exec, whole_field, storage_of(exec, both_amplitudes));
  const std::vector<T> found = download(exec, half_field), expected = download(exec, whole_field);
  const double tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-14;
  for (std::int64_t x = 0; x < 20; ++x) {
    for (std::int64_t z = 0; z < depth; ++z) {
      const auto at = static_cast<std::size_t>(half_layout.flat({x, z}));
      const auto there = static_cast<std::size_t>(whole_layout.flat({x, z + depth - 1}));
      EXPECT_NEAR(found[at], expected[there], tolerance) << x << ' ' << z;
      if (z == 0) {
        EXPECT_EQ(found[at], T(0));
      }
    }
  }
  const auto half_values = moho::allocate<Storage<T, Memory>>(exec, "half", below.size());
  const auto whole_values = moho::allocate<Storage<T, Memory>>(exec, "whole", both.size());
  half_set.record(exec, half_field, half_values);
  whole_set.record(exec, whole_field, whole_values);
  const std::vector<T> half_record = download(exec, half_values),
                       whole_record = download(exec, whole_values);
  for (std::size_t p = 0; p < below.size(); ++p) {
    EXPECT_NEAR(half_record[p], whole_record[2 * p], tolerance);
    EXPECT_NEAR(half_record[p], -whole_record[2 * p + 1], tolerance);
  }
}

MEMORY_TEST(PointsTest, RowsOfASeries) {
  const Grid<2> grid = make_grid<2>();
  const auto layout = moho::wave::make_layout<T>(grid, 4);
  const Points<2> points = make_points<2>(grid, 6, 13);
  const PointSet<T, 2, Memory> set(exec, grid, layout, points);
  const std::int64_t steps = 5, count = set.count();
  const auto values = random_values<T>(static_cast<std::size_t>(steps * count), 14);
  const auto series = moho::allocate<PointSeries<T, Memory>>(exec, "series", steps, count);
  const auto gather = moho::allocate<PointSeries<T, Memory>>(exec, "gather", steps, count);
  moho::fill(exec, gather, T(-7));
  Kokkos::deep_copy(
      series, Kokkos::View<const T**, Kokkos::LayoutRight, Kokkos::HostSpace,
                           Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                  values.data(), static_cast<std::size_t>(steps), static_cast<std::size_t>(count)));
  const std::int64_t step = 3;
  const std::vector<T> row(values.begin() + step * count, values.begin() + (step + 1) * count);
  const auto one = moho::wave::make_storage<T>(exec, layout, "one");
  const auto other = moho::wave::make_storage<T>(exec, layout, "other");
  set.inject(exec, one, series, step);
  set.inject(exec, other, storage_of(exec, row));
  EXPECT_EQ(download(exec, one), download(exec, other));
  set.record(exec, one, gather, step);
  const auto recorded = moho::allocate<Storage<T, Memory>>(exec, "recorded", points.size());
  set.record(exec, one, recorded);
  const std::vector<T> expected = download(exec, recorded);
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gather);
  for (std::int64_t s = 0; s < steps; ++s) {
    for (std::int64_t p = 0; p < count; ++p) {
      EXPECT_EQ(host(s, p), s == step ? expected[static_cast<std::size_t>(p)] : T(-7));
    }
  }
  for (const std::int64_t wrong : {std::int64_t(-1), steps}) {
    try {
      set.record(exec, one, gather, wrong);
      FAIL();
    } catch (const moho::InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("(allowed: 0 to 4, the rows of values)"));
    }
  }
}

MEMORY_TEST(PointsTest, NoPointsAreNoWork) {
  const Grid<2> grid = make_grid<2>();
  const auto layout = moho::wave::make_layout<T>(grid, 4);
  const auto field = moho::wave::make_storage<T>(exec, layout, "field");
  const PointSet<T, 2, Memory> made(exec, grid, layout, {}), none;
  EXPECT_TRUE(made.box().empty());
  made.inject(exec, field, Storage<const T, Memory>());
  none.inject(exec, field, Storage<const T, Memory>());
  made.record(exec, field, Storage<T, Memory>());
  for (const T value : download(exec, field)) ASSERT_EQ(value, T(0));
}

using Host = Kokkos::HostSpace;

TEST(PointsInput, Positions) {
  const Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const Grid<2> grid{{31, 21}, {10.0, 5.0}, {0.0, 0.0}};
  const auto layout = moho::wave::make_layout<float>(grid, 4);
  PointOptions<2> options;
  const auto make = [&](const Points<2>& points) {
    return message_of([&] { PointSet<float, 2, Host>(exec, grid, layout, points, options); });
  };
  EXPECT_EQ(make({{0.0, 0.0}, {300.0, 100.0}, {300.0 + 1e-9, 5.0}}), "no exception");
  EXPECT_EQ(make({{0.0, 0.0}, {310.0, 50.0}}),
            "point 2: (310, 50) is outside the model (allowed: x 0 to 300, z 0 to 100): move it, "
            "or check --spacing and the order of coordinates");
  EXPECT_THAT(make({{std::numeric_limits<double>::quiet_NaN(), 50.0}}),
              HasSubstr("point 1: (nan, 50) is no position (allowed: x 0 to 300"));
  options.interior = Box<2>{{5, 0}, {26, 16}};
  options.name = "receiver";
  EXPECT_EQ(make({{50.0, 0.0}, {250.0, 75.0}}), "no exception");
  EXPECT_EQ(make({{50.0, 0.0}, {60.0, 0.0}, {49.0, 10.0}}),
            "receiver 3: (49, 10) is in the boundary layer (allowed: x 50 to 250, z 0 to 75): move "
            "it or extend the model");
  EXPECT_THAT(make({{250.0, 101.0}}), HasSubstr("receiver 1: (250, 101) is outside the model"));
  options.free_lower[1] = true;
  options.name = "source";
  EXPECT_THAT(make({{100.0, 10.0}, {100.0, 0.0}}),
              HasSubstr("source 2: (100, 0) is on the free surface, where the field is zero"));
}

TEST(PointsInput, Options) {
  const Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const Grid<2> grid{{31, 21}, {10.0, 5.0}, {0.0, 0.0}};
  const Grid<2> other{{31, 22}, {10.0, 5.0}, {0.0, 0.0}};
  const auto layout = moho::wave::make_layout<float>(grid, 4);
  PointOptions<2> options;
  options.radius = 11;
  EXPECT_THAT(message_of([&] {
                PointSet<float, 2, Host>(exec, grid, layout, {{5, 5}}, options);
              }),
              HasSubstr("radius is 11 (allowed: 1 to 10"));
  EXPECT_THAT(message_of([&] {
                PointSet<float, 2, Host>(exec, other, layout, {{5, 5}});
              }),
              HasSubstr("layout: it has 21 nodes along z (allowed: 22, those of the grid)"));
}

TEST(PointsInput, Views) {
  const Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const Grid<2> grid{{31, 21}, {10.0, 5.0}, {0.0, 0.0}};
  const auto layout = moho::wave::make_layout<float>(grid, 4);
  PointOptions<2> options;
  options.injects = false;
  const PointSet<float, 2, Host> receivers(exec, grid, layout, {{5, 5}, {7, 7}}, options);
  const PointSet<float, 2, Host> sources(exec, grid, layout, {{5, 5}, {7, 7}});
  const auto field = moho::wave::make_storage<float>(exec, layout, "field");
  const Storage<float, Host> two("two", 2), three("three", 3);
  EXPECT_THAT(message_of([&] { receivers.inject(exec, field, two); }),
              HasSubstr("was made only to record"));
  receivers.record(exec, field, two);
  EXPECT_EQ(message_of([&] { receivers.record(exec, field, three); }),
            "values: there are 3 (allowed: 2, one a point)");
  EXPECT_EQ(message_of([&] { sources.inject(exec, field, three); }),
            "amplitudes: there are 3 (allowed: 2, one a point)");
  EXPECT_THAT(message_of([&] { sources.record(exec, three, two); }),
              HasSubstr("field: it has 3 elements (allowed: "));
  EXPECT_THAT(message_of([&] { sources.inject(exec, field, two, three); }),
              HasSubstr("scale: it has 3 elements (allowed: "));
}

}  // namespace
