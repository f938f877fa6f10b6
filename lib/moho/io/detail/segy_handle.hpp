// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Handle of SEG-Y files that are opened through segyio (internal).

#include <memory>

struct segy_file_handle;  // a type of segyio, whose header is included in sources only

namespace moho::io::detail {

/// Deleter of segyio files.
struct CloseSegy {
  /// Closes the file and ignores errors; the writer checks the file it has written.
  void operator()(segy_file_handle* file) const;
};
/// An owning handle of a segyio file.
using SegyHandle = std::unique_ptr<segy_file_handle, CloseSegy>;

}  // namespace moho::io::detail
