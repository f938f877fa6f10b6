// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The derivative of times as a sparse matrix and its transpose, and their products.

#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/core/launch.hpp>
#include <moho/tomography/prior.hpp>

#include <cstdint>
#include <vector>

namespace moho::tomography {

/// A sparse matrix in compressed rows, on the host. A column may occur twice in a row: the values
/// are added.
struct SparseRows {
  std::int64_t columns = 0;            ///< number of columns
  std::vector<std::int64_t> first{0};  ///< offsets into column and value, one more than rows
  std::vector<int> column;             ///< column of each entry
  std::vector<double> value;           ///< value of each entry
  /// Returns the number of rows.
  std::int64_t rows() const { return static_cast<std::int64_t>(first.size()) - 1; }
};

/// Returns the transpose; the columns of its rows ascend.
SparseRows transpose(const SparseRows& matrix);

namespace detail {
/// y = G x, a row each.
struct RowProduct {
  const std::int64_t* first;
  const int* column;
  const double *value, *x;
  double* y;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    double sum = 0.0;
    for (std::int64_t k = first[row]; k < first[row + 1]; ++k) sum += value[k] * x[column[k]];
    y[row] = sum;
  }
};
}  // namespace detail

/// \brief A sparse matrix in a memory space, stored by rows and by columns.
///
/// Both products are sums along rows of one of the two, without atomics, so that their bits do not
/// depend on the number of threads.
template <class Memory>
class RayJacobian {
 public:
  /// Makes an empty matrix.
  RayJacobian() = default;
  /// Copies rows to the memory of an instance, and waits for it.
  RayJacobian(const Instance<Memory>& exec, const SparseRows& rows)
      : m_rows(rows.rows()),
        m_columns(rows.columns),
        m_by_rows(exec, rows),
        m_by_columns(exec, tomography::transpose(rows)) {}
  /// Returns the number of rows, the picks.
  std::int64_t rows() const { return m_rows; }
  /// Returns the number of columns, the unknowns.
  std::int64_t columns() const { return m_columns; }
  /// Returns the number of entries.
  std::int64_t entries() const { return static_cast<std::int64_t>(m_by_rows.value.extent(0)); }
  /// Returns the bytes of both copies.
  std::size_t bytes() const {
    const auto of = [](const Stored& s) {
      return s.first.span() * 8 + s.column.span() * 4 + s.value.span() * 8;
    };
    return of(m_by_rows) + of(m_by_columns);
  }
  /// Sets y = G x.
  void product(const Instance<Memory>& exec, const Vector<Memory>& x,
               const Vector<Memory>& y) const {
    m_by_rows.multiply("moho::tomography::product", exec, m_rows, x, y);
  }
  /// Sets x = G^T y.
  void product_transposed(const Instance<Memory>& exec, const Vector<Memory>& y,
                          const Vector<Memory>& x) const {
    m_by_columns.multiply("moho::tomography::product_transposed", exec, m_columns, y, x);
  }

 private:
  struct Stored {
    Stored() = default;
    Stored(const Instance<Memory>& exec, const SparseRows& rows)
        : first(upload(exec, rows.first, "moho::tomography::first")),
          column(upload(exec, rows.column, "moho::tomography::column")),
          value(upload(exec, rows.value, "moho::tomography::value")) {}
    void multiply(const char* label, const Instance<Memory>& exec, std::int64_t count,
                  const Vector<Memory>& x, const Vector<Memory>& y) const {
      launch(label, exec, count,
             detail::RowProduct{first.data(), column.data(), value.data(), x.data(), y.data()});
    }
    Kokkos::View<std::int64_t*, Memory> first;
    Kokkos::View<int*, Memory> column;
    Vector<Memory> value;
  };

  std::int64_t m_rows = 0, m_columns = 0;
  Stored m_by_rows, m_by_columns;
};

}  // namespace moho::tomography
