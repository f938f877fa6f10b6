// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Partial sums of images and gradients in files, which any program can merge.

#include <moho/core/exact_sum.hpp>

#include <filesystem>

namespace moho::io {

/// \brief Writes a sum: whole or not at all, with checksums of header and values.
///
/// 64 bytes of header (text "MOHOSUM1", the number 1 in the byte order of the file and the exponent
/// as 4 bytes each; elements, terms, bound as 8 bytes each; zeros; CRC-32C of the 60 bytes before),
/// 8 bytes an element, CRC-32C of them. \throws FileError
void write_sum(const std::filesystem::path& path, const ExactSumState& sum);

/// Reads a sum. \throws FileError for files that are cut, damaged, or something else; MemoryError
ExactSumState read_sum(const std::filesystem::path& path);

}  // namespace moho::io
