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
#include <vector>

namespace moho::gravity::detail {

/// A complex number.
struct alignas(16) Complex {
  double re, im;
};

KOKKOS_FORCEINLINE_FUNCTION Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
KOKKOS_FORCEINLINE_FUNCTION Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
KOKKOS_FORCEINLINE_FUNCTION Complex conjugate(Complex a) { return {a.re, -a.im}; }

/// Returns the smallest length of transforms that is at least `count`.
std::int64_t fourier_length(std::int64_t count);
/// Returns exp(-2 pi i k / n) for k = 0 to n - 1, rounded from long double.
std::vector<Complex> fourier_table(std::int64_t length);
/// Returns the radices of a length, the largest first.
std::vector<int> fourier_radices(std::int64_t length);

/// One pass: butterflies of radix R of all lines. An item is (outer, p, q).
template <int R>
struct FourierPass {
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
    Complex a[R];
    for (int k = 0; k < R; ++k) a[k] = x[stride * m * k];
    for (int j = 0; j < R; ++j) {
      Complex sum = a[0];
      for (int k = 1; k < R; ++k) sum = sum + a[k] * factor(j * k % R * (length / R));
      y[stride * j] = j == 0 ? sum : sum * factor(p * j * (length / present));
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Complex factor(std::int64_t index) const {
    return inverse ? conjugate(table[index]) : table[index];
  }
};

/// Transforms of one length.
template <class Memory>
struct Fourier {
  std::int64_t length = 0;
  std::vector<int> radices;
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
    for (const int radix : radices) {
      const auto pass = [&](auto r) {
        constexpr int R = decltype(r)::value;
        if (radix != R) return;
        launch("moho::gravity::fourier_pass", exec, outer * (present / R) * stride,
               FourierPass<R>{data, work, table.data(), length, present, stride, jump, inverse});
      };
      pass(std::integral_constant<int, 2>());
      pass(std::integral_constant<int, 3>());
      pass(std::integral_constant<int, 4>());
      pass(std::integral_constant<int, 5>());
      Complex* const other = data;
      data = work;
      work = other;
      present /= radix;
      stride *= radix;
    }
    return data;
  }
};

}  // namespace moho::gravity::detail
