// SPDX-License-Identifier: BSD-3-Clause
// ctest: plain
//
// One model over several instances: the bits of the complete graph, wherever the cuts are.

#include <moho/core/device_instances.hpp>
#include <moho/rays/split_graph.hpp>

#include <gmock/gmock.h>

#include "rays/model.hpp"
#include "refusals.hpp"

namespace {

using namespace moho::testing;
using moho::Instance;
using moho::Points;
using moho::rays::GraphOptions;
using moho::rays::Method;
using moho::rays::SplitGraph;
using moho::rays::Star;
using moho::rays::WeightRule;
using moho::rays::WeightStorage;
using ::testing::HasSubstr;

template <class C>
class Split : public ::testing::Test {};
TYPED_TEST_SUITE(Split, TestCases, CaseName);

/// Returns several instances on one device.
template <class Memory>
std::vector<Instance<Memory>> instances_of(const Instance<Memory>& exec, int count) {
  std::vector<Instance<Memory>> instances{exec};
  while (static_cast<int>(instances.size()) < count) instances.push_back(moho::new_instance(exec));
  return instances;
}

/// Compares several numbers of slabs with the complete graph.
template <class T, int Dim, class Memory>
void expect_whole_bits(const Instance<Memory>& exec, const Model<Dim>& model,
                       const GraphOptions& options, const Points<Dim>& sources,
                       const std::vector<std::array<int, 2>>& shapes = {{2, 1}, {3, 1}, {2, 2}}) {
  const auto expected = solve(exec, make_graph<T>(exec, model, options), sources);
  const std::vector<T> velocity(model.velocity.begin(), model.velocity.end());
  for (const auto& [count, slabs] : shapes) {
    const std::string what =
        moho::concat(describe(options, {}), ", ", count, " instances of ", slabs, " slabs");
    const SplitGraph<T, Dim, Memory> graph(instances_of(exec, count), model.grid, velocity.data(),
                                           options, slabs);
    EXPECT_EQ(graph.slabs(), count * slabs) << what;
    std::vector<T> times(expected.times.size());
    std::vector<std::int16_t> predecessors(expected.predecessors.size());
    const auto report = graph.trace(sources, times.data(), predecessors.data());
    EXPECT_EQ(times, expected.times) << what;
    EXPECT_EQ(predecessors, expected.predecessors) << what;
    if (count * slabs > 1) {
      EXPECT_GT(report.exchanges, 0) << what;
    }
  }
}

/// Returns the sources at and beside a cut, on nodes and between them.
template <class Memory, int Dim>
Points<Dim> sources_at_cuts(const Model<Dim>& model) {
  auto points = random_points(model.grid, 3, 21);
  const double cut = moho::rays::tile_extent<Memory, Dim>(0);
  points[0][0] = model.grid.origin[0] + model.grid.spacing[0] * cut;
  points[1][0] = model.grid.origin[0] + model.grid.spacing[0] * (cut - 0.4);
  return points;
}

template <class T, class Memory>
void has_the_bits_of_the_whole(const Instance<Memory>& exec) {
  const auto flat = rough_model<2>({131, 77}, 9.0, 22, {4.0, 5.0}, {-3.0, 50.0});
  const auto sources = sources_at_cuts<Memory>(flat);
  GraphOptions options;
  for (int radius = 1; radius <= 6; ++radius) {
    options.radius = radius;
    expect_whole_bits<T>(exec, flat, options, sources);
  }
  options.radius = 8;
  options.star = Star::full;
  options.storage = WeightStorage::stored;
  expect_whole_bits<T>(exec, flat, options, {sources[1]});
}
TYPED_TEST(Split, HasTheBitsOfTheWhole) {
  has_the_bits_of_the_whole<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void rules_and_storages(const Instance<Memory>& exec) {
  const auto flat = rough_model<2>({70, 40}, 6.0, 23, {3.0, 2.0});
  const auto sources = sources_at_cuts<Memory>(flat);
  GraphOptions options;
  options.radius = 2;
  for (const auto rule : all_rules) {
    options.rule = rule;
    for (const auto storage :
         {WeightStorage::stored, WeightStorage::on_the_fly, WeightStorage::fragments}) {
      options.storage = storage;
      expect_whole_bits<T>(exec, flat, options, sources, {{1, 3}});
    }
  }
}
TYPED_TEST(Split, EveryRuleAndStorage) {
  rules_and_storages<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void volumes(const Instance<Memory>& exec) {
  const auto solid = rough_model<3>({26, 12, 34}, 6.0, 24, {4.0, 9.0, 5.0});
  const auto sources = sources_at_cuts<Memory>(solid);
  GraphOptions options;
  options.radius = 2;
  expect_whole_bits<T>(exec, solid, options, sources);
  options.rule = WeightRule::cells;
  options.radius = 1;
  options.storage = WeightStorage::stored;
  expect_whole_bits<T>(exec, solid, options, {sources[1]}, {{2, 1}});
}
TYPED_TEST(Split, Volumes) { volumes<typename TypeParam::Scalar>(TypeParam::exec()); }

// The last slab has fewer rows than the radius; a ray crosses a cut many times.
template <class T, class Memory>
void thin_slabs_and_channels(const Instance<Memory>& exec) {
  const int tile = moho::rays::tile_extent<Memory, 2>(0);
  GraphOptions options;
  options.radius = 6;
  const auto thin = rough_model<2>({2 * tile + 2, 45}, 9.0, 25);
  expect_whole_bits<T>(exec, thin, options, random_points(thin.grid, 2, 26), {{3, 1}, {1, 2}});
  // a fast channel that winds around the cut
  const auto winding =
      make_model(moho::Grid<2>{{2 * tile, 160}, {1.0, 1.0}, {}}, [&](const moho::Index<2>& node) {
        const double middle = tile + 9.0 * std::sin(0.3 * static_cast<double>(node[1]));
        return std::abs(static_cast<double>(node[0]) - middle) < 3.0 ? 10.0 : 1.0;
      });
  options.radius = 3;
  expect_whole_bits<T>(exec, winding, options, {{static_cast<double>(tile), 0.0}}, {{2, 1}});
}
TYPED_TEST(Split, ThinSlabsAndChannels) {
  thin_slabs_and_channels<typename TypeParam::Scalar>(TypeParam::exec());
}

// Slabs with little memory solve the sources one after the other, with fragments.
template <class T, class Memory>
void little_memory(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({150, 200}, 5.0, 27);
  const auto sources = random_points(model.grid, 2, 28);
  GraphOptions options;
  options.radius = 4;
  options.rule = WeightRule::velocity;
  const auto whole = make_graph<T>(exec, model, options);
  const auto expected = solve(exec, whole, sources);
  const std::vector<T> velocity(model.velocity.begin(), model.velocity.end());
  std::vector<T> times(expected.times.size());
  std::vector<std::int16_t> predecessors(expected.predecessors.size());
  options.memory_budget = 22 * static_cast<std::size_t>(whole.data().grid.size) * sizeof(T);
  const SplitGraph<T, 2, Memory> tight(instances_of(exec, 2), model.grid, velocity.data(), options,
                                       1);
  EXPECT_NE(tight.storage(), WeightStorage::stored);
  EXPECT_THAT(tight.storage_reason(), HasSubstr("2 slabs, of each: weights are computed"));
  const auto report = tight.trace(sources, times.data(), predecessors.data());
  if (moho::is_host_memory<Memory> && exec.concurrency() <= 4) {  // else the least is more
    EXPECT_EQ(tight.storage(), WeightStorage::fragments);
    EXPECT_GT(report.batches, 1);
  }
  EXPECT_EQ(times, expected.times);
  EXPECT_EQ(predecessors, expected.predecessors);
  options.memory_budget = 1000;
  EXPECT_THROW(
      (SplitGraph<T, 2, Memory>(instances_of(exec, 2), model.grid, velocity.data(), options)),
      moho::MemoryError);
}
TYPED_TEST(Split, LittleMemory) { little_memory<typename TypeParam::Scalar>(TypeParam::exec()); }

template <class T, class Memory>
void refusals(const Instance<Memory>& exec) {
  const int tile = moho::rays::tile_extent<Memory, 2>(0);
  const auto model = rough_model<2>({2 * tile, 30}, 5.0, 29);
  const std::vector<T> velocity(model.velocity.begin(), model.velocity.end());
  using Graph = SplitGraph<T, 2, Memory>;
  GraphOptions options;
  EXPECT_THAT(
      message_of([&] { Graph(instances_of(exec, 3), model.grid, velocity.data(), options); }),
      HasSubstr("devices: 3 (allowed for this model: 1 to 2"));
  options.radius = 9;
  EXPECT_THAT(message_of([&] { Graph({exec}, model.grid, velocity.data(), options); }),
              HasSubstr("radius: 9"));
  options.radius = 2;
  auto wrong = velocity;
  wrong.back() = T(-1);
  EXPECT_THAT(message_of([&] {
                Graph({exec, exec}, model.grid, wrong.data(), options);
              }),
              HasSubstr(moho::concat("velocity: -1 at node (", 2 * tile - 1, ", 29)")));
  const Graph graph({exec, exec}, model.grid, velocity.data(), options);
  std::vector<T> times(velocity.size());
  moho::rays::TraceOptions trace;
  EXPECT_THAT(message_of([&] { graph.trace({}, times.data(), nullptr, trace); }),
              HasSubstr("sources: there are none"));
  EXPECT_THAT(message_of([&] {
                graph.trace({{-5.0, 0.0}}, times.data(), nullptr, trace);
              }),
              HasSubstr("source"));
  trace.method = Method::relaxation;
  EXPECT_THAT(message_of([&] {
                graph.trace({{0.0, 0.0}}, times.data(), nullptr, trace);
              }),
              HasSubstr("allowed: active_tiles"));
}
TYPED_TEST(Split, Refusals) { refusals<typename TypeParam::Scalar>(TypeParam::exec()); }

}  // namespace
