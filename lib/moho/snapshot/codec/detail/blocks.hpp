// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Blocks of integers with a scale each: a fixed number of bits for each node.

#include <moho/core/kokkos.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace moho::snapshot::detail {

/// \brief Block coder with a largest magnitude m and 512 integers of 8, 12 or 16 bits.
///
/// The integers are n = round(value / m (2^(bits-1) - 1)), in order. A row of 8 nodes has as many
/// bytes as an integer has bits.
struct FixedCoder {
  int bits;  ///< 8, 12 or 16

  /// Magnitude, relative to an amplitude of about 1, below which a block is zero.
  static constexpr float min = 1e-30f;

  /// Returns the bytes of a block without its magnitude.
  KOKKOS_FORCEINLINE_FUNCTION int block_bytes() const { return 64 * bits; }

  /// Writes a block at a multiple of 4 bytes. \return its largest magnitude
  KOKKOS_INLINE_FUNCTION float encode(const float* KOKKOS_RESTRICT values, std::uint8_t* to) const {
    // the bits of magnitudes are ordered as integers, whose maximum is independent of the order
    std::int32_t bits_of_peak = 0;
    for (int e = 0; e < 512; ++e) {
      std::int32_t size;
      memcpy(&size, values + e, 4);
      size &= 0x7fffffff;
      bits_of_peak = size > bits_of_peak ? size : bits_of_peak;
    }
    float peak;
    memcpy(&peak, &bits_of_peak, 4);
    if (peak < min) peak = 0.0f;
    const float scale = peak > 0.0f ? static_cast<float>((1 << (bits - 1)) - 1) / peak : 0.0f;
    std::int32_t n[512];
    for (int e = 0; e < 512; ++e) n[e] = static_cast<std::int32_t>(rintf(values[e] * scale));
    if (bits == 8) {
      auto* const out = reinterpret_cast<std::int8_t*>(to);
      for (int e = 0; e < 512; ++e) out[e] = static_cast<std::int8_t>(n[e]);
    } else if (bits == 16) {
      auto* const out = reinterpret_cast<std::int16_t*>(to);
      for (int e = 0; e < 512; ++e) out[e] = static_cast<std::int16_t>(n[e]);
    } else {
      auto* const out = reinterpret_cast<std::uint32_t*>(to);
      for (int r = 0; r < 64; ++r) {
        std::uint32_t q[8];
        for (int k = 0; k < 8; ++k) q[k] = static_cast<std::uint32_t>(n[8 * r + k]) & 0xfffu;
        out[3 * r] = q[0] | q[1] << 12 | q[2] << 24;
        out[3 * r + 1] = q[2] >> 8 | q[3] << 4 | q[4] << 16 | q[5] << 28;
        out[3 * r + 2] = q[5] >> 4 | q[6] << 8 | q[7] << 20;
      }
    }
    return peak;
  }
  /// Computes the values of a block.
  KOKKOS_INLINE_FUNCTION void decode(const std::uint8_t* from, float peak,
                                     float* KOKKOS_RESTRICT values) const {
    const float scale = peak / static_cast<float>((1 << (bits - 1)) - 1);
    if (bits == 8) {
      const auto* const in = reinterpret_cast<const std::int8_t*>(from);
      for (int e = 0; e < 512; ++e) values[e] = static_cast<float>(in[e]) * scale;
    } else if (bits == 16) {
      const auto* const in = reinterpret_cast<const std::int16_t*>(from);
      for (int e = 0; e < 512; ++e) values[e] = static_cast<float>(in[e]) * scale;
    } else {
      const auto* const in = reinterpret_cast<const std::uint32_t*>(from);
      for (int r = 0; r < 64; ++r) {
        const std::uint32_t a = in[3 * r], b = in[3 * r + 1], c = in[3 * r + 2];
        // each number in the highest 12 bits, so that an arithmetic shift extends its sign
        const std::uint32_t q[8] = {a << 20, a << 8, (a >> 24 | b << 8) << 20,
                                    b << 16, b << 4, (b >> 28 | c << 4) << 20,
                                    c << 12, c};
        for (int k = 0; k < 8; ++k) {
          values[8 * r + k] = static_cast<float>(static_cast<std::int32_t>(q[k]) >> 20) * scale;
        }
      }
    }
  }
};

}  // namespace moho::snapshot::detail
