// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Spatial operator of a time step by itself, for gradients.

#include <moho/core/instances.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/wave/propagator.hpp>

#include <cstdint>

namespace moho::wave {

/// \brief Applies the symmetric spatial operator D to the current level of a wavefield.
///
/// D is the operator of a step u' = w (2 u + B (D u + f)) - w^2 u_before (docs/theory/waves.md).
/// Isotropic: the Laplacian of p. Variable density: L q - V q of the field q = p / sqrt(rho).
/// Self-adjoint VTI and TTI: H2 p and H1 q. Terms of perfectly matched layers are excluded. \param
/// exec execution instance \param scheme,medium of the equations \param wavefield wavefield whose
/// current level is read; its halo beyond free surfaces and its
///   axis derivatives are written
/// \param box nodes at which D is computed; the nodes within the reach of a step around it are read
/// \param of_p,of_q results, in the layout of the wavefield; an unallocated one is not computed.
///   of_q is ignored in media without q
/// \throws InputError for Fletcher's equations, arrays of another layout, a box beyond the window
template <class T, int Dim, class Memory>
void apply_operator(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                    const MediumCoefficients<T, Dim, Memory>& medium,
                    const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
                    const Storage<T, Memory>& of_p, const Storage<T, Memory>& of_q = {});

namespace kernel {

/// Functor that computes D at the nodes of rows.
template <Stencil stencil, class T, int Dim, int radius>
struct OperatorRows {
  StepArguments<T> s;
  T *of_p, *of_q;  ///< node (0, 0, 0); null: not computed

  KOKKOS_FORCEINLINE_FUNCTION T second(const T* f, std::int64_t stride, int axis) const {
    T sum = s.second[axis][0] * f[0];
    MOHO_UNROLL
    for (int k = 1; k <= radius; ++k) sum += s.second[axis][k] * (f[k * stride] + f[-k * stride]);
    return sum;
  }
  /// Returns div(n g) of axis derivatives g.
  KOKKOS_FORCEINLINE_FUNCTION T divergence(const T* g, std::int64_t i) const {
    T sum = 0;
    MOHO_UNROLL
    for (int k = 1; k <= radius; ++k) {
      const std::int64_t x = k * s.stride_x, y = k * s.stride_y;
      sum += s.first[0][k] * (s.nx[i + x] * g[x] - s.nx[i - x] * g[-x]);
      if constexpr (Dim == 3) sum += s.first[1][k] * (s.ny[i + y] * g[y] - s.ny[i - y] * g[-y]);
      sum += s.first[2][k] * (s.nz[i + k] * g[k] - s.nz[i - k] * g[-k]);
    }
    return sum;
  }
  /// Returns the part of D that enters the equation of p.
  KOKKOS_FORCEINLINE_FUNCTION T change_p(std::int64_t i) const {
    const T* const p = s.now[0] + i;
    T sum = second(p, s.stride_x, 0);
    if constexpr (stencil != Stencil::vti) sum += second(p, 1, 2);
    if constexpr (stencil == Stencil::tti) sum -= divergence(s.axis_derivative[0] + i, i);
    if constexpr (Dim == 3) sum += second(p, s.stride_y, 1);
    if constexpr (stencil == Stencil::variable_density) sum -= s.a[i] * p[0];
    return sum;
  }
  /// Returns the part of D that enters the equation of q, in media with q.
  KOKKOS_FORCEINLINE_FUNCTION T change_q(std::int64_t i) const {
    if constexpr (stencil == Stencil::vti) return second(s.now[1] + i, 1, 2);
    if constexpr (stencil == Stencil::tti) return divergence(s.axis_derivative[1] + i, i);
    return T(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION void at(std::int64_t i) const {
    if constexpr (fields_of(stencil) == 1) {
      of_p[i] = change_p(i);
    } else {
      if (of_p != nullptr) of_p[i] = change_p(i);
      if (of_q != nullptr) of_q[i] = change_q(i);
    }
  }
  /// Computes the row of z at position n of the box, on hosts.
  void operator()(const std::int64_t n) const {
    const std::int64_t ny = s.upper[1] - s.lower[1];
    const std::int64_t begin = s.flat(s.lower[0] + n / ny, s.lower[1] + n % ny, s.lower[2]);
    const std::int64_t end = begin + s.upper[2] - s.lower[2];
    MOHO_INDEPENDENT
    for (std::int64_t i = begin; i < end; ++i) at(i);
  }
};
/// Functor that computes D node by node, on devices.
template <class Rows, int Dim>
struct OperatorNodes {
  Rows rows;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    rows.at(rows.s.flat(node[0], Dim == 3 ? node[1] : 0, node[Dim - 1]));
  }
};

template <Stencil stencil, class T, int Dim, int radius, class Memory>
void launch_operator(const Instance<Memory>& exec, const StepArguments<T>& s, T* of_p, T* of_q) {
  using Rows = OperatorRows<stencil, T, Dim, radius>;
  const Rows rows{s, of_p, of_q};
  if constexpr (is_host_memory<Memory>) {
    launch("moho::wave::operator", exec, (s.upper[0] - s.lower[0]) * (s.upper[1] - s.lower[1]),
           rows);
  } else {
    Box<Dim> box;
    for (int d = 0; d < Dim; ++d) {
      box.lower[d] = s.lower[axis3<Dim>(d)];
      box.upper[d] = s.upper[axis3<Dim>(d)];
    }
    launch_box("moho::wave::operator", exec, box, OperatorNodes<Rows, Dim>{rows});
  }
}

/// \brief Prepares D: computes axis derivatives and halos, and sets the arguments of a step.
///
/// The halos are those beyond free surfaces. Returns false if the box has no nodes. For a batch,
/// which needs a stencil without axis derivatives, `wavefield` is its first one. \throws InputError
template <class T, int Dim, class Memory>
bool bind_operator(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                   const MediumCoefficients<T, Dim, Memory>& medium,
                   const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
                   StepArguments<T>& s, const detail::Several& several = {}) {
  const int radius = scheme.order() / 2;
  compute_axis_derivatives<T, Dim, Memory>(exec, scheme, medium, wavefield, box.grown(radius));
  if (!detail::bind_step(scheme, medium, wavefield, box, radius, s)) return false;
  s.shots = several.shots;
  s.batch_stride = several.batch_stride;
  const PlaneRange& window = wavefield.layout.window;
  mirror_faces<T, Dim, Memory>(exec, scheme, window, s, {s.now[0], s.now[1]}, wavefield.fields,
                               T(-1));
  mirror_faces<T, Dim, Memory>(exec, scheme, window, s,
                               {s.axis_derivative[0], s.axis_derivative[1]},
                               info(scheme.stencil()).work_fields, T(1));
  return true;
}

/// Launches the operator of an order.
template <Stencil stencil, class T, int Dim, class Memory>
void launch_operator_of(const Instance<Memory>& exec, int order, const StepArguments<T>& s, T* of_p,
                        T* of_q) {
  using Call = void (*)(const Instance<Memory>&, const StepArguments<T>&, T*, T*);
  constexpr Call table[] = {
      &launch_operator<stencil, T, Dim, 1, Memory>, &launch_operator<stencil, T, Dim, 2, Memory>,
      &launch_operator<stencil, T, Dim, 3, Memory>, &launch_operator<stencil, T, Dim, 4, Memory>,
      &launch_operator<stencil, T, Dim, 5, Memory>, &launch_operator<stencil, T, Dim, 6, Memory>,
      &launch_operator<stencil, T, Dim, 7, Memory>, &launch_operator<stencil, T, Dim, 8, Memory>};
  table[order / 2 - 1](exec, s, of_p, of_q);
}

}  // namespace kernel

template <class T, int Dim, class Memory>
void apply_operator(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                    const MediumCoefficients<T, Dim, Memory>& medium,
                    const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
                    const Storage<T, Memory>& of_p, const Storage<T, Memory>& of_q) {
  const Instance<Memory>& instance = exec;
  const bool two = scheme.fields() == 2;
  if (two && scheme.options().equations == Equations::fletcher) {
    throw InputError(
        "equations: Fletcher's have no symmetric operator (allowed: the self-adjoint equations): "
        "take Equations::self_adjoint");
  }
  const auto start = [&](const Storage<T, Memory>& storage, const char* name) -> T* {
    if (storage.size() == 0) return nullptr;
    detail::check_storage(wavefield.layout, storage, name);
    return storage.data() + wavefield.layout.offset;
  };
  T* const p = start(of_p, "of_p");
  T* const q = two ? start(of_q, "of_q") : nullptr;
  if (p == nullptr && (!two || q == nullptr)) return;
  kernel::StepArguments<T> s;
  if (!kernel::bind_operator(instance, scheme, medium, wavefield, box, s)) return;
  kernel::visit_stencil<symmetric_stencils.bits>(scheme.stencil(), [&](auto stencil) {
    kernel::launch_operator_of<decltype(stencil)::value, T, Dim, Memory>(instance, scheme.order(),
                                                                         s, p, q);
  });
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, apply_operator)
}  // namespace moho::wave
#endif
/// \endcond
