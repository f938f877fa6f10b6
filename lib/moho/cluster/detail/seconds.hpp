// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Seconds between moments of a program (internal).

#include <chrono>

namespace moho::cluster::detail {

/// Seconds of a clock that is never set.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace moho::cluster::detail
