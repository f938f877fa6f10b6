// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The derivative of times as a sparse matrix and its transpose, and their products.

#include <moho/core/copy.hpp>
#include <moho/core/launch_sums.hpp>
#include <moho/tomography/prior.hpp>
#include <moho/tomography/sparse_rows.hpp>

#include <cstdint>

namespace moho::tomography {

namespace detail {

/// y = scale (G x) or y += G x, a row each.
struct RowProduct {
  const std::int64_t* first;
  const int* column;
  const double *value, *x, *scale;  ///< scale of each row; null: 1
  double* y;
  bool add;
  KOKKOS_INLINE_FUNCTION void range(std::int64_t i, std::int64_t& begin, std::int64_t& end) const {
    begin = first[i];
    end = first[i + 1];
  }
  KOKKOS_INLINE_FUNCTION double term(std::int64_t, std::int64_t k) const {
    return value[k] * x[column[k]];
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, double sum) const {
    const double own = scale == nullptr ? sum : scale[i] * sum;
    y[i] = add ? y[i] + own : own;
  }
};

/// Sums of pieces of rows: rows of very different lengths take a device as long as their longest.
struct PieceProduct {
  RowProduct rows;
  const std::int64_t* piece;  ///< first piece of each row
  const int* row;             ///< of each piece
  std::int64_t size;          ///< entries of a piece
  double* sums;               ///< of each piece
  KOKKOS_INLINE_FUNCTION void range(std::int64_t i, std::int64_t& begin, std::int64_t& end) const {
    const int r = row[i];
    begin = rows.first[r] + (i - piece[r]) * size;
    end = begin + size < rows.first[r + 1] ? begin + size : rows.first[r + 1];
  }
  KOKKOS_INLINE_FUNCTION double term(std::int64_t, std::int64_t k) const { return rows.term(0, k); }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, double sum) const { sums[i] = sum; }
};

/// Rows from the sums of their pieces.
struct JoinPieces {
  PieceProduct pieces;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    double sum = 0.0;
    for (std::int64_t k = pieces.piece[i]; k < pieces.piece[i + 1]; ++k) sum += pieces.sums[k];
    pieces.rows.store(i, sum);
  }
};

/// Counts the pieces of rows, then numbers them; an element more than rows.
struct CountPieces {
  const std::int64_t* first;
  std::int64_t rows, size;
  std::int64_t* piece;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& sum,
                                         const bool final) const {
    if (final) piece[i] = sum;
    if (i < rows) sum += (first[i + 1] - first[i] + size - 1) / size;
  }
};

/// Sets the row of each piece.
struct NumberPieces {
  const std::int64_t* piece;
  int* row;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    for (std::int64_t k = piece[i]; k < piece[i + 1]; ++k) row[k] = static_cast<int>(i);
  }
};

/// Compressed rows with what their product with a vector needs.
template <class Memory>
class RowsToMultiply {
 public:
  static constexpr std::int64_t size = 1024;  ///< entries of a piece, on devices

  RowsToMultiply() = default;
  RowsToMultiply(const Instance<Memory>& exec, const CompressedRows<Memory>& rows) : m_rows(rows) {
    if constexpr (!is_host_memory<Memory>) {
      const std::int64_t count = rows.rows();
      m_piece = allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::tomography::first_piece",
                                                              count + 1);
      m_pieces = scan<std::int64_t>("moho::tomography::count_pieces", exec, count + 1,
                                    CountPieces{rows.first.data(), count, size, m_piece.data()});
      m_row =
          allocate<Kokkos::View<int*, Memory>>(exec, "moho::tomography::row_of_piece", m_pieces);
      m_sums = allocate<Vector<Memory>>(exec, "moho::tomography::sums_of_pieces", m_pieces);
      launch("moho::tomography::number_pieces", exec, count,
             NumberPieces{m_piece.data(), m_row.data()});
    }
  }
  const CompressedRows<Memory>& rows() const { return m_rows; }
  /// y = scale (G x), or y += G x.
  void multiply(const char* label, const Instance<Memory>& exec, const double* x,
                const double* scale, double* y, bool add) const {
    const RowProduct body{
        m_rows.first.data(), m_rows.column.data(), m_rows.value.data(), x, scale, y, add};
    if constexpr (is_host_memory<Memory>) {
      launch_sums(label, exec, m_rows.rows(), body);
    } else {
      const PieceProduct pieces{body, m_piece.data(), m_row.data(), size, m_sums.data()};
      launch_sums(label, exec, m_pieces, pieces);
      launch("moho::tomography::join_pieces", exec, m_rows.rows(), JoinPieces{pieces});
    }
  }

 private:
  CompressedRows<Memory> m_rows;
  Kokkos::View<std::int64_t*, Memory> m_piece;
  Kokkos::View<int*, Memory> m_row;
  Vector<Memory> m_sums;
  std::int64_t m_pieces = 0;
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
  /// Copies rows to the memory of an instance, transposes them there, and waits for it.
  RayJacobian(const Instance<Memory>& exec, const SparseRows& rows)
      : RayJacobian(exec, upload_rows(exec, rows)) {}
  /// Refers to rows in the memory of an instance, and transposes them there.
  RayJacobian(const Instance<Memory>& exec, const CompressedRows<Memory>& rows)
      : m_by_rows(exec, rows), m_by_columns(exec, tomography::transpose(exec, rows)) {}
  /// Returns the number of rows, the picks.
  std::int64_t rows() const { return m_by_rows.rows().rows(); }
  /// Returns the number of columns, the unknowns.
  std::int64_t columns() const { return m_by_rows.rows().columns; }
  /// Returns the number of entries.
  std::int64_t entries() const { return m_by_rows.rows().entries(); }
  /// Returns the bytes of both copies.
  std::size_t bytes() const { return m_by_rows.rows().bytes() + m_by_columns.rows().bytes(); }
  /// Sets y = G x, each element times that of `scale` unless that is empty.
  void product(const Instance<Memory>& exec, const Vector<Memory>& x, const Vector<Memory>& y,
               const Vector<Memory>& scale = {}) const {
    m_by_rows.multiply("moho::tomography::product", exec, x.data(), scale.data(), y.data(), false);
  }
  /// Adds G x to y.
  void add_product(const Instance<Memory>& exec, const Vector<Memory>& x,
                   const Vector<Memory>& y) const {
    m_by_rows.multiply("moho::tomography::product", exec, x.data(), nullptr, y.data(), true);
  }
  /// Sets x = G^T y. Elements of x beyond the columns do not change.
  void product_transposed(const Instance<Memory>& exec, const Vector<Memory>& y,
                          const Vector<Memory>& x) const {
    m_by_columns.multiply("moho::tomography::product_transposed", exec, y.data(), nullptr, x.data(),
                          false);
  }
  /// Adds G^T y to x.
  void add_product_transposed(const Instance<Memory>& exec, const Vector<Memory>& y,
                              const Vector<Memory>& x) const {
    m_by_columns.multiply("moho::tomography::product_transposed", exec, y.data(), nullptr, x.data(),
                          true);
  }

 private:
  detail::RowsToMultiply<Memory> m_by_rows, m_by_columns;
};

}  // namespace moho::tomography
