// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Huffman codes from a histogram, and bit streams.

#include <moho/core/kokkos.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

namespace moho::snapshot::detail {

inline constexpr int symbols = 256;                    ///< symbols of an alphabet
inline constexpr int longest_code = 11;                ///< bits
inline constexpr int code_states = 1 << longest_code;  ///< entries of a table for decoding

/// \brief Returns optimal code lengths up to longest_code bits; zero for symbols that do not occur.
/// \param counts of every symbol of every alphabet, one alphabet of 256 after the other
std::vector<std::uint8_t> code_lengths(const std::vector<std::uint64_t>& counts);

/// Returns true if the lengths are those of a uniquely decodable code.
bool valid_lengths(const std::vector<std::uint8_t>& lengths);

/// Returns for each symbol its code, first bit lowest, and its length in bits 16 and above.
std::vector<std::uint32_t> encoding_table(const std::vector<std::uint8_t>& lengths);

/// Returns the decoding table, for each alphabet and each value of the next longest_code bits.
///
/// An entry is the symbol, with its length in bits 8 and above.
std::vector<std::uint16_t> decoding_table(const std::vector<std::uint8_t>& lengths);

/// Returns the lengths in their stored form.
///
/// Each alphabet has a bit for every symbol that occurs, then 4 bits for each of these symbols.
std::vector<std::uint8_t> pack_lengths(const std::vector<std::uint8_t>& lengths);
/// Returns the lengths from their stored form; empty for invalid bytes.
std::vector<std::uint8_t> unpack_lengths(const std::vector<std::uint8_t>& bytes, int alphabets);

/// Returns the bits of a number: 0 for 0.
KOKKOS_FORCEINLINE_FUNCTION int bit_width(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  return 32 - __clz(static_cast<int>(value));
#else
  return value == 0 ? 0 : 32 - __builtin_clz(value);
#endif
}

/// Returns the number of zeros below the lowest set bit of a number that is not 0.
KOKKOS_FORCEINLINE_FUNCTION int lowest_bit(std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(value)) - 1;
#else
  return __builtin_ctzll(value);
#endif
}

/// Maps signed to unsigned numbers: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t folded(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) << 1) ^ static_cast<std::uint32_t>(value >> 31);
}
/// Inverse of folded().
KOKKOS_FORCEINLINE_FUNCTION std::int32_t unfolded(std::uint32_t value) {
  return static_cast<std::int32_t>(value >> 1) ^ -static_cast<std::int32_t>(value & 1u);
}

/// Writer of bits to memory, which on devices begins at a multiple of 4 bytes.
struct BitWriter {
  std::uint8_t* at;        ///< address of the next 4 bytes
  std::uint64_t held = 0;  ///< bits that are not yet written
  int count = 0;           ///< their number, fewer than 32 between calls

  /// Appends the lowest n bits, at most 32, of a number whose other bits are 0.
  KOKKOS_FORCEINLINE_FUNCTION void put(std::uint32_t bits, int n) {
    held |= static_cast<std::uint64_t>(bits) << count;
    count += n;
    if (count >= 32) {
      const auto word = static_cast<std::uint32_t>(held);
#if defined(__CUDA_ARCH__)
      *reinterpret_cast<std::uint32_t*>(at) = word;
#else
      std::memcpy(at, &word, 4);
#endif
      at += 4;
      held >>= 32;
      count -= 32;
    }
  }
  /// Writes the remaining bits. \return the end
  KOKKOS_FORCEINLINE_FUNCTION std::uint8_t* finish() {
    for (; count > 0; count -= 8) {
      *at++ = static_cast<std::uint8_t>(held);
      held >>= 8;
    }
    count = 0;
    return at;
  }
};

/// \brief Reader of bits from memory; 8 bytes beyond the end must be readable.
struct BitReader {
  const std::uint8_t* at;   ///< address of the next byte
  const std::uint8_t* end;  ///< end of the bits
  std::uint64_t held = 0;   ///< bits read so far and not yet taken
  int count = 0;            ///< their number

  /// Fills the buffer to at least 56 bits; those beyond the end are arbitrary.
  KOKKOS_FORCEINLINE_FUNCTION void refill() {
#if defined(__CUDA_ARCH__)
    while (count <= 56) {
      held |= static_cast<std::uint64_t>(*at) << count;
      if (at < end) ++at;
      count += 8;
    }
#else
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    held |= word << count;
    const int bytes = (63 - count) >> 3;
    at += bytes;
    if (at > end) at = end;
    count += 8 * bytes;
#endif
  }
  /// Returns the next n bits, at most 32 and at most the number in the buffer.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t take(int n) {
    const auto bits = static_cast<std::uint32_t>(held & ((std::uint64_t(1) << n) - 1));
    held >>= n;
    count -= n;
    return bits;
  }
};

}  // namespace moho::snapshot::detail
