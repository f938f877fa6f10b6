// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of self-adjoint TTI on devices, in one order and with equal roundings.
///
/// Kernels of one pass (axis_ring_device.hpp) and of two passes (axis_device.hpp) share these sums.
/// No compiler may contract a product with a sum in one of them only. Both therefore give the same
/// bits, in any box, and either may step a wavefield.

#include <moho/wave/kernel/march_device.hpp>

#include <cmath>

namespace moho::wave::detail {

/// Returns a rounded product, never part of a fused operation.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T rounded_product(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) {
    return __fmul_rn(a, b);
  } else {
    return __dmul_rn(a, b);
  }
#else
  return a * b;
#endif
}
/// Returns a * b + c, rounded once.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T rounded_once(T a, T b, T c) {
  if constexpr (sizeof(T) == 4) {
    return fmaf(a, b, c);
  } else {
    return fma(a, b, c);
  }
}

/// Returns the sum of c[k] (f[k stride] - f[-k stride]) over k = 1, ..., radius.
template <int radius, int stride, class T>
KOKKOS_FORCEINLINE_FUNCTION T odd_sum(const T* c, const T* f) {
  T sum = rounded_product<T>(c[1], f[stride] - f[-stride]);
  MOHO_UNROLL
  for (int k = 2; k <= radius; ++k) {
    sum = rounded_once<T>(c[k], f[k * stride] - f[-k * stride], sum);
  }
  return sum;
}
/// Adds the sum of c[k] (f[k stride] + f[-k stride]) over k = 1, ..., radius.
template <int radius, int stride, class T>
KOKKOS_FORCEINLINE_FUNCTION T add_even_sum(const T* c, const T* f, T sum) {
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) {
    sum = rounded_once<T>(c[k], f[k * stride] + f[-k * stride], sum);
  }
  return sum;
}

/// Returns g = n . grad.
template <int Dim, class T>
KOKKOS_FORCEINLINE_FUNCTION T slope_along(T nx, T ny, T nz, T dx, T dy, T dz) {
  T slope = rounded_product<T>(nx, dx);
  if constexpr (Dim == 3) slope = rounded_once<T>(ny, dy, slope);
  return rounded_once<T>(nz, dz, slope);
}

/// Computes the next p and q from H2 p and H1 q.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void symmetric_step(T h2p, T h1q, T a, T r, T scale, T w, T p, T q,
                                                T p_before, T q_before, T& p_next, T& q_next) {
  const T change_p = rounded_once<T>(a, h2p, rounded_product<T>(r, h1q));
  const T change_q = rounded_once<T>(r, h2p, h1q);
  p_next =
      rounded_product<T>(w, rounded_once<T>(-w, p_before, rounded_once<T>(scale, change_p, p + p)));
  q_next =
      rounded_product<T>(w, rounded_once<T>(-w, q_before, rounded_once<T>(scale, change_q, q + q)));
}

}  // namespace moho::wave::detail
