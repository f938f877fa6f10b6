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

  static constexpr double noise = 0.002;     // s
  static constexpr double amplitude = 0.08;  // of changes
  inline static const tomography::LinearVelocity base{1500.0, 2.0, 0.0};

  /// \param exec all work is submitted to this instance
  /// \param what case
  /// \param seed of the noise
  /// \param shift of checks or waves towards the origin, in checks or half wavelengths
  RecoveryProblem(const Instance<Memory>& exec, Recovery what, std::uint64_t seed,
                  const Point<2>& shift = {})
      : random(seed) {
    job.grid = {{121, 31}, {20.0, 20.0}, {0.0, 0.0}};
    job.options.prior.lengths = {150.0, 75.0};
    if (what == Recovery::gradient || what == Recovery::bad_picks) {
      // the default of invert_times, eight distances of receivers
      job.options.prior.lengths = {200.0, 200.0};
    }
    index();
    truth = velocity(job.grid, what, shift);
    if (has_changes(what)) {
      trace(exec, what, shift);
      job.start = tomography::linear_model<2>(job.grid, {}, base);
    } else {
      job.start = tomography::linear_model<2>(job.grid, {}, {1600.0, 2.3, 0.0});
    }
    add_noise(what == Recovery::bad_picks);
    if (what == Recovery::bad_picks) job.options.robust = tomography::Robust::biweight;
  }

  static bool has_changes(Recovery what) {
    return what == Recovery::checks || what == Recovery::waves || what == Recovery::long_waves;
  }

  double uniform() { return 0x1p-53 * (static_cast<double>(random() >> 11) + 0.5); }

  // Points and exact times of the linear velocity.
  void index() {
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

  // The linear velocity, with checks or with the product of two sines.
  static std::vector<double> velocity(const Grid<2>& grid, Recovery what, const Point<2>& shift) {
    std::vector<double> v = tomography::linear_model<2>(grid, {}, base);
    if (!has_changes(what)) return v;
    const double scale = what == Recovery::waves ? 0.5 : 1.0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const Point<2> p = grid.position(grid.node(static_cast<std::int64_t>(i)));
      const double x = p[0] / (480.0 * scale) + shift[0], z = p[1] / (240.0 * scale) + shift[1];
      const double waves = std::sin(std::numbers::pi * x) * std::sin(std::numbers::pi * z);
      const double parity = std::fmod(std::floor(x) + std::floor(z), 2.0);
      v[i] *= 1.0 + amplitude * (what == Recovery::checks ? 1.0 - 2.0 * parity : waves);
    }
    return v;
  }

  // Times of the eikonal equation at half of the spacing.
  void trace(const Instance<Memory>& exec, Recovery what, const Point<2>& shift) {
    const Grid<2> fine{{241, 61}, {10.0, 10.0}, {0.0, 0.0}};
    const tomography::Forward<double, 2, Memory> forward(fine, job.picks, {}, {.eikonal = true});
    const std::vector<double> times = forward.evaluate(exec, velocity(fine, what, shift)).times;
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

/// Inverts a problem and adds its results, of which `runs` are added in all. Means are sums until
/// all are added.
template <class Memory>
tomography::InversionResult<2> add_recovery(const Instance<Memory>& exec,
                                            const RecoveryProblem<Memory>& problem, double runs,
                                            RecoveryResult& result) {
  exec.fence();
  const Stopwatch watch;
  const std::clock_t before = std::clock();
  auto found = tomography::invert<float, 2, Memory>(exec, problem.job);
  result.seconds += watch.seconds() / runs;
  result.cpu_seconds += cpu_seconds_since(before) / runs;
  result.iterations = std::max(result.iterations, found.reports.back().iteration);
  result.chi2 += found.reports.back().chi2 / runs;
  result.start_error += problem.error_of(problem.job.start, found.coverage) / runs;
  result.error += problem.error_of(found.velocity, found.coverage) / runs;
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
  return found;
}

/// Returns the correlations of true and found changes in layers of 120 m, where rays are.
/// \param nodes of the grid along z
/// \param coverage metres of rays at each node
/// \param changes relative to the start model, at each node
inline std::vector<double> layer_correlations(std::int64_t nodes,
                                              const std::vector<double>& coverage,
                                              const tomography::CheckerboardResult<2>& changes) {
  // compare_checks() uses the depths of the nodes only: grids are joined along x
  const Grid<2> grid{{static_cast<std::int64_t>(coverage.size()) / nodes, nodes}, {20.0, 20.0}, {}};
  std::vector<double> correlations;
  for (const auto& layer :
       tomography::compare_checks<2>(grid, {}, {}, {{480.0, 240.0}}, coverage, changes)) {
    correlations.push_back(layer.correlation);
  }
  return correlations;
}

/// \brief Inverts changes in four placements, shifted by half of a check or not, along x and z.
///
/// The sum of the squares of the four waves is equal at all nodes, so that the correlations of all
/// placements together do not depend on the depths where the changes are zero.
template <class Memory>
RecoveryResult recover_changes(const Instance<Memory>& exec, Recovery what, std::uint64_t seed) {
  RecoveryResult result;
  tomography::CheckerboardResult<2> all;
  std::vector<double> all_coverage;
  for (const Point<2> shift : {Point<2>{0.0, 0.0}, {0.0, 0.5}, {0.5, 0.0}, {0.5, 0.5}}) {
    const RecoveryProblem<Memory> problem(exec, what, seed, shift);
    const auto found = add_recovery(exec, problem, 4.0, result);
    tomography::CheckerboardResult<2> changes;
    std::vector<double> coverage(found.coverage);
    for (double& metres : coverage) metres = metres < problem.job.grid.spacing[0] ? 0.0 : metres;
    for (std::size_t i = 0; i < problem.truth.size(); ++i) {
      changes.truth.push_back(problem.truth[i] / problem.job.start[i] - 1.0);
      changes.found.push_back(found.velocity[i] / problem.job.start[i] - 1.0);
    }
    const std::int64_t nodes = problem.job.grid.extents[1];
    result.placements.push_back(layer_correlations(nodes, coverage, changes));
    all.truth.insert(all.truth.end(), changes.truth.begin(), changes.truth.end());
    all.found.insert(all.found.end(), changes.found.begin(), changes.found.end());
    all_coverage.insert(all_coverage.end(), coverage.begin(), coverage.end());
    if (result.placements.size() == 4) {
      result.correlations = layer_correlations(nodes, all_coverage, all);
    }
  }
  return result;
}

template <class Memory>
RecoveryResult run_recovery(const Instance<Memory>& exec, Recovery what, std::uint64_t seed) {
  if (RecoveryProblem<Memory>::has_changes(what)) return recover_changes(exec, what, seed);
  RecoveryResult result;
  add_recovery(exec, RecoveryProblem<Memory>(exec, what, seed), 1.0, result);
  return result;
}

}  // namespace moho::bench
