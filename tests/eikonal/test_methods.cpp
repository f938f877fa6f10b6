// SPDX-License-Identifier: BSD-3-Clause
//
// The parallel methods against the sequential reference, several sources, options and input.

#include "eikonal/fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace moho;
using namespace moho::testing;
using eikonal::Method;
using eikonal::Options;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// How far methods may differ. At second order the choice of differences has steps, and in rough
/// media the rounding of single precision takes some nodes to the other side of one.
template <class T>
constexpr double same(int order) {
  return std::is_same_v<T, float> ? order == 1 ? 1e-5 : 2e-3 : 1e-12;
}

template <class Case>
class Methods : public ::testing::Test {};
TYPED_TEST_SUITE(Methods, TestCases, CaseName);

/// Random media on grids that tiles do not divide; sources on borders, on nodes and between them.
template <class T, int Dim, class Exec>
void agrees_with_marching() {
  Grid<Dim> grid = make_cube<Dim>(Dim == 2 ? 75 : 21, 1000.0);
  grid.extents[0] += Dim == 2 ? 22 : 8;
  grid.extents[Dim - 1] -= 2;
  grid.spacing[0] *= 1.7;
  Point<Dim> corner = grid.origin, inside = grid.position(grid.node(grid.size() / 3));
  inside[0] += 0.4 * grid.spacing[0];
  for (int d = 0; d < Dim; ++d) inside[d] = std::min(inside[d], grid.upper(d));
  Index<Dim> surface{};
  for (int d = 0; d + 1 < Dim; ++d) surface[d] = grid.extents[d] / 2;
  const Formula<Dim> smooth = [](const Point<Dim>& p) {
    double v = 2500.0;
    for (int d = 0; d < Dim; ++d) v += 500.0 * std::sin(p[d] / (90.0 + 40.0 * d));
    return v;
  };
  const std::vector<Formulas<Dim>> media{
      {noise(grid, 1500.0, 4500.0, 1), {}, {}},
      {smooth, noise(grid, -0.1, 0.4, 2), {}},
      {smooth, noise(grid, 0.0, 0.3, 3), noise(grid, -0.1, 0.2, 4)}};
  for (const Points<Dim>& source :
       {Points<Dim>{corner}, Points<Dim>{inside}, Points<Dim>{grid.position(surface)}}) {
    for (std::size_t m = 0; m < media.size(); ++m) {
      for (const int order : {1, 2}) {
        for (const bool factored : {true, false}) {
          if (!factored && (m > 0 || order == 1)) continue;
          const auto reference =
              march<T, Dim>(grid, media[m], source, {.order = order, .factored = factored});
          for (const Method method : {Method::active_tiles, Method::sweeping}) {
            const Options options{.order = order, .factored = factored, .method = method};
            EXPECT_LE(largest_difference(solve<T, Dim>(Exec(), grid, media[m], source, options),
                                         reference),
                      same<T>(order))
                << Dim << "D, medium " << m << ", order " << order << ", factored " << factored
                << ", " << to_string(method) << ", source " << format_point(source[0]);
          }
        }
      }
    }
  }
}

TYPED_TEST(Methods, AgreeWithFastMarchingIn2D) {
  agrees_with_marching<typename TypeParam::Scalar, 2, typename TypeParam::Exec>();
}
TYPED_TEST(Methods, AgreeWithFastMarchingIn3D) {
  agrees_with_marching<typename TypeParam::Scalar, 3, typename TypeParam::Exec>();
}

TYPED_TEST(Methods, GridsThatAreFlatAlongAnAxis) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  for (const Index<2>& extents :
       {Index<2>{1, 40}, Index<2>{40, 1}, Index<2>{2, 40}, Index<2>{1, 1}, Index<2>{33, 65}}) {
    Grid<2> grid = make_cube<2>(2, 10.0);
    grid.extents = extents;
    const Point<2> source{0.0, 0.0};
    const auto times = solve<T, 2>(Exec(), grid, {constant<2>(2000.0), {}, {}}, {source});
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      const Point<2> p = grid.position(grid.node(i));
      const double exact = std::hypot(p[0], p[1]) / 2000.0;
      EXPECT_NEAR(times[static_cast<std::size_t>(i)], exact, 1e-5 * exact);
    }
  }
}

template <class Exec>
class Sources : public ::testing::Test {};
TYPED_TEST_SUITE(Sources, TestSpaces, SpaceName);

TYPED_TEST(Sources, SeveralGiveTheEarliestOrEachItsOwn) {
  const TypeParam exec;
  const auto grid = make_cube<2>(70, 690.0);
  const Formulas<2> formulas{gradient<2>(1500.0, 1.0), {}, {}};
  const Points<2> sources{{5.0, 5.0}, {640.0, 33.3}, {300.0, 690.0}};
  const auto medium = make_medium<double>(exec, grid, formulas);
  const auto each = make_field_per_source<double>(exec, 3, grid, "each");
  eikonal::solve_each<double, 2, TypeParam>(exec, grid, medium, sources, each);
  const auto all = to_host(each);
  std::vector<double> earliest(static_cast<std::size_t>(grid.size()), 1e300);
  for (std::size_t s = 0; s < 3; ++s) {
    const auto alone = solve<double, 2>(exec, grid, formulas, {sources[s]});
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_NEAR(all[s * alone.size() + i], alone[i], 1e-13);
      earliest[i] = std::min(earliest[i], alone[i]);
    }
  }
  EXPECT_LE(largest_difference(solve<double, 2>(exec, grid, formulas, sources), earliest), 1e-13);
  const auto marched = march<double, 2>(grid, formulas, sources);
  EXPECT_LE(largest_difference(marched, earliest), 1e-13);

  // a budget that holds one source at a time
  const Options little{.memory_budget = 150000};
  const auto report =
      eikonal::solve_each<double, 2, TypeParam>(exec, grid, medium, sources, each, little);
  EXPECT_GT(report.batches, 1);
  EXPECT_LE(largest_difference(to_host(each), all), 1e-13);
  EXPECT_LE(largest_difference(solve<double, 2>(exec, grid, formulas, sources, little), earliest),
            1e-13);
}

TYPED_TEST(Sources, ReportAndProgress) {
  const TypeParam exec;
  const auto grid = make_cube<2>(100, 990.0);
  const auto medium = make_medium<float>(exec, grid, {constant<2>(2000.0), {}, {}});
  const auto times = make_field<float>(exec, grid, "times");
  for (const Method method : {Method::active_tiles, Method::sweeping}) {
    std::vector<double> fractions;
    Options options{.method = method};
    options.progress = [&](double fraction, const std::string&) { fractions.push_back(fraction); };
    const auto report =
        eikonal::solve<float, 2, TypeParam>(exec, grid, medium, {{500.0, 0.0}}, times, options);
    EXPECT_GT(report.rounds, 1);
    EXPECT_GE(report.tile_visits, 16);
    EXPECT_GE(report.updates, grid.size());
    EXPECT_EQ(report.batches, 1);
    ASSERT_FALSE(fractions.empty());
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_EQ(fractions.back(), 1.0);
  }
}

template <class Exec>
class Input : public ::testing::Test {};
TYPED_TEST_SUITE(Input, TestSpaces, SpaceName);

TYPED_TEST(Input, WrongMediaAreNamedWithTheirNode) {
  const TypeParam exec;
  const auto grid = make_cube<2>(20, 190.0, 100.0);
  const auto times = make_field<double>(exec, grid, "times");
  const auto run = [&](const Formulas<2>& formulas) {
    eikonal::solve<double, 2, TypeParam>(exec, grid, make_medium<double>(exec, grid, formulas),
                                         {{150.0, 150.0}}, times);
  };
  const auto with = [](double good, double bad) {
    return [=](const Point<2>& p) { return p[0] > 134.0 && p[1] > 171.0 ? bad : good; };
  };
  const std::string where = " at node (4, 8), position (140, 180)";
  for (const double bad : {std::nan(""), 0.0, -3.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(
        [&] {
          run({with(2000.0, bad), {}, {}});
        },
        ThrowsMessage<InputError>(AllOf(HasSubstr("velocity is "), HasSubstr(where),
                                        HasSubstr("allowed: positive and finite"))));
  }
  const auto v = constant<2>(2000.0);
  EXPECT_THAT(
      [&] {
        run({v, with(0.1, 17.0), {}});
      },
      ThrowsMessage<InputError>(
          AllOf(HasSubstr("epsilon is 17" + where), HasSubstr("allowed: -0.4 to 2"))));
  EXPECT_THAT(
      [&] {
        run({v, with(0.1, std::nan("")), {}});
      },
      ThrowsMessage<InputError>(HasSubstr("epsilon is nan" + where)));
  EXPECT_THAT(
      [&] {
        run({v, constant<2>(0.1), with(0.1, -0.5)});
      },
      ThrowsMessage<InputError>(HasSubstr("delta is -0.5" + where)));
  EXPECT_THAT(
      [&] {
        run({v, constant<2>(0.1), with(0.1, 0.45)});
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("delta is 0.45 where epsilon is 0.1" + where),
                                      HasSubstr("= 0.4, beyond which wavefronts fold"))));
  EXPECT_THAT(
      [&] {
        run({v, {}, constant<2>(0.1)});
      },
      ThrowsMessage<InputError>(HasSubstr("delta: it was given without epsilon")));
}

TYPED_TEST(Input, WrongSourcesShapesAndOptions) {
  const TypeParam exec;
  const auto grid = make_cube<2>(20, 190.0);
  const auto medium = make_medium<double>(exec, grid, {constant<2>(2000.0), {}, {}});
  const auto times = make_field<double>(exec, grid, "times");
  const auto run = [&](const Points<2>& sources, const Options& options) {
    eikonal::solve<double, 2, TypeParam>(exec, grid, medium, sources, times, options);
  };
  const Points<2> source{{10.0, 10.0}};
  EXPECT_THAT([&] { run({}, {}); },
              ThrowsMessage<InputError>(HasSubstr("sources: there are none")));
  EXPECT_THAT(
      [&] {
        run({source[0], {10.0, 191.0}}, {});
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("source 1: (10, 191) is outside the model"),
                                      HasSubstr("allowed: x 0 to 190, z 0 to 190"))));
  for (const int order : {0, 3}) {
    EXPECT_THAT(
        [&] { run(source, {.order = order}); },
        ThrowsMessage<InputError>(HasSubstr(concat("order is ", order, " (allowed: 1 or 2"))));
  }
  EXPECT_THAT([&] { run(source, {.tiles_ahead = -1.0}); },
              ThrowsMessage<InputError>(HasSubstr("tiles_ahead is -1")));
  EXPECT_THAT([&] { run(source, {.memory_budget = 100}); },
              ThrowsMessage<MemoryError>(
                  AllOf(HasSubstr("one source needs"), HasSubstr("100 B, the budget"))));
  const auto other = make_field<double>(exec, make_cube<2>(19, 180.0), "other");
  EXPECT_THAT([&] { (eikonal::solve<double, 2, TypeParam>(exec, grid, medium, source, other)); },
              ThrowsMessage<InputError>(HasSubstr("times: its shape is 19 x 19")));
  for (int k = 0; k < 3; ++k) {
    auto wrong = medium;
    wrong.epsilon = wrong.delta = make_values<double>(exec, grid, constant<2>(0.1));
    (k == 0 ? wrong.velocity : k == 1 ? wrong.epsilon : wrong.delta) = other;
    const std::string name = k == 0 ? "velocity" : k == 1 ? "epsilon" : "delta";
    EXPECT_THAT([&] { (eikonal::solve<double, 2, TypeParam>(exec, grid, wrong, source, times)); },
                ThrowsMessage<InputError>(HasSubstr(name + ": its shape is 19 x 19")));
  }
  const auto each = make_field_per_source<double>(exec, 2, grid, "each");
  EXPECT_THAT(
      [&] { (eikonal::solve_each<double, 2, TypeParam>(exec, grid, medium, source, each)); },
      ThrowsMessage<InputError>(HasSubstr("times: its shape is 2 x 20 x 20")));
  EXPECT_THAT([&] { eikonal::symmetry_plane_velocity(exec, grid, medium.velocity, other, times); },
              ThrowsMessage<InputError>(HasSubstr("epsilon: its shape is 19 x 19")));
}

TYPED_TEST(Input, TheIsotropicFormTakesAVelocity) {
  const TypeParam exec;
  const auto grid = make_cube<2>(30, 290.0);
  const auto velocity = make_values<float>(exec, grid, constant<2>(1000.0));
  const auto times = make_field<float>(exec, grid, "times");
  eikonal::solve(exec, grid, velocity, {{0.0, 0.0}}, times);
  EXPECT_NEAR(to_host(times).back(), std::hypot(290.0, 290.0) / 1000.0, 1e-5);
}

}  // namespace
