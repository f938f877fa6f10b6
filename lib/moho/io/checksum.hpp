// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief CRC-32C, by which files are recognised.

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace moho::io {

/// CRC-32C (Castagnoli's polynomial 0x1EDC6F41, reflected, as in iSCSI) of bytes. Pieces may be
/// taken one after the other: `before` is what the pieces in front gave, 0 for the first.
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0);

/// Length and CRC-32C of a file.
struct FileChecksum {
  std::uint64_t bytes = 0;  ///< length
  std::uint32_t crc = 0;    ///< CRC-32C of all of it
  /// Are both the same?
  friend bool operator==(const FileChecksum&, const FileChecksum&) = default;
};

/// Reads a file for its checksum. \throws FileError
FileChecksum checksum_of(const std::filesystem::path& path);

}  // namespace moho::io
