// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of arrays that have the same bits in whatever order and groups they are added.
///
/// Terms are rounded once, to integers q = round(g 2^e), and integers are added: images and
/// gradients of shots, by threads, ranks or sites, as they come. docs/theory/sums.md has the errors
/// and limits.

#include <moho/core/box.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/launch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho {

/// What exact sums throw where the terms together could exceed 64 bits. The sum is as it was.
class SumOverflow : public Error {
 public:
  using Error::Error;
};

/// A sum on the host: for files and messages.
struct ExactSumState {
  int exponent = 0;        ///< e: a value is q 2^-e
  std::int64_t terms = 0;  ///< arrays that were added
  std::int64_t bound = 0;  ///< sum over the terms of their largest |q|; no |value| exceeds it
  std::vector<std::int64_t> values;  ///< the sums q
};

namespace detail {

/// Largest |q| of one term: so far the rounding below is exact.
inline constexpr double largest_term = 2251799813685248.0;  // 2^51
/// Stands for terms that are larger, or no numbers.
inline constexpr std::int64_t refused_term = std::numeric_limits<std::int64_t>::max();

/// The integer nearest to x, to the even one of two, for |x| <= 2^51: added to 1.5 2^52 it stands
/// in the last digits. Hosts and devices make the same of it, with a fused multiplication too, as
/// the product with a power of two is exact.
KOKKOS_INLINE_FUNCTION std::int64_t nearest_integer(double x) {
  constexpr double shift = 6755399441055744.0;
  const double moved = x + shift;
  std::int64_t bits, zero;
  memcpy(&bits, &moved, sizeof(bits));
  memcpy(&zero, &shift, sizeof(zero));
  return bits - zero;
}

/// What is added at i: the node of a sum that a term's element belongs to.
struct SamePlace {
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t i) const { return i; }
};
/// Elements of a box of a larger grid.
template <int Dim>
struct PlaceInGrid {
  Box<Dim> box;
  Grid<Dim> grid;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    const Index<Dim> node = box.node(i);
    std::int64_t flat = node[0];
    for (int d = 1; d < Dim; ++d) flat = flat * grid.extents[d] + node[d];
    return flat;
  }
};

/// Adds the rounded terms, or takes them away again, and finds the largest |q|.
template <class T, class Place>
struct AddTerms {
  using value_type = std::int64_t;
  std::int64_t* sums;
  const T* terms;
  double scale;
  bool negative;
  Place place;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& largest) const {
    const double x = static_cast<double>(terms[i]) * scale;
    const bool good = x >= -largest_term && x <= largest_term;  // NaN is not
    const std::int64_t q = nearest_integer(good ? x : 0.0);
    std::int64_t& sum = sums[place(i)];
    // Unsigned numbers wrap, so that what went too far is taken away exactly.
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

/// Terms that cannot be added: no numbers, or (with the scale) too large.
template <class T>
struct RefusedTerm {
  const T* terms;
  double scale;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    const double x = static_cast<double>(terms[i]) * scale;
    return !(x >= -largest_term && x <= largest_term);
  }
};

/// Adds another sum.
struct AddSums {
  std::int64_t* sums;
  const std::int64_t* others;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { sums[i] += others[i]; }
};

/// q 2^-e.
template <class T>
struct FromSums {
  const std::int64_t* sums;
  T* values;
  double scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    values[i] = static_cast<T>(static_cast<double>(sums[i]) * scale);
  }
};

/// The larger |value|, NaN if there is one.
template <class T>
struct LargestMagnitude {
  using value_type = double;
  const T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& largest) const {
    const double value = static_cast<double>(values[i]);
    join(largest, value < 0.0 ? -value : value);
  }
  KOKKOS_INLINE_FUNCTION void init(double& largest) const { largest = 0.0; }
  KOKKOS_INLINE_FUNCTION void join(double& to, const double& from) const {
    if (!(from <= to) && to == to) to = from;
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

/// \brief The exponent e for sums of terms like one whose largest magnitude is `largest`: that one
/// becomes 2^38 or a little more.
///
/// A term is then rounded by at most 2^-39 of `largest`, and a million of terms up to 16 times as
/// large fit. \throws InputError unless `largest` is positive and finite: a probe that is zero says
/// nothing
inline int exact_exponent(double largest) {
  if (!(largest > 0.0) || !std::isfinite(largest)) {
    throw InputError(concat("exact sum: the largest magnitude is ", largest,
                            " (allowed: positive numbers): take it from a term that is not zero "
                            "everywhere"));
  }
  int power = 0;
  std::frexp(largest, &power);  // largest = m 2^power with m in [1/2, 1)
  const int exponent = 39 - power;
  return exponent > 1000 ? 1000 : exponent;  // 2^e and 2^-e are numbers
}

/// \brief The largest magnitude in an array, for exact_exponent(). NaN or infinity if there is one.
template <class Memory, class ViewType>
double largest_magnitude(const Instance<Memory>& exec, const ViewType& values) {
  using T = typename ViewType::non_const_value_type;
  detail::check_terms(values, static_cast<std::int64_t>(values.span()));
  return reduce("moho::exact_sum::largest", exec, static_cast<std::int64_t>(values.span()),
                detail::LargestMagnitude<T>{values.data()});
}

/// \brief A sum of arrays in 64-bit integers: the same bits for any order, grouping, number of
/// workers and kind of memory.
///
/// It keeps `bound`, the sum of the largest |q| of each term, which does not depend on the order
/// either: whether terms are too many or too large is seen by all workers alike, before any element
/// can exceed 64 bits.
template <class Memory>
class ExactSum {
 public:
  /// A sum of nothing. \param count elements \param exponent e, see exact_exponent()
  /// \throws InputError for a count below 1 or an exponent beyond 1000
  ExactSum(const InstanceOf<Memory>& exec, std::int64_t count, int exponent)
      : m_exponent(exponent) {
    check(count);
    m_values = allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::exact_sum", count);
    fill(exec, m_values, std::int64_t(0));
  }
  /// A sum that was kept. \throws InputError for one that no sum has
  ExactSum(const InstanceOf<Memory>& exec, const ExactSumState& state)
      : m_exponent(state.exponent), m_terms(state.terms), m_bound(state.bound) {
    check(static_cast<std::int64_t>(state.values.size()));
    check_state(state);
    m_values = upload(exec, state.values, "moho::exact_sum");
  }

  /// Elements.
  std::int64_t count() const { return static_cast<std::int64_t>(m_values.extent(0)); }
  /// e.
  int exponent() const { return m_exponent; }
  /// Arrays that were added, in this sum and those merged into it.
  std::int64_t terms() const { return m_terms; }
  /// No |q| of the sum exceeds it; at most 2^63 - 1.
  std::int64_t bound() const { return m_bound; }
  /// The integers q, for kernels.
  const Kokkos::View<std::int64_t*, Memory>& values() const { return m_values; }

  /// \brief Adds an array of as many elements, in the order of memory. It waits for it.
  /// \throws InputError for another size, gaps, or a value that is no finite number, with its
  /// position; SumOverflow for terms too large. The sum is then as it was.
  template <class ViewType>
  void add(const InstanceOf<Memory>& exec, const ViewType& values) {
    detail::check_terms(values, count());
    add_terms(exec, values, detail::SamePlace{});
  }

  /// \brief Adds an array of a part of the grid: `box` holds the nodes of the array, `grid` those
  /// of the sum. It waits for it. \throws as above, and InputError for boxes outside of the grid
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
    add_terms(exec, values, detail::PlaceInGrid<Dim>{box, grid});
  }

  /// Adds another sum. \throws InputError for another size or exponent, SumOverflow
  void merge(const InstanceOf<Memory>& exec, const ExactSum& other) {
    check_other(other.count(), other.m_exponent, other.m_bound);
    add_sums(exec, other.m_values.data());
    m_terms += other.m_terms;
    m_bound += other.m_bound;
  }
  /// Adds a sum that was kept. It waits for it. \throws as above
  void merge(const InstanceOf<Memory>& exec, const ExactSumState& other) {
    check_state(other);
    check_other(static_cast<std::int64_t>(other.values.size()), other.exponent, other.bound);
    const auto values = upload(exec, other.values, "moho::exact_sum");
    add_sums(exec, values.data());
    exec.fence();
    m_terms += other.terms;
    m_bound += other.bound;
  }

  /// What it is on the host.
  ExactSumState state(const InstanceOf<Memory>& exec) const {
    return {m_exponent, m_terms, m_bound, download(exec, m_values)};
  }

  /// \brief Writes the sum as numbers, q 2^-e rounded once, to a view of as many elements without
  /// gaps. \throws InputError for another size
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
  /// The exponent with which what are `needed` quanta now takes half of the room.
  int fitting(double needed) const {
    int power = 0;
    std::frexp(needed, &power);
    return m_exponent - (power > 62 ? power - 62 : 0);
  }

  template <class ViewType, class Place>
  void add_terms(const InstanceOf<Memory>& exec, const ViewType& values, const Place& place) {
    using T = typename ViewType::non_const_value_type;
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
    static_assert(std::is_same_v<typename ViewType::memory_space, Memory>);
    const double scale = std::ldexp(1.0, m_exponent);
    const auto size = static_cast<std::int64_t>(values.size());
    detail::AddTerms<T, Place> body{m_values.data(), values.data(), scale, false, place};
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
