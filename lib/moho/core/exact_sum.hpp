// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of arrays whose bits do not depend on the order and grouping of the terms.
///
/// Each term g is rounded once to an integer q = round(g 2^e), and the integers are added. The
/// terms are images and gradients of shots, added by threads, ranks or sites in any order.
/// docs/theory/sums.md has error bounds and limits.

#include <moho/core/box.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/launch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho {

/// Reports terms whose sum could exceed 64 bits; the sum is unchanged.
class SumOverflow : public Error {
 public:
  using Error::Error;
};

/// A sum on the host, for files and messages.
struct ExactSumState {
  int exponent = 0;        ///< exponent e: a value is q 2^-e
  std::int64_t terms = 0;  ///< number of arrays added
  std::int64_t bound = 0;  ///< sum over the arrays of their largest |q|; |values| <= bound
  std::vector<std::int64_t> values;  ///< the sums of q
};

namespace detail {

/// Largest |q| of a term: up to this limit nearest_integer() is exact.
inline constexpr double largest_term = 2251799813685248.0;  // 2^51
/// Marks terms that are too large or not finite.
inline constexpr std::int64_t refused_term = std::numeric_limits<std::int64_t>::max();

/// Returns the integer nearest to x, ties to even, for |x| <= 2^51.
///
/// Adding 1.5 2^52 shifts the integer into the last bits of the significand. Hosts and devices give
/// the same result, also with fused multiply-add, because the product with a power of two is exact.
KOKKOS_INLINE_FUNCTION std::int64_t nearest_integer(double x) {
  constexpr double shift = 6755399441055744.0;
  const double moved = x + shift;
  std::int64_t bits, zero;
  memcpy(&bits, &moved, sizeof(bits));
  memcpy(&zero, &shift, sizeof(zero));
  return bits - zero;
}

/// Index map of a term with the shape of the sum: the identity.
struct SamePlace {
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t i) const { return i; }
};
/// Index map from the elements of a box to the nodes of the larger grid that contains it.
template <int Dim>
struct IndexInGrid {
  Box<Dim> box;
  Grid<Dim> grid;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    const Index<Dim> node = box.node(i);
    std::int64_t flat = node[0];
    for (int d = 1; d < Dim; ++d) flat = flat * grid.extents[d] + node[d];
    return flat;
  }
};

/// Adds or subtracts the rounded terms, and finds the largest |q|.
template <class T, class IndexMap>
struct AddTerms {
  using value_type = std::int64_t;
  std::int64_t* sums;
  const T* terms;
  double scale;
  bool negative;
  IndexMap index_map;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& largest) const {
    const double x = static_cast<double>(terms[i]) * scale;
    const bool good = x >= -largest_term && x <= largest_term;  // false for NaN
    const std::int64_t q = nearest_integer(good ? x : 0.0);
    std::int64_t& sum = sums[index_map(i)];
    // Unsigned arithmetic wraps, so that subtraction exactly reverses an addition that overflowed.
    const auto term = static_cast<std::uint64_t>(negative ? -q : q);
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + term);
    const std::int64_t size = good ? (q < 0 ? -q : q) : refused_term;
    if (size > largest) largest = size;
  }
  KOKKOS_INLINE_FUNCTION void init(std::int64_t& largest) const { largest = 0; }
  KOKKOS_INLINE_FUNCTION void join(std::int64_t& to, const std::int64_t& from) const {
    if (from > to) to = from;
  }
};

/// Tests for a term that cannot be added: not finite, or too large after scaling.
template <class T>
struct RefusedTerm {
  const T* terms;
  double scale;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    const double x = static_cast<double>(terms[i]) * scale;
    return !(x >= -largest_term && x <= largest_term);
  }
};

/// Adds another sum elementwise.
struct AddSums {
  std::int64_t* sums;
  const std::int64_t* others;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { sums[i] += others[i]; }
};

/// Converts integers to values q 2^-e.
template <class T>
struct FromSums {
  const std::int64_t* sums;
  T* values;
  double scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    values[i] = static_cast<T>(static_cast<double>(sums[i]) * scale);
  }
};

/// Bits of the largest magnitude, whose order is that of magnitudes; NaN is beyond infinity.
template <class T>
struct LargestBits {
  using value_type = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  static constexpr value_type mask = std::numeric_limits<value_type>::max();  ///< without the sign
  const T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& largest) const {
    value_type bits;
    memcpy(&bits, values + i, sizeof(bits));
    join(largest, bits & mask);
  }
  KOKKOS_INLINE_FUNCTION void init(value_type& largest) const { largest = 0; }
  KOKKOS_INLINE_FUNCTION void join(value_type& to, const value_type& from) const {
    to = from > to ? from : to;
  }
};

template <class ViewType>
void check_terms(const ViewType& values, std::int64_t count) {
  if (static_cast<std::int64_t>(values.size()) == count && values.span_is_contiguous()) return;
  throw InputError(concat("exact sum: an array of ", values.size(), " elements",
                          values.span_is_contiguous() ? "" : " with gaps between them",
                          " (allowed: ", count,
                          ", one after the other): add arrays of the shape "
                          "that the sum was made for"));
}

}  // namespace detail

/// \brief Returns the exponent e, at most 1000, with which `largest` becomes 2^38 to 2^39.
///
/// The rounding error of a term is at most 2^-39 of `largest`. A million terms up to 16 times as
/// large fit into a sum.
/// \throws InputError unless `largest` is positive and finite
inline int exact_exponent(double largest) {
  if (!(largest > 0.0) || !std::isfinite(largest)) {
    throw InputError(concat("exact sum: the largest magnitude is ", largest,
                            " (allowed: positive numbers): take it from a term that is not zero "
                            "everywhere"));
  }
  int power = 0;
  std::frexp(largest, &power);  // largest = m 2^power with m in [1/2, 1)
  const int exponent = 39 - power;
  return exponent > 1000 ? 1000 : exponent;  // keeps 2^e and 2^-e finite
}

/// \brief Returns the largest magnitude in an array, for exact_exponent().
///
/// The result is NaN or infinity if the array contains such values.
template <class Memory, class ViewType>
double largest_magnitude(const Instance<Memory>& exec, const ViewType& values) {
  using T = typename ViewType::non_const_value_type;
  detail::check_terms(values, static_cast<std::int64_t>(values.span()));
  const auto bits =
      reduce("moho::exact_sum::largest", exec, static_cast<std::int64_t>(values.span()),
             detail::LargestBits<T>{values.data()});
  T largest;
  std::memcpy(&largest, &bits, sizeof(bits));
  return static_cast<double>(largest);
}

/// \brief A sum of arrays in 64-bit integers, independent of order, grouping and kind of memory.
///
/// `bound` is the sum of the largest |q| of each term, which does not depend on the order either.
/// All workers therefore detect terms that are too many or too large identically, before an element
/// exceeds 64 bits.
template <class Memory>
class ExactSum {
 public:
  /// Creates a sum without terms.
  /// \param exec instance of the sum
  /// \param count number of elements
  /// \param exponent e, see exact_exponent()
  /// \throws InputError for a count below 1 or an exponent beyond -1000 to 1000
  ExactSum(const InstanceOf<Memory>& exec, std::int64_t count, int exponent)
      : m_exponent(exponent) {
    check(count);
    m_values = allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::exact_sum", count);
    fill(exec, m_values, std::int64_t(0));
  }
  /// Restores a saved sum. \throws InputError if its values exceed its bound
  ExactSum(const InstanceOf<Memory>& exec, const ExactSumState& state)
      : m_exponent(state.exponent), m_terms(state.terms), m_bound(state.bound) {
    check(static_cast<std::int64_t>(state.values.size()));
    check_state(state);
    m_values = upload(exec, state.values, "moho::exact_sum");
  }

  /// Returns the number of elements.
  std::int64_t count() const { return static_cast<std::int64_t>(m_values.extent(0)); }
  /// Returns the exponent e.
  int exponent() const { return m_exponent; }
  /// Returns the number of arrays added to this sum and to the sums merged into it.
  std::int64_t terms() const { return m_terms; }
  /// Returns an upper bound of all |q|, at most 2^63 - 1.
  std::int64_t bound() const { return m_bound; }
  /// Returns the integers q, for kernels.
  const Kokkos::View<std::int64_t*, Memory>& values() const { return m_values; }

  /// \brief Adds an array with the size of the sum, in the order of memory; waits for the instance.
  ///
  /// The sum is unchanged if an exception is thrown.
  /// \throws InputError for another size, a view that is not contiguous, or a value that is not
  /// finite (the message has its position); SumOverflow for terms that are too large
  template <class ViewType>
  void add(const InstanceOf<Memory>& exec, const ViewType& values) {
    detail::check_terms(values, count());
    add_terms(exec, values, detail::SamePlace{});
  }

  /// \brief Adds an array that covers a part of the grid; waits for the instance.
  /// \param exec the instance
  /// \param grid the grid of the sum
  /// \param box the nodes of the array
  /// \param values the array
  /// \throws as the other overload, and InputError for a box that exceeds the grid
  template <int Dim, class ViewType>
  void add(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const Box<Dim>& box,
           const ViewType& values) {
    if (grid.size() != count() || !(intersection(box, whole_box(grid)) == box)) {
      throw InputError(concat("exact sum: the box ", box_string(box), " of a grid of ",
                              shape_string(grid), " nodes (allowed: boxes inside of the grid of ",
                              count(), " nodes that the sum was made for): cut the box"));
    }
    detail::check_terms(values, box.size());
    if (box.empty()) return;
    add_terms(exec, values, detail::IndexInGrid<Dim>{box, grid});
  }

  /// Adds another sum. \throws InputError for another size or exponent; SumOverflow
  void merge(const InstanceOf<Memory>& exec, const ExactSum& other) {
    check_other(other.count(), other.m_exponent, other.m_bound);
    add_sums(exec, other.m_values.data());
    m_terms += other.m_terms;
    m_bound += other.m_bound;
  }
  /// Adds a saved sum; waits for the instance. \throws as the other overload
  void merge(const InstanceOf<Memory>& exec, const ExactSumState& other) {
    check_state(other);
    check_other(static_cast<std::int64_t>(other.values.size()), other.exponent, other.bound);
    const auto values = upload(exec, other.values, "moho::exact_sum");
    add_sums(exec, values.data());
    exec.fence();
    m_terms += other.terms;
    m_bound += other.bound;
  }

  /// Returns a copy of the sum on the host.
  ExactSumState state(const InstanceOf<Memory>& exec) const {
    return {m_exponent, m_terms, m_bound, download(exec, m_values)};
  }

  /// \brief Writes the values q 2^-e, rounded once, to a contiguous view of the size of the sum.
  /// \throws InputError for another size
  template <class ViewType>
  void result(const InstanceOf<Memory>& exec, const ViewType& values) const {
    using T = typename ViewType::non_const_value_type;
    static_assert(std::is_same_v<typename ViewType::memory_space, Memory>);
    detail::check_terms(values, count());
    launch("moho::exact_sum::result", exec, count(),
           detail::FromSums<T>{m_values.data(), values.data(), std::ldexp(1.0, -m_exponent)});
  }

 private:
  void check(std::int64_t count) const {
    if (count >= 1 && m_exponent >= -1000 && m_exponent <= 1000) return;
    throw InputError(concat("exact sum: ", count, " elements with the exponent ", m_exponent,
                            " (allowed: 1 element or more, exponents from -1000 to 1000): "
                            "moho::exact_exponent finds it"));
  }
  static void check_state(const ExactSumState& state) {
    bool good = state.terms >= 0 && state.bound >= 0;
    for (const std::int64_t q : state.values) good = good && q >= -state.bound && q <= state.bound;
    if (good) return;
    throw InputError(concat("exact sum: values beyond the bound ", state.bound, " of ", state.terms,
                            " terms (allowed: states that a sum gave): the sum is "
                            "damaged, make it again"));
  }
  void check_other(std::int64_t other_count, int other_exponent, std::int64_t other_bound) const {
    if (other_count != count() || other_exponent != m_exponent) {
      throw InputError(concat("exact sum: ", other_count, " elements with the exponent ",
                              other_exponent, " to be added to ", count(), " with the exponent ",
                              m_exponent,
                              " (allowed: the same of both): make all sums of a survey "
                              "with one exponent"));
    }
    check_room(other_bound);
  }
  void check_room(std::int64_t largest) const {
    if (largest <= std::numeric_limits<std::int64_t>::max() - m_bound) return;
    const double needed = static_cast<double>(m_bound) + static_cast<double>(largest);
    throw SumOverflow(concat("exact sum: ", m_terms,
                             " terms and the next one can exceed 64 bits "
                             "with the exponent ",
                             m_exponent, " (allowed: up to ", fitting(needed),
                             " for these): add all terms again with a lower exponent"));
  }
  /// Returns the exponent with which `needed` quanta of now use half of the range.
  int fitting(double needed) const {
    int power = 0;
    std::frexp(needed, &power);
    return m_exponent - (power > 62 ? power - 62 : 0);
  }

  template <class ViewType, class IndexMap>
  void add_terms(const InstanceOf<Memory>& exec, const ViewType& values,
                 const IndexMap& index_map) {
    using T = typename ViewType::non_const_value_type;
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
    static_assert(std::is_same_v<typename ViewType::memory_space, Memory>);
    const double scale = std::ldexp(1.0, m_exponent);
    const auto size = static_cast<std::int64_t>(values.size());
    detail::AddTerms<T, IndexMap> body{m_values.data(), values.data(), scale, false, index_map};
    const std::int64_t largest = reduce("moho::exact_sum::add", exec, size, body);
    if (largest <= std::numeric_limits<std::int64_t>::max() - m_bound &&
        largest != detail::refused_term) {
      ++m_terms;
      m_bound += largest;
      return;
    }
    body.negative = true;
    reduce("moho::exact_sum::take_back", exec, size, body);
    if (largest == detail::refused_term) refuse(exec, values, scale);
    check_room(largest);
  }

  template <class ViewType>
  [[noreturn]] void refuse(const InstanceOf<Memory>& exec, const ViewType& values,
                           double scale) const {
    using T = typename ViewType::non_const_value_type;
    const std::int64_t first =
        find_first("moho::exact_sum::refused", exec, static_cast<std::int64_t>(values.size()),
                   detail::RefusedTerm<T>{values.data(), scale});
    const double value = static_cast<double>(value_at(exec, values.data() + first));
    if (!std::isfinite(value)) {
      throw InputError(concat("exact sum: element ", first, " is ", value,
                              " (allowed: finite numbers): look at what computed it"));
    }
    int power = 0;
    std::frexp(value, &power);
    throw SumOverflow(concat("exact sum: element ", first, " is ", value,
                             ", too large for the "
                             "exponent ",
                             m_exponent, " (allowed: up to ",
                             std::ldexp(detail::largest_term, -m_exponent),
                             "): add all terms again with the exponent ", 39 - power));
  }

  void add_sums(const InstanceOf<Memory>& exec, const std::int64_t* others) {
    launch("moho::exact_sum::merge", exec, count(), detail::AddSums{m_values.data(), others});
  }

  Kokkos::View<std::int64_t*, Memory> m_values;
  int m_exponent;
  std::int64_t m_terms = 0;
  std::int64_t m_bound = 0;
};

}  // namespace moho
