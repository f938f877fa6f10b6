// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Memory of the machine that is available to this process.

#include <cstddef>
#include <filesystem>

namespace moho {

/// Result of host_memory().
struct HostMemory {
  std::size_t bytes = 0;  ///< bytes that may still be allocated
  /// True if the limit of a control group is smaller than the available memory of the machine.
  bool of_control_group = false;
};

/// \brief Returns the bytes that this process may still allocate on its machine.
///
/// This is the smaller of two numbers: the available memory that the operating system reports, and
/// the remainder of the limits of control groups. The groups are those of this process and their
/// ancestors, of versions 1 and 2. Batch systems and containers set such limits. The page cache
/// counts as free.
/// \param root folder that contains proc and sys; tests use another
HostMemory host_memory(const std::filesystem::path& root = "/");

}  // namespace moho
