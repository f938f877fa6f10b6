// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Standard streams of a process.

namespace moho::io {

/// \brief Opens those of the file descriptors 0 to 2 that the parent process closed.
///
/// Otherwise the next files that are opened have their numbers, and printed text is written to
/// these files. The descriptors are opened for reading `/dev/null`: writing to them remains an
/// error. To be called before the process opens files.
void open_closed_standard_streams();

}  // namespace moho::io
