// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The error of a disk that takes no more data.

#include <moho/core/error.hpp>

namespace moho {

/// A file that cannot grow: a full disk or quota, or a limit of the system on the size of files.
class DiskError : public FileError {
 public:
  using FileError::FileError;
};

}  // namespace moho
