// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The local equation: the time at a node from those of its upwind neighbours.
///
/// The time is T = T0 u, T0 the time of the homogeneous medium around the source. With M = T0^2 and
/// q = T0 grad T0, which for isotropic and elliptical media are polynomials of the position, a one
/// sided difference of u towards a neighbour u1 at the distance h gives the growth along an axis,
/// the velocity v along it multiplied in,
///
///     v T0 |dT/dx| = a = v M / h (u - u1) + s v q u,
///
/// s = 1 if the neighbour lies on the lower side, else -1. Second order adds half of the second
/// difference, e / 2 with e = v M / h (u - 2 u1 + u2), but no more than half of a, and no more than
/// half of what the growth between the two neighbours was, b = v (T1^2 - T2^2) / (2 h u1):
///
///     g = a + e / 2,  |e| cut off at the smaller of a and b.
///
/// So g lies between a / 2 and 3 a / 2, rises with u, and depends on u, u1 and u2 without a step:
/// where T2 comes up to T1, b vanishes, and with it the correction. The eikonal equation is
/// sum g^2 = M over the axes, in anelliptic media that with a term of fourth degree. Without
/// factorisation M = 1 and q = 0, and u is the time itself. No square root or division is spent on
/// T0: times are compared by their squares, M u^2.
///
/// An axis none of whose neighbours is earlier has no part in the sum: there dT/dx changes its
/// sign. But in the columns next to the source that happens within the spacing: there u is taken to
/// vary as at the source, T0 dT/dx = q u + M du/dx, the second term bounded by what it can be where
/// the sign changes, and g is at least that. Homogeneous media come out exactly, and the second
/// order is kept.
///
/// The unknown is the difference of u from its value at the earliest neighbour: far from the source
/// u and u1 are nearly the same, and their difference would not survive single precision.

#include <moho/eikonal/rounded.hpp>

namespace moho::eikonal::detail {

/// What the medium is at a node.
template <class T>
struct LocalMedium {
  T vertical, horizontal;  ///< velocities
  T anellipticity;         ///< see Constants
};

/// One axis of the local equation, with the velocity along it multiplied in.
template <class N>
struct Upwind {
  N square;       ///< of the neighbour's time
  N nearest;      ///< u of the neighbour
  N scale;        ///< M / h
  N slope;        ///< s q
  N first;        ///< da/du
  N back;         ///< u1 - u2
  N room;         ///< (T1^2 - T2^2) / h; 0: no second difference
  N flat, lean;   ///< the growth is at least |flat u + lean|
  bool vertical;  ///< the axis is the symmetry axis
};

/// The growth along an axis as a linear function of the step, u less its value at the earliest
/// neighbour: rise step - offset.
template <class N>
struct Line {
  N rise, offset;
  KOKKOS_FORCEINLINE_FUNCTION bool operator==(const Line& other) const {
    return rise == other.rise && offset == other.offset;
  }
  KOKKOS_FORCEINLINE_FUNCTION N at(N step) const { return rise * step - offset; }
};

/// The sum of squares of lines, minus M: a polynomial of the step.
template <class N>
struct Squares {
  N a{0}, b{0}, c{0};     ///< of all axes, or of the horizontal ones: a step^2 - 2 b step + c
  N az{0}, bz{0}, cz{0};  ///< of the symmetry axis
};

/// The largest step at which the squares of all lines make M; no number if there is none.
///
/// \param reference u of the earliest neighbour
template <bool Anelliptic, class N, int Dim>
KOKKOS_FORCEINLINE_FUNCTION N solve_lines(const Upwind<N> (&axes)[Dim], const Line<N> (&lines)[Dim],
                                          N base, N anellipticity, N reference) {
  Squares<N> sum;
  for (int d = 0; d < Dim; ++d) {
    const Line<N>& line = lines[d];
    if (Anelliptic && axes[d].vertical) {
      sum.az = line.rise * line.rise;
      sum.bz = line.rise * line.offset;
      sum.cz = line.offset * line.offset;
    } else {
      sum.a += line.rise * line.rise;
      sum.b += line.rise * line.offset;
      sum.c += line.offset * line.offset;
    }
  }
  const N all = sum.a + sum.az, half = sum.b + sum.bz, rest = sum.c + sum.cz - base;
  N step = (half + sqrt(half * half - all * rest)) / all;
  if constexpr (Anelliptic) {
    if (sum.az + sum.cz > N(0) && sum.a + sum.c > N(0) && !(anellipticity == N(0))) {
      const N smallest = N(0.5) * N::epsilon() * reference;
      const N k = anellipticity / base, two = N(2);
      for (int i = 0; i < 8; ++i) {
        const N x = (sum.a * step - two * sum.b) * step + sum.c;
        const N z = (sum.az * step - two * sum.bz) * step + sum.cz;
        const N dx = two * (sum.a * step - sum.b), dz = two * (sum.az * step - sum.bz);
        const N slope = dx * (N(1) - k * z) + dz * (N(1) - k * x);
        const N change = (x + z - k * x * z - base) / slope;
        step -= change;
        if (magnitude(change) <= smallest) break;
      }
    }
  }
  return step;
}

/// The local equation of a node, of first order or of second.
template <bool Second, bool Anelliptic, class N, int Dim>
struct LocalEquation {
  Upwind<N> axes[Dim];
  int rank[Dim];  ///< 0: the earliest; sums are made in the order of axes all the same
  N base;         ///< M
  N anellipticity;
  N reference;                ///< u of the earliest neighbour
  N first[Dim], second[Dim];  ///< where a and e are zero: rise step - offset

  /// The square of the time of a value.
  KOKKOS_FORCEINLINE_FUNCTION N square(N u) const { return base * (u * u); }
  /// A value later than a time that is given by its square, by as little as rounding allows.
  KOKKOS_FORCEINLINE_FUNCTION N just_later(N time_square) const {
    N u = sqrt(time_square / base);
    for (int i = 0; i < 16 && !(square(u) > time_square); ++i) u *= N(1) + N::epsilon();
    return u;
  }
  /// The axis of a rank.
  KOKKOS_FORCEINLINE_FUNCTION const Upwind<N>& ranked(int place) const {
    return rank[0] == place ? axes[0] : Dim == 2 || rank[1] == place ? axes[1] : axes[Dim - 1];
  }
  /// The value of first order along the earliest axis alone, of times instead of u.
  KOKKOS_FORCEINLINE_FUNCTION N plain() const {
    return (sqrt(ranked(0).square) + base / ranked(0).scale) / sqrt(base);
  }
  /// Sets what follows from the axes.
  KOKKOS_FORCEINLINE_FUNCTION void finish() {
    for (int d = 0; d < Dim; ++d) {
      rank[d] = 0;
      for (int e = 0; e < Dim; ++e) {
        rank[d] += e < d ? axes[e].square <= axes[d].square : axes[e].square < axes[d].square;
      }
    }
    reference = ranked(0).nearest;
    for (int d = 0; d < Dim; ++d) {
      const Upwind<N>& axis = axes[d];
      const N difference = axis.nearest - reference;
      first[d] = axis.scale * difference - axis.slope * reference;
      second[d] = axis.scale * (difference + axis.back);
    }
  }
  /// True if an axis has a second difference.
  KOKKOS_FORCEINLINE_FUNCTION bool has_second(int d) const { return Second && axes[d].room > N(0); }
  /// The growth of an axis whose second difference counts in full.
  KOKKOS_FORCEINLINE_FUNCTION Line<N> full_line(int d) const {
    if (!has_second(d)) return {axes[d].first, first[d]};
    const N half = N(0.5);
    return {axes[d].first + half * axes[d].scale, first[d] + half * second[d]};
  }
  /// The growth of an axis without neighbours.
  KOKKOS_FORCEINLINE_FUNCTION Line<N> flat_line(int d) const {
    return {axes[d].flat, -(axes[d].flat * reference + axes[d].lean)};
  }
  /// The same at a step.
  KOKKOS_FORCEINLINE_FUNCTION N flat_growth(int d, N step) const {
    return magnitude(axes[d].flat * (reference + step) + axes[d].lean);
  }
  /// The growth along an axis at a step, and the line that it is on there.
  KOKKOS_FORCEINLINE_FUNCTION N growth_at(int d, N step, Line<N>& line) const {
    const Upwind<N>& axis = axes[d];
    line = {axis.first, first[d]};
    N growth = line.at(step);
    if (has_second(d) && growth > N(0)) {
      const N e = axis.scale * step - second[d], size = magnitude(e);
      const N limit = axis.room / (axis.nearest + axis.nearest), half = N(0.5);
      if (size <= smaller(growth, limit)) {
        line = full_line(d);
      } else if (growth < limit) {
        const N factor = e > N(0) ? N(1.5) : half;
        line = {factor * line.rise, factor * line.offset};
      } else {
        line.offset -= e > N(0) ? half * limit : -(half * limit);
      }
      growth = line.at(step);
    }
    const N least = flat_growth(d, step);
    if (growth > N(0) && growth >= least) return growth;
    line = flat_line(d);
    return least;
  }
  /// True if the squares of growths are more than M.
  KOKKOS_FORCEINLINE_FUNCTION bool exceed(const N (&growth)[Dim]) const {
    N x = N(0), z = N(0);
    for (int d = 0; d < Dim; ++d) {
      const N square = growth[d] * growth[d];
      if (Anelliptic && axes[d].vertical) {
        z += square;
      } else {
        x += square;
      }
    }
    if constexpr (Anelliptic) {
      return x > base || z > base || x + z - anellipticity / base * x * z > base;
    }
    return x > base;
  }

  /// The step of the `count` earliest axes if all of their second differences count in full.
  KOKKOS_FORCEINLINE_FUNCTION N full_step(int count) const {
    Line<N> lines[Dim];
    for (int d = 0; d < Dim; ++d) lines[d] = rank[d] < count ? full_line(d) : flat_line(d);
    return solve_lines<Anelliptic>(axes, lines, base, anellipticity, reference);
  }
  /// True if they do, at a step.
  /// \param clear out: each of the axes has a part in the sum that is far from none
  KOKKOS_FORCEINLINE_FUNCTION bool is_full(int count, N step, bool& clear) const {
    bool full = true;
    clear = true;
    for (int d = 0; d < Dim; ++d) {
      if (rank[d] >= count) continue;
      const Upwind<N>& axis = axes[d];
      N growth = axis.first * step - first[d];
      full = full && growth > N(0);
      if (has_second(d)) {
        const N e = axis.scale * step - second[d], size = magnitude(e);
        full = full && size <= growth && size * (axis.nearest + axis.nearest) <= axis.room;
        growth += N(0.5) * e;
      }
      const N least = flat_growth(d, step);
      full = full && growth >= least;
      clear = clear && N(256) * (growth * growth - least * least) >= base;
    }
    clear = clear && full;
    return full;
  }
  /// The step of the `count` earliest axes.
  /// \param high one that is not less, if `bounded`
  KOKKOS_INLINE_FUNCTION N solve(int count, N high, bool bounded) const {
    bool clear = false;
    const N step = full_step(count);
    return is_full(count, step, clear) ? step : search(count, step, high, bounded);
  }
  /// The same where some growths are on other lines: from line to line as Newton's method goes,
  /// kept between bounds.
  KOKKOS_INLINE_FUNCTION N search(int count, N step, N high, bool bounded) const {
    N low = -reference;
    // a growth is at least half of what it is at first order
    if (!bounded) {
      const Upwind<N>& axis = ranked(0);
      high = (N(2.5) * sqrt(base) + magnitude(axis.slope * reference)) / axis.first;
    }
    if (!(step > low && step < high)) step = high;
    const N rounding = N(4) * N::epsilon() * reference;
    Line<N> lines[Dim] = {};
    bool solved = false;
    for (int turn = 0; turn < 40; ++turn) {
      bool same = solved;
      N growth[Dim];
      for (int d = 0; d < Dim; ++d) {
        Line<N> line = flat_line(d);
        growth[d] = rank[d] < count ? growth_at(d, step, line) : flat_growth(d, step);
        same = same && line == lines[d];
        lines[d] = line;
      }
      if (same) break;
      if (exceed(growth)) {
        high = step;
      } else {
        low = step;
      }
      const N next = solve_lines<Anelliptic>(axes, lines, base, anellipticity, reference);
      if (magnitude(next - step) <= rounding) break;
      solved = next > low && next < high;
      step = solved ? next : N(0.5) * (low + high);
    }
    return step;
  }
};

/// Sets what an axis takes from its neighbour on one side.
/// \param square of the neighbour's time
/// \param nearest u there
template <int Dim, class N, class T, class Base>
KOKKOS_FORCEINLINE_FUNCTION void set_axis(Upwind<N>& axis, int d, bool upper, N square, N nearest,
                                          const Base& base, const LocalMedium<T>& medium,
                                          T inverse_spacing, N m) {
  const N velocity = d == Dim - 1 ? medium.vertical : medium.horizontal;
  const N per_spacing = velocity * N(inverse_spacing);
  const auto& column = base.column(d);
  const N slope = velocity * N(column.slope);
  axis.square = square;
  axis.nearest = nearest;
  axis.slope = upper ? -slope : slope;
  axis.scale = m * per_spacing;
  axis.first = axis.scale + axis.slope;
  axis.back = N(0);
  axis.room = N(0);
  axis.flat = velocity * N(column.flat);
  axis.lean = velocity * N(column.lean(m.value));
  axis.vertical = d == Dim - 1;
  // Towards a source within a spacing the factor bends the wrong way, and where the velocity is
  // many times that of the source it bends too much: the time itself.
  const N bend = slope * slope, straight = axis.scale * axis.scale * m;
  if (square < N(infinity<T>()) &&
      (axis.first <= N(0.25) * axis.scale || bend * bend > N(64) * straight)) {
    axis.nearest = sqrt(square / m);
    axis.slope = N(0);
    axis.first = axis.scale;
  }
}

/// u at a node at first order; infinite if no neighbour has a time.
///
/// The axes come in one after the other, the earliest first, as long as the next is earlier than
/// the value from those before it, and than the value with it. The value is then later than all
/// neighbours that it was made from, by the same rounded numbers that the neighbours see, and none
/// that is not earlier has any part in it: that makes the solution of a grid one, in whatever order
/// nodes are visited.
///
/// \param u value(axis, step) is u at the neighbour `step` nodes along an axis
/// \param base square(axis, step) is M there, column(axis) holds q at the node itself
/// \param medium at the node
/// \param inverse_spacing by axis
template <bool Anelliptic, int Dim, class T, class Values, class Base>
KOKKOS_FORCEINLINE_FUNCTION T first_order(const Values& u, const Base& base,
                                          const LocalMedium<T>& medium,
                                          const T (&inverse_spacing)[Dim]) {
  using N = Rounded<T>;
  LocalEquation<false, Anelliptic, N, Dim> local;
  const N m = base.square(0, 0);
  local.base = m;
  local.anellipticity = medium.anellipticity;
  int count = 0;
  for (int d = 0; d < Dim; ++d) {
    const N low = u.value(d, -1), high = u.value(d, 1);
    const N low_square = N(base.square(d, -1)) * (low * low);
    const N high_square = N(base.square(d, 1)) * (high * high);
    const bool upper = high_square < low_square;
    const N square = upper ? high_square : low_square;
    set_axis<Dim>(local.axes[d], d, upper, square, upper ? high : low, base, medium,
                  inverse_spacing[d], m);
    count += square < N(infinity<T>());
  }
  if (count == 0) return infinity<T>();
  local.finish();
  // where all axes clearly have a part in it, so they would one after the other
  if (count > 1) {
    constexpr T small = T(256) * std::numeric_limits<T>::epsilon();
    bool clear = false;
    const N step = local.full_step(count), value = local.reference + step;
    if (local.is_full(count, step, clear) && clear &&
        local.square(value) * N(T(1) - small) > local.ranked(count - 1).square) {
      for (int d = 0; d < Dim; ++d) {  // rounding is far from it
        if (local.rank[d] >= count) continue;
        const N rounding = N(small) * local.axes[d].scale * local.reference;
        clear = clear && rounding * rounding < m;
      }
      if (clear) return value.value;
    }
  }
  N value = N(0);
  for (int k = 0; k < count; ++k) {
    const N square = local.ranked(k).square;
    if (k > 0 && !(square < local.square(value))) break;
    N with = local.reference + local.solve(k + 1, value - local.reference, k > 0);
    if (k == 0 && !(local.square(with) > square)) with = local.plain();
    if (k == 0 && !(local.square(with) > square)) with = local.just_later(square);
    const bool earlier = local.square(with) < local.square(value);
    if (k == 0 || (earlier && local.square(with) > square)) value = with;
  }
  return value.value;
}

/// u at a node at second order, from neighbours that are earlier at first order: a neighbour along
/// an axis if it is earlier than the node, and the next one if it is earlier still. Infinite as
/// long as one of them has no value.
///
/// \param first u of first order, of the node and all neighbours
/// \param u of second order, those that are known; else infinite
///
/// The rest is as for first_order().
template <bool Anelliptic, int Dim, class T, class Values, class Base>
KOKKOS_FORCEINLINE_FUNCTION T second_order(const Values& first, const Values& u, const Base& base,
                                           const LocalMedium<T>& medium,
                                           const T (&inverse_spacing)[Dim]) {
  using N = Rounded<T>;
  const N none = infinity<T>();
  const N m = base.square(0, 0), own_value = first.value(0, 0);
  const N own = m * (own_value * own_value);
  bool upper[Dim], two[Dim];
  N nearest[Dim], next[Dim];
  int count = 0;
  for (int d = 0; d < Dim; ++d) {
    const N low = first.value(d, -1), high = first.value(d, 1);
    const N low_square = N(base.square(d, -1)) * (low * low);
    const N high_square = N(base.square(d, 1)) * (high * high);
    upper[d] = high_square < low_square;
    const N square = upper[d] ? high_square : low_square;
    two[d] = false;
    nearest[d] = none;
    if (!(square < own)) continue;
    ++count;
    const int step = upper[d] ? 1 : -1;
    nearest[d] = u.value(d, step);
    if (nearest[d] == none) return none.value;
    const N farther = first.value(d, 2 * step);
    two[d] = N(base.square(d, 2 * step)) * (farther * farther) < square;
    if (two[d]) next[d] = u.value(d, 2 * step);
    if (two[d] && next[d] == none) return none.value;
  }
  if (count == 0) return none.value;
  LocalEquation<true, Anelliptic, N, Dim> local;
  local.base = m;
  local.anellipticity = medium.anellipticity;
  for (int d = 0; d < Dim; ++d) {
    const int step = upper[d] ? 1 : -1;
    const N square = N(base.square(d, step)) * (nearest[d] * nearest[d]);
    Upwind<N>& axis = local.axes[d];
    set_axis<Dim>(axis, d, upper[d], square, nearest[d], base, medium, inverse_spacing[d], m);
    if (two[d] && axis.nearest == nearest[d]) {
      const N velocity = d == Dim - 1 ? medium.vertical : medium.horizontal;
      axis.back = nearest[d] - next[d];
      axis.room = velocity * N(inverse_spacing[d]) *
                  (square - N(base.square(d, 2 * step)) * (next[d] * next[d]));
    }
  }
  local.finish();
  const N value = local.reference + local.solve(count, N(0), false);
  return (local.square(value) >= local.ranked(0).square ? value : local.plain()).value;
}

}  // namespace moho::eikonal::detail
