// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity_inversion/inversion.hpp>
#include <moho/gravity_inversion/synthetic.hpp>

#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/gravity/lattice.hpp>
#include <moho/gravity/products.hpp>
#include <moho/optimize/cgls.hpp>
#include <moho/optimize/lbfgs.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace moho::gravity_inversion {

namespace {

using Memory = Kokkos::HostSpace;
using Vector = Kokkos::View<const double*, Memory>;

Instance<Memory> host() { return Kokkos::DefaultHostExecutionSpace(); }

Vector view(const std::vector<double>& values) { return Vector(values.data(), values.size()); }

// Copies a vector of a search with all threads.
void assign(const Instance<Memory>& exec, std::vector<double>& to, const Vector& from) {
  to.resize(from.size());
  copy(exec, Kokkos::View<double*, Memory>(to.data(), to.size()), from);
}

double square(double value) { return value * value; }

// Interpolates ln beta linearly in ln chi^2.
double between(double above, double above_chi2, double below, double below_chi2, double target) {
  const double part = std::log(above_chi2 / target) / std::log(above_chi2 / below_chi2);
  return above * std::pow(below / above, std::clamp(part, 0.1, 0.9));
}

// A search for beta ends if chi^2 falls by less than this part in two
// minimisations.
constexpr double stalled = 0.02;

// Compact rounds follow a smooth result with chi^2 up to this factor of the target.
constexpr double max_for_compact = 2.0;

// Throws InputError for the first cell whose bounds are crossed or do not hold its start.
void check_bounds(const InversionProblem& p) {
  for (std::size_t k = 0; k < p.start.size(); ++k) {
    if (!p.lower.empty() && !p.upper.empty() && !(p.lower[k] <= p.upper[k])) {
      throw InputError(concat("bounds: cell ", k + 1, " has ", p.lower[k], " to ", p.upper[k],
                              " kg/m^3 (allowed: the lowest first): exchange them"));
    }
    const bool below = !p.lower.empty() && !(p.start[k] >= p.lower[k]);
    if (below || (!p.upper.empty() && !(p.start[k] <= p.upper[k]))) {
      throw InputError(concat("start: cell ", k + 1, " has ", p.start[k], " kg/m^3, the bound ",
                              below ? p.lower[k] : p.upper[k],
                              " kg/m^3 (allowed: within the bounds): mend it, or the bounds"));
    }
  }
}

}  // namespace

bool is_linear(const InversionProblem& problem, const InversionOptions& options) {
  return options.solver == Solver::conjugate_gradients ||
         (options.solver == Solver::automatic && problem.lower.empty() && problem.upper.empty());
}

double bytes_of_problem(const InversionProblem& problem) {
  const auto values = static_cast<double>(problem.components.size() * problem.stations.size() / 3);
  return bytes_of_cells(problem.cells.size()) + 16.0 * values +
         8.0 * static_cast<double>(problem.lower.size() + problem.upper.size() +
                                   problem.stations.size());
}

double bytes_of_regularisation(const Cells& cells) {
  return 120.0 * static_cast<double>(cells.size()) +
         32.0 * (static_cast<double>(cells.links.size()) + 1.0);
}

double bytes_of_search(const InversionProblem& problem, const InversionOptions& options) {
  const auto cells = static_cast<double>(problem.cells.size());
  const auto values = static_cast<double>(problem.components.size() * problem.stations.size() / 3);
  if (is_linear(problem, options)) {
    return 64.0 * cells + 16.0 * static_cast<double>(problem.cells.links.size()) + 80.0 * values;
  }
  const double bounds = problem.lower.empty() && problem.upper.empty() ? 0.0 : 3.0;
  return 8.0 * cells * (2.0 * options.pairs + 10.0 + bounds) + 80.0 * values;
}

gravity::Products choose_products(const InversionProblem& problem, bool on_lattice,
                                  gravity::Products wanted, bool on_host) {
  return gravity::choose_products(wanted, on_lattice, problem.cells.size(),
                                  static_cast<std::int64_t>(problem.stations.size() / 3),
                                  problem.components, on_host);
}

std::string why_no_lattice(const InversionProblem& problem, bool ground) {
  const Cells& cells = problem.cells;
  if (!cells.regular()) return "the cells are a list of prisms";
  if (ground || cells.size() != cells.mesh.size()) return "cells of the mesh are cut or left out";
  return gravity::find_lattice(cells.mesh, problem.stations).why;
}

Inversion::Inversion(gravity::FieldOperator& field, InversionProblem problem,
                     const InversionOptions& options)
    : m_field(field),
      m_problem(std::move(problem)),
      m_options(options),
      m_regularisation(host(), static_cast<std::size_t>(m_problem.cells.size()),
                       m_problem.cells.links) {
  InversionProblem& p = m_problem;
  const auto cells = static_cast<std::size_t>(p.cells.size());
  if (p.weights.empty()) p.weights.assign(cells, 1.0);
  if (p.reference.empty()) p.reference.assign(cells, 0.0);
  if (p.start.empty()) {
    p.start = p.reference;
    for (std::size_t k = 0; k < cells; ++k) {
      if (p.lower.size() == cells) p.start[k] = std::max(p.start[k], p.lower[k]);
      if (p.upper.size() == cells) p.start[k] = std::min(p.start[k], p.upper[k]);
    }
  }
  if (p.trend.empty()) p.trend.assign(p.components.size(), -1);
  check();
  m_inverse.assign(p.data.size(), 0.0);
  for (std::size_t k = 0; k < p.data.size(); ++k) {
    if (std::isnan(p.data[k])) continue;
    m_inverse[k] = 1.0 / p.errors[k];
    ++m_values;
  }
  if (m_values == 0) throw InputError("data: no value is there (allowed: 1 or more)");
  std::vector<std::string> names;
  for (const gravity::Component c : p.components) names.emplace_back(gravity::to_string(c));
  m_trend = Trend(p.stations, m_inverse, p.trend, names);
  m_cell = p.cells.volumes();
  double mean = 0.0;
  for (const double volume : m_cell) mean += volume / static_cast<double>(cells);
  for (std::size_t k = 0; k < cells; ++k) m_cell[k] *= square(p.weights[k]) / mean;
}

void Inversion::check() const {
  const InversionProblem& p = m_problem;
  const auto expect = [](const char* name, std::size_t found, std::size_t allowed) {
    if (found == allowed) return;
    throw InputError(concat(name, ": there are ", found, " (allowed: ", allowed, ")"));
  };
  const auto cells = static_cast<std::size_t>(m_field.prisms());
  const auto values = static_cast<std::size_t>(m_field.values());
  expect("cells", static_cast<std::size_t>(p.cells.size()), cells);
  expect("data", p.data.size(), values);
  expect("errors", p.errors.size(), values);
  expect("components x stations", p.components.size() * (p.stations.size() / 3), values);
  expect("degrees of the trend", p.trend.size(), p.components.size());
  expect("weights", p.weights.size(), cells);
  expect("reference", p.reference.size(), cells);
  expect("start", p.start.size(), cells);
  if (!p.lower.empty()) expect("lower", p.lower.size(), cells);
  if (!p.upper.empty()) expect("upper", p.upper.size(), cells);
  check_bounds(p);
  for (const auto& [name, densities] :
       {std::pair("reference", &p.reference), {"start", &p.start}}) {
    for (std::size_t k = 0; k < cells; ++k) {
      if (std::isfinite((*densities)[k])) continue;
      throw InputError(concat(name, ": the density of cell ", k + 1, " is ", (*densities)[k],
                              " (allowed: finite numbers)"));
    }
  }
  for (std::size_t k = 0; k < cells; ++k) {
    if (p.weights[k] > 0.0 && std::isfinite(p.weights[k])) continue;
    throw InputError(concat("weights: that of cell ", k + 1, " is ", p.weights[k],
                            " (allowed: positive numbers)"));
  }
  const std::size_t stations = p.stations.size() / 3;
  for (std::size_t k = 0; k < values; ++k) {
    if (std::isinf(p.data[k])) {
      throw InputError(concat("data: ", gravity::to_string(p.components[k / stations]),
                              " at station ", k % stations + 1, " is ", p.data[k],
                              " (allowed: finite numbers, or NaN for no value)"));
    }
    if (std::isnan(p.data[k]) || (p.errors[k] > 0.0 && std::isfinite(p.errors[k]))) continue;
    throw InputError(concat("errors: that of ", gravity::to_string(p.components[k / stations]),
                            " at station ", k % stations + 1, " is ", p.errors[k],
                            " (allowed: positive numbers)"));
  }
  const auto positive = [](const char* name, double value, bool zero) {
    if (std::isfinite(value) && (value > 0.0 || (zero && value == 0.0))) return;
    throw InputError(
        concat(name, ": ", value, " (allowed: ", zero ? "0 or " : "", "positive numbers)"));
  };
  const InversionOptions& o = m_options;
  positive("small", o.small, true);
  for (const double factor : o.smooth) positive("smooth", factor, true);
  if (o.small == 0.0 && *std::max_element(o.smooth.begin(), o.smooth.end()) == 0.0) {
    throw InputError("small, smooth: all are 0 (allowed: one at least above 0)");
  }
  positive("beta", o.beta, true);
  positive("target", o.target, false);
  positive("tolerance", o.tolerance, false);
  positive("compact", o.compact, true);
  if (!(o.reduction > 1.0)) throw InputError(concat("reduction: ", o.reduction, " (allowed: > 1)"));
  if (o.steps < 1 || o.iterations < 1 || o.rounds < 1) {
    throw InputError("steps, iterations, rounds: one is below 1 (allowed: 1 or more)");
  }
  if (o.solver == Solver::conjugate_gradients && !(p.lower.empty() && p.upper.empty())) {
    throw InputError(concat(o.names("method"), " cg and ", o.names("bounds"),
                            " were both given (allowed: cg has no bounds): leave one out"));
  }
}

bool Inversion::linear() const { return is_linear(m_problem, m_options); }

double Inversion::chi2(double squares) const {
  return squares / static_cast<double>(std::max<std::int64_t>(m_values - m_trend.size(), 1));
}

void Inversion::regularise(const std::vector<double>* compact) {
  std::vector<double> v;
  if (compact != nullptr) {
    v.resize(m_cell.size());
    const double eps2 = square(m_options.compact);
    for (std::size_t k = 0; k < v.size(); ++k) {
      v[k] = eps2 / (square((*compact)[k] - m_problem.reference[k]) + eps2);
    }
  }
  m_regularisation.set(m_cell, v, m_options.small, m_options.smooth);
}

void Inversion::image(const std::vector<double>& direction, std::vector<double>& residuals) {
  m_field.apply(direction, m_field_values);
  ++m_products;
  residuals.resize(m_field_values.size());
  for (std::size_t k = 0; k < residuals.size(); ++k) {
    residuals[k] = m_inverse[k] == 0.0 ? 0.0 : m_inverse[k] * m_field_values[k];
    if (std::isfinite(residuals[k])) continue;
    const std::size_t stations = m_problem.stations.size() / 3;
    throw InputError(concat("data: ", gravity::to_string(m_problem.components[k / stations]),
                            " does not exist at station ", k % stations + 1,
                            ", which is on an edge or a vertex of a cell (allowed: other "
                            "places): leave the value out, or move the mesh"));
  }
  m_trend.project(residuals);
}

double Inversion::misfit(const std::vector<double>& model, std::vector<double>& residuals) {
  image(model, residuals);  // for its check
  for (std::size_t k = 0; k < residuals.size(); ++k) {
    residuals[k] =
        m_inverse[k] == 0.0 ? 0.0 : m_inverse[k] * (m_field_values[k] - m_problem.data[k]);
  }
  m_trend.project(residuals);
  double sum = 0.0;
  for (const double residual : residuals) sum += square(residual);
  return sum;
}

void Inversion::gradient_of(const std::vector<double>& residuals, std::vector<double>& gradient) {
  m_weights = residuals;
  m_trend.project(m_weights);
  for (std::size_t k = 0; k < m_weights.size(); ++k) m_weights[k] *= m_inverse[k];
  m_field.adjoint(m_weights, gradient);
  ++m_products;
}

double Inversion::value_and_gradient(const std::vector<double>& model, double beta,
                                     const std::vector<double>* compact,
                                     std::vector<double>& gradient) {
  regularise(compact);
  std::vector<double> residuals, rough;
  const double squares = misfit(model, residuals);
  gradient_of(residuals, gradient);
  const double sum = m_regularisation.value(model, m_problem.reference, &rough);
  for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] += beta * rough[k];
  return 0.5 * squares + 0.5 * beta * sum;
}

InversionState Inversion::begin() {
  InversionState state;
  state.model = m_problem.start;
  state.beta = m_options.beta;
  if (state.beta > 0.0) return state;
  std::vector<double> residuals, gradient;
  if (chi2(misfit(state.model, residuals)) <= m_options.target) {
    state.done = true;
    state.reason = "the start fits the data within their errors";
    return state;
  }
  // equal curvature of both parts along the preconditioned gradient
  gradient_of(residuals, gradient);
  regularise(nullptr);
  const std::vector<double>& inverse = m_regularisation.inverse_diagonal();
  for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] *= inverse[k];
  image(gradient, residuals);
  double data = 0.0;
  for (const double residual : residuals) data += square(residual);
  const double rough = m_regularisation.value(gradient, {}, nullptr);
  if (!(data > 0.0 && rough > 0.0)) {
    throw InputError(
        "data: no value depends on any cell (allowed: stations "
        "that sense the mesh)");
  }
  state.beta = data / rough;
  return state;
}

void Inversion::search_lbfgs(InversionState& state, const Progress& progress, InversionStep& step) {
  using Search = optimize::Lbfgs<double, Memory>;
  const Instance<Memory> exec = host();
  optimize::Constraints<double, Memory> constraints;
  if (!m_problem.lower.empty()) constraints.lower = view(m_problem.lower);
  if (!m_problem.upper.empty()) constraints.upper = view(m_problem.upper);
  std::vector<double> model, residuals, gradient, rough;
  double largest = 0.0;
  for (const double value : state.model) largest = std::max(largest, std::abs(value));
  optimize::LbfgsOptions options;
  options.memory = m_options.pairs;
  options.gradient = 0.0;
  options.decrease = state.round < 0 ? m_options.decrease : 0.0;
  options.iterations = m_options.iterations;
  options.first_change = largest > 0.0 ? 0.1 * largest : 1.0;  // kg/m^3; the search extends it
  Search search(exec, view(state.model), options, constraints);
  search.precondition(exec, view(m_regularisation.inverse_diagonal()));
  while (search.wants() == optimize::Want::evaluation) {
    assign(exec, model, search.point());
    const double squares = misfit(model, residuals);
    gradient_of(residuals, gradient);
    const double sum = m_regularisation.value(model, m_problem.reference, &rough);
    for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] += state.beta * rough[k];
    search.tell(exec, 0.5 * squares + 0.5 * state.beta * sum, view(gradient));
    if (progress) {
      progress(static_cast<double>(search.iterations()) / static_cast<double>(m_options.iterations),
               "minimising");
    }
  }
  assign(exec, state.model, search.best());
  step.iterations = search.iterations();
}

void Inversion::search_cgls(InversionState& state, const Progress& progress, InversionStep& step) {
  using Search = optimize::Cgls<double, Memory>;
  const Instance<Memory> exec = host();
  const std::size_t values = m_inverse.size();
  const double root = std::sqrt(state.beta);
  // rows: data, then the regularisation
  std::vector<double> rows(values + m_regularisation.rows()), part, direction, gradient;
  (void)misfit(state.model, part);
  for (std::size_t k = 0; k < values; ++k) rows[k] = -part[k];
  m_regularisation.apply(-root, state.model.data(), rows.data() + values);
  m_regularisation.add_reference(root, m_problem.reference.data(), rows.data() + values);
  Search search(exec, view(state.model), view(rows),
                {.gradient = 1e-4, .iterations = m_options.iterations});
  search.precondition(exec, view(m_regularisation.inverse_diagonal()));
  while (search.wants() != optimize::LinearWant::nothing) {
    if (search.wants() == optimize::LinearWant::product) {
      assign(exec, direction, search.direction());
      image(direction, part);
      std::copy(part.begin(), part.end(), rows.begin());
      m_regularisation.apply(root, direction.data(), rows.data() + values);
      search.tell_product(exec, view(rows));
    } else {
      const Vector residual = search.residual();
      part.assign(residual.data(), residual.data() + values);
      gradient_of(part, gradient);
      m_regularisation.add_adjoint(root, residual.data() + values, gradient.data());
      search.tell_transposed(exec, view(gradient));
    }
    if (progress) {
      progress(static_cast<double>(search.iterations()) / static_cast<double>(m_options.iterations),
               "minimising");
    }
  }
  assign(exec, state.model, search.point());
  step.iterations = search.iterations();
}

InversionStep Inversion::minimise(InversionState& state, const Progress& progress) {
  InversionStep step;
  step.stage = state.round < 0 ? "smooth" : "compact";
  step.beta = state.beta;
  const std::int64_t before = m_products;
  if (linear()) {
    search_cgls(state, progress, step);
  } else {
    search_lbfgs(state, progress, step);
  }
  std::vector<double> residuals;
  step.chi2 = chi2(misfit(state.model, residuals));
  step.regularisation = m_regularisation.value(state.model, m_problem.reference, nullptr);
  step.products = m_products - before;
  return step;
}

void Inversion::advance(InversionState& state, const Progress& progress) {
  if (state.done) return;
  regularise(state.round < 0 ? nullptr : &state.model);
  state.history.push_back(minimise(state, progress));
  const double found = state.history.back().chi2;
  if (!std::isfinite(found)) {
    throw InputError(concat("inversion: chi^2 is ", found, " at beta ", state.beta,
                            " (allowed: finite numbers): check data and errors"));
  }
  if (state.round < 0) {
    next_beta(state, found);
  } else {
    next_round(state, found);
  }
}

void Inversion::end_of_smooth(InversionState& state, const std::string& reason) const {
  state.reason = reason;
  state.done = m_options.compact == 0.0;
  if (state.done) return;
  const double found = state.history.back().chi2;
  if (m_options.beta == 0.0 && found > max_for_compact * m_options.target) {
    state.reason += concat("; compact rounds are left out, as chi^2 is above ", max_for_compact,
                           " times the target");
    state.done = true;
    return;
  }
  state.smooth_model = state.model;
  state.round = 0;
}

void Inversion::next_beta(InversionState& state, double found) const {
  const double target = m_options.target;
  const auto steps = static_cast<int>(state.history.size());
  if (m_options.beta > 0.0) return end_of_smooth(state, "beta was given");
  if (std::abs(found - target) <= m_options.tolerance * target) {
    return end_of_smooth(state, "chi^2 reached the target");
  }
  if (found > target) {
    state.above = state.beta;
    state.above_chi2 = found;
  } else {
    state.below = state.beta;
    state.below_chi2 = found;
  }
  if (steps >= m_options.steps) {
    return end_of_smooth(state, concat("chi^2 is ", text::significant(found, 4), " after ", steps,
                                       " minimisations, the largest number"));
  }
  const auto chi2_of = [&](int back) {
    return state.history[static_cast<std::size_t>(steps - 1 - back)].chi2;
  };
  if (state.below == 0.0 && steps > 6 && found > (1.0 - stalled) * chi2_of(2)) {
    return end_of_smooth(state, concat("chi^2 stays at ", text::significant(found, 4),
                                       ": the cells or the bounds do not explain the data "
                                       "to their errors"));
  }
  if (state.above == 0.0) {
    state.beta *= m_options.reduction;
  } else if (state.below == 0.0) {
    state.beta /= m_options.reduction;
  } else {
    if (state.above < 1.02 * state.below) {
      return end_of_smooth(state, "beta is determined to 2 %");
    }
    state.beta = between(state.above, state.above_chi2, state.below, state.below_chi2, target);
  }
}

void Inversion::next_round(InversionState& state, double found) const {
  ++state.round;
  state.done = state.round >= m_options.rounds;
  if (m_options.beta > 0.0) return;
  // chi^2 that rose in this round rises in the next one
  const auto steps = state.history.size();
  const InversionStep* const before = steps > 1 ? &state.history[steps - 2] : nullptr;
  double expected = found;
  if (before != nullptr && before->stage == "compact" && found > before->chi2) {
    expected *= std::min(found / before->chi2, 1.5);
  }
  const double ratio = m_options.target / expected;
  state.beta *= std::clamp(ratio * ratio * ratio, 0.2, 6.0);
}

void Inversion::extend(InversionState& state) const {
  if (state.round > m_options.rounds) {
    throw InputError(concat(m_options.names("rounds"), " is ", m_options.rounds,
                            ", and the run to resume has ", state.round,
                            " compact rounds (allowed: ", state.round, " or more)"));
  }
  if (state.round >= 0) state.done = state.round >= m_options.rounds;
}

Fit Inversion::fit(const std::vector<double>& model) {
  Fit fit;
  m_field.apply(model, fit.field);
  const std::size_t stations = m_problem.stations.size() / 3;
  std::vector<double> residuals(fit.field.size(), 0.0);
  for (std::size_t k = 0; k < residuals.size(); ++k) {
    if (m_inverse[k] != 0.0) residuals[k] = m_inverse[k] * (m_problem.data[k] - fit.field[k]);
  }
  fit.coefficients = m_trend.coefficients(residuals);
  fit.trend = m_trend.values(fit.coefficients);
  fit.residuals.resize(residuals.size());
  fit.chi2.assign(m_problem.components.size(), 0.0);
  std::vector<double> count(m_problem.components.size(), 0.0);
  double all = 0.0;
  for (std::size_t k = 0; k < residuals.size(); ++k) {
    fit.residuals[k] = m_inverse[k] == 0.0
                           ? std::nan("")
                           : m_inverse[k] * (m_problem.data[k] - fit.field[k] - fit.trend[k]);
    if (m_inverse[k] == 0.0) continue;
    fit.chi2[k / stations] += square(fit.residuals[k]);
    all += square(fit.residuals[k]);
    count[k / stations] += 1.0;
    ++fit.values;
  }
  for (std::size_t c = 0; c < count.size(); ++c) {
    fit.chi2[c] /= std::max(count[c], 1.0);
    std::vector<double> without, field;
    for (std::size_t k = c * stations; k < (c + 1) * stations; ++k) {
      without.push_back(m_problem.data[k] - fit.trend[k]);
      field.push_back(fit.field[k]);
    }
    fit.correlation.push_back(correlation_of(without, field));
  }
  fit.chi2_all = chi2(all);
  return fit;
}

}  // namespace moho::gravity_inversion
