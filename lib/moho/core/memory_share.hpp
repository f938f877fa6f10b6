// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Share of a machine's memory for each of several processes that a program starts.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace moho {

/// \brief Part of the memory of a machine for one of several processes.
///
/// The program that starts them passes it in an environment variable. Processes that start later
/// find less free memory, but have the same share.
struct MemoryShare {
  int processes = 1;        ///< processes of the machine that share the memory of a device
  std::uint64_t bytes = 0;  ///< memory of the host for each process

  /// Returns the share in the free memory of this machine. \param processes 1 or more
  static MemoryShare of(int processes);
  /// Returns the share that the environment passes; empty without one.
  static std::optional<MemoryShare> from_environment();
  /// Returns the share of each of several processes among which this one is divided.
  /// \param of_host processes of this machine, 1 or more \param of_device those of a device
  MemoryShare divided(int of_host, int of_device) const;
  /// Returns the environment variable for a process, name and value.
  std::pair<std::string, std::string> variable() const;
  /// \brief Returns the least number of processes, 1 or more, for each of which memory_budget() is
  /// at most the share.
  /// \param free memory of the host now, bytes
  int processes_in(std::uint64_t free) const;
};

}  // namespace moho
