// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Refused input, and the messages.

#include "rays/model.hpp"

#include <gmock/gmock.h>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::InputError;
using moho::Instance;
using moho::MemoryError;
using moho::Points;
using moho::rays::GraphOptions;
using moho::rays::GridGraph;
using moho::rays::Method;
using moho::rays::TraceOptions;
using moho::rays::WeightStorage;
using ::testing::HasSubstr;

// Returns the message of the expected exception; fails if no exception or another one is thrown.
template <class Exception, class Function>
std::string message(const Function& function) {
  try {
    function();
  } catch (const Exception& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_THAT(text, HasSubstr(part));
}

template <class C>
class Input : public ::testing::Test {};
TYPED_TEST_SUITE(Input, TestCases, CaseName);

template <class T, class Memory>
void velocity_must_be_positive_and_finite(const Instance<Memory>& exec) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const std::pair<double, const char*> bad[] = {{0.0, "0"},         {-0.0, "0"},
                                                {-1500.0, "-1500"}, {std::nan(""), "nan"},
                                                {infinite, "inf"},  {-infinite, "-inf"}};
  for (const auto& [value, text] : bad) {
    auto flat = constant_model<2>({5, 7}, 1500.0, {10.0, 20.0}, {100.0, -50.0});
    flat.velocity[3 * 7 + 4] = value;
    flat.velocity[4 * 7 + 6] = -1.0;  // the message names the first one
    expect_parts(message<InputError>([&] { make_graph<T>(exec, flat, {}); }),
                 {"velocity: ", text, "at node (3, 4)", "position (130, 30)", "positive finite"});
    GraphOptions options;
    options.radius = 2;
    auto solid = constant_model<3>({3, 4, 5}, 1500.0, {10.0, 20.0, 5.0});
    solid.velocity[(2 * 4 + 3) * 5 + 4] = value;  // last node
    expect_parts(message<InputError>([&] { make_graph<T>(exec, solid, options); }),
                 {"velocity: ", text, "at node (2, 3, 4)", "position (20, 60, 20)"});
  }
}
TYPED_TEST(Input, VelocityMustBePositiveAndFinite) {
  velocity_must_be_positive_and_finite<typename TypeParam::Scalar>(TypeParam::exec());
}

// A velocity so small that its reciprocal, the slowness, overflows.
template <class T, class Memory>
void slowness_must_be_finite(const Instance<Memory>& exec) {
  auto model = constant_model<2>({5, 7}, 1500.0);
  model.velocity[0] = static_cast<double>(std::numeric_limits<T>::denorm_min());
  expect_parts(message<InputError>([&] { make_graph<T>(exec, model, {}); }),
               {"velocity: ", "at node (0, 0)"});
}
TYPED_TEST(Input, SlownessMustBeFinite) {
  slowness_must_be_finite<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void radius(const Instance<Memory>& exec) {
  GraphOptions options;
  for (const int radius : {0, -1, 9, 100}) {
    options.radius = radius;
    expect_parts(message<InputError>([&] {
                   make_graph<T>(exec, constant_model<2>({5, 7}, 1.0), options);
                 }),
                 {moho::concat("radius: ", radius), "allowed in 2D: 1 to 8"});
  }
  for (const int radius : {0, 5, 6}) {
    options.radius = radius;
    expect_parts(message<InputError>([&] {
                   make_graph<T>(exec, constant_model<3>({5, 7, 3}, 1.0), options);
                 }),
                 {moho::concat("radius: ", radius), "allowed in 3D: 1 to 4"});
  }
}
TYPED_TEST(Input, Radius) { radius<typename TypeParam::Scalar>(TypeParam::exec()); }

template <class T, class Memory>
void shapes(const Instance<Memory>& exec) {
  const auto model = constant_model<2>({5, 7}, 1.0);
  const auto other = constant_model<2>({7, 5}, 1.0);
  expect_parts(message<InputError>([&] {
                 GridGraph<T, 2, Memory>(exec, model.grid, velocity_field<T>(exec, other),
                                         GraphOptions{});
               }),
               {"velocity", "7 x 5", "5 x 7"});

  auto grid = model.grid;
  grid.spacing[1] = 0.0;
  expect_parts(message<InputError>([&] {
                 GridGraph<T, 2, Memory>(exec, grid, velocity_field<T>(exec, model),
                                         GraphOptions{});
               }),
               {"spacing along z is 0"});

  const auto graph = make_graph<T>(exec, model, {});
  const Points<2> sources{{1.0, 1.0}, {2.0, 3.0}};
  const auto times = moho::make_field_per_source<T>(exec, 2, model.grid, "times");
  const auto one = moho::make_field_per_source<T>(exec, 1, model.grid, "times");
  const auto turned = moho::make_field_per_source<T>(exec, 2, other.grid, "times");
  const auto predecessors =
      moho::make_field_per_source<std::int16_t>(exec, 2, model.grid, "predecessors");
  const auto wrong = moho::make_field_per_source<std::int16_t>(exec, 3, model.grid, "predecessors");
  const moho::FieldPerSource<std::int16_t, 2, Memory> none;
  expect_parts(message<InputError>([&] { trace(exec, graph, sources, one, none); }),
               {"times: its shape is 1 x 5 x 7", "allowed: 2 x 5 x 7"});
  expect_parts(message<InputError>([&] { trace(exec, graph, sources, turned, predecessors); }),
               {"times: its shape is 2 x 7 x 5", "allowed: 2 x 5 x 7"});
  expect_parts(message<InputError>([&] { trace(exec, graph, sources, times, wrong); }),
               {"predecessors: its shape is 3 x 5 x 7", "allowed: 2 x 5 x 7"});
  EXPECT_NO_THROW(trace(exec, graph, sources, times, none));
  expect_parts(message<InputError>([&] { ray_paths(exec, graph, sources, times, none, sources); }),
               {"predecessors: its shape is 0 x 0 x 0"});
  EXPECT_NO_THROW(trace(exec, graph, sources, times, predecessors));
  expect_parts(message<InputError>([&] {
                 ray_paths(exec, graph, {{1.0, 1.0}}, times, predecessors, {});
               }),
               {"times: its shape is 2 x 5 x 7", "allowed: 1 x 5 x 7"});
}
TYPED_TEST(Input, Shapes) { shapes<typename TypeParam::Scalar>(TypeParam::exec()); }

// Parts of larger views have gaps between rows.
template <class T, class Memory>
void views_with_gaps(const Instance<Memory>& exec) {
  const auto model = constant_model<2>({5, 7}, 1.0);
  const auto large = velocity_field<T>(exec, constant_model<2>({5, 9}, 1.0));
  const moho::Field<T, 2, Memory> part = Kokkos::subview(large, Kokkos::ALL, std::make_pair(1, 8));
  ASSERT_EQ(part.extent(0), 5u);
  ASSERT_EQ(part.extent(1), 7u);
  expect_parts(
      message<InputError>([&] { GridGraph<T, 2, Memory>(exec, model.grid, part, GraphOptions{}); }),
      {"velocity: ", "part of a larger view", "gaps"});
  // complete rows of a larger view are contiguous and accepted
  const auto tall = velocity_field<T>(exec, constant_model<2>({8, 7}, 1.0));
  const moho::Field<T, 2, Memory> rows = Kokkos::subview(tall, std::make_pair(2, 7), Kokkos::ALL);
  EXPECT_NO_THROW((GridGraph<T, 2, Memory>(exec, model.grid, rows, GraphOptions{})));
}
TYPED_TEST(Input, ViewsWithGaps) { views_with_gaps<typename TypeParam::Scalar>(TypeParam::exec()); }

template <class T, class Memory>
void sources_and_receivers_must_be_inside(const Instance<Memory>& exec) {
  const auto model = constant_model<2>({5, 7}, 1.0, {10.0, 20.0}, {100.0, -50.0});
  const auto graph = make_graph<T>(exec, model, {});
  const std::vector<std::string> extent{"x 100 to 140", "z -50 to 70"};
  const Points<2> inside{{100.0, -50.0}, {140.0, 70.0}};
  const Points<2> outside[] = {
      {{99.0, 0.0}},   {{140.01, 0.0}},         {{120.0, -50.5}},
      {{120.0, 71.0}}, {{120.0, std::nan("")}}, {{-std::numeric_limits<double>::infinity(), 0.0}}};
  for (const auto& bad : outside) {
    auto sources = inside;
    sources.push_back(bad[0]);
    const auto text = message<InputError>([&] { solve(exec, graph, sources); });
    expect_parts(text, extent);
    const bool finite = std::isfinite(bad[0][0]) && std::isfinite(bad[0][1]);
    const std::string what =
        moho::format_point(bad[0]) + (finite ? " is outside the model" : " is no position");
    expect_parts(text, {"source 3: " + what});
    const auto other = message<InputError>([&] { solve(exec, graph, inside, {}, sources); });
    expect_parts(other, extent);
    expect_parts(other, {"receiver 3: " + what});
  }
  EXPECT_NO_THROW(solve(exec, graph, inside, {}, inside));
}
TYPED_TEST(Input, SourcesAndReceiversMustBeInside) {
  sources_and_receivers_must_be_inside<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void there_must_be_a_source(const Instance<Memory>& exec) {
  const auto graph = make_graph<T>(exec, constant_model<2>({5, 7}, 1.0), {});
  expect_parts(message<InputError>([&] { solve(exec, graph, {}); }), {"sources: there are none"});
}
TYPED_TEST(Input, ThereMustBeASource) {
  there_must_be_a_source<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void dijkstra_runs_on_the_host_alone(const Instance<Memory>& exec) {
  const auto graph = make_graph<T>(exec, constant_model<2>({5, 7}, 1.0), {});
  TraceOptions options;
  options.method = Method::dijkstra;
  if constexpr (moho::is_host_memory<Memory>) {
    EXPECT_NO_THROW(solve(exec, graph, {{1.0, 1.0}}, options));
  } else {
    expect_parts(message<InputError>([&] {
                   solve(exec, graph, {{1.0, 1.0}}, options);
                 }),
                 {"dijkstra", "host", "active_tiles"});
  }
}
TYPED_TEST(Input, DijkstraRunsOnTheHostAlone) {
  dijkstra_runs_on_the_host_alone<typename TypeParam::Scalar>(TypeParam::exec());
}

template <class T, class Memory>
void memory_budget_too_small(const Instance<Memory>& exec) {
  const auto model = constant_model<2>({50, 70}, 1.0);
  GraphOptions options;
  options.memory_budget = 1000;
  expect_parts(
      message<MemoryError>([&] { make_graph<T>(exec, model, options); }),
      {"memory: a model of 50 x 70 nodes needs ", "the memory budget of 1000 B", "coarser"});
  options.memory_budget = 0;
  options.storage = WeightStorage::on_the_fly;
  const auto roomy = make_graph<T>(exec, model, options);
  const std::size_t padded_size = static_cast<std::size_t>(roomy.data().grid.size);

  options.storage = WeightStorage::stored;
  options.memory_budget = padded_size * sizeof(T) * 40;  // the table needs 48 words per vertex
  expect_parts(message<MemoryError>([&] { make_graph<T>(exec, model, options); }),
               {"memory: the table of edge weights needs ", "the memory budget", "on the fly"});

  // enough for the default method, too small for methods with more arrays
  options.storage = WeightStorage::on_the_fly;
  options.memory_budget = padded_size * sizeof(T) * 3;
  const auto graph = make_graph<T>(exec, model, options);
  EXPECT_NO_THROW(solve(exec, graph, {{1.0, 1.0}}));
  for (const auto method : {Method::relaxation, Method::push, Method::near_far}) {
    TraceOptions trace;
    trace.method = method;
    expect_parts(message<MemoryError>([&] {
                   solve(exec, graph, {{1.0, 1.0}}, trace);
                 }),
                 {"memory: one source needs ", to_string(method), "budget"});
  }
}
TYPED_TEST(Input, MemoryBudgetTooSmall) {
  memory_budget_too_small<typename TypeParam::Scalar>(TypeParam::exec());
}

// Without a budget the limit is the free memory. The check precedes all allocations.
template <class T, class Memory>
void more_memory_than_there_is(const Instance<Memory>& exec) {
  const std::int64_t side = 200000;  // 40 billion (4e10) nodes
  const Grid<2> grid{{side, side}, {1.0, 1.0}, {}};
  if (moho::available_memory(exec) > 8 * static_cast<std::size_t>(side) * side) {
    GTEST_SKIP() << "this machine has room for it";
  }
  // the shape is checked first, because a field of this shape cannot be allocated
  const moho::Field<T, 2, Memory> small("small", 2, 2);
  EXPECT_THROW((GridGraph<T, 2, Memory>(exec, grid, small, GraphOptions{})), InputError);
}
TYPED_TEST(Input, MoreMemoryThanThereIs) {
  more_memory_than_there_is<typename TypeParam::Scalar>(TypeParam::exec());
}

}  // namespace
