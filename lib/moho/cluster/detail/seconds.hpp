// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Monotonic time (internal).

#include <chrono>

namespace moho::cluster::detail {

/// Returns the time of the monotonic clock in seconds.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace moho::cluster::detail
