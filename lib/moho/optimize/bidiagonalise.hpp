// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Golub-Kahan bidiagonalisation of a linear operator, with all vectors kept.

#include <moho/core/copy.hpp>
#include <moho/core/instance.hpp>
#include <moho/core/launch.hpp>
#include <moho/core/launch_sums.hpp>
#include <moho/optimize/bidiagonal.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace moho::optimize {

/// A vector of unknowns or data in a memory space.
template <class Memory>
using DoubleVector = Kokkos::View<double*, Memory>;

/// Options of bidiagonalise().
struct BidiagonaliseOptions {
  int steps = 100;          ///< largest number of steps, 1 or more
  double tolerance = 1e-6;  ///< ends where alpha beta is below this part of its first value
  /// Called after every tenth step with B; true: it ends. Empty: the other two decide.
  std::function<bool(const Bidiagonal&)> enough = {};
};

/// The result of bidiagonalise(): B, and the vectors V that make solutions of coefficients.
template <class Memory>
struct Krylov {
  Bidiagonal matrix{0.0, {}, {}};                             ///< B and its decomposition
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> right;  ///< steps x unknowns, rows of V^T
};

namespace detail {

template <class Memory>
using Rows = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;

/// Partial sums of the products of the first rows of a matrix with a vector. The parts do not
/// depend on the number of threads.
struct PartialProducts {
  const double *rows, *vector;
  std::int64_t length, parts, size;  ///< size: elements of a part
  double* sums;                      ///< parts of row 0, of row 1, ...
  KOKKOS_INLINE_FUNCTION void range(std::int64_t i, std::int64_t& begin, std::int64_t& end) const {
    const std::int64_t part = i % parts;
    begin = part * size;
    end = begin + size < length ? begin + size : length;
  }
  KOKKOS_INLINE_FUNCTION double term(std::int64_t i, std::int64_t k) const {
    return rows[i / parts * length + k] * vector[k];
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, double sum) const { sums[i] = sum; }
};

/// The same on a host, where four sums at a time fill the registers.
struct PartialProductsOnHost {
  PartialProducts parts;
  void operator()(const std::int64_t i) const {
    std::int64_t k = 0, end = 0;
    parts.range(i, k, end);
    const double *const values = parts.rows + i / parts.parts * parts.length, *const vector =
                                                                                  parts.vector;
    double sum = 0.0;
    double lanes[4] = {0.0, 0.0, 0.0, 0.0};
    for (; k + 4 <= end; k += 4) {
      for (int j = 0; j < 4; ++j) lanes[j] += values[k + j] * vector[k + j];
    }
    for (; k < end; ++k) sum += values[k] * vector[k];
    parts.store(i, sum + ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])));
  }
};

/// Sums of parts.
struct SumParts {
  const double* sums;
  std::int64_t parts;
  double* totals;
  KOKKOS_INLINE_FUNCTION void range(std::int64_t i, std::int64_t& begin, std::int64_t& end) const {
    begin = i * parts;
    end = begin + parts;
  }
  KOKKOS_INLINE_FUNCTION double term(std::int64_t, std::int64_t k) const { return sums[k]; }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t i, double sum) const { totals[i] = sum; }
};

/// vector = factor vector + sign sum of coefficients times rows, for a chunk of elements.
struct AddRows {
  const double *rows, *coefficients;
  std::int64_t count, length, chunk;
  double factor, sign;
  double* vector;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t piece) const {
    const std::int64_t begin = piece * chunk;
    const std::int64_t end = begin + chunk < length ? begin + chunk : length;
    for (std::int64_t i = begin; i < end; ++i) vector[i] = factor == 0.0 ? 0.0 : factor * vector[i];
    for (std::int64_t k = 0; k < count; ++k) {
      const double c = sign * coefficients[k];
      const double* const row = rows + k * length;
      for (std::int64_t i = begin; i < end; ++i) vector[i] += c * row[i];
    }
  }
};

/// Adds rows to a vector: in chunks that fit the first cache on hosts, one element a thread on
/// devices.
template <class Memory>
void add_rows(const char* label, const Instance<Memory>& exec, AddRows body) {
  body.chunk = is_host_memory<Memory> ? 512 : 1;
  launch(label, exec, (body.length + body.chunk - 1) / body.chunk, body);
}

/// to = factor from.
struct ScaleInto {
  const double* from;
  double factor;
  double* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { to[i] = factor * from[i]; }
};

/// to = from - factor row.
struct SubtractRow {
  const double* row;
  double factor;
  double* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { to[i] -= factor * row[i]; }
};

/// A growing set of orthonormal vectors.
template <class Memory>
class Basis {
 public:
  Basis(const Instance<Memory>& exec, std::int64_t max, std::int64_t length)
      : m_rows(allocate<Rows<Memory>>(exec, "moho::optimize::basis", max, length)),
        m_length(length),
        m_parts(std::max<std::int64_t>(1, (length + size - 1) / size)) {
    m_sums = allocate<DoubleVector<Memory>>(exec, "moho::optimize::sums",
                                            std::max<std::int64_t>(max, 1) * m_parts);
    m_totals = allocate<DoubleVector<Memory>>(exec, "moho::optimize::totals",
                                              std::max<std::int64_t>(max, 1));
  }
  /// Removes the vectors of the set from a vector, twice; on hosts once where it hardly changes.
  void remove_from(const Instance<Memory>& exec, const DoubleVector<Memory>& x) const {
    for (int turn = 0; turn < 2 && m_count > 0; ++turn) {
      products(exec, m_rows.data(), x.data(), m_count);
      add_rows("moho::optimize::subtract_basis", exec,
               AddRows{m_rows.data(), m_totals.data(), m_count, m_length, 1, 1.0, -1.0, x.data()});
      if constexpr (is_host_memory<Memory>) {
        if (turn == 0 && hardly_changed(exec, x)) return;
      }
    }
  }
  /// Returns |x|; waits for the instance.
  double norm(const Instance<Memory>& exec, const DoubleVector<Memory>& x) const {
    products(exec, x.data(), x.data(), 1);
    return std::sqrt(std::max(0.0, value_at(exec, m_totals.data())));
  }
  /// Appends factor times a vector.
  void append(const Instance<Memory>& exec, const DoubleVector<Memory>& x, double factor) {
    launch("moho::optimize::append_vector", exec, m_length,
           ScaleInto{x.data(), factor, m_rows.data() + m_count * m_length});
    ++m_count;
  }
  /// Empties the set.
  void clear() { m_count = 0; }
  /// The last vector.
  DoubleVector<Memory> last() const {
    return DoubleVector<Memory>(m_rows.data() + (m_count - 1) * m_length,
                                static_cast<std::size_t>(m_length));
  }
  std::int64_t count() const { return m_count; }
  const Rows<Memory>& rows() const { return m_rows; }

 private:
  static constexpr std::int64_t size = is_host_memory<Memory> ? 4096 : 2048;  // of a part

  // True if a removal took less than half of the square of a vector: what rounding leaves of the
  // set is then as small as after a second removal (Daniel, Gragg, Kaufman and Stewart 1976).
  bool hardly_changed(const Instance<Memory>& exec, const DoubleVector<Memory>& x) const {
    exec.fence();
    double removed = 0.0;
    for (std::int64_t k = 0; k < m_count; ++k) removed += m_totals(k) * m_totals(k);
    const double left = norm(exec, x);
    return removed < left * left;
  }

  void products(const Instance<Memory>& exec, const double* rows, const double* x,
                std::int64_t count) const {
    const PartialProducts body{rows, x, m_length, m_parts, size, m_sums.data()};
    if constexpr (is_host_memory<Memory>) {
      launch("moho::optimize::partial_products", exec, count * m_parts,
             PartialProductsOnHost{body});
    } else {
      launch_sums("moho::optimize::partial_products", exec, count * m_parts, body);
    }
    launch_sums("moho::optimize::sum_products", exec, count,
                SumParts{m_sums.data(), m_parts, m_totals.data()});
  }

  Rows<Memory> m_rows;
  DoubleVector<Memory> m_sums, m_totals;
  std::int64_t m_length = 0, m_parts = 1, m_count = 0;
};

}  // namespace detail

/// \brief Bidiagonalises an operator A from b, with complete reorthogonalisation of the vectors V.
///
/// Where A has as many rows as columns or more, its left vectors U are not kept: while V is
/// orthogonal to rounding, U loses orthogonality in directions of small singular values alone
/// (Simon and Zha 2000). Otherwise both are orthogonalised. It ends early where the product alpha
/// beta has fallen below the tolerance, which means that the next vectors add nothing. The bits do
/// not depend on the number of host threads.
/// \param exec all work is submitted to this instance; the function returns when it is complete
/// \param op the operator: rows() and columns() are its numbers of data and unknowns;
///        apply(exec, x, y) sets y = A x, and transpose(exec, y, x) sets x = A^T y, both with
///        vectors of DoubleVector
/// \param b the data, op.rows() values; not changed
/// \param options largest number of steps, and tolerance
template <class Memory, class Operator>
Krylov<Memory> bidiagonalise(const Instance<Memory>& exec, const Operator& op,
                             const DoubleVector<Memory>& b,
                             const BidiagonaliseOptions& options = {}) {
  const std::int64_t rows = op.rows(), columns = op.columns();
  const std::int64_t max =
      std::max<std::int64_t>(1, std::min<std::int64_t>({options.steps, rows, columns}));
  const bool both = rows < columns;
  detail::Basis<Memory> left(exec, both ? max + 1 : 1, rows), right(exec, max, columns);
  const auto u = allocate<DoubleVector<Memory>>(exec, "moho::optimize::u", rows);
  const auto v = allocate<DoubleVector<Memory>>(exec, "moho::optimize::v", columns);
  const double start = left.norm(exec, b);
  std::vector<double> alpha, beta;
  if (start > 0.0) {
    left.append(exec, b, 1.0 / start);
    op.transpose(exec, left.last(), v);
    double first = 0.0, before = start;
    while (right.count() < max) {
      right.remove_from(exec, v);
      const double a = right.norm(exec, v);
      if (!(a > 0.0) || (!alpha.empty() && a * before < options.tolerance * first)) break;
      right.append(exec, v, 1.0 / a);
      op.apply(exec, right.last(), u);
      launch("moho::optimize::subtract_row", exec, rows,
             detail::SubtractRow{left.last().data(), a, u.data()});
      if (both) left.remove_from(exec, u);
      double next = left.norm(exec, u);
      if (!(next > 1e-14 * a)) next = 0.0;
      alpha.push_back(a);
      beta.push_back(next);
      if (alpha.size() == 1) first = a * next;
      before = next;
      if (next == 0.0 || a * next < options.tolerance * first) break;
      if (options.enough && alpha.size() % 10 == 0 &&
          options.enough(Bidiagonal(start, alpha, beta))) {
        break;
      }
      if (!both) left.clear();
      left.append(exec, u, 1.0 / next);
      op.transpose(exec, left.last(), v);
      launch("moho::optimize::subtract_row", exec, columns,
             detail::SubtractRow{right.last().data(), next, v.data()});
    }
  }
  exec.fence();
  return {Bidiagonal(start, std::move(alpha), std::move(beta)), right.rows()};
}

/// \brief Sets x = V c.
/// \param exec all work is submitted to this instance; the function returns when it is complete
/// \param krylov result of bidiagonalise()
/// \param coefficients c, one for each step
/// \param x out, the unknowns
template <class Memory>
void combine(const Instance<Memory>& exec, const Krylov<Memory>& krylov,
             const std::vector<double>& coefficients, const DoubleVector<Memory>& x) {
  const auto length = static_cast<std::int64_t>(x.extent(0));
  const auto c = upload(exec, coefficients, "moho::optimize::coefficients");
  detail::add_rows(
      "moho::optimize::combine", exec,
      detail::AddRows{krylov.right.data(), c.data(), static_cast<std::int64_t>(coefficients.size()),
                      length, 1, 0.0, 1.0, x.data()});
  exec.fence();
}

}  // namespace moho::optimize
