// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What every kernel of a time step reads, and the formulas that they share.
///
/// Inside kernels the axes are always x, y, z; in 2D there is one row along y.

#include <moho/core/simd.hpp>
#include <moho/wave/kernel/coefficients.hpp>
#include <moho/wave/layout.hpp>
#include <moho/wave/types.hpp>

#include <cstdint>

namespace moho::wave::kernel {

/// Addresses of node (0, 0, 0) of padded arrays of one layout, and coefficients.
template <class T>
struct StepArguments {
  const T* now[2];    ///< p and q at this time
  T* next[2];         ///< p and q one step ago; the step writes the next ones here
  const T* scale;     ///< (v dt)^2; with variable density times the density
  const T* a;         ///< 1 + 2 epsilon; with variable density one over the density
  const T* b;         ///< Fletcher: 1 + 2 delta; self-adjoint: its square root, at most that of a
  const T* nx;        ///< x component of the symmetry axis
  const T* ny;        ///< y component of the symmetry axis
  const T* nz;        ///< z component of the symmetry axis (self-adjoint TTI)
  T* slope[2];        ///< derivatives of p and q along the symmetry axis (self-adjoint TTI)
  const T* taper[3];  ///< the sponge's factors along each axis, by node
  std::int64_t stride_x, stride_y;
  std::int64_t lower[3], upper[3];  ///< the box to step
  T second[3][largest_radius + 1];  ///< second derivative along each axis, over the spacing squared
  T first[3][largest_radius + 1];   ///< first derivative along each axis, over the spacing
  T shear;                          ///< 1 / (2 sigma)
  int shots = 1;                    ///< wavefields that the step advances
  std::int64_t apart = 0;           ///< elements from an array of one wavefield to that of the next

  /// The arguments of wavefield n of those that the step advances.
  KOKKOS_FORCEINLINE_FUNCTION StepArguments of_shot(int n) const {
    StepArguments one = *this;
    const std::int64_t by = n * apart;
    for (int f = 0; f < 2; ++f) {
      if (now[f] != nullptr) one.now[f] = now[f] + by;
      if (next[f] != nullptr) one.next[f] = next[f] + by;
      if (slope[f] != nullptr) one.slope[f] = slope[f] + by;
    }
    return one;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t flat(std::int64_t x, std::int64_t y,
                                                std::int64_t z) const {
    return x * stride_x + y * stride_y + z;
  }
};

/// a * b + c, of scalars or of packs.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V fused(const V& a, const V& b, const V& c) {
  if constexpr (std::is_floating_point_v<V>) {
    return a * b + c;
  } else {
    return multiply_add(a, b, c);
  }
}

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V magnitude(const V& x) {
  if constexpr (std::is_floating_point_v<V>) {
    return x < V(0) ? -x : x;
  } else {
    return select(x < V(0), -x, x);
  }
}

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V root(const V& x) {
  if constexpr (std::is_floating_point_v<V>) {
    return sqrt(x);
  } else {
    return square_root(x);
  }
}

/// \brief The next value of a field that is damped by the factor w in each step.
///
/// With p = w^n u, where u obeys u_tt = R u: p' = w (2 p + dt^2 R p) - w^2 p_before. Where w = 1
/// this is the leapfrog step.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V next_value(const V& now, const V& before, const V& change,
                                         const V& w) {
  return w * (now + now + change - w * before);
}

/// The second derivatives of p and q in time, over v^2, in the self-adjoint equations: a = 1 + 2
/// epsilon and r = sqrt(1 + 2 delta), which is at most sqrt(a).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void symmetric_change(const V& h2p, const V& h1q, const V& a,
                                                  const V& r, V& change_p, V& change_q) {
  change_p = fused<V>(a, h2p, r * h1q);
  change_q = fused<V>(r, h2p, h1q);
}

/// The second derivatives of p and q in time, over v^2, from H1 and H2 of both.
///
/// Fletcher, Du and Fowler (2009), alpha = 1, in units of vpz^2: vpx^2 is a = 1 + 2 epsilon, vpn^2
/// is b = 1 + 2 delta, and vsz^2 is s = |epsilon - delta| / sigma.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void fletcher_change(const V& h1p, const V& h2p, const V& h1q,
                                                 const V& h2q, const V& a, const V& b,
                                                 const V& shear, V& change_p, V& change_q) {
  const V s = magnitude<V>(a - b) * shear;
  change_p = fused<V>(a, h2p, fused<V>(s, h1p - h1q, h1q));
  change_q = fused<V>(b, h2p, fused<V>(s, h2q - h2p, h1q));
}

/// The z component of a unit vector from the other two, whose squares may exceed 1 by rounding.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V third_component(const V& nx, const V& ny) {
  const V square = V(1) - nx * nx - ny * ny;
  if constexpr (std::is_floating_point_v<V>) {
    return square > V(0) ? root<V>(square) : V(0);
  } else {
    return root<V>(select(square < V(0), V(0), square));
  }
}

/// H1, the second derivative along the symmetry axis, from the six second derivatives.
template <int Dim, class V>
KOKKOS_FORCEINLINE_FUNCTION V along_axis(const V& nx, const V& ny, const V& nz, const V& dxx,
                                         const V& dyy, const V& dzz, const V& dxy, const V& dyz,
                                         const V& dxz) {
  if constexpr (Dim == 2) {
    return fused<V>(nx * nx, dxx, fused<V>(nz * nz, dzz, (nx + nx) * nz * dxz));
  } else {
    const V mixed = fused<V>(nx, fused<V>(ny, dxy, nz * dxz), ny * nz * dyz);
    return fused<V>(nx * nx, dxx, fused<V>(ny * ny, dyy, fused<V>(nz * nz, dzz, mixed + mixed)));
  }
}

}  // namespace moho::wave::kernel

namespace moho::wave::detail {
using namespace moho::wave::kernel;
}  // namespace moho::wave::detail
