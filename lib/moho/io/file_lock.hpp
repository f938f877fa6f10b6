// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Exclusive locks of files between processes.

namespace moho::io {

/// \brief Seconds to wait for the lock of a process that has ended.
///
/// A process that is killed while it starts another one holds its locks until the new one executes
/// its program.
inline constexpr double lock_seconds = 2.0;

/// \brief Takes the exclusive lock of an open file, which other processes respect.
///
/// The lock ends when the descriptor and its copies are closed.
/// \param descriptor descriptor of an open file
/// \param seconds how long it waits for a lock that another process holds; 0: one attempt
/// \returns 0, EWOULDBLOCK if another process holds the lock, or another errno of flock()
int lock_file(int descriptor, double seconds = 0.0);

}  // namespace moho::io
