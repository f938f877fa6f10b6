// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Coordinates in messages.

#include <cmath>

namespace moho {

/// Rounds a length in m for messages: to mm, or to six significant digits below a metre.
inline double readable(double length) {
  if (length == 0.0 || !std::isfinite(length)) return 0.0 + length;  // no sign of a zero
  const double size = std::abs(length);
  const double unit = std::pow(10.0, size < 1.0 ? 5.0 - std::floor(std::log10(size)) : 3.0);
  return std::round(length * unit) / unit + 0.0;
}

}  // namespace moho
