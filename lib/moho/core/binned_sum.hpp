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
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace moho {

namespace detail {

/// Bits of the digit in a bin.
inline constexpr int bin_bits = 40;
/// Initial bin without digits, below the bins of all numbers.
inline constexpr int lowest_bin = -25;
/// Highest bin of all numbers.
inline constexpr int highest_bin = 25;

/// Returns the upper bin of terms. \param largest their largest magnitude, positive
inline int upper_bin(double largest) {
  const auto bin =
      static_cast<int>(std::floor(std::ilogb(largest) / static_cast<double>(bin_bits)));
  return std::max(bin, lowest_bin);
}

/// Returns the bits of a whole number below 2^51 plus 1.5 2^52, whose last ones are the number.
KOKKOS_INLINE_FUNCTION std::int64_t shifted(const double number) {
  const double sum = number + 6755399441055744.0;
  std::int64_t bits;
  memcpy(&bits, &sum, sizeof(bits));
  return bits;
}
/// Returns a number below 2^51 without its fraction.
KOKKOS_INLINE_FUNCTION double whole(const double x) {
  using std::trunc;
  return trunc(x);
}

/// Adds the digits of the terms to two bins.
template <class T, class IndexMap>
struct AddDigits {
  std::int64_t *upper, *lower;
  const T* terms;
  double scale;  ///< 2^(-40 top)
  IndexMap index_map;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    // less than 2^40: all steps are exact
    const double x = static_cast<double>(terms[i]) * scale;
    const double first = whole(x);
    const double second = whole((x - first) * 1099511627776.0);
    const std::int64_t to = index_map(i);
    upper[to] += shifted(first) - shifted(0.0);
    lower[to] += shifted(second) - shifted(0.0);
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

/// Sums as they are.
struct SameSum {
  KOKKOS_INLINE_FUNCTION double operator()(const std::int64_t, const double sum) const {
    return sum;
  }
};

/// Converts the integers of two bins to numbers, by a function of element and sum.
template <class T, class Then = SameSum>
struct FromBins {
  const std::int64_t *upper, *lower;
  T* values;
  double upper_scale, lower_scale;
  Then then = {};
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t carry = lower[i] >> bin_bits;
    const std::int64_t rest = lower[i] - (carry << bin_bits);
    // products with powers of two are exact: fused multiply-add gives the same number
    const double sum = static_cast<double>(upper[i] + carry) * upper_scale +
                       static_cast<double>(rest) * lower_scale;
    values[i] = static_cast<T>(then(i, sum));
  }
};

}  // namespace detail

/// Content of a BinnedSum or BinnedSumOn, for files and messages.
struct BinnedSumState {
  std::int64_t terms = 0;           ///< number of arrays added
  bool finite = true;               ///< false if a term has an infinity or NaN
  int top = detail::lowest_bin;     ///< upper bin
  std::vector<std::int64_t> upper;  ///< digits of the upper bin
  std::vector<std::int64_t> lower;  ///< digits of the bin below
};

bool is_sum_of(const BinnedSumState& state, std::int64_t count);

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
  /// Memory of an element.
  static constexpr double bytes_per_element = 16.0;

  /// Creates a sum without terms.
  /// \param count number of elements, 1 or more
  /// \throws InputError for a count below 1
  explicit BinnedSum(std::int64_t count) {
    if (count < 1)
      throw InputError(concat("binned sum: ", count, " elements (allowed: 1 or more)"));
    m_upper.assign(static_cast<std::size_t>(count), 0);
    m_lower = m_upper;
  }

  /// Creates a sum with the content of another one. \throws InputError for one that no sum has
  explicit BinnedSum(BinnedSumState state)
      : BinnedSum(static_cast<std::int64_t>(state.upper.size())) {
    if (!state.finite || !is_sum_of(state, count())) {
      throw InputError(concat("binned sum: a state of ", state.upper.size(), " elements and ",
                              state.terms, " terms (allowed: states of sums): make the sum again"));
    }
    m_upper = std::move(state.upper);
    m_lower = std::move(state.lower);
    m_top = state.top;
    m_terms = state.terms;
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
      add_terms(exec, values, box.size(), detail::IndexInGrid<Dim>{box, grid});
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

  /// Returns a copy of the content.
  BinnedSumState state() const { return {m_terms, true, m_top, m_upper, m_lower}; }

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

  template <class T, class IndexMap>
  void add_terms(const Instance<Kokkos::HostSpace>& exec, const T* values, std::int64_t size,
                 const IndexMap& index_map) {
    check_terms(1);
    const double largest =
        largest_magnitude(exec, HostElements<const T>(values, static_cast<std::size_t>(size)));
    if (!std::isfinite(largest)) {
      throw InputError(concat("binned sum: the largest magnitude is ", largest,
                              " (allowed: finite numbers): look at what computed it"));
    }
    ++m_terms;
    if (largest == 0.0) return;
    raise(detail::upper_bin(largest));
    launch("moho::binned_sum::add", exec, size,
           detail::AddDigits<T, IndexMap>{m_upper.data(), m_lower.data(), values,
                                          std::ldexp(1.0, -detail::bin_bits * m_top), index_map});
    exec.fence();
  }

  std::vector<std::int64_t> m_upper, m_lower;  // digits of bins m_top and m_top - 1
  int m_top = detail::lowest_bin;
  std::int64_t m_terms = 0;
};

/// Returns true for a state that a sum of `count` elements can have.
inline bool is_sum_of(const BinnedSumState& state, std::int64_t count) {
  const auto elements = static_cast<std::size_t>(count);
  if (state.upper.size() != elements || state.lower.size() != elements || state.terms < 0 ||
      state.terms > BinnedSum::max_terms || state.top < detail::lowest_bin ||
      state.top > detail::highest_bin) {
    return false;
  }
  const std::int64_t bound = state.terms << detail::bin_bits;  // a digit is less than 2^40
  const auto within = [bound](std::int64_t digits) { return digits >= -bound && digits <= bound; };
  return std::all_of(state.upper.begin(), state.upper.end(), within) &&
         std::all_of(state.lower.begin(), state.lower.end(), within);
}

/// \brief The sum of BinnedSum in the memory of an instance, as a gradient needs it.
///
/// The order and grouping of terms do not matter, nor does the kind of memory. A term with an
/// infinity or NaN makes all elements of the sum NaN. Memory: 16 bytes per element.
template <class Memory>
class BinnedSumOn {
 public:
  /// Creates a sum without terms.
  /// \param exec instance of the sum \param count number of elements, 1 or more
  BinnedSumOn(const Instance<Memory>& exec, std::int64_t count)
      : m_upper(allocate<Integers>(exec, "moho::binned_sum", static_cast<std::size_t>(count))),
        m_lower(allocate<Integers>(exec, "moho::binned_sum", static_cast<std::size_t>(count))) {
    clear(exec);
  }
  BinnedSumOn(BinnedSumOn&&) = default;             ///< the source may only be destroyed
  BinnedSumOn& operator=(BinnedSumOn&&) = default;  ///< the source may only be destroyed
  BinnedSumOn(const BinnedSumOn&) = delete;
  BinnedSumOn& operator=(const BinnedSumOn&) = delete;

  /// Returns the number of elements.
  std::int64_t count() const { return static_cast<std::int64_t>(m_upper.extent(0)); }
  /// Returns the number of arrays added.
  std::int64_t terms() const { return m_terms; }
  /// Removes all terms.
  void clear(const Instance<Memory>& exec) {
    fill(exec, m_upper, std::int64_t(0));
    fill(exec, m_lower, std::int64_t(0));
    m_top = detail::lowest_bin;
    m_terms = 0;
    m_finite = true;
  }

  /// \brief Adds an array of count() elements in the memory of the sum.
  /// \throws InputError for more than BinnedSum::max_terms terms
  template <class T>
  void add(const Instance<Memory>& exec, const T* values) {
    check_terms(1);
    const Kokkos::View<const T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> elements(
        values, m_upper.size());
    const double largest = largest_magnitude(exec, elements);
    ++m_terms;
    m_finite = m_finite && std::isfinite(largest);
    if (largest == 0.0 || !m_finite) return;
    raise(exec, detail::upper_bin(largest));
    launch("moho::binned_sum::add", exec, count(),
           detail::AddDigits<T, detail::SamePlace>{m_upper.data(),
                                                   m_lower.data(),
                                                   values,
                                                   std::ldexp(1.0, -detail::bin_bits * m_top),
                                                   {}});
  }

  /// \brief Adds another sum.
  /// \throws InputError for another count, more terms than BinnedSum::max_terms, and a state that
  /// no sum has
  void merge(const Instance<Memory>& exec, const BinnedSumState& other) {
    check_state(other);
    check_terms(other.terms);
    m_terms += other.terms;
    m_finite = m_finite && other.finite;
    if (!m_finite) return;
    raise(exec, other.top);
    const int below = m_top - other.top;
    if (below > 1) return;
    const Integers upper = upload(exec, other.upper, "moho::binned_sum");
    const Integers lower = upload(exec, other.lower, "moho::binned_sum");
    detail::AddBins bins{m_upper.data(), m_lower.data(), nullptr, nullptr};
    if (below == 0) bins.more_upper = upper.data(), bins.more_lower = lower.data();
    if (below == 1) bins.more_lower = upper.data();
    launch("moho::binned_sum::merge", exec, count(), bins);
    exec.fence();
  }

  /// Returns a copy of the content on the host.
  BinnedSumState state(const Instance<Memory>& exec) const {
    return {m_terms, m_finite, m_top, download(exec, m_upper), download(exec, m_lower)};
  }

  /// \brief Writes the sum as count() numbers in the memory of the sum.
  /// \param exec instance of the sum
  /// \param values receives the numbers
  /// \param then function of element and sum that returns the number, callable in kernels
  template <class T, class Then = detail::SameSum>
  void result(const Instance<Memory>& exec, T* values, const Then& then = {}) const {
    const double scale = m_finite ? std::ldexp(1.0, detail::bin_bits * m_top)
                                  : std::numeric_limits<double>::quiet_NaN();
    launch("moho::binned_sum::result", exec, count(),
           detail::FromBins<T, Then>{m_upper.data(), m_lower.data(), values, scale,
                                     std::ldexp(scale, -detail::bin_bits), then});
  }

 private:
  using Integers = Kokkos::View<std::int64_t*, Memory>;

  void check_terms(std::int64_t more) const {
    if (m_terms + more <= BinnedSum::max_terms) return;
    throw InputError(concat("binned sum: ", m_terms + more, " terms (allowed: up to ",
                            BinnedSum::max_terms, "): add in groups"));
  }
  void check_state(const BinnedSumState& state) const {
    if (is_sum_of(state, count())) return;
    throw InputError(concat("binned sum: a state of ", state.upper.size(), " elements and ",
                            state.terms, " terms (allowed: states of sums of ", count(),
                            " elements): make the sum again"));
  }
  // Makes a bin the upper one unless the upper bin is higher.
  void raise(const Instance<Memory>& exec, int top) {
    if (top <= m_top) return;
    if (top == m_top + 1) {
      std::swap(m_upper, m_lower);
    } else {
      fill(exec, m_lower, std::int64_t(0));
    }
    fill(exec, m_upper, std::int64_t(0));
    m_top = top;
  }

  Integers m_upper, m_lower;  // digits of bins m_top and m_top - 1
  int m_top = detail::lowest_bin;
  std::int64_t m_terms = 0;
  bool m_finite = true;
};

}  // namespace moho
