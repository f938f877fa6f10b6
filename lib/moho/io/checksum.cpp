// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/checksum.hpp>
#include <moho/io/input_file.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>
#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace moho::io {

namespace {

#if !defined(__SSE4_2__)
// Entry [k][b]: the checksum of byte b followed by k zeros.
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
#endif

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before) {
  const auto* at = static_cast<const std::uint8_t*>(data);
  std::uint32_t crc = ~before;
#if defined(__SSE4_2__)
  for (; bytes >= 8; bytes -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    crc = static_cast<std::uint32_t>(_mm_crc32_u64(crc, word));
  }
  for (; bytes > 0; --bytes) crc = _mm_crc32_u8(crc, *at++);
#else
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
#endif
  return ~crc;
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
