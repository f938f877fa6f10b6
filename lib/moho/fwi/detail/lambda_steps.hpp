// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Steps of the adjoint of p, for derivatives with respect to epsilon and delta (internal).

#include <moho/core/denormals.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/fwi/detail/gradient_kernels.hpp>
#include <moho/fwi/detail/march_setup.hpp>
#include <moho/wave/operators.hpp>

#include <cstdint>

namespace moho::fwi::detail {

/// lambda of p one step further back: d = w d + H2 nu_p + residual, lambda = w lambda + d.
template <class T, int Dim>
struct StepLambda {
  wave::kernel::StepArguments<T> s;
  const T* change;
  T *lambda, *lambda_difference;
  wave::Layout<Dim> layout;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    const std::int64_t i = layout.flat(node);
    T w = s.taper[0][node[0]] * s.taper[2][node[Dim - 1]];
    if (Dim == 3) w *= s.taper[1][node[1]];
    const T d = w * lambda_difference[i] + change[i];
    lambda_difference[i] = d;
    lambda[i] = w * lambda[i] + d;
  }
};

/// Kernel: contribution of the residual to lambda, after a step without residual.
template <class T, int Dim>
struct AddToLambda {
  const T* residual;
  T *lambda, *lambda_difference;
  wave::Layout<Dim> layout;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    const std::int64_t i = layout.flat(node);
    lambda_difference[i] += residual[i];
    lambda[i] += residual[i];
  }
};

/// \brief The step without residuals in VTI on devices, in the order of a step of the wavefield:
/// H2 nu_p, which takes differences along x and y, is not stored.
template <class T, int Dim, int radius, class Exec>
struct MarchLambda {
  using March = wave::kernel::DeviceMarch<wave::kernel::Stencil::vti, T, Dim, radius, Exec>;
  static constexpr int width = March::width;
  using Vector = wave::kernel::Lanes<T, width>;
  March march;
  T *lambda, *lambda_difference;  ///< with the origin of the wavefield's arrays

  KOKKOS_INLINE_FUNCTION void operator()(const typename March::Policy::member_type& member) const {
    const wave::kernel::StepArguments<T>& s = march.s;
    MarchSetup<March> start;
    if (!start.find(march, member)) return;
    const std::int64_t y = start.y, z = start.z;
    std::int64_t at = start.at;
    typename March::Queue& queue = start.queue;
    T taper[width];
    march.tiles.taper(s, y, z, taper);
    for (std::int64_t x = start.x0; x < start.x1; ++x, at += s.stride_x) {
      // all loads precede the first use
      const Vector ahead = wave::kernel::load_lanes<width>(s.now[0] + at + radius * s.stride_x);
      Vector d = wave::kernel::load_lanes<width>(lambda_difference + at);
      Vector l = wave::kernel::load_lanes<width>(lambda + at);
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) queue[0][2 * radius][i] = ahead.v[i];
      T change[width];
      march.across(queue, 0, s.now[0] + at, change);
      const T wx = s.taper[0][x];
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        const T w = wx * taper[i];
        d.v[i] = w * d.v[i] + change[i];
        l.v[i] = w * l.v[i] + d.v[i];
      }
      march.tiles.store(s, z, lambda_difference + at, d);
      march.tiles.store(s, z, lambda + at, l);
      March::shift(queue);
    }
  }
};

template <class T, int Dim, int radius, class Memory>
void launch_lambda(const Instance<Memory>& exec, const wave::kernel::StepArguments<T>& s, T* lambda,
                   T* lambda_difference) {
  if constexpr (!is_host_memory<Memory>) {
    using Kernel = MarchLambda<T, Dim, radius, DeviceOf<Memory>>;
    Kernel kernel;
    kernel.march.s = s;
    kernel.lambda = lambda;
    kernel.lambda_difference = lambda_difference;
    const std::int64_t teams = kernel.march.tiles.cover(s);
    const typename Kernel::March::Policy policy(exec.space(), static_cast<int>(teams),
                                                Kernel::March::threads);
    Kokkos::parallel_for("moho::fwi::step_lambda", light_weight(policy), kernel);
  }
}

/// Kernels of devices by order.
template <class T, int Dim, class Memory>
void launch_lambda_of(const Instance<Memory>& exec, int order,
                      const wave::kernel::StepArguments<T>& s, T* lambda, T* lambda_difference) {
  using Call = void (*)(const Instance<Memory>&, const wave::kernel::StepArguments<T>&, T*, T*);
  constexpr Call table[] = {&launch_lambda<T, Dim, 1, Memory>, &launch_lambda<T, Dim, 2, Memory>,
                            &launch_lambda<T, Dim, 3, Memory>, &launch_lambda<T, Dim, 4, Memory>,
                            &launch_lambda<T, Dim, 5, Memory>, &launch_lambda<T, Dim, 6, Memory>,
                            &launch_lambda<T, Dim, 7, Memory>, &launch_lambda<T, Dim, 8, Memory>};
  table[order / 2 - 1](exec, s, lambda, lambda_difference);
}

/// Returns true if step_lambda() reads the wavefield, not D of it.
template <class T, int Dim, class Memory>
bool lambda_from_wavefield(const wave::Scheme<T, Dim, Memory>& scheme) {
  return !is_host_memory<Memory> && scheme.stencil() == wave::kernel::Stencil::vti;
}

/// \brief Advances lambda by one step at all nodes of the grid.
/// \param exec instance to which the work is submitted
/// \param scheme,medium,nu of the adjoint field
/// \param change D nu and the residuals, padded; where lambda_from_wavefield() it is overwritten at
/// the nodes of the residuals
/// \param residuals the nodes that inject() changes
/// \param inject adds the residuals to `change`; called where lambda_from_wavefield()
/// \param lambda,lambda_difference padded
template <class T, int Dim, class Memory, class Inject>
void step_lambda(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
                 const wave::MediumCoefficients<T, Dim, Memory>& medium,
                 const wave::Wavefield<T, Dim, Memory>& nu, const wave::Storage<T, Memory>& change,
                 const Box<Dim>& residuals, const Inject& inject,
                 const wave::Storage<T, Memory>& lambda,
                 const wave::Storage<T, Memory>& lambda_difference) {
  const Box<Dim> whole = whole_box(scheme.grid());
  const wave::Layout<Dim>& layout = nu.layout;
  if (!lambda_from_wavefield(scheme)) {
    launch_box("moho::fwi::step_lambda", exec, whole,
               StepLambda<T, Dim>{scheme.arguments(), change.data(), lambda.data(),
                                  lambda_difference.data(), layout});
    return;
  }
  wave::kernel::StepArguments<T> s;
  if (!wave::kernel::bind_operator(exec, scheme, medium, nu, whole, s)) return;
  launch_lambda_of<T, Dim, Memory>(exec, scheme.order(), s, lambda.data() + layout.offset,
                                   lambda_difference.data() + layout.offset);
  const Box<Dim> near = intersection(residuals, whole);
  if (near.empty()) return;
  launch_box("moho::fwi::no_residuals", exec, near, ZeroNodes<T, Dim>{change.data(), layout});
  inject();
  launch_box("moho::fwi::add_to_lambda", exec, near,
             AddToLambda<T, Dim>{change.data(), lambda.data(), lambda_difference.data(), layout});
}

}  // namespace moho::fwi::detail
