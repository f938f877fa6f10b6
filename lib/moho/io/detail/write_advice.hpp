// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What to do about an error of the system on writing a file.

#include <cerrno>

namespace moho::io::detail {

/// Returns the end of a message about a file that cannot be written; may be empty.
/// \param reason error number of the system
inline const char* write_advice(int reason) {
  switch (reason) {
    case ENOSPC:
    case EDQUOT:
      return ": free some space or choose another folder";
    case EFBIG:
      return ": the file is larger than the system allows (see ulimit -f)";
    case ENOENT:
    case ENOTDIR:
      return ": create the folder first";
    case EACCES:
    case EPERM:
    case EROFS:
      return ": choose a folder that you may write to";
    default:
      return "";
  }
}

}  // namespace moho::io::detail
