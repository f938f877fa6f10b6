// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Labels, instances and fences of the inversion, which waits because it decides on the host, and
// the number of its solutions of the eikonal equation.

#include "events.hpp"
#include "spaces.hpp"
#include "tomography/line.hpp"

#include <moho/core/instances.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace {

using namespace moho::testing;
using moho::Instance;

const Contract waits{{"tomography", "optimize", "rays"}, true};

template <class S>
class TomographyContract : public ::testing::Test {};
TYPED_TEST_SUITE(TomographyContract, TestSpaces, SpaceName);

template <class Memory>
void hold_inversion(const Instance<Memory>& exec) {
  using namespace moho::tomography;
  const auto picks = line_picks(3, 8, 0.002);
  const auto grid = line_grid(8, 12.5, 75.0);
  Options<2> options;
  options.prior.lengths = {100.0, 50.0};
  options.radius = 2;
  options.krylov = 5;
  options.velocity_min = 500.0;
  options.velocity_max = 4000.0;
  std::optional<Inversion<float, 2, Memory>> inversion;
  const auto start = linear_model<2>(grid, {}, {1600.0, 1.0, 0.0});
  hold(exec, "Inversion", waits,
       [&] { inversion.emplace(exec, grid, picks, start, Ground<2>{}, options); });
  hold(exec, "iterate, start", waits, [&] { inversion->iterate(exec); });
  hold(exec, "iterate", waits, [&] { inversion->iterate(exec); });
  hold(exec, "rays", waits, [&] { inversion->rays(exec); });
  hold(exec, "appraise", waits, [&] { inversion->appraise(exec); });
  const InversionState state = inversion->state();
  hold(exec, "restore", waits, [&] { inversion->restore(exec, state); });
  EXPECT_EQ(inversion->reports().size(), 2u);
}
TYPED_TEST(TomographyContract, Inversion) {
  hold_inversion<typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>());
}

// Returns the number of solutions of the eikonal equation for all sources during a call.
template <class Call>
std::int64_t solutions_in(const Call& call) {
  const Events events;
  call();
  return std::count_if(events.list().begin(), events.list().end(), [](const Event& event) {
    return event.name == "moho::tomography::times_to_ratios";
  });
}

// The rays of the result are those of the last evaluation, without a further one.
template <class Memory>
void count_solutions(const Instance<Memory>& exec, int iterations,
                     moho::tomography::Robust robust) {
  using namespace moho::tomography;
  InversionJob<2> job;
  job.picks = line_picks(3, 16, 0.002);
  job.grid = line_grid(16, 12.5, 150.0);
  job.start = linear_model<2>(job.grid, {}, {1600.0, 2.3, 0.0});
  job.options.prior.lengths = {100.0, 50.0};
  job.options.times = Times::eikonal;
  job.options.iterations = iterations;
  job.options.robust = robust;
  InversionState last;
  job.each = [&](const IterationReport&, const InversionState& state) { last = state; };
  InversionResult<2> result;
  const std::int64_t count = solutions_in([&] { result = invert<float, 2, Memory>(exec, job); });
  std::int64_t traces = 0;
  for (const IterationReport& report : result.reports) traces += report.traces;
  EXPECT_EQ(count, traces) << iterations;
  EXPECT_NE(result.stop, StopReason::failed);

  // an inversion that had ended needs one evaluation, a second set of rays another one
  Inversion<float, 2, Memory> inversion(exec, job.grid, job.picks, job.start, job.ground,
                                        job.options);
  EXPECT_EQ(solutions_in([&] { inversion.restore(exec, last); }), 1);
  Prediction<2, Memory> kept, traced;
  EXPECT_EQ(solutions_in([&] { kept = inversion.rays(exec); }), 0);
  EXPECT_EQ(solutions_in([&] { traced = inversion.rays(exec); }), 1);
  if (!moho::is_host_memory<Memory>) return;  // bits of devices may differ between solutions
  EXPECT_EQ(kept.times, traced.times);
  EXPECT_EQ(kept.coverage, traced.coverage);
  EXPECT_EQ(kept.coverage, result.coverage);
  EXPECT_EQ(kept.paths.first, traced.paths.first);
  EXPECT_EQ(kept.paths.traveltime, traced.paths.traveltime);
  EXPECT_EQ(kept.paths.traveltime, result.paths.traveltime);
  EXPECT_EQ(download_rows(exec, kept.rows).value, download_rows(exec, traced.rows).value);
}
TYPED_TEST(TomographyContract, RaysOfTheLastEvaluationAreKept) {
  using moho::tomography::Robust;
  const auto exec = own_instance<typename TypeParam::Exec>();
  for (const int iterations : {0, 1, 20}) {
    for (const Robust robust : {Robust::none, Robust::huber}) {
      count_solutions<typename TypeParam::Memory>(exec, iterations, robust);
    }
  }
}

}  // namespace
