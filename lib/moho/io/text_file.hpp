// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reading of complete text files, such as tables and option files.

#include <cstdint>
#include <filesystem>
#include <string>

namespace moho::io {

/// \brief Returns the content of a text file.
///
/// The file is read in blocks. Reading of a sparse file ends with an error at the first 4096 zero
/// bytes, whatever its length.
/// \param path path of the file
/// \param largest largest allowed number of bytes
/// \throws FileError if the file cannot be read, is longer, or contains 4096 consecutive zero bytes
std::string read_text(const std::filesystem::path& path,
                      std::uint64_t largest = std::uint64_t{1} << 32);

/// \brief Refuses to read a file that is too large.
/// \param name name of the file or of its folder for messages, such as that of an option
/// \param path path of the file, which may not exist
/// \param largest largest allowed number of bytes
/// \param what what the file contains, for messages
/// \throws InputError if the file is larger
void check_file_size(const std::string& name, const std::filesystem::path& path,
                     std::uint64_t largest, const std::string& what);

}  // namespace moho::io
