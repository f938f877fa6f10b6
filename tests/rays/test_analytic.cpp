// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Models with known traveltimes and rays: constant velocity, a linear gradient, a line of nodes.

#include "rays/model.hpp"

namespace {

using namespace moho::testing;
using moho::Index;
using moho::Instance;
using moho::Point;
using moho::Points;
using moho::rays::GraphOptions;
using moho::rays::Star;
using moho::rays::WeightRule;

template <int Dim>
double distance(const Point<Dim>& a, const Point<Dim>& b) {
  double square = 0.0;
  for (int d = 0; d < Dim; ++d) square += (a[d] - b[d]) * (a[d] - b[d]);
  return std::sqrt(square);
}

// Returns the largest relative error over all nodes of a constant model, source in a corner.
template <class T, int Dim, class Memory>
double worst_direction(const Instance<Memory>& exec, int radius, Star star, std::int64_t nodes,
                       double ratio = 1.0) {
  Index<Dim> extents;
  for (int d = 0; d < Dim; ++d) extents[d] = nodes;
  Point<Dim> spacing = all_ones<Dim>();
  spacing[0] = ratio;
  const auto model = constant_model<Dim>(extents, 2.0, spacing);
  GraphOptions options;
  options.radius = radius;
  options.star = star;
  const auto found = solve(exec, make_graph<T>(exec, model, options), {Point<Dim>{}});
  double worst = 0.0;
  for (std::int64_t i = 1; i < model.grid.size(); ++i) {
    const double exact = distance<Dim>(model.grid.position(model.grid.node(i)), {}) / 2.0;
    const double error =
        static_cast<double>(found.times[static_cast<std::size_t>(i)]) / exact - 1.0;
    EXPECT_GE(error, -same<T>);  // no path is shorter than the straight line
    worst = std::max(worst, error);
  }
  return worst;
}

template <class C>
class ConstantModel : public ::testing::Test {};
TYPED_TEST_SUITE(ConstantModel, TestCases, CaseName);

// Between (r, 0) and (r, 1) the shortest path has edges of both directions. Along the bisector its
// relative length is 1 / cos of half the angle between them.
template <class T, class Memory>
void worst_direction_is_the_bound2d(const Instance<Memory>& exec) {
  for (int r = 1; r <= 8; ++r) {
    const double bound = 1.0 / std::cos(0.5 * std::atan(1.0 / r)) - 1.0;
    EXPECT_NEAR(moho::rays::angular_error_bound(r), bound, 1e-15);
    for (const auto star : all_stars) {
      const double worst = worst_direction<T, 2>(exec, r, star, 8 * r + 1);
      EXPECT_LE(worst, bound + same<T>) << "radius " << r;
      EXPECT_GE(worst, 0.97 * bound) << "radius " << r;
    }
  }
  for (const double ratio : {4.0, 0.5}) {
    const double bound = moho::rays::angular_error_bound(3, ratio);
    const double worst = worst_direction<T, 2>(exec, 3, Star::coprime, 49, ratio);
    EXPECT_LE(worst, bound + same<T>) << ratio;
    EXPECT_GE(worst, 0.97 * bound) << ratio;
  }
  // numbers quoted on the pages
  EXPECT_NEAR(moho::rays::angular_error_bound(6, 4.0), 0.045, 0.0005);
  EXPECT_NEAR(moho::rays::angular_error_bound(1), 0.082, 0.0005);
  EXPECT_NEAR(moho::rays::angular_error_bound(3), 0.0131, 0.0001);
  EXPECT_NEAR(moho::rays::angular_error_bound(6), 0.0034, 0.0001);
}
TYPED_TEST(ConstantModel, WorstDirectionIsTheBound2D) {
  worst_direction_is_the_bound2d<typename TypeParam::Scalar>(TypeParam::exec());
}

// Among the directions of (r, 0, 0), (r, 1, 0) and (r, 1, 1) the traveltime is a linear function c
// . x. Its coefficients are c_x = 1, c_y = sqrt(r^2 + 1) - r, c_z = sqrt(r^2 + 2) - sqrt(r^2 + 1).
// The largest error is |c| - 1.
template <class T, class Memory>
void worst_direction_is_the_bound3d(const Instance<Memory>& exec) {
  const double published[] = {0.128, 0.0, 0.0248, 0.0};
  for (const int r : {1, 2, 3}) {
    const double y = std::sqrt(r * r + 1.0) - r;
    const double z = std::sqrt(r * r + 2.0) - std::sqrt(r * r + 1.0);
    const double bound = std::sqrt(1.0 + y * y + z * z) - 1.0;
    if (published[r - 1] > 0.0) {
      EXPECT_NEAR(bound, published[r - 1], 0.0005);
    }
    const double worst = worst_direction<T, 3>(exec, r, Star::coprime, 5 * r + 4);
    EXPECT_LE(worst, bound + same<T>) << "radius " << r;
    EXPECT_GE(worst, 0.95 * bound) << "radius " << r;
  }
}
TYPED_TEST(ConstantModel, WorstDirectionIsTheBound3D) {
  worst_direction_is_the_bound3d<typename TypeParam::Scalar>(TypeParam::exec());
}

// Along the direction of an edge the error is zero for any spacing.
template <class T, class Memory>
void exact_along_the_directions_of_the_star(const Instance<Memory>& exec) {
  const auto model = constant_model<2>({49, 41}, 3.0, {12.5, 4.0}, {100.0, -7.0});
  GraphOptions options;
  options.radius = 5;
  for (const auto rule : all_rules) {
    options.rule = rule;
    const auto graph = make_graph<T>(exec, model, options);
    const Index<2> centre{24, 20};
    const auto found = solve(exec, graph, {model.grid.position(centre)});
    for (const auto& offset : graph.star()) {
      for (int k = -4; k <= 4; ++k) {
        const Index<2> node{centre[0] + k * offset[0], centre[1] + k * offset[1]};
        const double exact =
            distance<2>(model.grid.position(node), model.grid.position(centre)) / 3.0;
        EXPECT_NEAR(found.times[static_cast<std::size_t>(model.grid.flat(node))], exact,
                    same<T> * exact);
      }
    }
  }
}
TYPED_TEST(ConstantModel, ExactAlongTheDirectionsOfTheStar) {
  exact_along_the_directions_of_the_star<typename TypeParam::Scalar>(TypeParam::exec());
}

// A source between nodes is joined to the nodes within the radius by straight lines.
template <class T, class Memory>
void exact_near_a_source_between_nodes(const Instance<Memory>& exec) {
  const auto model = constant_model<3>({9, 9, 9}, 3.0, {2.0, 4.0, 3.0});
  GraphOptions options;
  options.radius = 2;
  const auto graph = make_graph<T>(exec, model, options);
  const Point<3> source{8.8, 15.1, 12.0};  // index space: 4.4, 3.775, 4
  const auto found = solve(exec, graph, {source});
  int near = 0;
  for (std::int64_t i = 0; i < model.grid.size(); ++i) {
    const Point<3> p = model.grid.position(model.grid.node(i));
    const double exact = distance<3>(p, source) / 3.0;
    const double time = found.times[static_cast<std::size_t>(i)];
    bool joined = true;
    for (int d = 0; d < 3; ++d) {
      joined = joined && std::abs(p[d] - source[d]) <= 2.0 * model.grid.spacing[d];
    }
    near += joined;
    EXPECT_GE(time, exact * (1.0 - same<T>));
    if (joined) {
      EXPECT_NEAR(time, exact, same<T> * exact);
    }
  }
  EXPECT_EQ(near, 4 * 4 * 5);
}
TYPED_TEST(ConstantModel, ExactNearASourceBetweenNodes) {
  exact_near_a_source_between_nodes<typename TypeParam::Scalar>(TypeParam::exec());
}

// A grid one node wide: the traveltime is the sum over the segments.
template <class T, class Memory>
void line_of_nodes(const Instance<Memory>& exec) {
  for (const auto rule : all_rules) {
    GraphOptions options;
    options.rule = rule;
    options.radius = 3;
    const auto model = rough_model<3>({1, 1, 70}, 5.0, 3, {1.0, 1.0, 2.0});
    const auto found =
        solve(exec, make_graph<T>(exec, model, options), {Point<3>{0.0, 0.0, 2.0 * 11}});
    double time = 0.0;
    for (std::int64_t i = 12; i < 70; ++i) {
      const double a = model.velocity[static_cast<std::size_t>(i - 1)];
      const double b = model.velocity[static_cast<std::size_t>(i)];
      double mean = 0.5 / a + 0.5 / b;
      if (rule == WeightRule::velocity) mean = std::log(b / a) / (b - a);
      if (rule == WeightRule::sampled) {
        mean = 0.0;
        for (int k = 0; k < 4; ++k) mean += 0.25 / (a + (b - a) * (k + 0.5) / 4.0);
      }
      time += 2.0 * mean;
      EXPECT_NEAR(found.times[static_cast<std::size_t>(i)], time, same<T> * time)
          << to_string(rule) << ", node " << i;
    }
  }
}
TYPED_TEST(ConstantModel, LineOfNodes) {
  line_of_nodes<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class S>
class GradientModel : public ::testing::Test {};
TYPED_TEST_SUITE(GradientModel, TestSpaces, SpaceName);

constexpr double v0 = 1500.0, g = 0.6, spacing = 20.0;

// Circular rays in v0 + g z; their centres are at depth -v0 / g.
struct Arc {
  double centre_x, radius, deepest;
  Arc(const Point<2>& a, const Point<2>& b) {
    const double za = a[1] + v0 / g, zb = b[1] + v0 / g;
    centre_x = 0.5 * (a[0] + b[0]) + 0.5 * (zb * zb - za * za) / (b[0] - a[0]);
    radius = std::hypot(a[0] - centre_x, za);
    const bool turns = (a[0] - centre_x) * (b[0] - centre_x) < 0.0;
    deepest = turns ? radius - v0 / g : std::max(a[1], b[1]);
  }
};

double gradient_time(const Point<2>& a, const Point<2>& b) {
  const double va = v0 + g * a[1], vb = v0 + g * b[1];
  return 2.0 / g * std::asinh(0.5 * g * distance<2>(a, b) / std::sqrt(va * vb));
}

Model<2> gradient(const Index<2>& extents) {
  return make_model(moho::Grid<2>{extents, {spacing, spacing}, {}}, [](const Index<2>& node) {
    return v0 + g * spacing * static_cast<double>(node[1]);
  });
}

// The graph follows an arc by edges with the angular error of a constant model. The interpolant
// adds (g h / v)^2 / 8 for slowness. The curvature of the arc within an edge adds about that term
// times r^2.
template <class Memory>
void times_are_those_of_circular_rays(const Instance<Memory>& exec) {
  const auto model = gradient({181, 61});
  for (const int radius : {2, 6}) {
    for (const auto rule : {WeightRule::velocity, WeightRule::slowness}) {
      GraphOptions options;
      options.radius = radius;
      options.rule = rule;
      const double bound = 1.0 / std::cos(0.5 * std::atan(1.0 / radius)) - 1.0;
      const double curved = std::pow(g * spacing * radius / v0, 2);
      const Points<2> sources{{0.0, 0.0}, {1010.0, 333.0}};
      const auto found = solve(exec, make_graph<double>(exec, model, options), sources);
      std::int64_t seen = 0, masked = 0;
      double worst = 0.0;
      for (std::size_t s = 0; s < sources.size(); ++s) {
        for (std::int64_t i = 0; i < model.grid.size(); ++i) {
          const Point<2> p = model.grid.position(model.grid.node(i));
          if (distance<2>(p, sources[s]) == 0.0) continue;
          const double exact = gradient_time(sources[s], p);
          const double time = found.times[s * static_cast<std::size_t>(model.grid.size()) +
                                          static_cast<std::size_t>(i)];
          EXPECT_GE(time, exact * (1.0 - 1e-12)) << to_string(rule);
          if (p[0] != sources[s][0] && Arc(sources[s], p).deepest > model.grid.upper(1)) {
            ++masked;
            continue;
          }
          ++seen;
          worst = std::max(worst, time / exact - 1.0);
        }
      }
      EXPECT_LE(worst, bound + curved) << "radius " << radius << ", " << to_string(rule);
      EXPECT_GE(worst, 0.5 * bound);
      EXPECT_GT(masked, 100);  // the mask is needed here
      EXPECT_GT(seen, model.grid.size());
    }
  }
}
TYPED_TEST(GradientModel, TimesAreThoseOfCircularRays) {
  times_are_those_of_circular_rays(TypeParam::exec());
}

// Between the two best directions of a star (atan(1/r) apart) paths of equal length fill a
// parallelogram. Where the true ray is nearly straight, half of its height bounds the distance to
// the ray.
template <class Memory>
void rays_are_near_circular_arcs(const Instance<Memory>& exec) {
  const auto model = gradient({181, 61});
  GraphOptions options;
  options.radius = 6;
  options.rule = WeightRule::velocity;
  const Points<2> sources{{100.0, 0.0}}, receivers{{1500.0, 10.0}, {2200.0, 905.0}, {2510.0, 0.0}};
  const auto found = solve(exec, make_graph<double>(exec, model, options), sources, {}, receivers);
  for (std::size_t q = 0; q < receivers.size(); ++q) {
    const Arc arc(sources[0], receivers[q]);
    ASSERT_LT(arc.deepest, model.grid.upper(1));
    const double stray =
        0.25 * std::tan(std::atan(1.0 / 6.0)) * distance<2>(sources[0], receivers[q]);
    const auto begin = found.paths.first[q], end = found.paths.first[q + 1];
    ASSERT_GT(end - begin, 5);
    double deepest = 0.0;
    for (auto i = begin; i < end; ++i) {
      const Point<2>& p = found.paths.points[static_cast<std::size_t>(i)];
      const double off = std::hypot(p[0] - arc.centre_x, p[1] + v0 / g) - arc.radius;
      EXPECT_LE(std::abs(off), stray) << "receiver " << q << ", point " << moho::format_point(p);
      deepest = std::max(deepest, p[1]);
    }
    EXPECT_NEAR(deepest, arc.deepest, stray);
    EXPECT_NEAR(found.paths.traveltime[q], gradient_time(sources[0], receivers[q]),
                0.004 * found.paths.traveltime[q]);
  }
}
TYPED_TEST(GradientModel, RaysAreNearCircularArcs) {
  rays_are_near_circular_arcs(TypeParam::exec());
}

}  // namespace
