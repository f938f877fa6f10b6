// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/optimize/bidiagonal.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace moho::optimize {

namespace {

// A rotation (c, s) that takes (x, y) to (r, 0).
struct Rotation {
  double c = 1.0, s = 0.0, r = 0.0;
  Rotation(double x, double y) : r(std::hypot(x, y)) {
    if (!(r > 0.0)) return;
    c = x / r;
    s = y / r;
  }
  // Replaces (x, y) by their rotated values.
  void apply(double& x, double& y) const {
    const double before = x;
    x = c * before + s * y;
    y = c * y - s * before;
  }
};

// An upper bidiagonal matrix that rotations from both sides make diagonal. Those from the left
// rotate `first` as well, those from the right the rows of `right`.
class Decomposition {
 public:
  Decomposition(std::vector<double> diagonal, std::vector<double> above, std::vector<double> first)
      : m_d(std::move(diagonal)), m_e(std::move(above)), m_first(std::move(first)) {
    const std::size_t n = m_d.size();
    m_right.assign(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) m_right[i * n + i] = 1.0;
    for (std::size_t i = 0; i < n; ++i) {
      m_size = std::max({m_size, std::abs(m_d[i]), i + 1 < n ? std::abs(m_e[i]) : 0.0});
    }
  }
  // Implicit steps with the shift of the last two rows (Golub and Reinsch 1970; Golub and Van Loan
  // 1996, section 8.6).
  void make_diagonal() {
    std::size_t last = m_d.empty() ? 0 : m_d.size() - 1;
    for (std::size_t turns = 0; last > 0 && turns < 60 * m_d.size(); ++turns) {
      std::size_t begin = last;
      while (begin > 0 && !splits(begin - 1)) --begin;
      if (begin == last) {
        --last;
      } else if (!split_at_zero(begin, last)) {
        step(begin, last);
      }
    }
    for (std::size_t i = 0; i < m_d.size(); ++i) {
      if (m_d[i] >= 0.0) continue;
      m_d[i] = -m_d[i];
      for (std::size_t j = 0; j < m_d.size(); ++j) m_right[i * m_d.size() + j] *= -1.0;
    }
  }
  const std::vector<double>& values() const { return m_d; }
  const std::vector<double>& first() const { return m_first; }
  // Row k is the right singular vector of value k.
  const std::vector<double>& right() const { return m_right; }

 private:
  static constexpr double epsilon = 2.3e-16;

  // Removes an element above the diagonal that is within rounding.
  bool splits(std::size_t i) {
    if (std::abs(m_e[i]) > epsilon * (std::abs(m_d[i]) + std::abs(m_d[i + 1]))) return false;
    m_e[i] = 0.0;
    return true;
  }
  // Where the diagonal has a zero, rotates the element beside it away.
  bool split_at_zero(std::size_t begin, std::size_t last) {
    for (std::size_t i = begin; i < last; ++i) {
      if (std::abs(m_d[i]) > epsilon * m_size) continue;
      m_d[i] = 0.0;
      double moved = m_e[i];
      m_e[i] = 0.0;
      for (std::size_t j = i + 1; j <= last && moved != 0.0; ++j) {
        const Rotation rotation(m_d[j], moved);
        m_d[j] = rotation.r;
        rotation.apply(m_first[j], m_first[i]);
        if (j == last) break;
        moved = -rotation.s * m_e[j];
        m_e[j] *= rotation.c;
      }
      return true;
    }
    if (std::abs(m_d[last]) > epsilon * m_size) return false;
    m_d[last] = 0.0;
    double moved = m_e[last - 1];
    m_e[last - 1] = 0.0;
    for (std::size_t j = last; j-- > begin && moved != 0.0;) {
      const Rotation rotation(m_d[j], moved);
      m_d[j] = rotation.r;
      rotate_right(rotation, j, last);
      if (j == begin) break;
      moved = -rotation.s * m_e[j - 1];
      m_e[j - 1] *= rotation.c;
    }
    return true;
  }
  void step(std::size_t begin, std::size_t last) {
    const double before = last - 1 > begin ? m_e[last - 2] : 0.0;
    const double a = m_d[last - 1] * m_d[last - 1] + before * before;
    const double b = m_d[last - 1] * m_e[last - 1];
    const double c = m_d[last] * m_d[last] + m_e[last - 1] * m_e[last - 1];
    const double half = 0.5 * (a - c);
    const double root = half >= 0.0 ? std::hypot(half, b) : -std::hypot(half, b);
    const double shift = half + root != 0.0 ? c - b * (b / (half + root)) : c;
    double x = m_d[begin] * m_d[begin] - shift, y = m_d[begin] * m_e[begin];
    for (std::size_t j = begin; j < last; ++j) {
      const Rotation right(x, y);
      if (j > begin) m_e[j - 1] = right.r;
      right.apply(m_d[j], m_e[j]);
      const double below = right.s * m_d[j + 1];
      m_d[j + 1] *= right.c;
      rotate_right(right, j, j + 1);
      const Rotation left(m_d[j], below);
      m_d[j] = left.r;
      left.apply(m_e[j], m_d[j + 1]);
      left.apply(m_first[j], m_first[j + 1]);
      if (j + 1 == last) break;
      x = m_e[j];
      y = left.s * m_e[j + 1];
      m_e[j + 1] *= left.c;
    }
  }
  void rotate_right(const Rotation& rotation, std::size_t i, std::size_t j) {
    const std::size_t n = m_d.size();
    double *const p = m_right.data() + i * n, *const q = m_right.data() + j * n;
    for (std::size_t k = 0; k < n; ++k) {
      const double x = p[k];
      p[k] = rotation.c * x + rotation.s * q[k];
      q[k] = rotation.c * q[k] - rotation.s * x;
    }
  }

  std::vector<double> m_d, m_e, m_first, m_right;
  double m_size = 0.0;
};

}  // namespace

Bidiagonal::Bidiagonal(double start, std::vector<double> alpha, std::vector<double> beta)
    : m_start(start) {
  if (alpha.size() != beta.size()) {
    throw InputError(concat("Bidiagonal: ", alpha.size(), " alphas and ", beta.size(),
                            " betas (allowed: as many of both): give one of each for each step"));
  }
  const std::size_t k = alpha.size();
  if (k == 0) {
    m_outside = start * start;
    return;
  }
  // rotations from the left move the elements below the diagonal above it
  std::vector<double> diagonal(std::move(alpha)), above(k, 0.0), first(k + 1, 0.0);
  first[0] = start;
  for (std::size_t i = 0; i < k; ++i) {
    const Rotation rotation(diagonal[i], beta[i]);
    diagonal[i] = rotation.r;
    rotation.apply(first[i], first[i + 1]);
    if (i + 1 == k) break;
    above[i] = rotation.s * diagonal[i + 1];
    diagonal[i + 1] *= rotation.c;
  }
  m_outside = first[k] * first[k];
  first.pop_back();
  Decomposition decomposition(std::move(diagonal), std::move(above), std::move(first));
  decomposition.make_diagonal();
  const std::vector<double>& values = decomposition.values();
  std::vector<std::size_t> order(k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return values[i] > values[j]; });
  m_right.resize(k * k);
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t from = order[i];
    m_values.push_back(values[from]);
    m_first.push_back(decomposition.first()[from]);
    for (std::size_t j = 0; j < k; ++j) m_right[j * k + i] = decomposition.right()[from * k + j];
  }
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
