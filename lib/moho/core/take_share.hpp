// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Plans of a process within its MemoryShare.

namespace moho {

/// \brief Plans of this process take their share of the memory, if the program that started it
/// passed a MemoryShare: memory_sharing() is multiplied.
///
/// Call it after the set_memory_sharing() of ranks, which divide the share.
void take_memory_share();

}  // namespace moho
