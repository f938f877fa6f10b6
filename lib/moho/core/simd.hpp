// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Explicit SIMD vectors for host kernels, based on the vector extension of GCC and Clang.
///
/// Row kernels of the host keep a row in registers over hundreds of operations. GCC 12 does not
/// vectorise them this way as loops: it interchanges the loops and emits gathers. Host code only;
/// the vector width is that of the target architecture.

#include <moho/core/kokkos.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace moho::simd {

/// Size of a vector in bytes.
#if defined(__AVX512F__)
inline constexpr int bytes = 64;
#elif defined(__AVX__)
inline constexpr int bytes = 32;
#else
inline constexpr int bytes = 16;
#endif

/// Number of scalars in a vector.
template <class T>
inline constexpr int lanes = bytes / static_cast<int>(sizeof(T));

namespace detail {
template <class T>
struct vector_of {
  typedef T type __attribute__((vector_size(bytes)));
};
}  // namespace detail

/// A vector of lanes<T> scalars; arithmetic, comparison and ?: act on each lane.
template <class T>
using Vector = typename detail::vector_of<T>::type;

/// Loads lanes<T> scalars from an unaligned address.
template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

/// Stores lanes<T> scalars to an unaligned address.
template <class T>
inline void store(T* to, Vector<T> v) {
  std::memcpy(to, &v, sizeof(v));
}

/// Returns a vector with the same scalar in every lane.
template <class T>
inline Vector<T> broadcast(T value) {
  return value - Vector<T>{};  // compilers omit a subtraction of zero, but no addition
}

/// Returns for each lane a if a < b, else b.
template <class V>
inline V smaller(V a, V b) {
  return a < b ? a : b;
}

/// An integer vector for the bits of a vector or a comparison (all bits of a lane set or clear).
template <class T>
using Bits = Vector<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;

/// \brief A SIMD vector as a class, for formulas that are templates on a number type.
///
/// The same formulas are instantiated for scalars on devices. nvcc rejects host-device functions
/// that use vector types. In device compilation the class therefore holds an array of the same
/// size, and its member functions must not be called.
template <class T>
struct Pack {
#if defined(__CUDA_ARCH__)
/// \cond
#define MOHO_PACK(expression) return Pack()
  T lanes[bytes / static_cast<int>(sizeof(T))];
  struct Mask {};
/// \endcond
#else
/// \cond
#define MOHO_PACK(expression) return Pack(expression)
  /// \endcond
  Vector<T> lanes;  ///< the scalars
  /// Result of a comparison.
  struct Mask {
    Bits<T> lanes;  ///< all bits of a lane are set where the comparison is true
  };
#endif

  Pack() = default;
  /// Broadcasts a scalar to every lane.
  KOKKOS_FORCEINLINE_FUNCTION Pack(T value) {
#if defined(__CUDA_ARCH__)
    lanes[0] = value;
#else
    lanes = broadcast(value);
#endif
  }
#if !defined(__CUDA_ARCH__)
  /// Wraps a vector.
  Pack(Vector<T> vector) : lanes(vector) {}
#endif

  /// Loads all lanes from an unaligned address. Host only.
  static Pack load(const T* from) {
    Pack pack;
    std::memcpy(&pack.lanes, from, sizeof(pack.lanes));
    return pack;
  }
  /// Stores all lanes to an unaligned address. Host only.
  void store(T* to) const { std::memcpy(to, &lanes, sizeof(lanes)); }
  /// Loads the first `count` lanes, 1 or more; the others are zero. Host only.
  ///
  /// No address beyond the last loaded lane is accessed.
  static Pack load(const T* from, std::int64_t count) {
    if (count >= simd::lanes<T>) return load(from);
    Pack pack;
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) {
      pack.lanes = (Vector<T>)_mm512_maskz_loadu_ps(first_lanes(count), from);
    } else {
      pack.lanes = (Vector<T>)_mm512_maskz_loadu_pd(first_lanes(count), from);
    }
#elif defined(__AVX__) && !defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) {
      pack.lanes = (Vector<T>)_mm256_maskload_ps(from, first_lanes(count));
    } else {
      pack.lanes = (Vector<T>)_mm256_maskload_pd(from, first_lanes(count));
    }
#else
    T some[simd::lanes<T>] = {};
    for (std::int64_t n = 0; n < count; ++n) some[n] = from[n];
    std::memcpy(&pack.lanes, some, sizeof(pack.lanes));
#endif
    return pack;
  }
  /// Loads the lanes from `first` up to, not including, `last`; the others are zero. Host only.
  ///
  /// No address outside of these lanes is accessed.
  static Pack load(const T* from, std::int64_t first, std::int64_t last) {
    if (first <= 0) return load(from, last);
    T some[simd::lanes<T>] = {};
    last = last < simd::lanes<T> ? last : simd::lanes<T>;
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
    (void)some;
    const auto mask = some_lanes(first, last);
    if constexpr (sizeof(T) == 4) return Pack((Vector<T>)_mm512_maskz_loadu_ps(mask, from));
    if constexpr (sizeof(T) == 8) return Pack((Vector<T>)_mm512_maskz_loadu_pd(mask, from));
#else
    for (std::int64_t n = first; n < last; ++n) some[n] = from[n];
#endif
    return load(some);
  }
  /// Stores the lanes from `first` up to, not including, `last`. Host only.
  void store(T* to, std::int64_t first, std::int64_t last) const {
    if (first <= 0) return store(to, last);
    last = last < simd::lanes<T> ? last : simd::lanes<T>;
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
    const auto mask = some_lanes(first, last);
    if constexpr (sizeof(T) == 4) _mm512_mask_storeu_ps(to, mask, (__m512)lanes);
    if constexpr (sizeof(T) == 8) _mm512_mask_storeu_pd(to, mask, (__m512d)lanes);
#else
    T some[simd::lanes<T>];
    std::memcpy(some, &lanes, sizeof(lanes));
    for (std::int64_t n = first; n < last; ++n) to[n] = some[n];
#endif
  }
  /// Stores the first `count` lanes, 1 or more. Host only.
  void store(T* to, std::int64_t count) const {
    if (count >= simd::lanes<T>) return store(to);
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) {
      _mm512_mask_storeu_ps(to, first_lanes(count), (__m512)lanes);
    } else {
      _mm512_mask_storeu_pd(to, first_lanes(count), (__m512d)lanes);
    }
#elif defined(__AVX__) && !defined(__CUDA_ARCH__)
    // in halves: masked stores are slow on some processors
    if constexpr (sizeof(T) == 4) {
      __m128 part = _mm256_castps256_ps128((__m256)lanes);
      if ((count & 4) != 0) {
        _mm_storeu_ps(to, part);
        part = _mm256_extractf128_ps((__m256)lanes, 1);
        to += 4;
      }
      if ((count & 2) != 0) {
        _mm_storel_pi(reinterpret_cast<__m64*>(to), part);
        part = _mm_movehl_ps(part, part);
        to += 2;
      }
      if ((count & 1) != 0) _mm_store_ss(to, part);
    } else {
      __m128d part = _mm256_castpd256_pd128((__m256d)lanes);
      if ((count & 2) != 0) {
        _mm_storeu_pd(to, part);
        part = _mm256_extractf128_pd((__m256d)lanes, 1);
        to += 2;
      }
      if ((count & 1) != 0) _mm_store_sd(to, part);
    }
#else
    T some[simd::lanes<T>];
    std::memcpy(some, &lanes, sizeof(lanes));
    for (std::int64_t n = 0; n < count; ++n) to[n] = some[n];
#endif
  }

  /// Returns the sum of each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Pack operator+(const Pack& a, const Pack& b) {
    MOHO_PACK(a.lanes + b.lanes);
  }
  /// Returns the difference of each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Pack operator-(const Pack& a, const Pack& b) {
    MOHO_PACK(a.lanes - b.lanes);
  }
  /// Returns the product of each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Pack operator*(const Pack& a, const Pack& b) {
    MOHO_PACK(a.lanes * b.lanes);
  }
  /// Returns the quotient of each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Pack operator/(const Pack& a, const Pack& b) {
    MOHO_PACK(a.lanes / b.lanes);
  }
  /// Returns the negative of each lane.
  KOKKOS_FORCEINLINE_FUNCTION Pack operator-() const { MOHO_PACK(-lanes); }
  /// Compares a < b in each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator<(const Pack& a, const Pack& b) {
#if defined(__CUDA_ARCH__)
    return Mask();
#else
    return Mask{a.lanes < b.lanes};
#endif
  }
  /// Compares a == b in each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Mask operator==(const Pack& a, const Pack& b) {
#if defined(__CUDA_ARCH__)
    return Mask();
#else
    return Mask{a.lanes == b.lanes};
#endif
  }
  /// Returns for each lane a if the mask is set, else b.
  KOKKOS_FORCEINLINE_FUNCTION friend Pack select(const Mask& mask, const Pack& a, const Pack& b) {
    MOHO_PACK(mask.lanes ? a.lanes : b.lanes);
  }
  /// Returns a * b + c for each lane, rounded once if the target has fused multiply-add.
  KOKKOS_FORCEINLINE_FUNCTION friend Pack multiply_add(const Pack& a, const Pack& b,
                                                       const Pack& c) {
#if defined(__FMA__) && !defined(__CUDA_ARCH__)
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) {
      return Pack((Vector<T>)_mm512_fmadd_ps((__m512)a.lanes, (__m512)b.lanes, (__m512)c.lanes));
    } else {
      return Pack((Vector<T>)_mm512_fmadd_pd((__m512d)a.lanes, (__m512d)b.lanes, (__m512d)c.lanes));
    }
#else
    if constexpr (sizeof(T) == 4) {
      return Pack((Vector<T>)_mm256_fmadd_ps((__m256)a.lanes, (__m256)b.lanes, (__m256)c.lanes));
    } else {
      return Pack((Vector<T>)_mm256_fmadd_pd((__m256d)a.lanes, (__m256d)b.lanes, (__m256d)c.lanes));
    }
#endif
#else
    MOHO_PACK(a.lanes * b.lanes + c.lanes);
#endif
  }
  /// Returns the square root of each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Pack square_root(const Pack& a) {
#if defined(__CUDA_ARCH__)
    return Pack();
#elif defined(__AVX512F__)
    // masked intrinsics: with the others the headers of GCC 12 warn of uninitialised variables
    if constexpr (sizeof(T) == 4) {
      return Pack((Vector<T>)_mm512_maskz_sqrt_ps(0xffff, (__m512)a.lanes));
    } else {
      return Pack((Vector<T>)_mm512_maskz_sqrt_pd(0xff, (__m512d)a.lanes));
    }
#elif defined(__AVX__)
    if constexpr (sizeof(T) == 4) {
      return Pack((Vector<T>)_mm256_sqrt_ps((__m256)a.lanes));
    } else {
      return Pack((Vector<T>)_mm256_sqrt_pd((__m256d)a.lanes));
    }
#else
    Pack roots;
    for (int lane = 0; lane < simd::lanes<T>; ++lane) roots.lanes[lane] = std::sqrt(a.lanes[lane]);
    return roots;
#endif
  }
#undef MOHO_PACK

 private:
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
  static auto first_lanes(std::int64_t count) {
    return static_cast<std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>>((1u << count) - 1u);
  }
  static auto some_lanes(std::int64_t first, std::int64_t last) {
    return static_cast<decltype(first_lanes(0))>((1u << last) - (1u << first));
  }
#elif defined(__AVX__) && !defined(__CUDA_ARCH__)
  static __m256i first_lanes(std::int64_t count) {
    using Lane = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    constexpr int all = 32 / static_cast<int>(sizeof(T));
    alignas(32) static constexpr auto bits = [] {
      std::array<Lane, 2 * all> lanes{};
      for (int n = 0; n < all; ++n) lanes[n] = -1;
      return lanes;
    }();
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits.data() + all - count));
  }
#endif
};

/// \cond
#if defined(__has_builtin) && !defined(__CUDACC__)
#if __has_builtin(__builtin_shufflevector)
#define MOHO_SHUFFLES
#endif
#endif
/// \endcond

/// True if lanes_from() takes one instruction.
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
inline constexpr bool moves_lanes = true;
#else
inline constexpr bool moves_lanes = false;
#endif

/// \brief Returns the lanes of `low` from lane `first` on, followed by the first lanes of `high`.
///
/// If both were loaded from consecutive addresses, this is the vector `first` scalars after `low`.
/// Host only.
template <int first, class T>
inline Pack<T> lanes_from(const Pack<T>& low, const Pack<T>& high) {
  static_assert(first >= 0 && first <= lanes<T>);
  if constexpr (first == 0) return low;
  if constexpr (first == lanes<T>) return high;
#if defined(__CUDA_ARCH__)
  return Pack<T>();
#elif defined(__AVX512F__)
  // masked intrinsics: with the others the headers of GCC 12 warn of uninitialised variables
  if constexpr (sizeof(T) == 4) {
    return Pack<T>((Vector<T>)_mm512_maskz_alignr_epi32(0xffff, (__m512i)high.lanes,
                                                        (__m512i)low.lanes, first));
  } else {
    return Pack<T>(
        (Vector<T>)_mm512_maskz_alignr_epi64(0xff, (__m512i)high.lanes, (__m512i)low.lanes, first));
  }
#elif defined(MOHO_SHUFFLES)
  return [&]<std::size_t... lane>(std::index_sequence<lane...>) {
    return Pack<T>(__builtin_shufflevector(low.lanes, high.lanes, (first + lane)...));
  }
  (std::make_index_sequence<static_cast<std::size_t>(lanes<T>)>());
#else
  T both[2 * lanes<T>];
  low.store(both);
  high.store(both + lanes<T>);
  return Pack<T>::load(both + first);
#endif
}

#undef MOHO_SHUFFLES

/// Returns the minimum of all lanes.
template <class T>
inline T reduce_min(const Pack<T>& pack) {
  T result = pack.lanes[0];
  for (int lane = 1; lane < lanes<T>; ++lane) {
    result = pack.lanes[lane] < result ? pack.lanes[lane] : result;
  }
  return result;
}

/// Returns the maximum of all lanes.
template <class T>
inline T reduce_max(const Pack<T>& pack) {
  T result = pack.lanes[0];
  for (int lane = 1; lane < lanes<T>; ++lane) {
    result = pack.lanes[lane] > result ? pack.lanes[lane] : result;
  }
  return result;
}

}  // namespace moho::simd
