// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Damped least squares for every damping from one lower bidiagonal matrix.
///
/// Golub-Kahan bidiagonalisation of A, started from b, gives A V = U B with orthonormal columns of
/// U and V and b = beta_1 u_1. With x = V c the problem min |A x - b|^2 + lambda^2 |x|^2 is that of
/// B, whose singular value decomposition solves it for any lambda. Source: Golub and Kahan (1965);
/// Paige and Saunders (1982), section 5; Hansen (1998), chapter 6.

#include <cstddef>
#include <vector>

namespace moho::optimize {

/// The lower bidiagonal matrix B of a bidiagonalisation, and its singular value decomposition.
class Bidiagonal {
 public:
  /// Decomposes B.
  /// \param start |b|, the first beta
  /// \param alpha diagonal of B, one for each step
  /// \param beta subdiagonal of B, one for each step: row k + 1 of column k
  /// \throws InputError if alpha and beta differ in length
  Bidiagonal(double start, std::vector<double> alpha, std::vector<double> beta);

  /// Returns the number of steps, the columns of B.
  std::size_t steps() const { return m_values.size(); }
  /// Returns |b|.
  double start() const { return m_start; }
  /// Returns the singular values, in descending order.
  const std::vector<double>& singular_values() const { return m_values; }
  /// Returns element i of the right singular vector of singular value k.
  double right(std::size_t i, std::size_t k) const { return m_right[i * steps() + k]; }
  /// Returns |A x - b|^2 of the solution for a damping.
  double misfit(double lambda) const;
  /// Returns |x|^2 of the solution for a damping.
  double norm(double lambda) const;
  /// Returns the degrees of freedom, the sum of q^2 / (q^2 + lambda^2) over singular values q.
  double degrees_of_freedom(double lambda) const;
  /// Returns the coefficients c of the solution x = V c for a damping above 0.
  std::vector<double> coefficients(double lambda) const;
  /// Returns the largest damping from `lowest` to `highest` whose misfit is at most `limit`;
  /// `lowest` if there is none.
  double largest_damping(double limit, double lowest, double highest) const;

 private:
  double m_start = 0.0;
  std::vector<double> m_values;  // singular values
  std::vector<double> m_right;   // steps x steps, V of B = U q V^T
  std::vector<double> m_first;   // beta_1 times the first row of U
  double m_outside = 0.0;        // |b|^2 outside of the range of A V
};

}  // namespace moho::optimize
