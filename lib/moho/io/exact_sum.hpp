// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Files of partial sums of images and gradients, which any program can merge.

#include <moho/core/exact_sum.hpp>

#include <filesystem>

namespace moho::io {

/// \brief Writes a sum atomically, with checksums of the header and the values.
///
/// The header has 64 bytes: the text "MOHOSUM1" (8 bytes); the number 1 in the byte order of the
/// file and the exponent (4 bytes each); elements, terms and bound (8 bytes each). Zeros fill it up
/// to byte 60, and the last 4 bytes are the CRC-32C of the preceding 60. The values follow, 8 bytes
/// each, and their CRC-32C.
/// \throws FileError
void write_sum(const std::filesystem::path& path, const ExactSumState& sum);

/// Reads a sum.
/// \throws FileError for a truncated, damaged or different file; MemoryError
ExactSumState read_sum(const std::filesystem::path& path);

}  // namespace moho::io
