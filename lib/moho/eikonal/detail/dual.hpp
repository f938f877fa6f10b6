// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbers that carry derivatives, with which the local equation is differentiated.
///
/// local_solution() with these numbers takes the branches of the values, so that its derivatives
/// are those of the solution with the same choices.

#include <moho/eikonal/detail/layout.hpp>

#include <cmath>

namespace moho::eikonal::detail {

/// A value and its derivatives by N variables.
template <class T, int N>
struct Dual {
  T value;
  T by[N];

  Dual() = default;
  /// A constant.
  KOKKOS_FORCEINLINE_FUNCTION Dual(T constant) : value(constant) {
    for (int k = 0; k < N; ++k) by[k] = T(0);
  }
  /// The variable of an index.
  KOKKOS_FORCEINLINE_FUNCTION static Dual variable(T value, int index) {
    Dual result(value);
    for (int k = 0; k < N; ++k) result.by[k] = k == index ? T(1) : T(0);
    return result;
  }

  KOKKOS_FORCEINLINE_FUNCTION Dual& operator+=(const Dual& b) { return *this = *this + b; }
  KOKKOS_FORCEINLINE_FUNCTION Dual& operator-=(const Dual& b) { return *this = *this - b; }
  KOKKOS_FORCEINLINE_FUNCTION friend Dual operator-(const Dual& a) {
    Dual result;
    result.value = -a.value;
    for (int k = 0; k < N; ++k) result.by[k] = -a.by[k];
    return result;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Dual operator+(const Dual& a, const Dual& b) {
    Dual result;
    result.value = a.value + b.value;
    for (int k = 0; k < N; ++k) result.by[k] = a.by[k] + b.by[k];
    return result;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Dual operator-(const Dual& a, const Dual& b) {
    Dual result;
    result.value = a.value - b.value;
    for (int k = 0; k < N; ++k) result.by[k] = a.by[k] - b.by[k];
    return result;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Dual operator*(const Dual& a, const Dual& b) {
    Dual result;
    result.value = a.value * b.value;
    for (int k = 0; k < N; ++k) result.by[k] = a.value * b.by[k] + b.value * a.by[k];
    return result;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Dual operator*(const Dual& a, T b) {
    Dual result;
    result.value = a.value * b;
    for (int k = 0; k < N; ++k) result.by[k] = a.by[k] * b;
    return result;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Dual operator*(T a, const Dual& b) { return b * a; }
  KOKKOS_FORCEINLINE_FUNCTION friend Dual operator/(const Dual& a, const Dual& b) {
    Dual result;
    const T inverse = T(1) / b.value;
    result.value = a.value / b.value;
    for (int k = 0; k < N; ++k) result.by[k] = (a.by[k] - result.value * b.by[k]) * inverse;
    return result;
  }
  /// The square root; at zero without derivatives.
  KOKKOS_FORCEINLINE_FUNCTION friend Dual sqrt(const Dual& a) {
    using std::sqrt;
    Dual result;
    result.value = sqrt(a.value);
    const T factor = result.value > T(0) ? T(0.5) / result.value : T(0);
    for (int k = 0; k < N; ++k) result.by[k] = factor * a.by[k];
    return result;
  }

  KOKKOS_FORCEINLINE_FUNCTION friend bool operator<(const Dual& a, const Dual& b) {
    return a.value < b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend bool operator>(const Dual& a, const Dual& b) {
    return a.value > b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend bool operator<=(const Dual& a, const Dual& b) {
    return a.value <= b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend bool operator>=(const Dual& a, const Dual& b) {
    return a.value >= b.value;
  }
  KOKKOS_FORCEINLINE_FUNCTION friend bool operator!=(const Dual& a, const Dual& b) {
    return a.value != b.value;
  }
};

template <class T, int N>
struct scalar_of<Dual<T, N>> {
  using type = T;
};

/// Index of the variable of a neighbour `step` nodes along an axis. First order reads one node on
/// either side, second order up to two nodes on one side.
template <int Order>
KOKKOS_FORCEINLINE_FUNCTION int neighbour_variable(int axis, int step) {
  if constexpr (Order == 1) return 2 * axis + (step < 0 ? 0 : 1);
  return 2 * axis + (step == 1 || step == -1 ? 0 : 1);
}

/// Values of u around a node: variables of their own if `Vary`, otherwise constants.
template <class Number, bool Vary, int Order, class T>
struct DualValuesAt {
  const T* center;
  const std::int64_t* stride;
  KOKKOS_FORCEINLINE_FUNCTION Number value(int axis, int step) const {
    const T value = center[step * stride[axis]];
    if constexpr (Vary) return Number::variable(value, neighbour_variable<Order>(axis, step));
    return Number(value);
  }
};

/// M and q at a node, constants of the derivatives. The lean term of each axis (Column::lean()) is
/// a variable if `Vary`.
template <class Number, bool Vary, class T, class At>
struct DualBaseAt {
  struct AtAxis {
    T slope, flat;
    Number leaning;
    KOKKOS_FORCEINLINE_FUNCTION const Number& lean(const Number&) const { return leaning; }
  };
  const At& at;
  KOKKOS_FORCEINLINE_FUNCTION T square(int axis, int step) const { return at.square(axis, step); }
  KOKKOS_FORCEINLINE_FUNCTION AtAxis column(int axis) const {
    const Column<T>& column = at.column(axis);
    const T lean = column.lean(at.square(0, 0));
    if constexpr (Vary) return {column.slope, column.flat, Number::variable(lean, axis)};
    return {column.slope, column.flat, Number(lean)};
  }
};

/// Returns the solution of the local equation at a node with its derivatives.
///
/// With `Lean` they are those by the lean terms, Dim of them. Otherwise they are those by the
/// neighbours' values, and last by the velocity along the symmetry axis with the same parameters of
/// anisotropy: 2 Dim + 1.
template <int Order, bool Anelliptic, bool Lean, class T, int Dim>
KOKKOS_INLINE_FUNCTION Dual<T, Lean ? Dim : 2 * Dim + 1> differentiate(
    const Problem<T, Dim>& problem, int source, const std::int64_t (&node)[Dim]) {
  using Number = Dual<T, Lean ? Dim : 2 * Dim + 1>;
  const std::int64_t element = problem.grid.at(node);
  const T* const center = problem.values(source, element);
  const auto factor = problem.template factor<Anelliptic>(source, element, node);
  const auto at = problem.model.template at<Anelliptic>(problem.dense(node));
  LocalMedium<Number> medium{Number(at.vertical), Number(at.horizontal), Number(at.anellipticity)};
  if constexpr (!Lean) {
    medium.vertical.by[2 * Dim] = T(1);
    medium.horizontal.by[2 * Dim] = at.horizontal / at.vertical;
  }
  Number inverse_spacing[Dim];
  for (int d = 0; d < Dim; ++d) inverse_spacing[d] = Number(problem.inverse_spacing[d]);
  return local_solution<Order, Anelliptic, Dim, Number>(
      DualValuesAt<Number, !Lean, Order, T>{center, problem.grid.stride},
      DualBaseAt<Number, Lean, T, std::decay_t<decltype(factor)>>{factor}, medium, inverse_spacing,
      Order == 2 ? problem.upwinds_at(center) : Upwinds());
}

}  // namespace moho::eikonal::detail
