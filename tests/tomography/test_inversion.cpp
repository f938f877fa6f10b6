// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, cost 8
// ctest: sanitizers without TomographyJackknife.DeviationIsThatOfTheErrors
// ctest: sanitizers without *.RecoversACheckerboard
// ctest: sanitizers without *.IsPulledToTheReference
// ctest: sanitizers without *.OfAVolumeRecoversAGradient
//
// Rows against times and differences, and inversions of exact times of a linear velocity.

#include "refusals.hpp"
#include "spaces.hpp"
#include "tomography/derivative.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace moho::testing;
using namespace moho::tomography;
using moho::Grid;
using moho::Instance;
using ::testing::HasSubstr;
using Memory = Kokkos::HostSpace;
using DoubleForward = Forward<double, 2, Memory>;

Instance<Memory> host() { return Kokkos::DefaultHostExecutionSpace(); }

double row_sum(const CompressedRows<Memory>& rows, std::size_t r) {
  double sum = 0.0;
  for (auto k = rows.first[r]; k < rows.first[r + 1]; ++k) {
    sum += rows.value[static_cast<std::size_t>(k)];
  }
  return sum;
}

// The derivative by ln s sums to the time, because times are homogeneous in the slowness.
TEST(TomographyRows, SumToTheTimes) {
  const auto picks = line_picks(4, 16, 0.0);
  const Grid<2> grid = line_grid(16, 10.0, 150.0);
  const auto velocity = linear_model<2>(grid, {}, line_truth);
  for (const int coarsening : {1, 2, 3}) {
    const DoubleForward forward(grid, picks, {}, {.coarsening = coarsening, .radius = 5});
    const auto found = forward.evaluate(host(), velocity, true);
    ASSERT_EQ(found.times.size(), picks.picks.size());
    for (std::size_t k = 0; k < found.times.size(); ++k) {
      EXPECT_NEAR(row_sum(found.rows, k), found.times[k], 1e-12);
      EXPECT_NEAR(found.paths.traveltime[k], found.times[k], 1e-12);
    }
  }
}

// Rows of shortest paths are the derivative to rounding, except where a path is about to change to
// another one.
TEST(TomographyRows, OfShortestPathsAreTheDerivative) {
  const auto picks = line_picks(3, 16, 0.0);
  const Grid<2> grid = line_grid(16, 10.0, 150.0);
  const DoubleForward forward(grid, picks, {}, {.coarsening = 2, .radius = 6});
  const auto velocity = linear_model<2>(grid, {}, line_truth);
  std::size_t same = 0, all = 0;
  for (int number = 0; number < 10; ++number) {
    const Derivatives found = derivatives_of(host(), forward, number, velocity, 1e-5);
    EXPECT_LT(largest_difference(found.rows, found.differences), 1e-3);
    for (std::size_t k = 0; k < found.rows.size(); ++k) {
      same += std::abs(found.rows[k] - found.differences[k]) < 1e-8;
      ++all;
    }
  }
  EXPECT_GT(same, all * 95 / 100);
}

// Rays that descend through eikonal times converge to the true ones with the square of the
// spacing, and so do the derivative of discrete times and their rows.
TEST(TomographyRows, OfEikonalTimesConvergeToTheDerivative) {
  double before = 0.0, before_exact = 0.0;
  for (const double h : {10.0, 5.0}) {
    const auto nodes = static_cast<std::int64_t>(600.0 / h) + 1;
    const Grid<2> grid{{nodes, nodes}, {h, h}, {0.0, 0.0}};
    const auto picks = fan_picks(grid);
    const DoubleForward forward(grid, picks, {}, {.eikonal = true});
    const auto velocity = linear_model<2>(grid, {}, line_truth);
    double off = 0.0, off_exact = 0.0;
    for (int number = 0; number < 4; ++number) {
      const Derivatives found = derivatives_of(host(), forward, number, velocity, 1e-4);
      const double own = largest_difference(found.rows, found.differences);
      EXPECT_LT(own, number == 0 && h < 6.0 ? 1e-3 : 1.3e-2) << number << ' ' << h;
      off = std::max(off, own);
      for (std::size_t k = 0; k < found.rows.size(); ++k) {
        const auto& a = picks.sources[static_cast<std::size_t>(picks.picks[k].source)];
        const auto& b = picks.receivers[static_cast<std::size_t>(picks.picks[k].receiver)];
        off_exact = std::max(off_exact, std::abs(found.rows[k] - exact_derivative(number, a, b)));
      }
    }
    if (h < 6.0) {
      EXPECT_LT(off, before / 3.5);
      EXPECT_LT(off_exact, before_exact / 3.5);
      EXPECT_LT(off, 2.5e-3);
      EXPECT_LT(off_exact, 2.5e-3);
    }
    before = off;
    before_exact = off_exact;
  }
}

// A hollow: rays go around the air.
TEST(TomographyRows, LeaveAirOut) {
  PickSet<2> picks;
  picks.sources = {{20.0, 20.0}, {180.0, 20.0}};
  picks.receivers = {{180.0, 20.0}, {20.0, 20.0}};
  picks.picks = {{0, 0, 0.1, 0.001, 1.0}, {1, 1, 0.1, 0.001, 1.0}};
  const Grid<2> grid{{101, 61}, {2.0, 2.0}, {0.0, 0.0}};
  Ground<2> ground;
  for (int i = 0; i < 101; ++i) ground.depth.push_back(i > 40 && i < 60 ? 60.0 : 20.0);
  const auto mask = ground_mask<2>(grid, ground, picks);
  const DoubleForward forward(grid, picks, mask, {.radius = 8});
  const auto found = forward.evaluate(host(), std::vector<double>(mask.size(), 1000.0), true);
  // taut around the corners of the skin at (82, 58) and (118, 58)
  const double exact = (2.0 * std::hypot(62.0, 38.0) + 36.0) / 1000.0;
  EXPECT_NEAR(found.times[0], exact, 0.02 * exact);
  EXPECT_NEAR(found.times[1], found.times[0], 1e-12);
  const std::vector<double> coverage = forward.coverage(host(), found.paths);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) {
      EXPECT_EQ(coverage[i], 0.0);
    }
  }
}

InversionJob<2> line_job(PickSet<2> picks, double v0, double gradient) {
  InversionJob<2> job;
  job.picks = std::move(picks);
  job.grid = line_grid(48, 12.5, 350.0);
  job.start = linear_model<2>(job.grid, {}, {v0, gradient, 0.0});
  job.options.coarsening = 2;
  job.options.prior.lengths = {300.0, 150.0};
  job.options.radius = 8;
  job.options.krylov = 60;
  return job;
}

// Errors of the velocity where rays are: rms and mean.
std::array<double, 2> errors(const InversionJob<2>& job, const std::vector<double>& velocity,
                             const std::vector<double>& coverage) {
  const auto truth = linear_model<2>(job.grid, {}, line_truth);
  double squares = 0.0, sum = 0.0, count = 0.0;
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    if (coverage[i] < job.grid.spacing[0]) continue;
    const double e = velocity[i] / truth[i] - 1.0;
    squares += e * e;
    sum += e;
    count += 1.0;
  }
  return {std::sqrt(squares / count), sum / count};
}

TEST(TomographyInversion, RecoversAGradient) {
  const auto job = line_job(line_picks(12, 48, 0.002), 1600.0, 2.3);
  const auto result = invert<float, 2, Memory>(host(), job);
  EXPECT_EQ(result.stop, StopReason::target);
  EXPECT_GT(errors(job, job.start, result.coverage)[0], 0.07);
  const auto [rms, mean] = errors(job, result.velocity, result.coverage);
  EXPECT_LT(rms, 0.008);
  EXPECT_LT(std::abs(mean), 0.005);
  for (std::size_t i = 0; i < result.velocity.size(); ++i) {
    EXPECT_GE(result.appraisal.resolution[i], -1e-9);
    EXPECT_LE(result.appraisal.resolution[i], 1.0 + 1e-9);
    EXPECT_LE(result.appraisal.deviation[i], 1.0 / result.reports.back().lambda * (1.0 + 1e-9));
  }
}

TEST(TomographyInversion, FindsBadPicks) {
  std::vector<unsigned char> bad;
  auto job = line_job(line_picks(12, 48, 0.002, 0.1, &bad), 0.0, 0.0);
  const auto start = fit_linear_velocity<2>(job.picks, job.grid, {});
  EXPECT_NEAR(start.v0, line_truth.v0, 0.05 * line_truth.v0);
  job.start = linear_model<2>(job.grid, {}, start);
  job.options.robust = Robust::biweight;
  const auto result = invert<float, 2, Memory>(host(), job);
  int missed = 0, wronged = 0, all = 0;
  for (std::size_t k = 0; k < bad.size(); ++k) {
    const bool flagged = std::abs(result.fits[k].z()) > 4.0;
    all += bad[k];
    missed += bad[k] != 0 && !flagged;
    wronged += bad[k] == 0 && flagged;
  }
  EXPECT_GT(all, 30);
  EXPECT_EQ(missed, 0);
  EXPECT_LE(wronged, 3);
  EXPECT_LT(errors(job, result.velocity, result.coverage)[0], 0.006);
}

TEST(TomographyInversion, FindsDelays) {
  std::vector<double> delay;
  auto job = line_job(line_picks(12, 48, 0.002, 0.0, nullptr, 0.004, &delay), 1550.0, 2.1);
  job.options.statics = Statics::receiver;
  job.options.static_deviation = 0.005;
  const auto result = invert<float, 2, Memory>(host(), job);
  double mean = 0.0, squares = 0.0;
  for (std::size_t k = 0; k < delay.size(); ++k) {
    mean += (result.delays.receiver[k] - delay[k]) / static_cast<double>(delay.size());
  }
  for (std::size_t k = 0; k < delay.size(); ++k) {
    squares += std::pow(result.delays.receiver[k] - delay[k] - mean, 2);
  }
  EXPECT_LT(std::sqrt(squares / static_cast<double>(delay.size())), 0.0015);
  EXPECT_NEAR(result.reports.back().chi2, 1.0, 0.1);
}

TEST(TomographyRows, OfEikonalTimesSumToThem) {
  const Grid<3> grid{{25, 17, 13}, {20.0, 20.0, 20.0}, {0.0, 0.0, 0.0}};
  PickSet<3> picks;
  picks.sources = {{43.0, 51.0, 7.0}, {400.0, 200.0, 0.0}};
  for (int r = 0; r < 6; ++r) {
    picks.receivers.push_back({70.0 + 70.0 * r, 300.0 - 35.0 * r, 13.0});
    for (int s = 0; s < 2; ++s) picks.picks.push_back({s, r, 0.1, 0.001, 1.0});
  }
  std::stable_sort(picks.picks.begin(), picks.picks.end(),
                   [](const Pick& a, const Pick& b) { return a.source < b.source; });
  const auto velocity = linear_model<3>(grid, {}, line_truth);
  const Forward<double, 3, Memory> forward(grid, picks, {},
                                           {.coarsening = 2, .radius = 3, .eikonal = true});
  const auto found = forward.evaluate(host(), velocity);
  for (std::size_t k = 0; k < found.times.size(); ++k) {
    EXPECT_NEAR(row_sum(found.rows, k), found.times[k], 1e-12);
    const auto& a = picks.sources[static_cast<std::size_t>(picks.picks[k].source)];
    const auto& b = picks.receivers[static_cast<std::size_t>(picks.picks[k].receiver)];
    const double exact = linear_time(std::hypot(a[0] - b[0], a[1] - b[1]), a[2], b[2], line_truth);
    EXPECT_NEAR(found.times[k], exact, 2e-3 * exact);
  }
  // the derivative converges with the square of the spacing
  double before = 0.0;
  for (const double h : {20.0, 10.0}) {
    const Grid<3> own{
        {static_cast<std::int64_t>(480.0 / h) + 1, static_cast<std::int64_t>(320.0 / h) + 1,
         static_cast<std::int64_t>(240.0 / h) + 1},
        {h, h, h},
        {0.0, 0.0, 0.0}};
    const Forward<double, 3, Memory> finer(own, picks, {}, {.eikonal = true});
    const Derivatives of =
        derivatives_of(host(), finer, 1, linear_model<3>(own, {}, line_truth), 1e-4);
    const double off = largest_difference(of.rows, of.differences);
    EXPECT_LT(off, h > 15.0 ? 5e-2 : before / 3.0) << h;
    before = off;
  }
}

TEST(TomographyInversion, OfAVolumeRecoversAGradient) {
  InversionJob<3> job;
  job.grid = {{25, 17, 13}, {20.0, 20.0, 20.0}, {0.0, 0.0, 0.0}};
  for (int s = 0; s < 6; ++s) job.picks.sources.push_back({40.0 + 80.0 * s, 60.0 + 35.0 * s, 0.0});
  for (int r = 0; r < 40; ++r) {
    job.picks.receivers.push_back({20.0 + 55.0 * (r % 8), 20.0 + 60.0 * (r / 8), 0.0});
  }
  std::mt19937_64 generator(3);
  for (int s = 0; s < 6; ++s) {
    for (int r = 0; r < 40; ++r) {
      const auto& a = job.picks.sources[static_cast<std::size_t>(s)];
      const auto& b = job.picks.receivers[static_cast<std::size_t>(r)];
      const double offset = std::hypot(a[0] - b[0], a[1] - b[1]);
      if (offset < 30.0) continue;
      const double noise = 2.0 * (0x1p-53 * static_cast<double>(generator() >> 11)) - 1.0;
      job.picks.picks.push_back(
          {s, r, linear_time(offset, 0.0, 0.0, line_truth) + 0.0017 * noise, 0.001, 1.0});
    }
  }
  job.start = linear_model<3>(job.grid, {}, {1600.0, 2.0, 0.0});
  job.options.coarsening = 2;
  job.options.prior.lengths = {300.0, 300.0, 200.0};
  job.options.krylov = 30;
  const auto result = invert<float, 3, Memory>(host(), job);
  EXPECT_NEAR(result.reports.back().chi2, 1.0, 0.1);
  const auto truth = linear_model<3>(job.grid, {}, line_truth);
  double squares = 0.0, count = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (result.coverage[i] < 20.0) continue;
    squares += std::pow(result.velocity[i] / truth[i] - 1.0, 2);
    count += 1.0;
  }
  EXPECT_LT(std::sqrt(squares / count), 0.015);
}

TEST(TomographyInversion, RecoversACheckerboard) {
  auto job = line_job(line_picks(24, 48, 0.001), 1500.0, 2.0);
  job.options.coarsening = 1;
  job.options.prior.lengths = {100.0, 60.0};
  const auto result = invert<float, 2, Memory>(host(), job);
  const auto test = test_checkerboard<float, 2, Memory>(host(), job, result,
                                                        {.size = {240.0, 120.0}, .percent = 8.0});
  ASSERT_GE(test.layers.size(), 2u);
  EXPECT_GT(test.layers[0].correlation, 0.92);
  EXPECT_GT(test.layers[0].recovered, 0.5);
  EXPECT_LT(test.layers[0].recovered, 1.2);
  EXPECT_GT(test.layers[1].correlation, 0.82);
  for (const double change : test.truth) EXPECT_NEAR(std::abs(change), 0.08, 1e-12);
}

TEST(TomographyInversion, KeepsBounds) {
  auto job = line_job(line_picks(12, 48, 0.002), 1600.0, 1.0);
  job.options.velocity_min = 1550.0;
  job.options.velocity_max = 2100.0;
  job.options.iterations = 3;
  for (double& v : job.start) v = std::clamp(v, 1550.0, 2100.0);
  const auto result = invert<float, 2, Memory>(host(), job);
  std::int64_t held = 0;
  for (const IterationReport& report : result.reports) held = std::max(held, report.held);
  EXPECT_GT(held, 0);
  for (const double v : result.velocity) {
    EXPECT_GE(v, 1550.0 * (1.0 - 1e-12));
    EXPECT_LE(v, 2100.0 * (1.0 + 1e-12));
  }
}

// With an infinite length along x the change of ln slowness depends on z alone.
TEST(TomographyInversion, IsEqualAlongAnInfiniteLength) {
  auto job = line_job(line_picks(12, 48, 0.002), 1600.0, 2.3);
  job.options.prior.lengths[0] = INFINITY;
  const auto result = invert<float, 2, Memory>(host(), job);
  EXPECT_EQ(result.stop, StopReason::target);
  const auto deep = static_cast<std::size_t>(job.grid.extents[1]);
  double trace = 0.0;
  for (std::size_t i = 0; i < result.velocity.size(); ++i) {
    const std::size_t first = i % deep;
    EXPECT_NEAR(result.velocity[i], result.velocity[first], 1e-9 * result.velocity[first]);
    EXPECT_TRUE(std::isfinite(result.appraisal.deviation[i]));
    EXPECT_GE(result.appraisal.resolution[i], -1e-9);
    EXPECT_LE(result.appraisal.resolution[i], 1.0 + 1e-9);
    if (i % 2 == 0 && i / deep % 2 == 0) trace += result.appraisal.resolution[i];
  }
  EXPECT_LT(errors(job, result.velocity, result.coverage)[0], 0.01);
  EXPECT_GT(trace, 0.8 * result.appraisal.dof);
  EXPECT_LT(trace, 1.01 * result.appraisal.dof);
}

// The prior pulls to the reference: what no ray determines is the reference, whatever the start.
TEST(TomographyInversion, IsPulledToTheReference) {
  auto job = line_job(line_picks(12, 48, 0.002), 1600.0, 2.3);
  job.options.coarsening = 1;
  const auto plain = invert<float, 2, Memory>(host(), job);
  job.options.reference = job.start;
  EXPECT_EQ((invert<float, 2, Memory>(host(), job)).velocity, plain.velocity);
  job.options.reference = linear_model<2>(job.grid, {}, {1550.0, 1.0, 0.0});
  job.options.iterations = 0;
  const auto start = invert<float, 2, Memory>(host(), job);
  for (std::size_t i = 0; i < job.start.size(); ++i) {
    EXPECT_NEAR(start.velocity[i], job.start[i], 1e-9 * job.start[i]);
  }
  job.options.iterations = 20;
  const auto pulled = invert<float, 2, Memory>(host(), job);
  EXPECT_EQ(pulled.stop, StopReason::target);
  EXPECT_LT(errors(job, pulled.velocity, pulled.coverage)[0], 0.015);
  // at the deepest row, far from rays
  double off_start = 0.0, off_reference = 0.0;
  for (std::size_t i = static_cast<std::size_t>(job.grid.extents[1]) - 1; i < job.start.size();
       i += static_cast<std::size_t>(job.grid.extents[1])) {
    off_start += std::abs(std::log(pulled.velocity[i] / job.start[i]));
    off_reference += std::abs(std::log(pulled.velocity[i] / job.options.reference[i]));
  }
  EXPECT_LT(off_reference, 0.3 * off_start);
}

// A hill: the reference of air is that of the ground below, and air keeps the start model.
TEST(TomographyInversion, TakesAReferenceBelowTopography) {
  auto job = line_job(line_picks(6, 48, 0.002), 1600.0, 2.3);
  for (auto* points : {&job.picks.sources, &job.picks.receivers}) {
    for (auto& p : *points) p[1] += 100.0;
  }
  job.grid.extents[1] += 8;
  job.ground.depth.assign(static_cast<std::size_t>(job.grid.extents[0]), 100.0);
  job.start = linear_model<2>(job.grid, job.ground, {1600.0, 2.3, 0.0});
  job.options.reference = linear_model<2>(job.grid, job.ground, {1500.0, 1.9, 0.0});
  for (std::size_t i = 0; i < job.start.size(); i += static_cast<std::size_t>(job.grid.extents[1]))
    job.options.reference[i] = 1e-3;
  const auto result = invert<float, 2, Memory>(host(), job);
  EXPECT_NEAR(result.reports.back().chi2, 1.0, 0.1);
  EXPECT_EQ(result.velocity[0], job.start[0]);
  std::vector<double> values(result.mask.size(), 1.0);
  values[9] = 3.0;
  std::vector<unsigned char> mask(values.size(), 1);
  for (std::size_t i = 0; i < 9; ++i) mask[i] = 0;
  fill_air<2>(job.grid, mask, values);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(values[i], 3.0);
  EXPECT_EQ(values[10], 1.0);
}

TEST(TomographyJackknife, LeavesSourcesOut) {
  const auto picks = line_picks(5, 8, 0.002);
  const PickSet<2> part = leave_out<2>(picks, 2, 1);
  ASSERT_EQ(part.sources.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(part.sources[k][0], picks.sources[2 * k][0]);
  std::size_t k = 0;
  for (const Pick& pick : picks.picks) {
    if (pick.source % 2 == 1) continue;
    ASSERT_LT(k, part.picks.size());
    EXPECT_EQ(part.picks[k].source, pick.source / 2);
    EXPECT_EQ(part.picks[k].receiver, pick.receiver);
    EXPECT_EQ(part.picks[k++].time, pick.time);
  }
  EXPECT_EQ(k, part.picks.size());
  EXPECT_NO_THROW(check_jackknife<2>(picks, 2));
  EXPECT_NO_THROW(check_jackknife<2>(picks, 5));
  for (const int groups : {-1, 0, 1, 6}) {
    EXPECT_THROW(check_jackknife<2>(picks, groups), moho::InputError) << groups;
  }
  EXPECT_THROW(check_jackknife<2>(leave_out<2>(picks, 3, 0), 2), moho::InputError);
  EXPECT_THROW(check_jackknife<2>(leave_out<2>(picks, 2, 0), 2), moho::InputError);
}

TEST(TomographyJackknife, MessagesNameTheArgument) {
  const auto message = [](const PickSet<2>& picks,
                          const moho::ArgumentNames& names) -> std::string {
    try {
      check_jackknife<2>(picks, 6, names);
    } catch (const moho::InputError& error) {
      return error.what();
    }
    return "";
  };
  const PickSet<2> picks = line_picks(5, 3, 0.0), few = leave_out<2>(picks, 2, 0);
  const moho::ArgumentNames option{{"jackknife", "--jackknife"}};
  for (const PickSet<2>& set : {picks, few}) {
    EXPECT_EQ(message(set, {}).rfind("jackknife ", 0), 0u) << message(set, {});
    EXPECT_EQ(message(set, option).rfind("--jackknife ", 0), 0u) << message(set, option);
  }
}

// The deviation of equal runs is zero. That of noise is about the error of the model. Delays of
// sources, which the errors of picks do not describe, enlarge it, and not the posterior one.
TEST(TomographyJackknife, DeviationIsThatOfTheErrors) {
  const auto test = [](const InversionJob<2>& job, int groups, double& posterior, double& error) {
    const auto result = invert<float, 2, Memory>(host(), job);
    int runs = 0;
    const auto found = test_jackknife<float, 2, Memory>(
        host(), job, result, groups,
        [&](const JackknifeRun& run) { EXPECT_EQ(run.group, runs++); });
    EXPECT_EQ(runs, groups);
    double squares = 0.0, of_posterior = 0.0, count = 0.0;
    for (std::size_t i = 0; i < found.deviation.size(); ++i) {
      if (result.coverage[i] < job.grid.spacing[0]) continue;
      squares += std::pow(found.deviation[i], 2);
      of_posterior += std::pow(result.appraisal.deviation[i], 2);
      count += 1.0;
    }
    posterior = std::sqrt(of_posterior / count);
    error = errors(job, result.velocity, result.coverage)[0];
    return std::sqrt(squares / count);
  };
  double posterior = 0.0, error = 0.0;
  auto job = line_job(line_picks(4, 48, 0.002), 1600.0, 2.3);
  job.options.iterations = 2;
  // each source twice, one in each group
  PickSet<2> twice;
  twice.receivers = job.picks.receivers;
  for (std::size_t s = 0; s < job.picks.sources.size(); ++s) {
    for (const int copy : {0, 1}) {
      twice.sources.push_back(job.picks.sources[s]);
      for (Pick pick : job.picks.picks) {
        if (pick.source != static_cast<int>(s)) continue;
        pick.source = static_cast<int>(2 * s) + copy;
        twice.picks.push_back(pick);
      }
    }
  }
  job.picks = twice;
  EXPECT_EQ(test(job, 2, posterior, error), 0.0);
  job = line_job(line_picks(12, 48, 0.002), 1500.0, 2.0);
  job.options.rule = DampingRule::fixed;
  job.options.lambda = 20.0;
  job.options.iterations = 3;
  const double plain = test(job, 6, posterior, error);
  EXPECT_GT(plain, 0.5 * error);
  EXPECT_LT(plain, 3.0 * error);
  for (Pick& pick : job.picks.picks) pick.time += pick.source % 3 == 0 ? 0.004 : 0.0;
  double posterior_delayed = 0.0;
  const double delayed = test(job, 6, posterior_delayed, error);
  EXPECT_GT(delayed, 0.5 * error);
  EXPECT_LT(delayed, 3.0 * error);
  EXPECT_GT(delayed, 1.5 * plain);
  EXPECT_NEAR(posterior_delayed, posterior, 0.05 * posterior);
}

TEST(TomographyInversion, GoesOnWithTheSameBits) {
  for (const Robust robust : {Robust::none, Robust::huber, Robust::biweight}) {
    auto job = line_job(line_picks(6, 48, 0.002), 1600.0, 2.3);
    job.options.iterations = 3;
    job.options.robust = robust;
    std::vector<InversionState> states;
    job.each = [&](const IterationReport&, const InversionState& at) { states.push_back(at); };
    const auto whole = invert<float, 2, Memory>(host(), job);
    ASSERT_GE(states.size(), 3u);
    for (const std::size_t k : {0, 1}) {
      const auto path = std::filesystem::temp_directory_path() / "moho_tomography_state.npy";
      write_state(path, states[k]);
      job.state = read_state(path);
      std::filesystem::remove(path);
      const auto resumed = invert<float, 2, Memory>(host(), job);
      EXPECT_EQ(resumed.velocity, whole.velocity);
      EXPECT_EQ(resumed.reports.size(), whole.reports.size());
    }
  }
}

TEST(TomographyInversion, HasTheSameBitsOnAllHostSpaces) {
#if defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP)
  auto job = line_job(line_picks(6, 48, 0.002), 1600.0, 2.3);
  job.options.iterations = 2;
  const auto one = invert<float, 2, Memory>(Instance<Memory>(Kokkos::Serial()), job);
  const auto other = invert<float, 2, Memory>(Instance<Memory>(Kokkos::OpenMP()), job);
  EXPECT_EQ(one.velocity, other.velocity);
#else
  GTEST_SKIP() << "needs two host spaces";
#endif
}

TEST(TomographyInversion, RefusesBadInput) {
  const auto picks = line_picks(6, 48, 0.002);
  auto job = line_job(picks, 1600.0, 2.3);
  const auto refuse = [&](const InversionJob<2>& wrong, const char* words) {
    try {
      invert<float, 2, Memory>(host(), wrong);
      ADD_FAILURE() << "accepted: " << words;
    } catch (const moho::InputError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(words));
    }
  };
  auto wrong = job;
  wrong.picks.picks[3].error = 0.0;
  refuse(wrong, "have no errors");
  wrong = job;
  wrong.options.times = Times::eikonal;
  wrong.ground.depth.assign(static_cast<std::size_t>(wrong.grid.extents[0]), 100.0);
  for (auto& p : wrong.picks.sources) p[1] = 100.0;
  for (auto& p : wrong.picks.receivers) p[1] = 100.0;
  refuse(wrong, "air above the ground");
  wrong = job;
  wrong.start.pop_back();
  refuse(wrong, "nodes");
  wrong = job;
  wrong.start[5] = -1.0;
  refuse(wrong, "start model");
  wrong = job;
  wrong.options.prior.lengths[0] = 1.0;
  refuse(wrong, "length along x");
  wrong = job;
  wrong.options.prior.lengths[1] = NAN;
  refuse(wrong, "length along z");
  wrong = job;
  wrong.options.prior.lengths[0] = INFINITY;
  wrong.options.reference = job.start;
  refuse(wrong, "allowed with reference: up to");
  wrong.options.reference.pop_back();
  wrong.options.prior = job.options.prior;
  refuse(wrong, "the reference model has");
  wrong.options.reference = job.start;
  wrong.options.reference[7] = 0.0;
  refuse(wrong, "the reference model has 0 m/s");
  wrong = job;
  wrong.options.prior.lengths[0] = INFINITY;
  wrong.options.velocity_min = 100.0;
  wrong.options.velocity_max = 9000.0;
  refuse(wrong, "length along x is inf m (allowed with bounds: up to 25000000 m");
  wrong = job;
  wrong.options.velocity_max = 1700.0;
  refuse(wrong, "bounds");
}

TEST(TomographyInversion, RefusesNumbersOutOfRange) {
  const auto job = line_job(line_picks(6, 48, 0.002), 1600.0, 2.3);
  const auto refusal = [&](const auto& change) {
    auto wrong = job;
    change(wrong.picks, wrong.options);
    return message_of([&] { invert<float, 2, Memory>(host(), wrong); });
  };
  using Set = PickSet<2>;
  using O = Options<2>;
  EXPECT_THAT(refusal([](Set& p, O&) { p.picks.clear(); }), HasSubstr("picks: there are none"));
  EXPECT_THAT(refusal([](Set& p, O&) { p.picks[3].source = 6; }),
              HasSubstr("pick 4 has source 6, receiver"));
  EXPECT_THAT(refusal([](Set& p, O&) { p.picks[3].receiver = -1; }), HasSubstr("receiver -1"));
  for (const double time : {-1.0, 0.0, not_a_number, infinite}) {
    EXPECT_THAT(refusal([&](Set& p, O&) { p.picks[3].time = time; }), HasSubstr("time ")) << time;
  }
  for (const double value : {-1.0, not_a_number, infinite}) {
    EXPECT_THAT(refusal([&](Set& p, O&) { p.picks[3].weight = value; }), HasSubstr("and weight "));
    EXPECT_THAT(refusal([&](Set& p, O&) { p.picks[3].error = value; }), HasSubstr("error "));
    EXPECT_THAT(refusal([&](Set&, O& o) { o.target = value; }), HasSubstr("target is "));
  }
  EXPECT_THAT(refusal([](Set&, O& o) { o.krylov = 0; }), HasSubstr("krylov is 0"));
  EXPECT_THAT(refusal([](Set&, O& o) { o.iterations = -1; }), HasSubstr("iterations -1"));
  EXPECT_THAT(refusal([](Set&, O& o) { o.target = 0.0; }), HasSubstr("target is 0"));
  EXPECT_THAT(refusal([](Set&, O& o) { o.prior.deviation_max = 0.0; }),
              HasSubstr("deviation_max is 0"));
  EXPECT_THAT(refusal([](Set&, O& o) { o.rule = DampingRule::fixed; }), HasSubstr("lambda is 0"));
  EXPECT_THAT(refusal([](Set&, O& o) { o.velocity_max = not_a_number; }),
              HasSubstr("bounds is nan"));
}

}  // namespace
