// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// The table of edge weights, entry by entry.

#include "rays/model.hpp"

namespace {

using namespace moho::testing;
using moho::Index;
using moho::Instance;
using moho::Point;
using moho::rays::GraphOptions;
using moho::rays::WeightRule;
using moho::rays::WeightStorage;

template <class C>
class Weights : public ::testing::Test {};
TYPED_TEST_SUITE(Weights, TestCases, CaseName);

// Checks every edge from an allocated vertex. The weight is the integral if both ends are nodes,
// otherwise infinite.
template <class T, int Dim, class Memory>
void expect_table(const Instance<Memory>& exec, const Model<Dim>& model,
                  const GraphOptions& options) {
  const auto graph = make_graph<T>(exec, model, options);
  ASSERT_EQ(graph.storage(), WeightStorage::stored);
  const auto& padded = graph.data().grid;
  const auto table = download(exec, graph.data().table);
  const std::size_t padded_size = static_cast<std::size_t>(padded.size);
  ASSERT_EQ(table.size() * 2, padded_size * static_cast<std::size_t>(graph.neighbours()));
  EXPECT_EQ(graph.weight_bytes(), table.size() * sizeof(T));
  const bool slowness = options.rule == WeightRule::slowness || options.rule == WeightRule::cells;
  const auto value = [&](const Index<Dim>& node) {
    const T velocity = static_cast<T>(model.at(node));
    return static_cast<double>(slowness ? T(1) / velocity : velocity);
  };
  std::int64_t wrong = 0, inner = 0;
  for (std::size_t e = 0; e < graph.star().size(); ++e) {
    for (std::int64_t index = 0; index < padded.size; ++index) {
      const double weight = static_cast<double>(table[e * padded_size + index]);
      const Index<Dim> near = padded.node(index);
      Index<Dim> far = near;
      Point<Dim> p, q;
      double square = 0.0;
      for (int d = 0; d < Dim; ++d) {
        far[d] += graph.star()[e][d];
        p[d] = static_cast<double>(near[d]);
        q[d] = static_cast<double>(far[d]);
        square += std::pow(graph.star()[e][d] * model.grid.spacing[d], 2);
      }
      if (padded.inside(near) && padded.inside(far)) {
        ++inner;
        const double expected =
            std::sqrt(square) * moho::rays::detail::mean_slowness<Dim>(
                                    options.rule, options.radius, p, q, model.grid.extents, value);
        const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
        wrong += !(std::abs(weight - expected) <= 8.0 * epsilon * expected);
      } else {
        wrong += !(weight == std::numeric_limits<double>::infinity());
      }
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << table.size() << ", " << describe(options, {});
  EXPECT_GT(inner, 0);
}

template <class T, class Memory>
void of_the_table_are_integrals_and_infinite_at_dummies(const Instance<Memory>& exec) {
  GraphOptions options;
  options.storage = WeightStorage::stored;
  const auto flat = rough_model<2>({35, 18}, 10.0, 1, {4.0, 9.0});
  const auto solid = rough_model<3>({5, 6, 9}, 10.0, 2, {4.0, 9.0, 5.0});
  for (const auto rule : all_rules) {
    options.rule = rule;
    options.star = moho::rays::Star::coprime;
    options.radius = 4;
    expect_table<T>(exec, flat, options);
    options.radius = 1;
    expect_table<T>(exec, solid, options);
    options.radius = 2;
    options.star = moho::rays::Star::full;
    expect_table<T>(exec, flat, options);
    expect_table<T>(exec, solid, options);
  }
  options.rule = WeightRule::slowness;
  options.star = moho::rays::Star::coprime;
  options.radius = 8;
  expect_table<T>(exec, flat, options);
  options.radius = 4;
  expect_table<T>(exec, solid, options);
}
TYPED_TEST(Weights, OfTheTableAreIntegralsAndInfiniteAtDummies) {
  of_the_table_are_integrals_and_infinite_at_dummies<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void of_a_model_one_node_wide(const Instance<Memory>& exec) {
  GraphOptions options;
  options.storage = WeightStorage::stored;
  options.radius = 2;
  for (const auto rule : all_rules) {
    options.rule = rule;
    expect_table<T>(exec, rough_model<2>({1, 40}, 10.0, 3), options);
    expect_table<T>(exec, rough_model<2>({40, 1}, 10.0, 4), options);
    expect_table<T>(exec, rough_model<3>({1, 6, 5}, 10.0, 5), options);
    expect_table<T>(exec, rough_model<3>({6, 5, 1}, 10.0, 6), options);
  }
}
TYPED_TEST(Weights, OfAModelOneNodeWide) {
  of_a_model_one_node_wide<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void neighbours_and_directions_of_the_graph(const Instance<Memory>& exec) {
  GraphOptions options;
  options.radius = 6;
  const auto graph = make_graph<T>(exec, constant_model<2>({3, 3}, 1.0), options);
  EXPECT_EQ(graph.neighbours(), 96);
  EXPECT_EQ(graph.radius(), 6);
  for (int k = 0; k < 48; ++k) {
    const auto there = graph.neighbour(k), back = graph.neighbour(k + 48);
    EXPECT_EQ(there, graph.star()[static_cast<std::size_t>(k)]);
    EXPECT_EQ(there[0], -back[0]);
    EXPECT_EQ(there[1], -back[1]);
  }
}
TYPED_TEST(Weights, NeighboursAndDirectionsOfTheGraph) {
  neighbours_and_directions_of_the_graph<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
