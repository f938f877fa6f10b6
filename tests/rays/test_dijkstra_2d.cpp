// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Every method on every space gives the traveltimes of Dijkstra's algorithm, in 2D.

#include "rays/model.hpp"

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::rays::GraphOptions;
using moho::rays::Method;
using moho::rays::WeightRule;
using moho::rays::WeightStorage;

template <class C>
class Dijkstra2D : public ::testing::Test {};
TYPED_TEST_SUITE(Dijkstra2D, TestCases, CaseName);

// Several tiles along both axes on every space; the last tiles are partly filled.
MEMORY_TEST(Dijkstra2D, EveryRadiusAndStar) {
  const auto model = rough_model<2>({45, 71}, 6.0, 1, {10.0, 7.0}, {-50.0, 300.0});
  const auto sources = random_points(model.grid, 2, 2);
  GraphOptions options;
  for (options.radius = 1; options.radius <= 8; ++options.radius) {
    for (const auto star : all_stars) {
      options.star = star;
      expect_dijkstra<T>(exec, model, options, sources, {Method::active_tiles});
    }
  }
}

MEMORY_TEST(Dijkstra2D, EveryMethod) {
  const auto model = rough_model<2>({37, 50}, 6.0, 3);
  const auto sources = random_points(model.grid, 2, 4);
  GraphOptions options;
  for (const int radius : {1, 3, 6, 8}) {
    for (const auto star : all_stars) {
      options.radius = radius;
      options.star = star;
      expect_dijkstra<T>(exec, model, options, sources, parallel_methods, {WeightStorage::stored});
    }
  }
  options.radius = 3;
  expect_dijkstra<T>(exec, model, options, sources, parallel_methods, {WeightStorage::on_the_fly});
}

MEMORY_TEST(Dijkstra2D, EveryRule) {
  const auto model = rough_model<2>({34, 39}, 4.0, 5, {2.0, 3.0});
  const auto sources = random_points(model.grid, 2, 6);
  GraphOptions options;
  options.radius = 3;
  for (const auto rule : all_rules) {
    options.rule = rule;
    expect_dijkstra<T>(exec, model, options, sources, {Method::active_tiles});
    expect_dijkstra<T>(exec, model, options, sources, parallel_methods, {WeightStorage::stored});
  }
}

// With few sweeps per visit, unfinished tiles return to the list.
MEMORY_TEST(Dijkstra2D, AnyNumberOfSweepsAVisit) {
  const auto model = rough_model<2>({70, 66}, 50.0, 7);
  const auto sources = random_points(model.grid, 1, 8);
  GraphOptions options;
  options.radius = 2;
  const auto expected = reference<T>(model, options, sources);
  for (const auto storage : both_storages) {
    options.storage = storage;
    const auto graph = make_graph<T>(exec, model, options);
    for (const int sweeps : {1, 2, 100}) {
      moho::rays::TraceOptions trace;
      trace.sweeps_per_visit = sweeps;
      const auto found = solve(exec, graph, sources, trace);
      EXPECT_LE(largest_difference(found.times, expected.times), same<T>) << sweeps << " sweeps";
      EXPECT_GE(found.report.tile_visits, 4) << sweeps << " sweeps";
      EXPECT_GT(found.report.relaxations, model.grid.size());
    }
  }
}

// The reference on each host space, without the table of weights by vertex.
MEMORY_TEST(Dijkstra2D, ReferenceWithLittleMemory) {
  if constexpr (moho::is_host_memory<Memory>) {
    const auto model = rough_model<2>({40, 33}, 4.0, 9);
    const auto sources = random_points(model.grid, 2, 10);
    GraphOptions options;
    options.radius = 4;
    const auto expected = reference<T>(model, options, sources);
    options.storage = WeightStorage::on_the_fly;
    const auto padded = make_graph<T>(exec, model, options).data().grid.size;
    options.memory_budget = static_cast<std::size_t>(padded) * 8 * sizeof(T);
    moho::rays::TraceOptions trace;
    trace.method = Method::dijkstra;
    const auto found = solve(exec, make_graph<T>(exec, model, options), sources, trace);
    EXPECT_LE(largest_difference(found.times, expected.times), same<T>);
  } else {
    GTEST_SKIP() << "runs on the host";
  }
}

}  // namespace
