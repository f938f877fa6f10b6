// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Predecessors, and the rays made from them.

#include "rays/model.hpp"

#include <array>

namespace {

using namespace moho::testing;
using moho::Index;
using moho::Instance;
using moho::Point;
using moho::Points;
using moho::rays::from_source;
using moho::rays::GraphOptions;
using moho::rays::Method;
using moho::rays::WeightRule;
using moho::rays::WeightStorage;

template <class C>
class Paths : public ::testing::Test {};
TYPED_TEST_SUITE(Paths, TestCases, CaseName);

// Returns the straight traveltime between positions in index space; values as rounded on the space.
template <class T, int Dim>
double straight(const Model<Dim>& model, const GraphOptions& options, const Point<Dim>& p,
                const Point<Dim>& q) {
  const bool slowness = options.rule == WeightRule::slowness || options.rule == WeightRule::cells;
  double square = 0.0;
  for (int d = 0; d < Dim; ++d) square += std::pow((q[d] - p[d]) * model.grid.spacing[d], 2);
  if (square == 0.0) return 0.0;
  return std::sqrt(square) *
         moho::rays::detail::mean_slowness<Dim>(
             options.rule, options.radius, p, q, model.grid.extents, [&](const Index<Dim>& node) {
               const T velocity = static_cast<T>(model.at(node));
               return static_cast<double>(slowness ? T(1) / velocity : velocity);
             });
}

template <int Dim>
Point<Dim> as_point(const Index<Dim>& node) {
  Point<Dim> p{};
  for (int d = 0; d < Dim; ++d) p[d] = static_cast<double>(node[d]);
  return p;
}

// Follows the chain of every vertex to its end. The traveltime is the sum of weights, for the first
// edge and for the complete chain.
template <class T, int Dim, class Memory>
void expect_chains(const Instance<Memory>& exec, const Model<Dim>& model,
                   const GraphOptions& options, const Points<Dim>& sources, Method method) {
  const auto graph = make_graph<T>(exec, model, options);
  moho::rays::TraceOptions trace;
  trace.method = method;
  const auto found = solve(exec, graph, sources, trace);
  const std::size_t size = static_cast<std::size_t>(model.grid.size());
  std::int64_t wrong_edges = 0, wrong_sums = 0, endless = 0, foreign = 0;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const T* const times = &found.times[s * size];
    const std::int16_t* const predecessors = &found.predecessors[s * size];
    const Point<Dim> source = model.grid.to_index_space(sources[s]);
    for (std::size_t i = 0; i < size; ++i) {
      Index<Dim> node = model.grid.node(static_cast<std::int64_t>(i));
      std::size_t at = i;
      double sum = 0.0;
      std::size_t steps = 0;
      while (predecessors[at] >= 0 && steps <= size) {
        ASSERT_LT(predecessors[at], graph.neighbours());
        const auto offset = graph.neighbour(predecessors[at]);
        Index<Dim> before = node;
        for (int d = 0; d < Dim; ++d) {
          before[d] += offset[d];
          ASSERT_GE(before[d], 0);
          ASSERT_LT(before[d], model.grid.extents[d]);
        }
        const double weight =
            straight<T, Dim>(model, options, as_point<Dim>(before), as_point<Dim>(node));
        const std::size_t from = static_cast<std::size_t>(model.grid.flat(before));
        if (steps == 0) {
          const double expected = static_cast<double>(times[from]) + weight;
          wrong_edges += !(std::abs(times[i] - expected) <= same<T> * expected);
          wrong_edges += !(times[from] < times[i]);
        }
        sum += weight;
        node = before;
        at = from;
        ++steps;
      }
      endless += steps > size;
      foreign += predecessors[at] != from_source;
      // joined to the source: its node, or a node within the radius
      const Point<Dim> end = as_point<Dim>(node);
      bool source_on_node = true, joined = true, same_node = true;
      for (int d = 0; d < Dim; ++d) {
        const double distance = std::abs(end[d] - source[d]);
        source_on_node = source_on_node && std::abs(source[d] - std::round(source[d])) < 1e-9;
        same_node = same_node && distance < 1e-9;
        joined = joined && distance <= options.radius;
      }
      foreign += !(source_on_node ? same_node : joined);
      sum += straight<T, Dim>(model, options, source, end);
      wrong_sums += !(std::abs(times[i] - sum) <= same<T> * sum);
    }
  }
  const std::string what = describe(options, method) + ", shape " + shape_string(model.grid);
  EXPECT_EQ(endless, 0) << what;
  EXPECT_EQ(foreign, 0) << what;
  EXPECT_EQ(wrong_edges, 0) << what;
  EXPECT_EQ(wrong_sums, 0) << what;
}

template <class Memory>
std::vector<Method> all_methods() {
  std::vector<Method> methods(std::begin(parallel_methods), std::end(parallel_methods));
  if (moho::is_host_memory<Memory>) methods.push_back(Method::dijkstra);
  return methods;
}

template <class T, class Memory>
void every_chain_ends_at_its_source_and_adds_up2d(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({37, 41}, 6.0, 1, {2.0, 3.0});
  const auto sources = random_points(model.grid, 2, 2);
  GraphOptions options;
  options.radius = 3;
  for (const auto method : all_methods<Memory>()) {
    for (const auto storage : both_storages) {
      options.storage = storage;
      expect_chains<T>(exec, model, options, sources, method);
    }
  }
  for (const auto rule : all_rules) {
    options.rule = rule;
    options.star = moho::rays::Star::full;
    expect_chains<T>(exec, model, options, sources, Method::active_tiles);
  }
}
TYPED_TEST(Paths, EveryChainEndsAtItsSourceAndAddsUp2D) {
  every_chain_ends_at_its_source_and_adds_up2d<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void every_chain_ends_at_its_source_and_adds_up3d(const Instance<Memory>& exec) {
  const auto model = rough_model<3>({9, 6, 10}, 6.0, 3, {2.0, 3.0, 1.5});
  const auto sources = random_points(model.grid, 2, 4);
  GraphOptions options;
  options.radius = 2;
  for (const auto method : all_methods<Memory>()) {
    for (const auto storage : both_storages) {
      options.storage = storage;
      expect_chains<T>(exec, model, options, sources, method);
    }
  }
}
TYPED_TEST(Paths, EveryChainEndsAtItsSourceAndAddsUp3D) {
  every_chain_ends_at_its_source_and_adds_up3d<typename TypeParam::Scalar>(TypeParam::exec());
}

// Sources next to a border, on a grid line, and on a node up to rounding.
template <class T, class Memory>
void sources_in_odd_places(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({20, 35}, 6.0, 5);
  const Points<2> sources{{0.0, 0.0},  {19.0, 34.0}, {18.7, 33.9},
                          {0.3, 12.0}, {7.0, 3.5},   {19.0, 0.25}};
  GraphOptions options;
  options.radius = 4;
  expect_chains<T>(exec, model, options, sources, Method::active_tiles);
}
TYPED_TEST(Paths, SourcesInOddPlaces) {
  sources_in_odd_places<typename TypeParam::Scalar>(TypeParam::exec());
}

template <int Dim>
double length_of(const moho::rays::RayPaths<Dim>& paths, std::size_t ray) {
  double length = 0.0;
  for (auto i = paths.first[ray]; i + 1 < paths.first[ray + 1]; ++i) {
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      square += std::pow(paths.points[static_cast<std::size_t>(i) + 1][d] -
                             paths.points[static_cast<std::size_t>(i)][d],
                         2);
    }
    length += std::sqrt(square);
  }
  return length;
}

// Checks rays: ends at source and receiver, inside the model, along edges of the star. The time
// along a ray is the traveltime.
template <class T, int Dim, class Memory>
void expect_rays(const Instance<Memory>& exec, const Model<Dim>& model, const GraphOptions& options,
                 const Points<Dim>& sources, const Points<Dim>& receivers) {
  const auto found = solve(exec, make_graph<T>(exec, model, options), sources, {}, receivers);
  const auto& paths = found.paths;
  ASSERT_EQ(paths.sources, static_cast<std::int64_t>(sources.size()));
  ASSERT_EQ(paths.receivers, static_cast<std::int64_t>(receivers.size()));
  ASSERT_EQ(paths.first.size(), sources.size() * receivers.size() + 1);
  ASSERT_EQ(paths.first.front(), 0);
  ASSERT_EQ(paths.first.back(), static_cast<std::int64_t>(paths.points.size()));
  for (std::size_t ray = 0; ray < paths.traveltime.size(); ++ray) {
    const Point<Dim>& source = sources[ray / receivers.size()];
    const Point<Dim>& receiver = receivers[ray % receivers.size()];
    ASSERT_GE(paths.first[ray + 1] - paths.first[ray], 1);
    const auto* const points = &paths.points[static_cast<std::size_t>(paths.first[ray])];
    const std::int64_t count = paths.first[ray + 1] - paths.first[ray];
    double time = 0.0;
    for (int d = 0; d < Dim; ++d) {
      EXPECT_NEAR(points[0][d], source[d], 1e-6 * model.grid.spacing[d]);
      EXPECT_NEAR(points[count - 1][d], receiver[d], 1e-6 * model.grid.spacing[d]);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      EXPECT_TRUE(model.grid.contains(points[i])) << moho::format_point(points[i]);
      if (i == 0) continue;
      Point<Dim> p = model.grid.to_index_space(points[i - 1]),
                 q = model.grid.to_index_space(points[i]);
      for (int d = 0; d < Dim; ++d) {
        EXPECT_LE(std::abs(q[d] - p[d]), options.radius + 1e-9);
        // rounded to integers, which division by the spacing misses by an ulp
        if (std::abs(p[d] - std::round(p[d])) < 1e-9) p[d] = std::round(p[d]);
        if (std::abs(q[d] - std::round(q[d])) < 1e-9) q[d] = std::round(q[d]);
      }
      time += straight<T, Dim>(model, options, p, q);
    }
    EXPECT_NEAR(paths.traveltime[ray], time, same<T> * time) << "ray " << ray;
  }
}

template <class T, class Memory>
void polylines_run_from_source_to_receiver(const Instance<Memory>& exec) {
  GraphOptions options;
  options.radius = 3;
  const auto flat = rough_model<2>({40, 35}, 5.0, 6, {12.5, 8.0}, {1000.0, -40.0});
  auto sources = random_points(flat.grid, 3, 7), receivers = random_points(flat.grid, 9, 8);
  receivers.push_back(sources[0]);  // receiver at the source, on a node
  receivers.push_back(sources[1]);  // receiver at the source, between nodes
  receivers.push_back({flat.grid.upper(0), flat.grid.upper(1)});
  for (const auto rule : all_rules) {
    options.rule = rule;
    expect_rays<T>(exec, flat, options, sources, receivers);
  }
  const auto solid = rough_model<3>({9, 6, 10}, 6.0, 3, {2.0, 3.0, 1.5}, {-3.0, 0.0, 7.0});
  options.rule = WeightRule::slowness;
  options.radius = 2;
  expect_rays<T>(exec, solid, options, random_points(solid.grid, 2, 9),
                 random_points(solid.grid, 5, 10));
}
TYPED_TEST(Paths, PolylinesRunFromSourceToReceiver) {
  polylines_run_from_source_to_receiver<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void length_is_velocity_times_time_in_a_constant_model(const Instance<Memory>& exec) {
  const auto model = constant_model<2>({50, 30}, 4.0, {2.0, 3.0}, {5.0, 6.0});
  const auto sources = random_points(model.grid, 2, 11),
             receivers = random_points(model.grid, 6, 12);
  GraphOptions options;
  options.radius = 4;
  const auto paths = solve(exec, make_graph<T>(exec, model, options), sources, {}, receivers).paths;
  for (std::size_t ray = 0; ray < paths.traveltime.size(); ++ray) {
    EXPECT_NEAR(length_of<2>(paths, ray), 4.0 * paths.traveltime[ray],
                same<T> * length_of<2>(paths, ray));
  }
}
TYPED_TEST(Paths, LengthIsVelocityTimesTimeInAConstantModel) {
  length_is_velocity_times_time_in_a_constant_model<typename TypeParam::Scalar>(TypeParam::exec());
}

// Exchanges source and receiver for all pairs of some positions, on nodes and between them.
template <class T, int Dim, class Memory>
void expect_reciprocity(const Instance<Memory>& exec, const Model<Dim>& model,
                        const GraphOptions& options, const Points<Dim>& points) {
  const auto paths = solve(exec, make_graph<T>(exec, model, options), points, {}, points).paths;
  const std::size_t n = points.size();
  for (std::size_t a = 0; a < n; ++a) {
    EXPECT_EQ(paths.traveltime[a * n + a], 0.0);
    for (std::size_t b = 0; b < a; ++b) {
      const double there = paths.traveltime[a * n + b], back = paths.traveltime[b * n + a];
      EXPECT_NEAR(there, back, same<T> * there) << describe(options, {}) << ", " << a << ' ' << b;
      EXPECT_GT(there, 0.0);
    }
  }
}

template <class T, class Memory>
void source_and_receiver_may_change_places(const Instance<Memory>& exec) {
  const auto flat = rough_model<2>({40, 35}, 8.0, 13, {3.0, 2.0});
  auto points = random_points(flat.grid, 6, 14);
  points.push_back({3.0 * 17, 2.0 * 30});      // on a node
  points.push_back({3.0 * 17 + 1, 2.0 * 30});  // on a grid line next to it
  points.push_back({3.0 * 18, 2.0 * 29});      // its neighbour
  const auto solid = rough_model<3>({9, 6, 10}, 8.0, 15);
  for (const auto rule : all_rules) {
    GraphOptions options;
    options.rule = rule;
    options.radius = 4;
    expect_reciprocity<T>(exec, flat, options, points);
    options.radius = 2;
    expect_reciprocity<T>(exec, solid, options, random_points(solid.grid, 5, 16));
  }
}
TYPED_TEST(Paths, SourceAndReceiverMayChangePlaces) {
  source_and_receiver_may_change_places<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void no_receivers_no_rays(const Instance<Memory>& exec) {
  const auto model = constant_model<2>({5, 5}, 1.0);
  const auto found = solve(exec, make_graph<T>(exec, model, {}), {{1.0, 1.0}});
  EXPECT_EQ(found.paths.receivers, 0);
  EXPECT_EQ(found.paths.first, std::vector<std::int64_t>{0});
  EXPECT_TRUE(found.paths.points.empty());
}
TYPED_TEST(Paths, NoReceiversNoRays) {
  no_receivers_no_rays<typename TypeParam::Scalar>(TypeParam::exec());
}

// Predecessors of other sources are an error, and the ray tracer terminates.
template <class T, class Memory>
void foreign_predecessors_are_found_out(const Instance<Memory>& exec) {
  const auto model = constant_model<2>({8, 8}, 1.0);
  GraphOptions options;
  options.radius = 1;
  const auto graph = make_graph<T>(exec, model, options);
  const auto times = moho::make_field_per_source<T>(exec, 1, model.grid, "times");
  const auto predecessors =
      moho::make_field_per_source<std::int16_t>(exec, 1, model.grid, "predecessors");
  moho::rays::trace(exec, graph, {{0.0, 0.0}}, times, predecessors);
  // two vertices, each the predecessor of the other
  auto circle = download(exec, predecessors);
  int forward = -1;
  for (int k = 0; k < graph.neighbours(); ++k) {
    if (graph.neighbour(k) == std::array<int, 2>{0, 1}) forward = k;
  }
  circle[7 * 8 + 6] = static_cast<std::int16_t>(forward);
  circle[7 * 8 + 7] =
      static_cast<std::int16_t>((forward + graph.neighbours() / 2) % graph.neighbours());
  to_space(exec, predecessors, circle);
  try {
    moho::rays::ray_paths(exec, graph, {{0.0, 0.0}}, times, predecessors, {{7.0, 7.0}});
    FAIL() << "nothing was thrown";
  } catch (const moho::Error& error) {
    EXPECT_NE(std::string(error.what()).find("do not lead back"), std::string::npos)
        << error.what();
  }
}
TYPED_TEST(Paths, ForeignPredecessorsAreFoundOut) {
  foreign_predecessors_are_found_out<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
