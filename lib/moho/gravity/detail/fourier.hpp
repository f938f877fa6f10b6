// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Discrete Fourier transforms of the lengths 2^a 3^b 4^c 5^d, on any instance.
///
/// Stockham's passes: each pass is a launch over all butterflies of all lines, out of place, and
/// leaves the result in natural order. Every sum has one order.

#include <moho/core/copy.hpp>
#include <moho/core/launch.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace moho::gravity::detail {

/// A complex number.
struct alignas(16) Complex {
  double re, im;
};

KOKKOS_FORCEINLINE_FUNCTION Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
KOKKOS_FORCEINLINE_FUNCTION Complex operator-(Complex a, Complex b) {
  return {a.re - b.re, a.im - b.im};
}
KOKKOS_FORCEINLINE_FUNCTION Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
KOKKOS_FORCEINLINE_FUNCTION Complex conjugate(Complex a) { return {a.re, -a.im}; }
/// Returns i factor a.
KOKKOS_FORCEINLINE_FUNCTION Complex times_i(double factor, Complex a) {
  return {-factor * a.im, factor * a.re};
}

/// Returns the smallest length of transforms that is at least `count`.
std::int64_t fourier_length(std::int64_t count);
/// Returns exp(-2 pi i k / n) for k = 0 to n - 1, rounded from long double.
std::vector<Complex> fourier_table(std::int64_t length);
/// Radix of a pass, a product of two factors of 2 to 5; the second may be 1.
struct Radix {
  int first = 1, second = 1;
};
/// Returns the radices of the passes of a length, with two factors in each where possible.
std::vector<Radix> fourier_radices(std::int64_t length);

/// Transforms of R numbers in place; sign is -1 for exp(-i ...) and +1 for exp(i ...).
template <int R>
struct Butterfly;

template <>
struct Butterfly<1> {
  static KOKKOS_FORCEINLINE_FUNCTION void run(Complex*, double) {}
};

template <>
struct Butterfly<2> {
  static KOKKOS_FORCEINLINE_FUNCTION void run(Complex* a, double) {
    const Complex b = a[1];
    a[1] = a[0] - b;
    a[0] = a[0] + b;
  }
};

template <>
struct Butterfly<3> {
  static KOKKOS_FORCEINLINE_FUNCTION void run(Complex* a, double sign) {
    constexpr double sine = 0.86602540378443864676;  // of 120 degrees
    const Complex sum = a[1] + a[2], turned = times_i(sign * sine, a[1] - a[2]);
    const Complex mean{a[0].re - 0.5 * sum.re, a[0].im - 0.5 * sum.im};
    a[0] = a[0] + sum;
    a[1] = mean + turned;
    a[2] = mean - turned;
  }
};

template <>
struct Butterfly<4> {
  static KOKKOS_FORCEINLINE_FUNCTION void run(Complex* a, double sign) {
    const Complex even = a[0] + a[2], odd = a[1] + a[3];
    const Complex other = a[0] - a[2], turned = times_i(sign, a[1] - a[3]);
    a[0] = even + odd;
    a[1] = other + turned;
    a[2] = even - odd;
    a[3] = other - turned;
  }
};

template <>
struct Butterfly<5> {
  static KOKKOS_FORCEINLINE_FUNCTION void run(Complex* a, double sign) {
    constexpr double c1 = 0.30901699437494742410, s1 = 0.95105651629515357212;   // 72 degrees
    constexpr double c2 = -0.80901699437494742410, s2 = 0.58778525229247312917;  // 144 degrees
    const Complex t1 = a[1] + a[4], t2 = a[2] + a[3], t3 = a[1] - a[4], t4 = a[2] - a[3];
    const Complex m1{a[0].re + c1 * t1.re + c2 * t2.re, a[0].im + c1 * t1.im + c2 * t2.im};
    const Complex m2{a[0].re + c2 * t1.re + c1 * t2.re, a[0].im + c2 * t1.im + c1 * t2.im};
    const Complex n1 = times_i(sign, {s1 * t3.re + s2 * t4.re, s1 * t3.im + s2 * t4.im});
    const Complex n2 = times_i(sign, {s2 * t3.re - s1 * t4.re, s2 * t3.im - s1 * t4.im});
    a[0] = a[0] + t1 + t2;
    a[1] = m1 + n1;
    a[2] = m2 + n2;
    a[3] = m2 - n2;
    a[4] = m1 - n1;
  }
};

/// \brief One pass: butterflies of radix R1 R2 of all lines. An item is (outer, p, q).
///
/// With k = R2 k1 + k2 and j = j1 + R1 j2 a butterfly is a set of R2 transforms of R1 numbers,
/// factors exp(-2 pi i j1 k2 / R), and a set of R1 transforms of R2 numbers.
template <int R1, int R2>
struct FourierPass {
  static constexpr int R = R1 * R2;
  const Complex* from;
  Complex* to;
  const Complex* table;
  std::int64_t length;   ///< n
  std::int64_t present;  ///< length of the remaining transforms
  std::int64_t stride;   ///< n / present times the numbers between elements of a line
  std::int64_t jump;     ///< numbers between the lines of the outer loop
  bool inverse;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t m = present / R, line = m * stride;
    const std::int64_t outer = item / line, p = item % line / stride, q = item % stride;
    const Complex* const x = from + outer * jump + q + stride * p;
    Complex* const y = to + outer * jump + q + stride * R * p;
    const double sign = inverse ? 1.0 : -1.0;
    Complex a[R], part[R1 > R2 ? R1 : R2];
    MOHO_UNROLL for (int k = 0; k < R; ++k) a[k] = x[stride * m * k];
    MOHO_UNROLL for (int k2 = 0; k2 < R2; ++k2) {
      MOHO_UNROLL for (int k1 = 0; k1 < R1; ++k1) part[k1] = a[R2 * k1 + k2];
      Butterfly<R1>::run(part, sign);
      a[k2] = part[0];
      MOHO_UNROLL for (int j1 = 1; j1 < R1; ++j1) {
        a[R2 * j1 + k2] = k2 == 0 ? part[j1] : part[j1] * factor(j1 * k2 * (length / R));
      }
    }
    MOHO_UNROLL for (int j1 = 0; j1 < R1; ++j1) {
      MOHO_UNROLL for (int k2 = 0; k2 < R2; ++k2) part[k2] = a[R2 * j1 + k2];
      Butterfly<R2>::run(part, sign);
      MOHO_UNROLL for (int j2 = 0; j2 < R2; ++j2) {
        const int j = j1 + R1 * j2;
        y[stride * j] = j == 0 ? part[j2] : part[j2] * factor(p * j * (length / present));
      }
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Complex factor(std::int64_t index) const {
    return inverse ? conjugate(table[index]) : table[index];
  }
};

/// Calls body with the factors of a radix as constants.
template <class Body>
void for_radix(Radix radix, const Body& body) {
  const auto with = [&](auto first, auto second) {
    if (radix.first == decltype(first)::value && radix.second == decltype(second)::value) {
      body(first, second);
    }
  };
  const auto up_to = [&](auto first) {
    constexpr int max = decltype(first)::value;
    with(first, std::integral_constant<int, 1>());
    if constexpr (max >= 3) with(first, std::integral_constant<int, 2>());
    if constexpr (max >= 3) with(first, std::integral_constant<int, 3>());
    if constexpr (max >= 4) with(first, std::integral_constant<int, 4>());
    if constexpr (max >= 5) with(first, std::integral_constant<int, 5>());
  };
  up_to(std::integral_constant<int, 2>());
  up_to(std::integral_constant<int, 3>());
  up_to(std::integral_constant<int, 4>());
  up_to(std::integral_constant<int, 5>());
}

/// Transforms of one length.
template <class Memory>
struct Fourier {
  std::int64_t length = 0;
  std::vector<Radix> radices;
  Kokkos::View<Complex*, Memory> table;

  Fourier() = default;
  Fourier(const Instance<Memory>& exec, std::int64_t n)
      : length(n),
        radices(fourier_radices(n)),
        table(upload(exec, fourier_table(n), "moho::gravity::twiddles")) {}

  /// \brief Transforms `outer` times `inner` lines; element k of a line is k * inner numbers on.
  /// \param data,work arrays of at least outer * jump numbers; both are overwritten
  /// \returns the array that holds the result
  Complex* run(const Instance<Memory>& exec, Complex* data, Complex* work, std::int64_t outer,
               std::int64_t inner, std::int64_t jump, bool inverse) const {
    std::int64_t present = length, stride = inner;
    for (const Radix radix : radices) {
      const auto pass = [&](auto first, auto second) {
        constexpr int R1 = decltype(first)::value, R2 = decltype(second)::value;
        launch(
            "moho::gravity::fourier_pass", exec, outer * (present / (R1 * R2)) * stride,
            FourierPass<R1, R2>{data, work, table.data(), length, present, stride, jump, inverse});
      };
      for_radix(radix, pass);
      Complex* const other = data;
      data = work;
      work = other;
      present /= radix.first * radix.second;
      stride *= radix.first * radix.second;
    }
    return data;
  }
};

}  // namespace moho::gravity::detail
