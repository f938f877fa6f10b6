// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Regularisation of gravity inversions: a quadratic form of cells and of links.

#include <moho/core/instance.hpp>
#include <moho/gravity_inversion/cells.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::gravity_inversion {

/// \brief R(m) = sum_j a_j (m_j - m0_j)^2 + sum over links b_ij (m_i - m_j)^2.
///
/// Computes with all threads of the host; results have the same bits for any number of threads.
class Regularisation {
 public:
  using Host = Instance<Kokkos::HostSpace>;  ///< where everything runs

  /// \param exec instance of the host
  /// \param cells number of unknowns
  /// \param links pairs of unknowns; they are copied
  Regularisation(const Host& exec, std::size_t cells, const std::vector<Link>& links);

  /// \brief Sets a_j = small c_j v_j, b_ij = smooth_axis (c_i + c_j) v_i v_j / 2, and the factors.
  /// \param weights c of each cell \param compact v of each cell; empty: 1
  /// \param small factor of the squares \param smooth factors of the links across x, y, z
  void set(const std::vector<double>& weights, const std::vector<double>& compact, double small,
           const std::array<double, 3>& smooth);

  /// \brief Returns R(m).
  /// \param model m \param reference m0; empty: 0
  /// \param gradient set to half of the derivative by m; null: not wanted
  double value(const std::vector<double>& model, const std::vector<double>& reference,
               std::vector<double>* gradient) const;

  /// \brief Returns the number of rows of the matrix A with R(m) = |A m - b|^2.
  ///
  /// Rows of cells are the first, and b is A m0 there; it is 0 in the rows of links.
  std::size_t rows() const { return m_cells.size() + m_links.size(); }
  /// Computes product = factor A vector. \param vector one value a cell \param product rows()
  void apply(double factor, const double* vector, double* product) const;
  /// Adds factor b. \param reference m0 \param product rows()
  void add_reference(double factor, const double* reference, double* product) const;
  /// Adds factor A^T product to `vector`. \param product rows() \param vector one value a cell
  void add_adjoint(double factor, const double* product, double* vector) const;

  /// Returns the inverse of the diagonal of A^T A, and 1 / c where that is 0.
  const std::vector<double>& inverse_diagonal() const { return m_inverse; }

 private:
  struct End {
    std::int64_t link;
    double sign;  // +1 at the first cell, -1 at the second
  };
  Host m_exec;
  std::vector<Link> m_ends;            // cells of each link
  std::vector<std::int64_t> m_offset;  // of the first element of m_at of each cell
  std::vector<End> m_at;               // links of each cell in ascending order
  std::vector<double> m_cells;         // a
  std::vector<double> m_links;         // b
  std::vector<double> m_inverse;
};

}  // namespace moho::gravity_inversion
