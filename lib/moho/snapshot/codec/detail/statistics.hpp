// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Statistics of a field that the codec needs before encoding.

#include <moho/core/launch.hpp>
#include <moho/core/simd.hpp>
#include <moho/wave/layout.hpp>

#include <cmath>
#include <cstdint>

namespace moho::snapshot::detail {

/// Largest magnitude, sum of squares, and first node that is not finite.
struct FieldSums {
  double max;
  double squares;
  std::int64_t bad;  ///< position in the box, INT64_MAX if all are finite
};

/// \brief Reduction over the nodes of a box, one node for each item.
///
/// FieldRows does the same on hosts, FieldParts on devices.
template <class T, int Dim>
struct FieldNodes {
  using value_type = FieldSums;
  static constexpr double limit = 3.0e38;  ///< limit of magnitudes

  const T* field;
  wave::Layout<Dim> layout;
  Box<Dim> box;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, FieldSums& sums) const {
    look(field[layout.flat(box.node(i))], i, sums);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void look(T value, std::int64_t at, FieldSums& sums) {
    const auto number = static_cast<double>(value);
    const double size = number < 0.0 ? -number : number;
    if (!(size <= limit) && at < sums.bad) sums.bad = at;
    sums.max = size > sums.max ? size : sums.max;
    sums.squares += number * number;
  }
  KOKKOS_INLINE_FUNCTION void init(FieldSums& sums) const {
    sums.max = 0.0;
    sums.squares = 0.0;
    sums.bad = INT64_MAX;
  }
  KOKKOS_INLINE_FUNCTION void join(FieldSums& to, const FieldSums& from) const {
    if (from.max > to.max) to.max = from.max;
    to.squares += from.squares;
    if (from.bad < to.bad) to.bad = from.bad;
  }
};

/// \brief Reduction over the nodes of a box, one row for each item. Host code.
template <class T, int Dim>
struct FieldRows : FieldNodes<T, Dim> {
  /// Rows of the box.
  std::int64_t items() const {
    return this->box.empty() ? 0 : this->box.size() / this->box.extent(Dim - 1);
  }
  void operator()(const std::int64_t i, FieldSums& sums) const {
    using V = simd::Vector<T>;
    constexpr int lanes = simd::lanes<T>;
    const std::int64_t row = this->box.extent(Dim - 1);
    const T* const from = this->field + this->layout.flat(this->box.node(i * row));
    V squares{}, peak{};
    std::int64_t k = 0;
    for (; k + lanes <= row; k += lanes) {
      const V value = simd::load(from + k);
      const V size = value < T(0) ? -value : value;
      peak = size > peak ? size : peak;  // ignores NaN; the sum of squares propagates it
      squares += value * value;
    }
    FieldSums own;
    this->init(own);
    for (int l = 0; l < lanes; ++l) {
      const auto size = static_cast<double>(peak[l]);
      own.max = size > own.max ? size : own.max;
      own.squares += static_cast<double>(squares[l]);
    }
    const bool whole = own.squares <= this->limit && own.max <= this->limit;
    // squares of very large and very small numbers overflow or underflow in single precision
    const bool exact = whole && (own.max == 0.0 || own.max > 1e-12);
    if (!exact) {
      this->init(own);
      k = 0;
    }
    for (; k < row; ++k) this->look(from[k], i * row + k, own);
    this->join(sums, own);
  }
};

/// \brief Rows of a 3D box from which the codec estimates the largest amplitude: one of eight.
///
/// Row (x, y) is one of them if x + 3 y is a multiple of 8. Their distances are 3.2 nodes or more.
struct SampleRows {
  /// The estimate is used if no amplitude exceeds it by more than this factor.
  static constexpr double max_above = 1.25;
  /// The least number of nodes of a box with an estimate.
  static constexpr std::int64_t min_nodes = std::int64_t(1) << 18;

  Box<3> box;
  std::int64_t rows_of_plane;  ///< rows of a plane, or one more

  explicit SampleRows(const Box<3>& nodes)
      : box(nodes), rows_of_plane((nodes.upper[1] - nodes.lower[1] + 7) / 8) {}
  /// Returns the number of rows, some of which can be outside of the box.
  std::int64_t size() const { return (box.upper[0] - box.lower[0]) * rows_of_plane; }
  /// Returns the first node of a row.
  KOKKOS_FORCEINLINE_FUNCTION Index<3> row(std::int64_t n) const {
    const std::int64_t x = box.lower[0] + n / rows_of_plane;
    const std::int64_t y = box.lower[1];
    return {x, y + ((5 * x - y) % 8 + 8) % 8 + n % rows_of_plane * 8, box.lower[2]};
  }
};

/// Reduction of the largest amplitude of sample rows, one row for each item. Host code.
struct SampleRowsPeak {
  using value_type = float;
  const float* field;
  wave::Layout<3> layout;
  SampleRows rows;
  void operator()(const std::int64_t i, float& peak) const {
    const Index<3> row = rows.row(i);
    if (row[1] >= rows.box.upper[1]) return;
    const float* const from = field + layout.flat(row);
    const std::int64_t count = rows.box.upper[2] - rows.box.lower[2];
    float own = 0.0f;
    for (std::int64_t k = 0; k < count; ++k) {
      const float size = from[k] < 0.0f ? -from[k] : from[k];
      own = size > own ? size : own;
    }
    join(peak, own);
  }
  KOKKOS_INLINE_FUNCTION void init(float& peak) const { peak = 0.0f; }
  KOKKOS_INLINE_FUNCTION void join(float& to, const float& from) const {
    if (from > to) to = from;
  }
};

/// \brief Histogram of magnitudes: 16 bins for each octave, from 2^-60 to 2^8.
struct MagnitudeBins {
  static constexpr int lowest = -60;
  static constexpr int count = 16 * (8 - lowest);

  /// Returns the bin of a number that is not negative.
  KOKKOS_FORCEINLINE_FUNCTION static int of(float magnitude) {
    std::int32_t bits;
    memcpy(&bits, &magnitude, sizeof(bits));
    const int bin = (bits >> 19) - ((127 + lowest) << 4);
    return bin < 0 ? 0 : bin >= count ? count - 1 : bin;
  }
  /// Returns the centre of a bin.
  static double middle(int bin) {
    return std::ldexp(1.0 + (bin % 16 + 0.5) / 16.0, lowest + bin / 16);
  }
};

}  // namespace moho::snapshot::detail
