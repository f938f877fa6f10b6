// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Blocks as quantised square roots of values with Huffman codes (Suh and Wang 2011).

#include <moho/snapshot/codec/detail/huffman.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace moho::snapshot::detail {

/// \brief Coder of integers n = round(levels sign(value) sqrt(|value| / peak)), folded.
///
/// All integers share one Huffman code. Small numbers have separate symbols. Larger ones share a
/// symbol for each length in bits, and their bits follow.
struct SqrtCoder {
  static constexpr int max_bytes = 3328;  ///< largest size of a block
  static constexpr int alphabets = 1;
  static constexpr int direct = 224;  ///< numbers below this have separate symbols
  /// Returns the symbols that always get a code: those of numbers by their length in bits.
  static std::vector<std::size_t> always() {
    std::vector<std::size_t> result;
    for (std::size_t size = 0; size <= 20; ++size) result.push_back(direct + size);
    return result;
  }

  const std::uint32_t* codes;   ///< encoding_table(), null if unused
  const std::uint16_t* states;  ///< decoding_table(), null if unused
  float levels;
  float peak;

  KOKKOS_INLINE_FUNCTION bool quantise(const float* KOKKOS_RESTRICT values,
                                       std::uint32_t* KOKKOS_RESTRICT numbers) const {
    const float inverse = 1.0f / peak;
    std::uint32_t any = 0;
    for (int e = 0; e < 512; ++e) {
      const float root = sqrtf(fabsf(values[e]) * inverse);
      const auto n = static_cast<std::int32_t>(rintf(root * levels));
      numbers[e] = folded(values[e] < 0.0f ? -n : n);
      any |= numbers[e];
    }
    return any != 0;
  }
  /// Writes a block. \return its bytes, 0 if all numbers are zero
  KOKKOS_INLINE_FUNCTION int encode(const float* KOKKOS_RESTRICT values, std::uint8_t* to) const {
    std::uint32_t numbers[512];
    if (!quantise(values, numbers)) return 0;
    BitWriter bits{to};
    for (int e = 0; e < 512; ++e) {
      const std::uint32_t n = numbers[e];
      std::uint32_t code = n < direct ? codes[n] : 0u;
      if (code != 0) {
        bits.put(code & 0xffffu, static_cast<int>(code >> 16));
      } else {
        const int size = bit_width(n);
        code = codes[direct + size];
        bits.put(code & 0xffffu, static_cast<int>(code >> 16));
        if (size > 1) bits.put(n - (1u << (size - 1)), size - 1);
      }
    }
    return static_cast<int>(bits.finish() - to);
  }
  /// Counts the symbols of a block.
  KOKKOS_INLINE_FUNCTION void count(const float* KOKKOS_RESTRICT values,
                                    std::uint32_t* counts) const {
    std::uint32_t numbers[512];
    if (!quantise(values, numbers)) return;
    for (int e = 0; e < 512; ++e) {
      ++counts[numbers[e] < direct ? static_cast<int>(numbers[e]) : direct + bit_width(numbers[e])];
    }
  }
  /// Does nothing: errors are bounded, and their energy is not needed.
  KOKKOS_INLINE_FUNCTION static void back(float*) {}

  /// Computes the values of a block that has bytes.
  KOKKOS_INLINE_FUNCTION void decode(const std::uint8_t* from, const std::uint8_t* end,
                                     float* KOKKOS_RESTRICT values) const {
    const float inverse = 1.0f / levels;
    BitReader bits{from, end};
    for (int e = 0; e < 512; ++e) {
      bits.refill();
      const std::uint32_t state = states[static_cast<int>(bits.held & (code_states - 1))];
      bits.take(static_cast<int>(state >> 8));
      std::uint32_t n = state & 255u;
      if (n >= direct) {
        const int size = static_cast<int>(n) - direct;
        n = size == 0 ? 0u : (1u << (size - 1)) + (size > 1 ? bits.take(size - 1) : 0u);
      }
      const auto root = static_cast<float>(unfolded(n)) * inverse;
      values[e] = root * fabsf(root) * peak;
    }
  }
};

}  // namespace moho::snapshot::detail
