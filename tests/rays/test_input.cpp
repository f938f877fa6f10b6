// SPDX-License-Identifier: BSD-3-Clause
//
// What is refused, and what the messages say.

#include "rays/model.hpp"

#include <gmock/gmock.h>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::InputError;
using moho::MemoryError;
using moho::Points;
using moho::rays::GraphOptions;
using moho::rays::GridGraph;
using moho::rays::Method;
using moho::rays::TraceOptions;
using moho::rays::WeightStorage;
using ::testing::HasSubstr;

// The message of the expected exception; a failure if there is none or it is another one.
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

TYPED_TEST(Input, VelocityMustBePositiveAndFinite) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const std::pair<double, const char*> bad[] = {{0.0, "0"},         {-0.0, "0"},
                                                {-1500.0, "-1500"}, {std::nan(""), "nan"},
                                                {infinite, "inf"},  {-infinite, "-inf"}};
  for (const auto& [value, text] : bad) {
    auto flat = constant_model<2>({5, 7}, 1500.0, {10.0, 20.0}, {100.0, -50.0});
    flat.velocity[3 * 7 + 4] = value;
    flat.velocity[4 * 7 + 6] = -1.0;  // the first one is named
    expect_parts(message<InputError>([&] { make_graph<T, Exec>(flat, {}); }),
                 {"velocity: ", text, "at node (3, 4)", "position (130, 30)", "positive finite"});
    GraphOptions options;
    options.radius = 2;
    auto solid = constant_model<3>({3, 4, 5}, 1500.0, {10.0, 20.0, 5.0});
    solid.velocity[(2 * 4 + 3) * 5 + 4] = value;  // the very last
    expect_parts(message<InputError>([&] { make_graph<T, Exec>(solid, options); }),
                 {"velocity: ", text, "at node (2, 3, 4)", "position (20, 60, 20)"});
  }
}

// So small that its reciprocal, the slowness, overflows.
TYPED_TEST(Input, SlownessMustBeFinite) {
  using T = typename TypeParam::Scalar;
  auto model = constant_model<2>({5, 7}, 1500.0);
  model.velocity[0] = static_cast<double>(std::numeric_limits<T>::denorm_min());
  expect_parts(message<InputError>([&] { make_graph<T, typename TypeParam::Exec>(model, {}); }),
               {"velocity: ", "at node (0, 0)"});
}

TYPED_TEST(Input, Radius) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  GraphOptions options;
  for (const int radius : {0, -1, 9, 100}) {
    options.radius = radius;
    expect_parts(message<InputError>([&] {
                   make_graph<T, Exec>(constant_model<2>({5, 7}, 1.0), options);
                 }),
                 {moho::concat("radius: ", radius), "allowed in 2D: 1 to 8"});
  }
  for (const int radius : {0, 5, 6}) {
    options.radius = radius;
    expect_parts(message<InputError>([&] {
                   make_graph<T, Exec>(constant_model<3>({5, 7, 3}, 1.0), options);
                 }),
                 {moho::concat("radius: ", radius), "allowed in 3D: 1 to 4"});
  }
}

TYPED_TEST(Input, Shapes) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  const Exec exec;
  const auto model = constant_model<2>({5, 7}, 1.0);
  const auto other = constant_model<2>({7, 5}, 1.0);
  expect_parts(message<InputError>([&] {
                 GridGraph<T, 2, Exec>(exec, model.grid, velocity_field<T>(exec, other),
                                       GraphOptions{});
               }),
               {"velocity", "7 x 5", "5 x 7"});

  auto grid = model.grid;
  grid.spacing[1] = 0.0;
  expect_parts(message<InputError>([&] {
                 GridGraph<T, 2, Exec>(exec, grid, velocity_field<T>(exec, model), GraphOptions{});
               }),
               {"spacing along z is 0"});

  const auto graph = make_graph<T, Exec>(model, {});
  const Points<2> sources{{1.0, 1.0}, {2.0, 3.0}};
  const auto times = moho::make_field_per_source<T>(exec, 2, model.grid, "times");
  const auto one = moho::make_field_per_source<T>(exec, 1, model.grid, "times");
  const auto turned = moho::make_field_per_source<T>(exec, 2, other.grid, "times");
  const auto predecessors =
      moho::make_field_per_source<std::int16_t>(exec, 2, model.grid, "predecessors");
  const auto wrong = moho::make_field_per_source<std::int16_t>(exec, 3, model.grid, "predecessors");
  const moho::FieldPerSource<std::int16_t, 2, Exec> none;
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

TYPED_TEST(Input, SourcesAndReceiversMustBeInside) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  const auto model = constant_model<2>({5, 7}, 1.0, {10.0, 20.0}, {100.0, -50.0});
  const auto graph = make_graph<T, Exec>(model, {});
  const std::vector<std::string> extent{"x 100 to 140", "z -50 to 70", "outside the model"};
  const Points<2> inside{{100.0, -50.0}, {140.0, 70.0}};
  const Points<2> outside[] = {
      {{99.0, 0.0}},   {{140.01, 0.0}},         {{120.0, -50.5}},
      {{120.0, 71.0}}, {{120.0, std::nan("")}}, {{-std::numeric_limits<double>::infinity(), 0.0}}};
  for (const auto& bad : outside) {
    auto sources = inside;
    sources.push_back(bad[0]);
    const auto text = message<InputError>([&] { solve(graph, sources); });
    expect_parts(text, extent);
    expect_parts(text, {"source 2: " + moho::format_point(bad[0])});
    const auto other = message<InputError>([&] { solve(graph, inside, {}, sources); });
    expect_parts(other, extent);
    expect_parts(other, {"receiver 2: " + moho::format_point(bad[0])});
  }
  EXPECT_NO_THROW(solve(graph, inside, {}, inside));
}

TYPED_TEST(Input, ThereMustBeASource) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  const auto graph = make_graph<T, Exec>(constant_model<2>({5, 7}, 1.0), {});
  expect_parts(message<InputError>([&] { solve(graph, {}); }), {"sources: there are none"});
}

TYPED_TEST(Input, DijkstraRunsOnTheHostAlone) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  const auto graph = make_graph<T, Exec>(constant_model<2>({5, 7}, 1.0), {});
  TraceOptions options;
  options.method = Method::dijkstra;
  if constexpr (moho::is_host_space<Exec>) {
    EXPECT_NO_THROW(solve(graph, {{1.0, 1.0}}, options));
  } else {
    expect_parts(message<InputError>([&] {
                   solve(graph, {{1.0, 1.0}}, options);
                 }),
                 {"dijkstra", "host", "active_tiles"});
  }
}

TYPED_TEST(Input, MemoryBudgetTooSmall) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  const auto model = constant_model<2>({50, 70}, 1.0);
  GraphOptions options;
  options.memory_budget = 1000;
  expect_parts(
      message<MemoryError>([&] { make_graph<T, Exec>(model, options); }),
      {"memory: a model of 50 x 70 nodes needs ", "the memory budget of 1000 B", "coarser"});
  options.memory_budget = 0;
  options.storage = WeightStorage::on_the_fly;
  const auto roomy = make_graph<T, Exec>(model, options);
  const std::size_t places = static_cast<std::size_t>(roomy.data().grid.size);

  options.storage = WeightStorage::stored;
  options.memory_budget = places * sizeof(T) * 40;  // the table has 48 words a vertex
  expect_parts(message<MemoryError>([&] { make_graph<T, Exec>(model, options); }),
               {"memory: the table of edge weights needs ", "the memory budget", "on the fly"});

  // enough for the default method, not for those that need more beside the traveltimes
  options.storage = WeightStorage::on_the_fly;
  options.memory_budget = places * sizeof(T) * 3;
  const auto graph = make_graph<T, Exec>(model, options);
  EXPECT_NO_THROW(solve(graph, {{1.0, 1.0}}));
  for (const auto method : {Method::relaxation, Method::push, Method::near_far}) {
    TraceOptions trace;
    trace.method = method;
    expect_parts(message<MemoryError>([&] {
                   solve(graph, {{1.0, 1.0}}, trace);
                 }),
                 {"memory: one source needs ", to_string(method), "budget"});
  }
}

// The machine's own memory is asked where no budget is given; nothing is allocated first.
TYPED_TEST(Input, MoreMemoryThanThereIs) {
  using T = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  const Exec exec;
  const std::int64_t side = 200000;  // 40 thousand million nodes
  const Grid<2> grid{{side, side}, {1.0, 1.0}, {}};
  if (moho::available_memory(exec) > 8 * static_cast<std::size_t>(side) * side) {
    GTEST_SKIP() << "this machine has room for it";
  }
  // the check of the shape comes first, and such a field cannot be made
  const moho::Field<T, 2, Exec> small("small", 2, 2);
  EXPECT_THROW((GridGraph<T, 2, Exec>(exec, grid, small, GraphOptions{})), InputError);
}

}  // namespace
