// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arithmetic of gravity's formulas: scalars on a device, vectors of stations on a host.
///
/// The formulas are templates on a number type V. On a device V is a scalar. Square roots and
/// reciprocals start from the hardware's approximations and are refined to about an ulp. Branches
/// for special operands are omitted: these cannot occur between a prism and a station at a
/// distance. On a host V is a vector of core/simd.hpp.

#include <moho/core/kokkos.hpp>
#include <moho/core/simd.hpp>

#include <cmath>
#include <type_traits>

namespace moho::gravity::detail {

/// The scalar of a number type.
template <class V>
struct scalar_of {
  using type = V;
};
template <class T>
struct scalar_of<simd::Pack<T>> {
  using type = T;
};
template <class V>
using ScalarOf = typename scalar_of<V>::type;

/// \name Functions of simd::Pack, for scalars
/// @{
KOKKOS_FORCEINLINE_FUNCTION float multiply_add(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
KOKKOS_FORCEINLINE_FUNCTION double multiply_add(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}
KOKKOS_FORCEINLINE_FUNCTION float square_root(float v) {
#if defined(__CUDA_ARCH__)
  const float y = rsqrtf(v);
  const float r = v * y;
  return fmaf(0.5f * y, fmaf(-r, r, v), r);
#else
  return std::sqrt(v);
#endif
}
KOKKOS_FORCEINLINE_FUNCTION double square_root(double v) {
#if defined(__CUDA_ARCH__)
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(v));
  const double r = v * y;
  const double e = fma(-r, y, 1.0);  // 22 correct bits initially: third-order refinement
  return fma(e * r, fma(e, 0.375, 0.5), r);
#else
  return std::sqrt(v);
#endif
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T select(bool condition, T a, T b) {
  return condition ? a : b;
}
/// @}

/// Returns 1 / v of a positive number.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V reciprocal(V v) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<V, float>) {
    return __fdividef(1.0f, v);
  } else if constexpr (std::is_same_v<V, double>) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(v));
    const double e = fma(-v, y, 1.0);  // 20 correct bits initially: third-order refinement
    return fma(fma(e, e, e), y, y);
  } else {
    return v;
  }
#else
  return V(1) / v;
#endif
}

/// Returns 1 / sqrt(v) of a positive number.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V reciprocal_root(V v) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<V, float>) {
    const float y = rsqrtf(v);
    return fmaf(0.5f * y, fmaf(-v * y, y, 1.0f), y);
  } else if constexpr (std::is_same_v<V, double>) {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(v));
    const double e = fma(-v * y, y, 1.0);  // 22 correct bits initially: third-order refinement
    return fma(e * y, fma(e, 0.375, 0.5), y);
  } else {
    return v;
  }
#else
  return V(1) / square_root(v);
#endif
}

/// Returns a * b - c.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V multiply_subtract(V a, V b, V c) {
  return multiply_add(a, b, -c);
}

/// Returns c - a * b.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V subtract_product(V c, V a, V b) {
  return multiply_add(-a, b, c);
}

/// Returns c[First] + c[First + 1] w + ... + c[N - 1] w^(N - 1 - First).
template <class V, int First = 0, int N>
KOKKOS_FORCEINLINE_FUNCTION V polynomial(V w, const ScalarOf<V> (&c)[N]) {
  if constexpr (First == N - 1) {
    return V(c[First]);
  } else {
    return multiply_add(polynomial<V, First + 1>(w, c), w, V(c[First]));
  }
}

/// Returns atanh(u) for |u| <= 0.177. Minimax polynomials have a relative error of 1e-9 (float) or
/// 1e-17 (double) before rounding.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V small_atanh(V u) {
  const V w = u * u;
  if constexpr (std::is_same_v<ScalarOf<V>, float>) {
    constexpr float c[] = {0.333334251f, 0.199855222f, 0.150120514f};
    return multiply_add(u * w, polynomial<V>(w, c), u);
  } else {
    constexpr double c[] = {0.333333333333341312, 0.199999999994695647,  0.142857144199585886,
                            0.111110944475622396, 0.0909202983202780095, 0.0765073570814236752,
                            0.0746065756199314635};
    return multiply_add(u * w, polynomial<V>(w, c), u);
  }
}

/// Returns atan(t) for |t| <= 0.188, by minimax polynomials as for small_atanh().
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V small_atan(V t) {
  const V w = t * t;
  if constexpr (std::is_same_v<ScalarOf<V>, float>) {
    constexpr float c[] = {-0.333332164f, 0.199834182f, -0.135280249f};
    return multiply_add(t * w, polynomial<V>(w, c), t);
  } else {
    constexpr double c[] = {-0.333333333333319035, 0.199999999991515744,   -0.142857140937753253,
                            0.111110897579475655,  -0.0908961587931953744, 0.0764870038610477277,
                            -0.0589128273249270603};
    return multiply_add(t * w, polynomial<V>(w, c), t);
  }
}

/// Returns atanh(u) for 0 <= u <= 0.42, by halving the hyperbolic angle first.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V medium_atanh(V u) {
  const V one = V(1);
  const V half = u * reciprocal(one + square_root(subtract_product(one, u, u)));
  const V w = half * half;
  V sum;
  if constexpr (std::is_same_v<ScalarOf<V>, float>) {
    constexpr float c[] = {0.333333278f, 0.200008995f, 0.142343941f, 0.122928739f};
    sum = polynomial<V>(w, c);
  } else {
    constexpr double c[] = {0.333333333333333333,  0.200000000000000386,  0.142857142857019137,
                            0.111111111131432182,  0.0909090889641450061, 0.0769231927784615176,
                            0.0666622464655119511, 0.0589313623171989539, 0.0510131320099267548,
                            0.061030315685698442};
    sum = polynomial<V>(w, c);
  }
  const V value = multiply_add(half * w, sum, half);
  return value + value;
}

/// Returns a / b; on a device b is positive and normal.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V quotient(V a, V b) {
#if defined(__CUDA_ARCH__)
  return a * reciprocal(b);
#else
  return a / b;
#endif
}

/// Returns the natural logarithm of a positive normal number.
KOKKOS_FORCEINLINE_FUNCTION double logarithm(double x) {
#if defined(__CUDA_ARCH__)
  // x = m 2^e with m in [1/2, 1)
  const long long bits = __double_as_longlong(x);
  double m = __longlong_as_double((bits & 0xfffffffffffffLL) | 0x3fe0000000000000LL);
  int e = static_cast<int>(bits >> 52) - 1022;
  if (m < 0.70710678118654752440) {
    m += m;
    --e;
  }
  const double series = small_atanh((m - 1.0) * reciprocal(m + 1.0)), exponent = e;
  constexpr double ln2 = 0.693147180369123816490, ln2_rest = 1.90821492927058770002e-10;
  return fma(exponent, ln2, fma(exponent, ln2_rest, series + series));
#else
  return log(x);
#endif
}
/// \overload
KOKKOS_FORCEINLINE_FUNCTION simd::Pack<double> logarithm(const simd::Pack<double>& x) {
#if defined(__CUDA_ARCH__)
  return x;
#else
  using V = simd::Vector<double>;
  using Bits = simd::Bits<double>;
  constexpr std::int64_t mantissa = 0xfffffffffffff, half = 0x3fe0000000000000;
  const Bits bits = (Bits)x.lanes;
  // x = m 2^e with m in [1/2, 1); the exponent becomes a number in the digits of 2^52
  V m = (V)((bits & mantissa) | half);
  V e = (V)((bits >> 52) | 0x4330000000000000) - (4503599627370496.0 + 1022.0);
  const Bits small = m < 0.70710678118654752440;
  e = small ? e - 1.0 : e;
  m = small ? m + m : m;
  const simd::Pack<double> u((m - 1.0) / (m + 1.0));
  const V series = small_atanh(u).lanes;
  constexpr double ln2 = 0.693147180369123816490, ln2_rest = 1.90821492927058770002e-10;
  return simd::Pack<double>(e * ln2 + (series + series + e * ln2_rest));
#endif
}

/// Returns atan(n / d), or `otherwise` if d is 0 or too small for a reciprocal. Double precision.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V arctangent(V n, V d, V otherwise) {
  const V zero(0.0), one(1.0);
  const V a = select(n < zero, -n, n), b = select(d < zero, -d, d);
  const auto plane = b < V(2.2250738585072014e-308);
  const auto steep = b < a;
  const V low = select(steep, b, a), high = select(steep, a, b);
  const auto turned = V(0.41421356237309504880) * high < low;
  const V over = select(turned, low - high, low);
  const V under = select(turned, low + high, high);
  const V t = over * reciprocal(select(plane, one, under));
  const V w = t * t;
  constexpr double c[] = {-0.333333333333331288,  0.199999999999426532,   -0.142857142794090526,
                          0.111111107522671855,   -0.0909089700748814048, 0.0769204867281989536,
                          -0.0666298797114067024, 0.0584712965601196987,  -0.0503618767392172856,
                          0.037991738805337574,   -0.0178333051953642463};
  V angle = multiply_add(t * w, polynomial<V>(w, c), t);
  angle = select(turned, angle + V(0.78539816339744830962), angle);
  angle = select(steep, V(1.57079632679489661923) - angle, angle);
  angle = select(n * d < zero, -angle, angle);
  return select(plane, otherwise, angle);
}

}  // namespace moho::gravity::detail
