// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, cost 4
//
// Inversions with active bounds: their objective is that of projected gradients, and they do not
// cycle.

#include "spaces.hpp"
#include "tomography/line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace {

using namespace moho::testing;
using namespace moho::tomography;
using moho::Grid;
using moho::Instance;
using Memory = Kokkos::HostSpace;
using Values = std::vector<double>;

Instance<Memory> on_host() { return Kokkos::DefaultHostExecutionSpace(); }

InversionJob<2> bounded_job(double low, double high) {
  InversionJob<2> job;
  job.picks = line_picks(6, 16, 0.0002);
  job.grid = line_grid(16, 25.0, 150.0);
  job.options.coarsening = 1;
  job.options.radius = 5;
  job.options.error_times = 0.0;
  job.options.prior.lengths = {100.0, 50.0};
  job.options.velocity_min = low;
  job.options.velocity_max = high;
  job.options.iterations = 30;
  job.start.assign(static_cast<std::size_t>(job.grid.size()), 0.5 * (low + high));
  return job;
}

// The objective of a fixed lambda, and its minimisation by Gauss-Newton steps whose linear problems
// are solved by accelerated projected gradients in the changes of ln slowness.
class ProjectedGradients {
 public:
  explicit ProjectedGradients(const InversionJob<2>& job)
      : m_job(job),
        m_forward(job.grid, job.picks, {}, {.radius = job.options.radius}),
        m_prior(job.grid, job.options.prior.lengths) {}

  double objective(const Values& velocity) const {
    Values change(velocity.size());
    for (std::size_t i = 0; i < change.size(); ++i) {
      change[i] = std::log(m_job.start[i] / velocity[i]);
    }
    return misfit(m_forward.evaluate(on_host(), velocity)) + penalty(change);
  }
  double minimise() const {
    Values y(m_job.start.size(), 0.0);
    double min = objective(m_job.start);
    for (int turn = 0; turn < 12; ++turn) {
      const Values step = linear_step(y);
      bool better = false;
      for (double part = 1.0; part > 0.05 && !better; part *= 0.5) {
        Values other(y);
        for (std::size_t i = 0; i < y.size(); ++i) other[i] += part * step[i];
        const double value = objective(velocity_of(other));
        better = value < min;
        if (!better) continue;
        y = other;
        min = value;
      }
      if (!better) break;
    }
    return min;
  }

 private:
  Values velocity_of(const Values& y) const {
    Values v(m_job.start);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] *= std::exp(-y[i]);
    return v;
  }
  double misfit(const Prediction<2, Memory>& found) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < found.times.size(); ++k) {
      const Pick& pick = m_job.picks.picks[k];
      sum += std::pow((pick.time - found.times[k]) / pick.error, 2);
    }
    return sum;
  }
  double penalty(const Values& y) const {
    const auto x = moho::upload(on_host(), y, "y");
    m_prior.inverse(on_host(), x);
    double sum = 0.0;
    for (const double w : moho::download(on_host(), x)) sum += w * w;
    return m_job.options.lambda * m_job.options.lambda * sum;
  }
  // Half of the gradient of the linear problem at y + d, without that of the data at y.
  Values product(const SparseRows& rows, const Values& d) const {
    const auto x = moho::upload(on_host(), d, "d");
    m_prior.inverse(on_host(), x);
    m_prior.transposed_inverse(on_host(), x);
    Values y = moho::download(on_host(), x);
    for (double& value : y) value *= m_job.options.lambda * m_job.options.lambda;
    for (std::size_t k = 0; k + 1 < rows.first.size(); ++k) {
      double sum = 0.0;
      for (auto e = static_cast<std::size_t>(rows.first[k]);
           e < static_cast<std::size_t>(rows.first[k + 1]); ++e) {
        sum += rows.value[e] * d[static_cast<std::size_t>(rows.column[e])];
      }
      sum /= std::pow(m_job.picks.picks[k].error, 2);
      for (auto e = static_cast<std::size_t>(rows.first[k]);
           e < static_cast<std::size_t>(rows.first[k + 1]); ++e) {
        y[static_cast<std::size_t>(rows.column[e])] += rows.value[e] * sum;
      }
    }
    return y;
  }
  Values linear_step(const Values& y) const {
    const auto now = m_forward.evaluate(on_host(), velocity_of(y));
    const SparseRows rows = moho::tomography::download_rows(on_host(), now.rows);
    Values residual(y.size(), 0.0);
    for (std::size_t k = 0; k < now.times.size(); ++k) {
      const Pick& pick = m_job.picks.picks[k];
      const double r = (pick.time - now.times[k]) / (pick.error * pick.error);
      for (auto e = static_cast<std::size_t>(rows.first[k]);
           e < static_cast<std::size_t>(rows.first[k + 1]); ++e) {
        residual[static_cast<std::size_t>(rows.column[e])] += rows.value[e] * r;
      }
    }
    // the largest eigenvalue by powers
    Values power(y.size(), 1.0);
    double largest = 1.0;
    for (int turn = 0; turn < 60; ++turn) {
      power = product(rows, power);
      largest = 0.0;
      for (const double value : power) largest = std::max(largest, std::abs(value));
      for (double& value : power) value /= largest;
    }
    const double length = 1.0 / (1.5 * largest);
    const double low = std::log(m_job.options.velocity_min),
                 high = std::log(m_job.options.velocity_max);
    Values at(y), ahead(y);
    double momentum = 1.0;
    for (int turn = 0; turn < 4000; ++turn) {
      Values d(ahead);
      for (std::size_t i = 0; i < d.size(); ++i) d[i] -= y[i];
      const Values of_data = product(rows, d), of_prior = prior_part(y);
      Values next(at.size());
      double turned = 0.0;
      for (std::size_t i = 0; i < next.size(); ++i) {
        const double v = std::log(m_job.start[i]);
        const double moved = ahead[i] - length * (of_data[i] + of_prior[i] - residual[i]);
        next[i] = std::clamp(moved, v - high, v - low);
        turned += (ahead[i] - next[i]) * (next[i] - at[i]);
      }
      const double after =
          turned > 0.0 ? 1.0 : 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum * momentum));
      for (std::size_t i = 0; i < next.size(); ++i) {
        ahead[i] = next[i] + (turned > 0.0 ? 0.0 : (momentum - 1.0) / after) * (next[i] - at[i]);
      }
      at = std::move(next);
      momentum = after;
    }
    for (std::size_t i = 0; i < at.size(); ++i) at[i] -= y[i];
    return at;
  }
  Values prior_part(const Values& y) const {
    const auto x = moho::upload(on_host(), y, "y");
    m_prior.inverse(on_host(), x);
    m_prior.transposed_inverse(on_host(), x);
    Values result = moho::download(on_host(), x);
    for (double& value : result) value *= m_job.options.lambda * m_job.options.lambda;
    return result;
  }

  const InversionJob<2>& m_job;
  Forward<double, 2, Memory> m_forward;
  ExponentialPrior<2, Memory> m_prior;
};

TEST(TomographyBounds, ReachTheObjectiveOfProjectedGradients) {
  for (const double high : {1580.0, 1680.0}) {
    for (const double lambda : {300.0, 1000.0}) {
      auto job = bounded_job(1520.0, high);
      job.options.rule = DampingRule::fixed;
      job.options.lambda = lambda;
      job.options.prior.lengths = {300.0, 300.0};
      const auto result = invert<double, 2, Memory>(on_host(), job);
      EXPECT_GT(result.reports.back().held, 10);
      EXPECT_NE(result.stop, StopReason::iterations);
      const ProjectedGradients reference(job);
      EXPECT_LT(reference.objective(result.velocity), 1.001 * reference.minimise())
          << high << ' ' << lambda;
    }
  }
}

TEST(TomographyBounds, EndWithTheBestModel) {
  for (const double low : {1480.0, 1540.0, 1560.0}) {
    for (const double high : {1620.0, 1680.0, 1720.0}) {
      auto job = bounded_job(low, high);
      const auto result = invert<float, 2, Memory>(on_host(), job);
      double min = result.reports.front().chi2;
      for (const IterationReport& report : result.reports) {
        min = std::min(min, std::max(report.chi2, job.options.target));
      }
      EXPECT_LE(result.reports.back().chi2, min * (1.0 + 1e-9) + job.options.tolerance)
          << low << ' ' << high;
      EXPECT_NE(result.stop, StopReason::iterations) << low << ' ' << high;
      for (const double v : result.velocity) {
        EXPECT_GE(v, low * (1.0 - 1e-9));
        EXPECT_LE(v, high * (1.0 + 1e-9));
      }
    }
  }
}

}  // namespace
