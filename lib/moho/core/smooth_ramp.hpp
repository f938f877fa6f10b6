// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A smooth rise from 0 to 1, for the ends of traces.

#include <cmath>
#include <numbers>

namespace moho {

/// \brief Rises from 0 at u <= 0 to 1 at u >= 1: u - sin(2 pi u) / (2 pi).
///
/// Its derivative is a Hann window, so that the spectrum of a trace that ends with it falls faster
/// than with a cosine. Applied twice it begins and ends with the ninth power of u.
inline double smooth_ramp(double u) {
  if (u <= 0.0) return 0.0;
  if (u >= 1.0) return 1.0;
  constexpr double turn = 2.0 * std::numbers::pi;
  return u - std::sin(turn * u) / turn;
}

}  // namespace moho
