// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What the codec has to know about a field before it is encoded.

#include <moho/core/launch.hpp>
#include <moho/wave/layout.hpp>

#include <cmath>
#include <cstdint>

namespace moho::rtm::detail {

/// The largest magnitude, the sum of squares, and the first node without a number.
struct FieldSums {
  double greatest;
  double squares;
  std::int64_t bad;  ///< position in the box, INT64_MAX if there is none
};

/// \brief Reads the nodes of a box. An item is a row on hosts and a node on devices.
template <class T, int Dim, class Memory>
struct FieldSum {
  using value_type = FieldSums;
  static constexpr double limit = 3.0e38;  ///< of magnitudes

  const T* field;
  wave::Layout<Dim> layout;
  Box<Dim> box;

  /// Items of the box.
  std::int64_t items() const {
    return is_host_memory<Memory> && !box.empty() ? box.size() / box.extent(Dim - 1) : box.size();
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, FieldSums& sums) const {
    if constexpr (is_host_memory<Memory>) {
      const std::int64_t row = box.extent(Dim - 1);
      const T* const from = field + layout.flat(box.node(i * row));
      constexpr int lanes = 16;
      double squares[lanes] = {};
      T most[lanes] = {};
      std::int64_t k = 0;
      int wrong = 0;
      for (; k + lanes <= row; k += lanes) {
        for (int l = 0; l < lanes; ++l) {
          const T value = from[k + l];
          const T size = value < T(0) ? -value : value;
          wrong |= !(size <= static_cast<T>(limit));
          most[l] = size > most[l] ? size : most[l];
          squares[l] += static_cast<double>(value) * static_cast<double>(value);
        }
      }
      for (; k < row; ++k) {
        const T value = from[k];
        const T size = value < T(0) ? -value : value;
        wrong |= !(size <= static_cast<T>(limit));
        most[0] = size > most[0] ? size : most[0];
        squares[0] += static_cast<double>(value) * static_cast<double>(value);
      }
      for (int l = 0; l < lanes; ++l) {
        const auto size = static_cast<double>(most[l]);
        sums.greatest = size > sums.greatest ? size : sums.greatest;
        sums.squares += squares[l];
      }
      if (wrong != 0) {
        for (k = 0; k < row; ++k) look(from[k], i * row + k, sums);
      }
    } else {
      const T value = field[layout.flat(box.node(i))];
      look(value, i, sums);
      const auto size = static_cast<double>(value < T(0) ? -value : value);
      sums.greatest = size > sums.greatest ? size : sums.greatest;
      sums.squares += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static void look(T value, std::int64_t at, FieldSums& sums) {
    const T size = value < T(0) ? -value : value;
    if (!(size <= static_cast<T>(limit)) && at < sums.bad) sums.bad = at;
  }
  KOKKOS_INLINE_FUNCTION void init(FieldSums& sums) const {
    sums.greatest = 0.0;
    sums.squares = 0.0;
    sums.bad = INT64_MAX;
  }
  KOKKOS_INLINE_FUNCTION void join(FieldSums& to, const FieldSums& from) const {
    if (from.greatest > to.greatest) to.greatest = from.greatest;
    to.squares += from.squares;
    if (from.bad < to.bad) to.bad = from.bad;
  }
};

/// \brief A histogram of magnitudes: 16 bins an octave, from 2^-60 to 2^8.
struct MagnitudeBins {
  static constexpr int lowest = -60;
  static constexpr int count = 16 * (8 - lowest);

  /// The bin of a number that is not negative.
  KOKKOS_FORCEINLINE_FUNCTION static int of(float magnitude) {
    std::int32_t bits;
    memcpy(&bits, &magnitude, sizeof(bits));
    const int bin = (bits >> 19) - ((127 + lowest) << 4);
    return bin < 0 ? 0 : bin >= count ? count - 1 : bin;
  }
  /// The middle of a bin.
  static double middle(int bin) {
    return std::ldexp(1.0 + (bin % 16 + 0.5) / 16.0, lowest + bin / 16);
  }
};

}  // namespace moho::rtm::detail
