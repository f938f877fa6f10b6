// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Refusing work that the host's memory does not hold. For the memory of a space see
/// moho::memory_budget().

#include <string>

namespace moho::examples {

/// \brief Throws MemoryError if bytes are more than the host has left.
///
/// The message is "<what> 5 GiB of <whose> (allowed: 3 GiB, what is free): <advice>".
/// \param what what would take them: "--shape: the model takes"
/// \param advice what to do
/// \param whose which memory
void check_host_memory(const std::string& what, double bytes, const std::string& advice,
                       const std::string& whose = "the host's memory");

}  // namespace moho::examples
