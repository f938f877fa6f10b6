// SPDX-License-Identifier: BSD-3-Clause
//
// What Kokkos Tools see: every kernel has a name of the module, or of moho's fills and copies, and
// runs on the instance that was given.

#include "rays/model.hpp"

#include <mutex>
#include <string>
#include <utility>

namespace {

using namespace moho::testing;
using moho::Instance;
using moho::Points;
using moho::rays::GraphOptions;
using moho::rays::WeightStorage;

// Names and devices of the kernels that began while it lived.
class Watch {
 public:
  Watch() {
    kernels().clear();
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(note);
    tools::set_begin_parallel_reduce_callback(note);
    tools::set_begin_parallel_scan_callback(note);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(nullptr);
    tools::set_begin_parallel_reduce_callback(nullptr);
    tools::set_begin_parallel_scan_callback(nullptr);
  }
  static std::vector<std::pair<std::string, std::uint32_t>>& kernels() {
    static std::vector<std::pair<std::string, std::uint32_t>> list;
    return list;
  }

 private:
  static void note(const char* name, std::uint32_t device, std::uint64_t*) {
    kernels().emplace_back(name, device);
  }
};

// True for kernels that fill or copy a view.
bool is_fill_or_copy(const std::string& name) {
  return name.find("Kokkos::View") != std::string::npos || name.rfind("Kokkos::", 0) == 0 ||
         name == "moho::fill" || name == "moho::copy";
}

template <class Memory>
void trace_with_every_method(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({40, 37}, 4.0, 1);
  const Points<2> sources = random_points(model.grid, 2, 2);
  for (const auto rule : {moho::rays::WeightRule::slowness, moho::rays::WeightRule::velocity}) {
    for (const auto storage : both_storages) {
      GraphOptions options;
      options.radius = 2;
      options.rule = rule;
      options.storage = storage;
      const auto graph = make_graph<float>(exec, model, options);
      for (const auto method : parallel_methods) {
        moho::rays::TraceOptions trace;
        trace.method = method;
        solve(exec, graph, sources, trace, sources);
      }
    }
  }
}

template <class S>
class Tools : public ::testing::Test {};
TYPED_TEST_SUITE(Tools, TestSpaces, SpaceName);

template <class Memory>
void every_kernel_is_named_after_the_module(const Instance<Memory>& exec) {
  const Watch watch;
  trace_with_every_method(exec);
  std::int64_t own = 0;
  for (const auto& [name, device] : Watch::kernels()) {
    if (is_fill_or_copy(name)) continue;
    ++own;
    EXPECT_EQ(name.rfind("moho::rays::", 0), 0u) << "'" << name << "'";
  }
  EXPECT_GT(own, 100);
}
TYPED_TEST(Tools, EveryKernelIsNamedAfterTheModule) {
  every_kernel_is_named_after_the_module(TypeParam::exec());
}

#if KOKKOS_VERSION >= 40200
// Another instance than the default one.
template <class Exec>
Exec other_instance() {
  return Kokkos::Experimental::partition_space(Exec(), 1, 1)[1];
}

template <class Exec>
void all_work_goes_to_the_given_instance() {
  using Memory = moho::MemoryOf<Exec>;
  const Exec other = other_instance<Exec>();
  if (other == Exec()) GTEST_SKIP() << "this space has one instance";
  const Instance<Memory> exec = other;
  const auto model = rough_model<2>({40, 37}, 4.0, 1);
  const auto velocity = velocity_field<float>(exec, model);
  const Points<2> sources = random_points(model.grid, 2, 2);
  const auto times = moho::make_field_per_source<float>(exec, 2, model.grid, "times");
  const auto predecessors =
      moho::make_field_per_source<std::int16_t>(exec, 2, model.grid, "predecessors");
  const std::uint32_t expected = Kokkos::Tools::Experimental::device_id(other);
  if (expected == Kokkos::Tools::Experimental::device_id(Exec())) {
    GTEST_SKIP() << "Kokkos does not tell tools the instances of this space apart";
  }
  const Watch watch;
  for (const auto storage : both_storages) {
    GraphOptions options;
    options.radius = 2;
    options.storage = storage;
    const moho::rays::GridGraph<float, 2, Memory> graph(exec, model.grid, velocity, options);
    for (const auto method : parallel_methods) {
      moho::rays::TraceOptions trace;
      trace.method = method;
      moho::rays::trace(exec, graph, sources, times, predecessors, trace);
      moho::rays::ray_paths(exec, graph, sources, times, predecessors, sources);
    }
  }
  std::int64_t seen = 0;
  for (const auto& [name, device] : Watch::kernels()) {
    if (device >> 24 != expected >> 24) continue;  // mirrors on the host
    ++seen;
    EXPECT_EQ(device, expected) << name;
  }
  EXPECT_GT(seen, 100);
}
TYPED_TEST(Tools, AllWorkGoesToTheGivenInstance) {
  all_work_goes_to_the_given_instance<typename TypeParam::Exec>();
}
#endif

}  // namespace
