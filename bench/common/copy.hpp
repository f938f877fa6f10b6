// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The copy bandwidth of a space, the yardstick of kernels that memory bounds.

#include <moho/core/instance.hpp>

#include <cstdint>
#include <string>

namespace moho::bench {

/// Bytes of the array that copy_seconds() copies: 1 GiB on a device, 256 MiB on a host.
std::int64_t copy_size(bool host);

/// Seconds of one copy: the best of ten, after one that does not count.
template <class Memory>
double copy_seconds(const Instance<Memory>& exec);

/// Bytes a second, read and written both counted, measured once in the run.
double copy_bandwidth(const std::string& space);

/// Registers copy/<space>.
void add_copy(const std::string& space);

}  // namespace moho::bench
