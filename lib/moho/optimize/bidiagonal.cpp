// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/optimize/bidiagonal.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace moho::optimize {

namespace {

// Columns of a matrix, each contiguous.
struct Columns {
  std::size_t rows, count;
  std::vector<double> values;
  double* column(std::size_t k) { return values.data() + k * rows; }
};

// Rotates two columns.
void rotate(double* p, double* q, std::size_t n, double c, double s) {
  for (std::size_t i = 0; i < n; ++i) {
    const double a = p[i], b = q[i];
    p[i] = c * a - s * b;
    q[i] = s * a + c * b;
  }
}

// Makes the columns of `a` orthogonal by Jacobi rotations from the right, gathered in `v`
// (Hestenes 1958).
void orthogonalise(Columns& a, Columns& v) {
  constexpr int most_sweeps = 60;
  constexpr double small = 1e-15;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = false;
    for (std::size_t p = 0; p + 1 < a.count; ++p) {
      for (std::size_t q = p + 1; q < a.count; ++q) {
        double *x = a.column(p), *y = a.column(q);
        double xx = 0.0, yy = 0.0, xy = 0.0;
        for (std::size_t i = 0; i < a.rows; ++i) {
          xx += x[i] * x[i];
          yy += y[i] * y[i];
          xy += x[i] * y[i];
        }
        if (std::abs(xy) <= small * std::sqrt(xx * yy) || xy == 0.0) continue;
        rotated = true;
        const double zeta = (yy - xx) / (2.0 * xy);
        const double t = (zeta >= 0.0 ? 1.0 : -1.0) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const double c = 1.0 / std::sqrt(1.0 + t * t), s = c * t;
        rotate(x, y, a.rows, c, s);
        rotate(v.column(p), v.column(q), v.rows, c, s);
      }
    }
    if (!rotated) return;
  }
}

}  // namespace

Bidiagonal::Bidiagonal(double start, std::vector<double> alpha, std::vector<double> beta)
    : m_start(start) {
  if (alpha.size() != beta.size()) {
    throw InputError(concat("Bidiagonal: ", alpha.size(), " alphas and ", beta.size(),
                            " betas (allowed: as many of both): give one of each for each step"));
  }
  const std::size_t k = alpha.size();
  Columns a{k + 1, k, std::vector<double>((k + 1) * k, 0.0)};
  Columns v{k, k, std::vector<double>(k * k, 0.0)};
  for (std::size_t i = 0; i < k; ++i) {
    a.column(i)[i] = alpha[i];
    a.column(i)[i + 1] = beta[i];
    v.column(i)[i] = 1.0;
  }
  orthogonalise(a, v);
  std::vector<double> length(k);
  for (std::size_t i = 0; i < k; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j <= k; ++j) sum += a.column(i)[j] * a.column(i)[j];
    length[i] = std::sqrt(sum);
  }
  std::vector<std::size_t> order(k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return length[i] > length[j]; });
  m_right.resize(k * k);
  double inside = 0.0;
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t from = order[i];
    m_values.push_back(length[from]);
    m_first.push_back(length[from] > 0.0 ? start * a.column(from)[0] / length[from] : 0.0);
    inside += m_first.back() * m_first.back();
    for (std::size_t j = 0; j < k; ++j) m_right[j * k + i] = v.column(from)[j];
  }
  m_outside = std::max(0.0, start * start - inside);
}

double Bidiagonal::misfit(double lambda) const {
  double sum = m_outside;
  for (std::size_t k = 0; k < steps(); ++k) {
    const double q = m_values[k] * m_values[k];
    const double left = q + lambda * lambda > 0.0 ? lambda * lambda / (q + lambda * lambda) : 1.0;
    sum += left * left * m_first[k] * m_first[k];
  }
  return sum;
}

double Bidiagonal::norm(double lambda) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < steps(); ++k) {
    const double q = m_values[k], square = q * q + lambda * lambda;
    if (square > 0.0) sum += std::pow(q / square * m_first[k], 2);
  }
  return sum;
}

double Bidiagonal::degrees_of_freedom(double lambda) const {
  double sum = 0.0;
  for (const double q : m_values) {
    if (q > 0.0) sum += q * q / (q * q + lambda * lambda);
  }
  return sum;
}

std::vector<double> Bidiagonal::coefficients(double lambda) const {
  std::vector<double> result(steps(), 0.0);
  for (std::size_t k = 0; k < steps(); ++k) {
    const double q = m_values[k], square = q * q + lambda * lambda;
    if (!(square > 0.0)) continue;
    const double factor = q / square * m_first[k];
    for (std::size_t i = 0; i < steps(); ++i) result[i] += right(i, k) * factor;
  }
  return result;
}

double Bidiagonal::largest_damping(double limit, double lowest, double highest) const {
  if (misfit(highest) <= limit) return highest;
  if (misfit(lowest) > limit) return lowest;
  double low = std::log(lowest), high = std::log(highest);
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (misfit(std::exp(middle)) <= limit ? low : high) = middle;
  }
  return std::exp(low);
}

}  // namespace moho::optimize
