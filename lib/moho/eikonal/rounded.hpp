// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbers whose operations are rounded one by one.

#include <moho/core/kokkos.hpp>

namespace moho::eikonal::detail {

/// A product that compilers of hosts do not join with a sum.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T detached(T product) {
#if defined(__CUDACC__)
  // an option of the compiler does it: lib/kernels/CMakeLists.txt
#elif defined(__clang__) || defined(__GNUC__)
#if defined(__x86_64__)
  asm("" : "+x"(product));
#elif defined(__aarch64__)
  asm("" : "+w"(product));
#endif
#endif
  return product;
}

/// \brief A number of type T whose products, quotients and roots are rounded as IEEE 754 says.
///
/// Compilers join a product and a sum into one operation that rounds once, at places that they
/// choose anew wherever a function is inlined. With numbers of this type a formula has the same
/// bits everywhere: in every kernel, on hosts and on devices.
template <class T>
struct Rounded {
  T value;

  Rounded() = default;
  /// A number.
  KOKKOS_FORCEINLINE_FUNCTION constexpr Rounded(T number) : value(number) {}

  /// The distance from 1 to the next number.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr Rounded epsilon() {
    constexpr T result = std::numeric_limits<T>::epsilon();
    return result;
  }

  KOKKOS_FORCEINLINE_FUNCTION friend Rounded operator*(Rounded a, Rounded b) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) {
      return __fmul_rn(a.value, b.value);
    } else {
      return __dmul_rn(a.value, b.value);
    }
#else
    return detached(a.value * b.value);
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Rounded operator/(Rounded a, Rounded b) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) {
      return __fdiv_rn(a.value, b.value);
    } else {
      return __ddiv_rn(a.value, b.value);
    }
#else
    return a.value / b.value;
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Rounded sqrt(Rounded a) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) {
      return __fsqrt_rn(a.value);
    } else {
      return __dsqrt_rn(a.value);
    }
#else
    return std::sqrt(a.value);
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Rounded operator+(Rounded a, Rounded b) {
    return a.value + b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Rounded operator-(Rounded a, Rounded b) {
    return a.value - b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Rounded operator-(Rounded a) { return -a.value; }
  KOKKOS_FORCEINLINE_FUNCTION friend bool operator<(Rounded a, Rounded b) {
    return a.value < b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend bool operator>(Rounded a, Rounded b) {
    return a.value > b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend bool operator<=(Rounded a, Rounded b) {
    return a.value <= b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend bool operator>=(Rounded a, Rounded b) {
    return a.value >= b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend bool operator==(Rounded a, Rounded b) {
    return a.value == b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION Rounded& operator+=(Rounded b) { return *this = *this + b; }
  KOKKOS_FORCEINLINE_FUNCTION Rounded& operator-=(Rounded b) { return *this = *this - b; }
  KOKKOS_FORCEINLINE_FUNCTION Rounded& operator*=(Rounded b) { return *this = *this * b; }
};

/// The size of a number.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Rounded<T> magnitude(Rounded<T> a) {
  return a.value < T(0) ? -a : a;
}

/// The smaller of two numbers.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Rounded<T> smaller(Rounded<T> a, Rounded<T> b) {
  return b < a ? b : a;
}

}  // namespace moho::eikonal::detail
