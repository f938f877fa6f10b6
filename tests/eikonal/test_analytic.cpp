// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Traveltimes against closed forms: homogeneous media of every kind, velocity gradients, head
// waves, and the order of convergence.

#include "eikonal/fields.hpp"

#include <gtest/gtest.h>

namespace {

using namespace moho;
using namespace moho::testing;
using eikonal::Method;
using eikonal::Options;

/// Tolerance for rounding, relative to the largest time.
template <class T>
constexpr double rounding = std::is_same_v<T, float> ? 2e-6 : 1e-13;

template <int Dim>
Points<Dim> off_nodes(const Grid<Dim>& grid) {
  Point<Dim> p{};
  for (int d = 0; d < Dim; ++d) {
    p[d] = grid.origin[d] + grid.spacing[d] * (0.37 * static_cast<double>(grid.extents[d]) + 0.31);
  }
  return {p};
}

template <int Dim>
Points<Dim> on_node(const Grid<Dim>& grid) {
  Index<Dim> node{};
  for (int d = 0; d < Dim; ++d) node[d] = grid.extents[d] / 3;
  return {grid.position(node)};
}

/// Returns the times of a homogeneous medium from its slowness surface.
template <int Dim>
Formula<Dim> homogeneous_time(double v, double e, double d, const Point<Dim>& source) {
  return [=](const Point<Dim>& p) {
    double across = 0.0;
    for (int k = 0; k + 1 < Dim; ++k) across += (p[k] - source[k]) * (p[k] - source[k]);
    return eikonal::homogeneous(eikonal::make_constants(v, e, d), std::sqrt(across),
                                p[Dim - 1] - source[Dim - 1])
        .time;
  };
}

template <class Case>
class Homogeneous : public ::testing::Test {};
TYPED_TEST_SUITE(Homogeneous, TestCases, CaseName);

template <class T, int Dim, class Memory>
void homogeneous_is_exact(const Instance<Memory>& exec) {
  Grid<Dim> grid = make_cube<Dim>(Dim == 2 ? 50 : 21, 1000.0, -120.0);
  for (int d = 0; d < Dim; ++d) grid.spacing[d] *= 1.0 + 0.3 * d;
  for (const Points<Dim>& source : {on_node(grid), off_nodes(grid)}) {
    for (const int order : {1, 2}) {
      for (const Method method : {Method::active_tiles, Method::sweeping}) {
        const Options options{.order = order, .method = method};
        const auto check = [&](const Formulas<Dim>& medium, double e, double d) {
          const auto exact = homogeneous_time<Dim>(2000.0, e, d, source[0]);
          EXPECT_LE(
              largest_error<Dim>(grid, solve<T, Dim>(exec, grid, medium, source, options), exact),
              5.0 * rounding<T>)
              << Dim << "D, order " << order << ", " << to_string(method) << ", epsilon " << e
              << ", delta " << d << ", source " << format_point(source[0]);
        };
        check({constant<Dim>(2000.0), {}, {}}, 0.0, 0.0);
        check(elliptical<Dim>(constant<Dim>(2000.0), constant<Dim>(0.25)), 0.25, 0.25);
        check({constant<Dim>(2000.0), constant<Dim>(0.25), {}}, 0.25, 0.0);
        check({constant<Dim>(2000.0), {}, constant<Dim>(-0.15)}, 0.0, -0.15);
        check({constant<Dim>(2000.0), constant<Dim>(0.25), constant<Dim>(0.1)}, 0.25, 0.1);
        check({constant<Dim>(2000.0), constant<Dim>(0.1), constant<Dim>(0.2)}, 0.1, 0.2);
      }
    }
  }
}

TYPED_TEST(Homogeneous, MediaAreExactIn2D) {
  homogeneous_is_exact<typename TypeParam::Scalar, 2>(TypeParam::exec());
}
TYPED_TEST(Homogeneous, MediaAreExactIn3D) {
  homogeneous_is_exact<typename TypeParam::Scalar, 3>(TypeParam::exec());
}

// A node whose first value is too small can later exceed a node of the next tile that used it. The
// next tile must then be notified.
template <class T, class Memory>
void exact_near_faces(const Instance<Memory>& exec) {
  Grid<3> grid;
  grid.extents = {25, 17, 49};
  grid.spacing = {10.0, 7.5, 12.0};
  const auto exact = [](const Point<3>& source) {
    return homogeneous_time<3>(2000.0, 0.0, 0.0, source);
  };
  for (const Point<3>& at : {Point<3>{23.0, 7.5, 46.0}, Point<3>{8.0, 14.5, 16.0},
                             Point<3>{15.5, 8.0, 31.5}, Point<3>{16.0, 7.0, 32.0}}) {
    Point<3> source{};
    for (int d = 0; d < 3; ++d) source[d] = at[d] * grid.spacing[d];
    for (const int order : {1, 2}) {
      for (const Method method : {Method::active_tiles, Method::sweeping}) {
        const auto times = solve<T, 3>(exec, grid, {constant<3>(2000.0), {}, {}}, {source},
                                       {.order = order, .method = method});
        EXPECT_LE(largest_error<3>(grid, times, exact(source)), 5.0 * rounding<T>)
            << "order " << order << ", " << to_string(method) << ", source "
            << format_point(source);
      }
    }
  }
}
TYPED_TEST(Homogeneous, MediaAreExactWithSourcesNearTheFacesOfTiles) {
  exact_near_faces<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class Space>
class Analytic : public ::testing::Test {};
TYPED_TEST_SUITE(Analytic, TestSpaces, SpaceName);

/// Returns the errors in v0 + g z; the spacing is halved from one to the next.
template <int Dim, class Memory>
std::vector<double> gradient_errors(const Instance<Memory>& exec, const Options& options,
                                    const std::vector<int>& sizes) {
  std::vector<double> errors;
  for (const int n : sizes) {
    const auto grid = make_cube<Dim>(n, 1000.0);
    Point<Dim> source{};
    for (int d = 0; d < Dim; ++d) source[d] = d + 1 < Dim ? 411.3 : 233.7;
    const auto times =
        solve<double, Dim>(exec, grid, {gradient<Dim>(1500.0, 2.0), {}, {}}, {source}, options);
    errors.push_back(largest_error<Dim>(grid, times, gradient_time<Dim>(1500.0, 2.0, source)));
  }
  return errors;
}

template <int Dim, class Memory>
void converges(const Instance<Memory>& exec, int order, const std::vector<int>& sizes, double slope,
               double last) {
  for (const Method method : {Method::active_tiles, Method::sweeping}) {
    const auto errors = gradient_errors<Dim>(exec, {.order = order, .method = method}, sizes);
    const double found =
        std::log2(errors.front() / errors.back()) / static_cast<double>(errors.size() - 1);
    EXPECT_GE(found, slope) << "order " << order << ", errors " << errors.front() << " to "
                            << errors.back();
    EXPECT_LE(errors.back(), last);
  }
}

TYPED_TEST(Analytic, FirstOrderConverges) {
  converges<2>(TypeParam::exec(), 1, {26, 51, 101}, 0.85, 2e-3);
  converges<3>(TypeParam::exec(), 1, {11, 21, 41}, 0.8, 6e-3);
}

TYPED_TEST(Analytic, SecondOrderConverges) {
  converges<2>(TypeParam::exec(), 2, {26, 51, 101}, 1.75, 1e-4);
  converges<3>(TypeParam::exec(), 2, {11, 21, 41}, 1.6, 8e-4);
}

template <class Memory>
void without_the_factor_the_source_spoils_the_order(const Instance<Memory>& exec) {
  const std::vector<int> sizes{26, 51, 101};
  const auto with = gradient_errors<2>(exec, {.order = 2}, sizes);
  const auto without = gradient_errors<2>(exec, {.order = 2, .factored = false}, sizes);
  EXPECT_GT(without.back(), 10.0 * with.back());
  EXPECT_LT(std::log2(without[1] / without[2]), 1.4);
  EXPECT_LT(without.back(), 0.02);  // still a solution
}
TYPED_TEST(Analytic, WithoutTheFactorTheSourceSpoilsTheOrder) {
  without_the_factor_the_source_spoils_the_order(TypeParam::exec());
}

template <class Memory>
void elliptical_media_are_stretched_isotropic_ones(const Instance<Memory>& exec) {
  // stretching x by sqrt(1 + 2 epsilon) makes v(z) with constant epsilon isotropic
  const double e = 0.3, stretch = std::sqrt(1.0 + 2.0 * e);
  auto grid = make_cube<2>(101, 1000.0);
  const Point<2> source{420.0, 130.0};
  const auto times = solve<double, 2>(
      exec, grid, elliptical<2>(gradient<2>(1500.0, 1.5), constant<2>(e)), {source});
  const auto exact = gradient_time<2>(1500.0, 1.5, {source[0] / stretch, source[1]});
  EXPECT_LE(largest_error<2>(grid, times,
                             [&](const Point<2>& p) {
                               return exact({p[0] / stretch, p[1]});
                             }),
            2e-4);
}
TYPED_TEST(Analytic, EllipticalMediaAreStretchedIsotropicOnes) {
  elliptical_media_are_stretched_isotropic_ones(TypeParam::exec());
}

template <class Memory>
void head_waves_arrive_first_beyond_the_crossover(const Instance<Memory>& exec) {
  // layer of 1500 m/s, 200 m thick, over 4000 m/s; source at the surface
  Grid<2> grid;
  grid.extents = {401, 61};
  grid.spacing = {5.0, 5.0};
  grid.origin = {0.0, 0.0};
  const double v1 = 1500.0, v2 = 4000.0, h = 200.0;
  const Point<2> source{0.0, 0.0};
  const auto times = solve<double, 2>(
      exec, grid, {[=](const Point<2>& p) { return p[1] < h - 2.5 ? v1 : v2; }, {}, {}}, {source});
  const double head = 2.0 * h * std::sqrt(1.0 / (v1 * v1) - 1.0 / (v2 * v2));
  int heads = 0;
  for (std::int64_t i = 0; i < grid.extents[0]; ++i) {
    const double x = 5.0 * static_cast<double>(i);
    const double exact = std::min(x / v1, head + x / v2);
    heads += exact < x / v1 ? 1 : 0;
    // the position of the boundary is uncertain by one spacing
    EXPECT_NEAR(times[static_cast<std::size_t>(grid.flat({i, 0}))], exact, 0.004) << "x " << x;
  }
  EXPECT_GT(heads, 200);
}
TYPED_TEST(Analytic, HeadWavesArriveFirstBeyondTheCrossover) {
  head_waves_arrive_first_beyond_the_crossover(TypeParam::exec());
}

template <class Memory>
void source_and_receiver_can_change_places(const Instance<Memory>& exec) {
  const auto grid = make_cube<2>(121, 1200.0);
  const Formulas<2> medium{[](const Point<2>& p) {
                             return 2000.0 + 500.0 * std::sin(p[0] / 150.0) +
                                    400.0 * std::cos(p[1] / 200.0);
                           },
                           constant<2>(0.2), constant<2>(0.05)};
  const Index<2> a{13, 7}, b{101, 93};
  const double there = solve<double, 2>(exec, grid, medium,
                                        {grid.position(a)})[static_cast<std::size_t>(grid.flat(b))];
  const double back = solve<double, 2>(exec, grid, medium,
                                       {grid.position(b)})[static_cast<std::size_t>(grid.flat(a))];
  EXPECT_NEAR(there, back, 2e-4 * there);
}
TYPED_TEST(Analytic, SourceAndReceiverCanChangePlaces) {
  source_and_receiver_can_change_places(TypeParam::exec());
}

template <class Memory>
void velocity_across_the_axis(const Instance<Memory>& exec) {
  const auto grid = make_cube<2>(9, 80.0);
  const auto medium =
      make_model<double>(exec, grid, {gradient<2>(1500.0, 1.0), constant<2>(0.22), {}});
  const auto out = make_field<double>(exec, grid, "out");
  eikonal::symmetry_plane_velocity(exec, grid, medium.velocity, medium.epsilon, out);
  EXPECT_LE(largest_error<2>(grid, to_host(exec, out),
                             [](const Point<2>& p) { return (1500.0 + p[1]) * 1.2; }),
            1e-14);
}
TYPED_TEST(Analytic, VelocityAcrossTheAxis) { velocity_across_the_axis(TypeParam::exec()); }

// Compares with the largest x X + z Z over many points of the slowness surface.
TEST(HomogeneousTime, IsTheSupportOfTheSlownessSurface) {
  for (const double e : {-0.2, 0.0, 0.15, 0.6, 2.0}) {
    for (const double d : {-0.3, 0.0, 0.1, 0.2}) {
      if (d > e + 0.25 * (1.0 + 2.0 * e)) continue;
      const auto medium = eikonal::make_constants(2500.0, e, d);
      for (const double angle : {0.0, 0.1, 0.7, 1.2, 1.5707}) {
        const double X = 1000.0 * std::sin(angle), Z = 1000.0 * std::cos(angle);
        double largest = 0.0;
        for (int k = 0; k <= 200000; ++k) {
          const double x = std::sin(1.5707963267948966 * k / 200000.0);
          const double z = std::sqrt((1.0 - x * x) / (1.0 - medium.anellipticity * x * x));
          largest = std::max(largest, x * X / medium.horizontal + z * Z / medium.vertical);
        }
        const auto found = eikonal::homogeneous(medium, X, -Z);
        EXPECT_NEAR(found.time, largest, 1e-9 * largest) << "epsilon " << e << ", delta " << d;
        EXPECT_NEAR(found.horizontal * X - found.vertical * Z, found.time, 1e-12);
      }
    }
  }
}

TEST(HomogeneousTime, VelocitiesAlongAxisAcrossItAndNormalMoveout) {
  const double v = 2000.0, e = 0.3, d = 0.1;
  const auto medium = eikonal::make_constants(v, e, d);
  EXPECT_NEAR(eikonal::homogeneous(medium, 0.0, 500.0).time, 500.0 / v, 1e-15);
  EXPECT_NEAR(eikonal::homogeneous(medium, 500.0, 0.0).time, 500.0 / (v * std::sqrt(1.6)), 1e-15);
  // near the axis the wavefront's curvature is that of v sqrt(1 + 2 delta)
  const double x = 1.0, z = 500.0;
  const double t = eikonal::homogeneous(medium, x, z).time;
  EXPECT_NEAR(t * t - z * z / (v * v), x * x / (v * v * (1.0 + 2.0 * d)), 1e-11);
}

}  // namespace
