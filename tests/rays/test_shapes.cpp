// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 10, threads 2
//
// Models with unusual shapes and contents, many sources, and little memory.

#include "rays/model.hpp"

#include <gmock/gmock.h>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Index;
using moho::Instance;
using moho::Point;
using moho::Points;
using moho::rays::GraphOptions;
using moho::rays::Method;
using moho::rays::WeightRule;
using moho::rays::WeightStorage;
using ::testing::HasSubstr;

const std::vector<WeightStorage> stored{WeightStorage::stored};

template <class C>
class Shapes : public ::testing::Test {};
TYPED_TEST_SUITE(Shapes, LongTestCases, CaseName);

template <class T, class Memory>
void thin_models_and_part_of_a_tile2d(const Instance<Memory>& exec) {
  const Index<2> shapes[] = {{1, 1},  {1, 2},  {1, 40},  {40, 1},  {2, 2},
                             {2, 70}, {70, 2}, {33, 31}, {16, 32}, {65, 97}};
  for (const auto& shape : shapes) {
    const auto model = rough_model<2>(shape, 10.0, 1, {3.0, 0.5}, {-7.0, 11.0});
    for (const int radius : {1, 6, 8}) {
      GraphOptions options;
      options.radius = radius;
      expect_dijkstra<T>(exec, model, options, random_points(model.grid, 2, 2),
                         {Method::active_tiles});
    }
    if (model.grid.size() > 1100) continue;
    GraphOptions options;
    options.radius = 2;
    expect_dijkstra<T>(exec, model, options, random_points(model.grid, 2, 2), parallel_methods,
                       stored);
  }
}
TYPED_TEST(Shapes, ThinModelsAndPartOfATile2D) {
  thin_models_and_part_of_a_tile2d<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void thin_models_and_part_of_a_tile3d(const Instance<Memory>& exec) {
  const Index<3> shapes[] = {{1, 1, 1},  {1, 9, 40}, {9, 1, 40}, {9, 33, 1}, {1, 1, 50},
                             {50, 1, 1}, {2, 2, 2},  {2, 9, 33}, {4, 4, 32}, {9, 9, 5}};
  for (const auto& shape : shapes) {
    const auto model = rough_model<3>(shape, 10.0, 3, {3.0, 0.5, 1.0}, {-7.0, 11.0, 0.0});
    for (const int radius : {1, 3}) {
      GraphOptions options;
      options.radius = radius;
      expect_dijkstra<T>(exec, model, options, random_points(model.grid, 2, 4),
                         {Method::active_tiles});
    }
    if (model.grid.size() > 600) continue;
    GraphOptions options;
    options.radius = 2;
    expect_dijkstra<T>(exec, model, options, random_points(model.grid, 2, 4), parallel_methods,
                       stored);
  }
}
TYPED_TEST(Shapes, ThinModelsAndPartOfATile3D) {
  thin_models_and_part_of_a_tile3d<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void one_node_thin_models_with_every_rule(const Instance<Memory>& exec) {
  for (const auto rule : all_rules) {
    GraphOptions options;
    options.rule = rule;
    options.radius = 3;
    for (const Index<2>& shape : {Index<2>{1, 35}, Index<2>{35, 1}, Index<2>{2, 20}}) {
      const auto model = rough_model<2>(shape, 10.0, 5);
      expect_dijkstra<T>(exec, model, options, random_points(model.grid, 2, 6),
                         {Method::active_tiles});
    }
  }
}
TYPED_TEST(Shapes, OneNodeThinModelsWithEveryRule) {
  one_node_thin_models_with_every_rule<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void constant_models_and_contrasts_of_a_thousand(const Instance<Memory>& exec) {
  GraphOptions options;
  options.radius = 3;
  const auto constant = constant_model<2>({40, 37}, 1500.0, {10.0, 5.0});
  expect_dijkstra<T>(exec, constant, options, random_points(constant.grid, 2, 7), parallel_methods,
                     stored);
  for (const int block : {1, 5}) {
    const auto board = make_model(Grid<2>{{40, 37}, {1.0, 1.0}, {}}, [&](const Index<2>& node) {
      return (node[0] / block + node[1] / block) % 2 ? 1000.0 : 1.0;
    });
    expect_dijkstra<T>(exec, board, options, random_points(board.grid, 2, 8), parallel_methods,
                       stored);
  }
  const auto cube = make_model(Grid<3>{{8, 9, 10}, {1.0, 1.0, 1.0}, {}}, [](const Index<3>& node) {
    return (node[0] / 2 + node[1] / 2 + node[2] / 2) % 2 ? 1000.0 : 1.0;
  });
  options.radius = 2;
  expect_dijkstra<T>(exec, cube, options, random_points(cube.grid, 2, 9), parallel_methods, stored);
  // a maze: the only path crosses many tiles repeatedly
  const auto maze = make_model(Grid<2>{{70, 70}, {1.0, 1.0}, {}}, [](const Index<2>& node) {
    const bool wall = node[0] % 14 == 7 && (node[0] % 28 == 7 ? node[1] < 62 : node[1] > 7);
    return wall ? 1.0 : 1000.0;
  });
  options.radius = 1;
  expect_dijkstra<T>(exec, maze, options, {{0.0, 0.0}}, parallel_methods, stored);
}
TYPED_TEST(Shapes, ConstantModelsAndContrastsOfAThousand) {
  constant_models_and_contrasts_of_a_thousand<typename TypeParam::Scalar>(TypeParam::exec());
}

// Many sources in one call give the same bits as separate calls.
template <class T, class Memory>
void many_sources_are_like_each_alone(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({34, 40}, 8.0, 10);
  const auto sources = random_points(model.grid, 4, 11);
  const std::size_t size = static_cast<std::size_t>(model.grid.size());
  GraphOptions options;
  options.radius = 2;
  for (const auto storage : both_storages) {
    options.storage = storage;
    const auto graph = make_graph<T>(exec, model, options);
    for (const auto method : parallel_methods) {
      moho::rays::TraceOptions trace;
      trace.method = method;
      const auto together = solve(exec, graph, sources, trace);
      EXPECT_EQ(together.report.batches, 1);
      for (std::size_t s = 0; s < sources.size(); ++s) {
        const auto alone = solve(exec, graph, {sources[s]}, trace);
        EXPECT_TRUE(std::equal(alone.times.begin(), alone.times.end(), &together.times[s * size]))
            << describe(options, method);
        EXPECT_TRUE(std::equal(alone.predecessors.begin(), alone.predecessors.end(),
                               &together.predecessors[s * size]))
            << describe(options, method);
      }
    }
  }
}
TYPED_TEST(Shapes, ManySourcesAreLikeEachAlone) {
  many_sources_are_like_each_alone<typename TypeParam::Scalar>(TypeParam::exec());
}

// A budget for a few sources at a time.
template <class T, class Memory>
void batches_give_the_same(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({34, 40}, 8.0, 12);
  const auto sources = random_points(model.grid, 7, 13);
  GraphOptions options;
  options.radius = 2;
  options.storage = WeightStorage::on_the_fly;
  const auto roomy = make_graph<T>(exec, model, options);
  const std::size_t padded_size = static_cast<std::size_t>(roomy.data().grid.size);
  for (const auto method : parallel_methods) {
    const std::size_t words = static_cast<std::size_t>(words_for_few_sources(method));
    options.memory_budget = words * padded_size * sizeof(T);
    const auto tight = make_graph<T>(exec, model, options);
    moho::rays::TraceOptions trace;
    trace.method = method;
    const auto expected = solve(exec, roomy, sources, trace);
    const auto found = solve(exec, tight, sources, trace);
    EXPECT_EQ(expected.report.batches, 1) << to_string(method);
    EXPECT_GT(found.report.batches, 1) << to_string(method);
    EXPECT_LE(found.report.batches, 7) << to_string(method);
    EXPECT_EQ(found.times, expected.times) << to_string(method);
    EXPECT_EQ(found.predecessors, expected.predecessors) << to_string(method);
  }
}
TYPED_TEST(Shapes, BatchesGiveTheSame) {
  batches_give_the_same<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void storage_follows_the_budget(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({40, 40}, 4.0, 14);
  const auto sources = random_points(model.grid, 1, 15);
  GraphOptions options;
  options.radius = 5;
  options.rule = WeightRule::velocity;
  const auto roomy = make_graph<T>(exec, model, options);
  EXPECT_EQ(roomy.storage(), WeightStorage::stored);
  EXPECT_THAT(roomy.storage_reason(), HasSubstr("stored"));
  EXPECT_GT(roomy.weight_bytes(), 0u);
  EXPECT_GE(roomy.weight_seconds(), 0.0);

  const std::size_t padded_size = static_cast<std::size_t>(roomy.data().grid.size);
  options.memory_budget = 10 * padded_size * sizeof(T);  // the table needs 40 words per vertex
  const auto tight = make_graph<T>(exec, model, options);
  EXPECT_EQ(tight.storage(), WeightStorage::on_the_fly);
  EXPECT_THAT(tight.storage_reason(), HasSubstr("does not fit the memory budget"));
  EXPECT_EQ(tight.weight_bytes(), 0u);
  EXPECT_LE(
      largest_difference(solve(exec, tight, sources).times, solve(exec, roomy, sources).times),
      same<T>);

  // without a table nothing is allocated
  options.memory_budget = 0;
  options.storage = WeightStorage::on_the_fly;
  const auto requested = make_graph<T>(exec, model, options);
  EXPECT_EQ(requested.data().table.size(), 0u);
  EXPECT_THAT(requested.storage_reason(), HasSubstr("as asked"));
}
TYPED_TEST(Shapes, StorageFollowsTheBudget) {
  storage_follows_the_budget<typename TypeParam::Scalar>(TypeParam::exec());
}

// Traveltimes do not depend on the order of axes.
template <class T, class Memory>
void transposed_model_has_transposed_times(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({40, 57}, 6.0, 16, {2.0, 3.0}, {5.0, 6.0});
  const auto turned =
      make_model(Grid<2>{{57, 40}, {3.0, 2.0}, {6.0, 5.0}}, [&](const Index<2>& node) {
        return model.at({node[1], node[0]});
      });
  const auto points = random_points(model.grid, 1, 17);
  GraphOptions options;
  options.radius = 4;
  const auto a = solve(exec, make_graph<T>(exec, model, options), points);
  const auto b = solve(exec, make_graph<T>(exec, turned, options), {{points[0][1], points[0][0]}});
  std::vector<T> back(a.times.size());
  for (std::int64_t i = 0; i < model.grid.size(); ++i) {
    const auto node = model.grid.node(i);
    back[static_cast<std::size_t>(i)] =
        b.times[static_cast<std::size_t>(turned.grid.flat({node[1], node[0]}))];
  }
  EXPECT_LE(largest_difference(a.times, back), same<T>);
}
TYPED_TEST(Shapes, TransposedModelHasTransposedTimes) {
  transposed_model_has_transposed_times<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
