// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Vector kernels of L-BFGS (internal).
///
/// `free` marks the unknowns that may change in this iteration; null marks all of them.

#include <moho/core/kokkos.hpp>
#include <moho/core/reduce_blocks.hpp>

#include <cstdint>

namespace moho::optimize::detail {

/// Bounds of the unknowns; null means unbounded.
template <class T>
struct BoundsOf {
  const T *lower, *upper;
  KOKKOS_FORCEINLINE_FUNCTION T clamped(std::int64_t i, T value) const {
    if (lower != nullptr && value < lower[i]) value = lower[i];
    if (upper != nullptr && value > upper[i]) value = upper[i];
    return value;
  }
};

/// An array of sums in double precision.
template <int count>
struct Doubles {
  double value[count];
};
template <int count>
struct SumOfDoubles {
  using value_type = Doubles<count>;
  KOKKOS_INLINE_FUNCTION void init(value_type& sum) const {
    for (int k = 0; k < count; ++k) sum.value[k] = 0.0;
  }
  KOKKOS_INLINE_FUNCTION void join(value_type& to, const value_type& from) const {
    for (int k = 0; k < count; ++k) to.value[k] += from.value[k];
  }
};

/// Computes a . b.
template <class T>
struct Dot : SumOfDoubles<1> {
  const T *a, *b;
  const unsigned char* free;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& sum) const {
    if (free != nullptr && free[i] == 0) return;
    sum.value[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
};

/// Computes s . y, s . s, y . y and y . P y.
template <class T>
struct PairSums : SumOfDoubles<4> {
  const T *s, *y, *scale;
  const unsigned char* free;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& sum) const {
    if (free != nullptr && free[i] == 0) return;
    const double a = static_cast<double>(s[i]), b = static_cast<double>(y[i]);
    const double p = scale != nullptr ? static_cast<double>(scale[i]) : 1.0;
    sum.value[0] += a * b;
    sum.value[1] += a * a;
    sum.value[2] += b * b;
    sum.value[3] += b * p * b;
  }
};

/// Computes q += factor v, then q . next.
template <class T>
struct AddAndDot : SumOfDoubles<1> {
  T* q;
  const T *v, *next;  ///< next may be null
  double factor;
  const unsigned char* free;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& sum) const {
    if (free != nullptr && free[i] == 0) return;
    const T value = static_cast<T>(static_cast<double>(q[i]) + factor * static_cast<double>(v[i]));
    q[i] = value;
    if (next != nullptr) sum.value[0] += static_cast<double>(value) * static_cast<double>(next[i]);
  }
};

/// Computes q = -g for free unknowns and 0 for others, then q . next.
template <class T>
struct TakeGradient : SumOfDoubles<1> {
  const T *g, *next;
  T* q;
  const unsigned char* free;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& sum) const {
    const T value = free != nullptr && free[i] == 0 ? T(0) : -g[i];
    q[i] = value;
    if (next != nullptr) sum.value[0] += static_cast<double>(value) * static_cast<double>(next[i]);
  }
};

/// Computes q *= factor P, then q . next.
template <class T>
struct ScaleAndDot : SumOfDoubles<1> {
  T* q;
  const T *scale, *next;
  double factor;
  const unsigned char* free;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& sum) const {
    if (free != nullptr && free[i] == 0) return;
    const double p = scale != nullptr ? static_cast<double>(scale[i]) : 1.0;
    const T value = static_cast<T>(factor * p * static_cast<double>(q[i]));
    q[i] = value;
    if (next != nullptr) sum.value[0] += static_cast<double>(value) * static_cast<double>(next[i]);
  }
};

/// Properties of a direction.
struct DirectionSums {
  double slope, square, largest, farthest;
};
/// \brief Computes d = clamp(x + factor d) - x and properties of d.
///
/// These are d . g, d . d, the largest |d|, and the largest step along d within the bounds.
template <class T>
struct LimitDirection {
  using value_type = DirectionSums;
  const T *x, *g;
  T* d;
  BoundsOf<T> bounds;
  double factor;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& sum) const {
    T change = static_cast<T>(factor * static_cast<double>(d[i]));
    if (bounds.lower != nullptr || bounds.upper != nullptr) {
      // at step 1 an active bound is reached exactly, in the rounding of T
      change = bounds.clamped(i, x[i] + change) - x[i];
    }
    d[i] = change;
    const double c = static_cast<double>(change), at = static_cast<double>(x[i]);
    const double size = c < 0.0 ? -c : c;
    sum.slope += c * static_cast<double>(g[i]);
    sum.square += c * c;
    if (size > sum.largest) sum.largest = size;
    double room = 1e300;
    if (c < 0.0 && bounds.lower != nullptr) room = (at - static_cast<double>(bounds.lower[i])) / -c;
    if (c > 0.0 && bounds.upper != nullptr) room = (static_cast<double>(bounds.upper[i]) - at) / c;
    if (room < sum.farthest) sum.farthest = room;
  }
  KOKKOS_INLINE_FUNCTION void init(value_type& sum) const { sum = {0.0, 0.0, 0.0, 1e300}; }
  KOKKOS_INLINE_FUNCTION void join(value_type& to, const value_type& from) const {
    to.slope += from.slope;
    to.square += from.square;
    if (from.largest > to.largest) to.largest = from.largest;
    if (from.farthest < to.farthest) to.farthest = from.farthest;
  }
};

/// Computes point = clamp(x + step d).
template <class T>
struct TakeStep {
  const T *x, *d;
  T* point;
  BoundsOf<T> bounds;
  double step;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    point[i] = bounds.clamped(
        i, static_cast<T>(static_cast<double>(x[i]) + step * static_cast<double>(d[i])));
  }
};

/// Computes s = point - x and y = g' - g, and replaces x and g by the new values.
template <class T>
struct MovePair {
  const T *point, *gradient;
  T *x, *g, *s, *y;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const T to = point[i], slope = gradient[i];
    s[i] = to - x[i];
    y[i] = slope - g[i];
    x[i] = to;
    g[i] = slope;
  }
};

/// Copies a gradient; elements where the mask is 0 become 0.
template <class T>
struct MaskedCopy {
  const T* from;
  T* to;
  const unsigned char* mask;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    to[i] = mask != nullptr && mask[i] == 0 ? T(0) : from[i];
  }
};

/// Properties of a point: |g|^2 of the free unknowns, |x|^2, number of fixed unknowns.
struct PointSums {
  double gradient, point;
  std::int64_t held;
};
/// Marks the free unknowns and computes the properties of a point.
///
/// An unknown is fixed if it is masked, or at a bound with -g pointing beyond it.
template <class T>
struct FindFree {
  using value_type = PointSums;
  const T *x, *g;
  BoundsOf<T> bounds;
  const unsigned char* mask;
  unsigned char* free;  ///< null: all are free
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& sum) const {
    bool may = mask == nullptr || mask[i] != 0;
    if (bounds.lower != nullptr && x[i] <= bounds.lower[i] && g[i] > T(0)) may = false;
    if (bounds.upper != nullptr && x[i] >= bounds.upper[i] && g[i] < T(0)) may = false;
    const double a = static_cast<double>(g[i]), b = static_cast<double>(x[i]);
    if (free != nullptr) free[i] = may ? 1 : 0;
    if (may) {
      sum.gradient += a * a;
    } else {
      ++sum.held;
    }
    sum.point += b * b;
  }
  KOKKOS_INLINE_FUNCTION void init(value_type& sum) const { sum = {0.0, 0.0, 0}; }
  KOKKOS_INLINE_FUNCTION void join(value_type& to, const value_type& from) const {
    to.gradient += from.gradient;
    to.point += from.point;
    to.held += from.held;
  }
};

/// Tests for an element that is not finite.
template <class T>
struct NotFinite {
  const T* values;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    const T value = values[i];
    return !(value - value == T(0));
  }
};

/// Tests for an unknown whose lower bound exceeds its upper bound.
template <class T>
struct Crossed {
  const T *lower, *upper;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    return !(lower[i] <= upper[i]);
  }
};
/// Tests for an unknown outside of its bounds.
template <class T>
struct Outside {
  const T* x;
  BoundsOf<T> bounds;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    return bounds.clamped(i, x[i]) != x[i];
  }
};
/// Tests for a factor that is not positive and finite.
template <class T>
struct NotPositive {
  const T* values;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    return !(values[i] > T(0)) || !(values[i] - values[i] == T(0));
  }
};

}  // namespace moho::optimize::detail
