// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What reading and writing SEG-Y through segyio share (internal).

#include <segyio/segy.h>

#include <memory>

namespace moho::io::detail {

/// Closes a file of segyio.
struct CloseSegy {
  /// What was written is looked at by who wrote it.
  void operator()(segy_file* file) const { segy_close(file); }
};
/// A file of segyio.
using SegyHandle = std::unique_ptr<segy_file, CloseSegy>;

}  // namespace moho::io::detail
