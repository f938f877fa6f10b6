// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Plain step, node by node, with sums as in the formulas.
///
/// It is the reference of the tuned kernels.

#include <moho/wave/kernel/arguments.hpp>

namespace moho::wave::detail {

/// One node of one step, for any order.
template <Stencil stencil, class T, int Dim>
struct ReferenceStep {
  StepArguments<T> s;
  int radius;

  KOKKOS_INLINE_FUNCTION T second(const T* f, std::int64_t stride, int axis) const {
    T sum = s.second[axis][0] * f[0];
    for (int k = 1; k <= radius; ++k) sum += s.second[axis][k] * (f[k * stride] + f[-k * stride]);
    return sum;
  }
  KOKKOS_INLINE_FUNCTION T first(const T* f, std::int64_t stride, int axis) const {
    T sum = 0;
    for (int k = 1; k <= radius; ++k) sum += s.first[axis][k] * (f[k * stride] - f[-k * stride]);
    return sum;
  }
  KOKKOS_INLINE_FUNCTION T mixed(const T* f, std::int64_t stride1, int axis1, std::int64_t stride2,
                                 int axis2) const {
    T sum = 0;
    for (int k = 1; k <= radius; ++k) {
      sum += s.first[axis1][k] *
             (first(f + k * stride1, stride2, axis2) - first(f - k * stride1, stride2, axis2));
    }
    return sum;
  }
  /// Returns H1 of a field whose derivative along the axis is g: div(n g).
  KOKKOS_INLINE_FUNCTION T divergence(const T* g, std::int64_t i) const {
    T sum = 0;
    for (int k = 1; k <= radius; ++k) {
      const std::int64_t x = k * s.stride_x, y = k * s.stride_y;
      sum += s.first[0][k] * (s.nx[i + x] * g[x] - s.nx[i - x] * g[-x]);
      if constexpr (Dim == 3) sum += s.first[1][k] * (s.ny[i + y] * g[y] - s.ny[i - y] * g[-y]);
      sum += s.first[2][k] * (s.nz[i + k] * g[k] - s.nz[i - k] * g[-k]);
    }
    return sum;
  }
  /// Computes H1 and H2 of a field.
  KOKKOS_INLINE_FUNCTION void axial(const T* f, std::int64_t i, T& h1, T& h2) const {
    const T dxx = second(f, s.stride_x, 0);
    const T dyy = Dim == 3 ? second(f, s.stride_y, 1) : T(0);
    const T dzz = second(f, 1, 2);
    if constexpr (stencil == Stencil::vti_fletcher) {
      h1 = dzz;
      h2 = dxx + dyy;
    } else {
      const T nx = s.nx[i], ny = Dim == 3 ? s.ny[i] : T(0), nz = third_component<T>(nx, ny);
      const T dxy = Dim == 3 ? mixed(f, s.stride_x, 0, s.stride_y, 1) : T(0);
      const T dyz = Dim == 3 ? mixed(f, s.stride_y, 1, 1, 2) : T(0);
      const T dxz = mixed(f, s.stride_x, 0, 1, 2);
      h1 = along_axis<Dim, T>(nx, ny, nz, dxx, dyy, dzz, dxy, dyz, dxz);
      h2 = dxx + dyy + dzz - h1;
    }
  }

  /// Steps the node at position n of the box.
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t nz = s.upper[2] - s.lower[2], ny = s.upper[1] - s.lower[1];
    const std::int64_t z = s.lower[2] + n % nz, y = s.lower[1] + n / nz % ny,
                       x = s.lower[0] + n / nz / ny;
    const std::int64_t i = s.flat(x, y, z);
    const T w = s.taper[0][x] * s.taper[1][y] * s.taper[2][z];
    const T* p = s.now[0] + i;
    T change = 0;
    if constexpr (fields_of(stencil) == 1) {
      change = second(p, s.stride_x, 0) + second(p, 1, 2);
      if constexpr (Dim == 3) change += second(p, s.stride_y, 1);
      if constexpr (stencil == Stencil::variable_density) change -= s.a[i] * p[0];
    } else if constexpr (stencil == Stencil::vti || stencil == Stencil::tti) {
      const T* q = s.now[1] + i;
      T h2p = second(p, s.stride_x, 0), h1q, change_q;
      if constexpr (Dim == 3) h2p += second(p, s.stride_y, 1);
      if constexpr (stencil == Stencil::vti) {
        h1q = second(q, 1, 2);
      } else {
        h2p += second(p, 1, 2) - divergence(s.axis_derivative[0] + i, i);
        h1q = divergence(s.axis_derivative[1] + i, i);
      }
      symmetric_change<T>(h2p, h1q, s.a[i], s.b[i], change, change_q);
      s.next[1][i] = next_value<T>(q[0], s.next[1][i], s.scale[i] * change_q, w);
    } else {
      const T* q = s.now[1] + i;
      T h1p, h2p, h1q, h2q, change_q;
      axial(p, i, h1p, h2p);
      axial(q, i, h1q, h2q);
      fletcher_change<T>(h1p, h2p, h1q, h2q, s.a[i], s.b[i], s.shear, change, change_q);
      s.next[1][i] = next_value<T>(q[0], s.next[1][i], s.scale[i] * change_q, w);
    }
    s.next[0][i] = next_value<T>(p[0], s.next[0][i], s.scale[i] * change, w);
  }
};

/// Functor that computes the derivatives of fields along the symmetry axis at one node.
template <Stencil stencil, class T, int Dim>
struct ReferenceSlopes {
  StepArguments<T> s;
  int radius;

  /// Computes the node at position n of the box.
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t nz = s.upper[2] - s.lower[2], ny = s.upper[1] - s.lower[1];
    const std::int64_t i =
        s.flat(s.lower[0] + n / nz / ny, s.lower[1] + n / nz % ny, s.lower[2] + n % nz);
    for (int f = 0; f < info(stencil).work_fields; ++f) {
      const T* p = s.now[f] + i;
      T dx = 0, dy = 0, dz = 0;
      for (int k = 1; k <= radius; ++k) {
        dx += s.first[0][k] * (p[k * s.stride_x] - p[-k * s.stride_x]);
        if constexpr (Dim == 3) dy += s.first[1][k] * (p[k * s.stride_y] - p[-k * s.stride_y]);
        dz += s.first[2][k] * (p[k] - p[-k]);
      }
      T slope = s.nx[i] * dx + s.nz[i] * dz;
      if constexpr (Dim == 3) slope += s.ny[i] * dy;
      s.axis_derivative[f][i] = slope;
    }
  }
};

}  // namespace moho::wave::detail
