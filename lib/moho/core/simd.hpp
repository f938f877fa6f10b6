// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Explicit vectors for host kernels, on the vector extension that GCC and Clang share.
///
/// The row kernels of the host keep a whole row in registers over hundreds of operations. Written
/// as loops, GCC 12 turns them inside out and gathers; written with these vectors they come out as
/// meant, for whatever width the compiler targets. Host code only.

#include <cstring>

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

/// By lane, a if it is smaller than b, else b.
template <class V>
inline V smaller(V a, V b) {
  return a < b ? a : b;
}

}  // namespace moho::simd
