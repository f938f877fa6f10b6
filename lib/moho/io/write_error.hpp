// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Errors of writing.

#include <moho/core/disk_error.hpp>

#include <string>

namespace moho::io {

/// Throws an error of writing: DiskError for errors of room on the disk, FileError for others.
/// \param what message, to which advice is added \param reason error number of the system
[[noreturn]] void throw_write_error(const std::string& what, int reason);

}  // namespace moho::io
