// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Kernel labels, instances and fences of rays.

#include "events.hpp"
#include "rays/model.hpp"

#include <memory>
#include <string>
#include <utility>

namespace {

using namespace moho::testing;
using moho::Points;
using moho::rays::GraphOptions;
using moho::rays::GridGraph;
using moho::rays::Method;
using moho::rays::TraceOptions;
using moho::rays::WeightStorage;

const Contract returns{{"rays"}, true};

template <int Dim, class Memory>
void hold_every_method(const Instance<Memory>& exec, const Model<Dim>& model) {
  const auto velocity = velocity_field<float>(exec, model);
  const Points<Dim> sources = random_points(model.grid, 2, 2);
  const auto times = moho::make_field_per_source<float>(exec, 2, model.grid, "times");
  const auto predecessors =
      moho::make_field_per_source<std::int16_t>(exec, 2, model.grid, "predecessors");
  std::vector<Method> methods(std::begin(parallel_methods), std::end(parallel_methods));
  if (moho::is_host_memory<Memory>) methods.push_back(Method::dijkstra);
  std::int64_t kernels = 0;
  for (const auto rule : all_rules) {
    for (const auto storage : both_storages) {
      // weights of the other rules are slow if computed at every use
      if (storage == WeightStorage::on_the_fly && rule != moho::rays::WeightRule::slowness)
        continue;
      GraphOptions options;
      options.radius = 2;
      options.rule = rule;
      options.storage = storage;
      std::unique_ptr<GridGraph<float, Dim, Memory>> graph;
      hold(exec, "GridGraph", returns, [&] {
        graph =
            std::make_unique<GridGraph<float, Dim, Memory>>(exec, model.grid, velocity, options);
      });
      for (const Method method : methods) {
        TraceOptions trace;
        trace.method = method;
        kernels += kernels_in(hold(exec, "trace by " + to_string(method), returns, [&] {
          moho::rays::trace(exec, *graph, sources, times, predecessors, trace);
        }));
      }
      hold(exec, "ray_paths", returns,
           [&] { moho::rays::ray_paths(exec, *graph, sources, times, predecessors, sources); });
    }
  }
  EXPECT_GT(kernels, 50);
}

template <class S>
class RaysContract : public ::testing::Test {};
TYPED_TEST_SUITE(RaysContract, TestSpaces, SpaceName);

TYPED_TEST(RaysContract, EveryMethod2D) {
  hold_every_method<2, typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>(),
                                                   rough_model<2>({30, 27}, 4.0, 1));
}
TYPED_TEST(RaysContract, EveryMethod3D) {
  hold_every_method<3, typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>(),
                                                   rough_model<3>({12, 11, 17}, 4.0, 1));
}

}  // namespace
