// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A smooth ramp from 0 to 1, for the tapering of traces.

#include <cmath>
#include <numbers>

namespace moho {

/// \brief Returns 0 for u <= 0, 1 for u >= 1, and u - sin(2 pi u) / (2 pi) between.
///
/// The derivative is a Hann window, so that the spectrum of a tapered trace decays faster than with
/// a cosine taper. Composed with itself, the ramp starts and ends with the ninth power of u.
inline double smooth_ramp(double u) {
  if (u <= 0.0) return 0.0;
  if (u >= 1.0) return 1.0;
  constexpr double turn = 2.0 * std::numbers::pi;
  return u - std::sin(turn * u) / turn;
}

}  // namespace moho
