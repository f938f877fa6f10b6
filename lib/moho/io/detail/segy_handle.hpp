// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What reading and writing SEG-Y through segyio share (internal).

#include <memory>

struct segy_file_handle;  // of segyio, which no header includes

namespace moho::io::detail {

/// Closes a file of segyio.
struct CloseSegy {
  /// What was written is looked at by who wrote it.
  void operator()(segy_file_handle* file) const;
};
/// A file of segyio.
using SegyHandle = std::unique_ptr<segy_file_handle, CloseSegy>;

}  // namespace moho::io::detail
