// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief CRC-32C (Castagnoli) checksums, which detect damaged files.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace moho::io {

/// \brief Returns the CRC-32C of bytes: the reflected Castagnoli polynomial of iSCSI, ext4 and
/// SSE4.2.
///
/// It detects every burst of errors of up to 32 bits.
/// \param data the bytes
/// \param bytes number of bytes
/// \param before checksum of the preceding bytes; 0 if these are the first
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0);

/// The checksum of a sequence of bytes that is given in pieces.
class Checksum {
 public:
  /// Appends bytes to the sequence.
  void add(const void* data, std::size_t bytes) { m_value = crc32c(data, bytes, m_value); }
  /// Returns the checksum of all bytes so far; 0 for an empty sequence.
  std::uint32_t value() const { return m_value; }

 private:
  std::uint32_t m_value = 0;
};

/// Returns the CRC-32C of a text.
std::uint32_t checksum(std::string_view bytes);

/// Length and checksum of a file.
struct FileIdentity {
  std::uint64_t bytes = 0;     ///< length of the file
  std::uint32_t checksum = 0;  ///< CRC-32C of the complete file
  /// Compares length and checksum.
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Returns length and checksum of a file, which it reads completely. \throws FileError
FileIdentity identify_file(const std::filesystem::path& path);

/// Formats a checksum as eight hexadecimal digits.
std::string checksum_text(std::uint32_t checksum);

}  // namespace moho::io
