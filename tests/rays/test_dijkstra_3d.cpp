// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 12, threads 2
//
// Every method on every space gives the traveltimes of Dijkstra's algorithm, in 3D.

#include "rays/model.hpp"

namespace {

using namespace moho::testing;
using moho::rays::GraphOptions;
using moho::rays::Method;
using moho::rays::WeightStorage;

template <class C>
class Dijkstra3D : public ::testing::Test {};
TYPED_TEST_SUITE(Dijkstra3D, LongTestCases, CaseName);

MEMORY_TEST(Dijkstra3D, EveryRadiusAndStar) {
  const auto model = rough_model<3>({9, 10, 34}, 6.0, 1, {10.0, 7.0, 5.0}, {-50.0, 300.0, 2.0});
  const auto sources = random_points(model.grid, 2, 2);
  GraphOptions options;
  for (options.radius = 1; options.radius <= 4; ++options.radius) {
    for (const auto star : all_stars) {
      options.star = star;
      expect_dijkstra<T>(exec, model, options, sources, {Method::active_tiles});
    }
  }
}

MEMORY_TEST(Dijkstra3D, EveryMethod) {
  const auto model = rough_model<3>({6, 9, 17}, 6.0, 3);
  const auto sources = random_points(model.grid, 2, 4);
  GraphOptions options;
  for (options.radius = 1; options.radius <= 4; ++options.radius) {
    for (const auto star : all_stars) {
      options.star = star;
      expect_dijkstra<T>(exec, model, options, sources, parallel_methods, {WeightStorage::stored});
    }
  }
  options.radius = 2;
  expect_dijkstra<T>(exec, model, options, sources, parallel_methods, {WeightStorage::on_the_fly});
}

MEMORY_TEST(Dijkstra3D, EveryRule) {
  const auto model = rough_model<3>({5, 6, 10}, 4.0, 5, {2.0, 3.0, 2.5});
  const auto sources = random_points(model.grid, 2, 6);
  GraphOptions options;
  options.radius = 2;
  for (const auto rule : all_rules) {
    options.rule = rule;
    expect_dijkstra<T>(exec, model, options, sources, {Method::active_tiles});
    expect_dijkstra<T>(exec, model, options, sources, parallel_methods, {WeightStorage::stored});
  }
}

}  // namespace
