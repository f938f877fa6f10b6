// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Exchange of values between the 32 threads (lanes) of a warp.
///
/// Devices use their instructions. A host compiles these functions but does not call them. A test
/// that runs kernels of devices on hosts defines MOHO_EMULATE_WARPS, and functions in a namespace
/// `emulated` before it includes this file.

#include <moho/core/kokkos.hpp>

#include <cstdint>
#include <cstring>

/// \def MOHO_NO_UNROLL
/// \brief Keeps a device's compiler from unrolling the loop that follows.
#if defined(__CUDA_ARCH__)
#define MOHO_NO_UNROLL _Pragma("unroll 1")
#else
#define MOHO_NO_UNROLL
#endif

namespace moho::snapshot::detail {

inline constexpr int block_lanes = 32;  ///< lanes of a warp, which share a block

/// Returns the value of another lane of the warp.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V from_lane(V value, int lane) {
#if defined(__CUDA_ARCH__)
  return __shfl_sync(0xffffffffu, value, lane);
#elif defined(MOHO_EMULATE_WARPS)
  return emulated::from_lane(value, lane);
#else
  (void)lane;
  return value;
#endif
}

/// Returns the value of the lane whose number differs in the bits of `step`.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V from_lane_across(V value, int step) {
#if defined(__CUDA_ARCH__)
  return __shfl_xor_sync(0xffffffffu, value, step);
#elif defined(MOHO_EMULATE_WARPS)
  return emulated::from_lane_across(value, step);
#else
  (void)step;
  return value;
#endif
}

/// Returns the bitwise or over all lanes.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t any_of_lanes(std::uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_or_sync(0xffffffffu, value);
#else
  MOHO_UNROLL
  for (int step = 16; step > 0; step /= 2) value |= from_lane_across(value, step);
  return value;
#endif
}

/// Returns the sum over all lanes.
KOKKOS_FORCEINLINE_FUNCTION int sum_of_lanes(int value) {
  MOHO_UNROLL
  for (int step = 16; step > 0; step /= 2) value += from_lane_across(value, step);
  return value;
}

/// Returns the largest value of all lanes.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t max_of_lanes(std::uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, value);
#else
  MOHO_UNROLL
  for (int step = 16; step > 0; step /= 2) {
    const std::uint32_t other = from_lane_across(value, step);
    value = other > value ? other : value;
  }
  return value;
#endif
}

/// Returns a bit for each lane: whether its value is true.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t votes_of_lanes(bool value) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(0xffffffffu, value);
#elif defined(MOHO_EMULATE_WARPS)
  return emulated::votes_of_lanes(value);
#else
  return value ? 1u : 0u;
#endif
}

/// Synchronises the lanes and their writes.
KOKKOS_FORCEINLINE_FUNCTION void meet_lanes() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#elif defined(MOHO_EMULATE_WARPS)
  emulated::meet_lanes();
#endif
}

/// Returns twice a number, plus the highest bit of another one.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t append_bit(std::uint32_t number, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(bits, number, 1);
#else
  return number << 1 | bits >> 31;
#endif
}

/// Returns the larger one of a number and the magnitude of another one, which may be no number.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T larger_size(T number, T other) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) return fmaxf(number, fabsf(other));
#endif
  const T size = other < T(0) ? -other : other;
  return size > number ? size : number;
}

/// Returns the bits of a number.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t bits_of(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
#endif
}

/// Returns a b + c, with the product rounded.
KOKKOS_FORCEINLINE_FUNCTION float rounded_sum(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(__fmul_rn(a, b), c);
#else
  volatile float product = a * b;  // no instruction that rounds once
  return product + c;
#endif
}

}  // namespace moho::snapshot::detail
