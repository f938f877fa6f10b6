// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/optimize/bounded_quadratic.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace moho::optimize {

namespace {

// Refuses vectors of different lengths, and bounds that are crossed or no numbers.
void check(const BoundedQuadratic& problem, std::size_t start) {
  const std::size_t count = problem.gradient.size();
  for (const auto& [name, size] : {std::pair("start", start),
                                   {"lower", problem.lower.size()},
                                   {"upper", problem.upper.size()}}) {
    if (size == count) continue;
    throw InputError(
        concat(name, ": it has ", size, " numbers (allowed: ", count, ", those of the gradient)"));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (problem.lower[i] <= problem.upper[i]) continue;
    throw InputError(concat("lower, upper: number ", i, " is ", problem.lower[i], " and ",
                            problem.upper[i], " (allowed: lower <= upper)"));
  }
}

using Vector = BoundedQuadratic::Vector;

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(Vector& to, double factor, const Vector& x) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * x[i];
}

class Minimiser {
 public:
  Minimiser(const BoundedQuadratic& problem, Vector start, const BoundedOptions& options)
      : m_problem(problem), m_options(options), m_x(std::move(start)), m_free(m_x.size()) {
    project(m_x);
    m_hx = product(m_x);
    m_value = value(m_x, m_hx);
  }

  BoundedResult run() {
    double gains = 0.0;
    for (int turn = 0; turn < 200 && m_products < m_options.products; ++turn) {
      const double before = m_value;
      descend();
      for (std::size_t i = 0; i < m_x.size(); ++i) m_free[i] = at_bound(i) ? 0.0 : 1.0;
      take(newton());
      const double gain = before - m_value;
      gains += gain;
      if (!(gain > m_options.tolerance * gains)) break;
    }
    return {std::move(m_x), m_value, m_products};
  }

 private:
  Vector product(const Vector& x) {
    ++m_products;
    return m_problem.product(x);
  }
  double value(const Vector& x, const Vector& hx) const {
    return dot(x, hx) - 2.0 * dot(x, m_problem.gradient);
  }
  void project(Vector& x) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::min(std::max(x[i], m_problem.lower[i]), m_problem.upper[i]);
    }
  }
  // Half of the negative gradient.
  Vector residual() const {
    Vector r(m_problem.gradient);
    add(r, -1.0, m_hx);
    return r;
  }
  bool at_bound(std::size_t i) const {
    return m_x[i] <= m_problem.lower[i] || m_x[i] >= m_problem.upper[i];
  }
  void mask(Vector& x) const {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= m_free[i];
  }
  // The change of free unknowns by conjugate gradients.
  Vector newton() {
    Vector d(m_x.size(), 0.0), r = residual(), z, p;
    mask(r);
    double before = 0.0, first = 0.0;
    for (int turn = 0; m_products < m_options.products; ++turn) {
      z = m_problem.precondition ? m_problem.precondition(r) : r;
      mask(z);
      const double now = dot(r, z);
      if (turn == 0) first = now;
      if (!(now > 1e-6 * first)) break;
      if (turn == 0) {
        p = z;
      } else {
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + now / before * p[i];
      }
      before = now;
      Vector hp = product(p);
      mask(hp);
      const double curvature = dot(p, hp);
      if (!(curvature > 0.0)) break;
      add(d, now / curvature, p);
      add(r, -now / curvature, hp);
    }
    return d;
  }
  // Takes the largest part of a step that decreases the function after the projection.
  void take(const Vector& d) {
    for (double part = 1.0; part > 1e-3; part *= 0.5) {
      Vector x(m_x);
      add(x, part, d);
      project(x);
      Vector hx = product(x);
      const double value = this->value(x, hx);
      if (!(value < m_value)) continue;
      m_x = std::move(x);
      m_hx = std::move(hx);
      m_value = value;
      return;
    }
  }
  // Steps along the projected gradient, until they hardly gain any more.
  void descend() {
    double max = 0.0;
    for (int turn = 0; turn < 10 && m_products < m_options.products; ++turn) {
      Vector r = residual();
      for (std::size_t i = 0; i < m_x.size(); ++i) {
        const bool below = m_x[i] <= m_problem.lower[i] && r[i] <= 0.0;
        const bool above = m_x[i] >= m_problem.upper[i] && r[i] >= 0.0;
        if (below || above) r[i] = 0.0;
      }
      const double square = dot(r, r);
      if (!(square > 0.0)) return;
      Vector p(m_x);
      add(p, square / dot(r, product(r)), r);
      project(p);
      add(p, -1.0, m_x);
      const double before = m_value;
      along(p);
      max = std::max(max, before - m_value);
      if (!(before - m_value > 0.25 * max)) return;
    }
  }
  // Moves to the minimum along p, at most by p.
  void along(const Vector& p) {
    const double slope = dot(p, residual());
    if (!(slope > 0.0)) return;
    const Vector hp = product(p);
    const double part = std::min(1.0, slope / dot(p, hp));
    add(m_x, part, p);
    project(m_x);
    add(m_hx, part, hp);
    m_value = value(m_x, m_hx);
  }

  const BoundedQuadratic& m_problem;
  BoundedOptions m_options;
  Vector m_x, m_hx;
  Vector m_free;  // 1 for unknowns that may move, else 0
  double m_value = 0.0;
  int m_products = 0;
};

}  // namespace

BoundedResult minimise_within_bounds(const BoundedQuadratic& problem, std::vector<double> start,
                                     const BoundedOptions& options) {
  check(problem, start.size());
  return Minimiser(problem, std::move(start), options).run();
}

}  // namespace moho::optimize
