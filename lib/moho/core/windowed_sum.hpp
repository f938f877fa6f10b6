// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of arrays in integers at each exponent of a window.
///
/// The result has the bits of an ExactSum whose exponent is that of the largest term. That term may
/// be added last. docs/theory/sums.md has the method, its memory and its limits.

#include <moho/core/box.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/core/exact_sum.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/host_allocator.hpp>
#include <moho/core/launch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace moho {

/// \brief Content of a WindowedSum, for files and messages.
///
/// With q(e) the sum of the terms rounded to multiples of 2^-e, `values` are q(exponent), and
/// `differences[j]` are q(exponent - j) - 2 q(exponent - j - 1).
struct WindowedSumState {
  std::int64_t count = 0;          ///< number of elements
  std::int64_t terms = 0;          ///< number of arrays added
  bool zero = true;                ///< true if all terms are zero; the arrays are then empty
  int exponent = 0;                ///< highest exponent of the window; unused if `zero`
  HostArray<std::int64_t> values;  ///< sums at the highest exponent
  std::vector<HostArray<std::int16_t>> differences;  ///< one array for each lower exponent
};

namespace detail {

/// Largest number of exponents of a window.
inline constexpr int largest_window = 16;

/// Elements that AddToWindow handles together, so that compilers vectorise its loops.
inline constexpr std::int64_t window_piece = 256;

/// Adds the terms, rounded at each exponent of a window. Index: pieces of rows of the terms.
template <class T, class IndexMap>
struct AddToWindow {
  std::int64_t* values;
  std::int16_t* differences[largest_window - 1];
  int lower_exponents;
  const T* terms;
  double scale;      ///< 2^e with the highest exponent e
  std::int64_t row;  ///< terms that are contiguous in the sum
  bool store;        ///< true if the sum has no values yet, and the terms cover it
  IndexMap index_map;

  KOKKOS_INLINE_FUNCTION std::int64_t pieces_per_row() const {
    return (row + window_piece - 1) / window_piece;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t piece) const {
    const std::int64_t begin = piece % pieces_per_row() * window_piece;
    const std::int64_t first = piece / pieces_per_row() * row + begin;
    const std::int64_t count = row - begin < window_piece ? row - begin : window_piece;
    const std::int64_t to = index_map(first);
    double x[window_piece];
    std::int64_t q[window_piece];
    // products with powers of two are exact, or too small to round to anything but zero
    for (std::int64_t i = 0; i < count; ++i) x[i] = static_cast<double>(terms[first + i]) * scale;
    for (std::int64_t i = 0; i < count; ++i) q[i] = nearest_integer(x[i]);
    std::int64_t* const sums = values + to;
    if (store) {
      for (std::int64_t i = 0; i < count; ++i) sums[i] = q[i];
    } else {
      for (std::int64_t i = 0; i < count; ++i) sums[i] += q[i];
    }
    for (int j = 0; j < lower_exponents; ++j) {
      std::int16_t* const lower = differences[j] + to;
      for (std::int64_t i = 0; i < count; ++i) {
        x[i] *= 0.5;
        const std::int64_t half = nearest_integer(x[i]);
        const auto difference = static_cast<std::int16_t>(q[i] - 2 * half);
        lower[i] = store ? difference : static_cast<std::int16_t>(lower[i] + difference);
        q[i] = half;
      }
    }
  }
};

/// Returns the largest magnitude of an array of the host; NaN or infinity if it contains them.
template <class T>
double largest_of(const Instance<Kokkos::HostSpace>& exec, const T* values, std::int64_t count) {
  return largest_magnitude(exec, HostElements<const T>(values, static_cast<std::size_t>(count)));
}

/// Converts the sums of an exponent to those of the next lower one.
struct LowerWindow {
  std::int64_t* values;
  const std::int16_t* differences;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    values[i] = (values[i] - differences[i]) / 2;  // an even number
  }
};

/// Adds the differences of another sum.
struct AddDifferences {
  std::int16_t* differences;
  const std::int16_t* others;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    differences[i] = static_cast<std::int16_t>(differences[i] + others[i]);
  }
};

}  // namespace detail

/// \brief A sum of arrays on the host that has the bits of an ExactSum, without its exponent.
///
/// An ExactSum rounds each term to a multiple of 2^-e, with e from the largest magnitude of all
/// terms (exact_exponent()). This sum keeps the sums of the rounded terms for several e: that of
/// the largest magnitude so far, and lower ones. A larger term selects a lower exponent of the
/// window. The result therefore depends on the set of terms only. Memory: 8 + 2 (width - 1) bytes
/// per element, from the first term that is not zero on.
class WindowedSum {
 public:
  /// Largest number of terms.
  static constexpr std::int64_t max_terms = 32767;
  /// Default number of exponents: later terms may be 128 times as large as the first one.
  static constexpr int default_width = 8;

  /// Creates a sum without terms.
  /// \param count number of elements, 1 or more
  /// \param width number of exponents, 1 to 16
  /// \throws InputError for values out of range
  explicit WindowedSum(std::int64_t count, int width = default_width) {
    if (count < 1 || width < 1 || width > detail::largest_window) {
      throw InputError(concat("windowed sum: ", count, " elements and ", width,
                              " exponents (allowed: 1 element or more, 1 to ",
                              detail::largest_window, " exponents)"));
    }
    m_state.count = count;
    m_state.differences.resize(static_cast<std::size_t>(width - 1));
  }
  /// Restores a sum. \throws InputError for a state that no sum can have
  explicit WindowedSum(WindowedSumState state) : m_state(std::move(state)) { check_state(); }

  /// Returns the number of elements.
  std::int64_t count() const { return m_state.count; }
  /// Returns the number of arrays added.
  std::int64_t terms() const { return m_state.terms; }
  /// Returns the content. Moves it out of a temporary sum.
  const WindowedSumState& state() const& { return m_state; }
  /// \overload
  WindowedSumState state() && { return std::move(m_state); }
  /// Returns the bytes per element of a sum with `width` exponents.
  static constexpr double bytes_per_element(int width = default_width) {
    return 8.0 + 2.0 * (width - 1);
  }

  /// \brief Adds an array of count() elements. The sum is unchanged if an exception is thrown.
  /// \throws InputError for values that are not finite, and for more than max_terms terms
  /// \throws SumOverflow for a term beyond the window
  template <class T>
  void add(const Instance<Kokkos::HostSpace>& exec, const T* values) {
    add_terms(exec, values, count(), count(), detail::SamePlace{});
  }

  /// \brief Adds an array that covers a part of a grid.
  /// \param exec instance of the host
  /// \param grid the grid of the sum
  /// \param box the nodes of the array
  /// \param values the values at these nodes, the last axis fastest
  /// \throws as the other overload, and InputError for a box that exceeds the grid
  template <class T, int Dim>
  void add(const Instance<Kokkos::HostSpace>& exec, const Grid<Dim>& grid, const Box<Dim>& box,
           const T* values) {
    if (grid.size() != count() || !(intersection(box, whole_box(grid)) == box)) {
      throw InputError(concat("windowed sum: the box ", box_string(box), " of a grid of ",
                              shape_string(grid), " nodes (allowed: boxes inside of the grid of ",
                              count(), " nodes of the sum)"));
    }
    if (box == whole_box(grid)) return add(exec, values);
    if (box.empty()) return;
    add_terms(exec, values, box.size(), box.extent(Dim - 1), detail::IndexInGrid<Dim>{box, grid});
  }

  /// \brief Adds another sum. This sum is unchanged if an exception is thrown.
  /// \throws InputError for another count, and for more than max_terms terms
  /// \throws SumOverflow if the windows have no exponent in common
  void merge(const Instance<Kokkos::HostSpace>& exec, WindowedSum other) {
    if (other.count() != count()) {
      throw InputError(concat("windowed sum: ", other.count(), " elements to be added to ", count(),
                              " (allowed: as many)"));
    }
    check_terms(other.terms());
    if (other.m_state.zero || m_state.zero) {
      const std::int64_t terms = m_state.terms + other.m_state.terms;
      if (m_state.zero) std::swap(m_state, other.m_state);
      m_state.terms = terms;
      return;
    }
    const int highest = std::min(m_state.exponent, other.m_state.exponent);
    const int lowest = std::max(this->lowest(), other.lowest());
    if (highest < lowest) throw beyond(highest, lowest);
    lower(exec, highest);
    other.lower(exec, highest);
    const auto differences = static_cast<std::size_t>(highest - lowest);
    m_state.differences.resize(differences);
    launch("moho::windowed_sum::merge", exec, count(),
           detail::AddSums{m_state.values.data(), other.m_state.values.data()});
    for (std::size_t j = 0; j < differences; ++j) {
      launch("moho::windowed_sum::merge", exec, count(),
             detail::AddDifferences{m_state.differences[j].data(),
                                    other.m_state.differences[j].data()});
    }
    exec.fence();
    m_state.terms += other.m_state.terms;
  }

  /// Writes the sum as count() numbers.
  /// \param exec instance of the host
  /// \param values receives the numbers
  template <class T>
  void result(const Instance<Kokkos::HostSpace>& exec, T* values) const {
    if (m_state.zero) {
      fill(exec, HostElements<T>(values, static_cast<std::size_t>(count())), T(0));
    } else {
      launch(
          "moho::windowed_sum::result", exec, count(),
          detail::FromSums<T>{m_state.values.data(), values, std::ldexp(1.0, -m_state.exponent)});
    }
    exec.fence();
  }

 private:
  int lowest() const { return m_state.exponent - static_cast<int>(m_state.differences.size()); }
  void check_terms(std::int64_t more) const {
    if (m_state.terms + more <= max_terms) return;
    throw InputError(concat("windowed sum: ", m_state.terms + more, " terms (allowed: up to ",
                            max_terms, "): use an ExactSum"));
  }
  // Returns true if all magnitudes are at most `bound`.
  template <class Integer>
  static bool are_within(const HostArray<Integer>& values, std::int64_t bound) {
    Integer min = 0, max = 0;
    for (const Integer value : values) {
      min = std::min(min, value);
      max = std::max(max, value);
    }
    return min >= -bound && max <= bound;
  }
  SumOverflow beyond(int exponent, int lowest) const {
    return SumOverflow(concat("windowed sum: terms with the exponent ", exponent,
                              " (allowed: ", lowest,
                              " or more, after the terms added before): add all terms to an "
                              "ExactSum"));
  }
  void check_state() const {
    const auto& s = m_state;
    const auto held = static_cast<std::size_t>(s.zero ? 0 : s.count);
    bool good = s.count >= 1 && s.values.size() == held && s.terms >= 0 && s.terms <= max_terms &&
                s.differences.size() < static_cast<std::size_t>(detail::largest_window) &&
                s.exponent <= 1000 && s.exponent >= -2000;
    // each rounded term is at most 2^39, each difference of a term -1, 0 or 1
    good = good && are_within(s.values, s.terms << 39);
    for (const auto& differences : s.differences) {
      good = good && differences.size() == held && are_within(differences, s.terms);
    }
    if (good) return;
    throw InputError(concat("windowed sum: values beyond those of ", s.terms,
                            " terms (allowed: states that a sum gave): the sum is damaged, make it "
                            "again"));
  }
  // Makes an exponent the highest one; it is in the window.
  void lower(const Instance<Kokkos::HostSpace>& exec, int exponent) {
    const auto steps = static_cast<std::size_t>(std::max(m_state.exponent - exponent, 0));
    for (std::size_t j = 0; j < steps; ++j) {
      launch("moho::windowed_sum::lower", exec, count(),
             detail::LowerWindow{m_state.values.data(), m_state.differences[j].data()});
    }
    exec.fence();
    m_state.differences.erase(m_state.differences.begin(),
                              m_state.differences.begin() + static_cast<std::ptrdiff_t>(steps));
    m_state.exponent -= static_cast<int>(steps);
  }

  // Allocates the arrays. \param covered false: their elements become zero
  void hold(const Instance<Kokkos::HostSpace>& exec, bool covered) {
    const auto allocate_one = [&]<class Values>(Values& values) {
      using Number = typename Values::value_type;
      values.resize(static_cast<std::size_t>(count()));
      if (!covered) fill(exec, HostElements<Number>(values.data(), values.size()), Number(0));
    };
    allocate_one(m_state.values);
    for (auto& differences : m_state.differences) allocate_one(differences);
  }

  template <class T, class IndexMap>
  void add_terms(const Instance<Kokkos::HostSpace>& exec, const T* values, std::int64_t size,
                 std::int64_t row, const IndexMap& index_map) {
    check_terms(1);
    const double largest = detail::largest_of(exec, values, size);
    if (!std::isfinite(largest)) {
      throw InputError(concat("windowed sum: the largest magnitude is ", largest,
                              " (allowed: finite numbers): look at what computed it"));
    }
    if (largest == 0.0) {
      ++m_state.terms;
      return;
    }
    const int exponent = exact_exponent(largest);
    const bool first = m_state.zero && size == count();
    if (m_state.zero) {
      hold(exec, first);
      m_state.exponent = exponent;
      m_state.zero = false;
    } else {
      if (exponent < lowest()) throw beyond(exponent, lowest());
      lower(exec, exponent);
    }
    detail::AddToWindow<T, IndexMap> body{m_state.values.data(),
                                          {},
                                          static_cast<int>(m_state.differences.size()),
                                          values,
                                          std::ldexp(1.0, m_state.exponent),
                                          row,
                                          first,
                                          index_map};
    for (std::size_t j = 0; j < m_state.differences.size(); ++j) {
      body.differences[j] = m_state.differences[j].data();
    }
    launch("moho::windowed_sum::add", exec, size / row * body.pieces_per_row(), body);
    exec.fence();
    ++m_state.terms;
  }

  WindowedSumState m_state;
};

}  // namespace moho
