// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/checksum.hpp>
#include <moho/io/input_file.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace moho::io {

namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected
using Table = std::array<std::array<std::uint32_t, 256>, 8>;

// Entry [k][b] is what a byte b does to the remainder when k more bytes follow.
constexpr Table make_table() {
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1 ? polynomial : 0);
    table[0][byte] = rest;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = table[k - 1][byte];
      table[k][byte] = (before >> 8) ^ table[0][before & 0xff];
    }
  }
  return table;
}

constexpr Table table = make_table();

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before) {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint32_t crc = ~before;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    crc = table[7][(crc ^ at[0]) & 0xff] ^ table[6][((crc >> 8) ^ at[1]) & 0xff] ^
          table[5][((crc >> 16) ^ at[2]) & 0xff] ^ table[4][(crc >> 24) ^ at[3]] ^ table[3][at[4]] ^
          table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
  }
  for (; bytes > 0; --bytes, ++at) crc = (crc >> 8) ^ table[0][(crc ^ *at) & 0xff];
  return ~crc;
}

FileChecksum checksum_of(const std::filesystem::path& path) {
  const InputFile file(path);
  FileChecksum sum;
  sum.bytes = file.size();
  std::vector<char> piece(
      static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), std::uint64_t{1} << 20)));
  for (std::uint64_t at = 0; at < file.size(); at += piece.size()) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file.size() - at));
    file.read(at, piece.data(), count);
    sum.crc = crc32c(piece.data(), count, sum.crc);
  }
  return sum;
}

}  // namespace moho::io
