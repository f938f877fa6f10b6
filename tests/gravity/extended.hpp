// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The field of a prism by the textbook's closed form in twice double precision.
///
/// It is the reference for all formulas, near, far and at singular points.

#include <array>
#include <cmath>

namespace moho::testing {

/// An unevaluated sum of two doubles: about 31 decimal digits. |low| is at most half a unit in the
/// last place of high.
struct Extended {
  double high = 0.0, low = 0.0;

  Extended() = default;
  Extended(double value) : high(value) {}  // NOLINT: meant to convert
  Extended(double h, double l) : high(h), low(l) {}
};

/// Returns a + b without rounding error, for any a and b.
inline Extended exact_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

/// Returns a + b without rounding error, for |a| >= |b|.
inline Extended exact_quick_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

inline Extended exact_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

inline Extended operator-(const Extended& a) { return {-a.high, -a.low}; }

inline Extended operator+(const Extended& a, const Extended& b) {
  const Extended high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const Extended sum = exact_quick_sum(high.high, high.low + low.high);
  return exact_quick_sum(sum.high, sum.low + low.low);
}

inline Extended operator-(const Extended& a, const Extended& b) { return a + (-b); }

inline Extended operator*(const Extended& a, const Extended& b) {
  const Extended product = exact_product(a.high, b.high);
  return exact_quick_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

inline Extended operator/(const Extended& a, const Extended& b) {
  const double first = a.high / b.high;
  Extended rest = a - b * Extended(first);
  const double second = rest.high / b.high;
  rest = rest - b * Extended(second);
  return exact_quick_sum(first, second) + Extended(rest.high / b.high);
}

inline Extended& operator+=(Extended& a, const Extended& b) { return a = a + b; }

inline double to_double(const Extended& a) { return a.high + a.low; }
inline bool is_zero(const Extended& a) { return a.high == 0.0; }
inline bool is_negative(const Extended& a) { return a.high < 0.0; }

/// Returns the square root of a non-negative number.
Extended square_root(const Extended& a);
/// Returns the natural logarithm of a positive number.
Extended logarithm(const Extended& a);
/// Returns the principal value of atan(y / x) for non-zero x.
Extended arc_tangent(const Extended& y, const Extended& x);
/// Returns pi.
Extended pi_extended();

/// x1, x2, y1, y2, z1, z2 (m), density (kg/m^3), as in a row of an ensemble.
using Prism = std::array<double, 7>;
/// x, y, z (m).
using Station = std::array<double, 3>;
/// The ten components in the order of Component.
using Field = std::array<double, 10>;
/// The ten components before rounding to double.
using ExtendedField = std::array<Extended, 10>;

/// Returns the closed form of Nagy et al. in extended precision, each term as in the theory page.
/// At singular points it follows the library's contract: NaN for components that do not exist, the
/// limit from outside on faces. The relative error is below about 1e-31 (D / a)^3 (L / a)^2, with
/// side a, longest side L and distance D. At 1e4 sides from a cube this is 1e-17.
ExtendedField extended_prism(const Prism& prism, const Station& station, double constant);

/// Returns extended_prism() rounded to double.
Field exact_prism(const Prism& prism, const Station& station, double constant);

}  // namespace moho::testing
