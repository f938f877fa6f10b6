// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Version and commit that results name.
///
/// They are in a separate source: after a new commit only that source is compiled.

namespace moho::bench {

/// Returns the version of moho, for example "0.1.0".
const char* version();

/// Returns the abbreviated commit, with "-dirty" after local changes; "unknown" without Git.
const char* commit();

}  // namespace moho::bench
