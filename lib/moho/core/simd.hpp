// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Explicit vectors for host kernels, on the vector extension that GCC and Clang share.
///
/// The row kernels of the host keep a whole row in registers over hundreds of operations. Written
/// as loops, GCC 12 turns them inside out and gathers; written with these vectors they come out as
/// meant, for whatever width the compiler targets. Host code only.

#include <cmath>
#include <cstring>
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace moho::simd {

/// Bytes of a vector of the machine that is compiled for.
#if defined(__AVX512F__)
inline constexpr int bytes = 64;
#elif defined(__AVX__)
inline constexpr int bytes = 32;
#else
inline constexpr int bytes = 16;
#endif

/// Scalars in a vector.
template <class T>
inline constexpr int lanes = bytes / static_cast<int>(sizeof(T));

namespace detail {
template <class T>
struct vector_of {
  typedef T type __attribute__((vector_size(bytes)));
};
}  // namespace detail

/// A vector of lanes<T> scalars; arithmetic, comparison and ?: work by lane.
template <class T>
using Vector = typename detail::vector_of<T>::type;

/// Reads lanes<T> scalars from any address.
template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

/// Writes lanes<T> scalars to any address.
template <class T>
inline void store(T* to, Vector<T> v) {
  std::memcpy(to, &v, sizeof(v));
}

/// The same scalar in every lane.
template <class T>
inline Vector<T> broadcast(T value) {
  return Vector<T>{} + value;
}

/// a * b + c by lane, rounded once where the compiler targets a machine that can.
template <class T>
inline Vector<T> multiply_add(Vector<T> a, Vector<T> b, Vector<T> c) {
#if defined(__FMA__) && defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
  } else {
    return (Vector<T>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
  }
#elif defined(__FMA__)
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
  } else {
    return (Vector<T>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
  }
#else
  return a * b + c;
#endif
}

/// Square roots by lane.
template <class T>
inline Vector<T> square_root(Vector<T> v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm512_maskz_sqrt_ps(0xffff, (__m512)v);
  } else {
    return (Vector<T>)_mm512_maskz_sqrt_pd(0xff, (__m512d)v);
  }
#elif defined(__AVX__)
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm256_sqrt_ps((__m256)v);
  } else {
    return (Vector<T>)_mm256_sqrt_pd((__m256d)v);
  }
#else
  for (int lane = 0; lane < lanes<T>; ++lane) v[lane] = std::sqrt(v[lane]);
  return v;
#endif
}

/// The smallest and the largest of all lanes.
template <class T>
inline T least(Vector<T> v) {
  T result = v[0];
  for (int lane = 1; lane < lanes<T>; ++lane) result = v[lane] < result ? v[lane] : result;
  return result;
}

/// By lane, a if it is smaller than b, else b.
template <class V>
inline V smaller(V a, V b) {
  return a < b ? a : b;
}

}  // namespace moho::simd
