// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Timed inversions on one memory.

#include "bench_tomography/recover_impl.hpp"
#include "bench_tomography/runner.hpp"

#include <moho/core/timer.hpp>
#include <moho/optimize/bidiagonalise.hpp>
#include <moho/tomography/tomography.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace moho::bench {

/// Velocity in m/s at a depth and a position; the changes are sums of waves of 8 to 20 nodes.
inline double bench_velocity(double x, double y, double z, double h) {
  const double wave = std::sin(x / (3.1 * h)) * std::cos(y / (2.3 * h)) +
                      std::sin((x + y) / (1.9 * h) + 1.0) * std::cos(z / (1.4 * h));
  return (1500.0 + 2.0 * z) * (1.0 + 0.1 * 0.7 * wave);
}

/// Makes grid, points, exact times with noise, and the start model of a case.
template <int Dim, class Memory>
struct TomographyProblem {
  tomography::InversionJob<Dim> job;
  std::vector<double> truth;

  TomographyProblem(const Instance<Memory>& exec, const TomographyCase& what) {
    constexpr int z = Dim - 1;
    job.grid.extents[0] = what.nx;
    if constexpr (Dim == 3) job.grid.extents[1] = what.ny;
    job.grid.extents[z] = what.nz;
    for (int d = 0; d < Dim; ++d) job.grid.spacing[d] = what.spacing;
    index(what);
    std::vector<double> start;
    for (std::int64_t i = 0; i < job.grid.size(); ++i) {
      const Point<Dim> p = job.grid.position(job.grid.node(i));
      truth.push_back(bench_velocity(p[0], Dim == 3 ? p[1] : 0.0, p[z], what.spacing));
      start.push_back(1500.0 + 2.0 * p[z]);
    }
    job.start = start;
    tomography::Options<Dim>& o = job.options;
    o.coarsening = Dim - 1;
    for (int d = 0; d < Dim; ++d) o.prior.lengths[d] = d == z ? 0.5 * what.length : what.length;
    const tomography::Forward<float, Dim, Memory> forward(
        job.grid, job.picks, {}, tomography::forward_options<Dim>(o, Dim == 3));
    const std::vector<double> times = forward.evaluate(exec, truth).times;
    std::mt19937_64 random(5);
    const auto uniform = [&] { return 0x1p-53 * (static_cast<double>(random() >> 11) + 0.5); };
    for (std::size_t k = 0; k < times.size(); ++k) {
      const double normal =
          std::sqrt(-2.0 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
      tomography::Pick& pick = job.picks.picks[k];
      pick.time = std::max(times[k] + what.error * normal, 1e-4);
      pick.error = what.error;
    }
    if (what.iterations == 0) return;
    o.iterations = what.iterations;
    o.target = 1e-3;
    o.tolerance = 1e-6;
  }

  // Scattered points at the surface; a source is not at a receiver.
  void index(const TomographyCase& what) {
    std::mt19937_64 random(7);
    const auto uniform = [&] { return 0x1p-53 * static_cast<double>(random() >> 11); };
    const auto point = [&] {
      Point<Dim> p{};
      for (int d = 0; d + 1 < Dim; ++d) {
        p[d] = what.spacing * (1.0 + uniform() * static_cast<double>(job.grid.extents[d] - 3));
      }
      return p;
    };
    for (std::int64_t s = 0; s < what.sources; ++s) job.picks.sources.push_back(point());
    for (std::int64_t r = 0; r < what.receivers; ++r) job.picks.receivers.push_back(point());
    for (std::int64_t s = 0; s < what.sources; ++s) {
      for (std::int64_t r = 0; r < what.receivers; ++r) {
        job.picks.picks.push_back({static_cast<int>(s), static_cast<int>(r), 1.0, what.error, 1.0});
      }
    }
  }

  double error_of(const std::vector<double>& velocity, const std::vector<double>& coverage) const {
    double sum = 0.0, count = 0.0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (!(coverage[i] > job.grid.spacing[0])) continue;
      sum += std::pow(velocity[i] / truth[i] - 1.0, 2);
      count += 1.0;
    }
    return std::sqrt(sum / std::max(count, 1.0));
  }
};

template <int Dim, class Memory>
TomographyResult invert_case(const Instance<Memory>& exec, const TomographyCase& what) {
  const TomographyProblem<Dim, Memory> problem(exec, what);
  exec.fence();
  const Stopwatch watch;
  const std::clock_t before = std::clock();
  const auto found = tomography::invert<float, Dim, Memory>(exec, problem.job);
  TomographyResult result;
  result.seconds = watch.seconds();
  result.cpu_seconds = cpu_seconds_since(before);
  result.iteration_seconds = found.phases.seconds("iterations");
  result.appraisal_seconds = found.phases.seconds("appraisal");
  result.picks = static_cast<double>(problem.job.picks.picks.size());
  result.entries = static_cast<double>(found.entries);
  result.unknowns = static_cast<double>(
      tomography::Interpolation<Dim>(problem.job.grid, problem.job.options.coarsening)
          .grid()
          .size());
  result.iterations = found.reports.back().iteration;
  for (const auto& report : found.reports) result.evaluations += report.traces;
  result.chi2 = found.reports.back().chi2;
  result.start_error = problem.error_of(problem.job.start, found.coverage);
  result.error = problem.error_of(found.velocity, found.coverage);
  return result;
}

template <class Memory>
TomographyResult run_tomography(const Instance<Memory>& exec, const TomographyCase& what) {
  return what.three ? invert_case<3, Memory>(exec, what) : invert_case<2, Memory>(exec, what);
}

/// The operator of a matrix for bidiagonalise().
template <class Memory>
struct MatrixOperator {
  const tomography::RayJacobian<Memory>* matrix;
  std::int64_t rows() const { return matrix->rows(); }
  std::int64_t columns() const { return matrix->columns(); }
  void apply(const Instance<Memory>& exec, const tomography::Vector<Memory>& x,
             const tomography::Vector<Memory>& y) const {
    matrix->product(exec, x, y);
  }
  void transpose(const Instance<Memory>& exec, const tomography::Vector<Memory>& y,
                 const tomography::Vector<Memory>& x) const {
    matrix->product_transposed(exec, y, x);
  }
};

template <int Dim, class Memory>
ProductResult time_products(const Instance<Memory>& exec, const TomographyCase& what) {
  const TomographyProblem<Dim, Memory> problem(exec, what);
  const tomography::Forward<float, Dim, Memory> forward(
      problem.job.grid, problem.job.picks, {},
      tomography::forward_options<Dim>(problem.job.options, Dim == 3));
  ProductResult result;
  Stopwatch watch;
  const auto found = forward.evaluate(exec, problem.truth);
  result.evaluation = watch.seconds();
  const tomography::RayJacobian<Memory> matrix(exec, found.rows);
  std::vector<double> x(static_cast<std::size_t>(matrix.columns())),
      y(static_cast<std::size_t>(matrix.rows()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.1 * static_cast<double>(i));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::cos(0.1 * static_cast<double>(i));
  const auto a = upload(exec, x, "x"), b = upload(exec, y, "y");
  const auto c = allocate<tomography::Vector<Memory>>(exec, "c", x.size());
  const auto d = allocate<tomography::Vector<Memory>>(exec, "d", y.size());
  constexpr int turns = 20;
  for (int turn = 0; turn <= turns; ++turn) {
    if (turn == 1) {
      exec.fence();
      watch = Stopwatch();
    }
    matrix.product(exec, a, d);
    matrix.product_transposed(exec, b, c);
  }
  exec.fence();
  result.product = watch.seconds() / turns;
  const std::vector<double> forth = download(exec, d), back = download(exec, c);
  double left = 0.0, right = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) left += y[i] * forth[i];
  for (std::size_t i = 0; i < x.size(); ++i) right += x[i] * back[i];
  result.difference = std::abs(left - right) / std::abs(left);
  watch = Stopwatch();
  const auto krylov =
      optimize::bidiagonalise(exec, MatrixOperator<Memory>{&matrix}, b, {.steps = 50});
  result.krylov = watch.seconds() / static_cast<double>(krylov.matrix.steps());
  result.entries = static_cast<double>(matrix.entries());
  result.bytes = 2.0 * 12.0 * result.entries;
  return result;
}

template <class Memory>
ProductResult run_products(const Instance<Memory>& exec, const TomographyCase& what) {
  return what.three ? time_products<3, Memory>(exec, what) : time_products<2, Memory>(exec, what);
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_TOMOGRAPHY(Memory)                                                          \
  template TomographyResult run_tomography<Memory>(const Instance<Memory>&,                    \
                                                   const TomographyCase&);                     \
  template ProductResult run_products<Memory>(const Instance<Memory>&, const TomographyCase&); \
  template RecoveryResult run_recovery<Memory>(const Instance<Memory>&, Recovery, std::uint64_t)

}  // namespace moho::bench
