// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Start of Kokkos with the options of a command line, and the choice of a device.

#include <moho/core/scope_guard.hpp>

#include <memory>
#include <string>
#include <vector>

namespace moho {

/// Returns the number of devices that this process may choose from; 0 in a build for hosts.
int visible_devices();

/// Removes the options that begin with --kokkos from the list, and returns them.
std::vector<std::string> take_kokkos_options(std::vector<std::string>& arguments);

/// \brief Starts Kokkos with its options.
///
/// Each of several processes of a machine uses the device that mpi::device_of() gives its rank. An
/// option or a variable of Kokkos that names a device has priority.
/// \param program its name \param rank_on_host rank among the processes of this machine
std::unique_ptr<ScopeGuard> start_kokkos(const std::string& program,
                                         std::vector<std::string> options, int rank_on_host);

}  // namespace moho
