// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sines and cosines of angles in degrees.

#include <array>
#include <cmath>
#include <numbers>

namespace moho {

/// \brief Returns the sine and the cosine of an angle in degrees, exact for multiples of 90.
///
/// Zeros are positive.
inline std::array<double, 2> sine_and_cosine(double degrees) {
  const double turned = std::remainder(degrees, 360.0);
  const double quarters = std::nearbyint(turned / 90.0);
  const double rest = (turned - 90.0 * quarters) * (std::numbers::pi / 180.0);
  const double s = std::sin(rest), c = std::cos(rest);
  switch ((static_cast<int>(quarters) + 4) % 4) {
    case 1:
      return {c, 0.0 - s};
    case 2:
      return {0.0 - s, -c};
    case 3:
      return {-c, s + 0.0};
    default:
      return {s + 0.0, c};
  }
}

}  // namespace moho
