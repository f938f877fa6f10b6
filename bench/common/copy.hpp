// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The copy bandwidth of a space, the reference for memory-bound kernels.

#include <moho/core/instance.hpp>

#include <cstdint>
#include <string>

namespace moho::bench {

/// Returns the bytes of the array that copy_seconds() copies: 1 GiB on a device, 256 MiB on a host.
std::int64_t copy_size(bool host);

/// Returns the seconds of one copy: the best of ten, after one that is excluded.
template <class Memory>
double copy_seconds(const Instance<Memory>& exec);

/// Returns the bytes per second, read plus written, measured once per run.
double copy_bandwidth(const std::string& space);

/// Registers copy/<space>.
void add_copy(const std::string& space);

}  // namespace moho::bench
