// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The field of one rectangular prism at one station: closed forms and multipoles.
///
/// Three formulas exist: the textbook's closed form, a form that keeps its digits with distance,
/// and the multipole expansion. docs/theory/gravity.md derives them and lists the sources.

#include <moho/gravity/detail/arithmetic.hpp>
#include <moho/gravity/detail/near_field.hpp>
#include <moho/gravity/types.hpp>

namespace moho::gravity {

namespace detail {

/// \name Sets of components as bits, bit c for Component c.
/// Kernels exist for these sets. For other components the smallest of these sets that holds them is
/// computed.
/// @{
KOKKOS_INLINE_FUNCTION constexpr unsigned bit(Component c) { return 1u << static_cast<int>(c); }
inline constexpr unsigned mask_gz = bit(Component::gz);
inline constexpr unsigned mask_gzz = bit(Component::gzz);
inline constexpr unsigned mask_gxy = bit(Component::gxy);
inline constexpr unsigned mask_attraction = 0x00e;
inline constexpr unsigned mask_gradient = 0x3f0;
inline constexpr unsigned mask_nine = 0x3fe;
inline constexpr unsigned mask_ten = 0x3ff;
/// @}

/// Returns the number of components in a set.
KOKKOS_INLINE_FUNCTION constexpr int count_of(unsigned mask) {
  int count = 0;
  for (; mask != 0; mask &= mask - 1) ++count;
  return count;
}
/// Returns the index of a component among those of a set.
KOKKOS_INLINE_FUNCTION constexpr int slot_of(unsigned mask, int component) {
  return count_of(mask & ((1u << component) - 1u));
}

/// Distance from a prism's centre, in half diagonals, below which near_field() is used. It bounds
/// the arguments of the short polynomials of mid_field() (0.166 and 0.176).
inline constexpr double near_distance = 2.5;

/// Distance, in half diagonals, from which far_field() is exact to rounding.
inline constexpr double far_limit = 250.0;

/// Returns the gradient component of the derivatives along n and (n + 1) % 3: gxy, gyz, gxz.
KOKKOS_INLINE_FUNCTION constexpr int mixed(int n) { return n == 0 ? 7 : n == 1 ? 9 : 8; }

/// \brief Computes a prism's field at near_distance half diagonals or more. Density 1, without the
/// factor 2 G.
///
/// Cancellation does not grow with distance. Each face's solid angle is the sum over two triangles
/// (Van Oosterom and Strackee 1983), whose numerators are exact products of the prism's sides. The
/// difference of the logarithms of a face's two opposite edges is one atanh. Its argument is a
/// product, because r2^2 - r1^2 = (X2 - X1)(X2 + X1). Every term has full relative accuracy, and
/// the components are differences of terms between opposite faces. The relative error of g and of
/// the gradient grows as eps D/a instead of the textbook's eps (D/a)^3.
///
/// \tparam Mask the components
/// \param lower lowest corner of the prism minus station
/// \param upper highest corner of the prism minus station
/// \param length sides of the prism
/// \param out the components of the set in order
template <unsigned Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION void mid_field(const V (&lower)[3], const V (&upper)[3],
                                           const V (&length)[3], V* out) {
  constexpr bool potential = (Mask & 1u) != 0;
  V h[3][2], q[3][2], twice_centre[3], lower_upper[3];
  for (int n = 0; n < 3; ++n) {
    h[n][0] = lower[n];
    h[n][1] = upper[n];
    q[n][0] = h[n][0] * h[n][0];
    q[n][1] = h[n][1] * h[n][1];
    twice_centre[n] = h[n][0] + h[n][1];
    lower_upper[n] = h[n][0] * h[n][1];
  }
  V r[2][2][2];
  for (int j = 0; j < 2; ++j) {
    for (int k = 0; k < 2; ++k) {
      const V yz = q[1][j] + q[2][k];
      r[0][j][k] = square_root(q[0][0] + yz);
      r[1][j][k] = square_root(q[0][1] + yz);
    }
  }
  // for the faces across n, with u = n + 1 and v = n + 2 (cyclic), lower and upper:
  V angle[3][2];    // half of the solid angle
  V over_u[3][2];   // half of L(u1) - L(u2) of the face's edges along v
  V over_v[3][2];   // half of L(v1) - L(v2) of the face's edges along u
  V first_edge[3];  // half of L of the edge along v at the lower n and the lower u
  (void)first_edge;
  const auto faces = [&](auto axis) {
    constexpr int n = decltype(axis)::value;
    constexpr int u = (n + 1) % 3, v = (n + 2) % 3;
    constexpr bool attraction_n = (Mask >> (1 + n) & 1u) != 0;
    constexpr bool attraction_u = (Mask >> (1 + u) & 1u) != 0;
    constexpr bool attraction_v = (Mask >> (1 + v) & 1u) != 0;
    constexpr bool need_angle = potential || attraction_n || (Mask >> (4 + n) & 1u) != 0;
    constexpr bool need_over_v = potential || attraction_v || (Mask >> mixed(v) & 1u) != 0;
    constexpr bool need_over_u = potential || attraction_u;
    // over_v of the faces across u gives the upper over_u from the lower
    constexpr bool derive = potential || attraction_n || (Mask >> mixed(n) & 1u) != 0;
    if constexpr (need_angle || need_over_u || need_over_v) {
      const V lulv = length[u] * length[v];
      const V lulu = length[u] * length[u], lvlv = length[v] * length[v];
      for (int s = 0; s < 2; ++s) {
        const auto distance = [&](int iu, int iv) {
          const int i = n == 0 ? s : u == 0 ? iu : iv;
          const int j = n == 1 ? s : u == 1 ? iu : iv;
          const int k = n == 2 ? s : u == 2 ? iu : iv;
          return r[i][j][k];
        };
        const V r11 = distance(0, 0), r21 = distance(1, 0), r12 = distance(0, 1),
                r22 = distance(1, 1);
        const V none(ScalarOf<V>(0));
        V denominator_u = none, denominator_v = none, denominator_angle = none;
        V numerator_u = none, numerator_v = none, numerator_angle = none;
        const bool with_u = need_over_u && (s == 0 || !derive);
        if constexpr (need_over_u || need_over_v) {
          const V along_u1 = r11 + r21, along_u2 = r12 + r22;
          const V along_v1 = r11 + r12, along_v2 = r21 + r22;
          const V along_u = along_u1 * along_u2, along_v = along_v1 * along_v2;
          const V common = lulv * (along_u1 + along_u2);
          if (with_u) {
            numerator_u = common * twice_centre[u];
            denominator_u = along_u * (along_v - lvlv);
          }
          if constexpr (need_over_v) {
            numerator_v = common * twice_centre[v];
            denominator_v = along_v * (along_u - lulu);
          }
        }
        if constexpr (need_angle) {
          const V base = q[n][s] + lower_upper[u] + lower_upper[v];
          const V diagonal = multiply_add(r11, r22, base);
          const V nv = q[n][s] + lower_upper[v], nu = q[n][s] + lower_upper[u];
          const V d1 =
              multiply_add(r21, diagonal, multiply_add(nu + q[v][0], r22, (nv + q[u][1]) * r11));
          const V d2 =
              multiply_add(r12, diagonal, multiply_add(nv + q[u][0], r22, (nu + q[v][1]) * r11));
          const V volume = h[n][s] * lulv;
          numerator_angle = volume * (d1 + d2);
          denominator_angle = multiply_subtract(d1, d2, volume * volume);
        }
        if constexpr (std::is_same_v<ScalarOf<V>, double> && need_angle && need_over_v) {
          // a single division for all: the products stay far from double's limits
          if (with_u) {
            const V uv = denominator_u * denominator_v;
            const V inverse = reciprocal(uv * denominator_angle);
            const V inverse_uv = inverse * denominator_angle;
            over_u[n][s] = small_atanh<V>(numerator_u * (inverse_uv * denominator_v));
            over_v[n][s] = small_atanh<V>(numerator_v * (inverse_uv * denominator_u));
            angle[n][s] = small_atan<V>(numerator_angle * (inverse * uv));
          } else {
            const V inverse = reciprocal(denominator_v * denominator_angle);
            over_v[n][s] = small_atanh<V>(numerator_v * (inverse * denominator_angle));
            angle[n][s] = small_atan<V>(numerator_angle * (inverse * denominator_v));
          }
        } else {
          if (with_u) over_u[n][s] = small_atanh<V>(numerator_u * reciprocal(denominator_u));
          if constexpr (need_over_v) {
            over_v[n][s] = small_atanh<V>(numerator_v * reciprocal(denominator_v));
          }
          if constexpr (need_angle) {
            angle[n][s] = small_atan<V>(numerator_angle * reciprocal(denominator_angle));
          }
        }
        if constexpr (potential) {
          if (s == 0) first_edge[n] = medium_atanh<V>(length[v] * reciprocal(r11 + r12));
        }
      }
    }
  };
  faces(std::integral_constant<int, 0>());
  faces(std::integral_constant<int, 1>());
  faces(std::integral_constant<int, 2>());
  const auto derive_upper = [&](auto axis) {
    constexpr int n = decltype(axis)::value;
    constexpr int u = (n + 1) % 3;
    constexpr bool need_over_u = potential || (Mask >> (1 + u) & 1u) != 0;
    constexpr bool derive =
        potential || (Mask >> (1 + n) & 1u) != 0 || (Mask >> mixed(n) & 1u) != 0;
    if constexpr (need_over_u && derive) over_u[n][1] = over_u[n][0] + over_v[u][1] - over_v[u][0];
  };
  derive_upper(std::integral_constant<int, 0>());
  derive_upper(std::integral_constant<int, 1>());
  derive_upper(std::integral_constant<int, 2>());
  const auto results = [&](auto axis) {
    constexpr int n = decltype(axis)::value;
    constexpr int u = (n + 1) % 3, v = (n + 2) % 3;
    if constexpr ((Mask >> (1 + n) & 1u) != 0) {
      V sum = multiply_subtract(h[n][1], angle[n][1], h[n][0] * angle[n][0]);
      sum = multiply_add(h[u][1], over_v[u][1], subtract_product(sum, h[u][0], over_v[u][0]));
      sum = multiply_add(h[v][1], over_u[v][1], subtract_product(sum, h[v][0], over_u[v][0]));
      out[slot_of(Mask, 1 + n)] = sum;
    }
    if constexpr ((Mask >> (4 + n) & 1u) != 0) {
      out[slot_of(Mask, 4 + n)] = angle[n][0] - angle[n][1];
    }
    if constexpr ((Mask >> mixed(n) & 1u) != 0) {
      out[slot_of(Mask, mixed(n))] = over_v[u][0] - over_v[u][1];
    }
  };
  results(std::integral_constant<int, 0>());
  results(std::integral_constant<int, 1>());
  results(std::integral_constant<int, 2>());
  if constexpr (potential) {
    V sum = V(0);
    const V half = V(ScalarOf<V>(0.5));
    for (int n = 0; n < 3; ++n) {
      const int u = (n + 1) % 3;
      const V across = multiply_subtract(h[u][1], over_v[u][1], h[u][0] * over_v[u][0]);
      const V inner = multiply_add(h[n][1], across, length[n] * h[u][1] * over_u[n][0]);
      const V edges = multiply_subtract(length[n] * length[u], first_edge[n], inner);
      const V angles = multiply_subtract(q[n][1], angle[n][1], q[n][0] * angle[n][0]);
      sum = sum + subtract_product(edges, half, angles);
    }
    out[0] = sum;
  }
}

/// \brief Computes a prism's far field: monopole, quadrupole and hexadecapole. Density 1, without
/// the factor 2 G.
///
/// It is exact up to the fifth order of size over distance. With second moments m_i = l_i^2 / 12
/// about the centre x, t_i = x_i^2 and p = 1/r^2, the potential is V/r [1 + p (-M/2 + p (C + 3/2 A
/// + p (-15/4 B + 35/8 p Q)))]. Here M = sum m, A = sum m t, B = sum m (M + 4/5 m) t, Q = 3 A^2 -
/// 6/5 sum (m t)^2, C = 3/8 (M^2 + 4/5 sum m^2). Attraction and gradient are derivatives of the
/// potential.
template <unsigned Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION void far_field(const V (&centre)[3], const V (&length)[3],
                                           const V (&t)[3], const V distance2, V* out) {
  using S = ScalarOf<V>;
  const auto number = [](double value) { return V(static_cast<S>(value)); };
  constexpr bool attraction = (Mask & (mask_attraction | mask_gradient)) != 0;
  constexpr bool gradient = (Mask & mask_gradient) != 0;
  const V inverse = reciprocal_root(distance2);
  const V p = inverse * inverse;
  V m[3], w[3], e[3];
  for (int i = 0; i < 3; ++i) {
    m[i] = length[i] * length[i] * number(1.0 / 12.0);
    w[i] = m[i] * t[i];
  }
  const V trace = m[0] + m[1] + m[2];
  const V squares = multiply_add(m[0], m[0], multiply_add(m[1], m[1], m[2] * m[2]));
  const V radial4 = number(0.375) * multiply_add(trace, trace, number(0.8) * squares);
  const V a = w[0] + w[1] + w[2];
  V b = number(0.0), ww = number(0.0);
  for (int i = 0; i < 3; ++i) {
    const V factor = multiply_add(number(0.8), m[i], trace);
    e[i] = m[i] * factor;
    b = multiply_add(w[i], factor, b);
    ww = multiply_add(w[i], w[i], ww);
  }
  const V quartic = subtract_product(number(3.0) * a * a, number(1.2), ww);
  const V c2 = number(-0.5) * trace;
  const V c4 = multiply_add(number(1.5), a, radial4);
  const V c6 = p * (number(-3.75) * b);
  const V c8 = p * p * (number(4.375) * quartic);
  // half the mass: the factor 2 G is applied later
  const V mass = number(0.5) * (length[0] * length[1] * length[2]) * inverse;
  if constexpr ((Mask & 1u) != 0) {
    const V inner = c4 + (c6 + c8);
    out[0] = mass * multiply_add(p, multiply_add(p, inner, c2), number(1.0));
  }
  if constexpr (attraction) {
    const V mass_p = mass * p;
    V scaled[3];  // derivatives of the anisotropic terms along i, divided by x_i p^2
    const V twelve_a = number(12.0) * a;
    V q4[3];
    for (int i = 0; i < 3; ++i) {
      q4[i] = number(4.375) * p * (m[i] * subtract_product(twelve_a, number(4.8), w[i]));
    }
    // sum of n P_k r^(-n); n is the power of the distance
    const V inner1 = multiply_add(number(5.0), c4, multiply_add(number(7.0), c6, number(9.0) * c8));
    const V radial1 = multiply_add(p, multiply_add(p, inner1, number(3.0) * c2), number(1.0));
    for (int i = 0; i < 3; ++i) {
      const V first = multiply_add(p, q4[i] - number(7.5) * e[i], number(3.0) * m[i]);
      scaled[i] = p * first;
    }
    for (int i = 0; i < 3; ++i) {
      if ((Mask >> (1 + i) & 1u) != 0) {
        out[slot_of(Mask, 1 + i)] = mass_p * centre[i] * (radial1 - scaled[i]);
      }
    }
    if constexpr (gradient) {
      const V inner2 =
          multiply_add(number(35.0), c4, multiply_add(number(63.0), c6, number(99.0) * c8));
      const V radial2 = multiply_add(p, multiply_add(p, inner2, number(15.0) * c2), number(3.0));
      V k[3];
      for (int i = 0; i < 3; ++i) {
        k[i] = p * multiply_add(p, multiply_subtract(number(9.0), q4[i], number(52.5) * e[i]),
                                number(15.0) * m[i]);
      }
      V direction[3];  // factors near 1 first: products of large distances leave a float's range
      for (int i = 0; i < 3; ++i) direction[i] = centre[i] * inverse;
      const V cross = number(105.0) * (p * p);  // 24 x 4.375
      for (int i = 0; i < 3; ++i) {
        if ((Mask >> (4 + i) & 1u) != 0) {
          const V own = number(63.0) * (p * p) * (m[i] * m[i]);  // 14.4 x 4.375
          const V along = radial2 - k[i] - k[i] + own;
          out[slot_of(Mask, 4 + i)] =
              mass_p * multiply_add(direction[i] * direction[i], along, scaled[i] - radial1);
        }
        const int u = (i + 1) % 3;
        if ((Mask >> mixed(i) & 1u) != 0) {
          const V along = multiply_add(cross * m[i], m[u], radial2 - k[i] - k[u]);
          out[slot_of(Mask, mixed(i))] = mass_p * (direction[i] * direction[u]) * along;
        }
      }
    }
  }
}

/// Returns the distance from which far_field() has the given relative error, in half diagonals. The
/// error refers to the components of a set.
inline double far_distance(unsigned mask, double tolerance) {
  // the first omitted term, for all shapes and directions, relative to the largest possible
  // component: at most 3.3 (h/D)^6 for the gradient, 1.0 (h/D)^6 for attraction and
  // 0.15 (h/D)^6 for the potential
  const double factor = (mask & mask_gradient) != 0     ? 3.3
                        : (mask & mask_attraction) != 0 ? 1.0
                                                        : 0.15;
  const double d = tolerance > 0.0 ? std::pow(factor / tolerance, 1.0 / 6.0) : 1e9;
  return d < 4.0 ? 4.0 : d > far_limit ? far_limit : d;
}

}  // namespace detail

/// \brief Computes the field of a prism by the textbook's closed form in double precision.
///
/// It is the reference of tests: sums of logarithms and arctangents over the eight corners (Nagy et
/// al. 2000; Couder-Castaneda et al. 2013 with its appendix corrected). Its relative error grows
/// with distance as (D/a)^3. It is not valid for stations on faces, edges or their extensions; use
/// prism_field() there.
///
/// \param prism x1, x2, y1, y2, z1, z2 (m), density (kg/m^3)
/// \param station x, y, z (m, z down)
/// \param constant gravitational constant, m^3/(kg s^2)
/// \param out in Component's order: m^2/s^2, mGal, Eotvos
KOKKOS_INLINE_FUNCTION void prism_reference(const double (&prism)[7], const double (&station)[3],
                                            double constant, double (&out)[10]) {
  double sums[10] = {};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 2; ++k) {
        const double x = prism[i] - station[0], y = prism[2 + j] - station[1],
                     z = prism[4 + k] - station[2];
        const double r = sqrt(x * x + y * y + z * z);
        const double sign = (i + j + k) % 2 == 1 ? 1.0 : -1.0;
        const double lx = log(x + r), ly = log(y + r), lz = log(z + r);
        const double ax = atan(y * z / (x * r)), ay = atan(z * x / (y * r)),
                     az = atan(x * y / (z * r));
        sums[0] += sign * (x * y * lz + y * z * lx + z * x * ly -
                           0.5 * (x * x * ax + y * y * ay + z * z * az));
        sums[1] -= sign * (y * lz + z * ly - x * ax);
        sums[2] -= sign * (z * lx + x * lz - y * ay);
        sums[3] -= sign * (x * ly + y * lx - z * az);
        sums[4] -= sign * ax;
        sums[5] -= sign * ay;
        sums[6] -= sign * az;
        sums[7] += sign * lz;
        sums[8] += sign * ly;
        sums[9] += sign * lx;
      }
    }
  }
  const double scale = constant * prism[6];
  for (int c = 0; c < 10; ++c) {
    out[c] = sums[c] * scale * (c == 0 ? 1.0 : c < 4 ? milligal : eotvos);
  }
}

/// \brief Computes the field of a prism at any station, in double precision.
///
/// At a vertex the gradient is NaN. On an edge along c the components gaa, gbb and gab of the other
/// two axes are NaN. On a face normal to a, gaa is the limit from outside. All other values are
/// finite.
///
/// \param prism x1, x2, y1, y2, z1, z2 (m), density (kg/m^3)
/// \param station x, y, z (m, z down)
/// \param constant gravitational constant, m^3/(kg s^2)
/// \param out in Component's order: m^2/s^2, mGal, Eotvos
KOKKOS_INLINE_FUNCTION void prism_field(const double (&prism)[7], const double (&station)[3],
                                        double constant, double (&out)[10]) {
  double lower[3], upper[3], length[3], centre[3], squares[3];
  double diagonal2 = 0.0, distance2 = 0.0;
  for (int n = 0; n < 3; ++n) {
    lower[n] = prism[2 * n] - station[n];
    upper[n] = prism[2 * n + 1] - station[n];
    length[n] = prism[2 * n + 1] - prism[2 * n];
    centre[n] = lower[n] + 0.5 * length[n];
    squares[n] = centre[n] * centre[n];
    diagonal2 += 0.25 * length[n] * length[n];
    distance2 += squares[n];
  }
  if (distance2 > detail::far_limit * detail::far_limit * diagonal2) {
    detail::far_field<detail::mask_ten, double>(centre, length, squares, distance2, out);
  } else if (distance2 > detail::near_distance * detail::near_distance * diagonal2) {
    detail::mid_field<detail::mask_ten, double>(lower, upper, length, out);
  } else {
    detail::near_field(lower, upper, out);
  }
  const double scale = 2.0 * constant * prism[6];
  for (int c = 0; c < 10; ++c) out[c] *= scale * (c == 0 ? 1.0 : c < 4 ? milligal : eotvos);
}

}  // namespace moho::gravity
