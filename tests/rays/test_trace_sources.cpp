// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Sources from the host, traced in groups that fit the memory: the same times and rays as in one.

#include <moho/core/copy.hpp>
#include <moho/rays/trace_sources.hpp>

#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "refusals.hpp"
#include "spaces.hpp"

namespace {

using namespace moho::testing;
using moho::download;
using moho::Instance;
using moho::MemoryError;
using moho::rays::trace_sources;
using moho::rays::TraceJob;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <class C>
class TraceSources : public ::testing::Test {};
TYPED_TEST_SUITE(TraceSources, TestSpaces, SpaceName);

TraceJob<float, 2> job_of(std::size_t sources) {
  TraceJob<float, 2> job;
  job.grid = {{41, 31}, {10.0, 10.0}, {0.0, 0.0}};
  for (int i = 0; i < 41; ++i) {
    for (int k = 0; k < 31; ++k) job.velocity.push_back(1500.0f + 20.0f * float(k) + float(i));
  }
  for (std::size_t n = 0; n < sources; ++n) job.sources.push_back({40.0 * double(n) + 7.0, 20.0});
  job.receivers = {{390.0, 290.0}, {0.0, 150.0}};
  job.graph.radius = 3;
  return job;
}

template <class Memory>
void groups_change_nothing(const Instance<Memory>& exec) {
  TraceJob<float, 2> job = job_of(7);
  const auto whole = trace_sources(exec, job);
  EXPECT_EQ(whole.groups, 1);
  EXPECT_EQ(whole.paths.sources, 7);
  EXPECT_EQ(whole.paths.traveltime.size(), 14u);
  // room for the fields of three sources in half of the memory, the graph in the other half; on
  // hosts the times of all sources belong to the model
  constexpr bool host = moho::is_host_memory<Memory>;
  const std::size_t nodes = 41 * 31, model = host ? 8 * sizeof(float) : sizeof(float),
                    source = (host ? 0 : sizeof(float)) + sizeof(std::int16_t);
  job.memory = 2 * nodes * (model + 3 * source);
  job.graph.storage = moho::rays::WeightStorage::on_the_fly;
  const auto parts = trace_sources(exec, job);
  EXPECT_GT(parts.groups, 1);
  EXPECT_LE(parts.budget, job.memory);
  ASSERT_EQ(parts.times.size(), whole.times.size());
  EXPECT_EQ(std::vector<float>(parts.times.data(), parts.times.data() + parts.times.size()),
            std::vector<float>(whole.times.data(), whole.times.data() + whole.times.size()));
  EXPECT_EQ(parts.paths.first, whole.paths.first);
  EXPECT_EQ(parts.paths.traveltime, whole.paths.traveltime);
  ASSERT_EQ(parts.paths.points.size(), whole.paths.points.size());
  for (std::size_t i = 0; i < whole.paths.points.size(); ++i) {
    EXPECT_EQ(parts.paths.points[i][0], whole.paths.points[i][0]);
    EXPECT_EQ(parts.paths.points[i][1], whole.paths.points[i][1]);
  }
}
TYPED_TEST(TraceSources, GroupsChangeNothing) { groups_change_nothing(TypeParam::exec()); }

template <class Memory>
void memory_of_the_caller_receives_the_same(const Instance<Memory>& exec) {
  TraceJob<float, 2> job = job_of(3);
  const auto whole = trace_sources(exec, job);
  const std::vector<float> velocity = std::move(job.velocity);
  std::vector<float> times(whole.times.size());
  job.velocity.clear();
  job.borrowed_velocity = velocity.data();
  job.borrowed_times = times.data();
  const auto same = trace_sources(exec, job);
  EXPECT_EQ(same.times.data(), times.data());
  EXPECT_EQ(times, std::vector<float>(whole.times.data(), whole.times.data() + times.size()));
  EXPECT_EQ(same.paths.traveltime, whole.paths.traveltime);
}
TYPED_TEST(TraceSources, MemoryOfTheCallerReceivesTheSame) {
  memory_of_the_caller_receives_the_same(TypeParam::exec());
}

template <class Memory>
void velocities_of_another_size_are_refused(const Instance<Memory>& exec) {
  TraceJob<float, 2> job = job_of(1);
  job.velocity.pop_back();
  EXPECT_EQ(message_of([&] { trace_sources(exec, job); }),
            "velocity: it has 1270 values (allowed: 1271, those of the grid)");
}
TYPED_TEST(TraceSources, VelocitiesOfAnotherSizeAreRefused) {
  velocities_of_another_size_are_refused(TypeParam::exec());
}

template <class Memory>
void too_little_memory_is_refused(const Instance<Memory>& exec) {
  TraceJob<float, 2> job = job_of(1);
  job.memory = 5000;
  EXPECT_THAT(message_of<MemoryError>([&] { trace_sources(exec, job); }),
              AllOf(HasSubstr("predecessors of one source take "), HasSubstr(", the memory given"),
                    HasSubstr("raise memory, take fewer nodes or single precision")));
  job.names = {"--memory", "--precision float"};
  EXPECT_THAT(message_of<MemoryError>([&] { trace_sources(exec, job); }),
              AllOf(HasSubstr(", the --memory given"),
                    HasSubstr("raise --memory, take fewer nodes or --precision float")));
}
TYPED_TEST(TraceSources, TooLittleMemoryIsRefused) {
  too_little_memory_is_refused(TypeParam::exec());
}

}  // namespace
