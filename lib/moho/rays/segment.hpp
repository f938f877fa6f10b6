// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Traveltime along a straight segment through an interpolated model.
///
/// The segment is cut at its crossings with grid lines. On each piece the (bi/tri)linear
/// interpolant is a polynomial in the path parameter, of degree 2 in 2D and 3 in 3D. It is
/// integrated exactly:
///
/// - slowness: Simpson's rule, exact to degree 3;
/// - velocity, degree 2, with end values a, c and middle Bernstein coefficient b: the mean of the
///   reciprocal is atanh(s / b) / s with s^2 = b^2 - a c. For a c > b^2 it is atan2(s, b) / s with
///   s^2 = a c - b^2. For small s it is 1/b times a power series of s^2/b^2. For velocity linear
///   along the piece the mean is ln(c/a) / (c - a);
/// - velocity, degree 3: bisection until the polynomial's complex zeros are far from the piece. The
///   error of Gauss-Legendre quadrature with 8 points is then below rounding.

#include <moho/core/grid.hpp>
#include <moho/rays/options.hpp>

namespace moho::rays {

namespace detail {

/// Returns the mean of 1/p over [0, 1] for a quadratic p with Bernstein coefficients a, b, c. p
/// must be positive on [0, 1].
template <class R>
KOKKOS_INLINE_FUNCTION R mean_reciprocal(R a, R b, R c) {
  using std::atan2;
  using std::log1p;
  using std::sqrt;
  const R square = b * b - a * c;
  const R ratio = square / (b * b);
  if (b > R(0) && ratio < R(0.01) && ratio > R(-0.01)) {
    // atanh(x)/x with x^2 = ratio; the first omitted term is below 1e-18
    R sum = R(1) / R(17);
    for (int k = 15; k >= 1; k -= 2) sum = sum * ratio + R(1) / R(k);
    return sum / b;
  }
  if (square > R(0)) {
    const R s = sqrt(square);
    // b - s = a c / (b + s), which avoids cancellation
    return R(0.5) * log1p(R(2) * s * (b + s) / (a * c)) / s;
  }
  const R s = sqrt(-square);
  return atan2(s, b) / s;
}

/// Returns the mean of 1/p over [0, 1] for a positive cubic p with these Bernstein coefficients.
template <class R>
KOKKOS_INLINE_FUNCTION R mean_reciprocal(R b0, R b1, R b2, R b3) {
  // Gauss-Legendre nodes and weights of 8 points on [-1, 1]
  const R x[4] = {R(0.18343464249564980494), R(0.52553240991632898582), R(0.79666647741362673959),
                  R(0.96028985649753623168)};
  const R w[4] = {R(0.36268378337836198297), R(0.31370664587788728734), R(0.22238103445337447054),
                  R(0.10122853629037625915)};
  R sum = R(0);
  // Pieces of [0, 1] are processed from left to right; `position` is in units of the piece's
  // length.
  int depth = 0;
  unsigned position = 0;
  while (true) {
    R c0 = b0, c1 = b1, c2 = b2, c3 = b3;
    for (int level = depth - 1; level >= 0; --level) {
      const R m01 = R(0.5) * (c0 + c1), m12 = R(0.5) * (c1 + c2), m23 = R(0.5) * (c2 + c3);
      const R m012 = R(0.5) * (m01 + m12), m123 = R(0.5) * (m12 + m23);
      const R middle = R(0.5) * (m012 + m123);
      if ((position >> level) & 1u) {
        c0 = middle, c1 = m123, c2 = m23;
      } else {
        c1 = m01, c2 = m012, c3 = middle;
      }
    }
    // The error of Gauss-Legendre with n points is of order rho^-2n if 1/p is analytic inside the
    // Bernstein ellipse of parameter rho. With rho = 8.6 the Chebyshev polynomials T1, T2, T3 reach
    // 4.4, 37 and 320 on the ellipse. So p has no zero inside if its coefficients, times these
    // bounds, sum to less than its mean part.
    const R mean = R(0.125) * (c0 + R(3) * (c1 + c2) + c3);
    const R rise = c3 + c2 - c1 - c0, bend = c0 - c1 - c2 + c3, third = c3 - c0 + R(3) * (c1 - c2);
    const R variation = R(1.65) * (rise < R(0) ? -rise : rise) +
                        R(7) * (bend < R(0) ? -bend : bend) +
                        R(10.4) * (third < R(0) ? -third : third);
    if (!(variation <= mean) && depth < 24) {
      ++depth;
      position <<= 1;
      continue;
    }
    R part = R(0);
    for (int k = 0; k < 4; ++k) {
      for (int side = -1; side <= 1; side += 2) {
        const R t = R(0.5) * (R(1) + R(side) * x[k]), u = R(1) - t;
        const R value = ((c0 * u + R(3) * c1 * t) * u + R(3) * c2 * t * t) * u + c3 * t * t * t;
        part += w[k] / value;
      }
    }
    R length = R(0.5);
    for (int level = 0; level < depth; ++level) length *= R(0.5);
    sum += part * length;
    while (depth > 0 && (position & 1u)) {
      position >>= 1;
      --depth;
    }
    if (depth == 0) return sum;
    ++position;
  }
}

/// Calls visit(t0, t1, cell) for the pieces of the straight segment from p to q, in order.
/// Positions are in index space. `cell` is the lowest node of the piece's cell, clamped to 0 ...
/// extents - 2. A segment of length zero has no pieces.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <int Dim, class R, class Visit>
KOKKOS_INLINE_FUNCTION void for_each_piece(const Kokkos::Array<R, Dim>& p,
                                           const Kokkos::Array<R, Dim>& q,
                                           const Index<Dim>& extents, Visit&& visit) {
  using std::floor;
  R next[Dim];  // next grid line along each axis
  R step[Dim];
  bool any = false;
  for (int d = 0; d < Dim; ++d) {
    const R delta = q[d] - p[d];
    any = any || delta != R(0);
    step[d] = delta > R(0) ? R(1) : R(-1);
    next[d] = delta > R(0) ? floor(p[d]) + R(1) : -floor(-p[d]) - R(1);
  }
  if (!any) return;
  R t0 = R(0);
  while (t0 < R(1)) {
    R t1 = R(1);
    int axis = -1;
    for (int d = 0; d < Dim; ++d) {
      const R delta = q[d] - p[d];
      if (delta == R(0)) continue;
      const R t = (next[d] - p[d]) / delta;
      if (t < t1) {
        t1 = t;
        axis = d;
      }
    }
    // crossings that coincide within rounding count once
    if (t1 > t0 + R(1e-6) * (R(1) - t0) || axis < 0) {
      Index<Dim> cell;
      for (int d = 0; d < Dim; ++d) {
        const R middle = p[d] + R(0.5) * (t0 + t1) * (q[d] - p[d]);
        std::int64_t c = static_cast<std::int64_t>(floor(middle));
        c = c > extents[d] - 2 ? extents[d] - 2 : c;
        cell[d] = c < 0 ? 0 : c;
      }
      visit(t0, t1, cell);
      t0 = t1;
    }
    if (axis < 0) return;
    next[axis] += step[axis];
  }
}

/// Returns the interpolant of the node values at a position (index space) inside a cell.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <int Dim, class R, class Value>
KOKKOS_INLINE_FUNCTION R interpolate(const Kokkos::Array<R, Dim>& position, const Index<Dim>& cell,
                                     const Index<Dim>& extents, const Value& value) {
  R sum = R(0);
  for (int corner = 0; corner < (1 << Dim); ++corner) {
    R weight = R(1);
    Index<Dim> node = cell;
    for (int d = 0; d < Dim; ++d) {
      const R fraction = position[d] - R(cell[d]);
      if ((corner >> d) & 1) {
        weight *= fraction;
        node[d] += extents[d] > 1 ? 1 : 0;
      } else {
        weight *= R(1) - fraction;
      }
    }
    if (weight != R(0)) sum += weight * R(value(node));
  }
  return sum;
}

/// Returns the mean slowness of a cell's corners; along a face between cells, the mean of both.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <int Dim, class R, class Value>
KOKKOS_INLINE_FUNCTION R cell_slowness(const Kokkos::Array<R, Dim>& middle, const Index<Dim>& cell,
                                       const Index<Dim>& extents, const Value& slowness) {
  using std::floor;
  R sum = R(0);
  int cells = 0;
  for (int side = 0; side < (1 << Dim); ++side) {
    Index<Dim> c = cell;
    bool valid = true;
    for (int d = 0; d < Dim; ++d) {
      if (!((side >> d) & 1)) continue;
      // the other cell along this axis, if the segment lies in the plane between both
      const bool on_plane = middle[d] == floor(middle[d]);
      c[d] = middle[d] == R(cell[d]) ? cell[d] - 1 : cell[d] + 1;
      valid = valid && on_plane && c[d] >= 0 && c[d] <= extents[d] - 2;
    }
    if (!valid) continue;
    R corners = R(0);
    for (int corner = 0; corner < (1 << Dim); ++corner) {
      Index<Dim> node = c;
      for (int d = 0; d < Dim; ++d) node[d] += ((corner >> d) & 1) && extents[d] > 1 ? 1 : 0;
      corners += R(slowness(node));
    }
    sum += corners / R(1 << Dim);
    ++cells;
  }
  return sum / R(cells);
}

/// Returns the mean slowness along the segment from p to q (index space). Times the segment's
/// length it is the traveltime. `value(node)` is the slowness for the rules slowness and cells, the
/// velocity for the others.
template <int Dim, class R, class Value>
KOKKOS_INLINE_FUNCTION R mean_slowness(WeightRule rule, int radius, const Kokkos::Array<R, Dim>& p,
                                       const Kokkos::Array<R, Dim>& q, const Index<Dim>& extents,
                                       const Value& value) {
  using std::floor;
  auto at = [&](R t) {
    Kokkos::Array<R, Dim> x;
    for (int d = 0; d < Dim; ++d) x[d] = p[d] + t * (q[d] - p[d]);
    return x;
  };
  if (rule == WeightRule::sampled) {
    auto velocity_at = [&](R t) {
      const Kokkos::Array<R, Dim> x = at(t);
      Index<Dim> cell;
      for (int d = 0; d < Dim; ++d) {
        std::int64_t c = static_cast<std::int64_t>(floor(x[d]));
        c = c > extents[d] - 2 ? extents[d] - 2 : c;
        cell[d] = c < 0 ? 0 : c;
      }
      return interpolate<Dim>(x, cell, extents, value);
    };
    const int steps = radius + 1;
    R sum = R(0);
    R before = velocity_at(R(0));
    for (int i = 1; i <= steps; ++i) {
      const R after = velocity_at(R(i) / R(steps));
      sum += R(2) / (before + after);
      before = after;
    }
    return sum / R(steps);
  }
  R sum = R(0);
  for_each_piece<Dim>(p, q, extents, [&](R t0, R t1, const Index<Dim>& cell) {
    const R middle = R(0.5) * (t0 + t1);
    if (rule == WeightRule::cells) {
      sum += (t1 - t0) * cell_slowness<Dim>(at(middle), cell, extents, value);
      return;
    }
    const R a = interpolate<Dim>(at(t0), cell, extents, value);
    const R c = interpolate<Dim>(at(t1), cell, extents, value);
    if (rule == WeightRule::slowness) {
      const R m = interpolate<Dim>(at(middle), cell, extents, value);
      sum += (t1 - t0) * (a + R(4) * m + c) / R(6);
    } else if constexpr (Dim == 2) {
      const R m = interpolate<Dim>(at(middle), cell, extents, value);
      sum += (t1 - t0) * mean_reciprocal(a, R(2) * m - R(0.5) * (a + c), c);
    } else {
      // Bernstein coefficients of the cubic from its values at 0, 1/3, 2/3, 1
      const R third = (t1 - t0) / R(3);
      const R m = interpolate<Dim>(at(t0 + third), cell, extents, value);
      const R n = interpolate<Dim>(at(t1 - third), cell, extents, value);
      const R b1 = (R(-5) * a + R(18) * m - R(9) * n + R(2) * c) / R(6);
      const R b2 = (R(2) * a - R(9) * m + R(18) * n - R(5) * c) / R(6);
      sum += (t1 - t0) * mean_reciprocal(a, b1, b2, c);
    }
  });
  return sum;
}

}  // namespace detail

}  // namespace moho::rays
