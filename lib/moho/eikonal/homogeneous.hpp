// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Traveltimes and slownesses of homogeneous media, the analytic factor of the solvers.

#include <moho/core/grid.hpp>

namespace moho::eikonal {

/// The parameters of a homogeneous medium with a vertical symmetry axis.
struct Constants {
  double vertical = 1.0;      ///< velocity along the symmetry axis
  double horizontal = 1.0;    ///< velocity across the symmetry axis
  double anellipticity = 0.0; /**< 2 (epsilon - delta) / (1 + 2 epsilon): 0 where the medium is
                                 isotropic or elliptical; more than -1/2, less than 1 */
};

/// Returns the constants of a medium from a vertical velocity and Thomsen's parameters.
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

/// Returns the traveltime and slowness from the origin of a homogeneous medium to an offset.
///
/// With x = v_h p_h and z = v_z p_z the slowness surface of acoustic VTI media is x^2 + z^2 - k x^2
/// z^2 = 1; k is the anellipticity. It is convex for -1/2 < k < 1. The traveltime is the largest x
/// X + z Z over its points; X and Z are the offsets divided by the velocities. Let x = sin(a), z =
/// cos(a) / sqrt(1 - k sin(a)^2). At the angle a of the maximum a derivative that decreases over
/// the interval is zero. Newton's method with bounds finds the angle.
///
/// \param medium the medium
/// \param across horizontal offset, not negative
/// \param along vertical offset, of either sign
KOKKOS_INLINE_FUNCTION TimeAndSlowness homogeneous(const Constants& medium, double across,
                                                   double along) {
  using std::atan2;
  using std::cos;
  using std::sin;
  using std::sqrt;
  const double X = across / medium.horizontal;
  const double sign = along < 0.0 ? -1.0 : 1.0;
  const double Z = sign * along / medium.vertical;
  const double ellipse = sqrt(X * X + Z * Z);
  if (ellipse == 0.0) return {};
  const double k = medium.anellipticity;
  if (k == 0.0 || X == 0.0 || Z == 0.0) {
    return {ellipse, X / ellipse / medium.horizontal, sign * Z / ellipse / medium.vertical};
  }
  double low = 0.0, high = 1.5707963267948966;
  double angle = atan2(X, Z);
  for (int i = 0; i < 60; ++i) {
    const double s = sin(angle), c = cos(angle);
    const double u = 1.0 - k * s * s, root = sqrt(u);
    const double derivative = X * c - Z * (1.0 - k) * s / (u * root);
    if (derivative > 0.0) {
      low = angle;
    } else {
      high = angle;
    }
    const double second = -X * s - Z * (1.0 - k) * c * (1.0 + 2.0 * k * s * s) / (u * u * root);
    double next = angle - derivative / second;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double step = next > angle ? next - angle : angle - next;
    angle = next;
    if (step < 1e-15) break;
  }
  const double x = sin(angle);
  const double z = cos(angle) / sqrt(1.0 - k * x * x);
  return {x * X + z * Z, x / medium.horizontal, sign * z / medium.vertical};
}

}  // namespace moho::eikonal
