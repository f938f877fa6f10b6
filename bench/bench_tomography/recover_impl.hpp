// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What inversions of a synthetic line recover.

#include "bench_tomography/runner.hpp"

#include <moho/core/timer.hpp>
#include <moho/tomography/tomography.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <numbers>
#include <random>
#include <vector>

namespace moho::bench {

/// A line of 2400 m with 24 shots and 96 receivers above a velocity of 1500 m/s + 2 1/s z, nodes
/// 20 m apart.
template <class Memory>
struct RecoveryProblem {
  tomography::InversionJob<2> job;
  std::vector<double> truth;  ///< velocity at the nodes, m/s
  std::vector<unsigned char> bad;
  std::mt19937_64 random;

  static constexpr double noise = 0.002;  // s
  inline static const tomography::LinearVelocity base{1500.0, 2.0, 0.0};
  inline static const tomography::Checkerboard<2> checks{{480.0, 240.0}, 8.0, 1};

  RecoveryProblem(const Instance<Memory>& exec, Recovery what, std::uint64_t seed) : random(seed) {
    job.grid = {{121, 31}, {20.0, 20.0}, {0.0, 0.0}};
    job.options.prior.lengths = {150.0, 75.0};
    if (what == Recovery::gradient || what == Recovery::bad_picks) {
      // the default of invert_times, eight distances of receivers
      job.options.prior.lengths = {200.0, 200.0};
    }
    place();
    truth = velocity(job.grid, what);
    if (has_changes(what)) {
      trace(exec, what);
      job.start = tomography::linear_model<2>(job.grid, {}, base);
    } else {
      job.start = tomography::linear_model<2>(job.grid, {}, {1600.0, 2.3, 0.0});
    }
    add_noise(what == Recovery::bad_picks);
    if (what == Recovery::bad_picks) job.options.robust = tomography::Robust::biweight;
  }

  static bool has_changes(Recovery what) {
    return what == Recovery::checks || what == Recovery::waves || what == Recovery::long_waves ||
           what == Recovery::shifted_waves;
  }

  double uniform() { return 0x1p-53 * (static_cast<double>(random() >> 11) + 0.5); }

  // Points and exact times of the linear velocity.
  void place() {
    for (int s = 0; s < 24; ++s) job.picks.sources.push_back({100.0 * (s + 0.5), 0.0});
    for (int r = 0; r < 96; ++r) job.picks.receivers.push_back({12.5 + 25.0 * r, 0.0});
    for (int s = 0; s < 24; ++s) {
      for (int r = 0; r < 96; ++r) {
        const double offset = std::abs(100.0 * (s + 0.5) - 12.5 - 25.0 * r);
        if (offset < 30.0) continue;
        const double time = tomography::linear_time(offset, 0.0, 0.0, base);
        job.picks.picks.push_back({s, r, time, noise, 1.0});
      }
    }
  }

  // The linear velocity, with checks of 8 % or waves of that amplitude.
  static std::vector<double> velocity(const Grid<2>& grid, Recovery what) {
    std::vector<double> v = tomography::linear_model<2>(grid, {}, base);
    if (what == Recovery::checks) {
      const std::vector<double> change = tomography::checkerboard<2>(grid, checks);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] *= 1.0 + change[i];
    } else if (has_changes(what)) {
      const double shift = what == Recovery::shifted_waves ? 0.5 * std::numbers::pi : 0.0;
      const double turns = (what == Recovery::waves ? 2.0 : 1.0) * std::numbers::pi;
      for (std::size_t i = 0; i < v.size(); ++i) {
        const Point<2> p = grid.position(grid.node(static_cast<std::int64_t>(i)));
        v[i] *= 1.0 + 0.01 * checks.percent * std::sin(turns * p[0] / checks.size[0]) *
                          std::sin(turns * p[1] / checks.size[1] + shift);
      }
    }
    return v;
  }

  // Times of the eikonal equation at half of the spacing.
  void trace(const Instance<Memory>& exec, Recovery what) {
    const Grid<2> fine{{241, 61}, {10.0, 10.0}, {0.0, 0.0}};
    const tomography::Forward<double, 2, Memory> forward(fine, job.picks, {}, {.eikonal = true});
    const std::vector<double> times = forward.evaluate(exec, velocity(fine, what)).times;
    for (std::size_t k = 0; k < times.size(); ++k) job.picks.picks[k].time = times[k];
  }

  // Normal noise, and every tenth pick on average wrong by 30 to 120 ms.
  void add_noise(bool wrong) {
    for (tomography::Pick& pick : job.picks.picks) {
      const double radius = std::sqrt(-2.0 * std::log(uniform()));
      pick.time += noise * radius * std::cos(2.0 * std::numbers::pi * uniform());
      const bool off = wrong && uniform() < 0.1;
      const double sign = uniform() < 0.5 && pick.time > 0.15 ? -1.0 : 1.0;
      if (off) pick.time += sign * (0.03 + 0.09 * uniform());
      bad.push_back(off);
    }
  }

  // rms of the relative error of a velocity where rays are.
  double error_of(const std::vector<double>& velocity, const std::vector<double>& coverage) const {
    double sum = 0.0, count = 0.0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (coverage[i] < job.grid.spacing[0]) continue;
      sum += std::pow(velocity[i] / truth[i] - 1.0, 2);
      count += 1.0;
    }
    return std::sqrt(sum / count);
  }
};

template <class Memory>
RecoveryResult run_recovery(const Instance<Memory>& exec, Recovery what, std::uint64_t seed) {
  const RecoveryProblem<Memory> problem(exec, what, seed);
  exec.fence();
  const Stopwatch watch;
  const std::clock_t before = std::clock();
  const auto found = tomography::invert<float, 2, Memory>(exec, problem.job);
  RecoveryResult result;
  result.seconds = watch.seconds();
  result.cpu_seconds = cpu_seconds_since(before);
  result.iterations = found.reports.back().iteration;
  result.chi2 = found.reports.back().chi2;
  result.start_error = problem.error_of(problem.job.start, found.coverage);
  result.error = problem.error_of(found.velocity, found.coverage);
  result.picks = static_cast<double>(found.fits.size());
  for (std::size_t k = 0; k < found.fits.size(); ++k) {
    const bool flagged = std::abs(found.fits[k].z()) > 4.0;
    if (problem.bad[k] != 0) {
      result.bad += 1.0;
      result.missed += !flagged;
    } else {
      result.flagged += flagged;
    }
  }
  if (!RecoveryProblem<Memory>::has_changes(what)) return result;
  tomography::CheckerboardResult<2> changes;
  for (std::size_t i = 0; i < problem.truth.size(); ++i) {
    changes.truth.push_back(problem.truth[i] / problem.job.start[i] - 1.0);
    changes.found.push_back(found.velocity[i] / problem.job.start[i] - 1.0);
  }
  std::vector<double> coverage(found.coverage);
  for (double& metres : coverage) metres = metres < problem.job.grid.spacing[0] ? 0.0 : metres;
  for (const auto& layer : tomography::compare_checks<2>(
           problem.job.grid, {}, {}, RecoveryProblem<Memory>::checks, coverage, changes)) {
    result.correlations.push_back(layer.correlation);
  }
  return result;
}

}  // namespace moho::bench
