// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Symmetry axis packed in a word of 32 bits, for kernels bound by instructions and bytes.
///
/// Lambert's equal-area projection maps the upper half of the unit sphere to the unit disc. Its
/// coordinates are X = nx / sqrt(1 + nz) and Y = ny / sqrt(1 + nz). The inverse, with s = X^2 +
/// Y^2, is nz = 1 - s, nx = X sqrt(2 - s), ny = Y sqrt(2 - s). All directions are equally accurate.
/// By contrast, nz = sqrt(1 - nx^2 - ny^2) is inaccurate for a nearly horizontal axis. X and Y are
/// multiples of 2^-15 in [-1, 1): the axis turns by less than 7e-5 (0.004 degrees).

#include <moho/core/kokkos.hpp>

#include <cmath>
#include <cstdint>

namespace moho::wave::detail {

/// Word without an axis, whose components are all zero.
///
/// It is used outside the grid, where fluxes along the axis are zero.
inline constexpr std::uint32_t no_axis = 0;

/// Returns the word of an axis of length 1 with nz >= 0.
KOKKOS_INLINE_FUNCTION std::uint32_t pack_axis(double nx, double ny, double nz) {
  const double factor = 32768.0 / sqrt(1.0 + nz);
  const auto part = [&](double component) {
    const double scaled = floor(component * factor + 0.5);
    // 32768 does not fit, and both parts at -32768 would mean no axis: they lie outside the disc
    const double inside = scaled > 32767.0 ? 32767.0 : (scaled < -32768.0 ? -32768.0 : scaled);
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(inside) + 32768);
  };
  return part(nx) | (part(ny) << 16);
}

/// Returns one half of a word as a number in [-1, 1).
template <int half>
KOKKOS_FORCEINLINE_FUNCTION float axis_part(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  // 0x4380 in the upper half: numbers from 256 on, whose last bit is 2^-15
  const unsigned bits = __byte_perm(word, 0x43800000u, half == 0 ? 0x7610 : 0x7632);
  return __uint_as_float(bits) - 257.0f;
#else
  const std::uint32_t bits = half == 0 ? word & 0xffffu : word >> 16;
  return static_cast<float>(static_cast<std::int32_t>(bits) - 32768) * 0x1.0p-15f;
#endif
}

/// Computes the components of a word's axis; on a device with the same bits in all callers.
KOKKOS_FORCEINLINE_FUNCTION void unpack_axis(std::uint32_t word, float& nx, float& ny, float& nz) {
  const float x = axis_part<0>(word), y = axis_part<1>(word);
#if defined(__CUDA_ARCH__)
  const float s = __fmaf_rn(y, y, __fmul_rn(x, x));
  nz = __saturatef(__fadd_rn(1.0f, -s));
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(__fadd_rn(2.0f, -s)));
  nx = __fmul_rn(x, root);
  ny = __fmul_rn(y, root);
#else
  const float s = x * x + y * y;
  nz = s < 1.0f ? 1.0f - s : 0.0f;
  const float root = sqrtf(2.0f - s);
  nx = x * root;
  ny = y * root;
#endif
}

}  // namespace moho::wave::detail
