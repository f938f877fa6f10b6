// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/checksum.hpp>
#include <moho/io/input_file.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>
#if (defined(__x86_64__) && defined(__GNUC__)) || defined(__SSE4_2__)
#define MOHO_CRC_INSTRUCTION
#include <nmmintrin.h>
#endif

namespace moho::io {

namespace {

#if !defined(__SSE4_2__)
// Returns tables whose entry [k][b] is the checksum of byte b followed by k zeros.
std::array<std::array<std::uint32_t, 256>, 8> make_crc_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0x82f63b78u : 0u);
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t b = 0; b < 256; ++b) {
      const std::uint32_t crc = tables[k - 1][b];
      tables[k][b] = crc >> 8 ^ tables[0][crc & 255u];
    }
  }
  return tables;
}

std::uint32_t crc_by_tables(const std::uint8_t* at, std::size_t bytes, std::uint32_t crc) {
  static const auto tables = make_crc_tables();
  for (; bytes >= 8; bytes -= 8, at += 8) {
    std::uint32_t next = 0;
    for (std::size_t k = 0; k < 8; ++k) {
      const std::uint32_t byte = at[k] ^ (k < 4 ? crc >> 8 * k & 255u : 0u);
      next ^= tables[7 - k][byte];
    }
    crc = next;
  }
  for (; bytes > 0; --bytes) crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 255u];
  return crc;
}
#endif

#if defined(MOHO_CRC_INSTRUCTION)
// Compiles a function with SSE4.2 instructions, whatever the target of the other code.
#define MOHO_WITH_INSTRUCTION __attribute__((target("sse4.2")))

MOHO_WITH_INSTRUCTION std::uint64_t crc_of_word(std::uint64_t crc, const std::uint8_t* at) {
  std::uint64_t word;
  std::memcpy(&word, at, 8);
  return _mm_crc32_u64(crc, word);
}

MOHO_WITH_INSTRUCTION std::uint32_t crc_in_turn(const std::uint8_t* at, std::size_t bytes,
                                                std::uint32_t crc) {
  std::uint64_t value = crc;
  for (; bytes >= 8; bytes -= 8, at += 8) value = crc_of_word(value, at);
  crc = static_cast<std::uint32_t>(value);
  for (; bytes > 0; --bytes) crc = _mm_crc32_u8(crc, *at++);
  return crc;
}

// Size of each of three pieces that are processed concurrently.
//
// A CRC instruction has a latency of three cycles and a throughput of one per cycle.
constexpr std::size_t piece = 4096;

// Returns tables that advance a checksum over a piece of zeros.
//
// Entry [k][b] is the result for a checksum whose byte k is b and whose other bytes are 0.
std::array<std::array<std::uint32_t, 256>, 4> make_piece_tables() {
  const std::array<std::uint8_t, piece> zeros{};
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::uint32_t b = 1; b < 256; ++b) {
      const std::uint32_t low = b & (~b + 1u);
      tables[k][b] = low == b ? crc_in_turn(zeros.data(), piece, b << 8 * k)
                              : tables[k][low] ^ tables[k][b ^ low];
    }
  }
  return tables;
}

MOHO_WITH_INSTRUCTION std::uint32_t crc_by_instruction(const std::uint8_t* at, std::size_t bytes,
                                                       std::uint32_t crc) {
  if (bytes >= 3 * piece) {
    static const auto tables = make_piece_tables();
    const auto after_piece = [&](std::uint64_t c) {
      return tables[0][c & 255u] ^ tables[1][c >> 8 & 255u] ^ tables[2][c >> 16 & 255u] ^
             tables[3][c >> 24 & 255u];
    };
    for (; bytes >= 3 * piece; bytes -= 3 * piece, at += 3 * piece) {
      std::uint64_t first = crc, second = 0, third = 0;
      for (std::size_t n = 0; n < piece; n += 8) {
        first = crc_of_word(first, at + n);
        second = crc_of_word(second, at + piece + n);
        third = crc_of_word(third, at + 2 * piece + n);
      }
      crc = after_piece(after_piece(first) ^ second) ^ static_cast<std::uint32_t>(third);
    }
  }
  return crc_in_turn(at, bytes, crc);
}
#undef MOHO_WITH_INSTRUCTION
#endif

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before) {
  const auto* at = static_cast<const std::uint8_t*>(data);
#if defined(__SSE4_2__)
  return ~crc_by_instruction(at, bytes, ~before);
#elif defined(MOHO_CRC_INSTRUCTION)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  return ~(has_instruction ? crc_by_instruction(at, bytes, ~before)
                           : crc_by_tables(at, bytes, ~before));
#else
  return ~crc_by_tables(at, bytes, ~before);
#endif
}

std::uint32_t checksum(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes.data(), bytes.size());
  return sum.value();
}

FileIdentity identify_file(const std::filesystem::path& path) {
  const InputFile file(path);
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  std::vector<char> buffer(static_cast<std::size_t>(std::min(piece, file.size())));
  Checksum sum;
  for (std::uint64_t offset = 0; offset < file.size(); offset += piece) {
    const auto bytes = static_cast<std::size_t>(std::min(piece, file.size() - offset));
    file.read(offset, buffer.data(), bytes);
    sum.add(buffer.data(), bytes);
  }
  return {file.size(), sum.value()};
}

std::string checksum_text(std::uint32_t checksum) {
  char text[9];
  std::snprintf(text, sizeof(text), "%08x", checksum);
  return text;
}

}  // namespace moho::io
