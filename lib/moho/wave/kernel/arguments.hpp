// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arguments of the kernels of a time step, and the formulas that they share.
///
/// Inside kernels the axes are always x, y, z; in 2D the grid has one row along y.

#include <moho/core/simd.hpp>
#include <moho/wave/kernel/coefficients.hpp>
#include <moho/wave/layout.hpp>
#include <moho/wave/parameter_codes.hpp>
#include <moho/wave/types.hpp>

#include <cstdint>

namespace moho::wave::kernel {

/// Pointers to node (0, 0, 0) of padded arrays of one layout, and coefficients.
template <class T>
struct StepArguments {
  const T* now[2];  ///< p and q at the current time; of density: p / sqrt(rho)
  T* next[2];       ///< p and q one step ago; the step overwrites them with the next values
  const T* scale;   ///< (v dt)^2
  const T* a;       ///< 1 + 2 epsilon; of density: the potential, 1/m^2
  const T* b;       ///< Fletcher: 1 + 2 delta; self-adjoint: its square root, at most sqrt(a)
  /// Codes of v dt in the low halves, of a in the high ones; null without codes.
  const std::uint32_t* words;
  const std::uint16_t* halves;  ///< codes of v dt in isotropic media, of b in VTI; null without
  ParameterCodes codes;         ///< meaning of the codes
  const T* nx;                  ///< x component of the symmetry axis
  const T* ny;                  ///< y component of the symmetry axis
  const T* nz;                  ///< z component of the symmetry axis (self-adjoint TTI)
  T* axis_derivative[2];  ///< derivatives of p and q along the symmetry axis (self-adjoint TTI)
  const T* taper[3];      ///< the sponge's factors along each axis, by node
  std::int64_t stride_x, stride_y;
  std::int64_t lower[3], upper[3];  ///< box of the step
  T second[3][largest_radius + 1];  ///< coefficients of the second derivative along each axis, over
                                    ///< the spacing squared
  T first[3][largest_radius +
             1];  ///< coefficients of the first derivative along each axis, over the spacing
  T shear;        ///< 1 / (2 sigma)
  int shots = 1;  ///< wavefields that the step advances
  std::int64_t batch_stride = 0;  ///< elements between the arrays of consecutive wavefields

  /// Returns the arguments of wavefield n of the batch.
  KOKKOS_FORCEINLINE_FUNCTION StepArguments of_shot(int n) const {
    StepArguments one = *this;
    const std::int64_t by = n * batch_stride;
    for (int f = 0; f < 2; ++f) {
      if (now[f] != nullptr) one.now[f] = now[f] + by;
      if (next[f] != nullptr) one.next[f] = next[f] + by;
      if (axis_derivative[f] != nullptr) one.axis_derivative[f] = axis_derivative[f] + by;
    }
    return one;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t flat(std::int64_t x, std::int64_t y,
                                                std::int64_t z) const {
    return x * stride_x + y * stride_y + z;
  }
};

/// Returns a * b + c, of scalars or of packs.
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

/// \brief Returns the next value of a field that is damped by the factor w in each step.
///
/// With p = w^n u, where u satisfies u_tt = R u: p' = w (2 p + dt^2 R p) - w^2 p_before. With w = 1
/// this is the leapfrog step.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V next_value(const V& now, const V& before, const V& change,
                                         const V& w) {
  return w * (now + now + change - w * before);
}

/// Computes the second time derivatives of p and q over v^2 in the self-adjoint equations.
///
/// a = 1 + 2 epsilon and r = sqrt(1 + 2 delta), which is at most sqrt(a).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void symmetric_change(const V& h2p, const V& h1q, const V& a,
                                                  const V& r, V& change_p, V& change_q) {
  change_p = fused<V>(a, h2p, r * h1q);
  change_q = fused<V>(r, h2p, h1q);
}

/// Computes the second time derivatives of p and q over v^2 from H1 and H2 of both.
///
/// Fletcher, Du and Fowler (2009) with alpha = 1, in units of vpz^2. vpx^2 is a = 1 + 2 epsilon,
/// vpn^2 is b = 1 + 2 delta, and vsz^2 is s = |epsilon - delta| / sigma.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void fletcher_change(const V& h1p, const V& h2p, const V& h1q,
                                                 const V& h2q, const V& a, const V& b,
                                                 const V& shear, V& change_p, V& change_q) {
  const V s = magnitude<V>(a - b) * shear;
  change_p = fused<V>(a, h2p, fused<V>(s, h1p - h1q, h1q));
  change_q = fused<V>(b, h2p, fused<V>(s, h2q - h2p, h1q));
}

/// Returns the z component of a unit vector from the others, whose squares may round to over 1.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V third_component(const V& nx, const V& ny) {
  const V square = V(1) - nx * nx - ny * ny;
  if constexpr (std::is_floating_point_v<V>) {
    return square > V(0) ? root<V>(square) : V(0);
  } else {
    return root<V>(select(square < V(0), V(0), square));
  }
}

/// Returns H1, the second derivative along the symmetry axis, from the six second derivatives.
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
