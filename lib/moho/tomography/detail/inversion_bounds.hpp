// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Definitions of Inversion for bounds of the velocity (internal).

#include <moho/optimize/bounded_quadratic.hpp>
#include <moho/tomography/inversion.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace moho::tomography {

// Least and largest changes of ln slowness from the reference at the unknowns; 0 is allowed.
template <class T, int Dim, class Memory>
std::array<std::vector<double>, 2> Inversion<T, Dim, Memory>::ranges() const {
  std::array<std::vector<double>, 2> result;
  for (const double v : m_forward.interpolation().sample(m_reference)) {
    result[0].push_back(std::min(std::log(v / m_options.velocity_max), 0.0));
    result[1].push_back(std::max(std::log(v / m_options.velocity_min), 0.0));
  }
  return result;
}

// Moves a change of ln slowness into the bounds; returns true if that changes it.
template <class T, int Dim, class Memory>
bool Inversion<T, Dim, Memory>::keep_bounds(std::vector<double>& change) const {
  if (!bounded()) return false;
  const auto [min, max] = ranges();
  bool moved = false;
  for (std::size_t i = 0; i < change.size(); ++i) {
    const double inside = std::clamp(change[i], min[i], max[i]);
    moved = moved || inside != change[i];
    change[i] = inside;
  }
  return moved;
}

// Counts the unknowns of the ground at a bound.
template <class T, int Dim, class Memory>
std::int64_t Inversion<T, Dim, Memory>::count_held(const std::vector<double>& change) const {
  const auto [min, max] = ranges();
  std::int64_t held = 0;
  for (std::size_t i = 0; i < change.size(); ++i) {
    const bool ground = m_options.coarsening > 1 || m_mask[i] != 0;
    held += ground && (change[i] <= min[i] + 1e-9 || change[i] >= max[i] - 1e-9) ? 1 : 0;
  }
  return held;
}

// Returns true if the model of unknowns is beyond the bounds.
template <class T, int Dim, class Memory>
bool Inversion<T, Dim, Memory>::is_outside(const Instance<Memory>& exec,
                                           const std::vector<double>& x) const {
  if (!bounded()) return false;
  std::vector<double> white;
  Delays delays;
  split(x, white, delays);
  std::vector<double> change = apply_prior(exec, white);
  return keep_bounds(change);
}

// Minimises |r - A d|^2 + lambda^2 |x + d|^2 + mu^2 |d|^2 within the bounds, in the changes S d of
// ln slowness, where the bounds are those of single unknowns. `guess` is a first x + d; a rough
// step is for the choice of lambda.
template <class T, int Dim, class Memory>
typename Inversion<T, Dim, Memory>::BoundedStep Inversion<T, Dim, Memory>::step_within_bounds(
    const Instance<Memory>& exec, const std::vector<double>& x, const std::vector<double>& guess,
    double lambda, double mu, bool rough) const {
  const System system = this->system(exec);
  const auto whites = allocate<Vector<Memory>>(exec, "moho::tomography::whites", x.size());
  const auto data = allocate<Vector<Memory>>(exec, "moho::tomography::rows", m_matrix.rows());
  const auto result = allocate<Vector<Memory>>(exec, "moho::tomography::result", x.size());
  const double diagonal = lambda * lambda + mu * mu;
  const auto put = [&](const std::vector<double>& values) {
    copy(exec, whites, upload(exec, values, "moho::tomography::values"));
  };
  optimize::BoundedQuadratic problem;
  problem.product = [&](const std::vector<double>& change) {
    put(change);
    m_prior.inverse(exec, whites);
    system.apply(exec, whites, data);
    system.transpose(exec, data, result);
    launch("moho::tomography::prior_rows", exec, system.columns(),
           optimize::detail::SubtractRow{whites.data(), -diagonal, result.data()});
    m_prior.transposed_inverse(exec, result);
    return download(exec, result);
  };
  problem.precondition = [&](const std::vector<double>& gradient) {
    put(gradient);
    m_prior.transpose(exec, whites);
    m_prior.apply(exec, whites);
    return download(exec, whites);
  };
  std::vector<double> r;
  for (std::size_t k = 0; k < m_fits.size(); ++k) {
    r.push_back(std::sqrt(m_fits[k].weight * m_picks.picks[k].weight) * m_fits[k].z());
  }
  put(x);
  system.transpose(exec, upload(exec, r, "moho::tomography::residuals"), result);
  launch("moho::tomography::prior_rows", exec, system.columns(),
         optimize::detail::SubtractRow{whites.data(), lambda * lambda, result.data()});
  m_prior.transposed_inverse(exec, result);
  problem.gradient = download(exec, result);
  m_prior.apply(exec, whites);
  const std::vector<double> present = download(exec, whites);
  auto [min, max] = ranges();
  for (std::size_t i = 0; i < min.size(); ++i) {
    min[i] = std::min(min[i] - present[i], 0.0);
    max[i] = std::max(max[i] - present[i], 0.0);
  }
  min.resize(x.size(), -std::numeric_limits<double>::infinity());
  max.resize(x.size(), std::numeric_limits<double>::infinity());
  problem.lower = std::move(min);
  problem.upper = std::move(max);
  std::vector<double> start(guess);
  for (std::size_t i = 0; i < x.size(); ++i) start[i] -= x[i];
  put(start);
  m_prior.apply(exec, whites);
  const auto found = optimize::minimise_within_bounds(
      problem, download(exec, whites),
      {.products = (rough ? 3 : 10) * m_options.krylov, .tolerance = rough ? 1e-3 : 1e-4});
  put(found.x);
  m_prior.inverse(exec, whites);
  BoundedStep step{download(exec, whites)};
  step.decrease = mu * mu * detail::square_of(step.at) - found.value;
  for (std::size_t i = 0; i < found.x.size(); ++i) {
    const bool model = i < static_cast<std::size_t>(m_matrix.columns());
    if (model) step.largest = std::max(step.largest, std::abs(found.x[i]));
    step.at[i] += x[i];
  }
  return step;
}

// Replaces a solution beyond the bounds by that within them. Bounds keep a part of the misfit:
// where the target is to be reached, lambda decreases until the misfit of the step is at its goal
// or hardly follows, to 0.3 of the last one at most. Returns the predicted misfit.
template <class T, int Dim, class Memory>
double Inversion<T, Dim, Memory>::solve_within_bounds(const Instance<Memory>& exec,
                                                      const std::vector<double>& x,
                                                      const DampingRequest& request, bool may_lower,
                                                      double& lambda,
                                                      std::vector<double>& solution) const {
  const double now = misfit(m_now, m_state.delays);
  const auto misfit_of = [&](const BoundedStep& step, double damping) {
    const double square = damping * damping;
    return now + square * (detail::square_of(x) - detail::square_of(step.at)) - step.decrease;
  };
  BoundedStep step = step_within_bounds(exec, x, solution, lambda, 0.0, true);
  double found = misfit_of(step, lambda);
  const double goal = goal_of(request) * request.data;
  const double lowest = std::max(request.lowest, 0.3 * m_state.reports.back().lambda);
  double above = lambda;  // the least lambda whose misfit is known to be above the goal
  while (may_lower && found > goal && lambda > lowest) {
    const double next = std::max(0.7 * lambda, lowest);
    BoundedStep other = step_within_bounds(exec, x, step.at, next, 0.0, true);
    const double reached = misfit_of(other, next);
    if (!(reached < 0.98 * found) || other.largest > 0.7) break;
    above = std::exchange(lambda, next);
    found = reached;
    step = std::move(other);
  }
  for (int turn = 0; turn < 5 && above > lambda && found < 0.98 * goal; ++turn) {
    const double next = std::sqrt(above * lambda);
    BoundedStep other = step_within_bounds(exec, x, step.at, next, 0.0, true);
    const double reached = misfit_of(other, next);
    if (reached > goal) {
      above = next;
      continue;
    }
    lambda = next;
    found = reached;
    step = std::move(other);
  }
  step = step_within_bounds(exec, x, step.at, lambda, 0.0, false);
  found = misfit_of(step, lambda);
  solution = std::move(step.at);
  return found;
}

// Returns true if a model within bounds has a greater chi^2 than the present one although the
// target is to be reached. After a failure a greater lambda would lead back to earlier models.
template <class T, int Dim, class Memory>
bool Inversion<T, Dim, Memory>::goes_back(const Prediction<Dim, Memory>& prediction,
                                          const Delays& delays) const {
  if (!bounded() || m_options.robust != Robust::none || m_options.rule == DampingRule::fixed ||
      (m_options.rule == DampingRule::gcv && m_state.failures == 0)) {
    return false;
  }
  double sum = 0.0;
  for (std::size_t k = 0; k < m_fits.size(); ++k) {
    const Pick& pick = m_picks.picks[k];
    const double r = pick.time - prediction.times[k] - delay_of(delays, pick);
    sum += pick.weight * std::pow(r / sigma_of(pick, prediction.times[k]), 2);
  }
  return sum > std::max(chi2(), m_options.target + m_options.tolerance) * data_weight();
}

}  // namespace moho::tomography
