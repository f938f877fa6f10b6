// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The memory of the machine that this process may still take.

#include <cstddef>
#include <filesystem>

namespace moho {

/// What host_memory() finds.
struct HostMemory {
  std::size_t bytes = 0;          ///< that may still be allocated
  bool of_control_group = false;  ///< the limit of a control group says so, not what is free
};

/// \brief Bytes that this process may still allocate on its machine.
///
/// That is the least of what the operating system reports as available and of what the limits of
/// the control groups of this process leave (batch systems and containers set them; version 1 and
/// version 2, with those of the groups above), where pages of files count as free.
/// \param root the folder where the system's proc and sys are; tests give another
HostMemory host_memory(const std::filesystem::path& root = "/");

}  // namespace moho
