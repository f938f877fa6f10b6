// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Progress and reports; the effect of rounding on predecessors.

#include "rays/model.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace {

using namespace moho::testing;
using moho::Grid;
using moho::Index;
using moho::Instance;
using moho::rays::from_source;
using moho::rays::GraphOptions;
using moho::rays::Method;
using moho::rays::TraceOptions;
using moho::rays::WeightRule;
using moho::rays::WeightStorage;

template <class S>
class Progress : public ::testing::Test {};
TYPED_TEST_SUITE(Progress, TestSpaces, SpaceName);

template <class Memory>
void never_falls_and_ends_at_one(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({40, 44}, 10.0, 1);
  const auto sources = random_points(model.grid, 5, 2);
  GraphOptions options;
  options.radius = 2;
  options.storage = WeightStorage::on_the_fly;
  const std::size_t padded_size =
      static_cast<std::size_t>(make_graph<float>(exec, model, options).data().grid.size);
  for (const bool batches : {false, true}) {
    for (const auto method : parallel_methods) {
      const std::size_t words = static_cast<std::size_t>(words_for_few_sources(method));
      options.memory_budget = batches ? words * padded_size * sizeof(float) : 0;
      const auto graph = make_graph<float>(exec, model, options);
      std::vector<double> fractions;
      bool said = true;
      TraceOptions trace;
      trace.method = method;
      trace.progress = [&](double fraction, const std::string& what) {
        fractions.push_back(fraction);
        said = said && !what.empty();
      };
      const auto found = solve(exec, graph, sources, trace);
      EXPECT_EQ(found.report.batches > 1, batches) << to_string(method);
      ASSERT_GE(fractions.size(), 2u) << to_string(method);
      EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end())) << to_string(method);
      EXPECT_GE(fractions.front(), 0.0);
      EXPECT_LT(fractions.front(), 1.0) << to_string(method);
      EXPECT_EQ(fractions.back(), 1.0);
      EXPECT_TRUE(said);
      // results are the same without a callback
      TraceOptions quiet;
      quiet.method = method;
      EXPECT_EQ(solve(exec, graph, sources, quiet).times, found.times) << to_string(method);
    }
  }
}
TYPED_TEST(Progress, NeverFallsAndEndsAtOne) { never_falls_and_ends_at_one(TypeParam::exec()); }

// An exception from the callback is propagated, and the next call works.
template <class Memory>
void may_stop_the_work(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({70, 80}, 10.0, 3);
  const auto graph = make_graph<float>(exec, model, {});
  TraceOptions trace;
  trace.progress = [](double, const std::string&) { throw std::runtime_error("enough"); };
  EXPECT_THROW(solve(exec, graph, {{1.0, 1.0}}, trace), std::runtime_error);
  EXPECT_NO_THROW(solve(exec, graph, {{1.0, 1.0}}));
}
TYPED_TEST(Progress, MayStopTheWork) { may_stop_the_work(TypeParam::exec()); }

// A request ends each method after the present round, or source; the next call works.
template <class Memory>
void ends_on_request(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({70, 80}, 10.0, 3);
  const auto graph = make_graph<float>(exec, model, {});
  moho::StopFlag flag;
  const Instance<Memory> stopped = moho::stopped_by<Memory>(exec, flag);
  std::vector<Method> methods(std::begin(parallel_methods), std::end(parallel_methods));
  if (moho::is_host_memory<Memory>) methods.push_back(Method::dijkstra);
  for (const Method method : methods) {
    int reports = 0;
    TraceOptions trace;
    trace.method = method;
    trace.progress = [&](double, const std::string&) {
      ++reports;
      flag.request();
    };
    EXPECT_THROW(solve(stopped, graph, {{1.0, 1.0}, {5.0, 2.0}}, trace), moho::Stopped)
        << to_string(method);
    EXPECT_EQ(reports, 1) << to_string(method);
    flag.clear();
    trace.progress = {};
    EXPECT_NO_THROW(solve(stopped, graph, {{1.0, 1.0}}, trace)) << to_string(method);
  }
}
TYPED_TEST(Progress, EndsOnRequest) { ends_on_request(TypeParam::exec()); }

// A request ends the computation of the table of weights.
TYPED_TEST(Progress, TablesEndOnRequest) {
  using Memory = typename TypeParam::Memory;
  const auto model = rough_model<2>({70, 80}, 10.0, 3);
  moho::StopFlag flag;
  const Instance<Memory> exec = TypeParam::exec();
  const Instance<Memory> stopped = moho::stopped_by<Memory>(exec, flag);
  for (const WeightRule rule : {WeightRule::slowness, WeightRule::velocity}) {
    GraphOptions options;
    options.rule = rule;
    options.storage = WeightStorage::stored;
    flag.request();
    EXPECT_THROW(make_graph<float>(stopped, model, options), moho::Stopped);
    flag.clear();
    EXPECT_NO_THROW(make_graph<float>(stopped, model, options));
  }
}

// Long kernels of hosts end between parts; without a request they do all positions once.
void long_kernels_have_parts(const Instance<Kokkos::HostSpace>& exec) {
  constexpr std::int64_t count = 10000, relaxations = std::int64_t(1) << 26;
  moho::StopFlag flag;
  const auto stopped = moho::stopped_by<Kokkos::HostSpace>(exec, flag);
  std::vector<int> visits(count, 0);
  const auto visit = [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; };
  const auto done = [&] { return std::accumulate(visits.begin(), visits.end(), std::int64_t{0}); };
  moho::rays::detail::launch_parts("moho::rays::visit", stopped, count, relaxations, visit);
  EXPECT_EQ(visits, std::vector<int>(count, 1));
  moho::rays::detail::launch_dynamic_parts("moho::rays::visit", stopped, count, 1, visit);
  EXPECT_EQ(visits, std::vector<int>(count, 2));
  const auto request = [&](std::int64_t i) {
    visit(i);
    flag.request();
  };
  EXPECT_THROW(
      moho::rays::detail::launch_parts("moho::rays::visit", stopped, count, relaxations, request),
      moho::Stopped);
  EXPECT_EQ(done(), 2 * count + exec.concurrency());
  EXPECT_THROW(
      moho::rays::detail::launch_dynamic_parts("moho::rays::visit", stopped, count, 1, request),
      moho::Stopped);
  EXPECT_EQ(done(), 2 * count + exec.concurrency());
}
TYPED_TEST(Progress, LongKernelsHaveParts) {
  if constexpr (moho::is_host_memory<typename TypeParam::Memory>) {
    long_kernels_have_parts(TypeParam::exec());
  }
}

template <class Memory>
void reports_count_work(const Instance<Memory>& exec) {
  const auto model = rough_model<2>({40, 44}, 10.0, 4);
  GraphOptions options;
  options.radius = 2;
  const auto graph = make_graph<float>(exec, model, options);
  for (const auto method : parallel_methods) {
    TraceOptions trace;
    trace.method = method;
    const auto report = solve(exec, graph, {{1.0, 1.0}, {30.0, 2.5}}, trace).report;
    EXPECT_GT(report.rounds, 1) << to_string(method);
    // at least one relaxation of each edge for each source
    EXPECT_GE(report.relaxations, 2 * model.grid.size() * graph.neighbours()) << to_string(method);
    EXPECT_EQ(report.tile_visits > 0, method == Method::active_tiles);
    EXPECT_GT(report.times.seconds("rays::trace"), 0.0);
    EXPECT_GT(report.times.seconds("rays::predecessors"), 0.0);
  }
}
TYPED_TEST(Progress, ReportsCountWork) { reports_count_work(TypeParam::exec()); }

// A slow layer followed by edges whose weights are below the rounding of the traveltime. In single
// precision complete regions have one traveltime.
Model<2> slow_then_quick() {
  return make_model(Grid<2>{{9, 60}, {1.0, 1.0}, {}},
                    [](const Index<2>& node) { return node[1] < 3 ? 1e-6 : 1e6; });
}

template <class T>
std::int64_t endless_chains(const Solution<T, 2>& found, const Model<2>& model,
                            const std::vector<std::array<int, 2>>& neighbours) {
  std::int64_t endless = 0;
  for (std::int64_t i = 0; i < model.grid.size(); ++i) {
    auto node = model.grid.node(i);
    std::int64_t steps = 0;
    while (steps++ <= model.grid.size()) {
      const int direction = found.predecessors[static_cast<std::size_t>(model.grid.flat(node))];
      if (direction < 0) {
        endless += direction != from_source;
        break;
      }
      for (int d = 0; d < 2; ++d) node[d] += neighbours[static_cast<std::size_t>(direction)][d];
    }
    endless += steps > model.grid.size();
  }
  return endless;
}

template <class Memory, class Times>
void trace_times(const Instance<Memory>& exec, const moho::rays::GridGraph<float, 2, Memory>& graph,
                 const Times& times, const TraceOptions& options) {
  const moho::FieldPerSource<std::int16_t, 2, Memory> none;
  trace(exec, graph, {{4.0, 0.0}}, times, none, options);
}

template <class Memory>
void edges_below_rounding_raise_an_error_or_leave_chains_that_end(const Instance<Memory>& exec) {
  const auto model = slow_then_quick();
  GraphOptions options;
  options.radius = 2;
  const auto graph = make_graph<float>(exec, model, options);
  std::vector<std::array<int, 2>> neighbours;
  for (int k = 0; k < graph.neighbours(); ++k) neighbours.push_back(graph.neighbour(k));
  int errors = 0;
  for (const auto method : parallel_methods) {
    TraceOptions trace;
    trace.method = method;
    try {
      const auto found = solve(exec, graph, {{4.0, 0.0}}, trace, {{4.0, 59.0}});
      EXPECT_EQ(endless_chains(found, model, neighbours), 0) << to_string(method);
      EXPECT_GE(found.paths.points.size(), 3u);
    } catch (const moho::Error& error) {
      ++errors;
      EXPECT_THAT(error.what(), ::testing::HasSubstr("predecessors: "));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("rounding"));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("double precision"));
    }
    // traveltimes without predecessors can still be computed
    const auto times = moho::make_field_per_source<float>(exec, 1, model.grid, "times");
    EXPECT_NO_THROW(trace_times(exec, graph, times, trace)) << to_string(method);
    for (const float time : download(exec, times))
      EXPECT_TRUE(std::isfinite(time)) << to_string(method);
  }
  EXPECT_GE(errors, 1);  // the model has such vertices
  // the remedy that the message names
  const auto precise = make_graph<double>(exec, model, options);
  EXPECT_NO_THROW(solve(exec, precise, {{4.0, 0.0}}, {}, {{4.0, 59.0}}));
}
TYPED_TEST(Progress, EdgesBelowRoundingRaiseAnErrorOrLeaveChainsThatEnd) {
  edges_below_rounding_raise_an_error_or_leave_chains_that_end(TypeParam::exec());
}

}  // namespace
