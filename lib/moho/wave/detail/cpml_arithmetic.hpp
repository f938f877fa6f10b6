// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arithmetic of perfectly matched layers for vectors of nodes on devices.

#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/kernel/march_device.hpp>

#include <cmath>
#include <cstdint>

namespace moho::wave::detail {

/// Updates of psi and zeta of `width` nodes along z; `radius` is that of the step.
template <class T, int width, int radius>
struct LayerArithmetic {
  using Vector = Lanes<T, width>;
  static constexpr int reach = layer_radius(radius);  ///< radius of first derivatives

  /// Updates psi along an axis; explicitly fused, so that all kernels get the same bits.
  KOKKOS_FORCEINLINE_FUNCTION static void update(const T (&slope)[width], const Vector& a,
                                                 const Vector& b, Vector& psi) {
    using std::fma;
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) psi.v[i] = fma(a.v[i], slope[i], b.v[i] * psi.v[i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION static Vector same(T value) {
    Vector v;
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) v.v[i] = value;
    return v;
  }
  /// Computes the first derivative along x or y.
  KOKKOS_FORCEINLINE_FUNCTION static void difference(const T* here, std::int64_t stride, const T* c,
                                                     T (&slope)[width]) {
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) slope[i] = 0;
    MOHO_UNROLL
    for (int k = 1; k <= reach; ++k) {
      const Vector up = load_lanes<width>(here + k * stride);
      const Vector low = load_lanes<width>(here - k * stride);
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) slope[i] += c[k] * (up.v[i] - low.v[i]);
    }
  }
  /// Computes the first derivative along x, `reach` planes ahead in a queue.
  template <class Column>
  KOKKOS_FORCEINLINE_FUNCTION static void difference_ahead(const Column& column, const T* c,
                                                           T (&slope)[width]) {
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) slope[i] = 0;
    MOHO_UNROLL
    for (int k = 1; k <= reach; ++k) {
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        slope[i] += c[k] * (column[radius + reach + k][i] - column[radius + reach - k][i]);
      }
    }
  }
  /// Updates zeta of a node and adds the derivative of psi and zeta to the second derivative.
  KOKKOS_FORCEINLINE_FUNCTION static void remember(const Vector& a, const Vector& b,
                                                   const T (&second)[width], Vector& zeta,
                                                   T (&change)[width]) {
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) {
      zeta.v[i] = b.v[i] * zeta.v[i] + a.v[i] * (second[i] + change[i]);
      change[i] += zeta.v[i];
    }
  }
};

}  // namespace moho::wave::detail
