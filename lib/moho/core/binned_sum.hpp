// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of arrays in bins of digits, independent of the order of the terms.
///
/// No exponent has to be known before the first term.
///
/// Demmel, J., and Nguyen, H. D., 2015, Parallel reproducible summation: IEEE Transactions on
/// Computers, 64, 2060-2070. Here all elements of an array have the same bins.

#include <moho/core/box.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/core/exact_sum.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/launch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace moho {

namespace detail {

/// Bits of the digit in a bin.
inline constexpr int bin_bits = 40;
/// Initial bin without digits, below the bins of all numbers.
inline constexpr int lowest_bin = -25;

/// Adds the digits of the terms to two bins.
template <class T, class Place>
struct AddDigits {
  std::int64_t *upper, *lower;
  const T* terms;
  double scale;  ///< 2^(-40 top)
  Place place;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const double x = static_cast<double>(terms[i]) * scale;
    const double size = x < 0.0 ? -x : x;
    // less than 2^40: all steps are exact
    const auto first = static_cast<std::int64_t>(size);
    const double rest = (size - static_cast<double>(first)) * 1099511627776.0;
    const auto second = static_cast<std::int64_t>(rest);
    const std::int64_t to = place(i);
    upper[to] += x < 0.0 ? -first : first;
    lower[to] += x < 0.0 ? -second : second;
  }
};

/// Adds the bins of another sum.
struct AddBins {
  std::int64_t *upper, *lower;
  const std::int64_t *more_upper, *more_lower;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    if (more_upper != nullptr) upper[i] += more_upper[i];
    if (more_lower != nullptr) lower[i] += more_lower[i];
  }
};

/// Converts the integers of two bins to numbers.
template <class T>
struct FromBins {
  const std::int64_t *upper, *lower;
  T* values;
  double upper_scale, lower_scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t carry = lower[i] >> bin_bits;
    const std::int64_t rest = lower[i] - (carry << bin_bits);
    // products with powers of two are exact: fused multiply-add gives the same number
    values[i] = static_cast<T>(static_cast<double>(upper[i] + carry) * upper_scale +
                               static_cast<double>(rest) * lower_scale);
  }
};

}  // namespace detail

/// \brief A sum of arrays on the host, independent of the order and grouping of its terms.
///
/// Each term is split into digits of 40 bits at fixed positions. The two highest positions of the
/// largest magnitude added so far are kept as integers. Parts of a term below 2^-40 of the largest
/// magnitude of all terms are truncated. ExactSum needs half the memory, but the order of magnitude
/// must be known in advance. docs/theory/sums.md has error bounds.
class BinnedSum {
 public:
  /// Largest number of terms.
  static constexpr std::int64_t max_terms = std::int64_t{1} << 22;

  /// Creates a sum without terms.
  /// \param count number of elements, 1 or more
  /// \throws InputError for a count below 1
  explicit BinnedSum(std::int64_t count) {
    if (count < 1)
      throw InputError(concat("binned sum: ", count, " elements (allowed: 1 or more)"));
    m_upper.assign(static_cast<std::size_t>(count), 0);
    m_lower = m_upper;
  }

  /// Returns the number of elements.
  std::int64_t count() const { return static_cast<std::int64_t>(m_upper.size()); }
  /// Returns the number of arrays added.
  std::int64_t terms() const { return m_terms; }

  /// \brief Adds an array of count() elements.
  /// \throws InputError for values that are not finite, and for more than max_terms terms
  template <class T>
  void add(const Instance<Kokkos::HostSpace>& exec, const T* values) {
    add_terms(exec, values, count(), detail::SamePlace{});
  }

  /// \brief Adds an array that covers a part of a grid.
  /// \param exec instance of the host
  /// \param grid the grid of the sum
  /// \param box the nodes of the array
  /// \param values the values at these nodes, the last axis fastest
  /// \throws InputError as the other overload, and for a box that exceeds the grid
  template <class T, int Dim>
  void add(const Instance<Kokkos::HostSpace>& exec, const Grid<Dim>& grid, const Box<Dim>& box,
           const T* values) {
    if (grid.size() != count() || !(intersection(box, whole_box(grid)) == box)) {
      throw InputError(concat("binned sum: the box ", box_string(box), " of a grid of ",
                              shape_string(grid), " nodes (allowed: boxes inside of the grid of ",
                              count(), " nodes of the sum)"));
    }
    if (!box.empty()) {
      add_terms(exec, values, box.size(), detail::PlaceInGrid<Dim>{box, grid});
    }
  }

  /// Adds another sum. \throws InputError for another count, and for more than max_terms terms
  void merge(const Instance<Kokkos::HostSpace>& exec, const BinnedSum& other) {
    if (other.count() != count()) {
      throw InputError(concat("binned sum: ", other.count(), " elements to be added to ", count(),
                              " (allowed: as many)"));
    }
    check_terms(other.m_terms);
    raise(other.m_top);
    const int below = m_top - other.m_top;
    detail::AddBins bins{m_upper.data(), m_lower.data(), nullptr, nullptr};
    if (below == 0) bins.more_upper = other.m_upper.data(), bins.more_lower = other.m_lower.data();
    if (below == 1) bins.more_lower = other.m_upper.data();
    if (below <= 1) launch("moho::binned_sum::merge", exec, count(), bins);
    exec.fence();
    m_terms += other.m_terms;
  }

  /// Writes the sum as count() numbers.
  /// \param exec instance of the host
  /// \param values receives the numbers
  template <class T>
  void result(const Instance<Kokkos::HostSpace>& exec, T* values) const {
    const double scale = std::ldexp(1.0, detail::bin_bits * m_top);
    launch("moho::binned_sum::result", exec, count(),
           detail::FromBins<T>{m_upper.data(), m_lower.data(), values, scale,
                               std::ldexp(scale, -detail::bin_bits)});
    exec.fence();
  }

 private:
  void check_terms(std::int64_t more) const {
    if (m_terms + more <= max_terms) return;
    throw InputError(concat("binned sum: ", m_terms + more, " terms (allowed: up to ", max_terms,
                            "): add in groups"));
  }
  // Makes a bin the upper one unless the upper bin is higher.
  void raise(int top) {
    if (top <= m_top) return;
    if (top == m_top + 1) {
      std::swap(m_upper, m_lower);
    } else {
      std::fill(m_lower.begin(), m_lower.end(), 0);
    }
    std::fill(m_upper.begin(), m_upper.end(), 0);
    m_top = top;
  }

  template <class T, class Place>
  void add_terms(const Instance<Kokkos::HostSpace>& exec, const T* values, std::int64_t size,
                 const Place& place) {
    check_terms(1);
    const double largest =
        largest_magnitude(exec, HostElements<const T>(values, static_cast<std::size_t>(size)));
    if (!std::isfinite(largest)) {
      throw InputError(concat("binned sum: the largest magnitude is ", largest,
                              " (allowed: finite numbers): look at what computed it"));
    }
    ++m_terms;
    if (largest == 0.0) return;
    raise(std::max(
        static_cast<int>(std::floor(std::ilogb(largest) / static_cast<double>(detail::bin_bits))),
        detail::lowest_bin));
    launch("moho::binned_sum::add", exec, size,
           detail::AddDigits<T, Place>{m_upper.data(), m_lower.data(), values,
                                       std::ldexp(1.0, -detail::bin_bits * m_top), place});
    exec.fence();
  }

  std::vector<std::int64_t> m_upper, m_lower;  // digits of bins m_top and m_top - 1
  int m_top = detail::lowest_bin;
  std::int64_t m_terms = 0;
};

}  // namespace moho
