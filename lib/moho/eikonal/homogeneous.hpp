// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Traveltimes and slownesses of homogeneous media, the analytic factor of the solvers.

#include <moho/core/grid.hpp>
#include <moho/eikonal/rounded.hpp>

namespace moho::eikonal {

/// The parameters of a homogeneous medium with a vertical symmetry axis.
struct Constants {
  double vertical = 1.0;      ///< velocity along the axis
  double horizontal = 1.0;    ///< velocity across it
  double anellipticity = 0.0; /**< 2 (epsilon - delta) / (1 + 2 epsilon): 0 where the medium is
                                 isotropic or elliptical; more than -1/2, less than 1 */
};

/// Constants from a vertical velocity and Thomsen's parameters.
KOKKOS_INLINE_FUNCTION Constants make_constants(double velocity, double epsilon, double delta) {
  using std::sqrt;
  const double square = 1.0 + 2.0 * epsilon;
  return {velocity, velocity * sqrt(square), 2.0 * (epsilon - delta) / square};
}

/// A traveltime and the two components of its gradient.
struct TimeAndSlowness {
  double time = 0.0;        ///< seconds
  double horizontal = 0.0;  ///< derivative along the horizontal offset
  double vertical = 0.0;    ///< derivative along the vertical offset
};

/// Traveltime from the origin of a homogeneous medium to an offset.
///
/// With x = v_h p_h and z = v_z p_z the slowness surface of acoustic VTI media is
/// x^2 + z^2 - k x^2 z^2 = 1, k the anellipticity. It is convex for -1/2 < k < 1, and the
/// traveltime is the largest x X + z Z over its points, X and Z the offsets over the velocities.
/// With n = 1 - k and x = y / sqrt(1 + y^2), z = 1 / sqrt(1 + n y^2), that is where
///
///     y n ((1 + y^2) / (1 + n y^2))^(3/2) = X / Z.
///
/// The left side rises with y; Newton's method for the logarithms of both finds y with roots and
/// quotients alone, which every processor rounds in the same way.
///
/// \param medium the medium
/// \param across horizontal offset, not negative
/// \param along vertical offset, of either sign
KOKKOS_INLINE_FUNCTION TimeAndSlowness homogeneous(const Constants& medium, double across,
                                                   double along) {
  using N = detail::Rounded<double>;
  const N horizontal = medium.horizontal, vertical = medium.vertical;
  const N sign = along < 0.0 ? -1.0 : 1.0;
  const N X = N(across) / horizontal, Z = sign * N(along) / vertical;
  const N ellipse = sqrt(X * X + Z * Z);
  if (!(ellipse > N(0))) return {};
  const N k = medium.anellipticity;
  if (k == N(0) || X == N(0) || Z == N(0)) {
    return {ellipse.value, (X / ellipse / horizontal).value, (sign * Z / ellipse / vertical).value};
  }
  const N n = N(1) - k, ratio = X / Z;
  N y = ratio;
  for (int i = 0; i < 60; ++i) {
    const N square = y * y, outer = N(1) + square, inner = N(1) + n * square;
    const N power = outer / inner;
    const N left = y * n * power * sqrt(power);
    const N slope = N(1) + N(3) * k * square / (outer * inner);
    // half of the change of the logarithm, ln(a / b) / 2 being (a - b) / (a + b) nearly
    const N half = (ratio - left) / ((ratio + left) * slope);
    y *= (N(1) + half) / (N(1) - half);
    if (magnitude(half) < N(1e-9)) break;  // the error is of its square
  }
  const N x = y / sqrt(N(1) + y * y), z = N(1) / sqrt(N(1) + n * y * y);
  return {(x * X + z * Z).value, (x / horizontal).value, (sign * z / vertical).value};
}

}  // namespace moho::eikonal
