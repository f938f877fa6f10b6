// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Real solid harmonics with Schmidt's normalisation, their tables and derivatives.
///
/// y_nm are homogeneous polynomials of degree n. Their normalisation is that of
///
///     sum over m of y_nm(a) y_nm(b) = |a|^n |b|^n P_n(cos of the angle between a and b),
///     1/|x - s| = sum over n, m of y_nm(s) y_nm(x) / |x|^(2n + 1)       |s| < |x|
///
/// so that rotations are orthogonal matrices. A node's expansion has (p + 1)^2 numbers: those of
/// degree n begin at n^2, first cos(m phi) for m = 0 to n, then sin(m phi) for m = 1 to n.
///
/// Recursions and translations: van Gelderen 1998 and Dehnen 2014, doi 10.1186/s40668-014-0001-7,
/// in this normalisation (docs/theory/gravity_fmm.md).

#include <moho/core/copy.hpp>
#include <moho/gravity/detail/fmm_team.hpp>

#include <cstdint>
#include <vector>

namespace moho::gravity::detail {

/// Largest order of an expansion.
inline constexpr int fmm_max_order = 28;

/// Returns the numbers of an expansion.
KOKKOS_INLINE_FUNCTION constexpr int fmm_count(int order) { return (order + 1) * (order + 1); }
/// Returns the place of a cosine in an expansion.
KOKKOS_INLINE_FUNCTION constexpr int cos_at(int n, int m) { return n * n + m; }
/// Returns the place of a sine, m > 0, in an expansion.
KOKKOS_INLINE_FUNCTION constexpr int sin_at(int n, int m) { return n * n + n + m; }

/// Degree, order and kind of one number of an expansion.
struct HarmonicRow {
  short degree, order, sine, unused;
  std::int32_t exchange;  ///< first element of this row of the exchange of x and z
  std::int32_t shift;     ///< first element of this row of the shifts along z
};

/// Returns the first order m of the columns of a row of the exchange.
KOKKOS_INLINE_FUNCTION constexpr int first_exchanged(const HarmonicRow& row) {
  const int parity = (row.degree + row.order + row.sine) & 1;
  return row.sine != 0 && parity == 0 ? 2 : parity;
}

/// Powers of x and y of a row of monomials x^i y^j z^k, k = 0 to order - i - j.
struct PowerRow {
  short i, j;
  std::int32_t begin;  ///< place of k = 0
};

/// Lanes of a slice of a sparse matrix: threads that read adjacent elements.
inline constexpr int fmm_slice = 32;

/// \brief A sparse matrix in slices of rows, for devices.
///
/// Element k of the row of a lane is at begin + k * fmm_slice + lane; shorter rows end with zeros.
struct SlicedRows {
  std::vector<std::int32_t> row;    ///< row of each lane of all slices; -1: none
  std::vector<std::int32_t> begin;  ///< first element of each slice, and the end
  std::vector<std::int32_t> column;
  std::vector<double> value;
};

/// Returns the slices of a matrix in compressed rows, the longest rows first.
SlicedRows slice_rows(const std::vector<std::int32_t>& begin,
                      const std::vector<std::int32_t>& column, const std::vector<double>& value);

/// Addresses of a matrix in slices.
struct SlicedAddresses {
  std::int32_t lanes;  ///< of all slices
  const std::int32_t *row, *begin, *column;
  const double* value;
};

/// A matrix in slices in a memory space.
template <class Memory>
struct SlicedRowsIn {
  Kokkos::View<std::int32_t*, Memory> row, begin, column;
  Kokkos::View<double*, Memory> value;

  SlicedRowsIn() = default;
  SlicedRowsIn(const Instance<Memory>& exec, const SlicedRows& rows) {
    const char* const label = "moho::gravity::fmm_tables";
    row = upload(exec, rows.row, label);
    begin = upload(exec, rows.begin, label);
    column = upload(exec, rows.column, label);
    value = upload(exec, rows.value, label);
  }
  SlicedAddresses addresses() const {
    return {static_cast<std::int32_t>(row.extent(0)), row.data(), begin.data(), column.data(),
            value.data()};
  }
};

/// Calls sink(row, value) for the elements of the product of a matrix and a vector.
template <class Team, class Sink>
KOKKOS_INLINE_FUNCTION void multiply_slices(const Team& team, const SlicedAddresses& matrix,
                                            const double* vector, const Sink& sink) {
  for (std::int32_t item = team.rank(); item < matrix.lanes; item += team.size()) {
    const std::int32_t slice = item / fmm_slice, end = matrix.begin[slice + 1];
    double sum = 0.0;
    for (std::int32_t e = matrix.begin[slice] + item % fmm_slice; e < end; e += fmm_slice) {
      sum = multiply_add(matrix.value[e], vector[matrix.column[e]], sum);
    }
    if (matrix.row[item] >= 0) sink(matrix.row[item], sum);
  }
}

/// Constants on the host.
struct FmmTables {
  int order = 0;
  std::vector<HarmonicRow> rows;  ///< of each number of an expansion
  std::vector<PowerRow> powers;   ///< of the monomials
  /// Exchange of x and z: rows of the elements that are not zero. Columns of a row have every
  /// second order m and the row's kind.
  std::vector<double> exchange;
  std::vector<double> inverse;  ///< far pairs: sqrt(binomial(n+k, n+m) binomial(n+k, n-m))
  std::vector<double> shift;    ///< shifts: sqrt(binomial(n+m, k+m) binomial(n-m, k-m)), k <= n
  std::vector<double> root;     ///< square roots of 0 to 2 order + 1
  std::vector<double> upward;   ///< (2n-1) / sqrt(n^2-m^2) and the other factor, by columns of m
  /// \name Harmonics as polynomials, by rows (numbers of an expansion) and by columns (monomials)
  /// @{
  std::vector<std::int32_t> row_begin, row_monomial, column_begin, column_row;
  std::vector<double> row_value, column_value;
  /// @}

  /// Returns the bytes of all lists.
  double bytes() const {
    const auto of = [](const auto&... lists) {
      return (0.0 + ... + static_cast<double>(lists.size() * sizeof(lists[0])));
    };
    return of(rows, powers, exchange, inverse, shift, root, upward, row_begin, row_monomial,
              column_begin, column_row, row_value, column_value);
  }
};

/// Returns the tables of an order, which are computed once.
const FmmTables& fmm_tables(int order);

/// \brief Returns tables in the arrangement of devices.
///
/// Elements of rows that adjacent threads process are adjacent. Exchange: element k of the row of a
/// number of degree n is (2n + 1) k behind its first one. Shifts: element n of all pairs of degree
/// k and order m, in the order of k (k + 1) / 2 + m, which is `shift` of their rows.
FmmTables arranged_for_devices(const FmmTables& tables);

/// Returns the number of monomials x^i y^j z^k with i + j + k <= order.
KOKKOS_INLINE_FUNCTION constexpr int monomial_count(int order) {
  return (order + 1) * (order + 2) * (order + 3) / 6;
}

/// Addresses of the tables in a memory space.
struct FmmConstants {
  int order;
  const HarmonicRow* rows;
  const PowerRow* powers;
  const double *exchange, *inverse, *shift, *root, *upward;
  const std::int32_t *row_begin, *row_monomial, *column_begin, *column_row;
  const double *row_value, *column_value;
  SlicedAddresses sliced_rows, sliced_columns;  ///< the same matrix, on devices
};

/// Tables in a memory space.
template <class Memory>
struct FmmTablesIn {
  Kokkos::View<HarmonicRow*, Memory> rows;
  Kokkos::View<PowerRow*, Memory> powers;
  Kokkos::View<double*, Memory> exchange, inverse, shift, root, upward, row_value, column_value;
  Kokkos::View<std::int32_t*, Memory> row_begin, row_monomial, column_begin, column_row;
  SlicedRowsIn<Memory> sliced_rows, sliced_columns;
  FmmConstants constants{};

  FmmTablesIn() = default;
  FmmTablesIn(const Instance<Memory>& exec, const FmmTables& of_hosts) {
    constexpr bool on_host = is_host_memory<Memory>;
    const FmmTables of_devices = on_host ? FmmTables() : arranged_for_devices(of_hosts);
    const FmmTables& tables = on_host ? of_hosts : of_devices;
    const char* const label = "moho::gravity::fmm_tables";
    rows = upload(exec, tables.rows, label);
    powers = upload(exec, tables.powers, label);
    exchange = upload(exec, tables.exchange, label);
    inverse = upload(exec, tables.inverse, label);
    shift = upload(exec, tables.shift, label);
    root = upload(exec, tables.root, label);
    upward = upload(exec, tables.upward, label);
    row_begin = upload(exec, tables.row_begin, label);
    row_monomial = upload(exec, tables.row_monomial, label);
    row_value = upload(exec, tables.row_value, label);
    column_begin = upload(exec, tables.column_begin, label);
    column_row = upload(exec, tables.column_row, label);
    column_value = upload(exec, tables.column_value, label);
    constants.order = tables.order;
    constants.rows = rows.data();
    constants.powers = powers.data();
    constants.exchange = exchange.data();
    constants.inverse = inverse.data();
    constants.shift = shift.data();
    constants.root = root.data();
    constants.upward = upward.data();
    constants.row_begin = row_begin.data();
    constants.row_monomial = row_monomial.data();
    constants.row_value = row_value.data();
    constants.column_begin = column_begin.data();
    constants.column_row = column_row.data();
    constants.column_value = column_value.data();
    if constexpr (!on_host) {
      sliced_rows = {exec, slice_rows(tables.row_begin, tables.row_monomial, tables.row_value)};
      sliced_columns = {exec,
                        slice_rows(tables.column_begin, tables.column_row, tables.column_value)};
      constants.sliced_rows = sliced_rows.addresses();
      constants.sliced_columns = sliced_columns.addresses();
    }
  }
};

/// \brief Calls sink(column, cosine, sine) for the harmonics at a point, by columns.
///
/// Columns are those of m = 0 to order, each with n = m to order. The sine of m = 0 is zero.
/// \param order largest degree \param upward table of factors of the order `of_table`
template <class V, class Sink>
KOKKOS_FORCEINLINE_FUNCTION void regular_harmonics(int order, const double* upward, int of_table,
                                                   const double* root, V x, V y, V z,
                                                   const Sink& sink) {
  const V r2 = multiply_add(x, x, multiply_add(y, y, z * z));
  V first_cos(1.0), first_sin(0.0);
  int column = 0;
  for (int m = 0; m <= order; ++m) {
    if (m > 0) {
      const V factor(m == 1 ? 1.0 : root[2 * m - 1] / root[2 * m]);
      const V next = factor * (x * first_cos - y * first_sin);
      first_sin = factor * (x * first_sin + y * first_cos);
      first_cos = next;
    }
    V c = first_cos, s = first_sin, c1(0.0), s1(0.0);
    const double* factors = upward + (m * (2 * of_table + 3 - m));
    for (int n = m; n <= order; ++n, ++column) {
      if (n > m) {
        const V a = V(factors[2 * (n - m)]) * z, b = V(factors[2 * (n - m) + 1]) * r2;
        const V c2 = a * c - b * c1, s2 = a * s - b * s1;
        c1 = c;
        s1 = s;
        c = c2;
        s = s2;
      }
      sink(column, n, m, c, s);
    }
  }
}

/// \name Factors of a derivative along x or y, from (n, m) to (n - 1, m + 1) and (n - 1, m - 1)
/// @{
KOKKOS_FORCEINLINE_FUNCTION double to_higher(const double* root, int n, int m) {
  return (m == 0 ? 0.70710678118654752440 : 0.5) * (root[n - m] * root[n - m > 0 ? n - m - 1 : 0]);
}
KOKKOS_FORCEINLINE_FUNCTION double to_lower(const double* root, int n, int m) {
  return (m == 1 ? 0.70710678118654752440 : 0.5) * (root[n + m] * root[n + m - 1]);
}
/// @}

/// Numbers of an expansion by degree.
struct NumbersByDegree {
  const double* data;
  KOKKOS_FORCEINLINE_FUNCTION double operator()(int n, int m, bool sine) const {
    return data[sine ? sin_at(n, m) : cos_at(n, m)];
  }
};

/// Returns the column of (n, m) in the order of regular_harmonics().
KOKKOS_FORCEINLINE_FUNCTION int column_of(int order, int n, int m) {
  return m * (2 * order + 3 - m) / 2 + (n - m);
}

/// Numbers of an expansion by columns, of which each has a cosine and a sine.
struct NumbersByColumn {
  const double* data;
  int order;   ///< of the columns
  int stride;  ///< from one number to the next
  KOKKOS_FORCEINLINE_FUNCTION double operator()(int n, int m, bool sine) const {
    return data[(2 * column_of(order, n, m) + (sine ? 1 : 0)) * stride];
  }
};

/// \brief Returns one number of the derivative of an expansion of harmonics along an axis.
///
/// The expansion is sum f_nm y_nm(x). The number (n, m) follows from numbers of degree n + 1.
template <class Numbers>
KOKKOS_INLINE_FUNCTION double derivative_of(const double* root, int axis, const Numbers& f, int n,
                                            int m, bool sine) {
  const int up = n + 1;
  if (axis == 2) return root[up + m] * root[up - m] * f(up, m, sine);
  const double low = to_lower(root, up, m + 1);
  if (axis == 0) {
    const double value = low * f(up, m + 1, sine);
    return m > (sine ? 1 : 0) ? value - to_higher(root, up, m - 1) * f(up, m - 1, sine) : value;
  }
  if (sine) return -to_higher(root, up, m - 1) * f(up, m - 1, false) - low * f(up, m + 1, false);
  const double value = low * f(up, m + 1, true);
  return m > 1 ? value + to_higher(root, up, m - 1) * f(up, m - 1, true) : value;
}

/// \brief Returns one number of the transpose of derivative_of().
///
/// The number (n, m) follows from numbers of degree n - 1.
template <class Numbers>
KOKKOS_INLINE_FUNCTION double derivative_transposed(const double* root, int axis, const Numbers& g,
                                                    int n, int m, bool sine) {
  const int low = n - 1;
  if (low < 0) return 0.0;
  if (axis == 2) return m > low ? 0.0 : root[n + m] * root[n - m] * g(low, m, sine);
  double value = 0.0;
  if (axis == 0) {
    if (m - 1 >= (sine ? 1 : 0)) value += to_lower(root, n, m) * g(low, m - 1, sine);
    if (m + 1 <= low) value -= to_higher(root, n, m) * g(low, m + 1, sine);
    return value;
  }
  if (sine) {
    value += to_lower(root, n, m) * g(low, m - 1, false);
    if (m + 1 <= low) value += to_higher(root, n, m) * g(low, m + 1, false);
    return value;
  }
  if (m + 1 <= low) value -= to_higher(root, n, m) * g(low, m + 1, true);
  if (m - 1 >= 1) value -= to_lower(root, n, m) * g(low, m - 1, true);
  return value;
}

}  // namespace moho::gravity::detail
