// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief CRC-32C (Castagnoli), by which files are known to be whole.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace moho::io {

/// \brief CRC-32C of bytes: x^32 + ... of Castagnoli, reflected, as in iSCSI, ext4 and SSE4.2. It
/// finds every error of up to 32 bits in a row.
/// \param data bytes
/// \param bytes how many
/// \param before of the bytes before these
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0);

/// The checksum of bytes that come piece by piece.
class Checksum {
 public:
  /// Takes the next bytes.
  void add(const void* data, std::size_t bytes) { m_value = crc32c(data, bytes, m_value); }
  /// Of all bytes so far; 0 of none.
  std::uint32_t value() const { return m_value; }

 private:
  std::uint32_t m_value = 0;
};

/// Of a text.
std::uint32_t checksum(std::string_view bytes);

/// Length and checksum of a file.
struct FileIdentity {
  std::uint64_t bytes = 0;     ///< length
  std::uint32_t checksum = 0;  ///< CRC-32C of all of it
  /// Are both the same?
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Reads a file whole. \throws FileError
FileIdentity identify_file(const std::filesystem::path& path);

/// Eight hexadecimal digits.
std::string checksum_text(std::uint32_t checksum);

}  // namespace moho::io
