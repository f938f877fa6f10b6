// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief near_field() without branches: for vectors of stations on a host, and on a device.

#include <moho/core/instances.hpp>
#include <moho/gravity/detail/arithmetic.hpp>
#include <moho/gravity/detail/near_field.hpp>
#include <moho/gravity/prism.hpp>

namespace moho::gravity::detail {

/// Returns edge_integral() for each lane.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V edge_integrals(const V& lower, const V& upper, const V& d2,
                                             const V& r_lower, const V& r_upper) {
  const V zero(0.0), one(1.0);
  // mirror, so that w2 > 0
  const auto negative = upper < V(2.2250738585072014e-308);
  const V w1 = select(negative, -upper, lower), w2 = select(negative, -lower, upper);
  const V r1 = select(negative, r_upper, r_lower), r2 = select(negative, r_lower, r_upper);
  // station abreast of the edge (w1 < 0): (w2 + r2) (r1 - w1) / d2; otherwise 1 + x, kept as x
  const auto left_of = w1 < zero;
  const auto touching = d2 == zero;
  const V length = upper - lower;
  const V top = select(left_of, (w2 + r2) * (r1 - w1), length * (one + quotient(w1 + w2, r1 + r2)));
  const V x = quotient(top, select(left_of, select(touching, one, d2), w1 + r1));
  const V sum = one + x;
  const V argument = select(left_of, x, sum);
  // digits of x that are lost in 1 + x
  const V rest = select(left_of, zero, quotient(x - (sum - one), sum));
  const V integral = logarithm(argument) + rest;
  // on the edge w1 <= 0: the factors before the integral are zero
  return select(touching, select(zero < w1, integral, zero), integral);
}

/// Returns corner_angle() for each lane; on a plane the limit from outside of a lower or upper
/// face.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V corner_angles(const V& n, const V& uv, const V& r, bool lower) {
  const V zero(0.0), quarter(lower ? 1.57079632679489661923 : -1.57079632679489661923);
  return arctangent(uv, n * r, select(uv == zero, zero, select(zero < uv, quarter, -quarter)));
}

/// Returns on_plane() for each lane; `min` is the distance that counts as zero.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V on_planes(const V& coordinate, const V& min) {
  const V zero(0.0);
  return select(coordinate < min, select(-min < coordinate, zero, coordinate), coordinate);
}

/// \brief Computes a set of components: a prism of density 1, without the factor 2 G.
///
/// On an edge or at a vertex some components do not exist. Returns the number of faces on whose
/// planes a station lies that is on the surface of the prism or inside it; with two or more of them
/// near_field() has to replace the values.
template <unsigned Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION V near_terms(const V (&lower)[3], const V (&upper)[3], V* out) {
  constexpr bool potential = (Mask & 1u) != 0;
  const V zero(0.0), half(0.5), one(1.0);
  V h[3][2], q[3][2];
  V on(0.0), outside(0.0);
  for (int n = 0; n < 3; ++n) {
    const V min = V(nearest_face) * (upper[n] - lower[n]);
    h[n][0] = on_planes(lower[n], min);
    h[n][1] = on_planes(upper[n], min);
    q[n][0] = h[n][0] * h[n][0];
    q[n][1] = h[n][1] * h[n][1];
    on = on + select(h[n][0] == zero, one, zero) + select(h[n][1] == zero, one, zero);
    outside = outside + select(zero < h[n][0], one, zero) + select(h[n][1] < zero, one, zero);
  }
  V r[2][2][2];
  for (int j = 0; j < 2; ++j) {
    for (int k = 0; k < 2; ++k) {
      const V yz = q[1][j] + q[2][k];
      r[0][j][k] = square_root(q[0][0] + yz);
      r[1][j][k] = square_root(q[0][1] + yz);
    }
  }
  V u_sum = zero;
  V g[3] = {zero, zero, zero};
  V solid[3] = {zero, zero, zero}, logs[3] = {zero, zero, zero};
  const auto terms = [&](auto axis) {
    constexpr int n = decltype(axis)::value;
    constexpr int u = (n + 1) % 3, v = (n + 2) % 3;
    constexpr bool need_angle =
        potential || (Mask >> (1 + n) & 1u) != 0 || (Mask >> (4 + n) & 1u) != 0;
    constexpr bool need_log = potential || (Mask >> (1 + u) & 1u) != 0 ||
                              (Mask >> (1 + v) & 1u) != 0 || (Mask >> mixed(u) & 1u) != 0;
    const auto distance = [&](int in, int iu, int iv) {
      const int i = n == 0 ? in : u == 0 ? iu : iv;
      const int j = n == 1 ? in : u == 1 ? iu : iv;
      const int k = n == 2 ? in : u == 2 ? iu : iv;
      return r[i][j][k];
    };
    if constexpr (need_angle) {
      for (int s = 0; s < 2; ++s) {
        V angle = zero;
        for (int iu = 0; iu < 2; ++iu) {
          for (int iv = 0; iv < 2; ++iv) {
            const V term = corner_angles(h[n][s], h[u][iu] * h[v][iv], distance(s, iu, iv), s == 0);
            angle = iu == iv ? angle + term : angle - term;
          }
        }
        const V turned = s == 1 ? angle : -angle;
        solid[n] = solid[n] + turned;
        g[n] = multiply_add(h[n][s], turned, g[n]);
        if constexpr (potential) u_sum = u_sum - half * q[n][s] * turned;
      }
    }
    if constexpr (need_log) {
      for (int iu = 0; iu < 2; ++iu) {
        for (int iv = 0; iv < 2; ++iv) {
          const V integral = edge_integrals(h[n][0], h[n][1], q[u][iu] + q[v][iv],
                                            distance(0, iu, iv), distance(1, iu, iv));
          const V turned = iu == iv ? integral : -integral;
          logs[n] = logs[n] + turned;
          g[u] = subtract_product(g[u], h[v][iv], turned);
          g[v] = subtract_product(g[v], h[u][iu], turned);
          if constexpr (potential) u_sum = multiply_add(h[u][iu] * h[v][iv], turned, u_sum);
        }
      }
    }
  };
  terms(std::integral_constant<int, 0>());
  terms(std::integral_constant<int, 1>());
  terms(std::integral_constant<int, 2>());
  if constexpr (potential) out[0] = half * u_sum;
  for (int n = 0; n < 3; ++n) {
    const int v = (n + 2) % 3;
    if ((Mask >> (1 + n) & 1u) != 0) out[slot_of(Mask, 1 + n)] = half * g[n];
    if ((Mask >> (4 + n) & 1u) != 0) out[slot_of(Mask, 4 + n)] = -half * solid[n];
    if ((Mask >> mixed(n) & 1u) != 0) out[slot_of(Mask, mixed(n))] = half * logs[v];
  }
  return select(outside == zero, on, zero);
}

/// Computes a set of components for each lane: a prism of density 1, without the factor 2 G.
template <unsigned Mask>
MOHO_NOINLINE void near_lanes(const simd::Pack<double> (&lower)[3],
                              const simd::Pack<double> (&upper)[3], simd::Pack<double>* out) {
  const simd::Pack<double> edges = near_terms<Mask>(lower, upper, out);
  if (!(simd::reduce_max(edges) > 1.0)) return;
  for (int lane = 0; lane < simd::lanes<double>; ++lane) {
    if (!(edges.lanes[lane] > 1.0)) continue;
    double lowest[3], highest[3], all[component_count];
    for (int n = 0; n < 3; ++n) {
      lowest[n] = lower[n].lanes[lane];
      highest[n] = upper[n].lanes[lane];
    }
    near_field(lowest, highest, all);
    for (int c = 0; c < component_count; ++c) {
      if ((Mask >> c & 1u) != 0) out[slot_of(Mask, c)].lanes[lane] = all[c];
    }
  }
}

/// near_lanes() with arrays that stay in registers; the arrays of near_lanes() have an address.
template <unsigned Mask>
inline void near_values(const simd::Pack<double> (&lower)[3], const simd::Pack<double> (&upper)[3],
                        simd::Pack<double>* out) {
  constexpr int count = count_of(Mask);
  simd::Pack<double> low[3], high[3], values[count];
  for (int n = 0; n < 3; ++n) {
    low[n] = lower[n];
    high[n] = upper[n];
  }
  near_lanes<Mask>(low, high, values);
  for (int c = 0; c < count; ++c) out[c] = values[c];
}

/// near_lanes() for sums in single precision: half of the lanes at a time.
template <unsigned Mask>
inline void near_values(const simd::Pack<float> (&lower)[3], const simd::Pack<float> (&upper)[3],
                        simd::Pack<float>* out) {
  using V = simd::Pack<double>;
  constexpr int lanes = simd::lanes<double>;
  constexpr int count = count_of(Mask);
  for (int part = 0; part < 2; ++part) {
    V low[3], high[3], values[count];
    for (int n = 0; n < 3; ++n) {
      for (int lane = 0; lane < lanes; ++lane) {
        low[n].lanes[lane] = static_cast<double>(lower[n].lanes[part * lanes + lane]);
        high[n].lanes[lane] = static_cast<double>(upper[n].lanes[part * lanes + lane]);
      }
    }
    near_lanes<Mask>(low, high, values);
    for (int c = 0; c < count; ++c) {
      for (int lane = 0; lane < lanes; ++lane) {
        out[c].lanes[part * lanes + lane] = static_cast<float>(values[c].lanes[lane]);
      }
    }
  }
}

/// near_lanes() for one station, on a device.
template <unsigned Mask>
MOHO_NOINLINE KOKKOS_FUNCTION inline void near_station(const double* lower, const double* upper,
                                                       double* out) {
  double low[3], high[3];
  for (int n = 0; n < 3; ++n) {
    low[n] = lower[n];
    high[n] = upper[n];
  }
  if (!(near_terms<Mask>(low, high, out) > 1.0)) return;
  double all[component_count];
  near_field(low, high, all);
  for (int c = 0; c < component_count; ++c) {
    if ((Mask >> c & 1u) != 0) out[slot_of(Mask, c)] = all[c];
  }
}

}  // namespace moho::gravity::detail

/// \cond
#define MOHO_GRAVITY_MASKS(each, ...)                                          \
  each(__VA_ARGS__, 1u) each(__VA_ARGS__, mask_gz) each(__VA_ARGS__, mask_gzz) \
      each(__VA_ARGS__, mask_gxy) each(__VA_ARGS__, mask_attraction)           \
          each(__VA_ARGS__, mask_gradient) each(__VA_ARGS__, mask_nine)        \
              each(__VA_ARGS__, mask_ten)
#ifdef MOHO_GRAVITY_KERNELS
namespace moho::gravity::detail {
MOHO_GRAVITY_MASKS(MOHO_FUNCTION, extern template, near_lanes)
}  // namespace moho::gravity::detail
#endif
/// \endcond
