// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Definitions of Inversion (internal).

#include <moho/tomography/inversion.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace moho::tomography {

template <class T, int Dim, class Memory>
Inversion<T, Dim, Memory>::Inversion(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                     const PickSet<Dim>& picks, std::vector<double> start,
                                     const Ground<Dim>& ground, const Options<Dim>& options)
    : m_grid(grid),
      m_picks(check_numbers<Dim>(picks, options)),
      m_reference(std::move(start)),
      m_mask(ground_mask<Dim>(grid, ground, picks)),
      m_options(options),
      m_forward(grid, picks, m_mask,
                forward_options<Dim>(options, uses_eikonal<Dim>(options, m_mask))),
      m_prior(m_forward.unknowns(), options.prior.lengths) {
  check_input<Dim>(grid, picks, m_reference, m_mask, options);
  if (m_options.error_times < 0.0) {
    m_options.error_times = uses_eikonal<Dim>(options, m_mask) ? 0.0005 : Dim == 2 ? 0.001 : 0.006;
  }
  m_state.white.assign(static_cast<std::size_t>(unknowns().size()), 0.0);
  if (options.statics == Statics::source || options.statics == Statics::both) {
    m_state.delays.source.assign(picks.sources.size(), 0.0);
  }
  if (options.statics == Statics::receiver || options.statics == Statics::both) {
    m_state.delays.receiver.assign(picks.receivers.size(), 0.0);
  }
  if (options.location.unknown) {
    m_state.delays.origin.assign(picks.sources.size(), 0.0);
    m_state.delays.moves.assign(picks.sources.size() * Dim, 0.0);
  }
  m_ground = ground;
  m_velocity = m_reference;
  if (!options.reference.empty()) start_apart(exec, options.reference);
  m_fits.resize(m_picks.picks.size());
}

// Starts at m_velocity, with the prior around another model.
template <class T, int Dim, class Memory>
void Inversion<T, Dim, Memory>::start_apart(const Instance<Memory>& exec,
                                            const std::vector<double>& reference) {
  std::vector<double> change(m_velocity.size(), 0.0);
  for (std::size_t i = 0; i < change.size(); ++i) {
    if (m_mask[i] == 0) continue;
    m_reference[i] = reference[i];
    change[i] = std::log(reference[i] / m_velocity[i]);
  }
  fill_air<Dim>(m_grid, m_mask, change);
  const auto x = upload(exec, m_forward.interpolation().sample(change), "moho::tomography::change");
  m_prior.inverse(exec, x);
  Trial trial;
  trial.white = download(exec, x);
  make_velocity(exec, trial);
  m_state.white = std::move(trial.white);
  m_velocity = std::move(trial.velocity);
}

template <class T, int Dim, class Memory>
std::vector<double> Inversion<T, Dim, Memory>::apply_prior(const Instance<Memory>& exec,
                                                           const std::vector<double>& white) const {
  const auto x = upload(exec, white, "moho::tomography::white");
  m_prior.apply(exec, x);
  return download(exec, x);
}

// Sets change, velocity and, where bounds are active, white.
template <class T, int Dim, class Memory>
void Inversion<T, Dim, Memory>::make_velocity(const Instance<Memory>& exec, Trial& trial) const {
  trial.change = apply_prior(exec, trial.white);
  if (keep_bounds(trial.change)) {
    const auto x = upload(exec, trial.change, "moho::tomography::change");
    m_prior.inverse(exec, x);
    trial.white = download(exec, x);
  }
  if (bounded()) trial.held = count_held(trial.change);
  const std::vector<double> change = m_forward.interpolation().interpolate(trial.change);
  trial.velocity.resize(m_reference.size());
  for (std::size_t i = 0; i < m_reference.size(); ++i) {
    trial.velocity[i] = m_mask[i] == 0 ? m_reference[i] : m_reference[i] * std::exp(-change[i]);
  }
}

// Standard deviation of a pick whose computed time is known.
template <class T, int Dim, class Memory>
double Inversion<T, Dim, Memory>::sigma_of(const Pick& pick, double time) const {
  const double picked = pick.error > 0.0
                            ? pick.error
                            : m_options.error_absolute + m_options.error_relative * pick.time;
  return std::hypot(picked, m_options.error_times * time);
}

// Residuals, standard deviations and robust weights of the present model.
template <class T, int Dim, class Memory>
void Inversion<T, Dim, Memory>::fit(bool restored) {
  std::vector<double> z;
  for (std::size_t k = 0; k < m_fits.size(); ++k) {
    const Pick& pick = m_picks.picks[k];
    PickFit& fit = m_fits[k];
    fit.predicted = m_now.times[k] + delay_of(m_state.delays, pick);
    fit.residual = pick.time - fit.predicted;
    fit.sigma = sigma_of(pick, m_now.times[k]);
    z.push_back(fit.z());
  }
  // A biweight takes the weight of good picks that an early model does not explain, for good. So
  // weights are Huber's, whose minimum is unique, till the scale of the residuals has settled.
  const double scale = robust_scale(z);
  InversionState& state = m_state;
  if (!restored) {  // otherwise the state has both
    const bool settled = state.scale > 0.0 && scale > 0.8 * state.scale;
    if (scale <= 1.3 || settled) state.redescending = true;
    state.scale = scale;
  }
  Robust robust = m_options.robust;
  double limit = 5.0;
  if (robust == Robust::biweight && !state.redescending) {
    robust = Robust::huber;
    limit = 2.0;
  }
  const std::vector<double> weights = robust_weights(robust, z, limit * scale);
  m_kappa = robust_kappa(robust, limit);
  for (std::size_t k = 0; k < m_fits.size(); ++k) m_fits[k].weight = weights[k];
}

template <class T, int Dim, class Memory>
double Inversion<T, Dim, Memory>::data_weight() const {
  double sum = 0.0;
  for (std::size_t k = 0; k < m_fits.size(); ++k) {
    sum += m_fits[k].weight * m_picks.picks[k].weight;
  }
  return sum * m_kappa;
}

// Sum of the squared weighted residuals of a prediction, with the present sigma and weights.
template <class T, int Dim, class Memory>
double Inversion<T, Dim, Memory>::misfit(const Prediction<Dim, Memory>& prediction,
                                         const Delays& delays) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < m_fits.size(); ++k) {
    const Pick& pick = m_picks.picks[k];
    const double r = pick.time - prediction.times[k] - delay_of(delays, pick);
    sum += m_fits[k].weight * pick.weight * std::pow(r / m_fits[k].sigma, 2);
  }
  return sum;
}

template <class T, int Dim, class Memory>
double Inversion<T, Dim, Memory>::chi2() const {
  return misfit(m_now, m_state.delays) / data_weight();
}

// The linear problem of the present matrices and weights.
template <class T, int Dim, class Memory>
typename Inversion<T, Dim, Memory>::System Inversion<T, Dim, Memory>::system(
    const Instance<Memory>& exec) const {
  std::vector<double> scale;
  for (std::size_t k = 0; k < m_fits.size(); ++k) {
    scale.push_back(std::sqrt(m_fits[k].weight * m_picks.picks[k].weight) / m_fits[k].sigma);
  }
  return {&m_matrix,
          &m_delay_matrix,
          &m_prior,
          upload(exec, scale, "moho::tomography::scale"),
          allocate<Vector<Memory>>(exec, "moho::tomography::full",
                                   m_matrix.columns() + m_delay_matrix.columns()),
          allocate<Vector<Memory>>(exec, "moho::tomography::data", m_matrix.rows())};
}

// Bidiagonalises the total problem, whose solution is the new w and not its change.
template <class T, int Dim, class Memory>
optimize::Krylov<Memory> Inversion<T, Dim, Memory>::bidiagonalise(
    const Instance<Memory>& exec, const optimize::BidiagonaliseOptions& options) {
  m_matrix = RayJacobian<Memory>(exec, m_now.rows);
  m_delay_matrix = RayJacobian<Memory>(exec, delay_rows());
  const System system = this->system(exec);
  const auto x = upload(exec, unknowns_of(m_state.white, m_state.delays), "moho::tomography::x");
  const auto y = allocate<Vector<Memory>>(exec, "moho::tomography::y", m_matrix.rows());
  system.apply(exec, x, y);
  std::vector<double> b = download(exec, y);
  for (std::size_t k = 0; k < b.size(); ++k) {
    b[k] += std::sqrt(m_fits[k].weight * m_picks.picks[k].weight) * m_fits[k].z();
  }
  return optimize::bidiagonalise(exec, system, upload(exec, b, "moho::tomography::b"), options);
}

// The same with at least three times as many steps as degrees of freedom, if so many are allowed:
// those of a basis are at most its vectors, and fewer of them would choose too small a lambda.
template <class T, int Dim, class Memory>
optimize::Krylov<Memory> Inversion<T, Dim, Memory>::bidiagonalise_for_gcv(
    const Instance<Memory>& exec, const DampingRequest& request) {
  int steps = m_options.krylov;
  auto krylov = bidiagonalise(exec, {.steps = steps});
  const auto columns = m_matrix.columns() + m_delay_matrix.columns();
  const int max = max_steps(steps, m_options.rule, m_matrix.rows(), columns);
  while (steps < max && krylov.matrix.steps() == static_cast<std::size_t>(steps)) {
    const double lambda = choose_damping(krylov.matrix, request);
    if (3.0 * krylov.matrix.degrees_of_freedom(lambda) < steps) break;
    steps = std::min(2 * steps, max);
    krylov = {};
    krylov = bidiagonalise(exec, {.steps = steps});
  }
  return krylov;
}

template <class T, int Dim, class Memory>
void Inversion<T, Dim, Memory>::report_state(IterationReport& report) const {
  report.iteration = static_cast<int>(m_state.reports.size());
  report.chi2 = chi2();
  double sum = 0.0, weights = 0.0;
  for (std::size_t k = 0; k < m_fits.size(); ++k) {
    const double w = m_fits[k].weight * m_picks.picks[k].weight;
    sum += w * m_fits[k].residual * m_fits[k].residual;
    weights += w;
    if (m_fits[k].weight < 0.01) ++report.rejected;
  }
  report.rms = std::sqrt(sum / weights);
}

namespace detail {
// The largest damping of a change whose predicted objective is at most `limit`.
inline double damping_of_change(const optimize::Bidiagonal& matrix, double limit, double lambda) {
  return matrix.largest_damping(limit, 1e-3 * lambda, 100.0 * matrix.singular_values().front());
}
// The part of the decrease of a complete step to try first: twice the last one.
inline double first_part(const IterationReport& last) {
  return last.step > 0.0 ? std::min(1.0, 2.0 * last.step) : 1.0;
}
}  // namespace detail

// Bidiagonalises the problem of a change from x with the prior: rows [A; lambda], from the data
// [residual; -lambda x]. Its misfit for a damping is the objective after that change. It ends where
// further steps no longer change the damping whose misfit is `limit`.
template <class T, int Dim, class Memory>
optimize::Krylov<Memory> Inversion<T, Dim, Memory>::bidiagonalise_change(
    const Instance<Memory>& exec, const std::vector<double>& x, double lambda, double limit) const {
  const System system = this->system(exec);
  std::vector<double> b;
  for (std::size_t k = 0; k < m_fits.size(); ++k) {
    b.push_back(std::sqrt(m_fits[k].weight * m_picks.picks[k].weight) * m_fits[k].z());
  }
  for (const double value : x) b.push_back(-lambda * value);
  double before = 0.0;
  const auto enough = [&](const optimize::Bidiagonal& part) {
    const double damping = detail::damping_of_change(part, limit, lambda);
    const bool same =
        part.misfit(damping) <= limit * (1.0 + 1e-9) && std::abs(damping - before) < 0.01 * damping;
    before = damping;
    return same;
  };
  return optimize::bidiagonalise(exec, DampedSystem{system, lambda},
                                 upload(exec, b, "moho::tomography::b"),
                                 {.steps = m_options.krylov, .enough = enough});
}

// Evaluates the model of unknowns and takes it if the objective falls below a limit. Returns its
// decrease. The rays of one model are in memory at a time.
template <class T, int Dim, class Memory>
double Inversion<T, Dim, Memory>::try_model(const Instance<Memory>& exec,
                                            const std::vector<double>& at, double lambda,
                                            double now, double min, bool keep_rays,
                                            IterationReport& report) {
  Trial trial;
  split(at, trial.white, trial.delays);
  limit_moves(trial.delays);
  make_velocity(exec, trial);
  m_now.paths = {};
  trial.prediction = m_forward.evaluate(exec, trial.velocity, keep_rays, m_options.progress,
                                        positions(trial.delays));
  ++report.traces;
  const double objective =
      misfit(trial.prediction, trial.delays) +
      lambda * lambda * detail::square_of(unknowns_of(trial.white, trial.delays));
  if (!(now - objective > min)) return now - objective;
  if (goes_back(trial.prediction, trial.delays)) return 0.0;
  report.held = trial.held;
  m_state.white = std::move(trial.white);
  m_state.delays = std::move(trial.delays);
  m_velocity = std::move(trial.velocity);
  m_now = std::move(trial.prediction);
  return now - objective;
}

// Tries the complete step, then the shortest steps that are predicted to bring a half, a quarter
// and an eighth of its decrease, beginning with twice the part of the last iteration. Returns the
// decrease of the objective over that of the complete step. Rays change along the way: a short step
// is within the range of the derivative.
template <class T, int Dim, class Memory>
double Inversion<T, Dim, Memory>::try_steps(const Instance<Memory>& exec,
                                            const std::vector<double>& x,
                                            const std::vector<double>& solution, double predicted,
                                            double lambda, bool keep_rays,
                                            IterationReport& report) {
  const double now = misfit(m_now, m_state.delays) + lambda * lambda * detail::square_of(x);
  const double first = detail::first_part(m_state.reports.back());
  double decrease = 0.0;
  if (first == 1.0) {
    decrease = try_model(exec, solution, lambda, now, 0.1 * predicted, keep_rays, report);
    if (decrease > 0.1 * predicted) {
      report.step = 1.0;
      return decrease / predicted;
    }
  }
  const double half = std::min(first, 0.5);
  const optimize::Krylov<Memory> krylov =
      bidiagonalise_change(exec, x, lambda, now - half * predicted);
  const optimize::Bidiagonal& matrix = krylov.matrix;
  if (matrix.steps() == 0) return 0.0;
  const auto view = allocate<Vector<Memory>>(exec, "moho::tomography::change", x.size());
  for (double step = half; step > 0.1; step *= 0.5) {
    const double damping = detail::damping_of_change(matrix, now - step * predicted, lambda);
    optimize::combine(exec, krylov, matrix.coefficients(damping), view);
    std::vector<double> at = download(exec, view);
    for (std::size_t i = 0; i < x.size(); ++i) at[i] += x[i];
    double aim = step * predicted;
    if (is_outside(exec, at)) {
      BoundedStep within = step_within_bounds(exec, x, at, lambda, damping, true);
      aim = within.decrease;
      at = std::move(within.at);
    }
    decrease = try_model(exec, at, lambda, now, 0.1 * aim, keep_rays, report);
    if (!(decrease > 0.1 * aim)) continue;
    report.step = step;
    break;
  }
  return decrease / predicted;
}

// Returns true if decide() may end the inversion after the step that is predicted.
template <class T, int Dim, class Memory>
bool Inversion<T, Dim, Memory>::may_end(const IterationReport& report, double before,
                                        double predicted, bool at_least) const {
  const bool by_target = m_options.rule == DampingRule::target;
  // chi^2 may be below its prediction
  const bool near = by_target && 0.9 * report.chi2_linear <= m_options.target + m_options.tolerance;
  return near || (at_least && by_target) || m_state.failures > 0 || predicted < 0.02 * before ||
         report.iteration >= m_options.iterations;
}

// Decides whether to go on.
template <class T, int Dim, class Memory>
void Inversion<T, Dim, Memory>::decide(const IterationReport& report, double before,
                                       double predicted, bool at_least) {
  const bool better = report.rho >= 0.1 || report.chi2 < 0.99 * m_state.reports.back().chi2;
  m_state.failures = report.step > 0.0 && better ? 0 : m_state.failures + 1;
  m_state.min_damping = report.step == 0.0 ? 2.0 * report.lambda
                        : report.rho < 0.5 ? 0.6 * report.lambda
                                           : 0.0;
  const bool by_target = m_options.rule == DampingRule::target;
  // robust weights have settled where hardly a pick is rejected or taken back
  const std::int64_t changed = std::abs(report.rejected - m_state.reports.back().rejected);
  const bool settled = changed <= static_cast<std::int64_t>(m_fits.size() / 500) &&
                       (m_options.robust != Robust::biweight || m_state.redescending);
  if (by_target && settled && std::abs(report.chi2 - m_options.target) <= m_options.tolerance) {
    m_state.stop = StopReason::target;
  } else if (at_least && by_target && report.chi2 > 0.98 * before / data_weight()) {
    m_state.stop = StopReason::floor;
  } else if (m_state.failures >= 2) {
    m_state.stop = StopReason::failed;
  } else if (report.step > 0.0 && predicted < 0.02 * before) {
    m_state.stop = StopReason::stalled;
  } else if (report.iteration >= m_options.iterations) {
    m_state.stop = StopReason::iterations;
  }
}

template <class T, int Dim, class Memory>
IterationReport Inversion<T, Dim, Memory>::evaluate_start(const Instance<Memory>& exec) {
  const Stopwatch watch;
  IterationReport report;
  m_now = m_forward.evaluate(exec, m_velocity, m_options.iterations == 0, m_options.progress);
  fit();
  report.traces = 1;
  report_state(report);
  if (m_options.iterations == 0) m_state.stop = StopReason::iterations;
  report.seconds = watch.seconds();
  m_state.reports.push_back(report);
  return report;
}

template <class T, int Dim, class Memory>
IterationReport Inversion<T, Dim, Memory>::iterate(const Instance<Memory>& exec) {
  if (m_state.reports.empty()) return evaluate_start(exec);
  const Stopwatch watch;
  IterationReport report;
  const std::vector<double> x = unknowns_of(m_state.white, m_state.delays);
  const double data = data_weight(), chi2_before = chi2();
  const double floor = 1.0 / m_options.prior.deviation_max;
  DampingRequest request{m_options.rule, m_options.lambda, data,
                         chi2_before,    m_options.target, std::max(floor, m_state.min_damping)};
  if (m_options.robust == Robust::biweight && !m_state.redescending) {
    // bad picks keep chi^2 away from its goal, whatever the damping
    request.lowest = std::max(request.lowest, 0.3 * m_state.reports.back().lambda);
  }
  optimize::BidiagonaliseOptions limits{.steps = m_options.krylov};
  // more steps resolve more of the model; those that no longer change the solution are left out
  double lambda = 0.0, misfit = 0.0;
  limits.enough = [&](const optimize::Bidiagonal& part) {
    const double lambda_before = lambda, misfit_before = misfit;
    lambda = choose_damping(part, request);
    misfit = part.misfit(lambda);
    return std::abs(lambda - lambda_before) < 0.01 * lambda &&
           std::abs(misfit - misfit_before) < 0.003 * misfit;
  };
  const auto krylov = m_options.rule == DampingRule::gcv ? bidiagonalise_for_gcv(exec, request)
                                                         : bidiagonalise(exec, limits);
  const optimize::Bidiagonal& matrix = krylov.matrix;
  lambda = choose_damping(matrix, request);
  // a change of ln slowness of at most 0.7, a factor of 2
  std::vector<double> solution;
  const std::vector<double> present = apply_prior(exec, m_state.white);
  const auto view = allocate<Vector<Memory>>(exec, "moho::tomography::solution", x.size());
  bool outside = false, raised = false;
  for (int turn = 0; turn < 30; ++turn) {
    optimize::combine(exec, krylov, matrix.coefficients(lambda), view);
    solution = download(exec, view);
    std::vector<double> white;
    Delays delays;
    split(solution, white, delays);
    std::vector<double> change = apply_prior(exec, white);
    outside = keep_bounds(change);
    double largest = 0.0;
    for (std::size_t i = 0; i < change.size(); ++i) {
      largest = std::max(largest, std::abs(change[i] - present[i]));
    }
    if (largest <= 0.7 || m_options.rule == DampingRule::fixed) break;
    // beyond it the solution goes back to the reference; short parts of the step are tried instead
    if (matrix.misfit(1.3 * lambda) > chi2_before * data) break;
    lambda *= 1.3;
    raised = true;
  }
  double after = matrix.misfit(lambda);
  if (outside) {
    const bool may_lower = m_options.rule == DampingRule::target && !raised;
    after = solve_within_bounds(exec, x, request, may_lower, lambda, solution);
  }
  const bool at_least = lambda <= floor * 1.0001;
  report.lambda = lambda;
  report.krylov = static_cast<int>(matrix.steps());
  report.chi2_linear = after / data;
  report.dof = matrix.degrees_of_freedom(lambda);
  const double before = chi2_before * data + lambda * lambda * detail::square_of(x);
  const double predicted = before - (after + lambda * lambda * detail::square_of(solution));
  report.iteration = static_cast<int>(m_state.reports.size());
  const bool keep_rays = may_end(report, before, predicted, at_least);
  if (predicted > 0.0) {
    report.rho = try_steps(exec, x, solution, predicted, lambda, keep_rays, report);
  }
  if (report.step == 0.0) report.held = m_state.reports.back().held;
  fit();
  report_state(report);
  report.seconds = watch.seconds();
  decide(report, before, predicted, at_least);
  m_state.reports.push_back(report);
  return report;
}

template <class T, int Dim, class Memory>
Appraisal Inversion<T, Dim, Memory>::appraise(const Instance<Memory>& exec) {
  Appraisal result;
  double lambda = 1.0 / m_options.prior.deviation_max;
  if (m_state.reports.size() > 1) lambda = m_state.reports.back().lambda;
  // the basis of twice as many vectors as degrees of freedom, which fewer vectors do not show
  int steps = m_options.krylov;
  if (m_state.reports.size() > 1) {
    const IterationReport& last = m_state.reports.back();
    steps = std::max({steps, last.krylov, std::min(static_cast<int>(3.0 * last.dof), 400)});
  }
  auto krylov = bidiagonalise(exec, {.steps = steps});
  result.dof = krylov.matrix.degrees_of_freedom(lambda);
  const int needed = std::min(static_cast<int>(2.0 * result.dof) + 1, 400);
  if (needed > steps) krylov = bidiagonalise(exec, {.steps = needed});
  const optimize::Bidiagonal& matrix = krylov.matrix;
  result.dof = matrix.degrees_of_freedom(lambda);
  result.curve = damping_curve(matrix, data_weight(), lambda);
  const auto columns = m_matrix.columns();
  const auto vector = [&](const char* label, std::int64_t size) {
    return allocate<Vector<Memory>>(exec, label, size);
  };
  const auto explained = vector("moho::tomography::explained", columns);
  const auto diagonal = vector("moho::tomography::diagonal", columns);
  const auto view = vector("moho::tomography::vector", columns + m_delay_matrix.columns());
  const auto other = vector("moho::tomography::other", columns + m_delay_matrix.columns());
  fill(exec, explained, 0.0);
  fill(exec, diagonal, 0.0);
  std::vector<double> c(matrix.steps());
  for (std::size_t k = 0; k < matrix.steps(); ++k) {
    const double q = matrix.singular_values()[k];
    const double part = q * q / (q * q + lambda * lambda);
    if (part < 1e-4) break;
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = matrix.right(i, k);
    optimize::combine(exec, krylov, c, view);
    copy(exec, other, view);
    m_prior.apply(exec, view);
    m_prior.transposed_inverse(exec, other);
    launch("moho::tomography::add_explained", exec, columns,
           detail::AddProducts{view.data(), view.data(), part, explained.data()});
    launch("moho::tomography::add_resolution", exec, columns,
           detail::AddProducts{view.data(), other.data(), part, diagonal.data()});
  }
  std::vector<double> deviation = download(exec, explained);
  for (double& value : deviation) value = std::sqrt(std::max(0.0, 1.0 - value)) / lambda;
  result.deviation = m_forward.interpolation().interpolate(deviation);
  result.resolution = m_forward.interpolation().interpolate(download(exec, diagonal));
  return result;
}

template <class T, int Dim, class Memory>
void Inversion<T, Dim, Memory>::restore(const Instance<Memory>& exec, InversionState state) {
  if (state.white.size() != m_state.white.size() ||
      state.delays.source.size() != m_state.delays.source.size() ||
      state.delays.receiver.size() != m_state.delays.receiver.size() ||
      state.delays.moves.size() != m_state.delays.moves.size()) {
    throw InputError(concat("the state has ", state.white.size(), " unknowns (allowed: ",
                            m_state.white.size(), "): it belongs to another inversion"));
  }
  m_state = std::move(state);
  const int last = m_state.reports.empty() ? 0 : m_state.reports.back().iteration;
  // the limit of iterations may differ from that of the run that wrote the state
  if (m_state.stop == StopReason::iterations && last < m_options.iterations)
    m_state.stop = StopReason::none;
  if (m_state.stop == StopReason::none && last > 0 && last >= m_options.iterations) {
    m_state.stop = StopReason::iterations;
  }
  Trial trial;
  trial.white = m_state.white;
  make_velocity(exec, trial);
  m_velocity = std::move(trial.velocity);
  m_now =
      m_forward.evaluate(exec, m_velocity, ended(), m_options.progress, positions(m_state.delays));
  fit(true);
}

template <class T, int Dim, class Memory>
Prediction<Dim, Memory> Inversion<T, Dim, Memory>::rays(const Instance<Memory>& exec) {
  Prediction<Dim, Memory> all;
  if (m_now.paths.receivers > 0) {
    rays::RayPaths<Dim> paths = std::exchange(m_now.paths, {});
    all = m_now;
    all.paths = std::move(paths);
  } else {
    all = m_forward.evaluate(exec, m_velocity, true, {}, positions(m_state.delays));
  }
  all.coverage = m_forward.coverage(exec, all.paths);
  return all;
}

/// \cond
#ifdef MOHO_TOMOGRAPHY_KERNELS
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Inversion)
#endif
/// \endcond

}  // namespace moho::tomography
