// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <moho/io/checksum.hpp>

#include <string>

namespace moho::io {
namespace {

using namespace test;

std::uint32_t crc_of(const std::string& bytes) { return crc32c(bytes.data(), bytes.size()); }

// One bit at a time, as the polynomial says.
std::uint32_t plain_crc(const std::string& bytes) {
  std::uint32_t rest = 0xffffffff;
  for (const char c : bytes) {
    rest ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1 ? 0x82f63b78u : 0u);
  }
  return ~rest;
}

TEST(Crc32c, ValuesOfTheStandard) {
  // RFC 3720, B.4, and the usual check value
  EXPECT_EQ(crc_of("123456789"), 0xe3069283u);
  EXPECT_EQ(crc_of(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc_of(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc_of(""), 0u);
}

TEST(Crc32c, AnyLengthAndAnyPieces) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * i + i / 7);
  for (std::size_t length = 0; length < 40; ++length) {
    EXPECT_EQ(crc_of(bytes.substr(3, length)), plain_crc(bytes.substr(3, length)));
  }
  const std::uint32_t whole = crc_of(bytes);
  EXPECT_EQ(whole, plain_crc(bytes));
  for (const std::size_t cut : {1u, 7u, 8u, 100u, 299u}) {
    const std::uint32_t first = crc32c(bytes.data(), cut);
    EXPECT_EQ(crc32c(bytes.data() + cut, bytes.size() - cut, first), whole);
  }
}

TEST(Crc32c, OfFiles) {
  const Folder folder;
  std::string bytes((std::size_t{1} << 20) + 17, 'x');  // more than is read at a time
  bytes[5] = 'y';
  put_file(folder / "a", bytes);
  const FileChecksum sum = checksum_of(folder / "a");
  EXPECT_EQ(sum.bytes, bytes.size());
  EXPECT_EQ(sum.crc, crc_of(bytes));
  put_file(folder / "empty", "");
  EXPECT_EQ(checksum_of(folder / "empty"), FileChecksum{});
  EXPECT_THAT(message_of<FileError>([&] { checksum_of(folder / "none"); }), HasSubstr("none"));
}

}  // namespace
}  // namespace moho::io
