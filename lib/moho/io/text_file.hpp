// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Whole text files, such as tables and files of options.

#include <cstdint>
#include <filesystem>
#include <string>

namespace moho::io {

/// \brief Reads a text file from its beginning to its end.
///
/// The file is read in blocks: a sparse file is refused at its first 4096 bytes of value zero,
/// whatever its length.
/// \param largest bytes that a file may have
/// \throws FileError if the file cannot be read, is longer, or holds 4096 bytes of value zero in a
/// row
std::string read_text(const std::filesystem::path& path,
                      std::uint64_t largest = std::uint64_t{1} << 32);

}  // namespace moho::io
