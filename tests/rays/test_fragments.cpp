// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// Weights by fragments of the table: the bits of the complete table, whatever the memory; and the
// weights of a vertex at once.

#include <gmock/gmock.h>

#include "rays/model.hpp"

namespace {

using namespace moho::testing;
using moho::Instance;
using moho::rays::GraphOptions;
using moho::rays::Star;
using moho::rays::WeightRule;
using moho::rays::WeightStorage;
using ::testing::HasSubstr;

template <class C>
class Fragments : public ::testing::Test {};
TYPED_TEST_SUITE(Fragments, TestCases, CaseName);

/// Returns the bytes that a number of fragments and the rest of a graph need.
template <class T, int Dim, class Memory>
std::size_t budget_of(const moho::rays::GridGraph<T, Dim, Memory>& graph, std::int64_t fragments) {
  const auto nodes = static_cast<std::size_t>(graph.grid().size());
  const auto padded_size = static_cast<std::size_t>(graph.data().grid.size);
  const auto tiles = static_cast<std::size_t>(graph.data().grid.tile_count());
  const auto block = static_cast<std::size_t>(
      moho::rays::detail::weight_block_size<Memory, Dim>(graph.star(), graph.radius()));
  return 2 * padded_size * sizeof(T) + nodes * (sizeof(T) + sizeof(std::int16_t)) +
         tiles * sizeof(std::int64_t) +
         static_cast<std::size_t>(fragments) * (block * sizeof(T) + sizeof(int));
}

template <int Dim>
bool same_points(const moho::rays::RayPaths<Dim>& a, const moho::rays::RayPaths<Dim>& b) {
  if (a.first != b.first || a.points.size() != b.points.size()) return false;
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    for (int d = 0; d < Dim; ++d) {
      if (a.points[i][d] != b.points[i][d]) return false;
    }
  }
  return true;
}

/// Compares fragments in little memory with the table.
template <class T, int Dim, class Memory>
void expect_table_bits(const Instance<Memory>& exec, const Model<Dim>& model, GraphOptions options,
                       const moho::Points<Dim>& sources) {
  const std::string what = describe(options, {});
  options.storage = WeightStorage::stored;
  const auto stored = make_graph<T>(exec, model, options);
  const std::int64_t tiles = stored.data().grid.tile_count();
  const auto expected = solve(exec, stored, sources, {}, sources);
  options.storage = WeightStorage::fragments;
  // the least of a device holds all tiles of these models
  const std::int64_t few = moho::is_host_memory<Memory>
                               ? std::min<std::int64_t>(tiles, 2 * std::max(4, exec.concurrency()))
                               : tiles;
  for (const std::int64_t count : {few, std::min(few + 3, tiles)}) {
    options.memory_budget = budget_of(stored, count);
    const auto graph = make_graph<T>(exec, model, options);
    ASSERT_EQ(graph.storage(), WeightStorage::fragments) << what;
    EXPECT_LE(graph.fragments(), count) << what;
    EXPECT_THAT(graph.storage_reason(), HasSubstr("fragments")) << what;
    const auto found = solve(exec, graph, sources, {}, sources);
    EXPECT_EQ(found.times, expected.times) << what << ", " << count << " fragments";
    EXPECT_EQ(found.predecessors, expected.predecessors) << what;
    EXPECT_TRUE(same_points<Dim>(found.paths, expected.paths)) << what;
    EXPECT_EQ(found.paths.traveltime, expected.paths.traveltime) << what;
  }
}

template <class T, class Memory>
void have_the_bits_of_the_table(const Instance<Memory>& exec) {
  const auto flat = rough_model<2>({99, 131}, 9.0, 3, {4.0, 5.0});
  const auto solid = rough_model<3>({17, 20, 34}, 6.0, 4, {4.0, 9.0, 5.0});
  GraphOptions options;
  for (int radius = 1; radius <= 6; ++radius) {
    options.radius = radius;
    expect_table_bits<T>(exec, flat, options, random_points(flat.grid, radius % 3 + 1, 5));
  }
  options.star = Star::full;
  options.radius = 3;
  expect_table_bits<T>(exec, flat, options, random_points(flat.grid, 2, 6));
  options.star = Star::coprime;
  options.radius = 2;
  expect_table_bits<T>(exec, solid, options, random_points(solid.grid, 2, 7));
  options.rule = WeightRule::velocity;
  expect_table_bits<T>(exec, flat, options, random_points(flat.grid, 1, 8));
  options.radius = 1;
  expect_table_bits<T>(exec, solid, options, random_points(solid.grid, 1, 9));
}
TYPED_TEST(Fragments, HaveTheBitsOfTheTable) {
  have_the_bits_of_the_table<typename TypeParam::Scalar>(TypeParam::exec());
}

// Few fragments are computed again when older ones had to go, many are computed once.
template <class T, class Memory>
void are_computed_again_where_few_fit(const Instance<Memory>& exec) {
  if (!moho::is_host_memory<Memory>) GTEST_SKIP() << "all tiles fit the least memory of a device";
  const auto model = rough_model<2>({250, 250}, 4.0, 14);
  const auto sources = random_points(model.grid, 1, 15);
  GraphOptions options;
  options.radius = 2;
  options.rule = WeightRule::velocity;
  options.storage = WeightStorage::stored;
  const auto stored = make_graph<T>(exec, model, options);
  const std::int64_t tiles = stored.data().grid.tile_count();
  const auto expected = solve(exec, stored, sources);
  EXPECT_EQ(expected.report.fragments, 0);
  options.storage = WeightStorage::automatic;  // the table does not fit
  const std::int64_t few = 2 * std::max(4, exec.concurrency());
  options.memory_budget = budget_of(stored, few);
  const auto tight = make_graph<T>(exec, model, options);
  ASSERT_EQ(tight.storage(), WeightStorage::fragments) << tight.storage_reason();
  EXPECT_THAT(tight.storage_reason(), HasSubstr("does not fit the memory budget"));
  EXPECT_LE(tight.weight_bytes(), options.memory_budget);
  const auto again = solve(exec, tight, sources);
  EXPECT_EQ(again.times, expected.times);
  EXPECT_GT(again.report.fragments, few);
  options.storage = WeightStorage::fragments;
  options.memory_budget = 0;
  const auto once = solve(exec, make_graph<T>(exec, model, options), sources);
  EXPECT_EQ(once.times, expected.times);
  EXPECT_EQ(once.report.fragments, tiles);
}
TYPED_TEST(Fragments, AreComputedAgainWhereFewFit) {
  are_computed_again_where_few_fit<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void that_do_not_fit_are_refused_with_the_least_memory(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({200, 200}, 4.0, 16);
  GraphOptions options;
  options.radius = 3;
  options.storage = WeightStorage::stored;
  const auto stored = make_graph<T>(exec, model, options);
  options.storage = WeightStorage::fragments;
  options.memory_budget = budget_of(stored, 1);
  try {
    make_graph<T>(exec, model, options);
    FAIL() << "no error";
  } catch (const moho::MemoryError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fragments of the table of edge weights need"));
    EXPECT_THAT(error.what(), HasSubstr("allow at least"));
  }
  options.storage = WeightStorage::automatic;
  options.rule = WeightRule::cells;
  EXPECT_EQ(make_graph<T>(exec, model, options).storage(), WeightStorage::on_the_fly);
}
TYPED_TEST(Fragments, ThatDoNotFitAreRefusedWithTheLeastMemory) {
  that_do_not_fit_are_refused_with_the_least_memory<typename TypeParam::Scalar>(TypeParam::exec());
}

// The terms that kernels unroll are those of the edge stencils, and their sums the weights.
template <class FixedStar>
void expect_vertex_weights() {
  using Terms = moho::rays::detail::TermsByNode<FixedStar>;
  constexpr int width = 5, radius = FixedStar::radius;
  using Vertex = moho::rays::detail::VertexWeights<float, FixedStar, width>;
  const std::string what = moho::concat("radius ", radius, ", full ", FixedStar::full);
  std::vector<float> coefficients;
  std::vector<moho::rays::detail::EdgeStencil<2>> stencils;
  for (const auto& offset : FixedStar::offsets) {
    const double length = std::hypot(3.0 * offset[0], 4.0 * offset[1]);
    stencils.push_back(moho::rays::detail::edge_stencil<2>(offset, length));
    for (const double c : stencils.back().coefficients) {
      coefficients.push_back(static_cast<float>(c));
    }
  }
  std::vector<std::vector<std::array<int, 2>>> nodes(stencils.size());
  moho::rays::detail::visit_terms<FixedStar>([&](int e, int i, int k) {
    nodes[static_cast<std::size_t>(e)].push_back({i, k});
  });
  for (std::size_t e = 0; e < stencils.size(); ++e) {
    EXPECT_EQ(nodes[e], stencils[e].nodes) << what << ", edge " << e;
  }
  ASSERT_EQ(static_cast<std::size_t>(Terms::terms), coefficients.size()) << what;
  Vertex vertex;
  ASSERT_TRUE(vertex.set(coefficients)) << what;
  EXPECT_FALSE(vertex.set({1.0f})) << what;

  std::vector<float> slowness;
  for (int i = 0; i < Vertex::row * (2 * radius + 1); ++i) {
    slowness.push_back(1.0f + 0.37f * static_cast<float>(i * 7 % 11));
  }
  const int here = radius * Vertex::row + radius;
  float w[Vertex::directions];
  vertex.compute(w, slowness.data() + here);
  for (int k = 0; k < Vertex::directions; ++k) {
    const bool forward = k < FixedStar::half;
    const auto e = static_cast<std::size_t>(forward ? k : k - FixedStar::half);
    const auto& offset = FixedStar::offsets[e];
    const int start = forward ? here : here - offset[0] * Vertex::row - offset[1];
    double expected = 0.0;
    for (std::size_t n = 0; n < stencils[e].nodes.size(); ++n) {
      const auto& node = stencils[e].nodes[n];
      expected += stencils[e].coefficients[n] *
                  static_cast<double>(
                      slowness[static_cast<std::size_t>(start + node[0] * Vertex::row + node[1])]);
    }
    EXPECT_NEAR(w[k], expected, 1e-5 * expected) << what << ", direction " << k;
  }
}

TEST(VertexWeights, AreThoseOfTheEdgeStencils) {
  using moho::rays::detail::StaticStar;
  expect_vertex_weights<StaticStar<2, 1, false>>();
  expect_vertex_weights<StaticStar<2, 2, true>>();
  expect_vertex_weights<StaticStar<2, 3, false>>();
  expect_vertex_weights<StaticStar<2, 4, true>>();
  expect_vertex_weights<StaticStar<2, 5, false>>();
  expect_vertex_weights<StaticStar<2, 6, false>>();
}

}  // namespace
