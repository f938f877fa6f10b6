// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, cost 7, threads 2
// ctest: sanitizers without *serial*
//
// The parallel methods against the sequential reference; several sources, options and invalid
// input.

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

/// Returns the tolerance between methods. On hosts second order gives the same bits. Rounding on
/// devices differs; in single precision and rough media it changes the neighbours selected at some
/// nodes.
template <class T, class Memory>
constexpr double same(int order) {
  if (order == 2 && is_host_memory<Memory>) return 0.0;
  return std::is_same_v<T, float> ? order == 1 ? 1e-5 : 2e-3 : 1e-12;
}

template <class Case>
class Methods : public ::testing::Test {};
TYPED_TEST_SUITE(Methods, TestCases, CaseName);

/// Random media on grids not divisible by tiles; sources on borders, on nodes and between nodes.
template <class T, int Dim, class Memory>
void agrees_with_marching(const Instance<Memory>& exec) {
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
      elliptical<Dim>(smooth, noise(grid, -0.1, 0.4, 2)),
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
            EXPECT_LE(
                largest_difference(solve<T, Dim>(exec, grid, media[m], source, options), reference),
                (same<T, Memory>(order)))
                << Dim << "D, medium " << m << ", order " << order << ", factored " << factored
                << ", " << to_string(method) << ", source " << format_point(source[0]);
          }
        }
      }
    }
  }
}

TYPED_TEST(Methods, AgreeWithFastMarchingIn2D) {
  agrees_with_marching<typename TypeParam::Scalar, 2>(TypeParam::exec());
}
TYPED_TEST(Methods, AgreeWithFastMarchingIn3D) {
  agrees_with_marching<typename TypeParam::Scalar, 3>(TypeParam::exec());
}

/// A model and a source mirrored along an axis have mirrored times.
template <int Dim, class Memory>
void mirrored(const Instance<Memory>& exec) {
  const Grid<Dim> grid = make_cube<Dim>(Dim == 2 ? 22 : 12, 10.0 * (Dim == 2 ? 21 : 11));
  const Formula<Dim> rough = noise(grid, 1500.0, 2500.0, 5);
  Point<Dim> source{};
  for (int d = 0; d < Dim; ++d) source[d] = grid.position(Index<Dim>{})[d] + 53.0 + 4.0 * d;
  const auto times = solve<double, Dim>(exec, grid, {rough, {}, {}}, {source}, {.order = 2});
  for (int axis = 0; axis < Dim; ++axis) {
    const auto turned = [&](Point<Dim> p) {
      p[axis] = grid.origin[axis] + grid.upper(axis) - p[axis];
      return p;
    };
    const Formula<Dim> other = [&](const Point<Dim>& p) { return rough(turned(p)); };
    const auto found =
        solve<double, Dim>(exec, grid, {other, {}, {}}, {turned(source)}, {.order = 2});
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      Index<Dim> node = grid.node(i);
      node[axis] = grid.extents[axis] - 1 - node[axis];
      EXPECT_NEAR(found[static_cast<std::size_t>(grid.flat(node))],
                  times[static_cast<std::size_t>(i)], 1e-10)
          << Dim << "D, axis " << axis;
    }
  }
}
TYPED_TEST(Methods, MirroredModelsHaveMirroredTimes) {
  mirrored<2>(TypeParam::exec());
  mirrored<3>(TypeParam::exec());
}

template <class T, class Memory>
void grids_that_are_flat_along_an_axis(const Instance<Memory>& exec) {
  for (const Index<2>& extents :
       {Index<2>{1, 40}, Index<2>{40, 1}, Index<2>{2, 40}, Index<2>{1, 1}, Index<2>{33, 65}}) {
    Grid<2> grid = make_cube<2>(2, 10.0);
    grid.extents = extents;
    const Point<2> source{0.0, 0.0};
    const auto times = solve<T, 2>(exec, grid, {constant<2>(2000.0), {}, {}}, {source});
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      const Point<2> p = grid.position(grid.node(i));
      const double exact = std::hypot(p[0], p[1]) / 2000.0;
      EXPECT_NEAR(times[static_cast<std::size_t>(i)], exact, 1e-5 * exact);
    }
  }
}
TYPED_TEST(Methods, GridsThatAreFlatAlongAnAxis) {
  grids_that_are_flat_along_an_axis<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class Space>
class Sources : public ::testing::Test {};
TYPED_TEST_SUITE(Sources, TestSpaces, SpaceName);

template <class Memory>
void several_give_the_earliest_or_each_its_own(const Instance<Memory>& exec) {
  const auto grid = make_cube<2>(70, 690.0);
  const Formulas<2> formulas{gradient<2>(1500.0, 1.0), {}, {}};
  const Points<2> sources{{5.0, 5.0}, {640.0, 33.3}, {300.0, 690.0}};
  const auto model = make_model<double>(exec, grid, formulas);
  const auto each = make_field_per_source<double>(exec, 3, grid, "each");
  eikonal::solve_each(exec, grid, model, sources, each);
  const auto all = to_host(exec, each);
  std::vector<double> earliest(static_cast<std::size_t>(grid.size()), 1e300);
  for (std::size_t s = 0; s < 3; ++s) {
    const auto alone = solve<double, 2>(exec, grid, formulas, {sources[s]});
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_NEAR(all[s * alone.size() + i], alone[i], 1e-13);
      earliest[i] = std::min(earliest[i], alone[i]);
    }
  }
  EXPECT_LE(largest_difference(solve<double, 2>(exec, grid, formulas, sources), earliest), 1e-13);
  // At first order the solution is unique. At second order results of a device may differ from the
  // sequential ones. The stencil of a node can depend on the order of threads.
  const Options first{.order = 1};
  EXPECT_LE(largest_difference(march<double, 2>(grid, formulas, sources, first),
                               solve<double, 2>(exec, grid, formulas, sources, first)),
            1e-13);
  const auto marched = march<double, 2>(grid, formulas, sources);
  EXPECT_LE(largest_difference(marched, earliest), 1e-13);

  // budget for one source at a time
  const Options little{.memory_budget = 150000};
  const auto report = eikonal::solve_each(exec, grid, model, sources, each, little);
  EXPECT_GT(report.batches, 1);
  EXPECT_LE(largest_difference(to_host(exec, each), all), 1e-13);
  EXPECT_LE(largest_difference(solve<double, 2>(exec, grid, formulas, sources, little), earliest),
            1e-13);
}
TYPED_TEST(Sources, SeveralGiveTheEarliestOrEachItsOwn) {
  several_give_the_earliest_or_each_its_own(TypeParam::exec());
}

template <class Memory>
void report_and_progress(const Instance<Memory>& exec) {
  const auto grid = make_cube<2>(100, 990.0);
  const auto model = make_model<float>(exec, grid, {constant<2>(2000.0), {}, {}});
  const auto times = make_field<float>(exec, grid, "times");
  for (const Method method : {Method::active_tiles, Method::sweeping}) {
    std::vector<double> fractions;
    Options options{.method = method};
    options.progress = [&](double fraction, const std::string&) { fractions.push_back(fraction); };
    const auto report = eikonal::solve(exec, grid, model, {{500.0, 0.0}}, times, options);
    EXPECT_GT(report.rounds, 1);
    EXPECT_GE(report.tile_visits, 16);
    EXPECT_GE(report.updates, grid.size());
    EXPECT_EQ(report.batches, 1);
    ASSERT_FALSE(fractions.empty());
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_EQ(fractions.back(), 1.0);
  }
}
TYPED_TEST(Sources, ReportAndProgress) { report_and_progress(TypeParam::exec()); }

template <class Space>
class Input : public ::testing::Test {};
TYPED_TEST_SUITE(Input, TestSpaces, SpaceName);

template <class Memory>
void wrong_media_are_named_with_their_node(const Instance<Memory>& exec) {
  const auto grid = make_cube<2>(20, 190.0, 100.0);
  const auto times = make_field<double>(exec, grid, "times");
  const auto run = [&](const Formulas<2>& formulas) {
    eikonal::solve(exec, grid, make_model<double>(exec, grid, formulas), {{150.0, 150.0}}, times);
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
  // absent fields count as zero
  EXPECT_THAT(
      [&] {
        run({v, with(0.1, -0.3), {}});
      },
      ThrowsMessage<InputError>(
          AllOf(HasSubstr("delta is 0, absent, where epsilon is -0.3" + where),
                HasSubstr("the field of epsilon itself"))));
  EXPECT_NO_THROW(run(elliptical<2>(v, with(0.1, -0.3))));
  EXPECT_THAT(
      [&] {
        run({v, {}, with(0.1, 0.3)});
      },
      ThrowsMessage<InputError>(HasSubstr("delta is 0.3 where epsilon is 0" + where)));
}
TYPED_TEST(Input, WrongMediaAreNamedWithTheirNode) {
  wrong_media_are_named_with_their_node(TypeParam::exec());
}

template <class Memory>
void wrong_sources_shapes_and_options(const Instance<Memory>& exec) {
  const auto grid = make_cube<2>(20, 190.0);
  const auto model = make_model<double>(exec, grid, {constant<2>(2000.0), {}, {}});
  const auto times = make_field<double>(exec, grid, "times");
  const auto run = [&](const Points<2>& sources, const Options& options) {
    eikonal::solve(exec, grid, model, sources, times, options);
  };
  const Points<2> source{{10.0, 10.0}};
  EXPECT_THAT([&] { run({}, {}); },
              ThrowsMessage<InputError>(HasSubstr("sources: there are none")));
  EXPECT_THAT(
      [&] {
        run({source[0], {10.0, 191.0}}, {});
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("source 2: (10, 191) is outside the model"),
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
  EXPECT_THAT([&] { eikonal::solve(exec, grid, model, source, other); },
              ThrowsMessage<InputError>(HasSubstr("times: its shape is 19 x 19")));
  for (int k = 0; k < 3; ++k) {
    auto wrong = model;
    wrong.epsilon = wrong.delta = make_values<double>(exec, grid, constant<2>(0.1));
    (k == 0 ? wrong.velocity : k == 1 ? wrong.epsilon : wrong.delta) = other;
    const std::string name = k == 0 ? "velocity" : k == 1 ? "epsilon" : "delta";
    EXPECT_THAT([&] { (eikonal::solve(exec, grid, wrong, source, times)); },
                ThrowsMessage<InputError>(HasSubstr(name + ": its shape is 19 x 19")));
  }
  const auto each = make_field_per_source<double>(exec, 2, grid, "each");
  EXPECT_THAT([&] { (eikonal::solve_each(exec, grid, model, source, each)); },
              ThrowsMessage<InputError>(HasSubstr("times: its shape is 2 x 20 x 20")));
  EXPECT_THAT([&] { eikonal::symmetry_plane_velocity(exec, grid, model.velocity, other, times); },
              ThrowsMessage<InputError>(HasSubstr("epsilon: its shape is 19 x 19")));
}
TYPED_TEST(Input, WrongSourcesShapesAndOptions) {
  wrong_sources_shapes_and_options(TypeParam::exec());
}

// Rows of a larger field have gaps between them and are refused.
template <class Memory>
void parts_of_larger_views_are_refused(const Instance<Memory>& exec) {
  Grid<2> grid = make_cube<2>(20, 190.0);
  Grid<2> wide = grid;
  wide.extents[1] = 25;
  const Formulas<2> formulas{constant<2>(2000.0), constant<2>(0.1), constant<2>(0.05)};
  const auto model = make_model<double>(exec, grid, formulas);
  const auto times = make_field<double>(exec, grid, "times");
  const auto large = make_field<double>(exec, wide, "large");
  const Field<double, 2, Memory> part =
      Kokkos::subview(large, Kokkos::ALL(), std::make_pair(std::size_t(0), std::size_t(20)));
  const Points<2> source{{10.0, 10.0}};
  const auto refused = [](const std::string& name) {
    return ThrowsMessage<InputError>(HasSubstr(name + ": it is a part of a larger view"));
  };
  for (int k = 0; k < 3; ++k) {
    auto wrong = model;
    (k == 0 ? wrong.velocity : k == 1 ? wrong.epsilon : wrong.delta) = part;
    EXPECT_THAT([&] { eikonal::solve(exec, grid, wrong, source, times); },
                refused(k == 0   ? "velocity"
                        : k == 1 ? "epsilon"
                                 : "delta"));
  }
  EXPECT_THAT([&] { eikonal::solve(exec, grid, model, source, part); }, refused("times"));
  EXPECT_THAT([&] { eikonal::solve(exec, grid, part, source, times); }, refused("velocity"));
  EXPECT_THAT([&] { eikonal::symmetry_plane_velocity(exec, grid, model.velocity, part, times); },
              refused("epsilon"));
  EXPECT_THAT([&] { eikonal::symmetry_plane_velocity(exec, grid, part, model.epsilon, times); },
              refused("velocity"));
  EXPECT_THAT(
      [&] { eikonal::symmetry_plane_velocity(exec, grid, model.velocity, model.epsilon, part); },
      refused("out"));
  if constexpr (is_host_memory<Memory>) {
    EXPECT_THAT([&] { eikonal::fast_marching(exec, grid, model, source, part); }, refused("times"));
  }
}
TYPED_TEST(Input, PartsOfLargerViewsAreRefused) {
  parts_of_larger_views_are_refused(TypeParam::exec());
}

template <class Memory>
void the_isotropic_form_takes_a_velocity(const Instance<Memory>& exec) {
  const auto grid = make_cube<2>(30, 290.0);
  const auto velocity = make_values<float>(exec, grid, constant<2>(1000.0));
  const auto times = make_field<float>(exec, grid, "times");
  eikonal::solve(exec, grid, velocity, {{0.0, 0.0}}, times);
  EXPECT_NEAR(to_host(exec, times).back(), std::hypot(290.0, 290.0) / 1000.0, 1e-5);
}
TYPED_TEST(Input, TheIsotropicFormTakesAVelocity) {
  the_isotropic_form_takes_a_velocity(TypeParam::exec());
}

}  // namespace
