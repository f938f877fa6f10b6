// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The field of a prism near, on and inside it, in double precision.
///
/// Corners are relative to the station. L are the logarithms of the twelve edges, that is the
/// integrals of 1/r along them. S are the solid angles of the six faces, positive for a positive
/// coordinate N of the face:
///
///     U     = G rho [sum over edges of +-A B L - 1/2 sum over faces of +-N^2 S]
///     g_n   = G rho [N2 S2 - N1 S1 - sum of +-B L over the edges of the two other directions]
///     g_nn  = G rho [S1 - S2],    g_nm = G rho [+-sum of L over the four edges along the third]
///
/// Source: Nagy, Papp and Benedek 2000, doi 10.1007/s001900000116, and the erratum of 2002. The
/// formulas are written with integrals along edges, so that differences are formed before the
/// logarithm.

#include <moho/core/kokkos.hpp>

#include <cmath>
#include <limits>

namespace moho::gravity::detail {

/// Returns the integral of 1/r along an edge from w1 to w2, w1 < w2. The edge's line has the
/// squared distance d2 from the station; r1 and r2 are the distances of the ends. Returns zero if
/// the station lies on the edge. The integral is infinite there, but the factors before it are zero
/// where the field exists.
KOKKOS_INLINE_FUNCTION double edge_integral(double w1, double w2, const double d2, double r1,
                                            double r2) {
  const double length = w2 - w1;
  if (d2 == 0.0) {
    if (w1 <= 0.0 && w2 >= 0.0) return 0.0;
    return w1 > 0.0 ? log(w2 / w1) : log(w1 / w2);
  }
  if (w1 < 0.0 && w2 > 0.0) {
    // r1 + r2 - length without cancellation, for stations near the edge
    const double rest = d2 / (r1 - w1) + d2 / (r2 + w2);
    return log((r1 + r2 + length) / rest);
  }
  if (w2 <= 0.0) {
    const double w = -w1, r = r1;
    w1 = -w2;
    w2 = w;
    r1 = r2;
    r2 = r;
  }
  // (w2 + r2) / (w1 + r1) with r2 - r1 = length (w1 + w2) / (r1 + r2)
  return log1p(length * (1.0 + (w1 + w2) / (r1 + r2)) / (w1 + r1));
}

/// Returns one corner's part of a face's solid angle, atan(u v / (n r)). On the face's plane it is
/// the limit from the side where n has the sign of `side`.
KOKKOS_INLINE_FUNCTION double corner_angle(const double n, const double uv, const double r,
                                           const double side) {
  if (n != 0.0) return atan(uv / (n * r));
  if (uv == 0.0) return 0.0;
  constexpr double quarter = 1.5707963267948966192;
  return uv * side > 0.0 ? quarter : -quarter;
}

/// Distance of a face that counts as zero, relative to the prism's extent across the face. No
/// measured shape is finer, and squares of shorter distances underflow.
inline constexpr double nearest_face = 1e-140;

/// Returns the coordinate of a face, 0 if the station is on its plane.
KOKKOS_INLINE_FUNCTION double on_plane(const double coordinate, const double extent) {
  const double min = nearest_face * extent;
  return coordinate < min && coordinate > -min ? 0.0 : coordinate;
}

/// Computes all ten components of a prism of density 1, without the factor 2 G. Input: lowest and
/// highest corner relative to the station. Output: in Component's order; components that do not
/// exist are NaN.
MOHO_NOINLINE KOKKOS_FUNCTION inline void near_field(const double* lower, const double* upper,
                                                     double* out) {
  double h[3][2], q[3][2];
  int on = 0, on_axis[3] = {0, 0, 0};
  bool outside = false;
  for (int n = 0; n < 3; ++n) {
    h[n][0] = on_plane(lower[n], upper[n] - lower[n]);
    h[n][1] = on_plane(upper[n], upper[n] - lower[n]);
    q[n][0] = h[n][0] * h[n][0];
    q[n][1] = h[n][1] * h[n][1];
    outside = outside || h[n][0] > 0.0 || h[n][1] < 0.0;
    on_axis[n] = h[n][0] == 0.0 || h[n][1] == 0.0;
    on += on_axis[n];
  }
  double r[2][2][2];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 2; ++k) r[i][j][k] = sqrt(q[0][i] + q[1][j] + q[2][k]);
    }
  }
  double potential = 0.0;
  double g[3] = {0.0, 0.0, 0.0};
  double solid[3] = {0.0, 0.0, 0.0};  // S2 - S1 of the faces across an axis
  double logs[3] = {0.0, 0.0, 0.0};   // signed sums of the edges along an axis
  for (int n = 0; n < 3; ++n) {
    const int u = (n + 1) % 3, v = (n + 2) % 3;
    const auto distance = [&](int in, int iu, int iv) {
      const int i = n == 0 ? in : u == 0 ? iu : iv;
      const int j = n == 1 ? in : u == 1 ? iu : iv;
      const int k = n == 2 ? in : u == 2 ? iu : iv;
      return r[i][j][k];
    };
    for (int s = 0; s < 2; ++s) {
      double angle = 0.0;
      for (int iu = 0; iu < 2; ++iu) {
        for (int iv = 0; iv < 2; ++iv) {
          const double term =
              corner_angle(h[n][s], h[u][iu] * h[v][iv], distance(s, iu, iv), s == 0 ? 1.0 : -1.0);
          angle += iu == iv ? term : -term;
        }
      }
      const double sign = s == 1 ? 1.0 : -1.0;
      solid[n] += sign * angle;
      g[n] += sign * h[n][s] * angle;
      potential -= 0.5 * sign * q[n][s] * angle;
    }
    // edges along n at (u, v)
    for (int iu = 0; iu < 2; ++iu) {
      for (int iv = 0; iv < 2; ++iv) {
        const double sign = iu == iv ? 1.0 : -1.0;
        const double integral = sign * edge_integral(h[n][0], h[n][1], q[u][iu] + q[v][iv],
                                                     distance(0, iu, iv), distance(1, iu, iv));
        logs[n] += integral;
        g[u] -= h[v][iv] * integral;
        g[v] -= h[u][iu] * integral;
        potential += h[u][iu] * h[v][iv] * integral;
      }
    }
  }
  const double none = nan("");
  const bool vertex = !outside && on == 3, edge = !outside && on == 2;
  out[0] = 0.5 * potential;
  for (int n = 0; n < 3; ++n) {
    const int u = (n + 1) % 3, v = (n + 2) % 3;
    out[1 + n] = 0.5 * g[n];
    out[4 + n] = vertex || (edge && on_axis[n]) ? none : -0.5 * solid[n];
    // gxy, gxz, gyz are sums over the edges along z, y and x
    out[9 - n] = vertex || (edge && on_axis[u] && on_axis[v]) ? none : 0.5 * logs[n];
  }
}

}  // namespace moho::gravity::detail
