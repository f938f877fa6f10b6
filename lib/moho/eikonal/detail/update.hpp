// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The local equation: the time at a node from the times of its upwind neighbours.
///
/// The time is T = T0 u; T0 is the time of the homogeneous medium around the source. Let M = T0^2
/// and q = T0 grad T0; for isotropic and elliptical media both are polynomials of the position.
/// One-sided differences of u towards a neighbour at distance h give
///
///     T0 |dT/dx| = A u - B,  A = c M / h + s q,  B = M b / h,
///
/// with s = 1 if the neighbour is on the lower side, otherwise -1. At first order c = 1 and b = u1;
/// at second order c = 3/2 and b = 2 u1 - u2 / 2. The eikonal equation is sum v^2 (A u - B)^2 = M.
/// Without factorisation M = 1, q = 0, and u is the time. T0 needs no square root or division:
/// times are compared by their squares, M u^2.
///
/// An axis without an earlier neighbour is absent from the sum, because dT/dx changes sign there.
/// In the columns next to the source the sign changes within one spacing. There u is assumed to
/// vary as at the source: T0 dT/dx = q u + M du/dx. The second term is bounded by its possible size
/// where the sign changes. Homogeneous media are thus exact, and the second order is preserved.
///
/// The unknown is the difference of u from its value at the earliest neighbour. Far from the source
/// A u and B are nearly equal, and their difference would lose all digits in single precision.
///
/// At first order a neighbour is used if its time is earlier. At second order the neighbours
/// (Upwinds) are selected beforehand: by the times of first order, then once more by the resulting
/// times. If a solution selected its own neighbours, it would not be unique.

#include <moho/core/kokkos.hpp>

#include <cstdint>

namespace moho::eikonal::detail {

/// \brief Neighbours of a node that second-order differences use, three bits per axis.
///
/// They are selected by known times: the earlier neighbour along an axis if it is earlier than the
/// node, and the next one beyond it if that one is earlier still. A node thus depends only on nodes
/// that are strictly earlier by those times. The solution is therefore unique, independent of the
/// order of the work.
class Upwinds {
 public:
  Upwinds() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit Upwinds(std::uint16_t bits) : m_bits(bits) {}
  /// Adds the lower (side -1) or upper (1) neighbour along an axis, and the one beyond it if `two`.
  KOKKOS_FORCEINLINE_FUNCTION void take(int axis, int side, bool two) {
    m_bits |= static_cast<unsigned>((side < 0 ? lower : upper) | (two ? second : 0)) << (3 * axis);
  }
  /// Returns the side along an axis: -1, 1, or 0 for neither.
  KOKKOS_FORCEINLINE_FUNCTION int side(int axis) const {
    const unsigned of = m_bits >> (3 * axis);
    return (of & lower) ? -1 : (of & upper) ? 1 : 0;
  }
  /// Returns true if the neighbour beyond the first is also used.
  KOKKOS_FORCEINLINE_FUNCTION bool two(int axis) const {
    return ((m_bits >> (3 * axis)) & second) != 0;
  }
  /// Returns the stored form.
  KOKKOS_FORCEINLINE_FUNCTION std::uint16_t bits() const {
    return static_cast<std::uint16_t>(m_bits);
  }
  /// Returns the stored form, with a mark if the selection differs from the one stored before.
  KOKKOS_FORCEINLINE_FUNCTION std::uint16_t bits_after(std::uint16_t before) const {
    const bool same = m_bits == (before & (fresh - 1));
    return static_cast<std::uint16_t>(same ? m_bits : m_bits | fresh);
  }
  /// Returns true if a stored form has that mark.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_fresh(std::uint16_t bits) {
    return (bits & fresh) != 0;
  }

 private:
  static constexpr unsigned lower = 1, upper = 2, second = 4, fresh = 1U << 15;
  unsigned m_bits = 0;
};

/// Number of second-order solutions. The first selects neighbours by first-order times, the next by
/// the first one's times.
inline constexpr int corrections = 2;

/// The floating-point type of a number of the local equation; other than the number's own type for
/// numbers that carry derivatives (dual.hpp).
template <class T>
struct scalar_of {
  using type = T;
};
template <class T>
using ScalarOf = typename scalar_of<T>::type;

/// Returns infinity as a number of the local equation.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T never() {
  return T(infinity<ScalarOf<T>>());
}

/// The medium at a node.
template <class T>
struct LocalMedium {
  T vertical, horizontal;  ///< velocities along and across the symmetry axis
  T anellipticity;         ///< see Constants
};

/// One axis of the local equation, multiplied by the velocity along the axis.
template <class T>
struct Upwind {
  T square;         ///< square of the neighbour's time
  T nearest;        ///< u of the neighbour
  T first, second;  ///< A with first-order and with second-order differences
  T farther;        ///< second-order addition to b - c u1: (u1 - u2) / 2
  T slope;          ///< s q
  T scale;          ///< M / h
  T flat, lean;     ///< T0 dT/dx = flat u + lean if no neighbour is upwind
  bool two;         ///< second-order differences are possible
  bool vertical;    ///< the axis is the symmetry axis
};

template <class T>
KOKKOS_FORCEINLINE_FUNCTION void sort_two(Upwind<T>& a, Upwind<T>& b) {
  if (b.square < a.square) {
    const Upwind<T> c = a;
    a = b;
    b = c;
  }
}

/// Returns u from the `count` earliest axes; negative if no solution is later than these axes. The
/// `seconds` earliest axes use second-order differences if possible.
///
/// \param flat bit d: axis d is flat. A bit is added, and no solution returned, if that makes the
///         result earlier.
template <bool Anelliptic, class T, int Dim>
KOKKOS_FORCEINLINE_FUNCTION T solve_axes(const Upwind<T> (&axes)[Dim], int count, int seconds,
                                         T base, T anellipticity, int& flat) {
  using std::sqrt;
  const T reference = axes[0].nearest;
  T A[Dim], R[Dim];
  T a = T(0), b = T(0), c = T(0);     // sums over all axes, or over the horizontal ones
  T az = T(0), bz = T(0), cz = T(0);  // terms of the symmetry axis
  T latest = T(0);
  for (int d = 0; d < Dim; ++d) {
    const Upwind<T>& axis = axes[d];
    if (d < count && ((flat >> d) & 1) == 0) {
      const bool two = d < seconds && axis.two;
      const T difference = axis.nearest - reference;
      A[d] = two ? axis.second : axis.first;
      R[d] = axis.scale * (two ? T(1.5) * difference + axis.farther : difference) -
             axis.slope * reference;
      latest = axis.square;
    } else {
      A[d] = axis.flat;
      R[d] = -(axis.flat * reference + axis.lean);
    }
    if (Anelliptic && axis.vertical) {
      az = A[d] * A[d];
      bz = A[d] * R[d];
      cz = R[d] * R[d];
    } else {
      a += A[d] * A[d];
      b += A[d] * R[d];
      c += R[d] * R[d];
    }
  }
  const T all = a + az, half = b + bz, rest = c + cz - base;
  const T discriminant = half * half - all * rest;
  if (!(discriminant >= T(0)) || !(all > T(0))) return T(-1);
  T step = (half + sqrt(discriminant)) / all;
  if constexpr (Anelliptic) {
    if (az + cz > T(0) && a + c > T(0) && anellipticity != T(0)) {
      using Scalar = ScalarOf<T>;
      constexpr Scalar smallest =  // relative size of rounding
          sizeof(Scalar) == 4 ? Scalar(1.2e-7) : Scalar(2.3e-16);
      const T k = anellipticity / base;
      for (int i = 0; i < 8; ++i) {
        const T x = (a * step - T(2) * b) * step + c, z = (az * step - T(2) * bz) * step + cz;
        const T dx = T(2) * (a * step - b), dz = T(2) * (az * step - bz);
        const T slope = dx * (T(1) - k * z) + dz * (T(1) - k * x);
        if (!(slope > T(0))) return T(-1);
        const T change = (x + z - k * x * z - base) / slope;
        step -= change;
        const T size = change < T(0) ? -change : change;
        if (size <= smallest * reference) break;
      }
    }
  }
  const T result = reference + step;
  if (!(result > T(0)) || !(base * (result * result) > latest)) return T(-1);
  bool valid = true;
  for (int d = 0; d < count; ++d) {
    if ((flat >> d) & 1) continue;
    const T other = axes[d].flat * result + axes[d].lean;
    const T min = other < T(0) ? -other : other;
    const T growth = A[d] * step - R[d];
    if (growth >= min) continue;
    valid = false;
    if (growth > -min) flat |= 1 << d;
  }
  return valid ? result : T(-1);
}

/// Result without a solution: the latest axis is flat.
inline constexpr int dropped = -2;

/// Returns u from the `count` earliest axes. An axis next to the source is flat if that gives an
/// earlier result; `dropped` if the latest axis is.
template <bool Anelliptic, class T, int Dim>
KOKKOS_FORCEINLINE_FUNCTION T solve_columns(const Upwind<T> (&axes)[Dim], int count, int seconds,
                                            T base, T anellipticity) {
  int flat = 0;
  for (;;) {
    const int before = flat;
    const T value = solve_axes<Anelliptic>(axes, count, seconds, base, anellipticity, flat);
    if (value > T(0) || flat == before) return value;
    if ((flat >> (count - 1)) & 1) return T(dropped);
  }
}

/// The neighbours of a node that its local equation uses, and their values.
template <class T, int Dim>
struct Neighbours {
  T square[Dim];       ///< square of the nearest one's time; infinite without a neighbour
  T nearest[Dim];      ///< u of the nearest one
  T farther[Dim];      ///< see Upwind
  unsigned upper = 0;  ///< bit d: it is the upper one along axis d
  unsigned two = 0;    ///< bit d: second-order differences are possible along axis d

  /// Returns true if both have the same neighbours with the same values.
  KOKKOS_FORCEINLINE_FUNCTION bool same(const Neighbours& other) const {
    bool result = upper == other.upper && two == other.two;
    for (int d = 0; d < Dim; ++d) {
      result = result && nearest[d] == other.nearest[d] && farther[d] == other.farther[d];
    }
    return result;
  }
};

/// Returns the neighbours that the local equation uses; parameters as in local_solution().
template <int Order, int Dim, class T, class Values, class Base>
KOKKOS_FORCEINLINE_FUNCTION Neighbours<T, Dim> find_neighbours(
    const Values& u, const Base& base, [[maybe_unused]] const Upwinds& upwinds) {
  Neighbours<T, Dim> found;
  for (int d = 0; d < Dim; ++d) {
    bool upper;
    if constexpr (Order == 2) {
      const int side = upwinds.side(d);
      upper = side > 0;
      found.nearest[d] = side == 0 ? never<T>() : u.value(d, side);
      found.square[d] =
          side == 0 ? never<T>() : base.square(d, side) * (found.nearest[d] * found.nearest[d]);
    } else {
      const T low = u.value(d, -1), high = u.value(d, 1);
      const T low_square = base.square(d, -1) * (low * low);
      const T high_square = base.square(d, 1) * (high * high);
      upper = high_square < low_square;
      found.square[d] = upper ? high_square : low_square;
      found.nearest[d] = upper ? high : low;
    }
    found.upper |= static_cast<unsigned>(upper) << d;
    found.farther[d] = T(0);
    if constexpr (Order == 2) {
      if (upwinds.two(d)) {
        const int step = upper ? 2 : -2;
        const T next = u.value(d, step);
        const bool two = base.square(d, step) * (next * next) < found.square[d];
        found.two |= static_cast<unsigned>(two) << d;
        found.farther[d] = two ? T(0.5) * (found.nearest[d] - next) : T(0);
      }
    }
  }
  return found;
}

/// Returns u at a node from its neighbours; parameters as in local_solution().
template <int Order, bool Anelliptic, int Dim, class T, class Base>
KOKKOS_FORCEINLINE_FUNCTION T solve_neighbours(const Neighbours<T, Dim>& neighbours,
                                               const Base& base, const LocalMedium<T>& medium,
                                               const T (&inverse_spacing)[Dim]) {
  using std::sqrt;
  Upwind<T> axes[Dim];
  const T m = base.square(0, 0);
  int count = 0;
  for (int d = 0; d < Dim; ++d) {
    Upwind<T>& axis = axes[d];
    const bool upper = ((neighbours.upper >> d) & 1U) != 0;
    axis.square = neighbours.square[d];
    axis.nearest = neighbours.nearest[d];
    axis.farther = neighbours.farther[d];
    axis.two = ((neighbours.two >> d) & 1U) != 0;
    const T velocity = d == Dim - 1 ? medium.vertical : medium.horizontal;
    const auto& column = base.column(d);
    const T slope = velocity * column.slope;
    const T scale = velocity * m * inverse_spacing[d];
    axis.slope = upper ? -slope : slope;
    axis.scale = scale;
    axis.first = scale + axis.slope;
    axis.second = T(1.5) * scale + axis.slope;
    axis.vertical = d == Dim - 1;
    axis.flat = velocity * column.flat;
    axis.lean = velocity * column.lean(m);
    count += axis.square < never<T>();
  }
  if (count == 0) return never<T>();
  if constexpr (Dim == 2) {
    sort_two(axes[0], axes[1]);
  } else {
    sort_two(axes[0], axes[1]);
    sort_two(axes[1], axes[2]);
    sort_two(axes[0], axes[1]);
  }
  const T k = medium.anellipticity;
  for (; count > 0; --count) {
    T value = solve_columns<Anelliptic>(axes, count, Order == 2 ? count : 0, m, k);
    if (value > T(0)) return value;
    if (Order == 2 && axes[count - 1].two && value != T(dropped)) {
      value = solve_columns<Anelliptic>(axes, count, count - 1, m, k);
      if (value > T(0)) return value;
    }
  }
  // near the source the curvature of the factor may leave no solution: use plain first order
  const T velocity_over_spacing = axes[0].scale / m;
  return (sqrt(axes[0].square) + T(1) / velocity_over_spacing) / sqrt(m);
}

/// Returns u at a node; infinite if no neighbour has a time.
///
/// First all axes with a time are used, with second-order differences where possible. If that
/// fails, the latest axis uses first order, then it is omitted, and so on. At first order two rules
/// make the solution independent of the order of visits. Neighbours that are used are earlier than
/// the result. An axis is used only if it makes the result earlier, so that no neighbour later than
/// the result affects it. At second order `upwinds` ensures both.
///
/// \param u value(axis, step) is u at the neighbour `step` nodes along an axis
/// \param base square(axis, step) is M at that neighbour, column(axis) holds q at the node itself
/// \param medium medium at the node
/// \param inverse_spacing 1 / spacing of each axis
/// \param upwinds neighbours to use at second order
template <int Order, bool Anelliptic, int Dim, class T, class Values, class Base>
KOKKOS_FORCEINLINE_FUNCTION T local_solution(const Values& u, const Base& base,
                                             const LocalMedium<T>& medium,
                                             const T (&inverse_spacing)[Dim],
                                             const Upwinds& upwinds) {
  return solve_neighbours<Order, Anelliptic, Dim, T>(
      find_neighbours<Order, Dim, T>(u, base, upwinds), base, medium, inverse_spacing);
}

}  // namespace moho::eikonal::detail
