// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Steps of the adjoint of p, for derivatives with respect to epsilon and delta (internal).

#include <moho/core/denormals.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/fwi/detail/gradient_kernels.hpp>
#include <moho/fwi/detail/march_setup.hpp>
#include <moho/fwi/detail/point_products.hpp>
#include <moho/wave/operators.hpp>

#include <cstdint>

namespace moho::fwi::detail {

/// Adjoint of p, and its time difference, at the nodes of a box.
template <class T, int Dim>
struct LambdaArrays {
  T *lambda, *difference;
  DenseBox<Dim> nodes;  ///< layout of both
};

/// lambda of p one step further back: d = w d + H2 nu_p + residual, lambda = w lambda + d.
template <class T, int Dim>
struct StepLambda {
  wave::kernel::StepArguments<T> s;
  const T* change;
  wave::Layout<Dim> layout;  ///< layout of `change`
  LambdaArrays<T, Dim> to;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    const std::int64_t i = layout.flat(node);
    T w = s.taper[0][node[0]] * s.taper[2][node[Dim - 1]];
    if (Dim == 3) w *= s.taper[1][node[1]];
    const std::int64_t k = to.nodes.at(node);
    const T d = w * to.difference[k] + change[i];
    to.difference[k] = d;
    to.lambda[k] = w * to.lambda[k] + d;
  }
};

/// Body: contribution of the residual of a node to lambda, after a step without residual.
template <class T, int Dim>
struct AddToLambda {
  LambdaArrays<T, Dim> to;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Index<Dim>& node, T residual) const {
    const std::int64_t k = to.nodes.at(node);
    to.difference[k] += residual;
    to.lambda[k] += residual;
  }
};

/// \brief The step without residuals in VTI on devices, in the order of a step of the wavefield:
/// H2 nu_p, which takes differences along x and y, is not stored. A thread loads and stores lambda
/// as a vector if its rows are aligned.
template <class T, int Dim, int radius, class Exec>
struct MarchLambda {
  using March = wave::kernel::DeviceMarch<wave::kernel::Stencil::vti, T, Dim, radius, Exec>;
  static constexpr int width = March::width;
  using Vector = wave::kernel::Lanes<T, width>;
  March march;
  LambdaArrays<T, Dim> to;
  bool aligned;

  KOKKOS_INLINE_FUNCTION void operator()(const typename March::Policy::member_type& member) const {
    const wave::kernel::StepArguments<T>& s = march.s;
    MarchSetup<March> start;
    if (!start.find(march, member, member.league_rank())) return;
    const std::int64_t y = start.y, z = start.z;
    std::int64_t at = start.at;
    typename March::Queue& queue = start.queue;
    T taper[width];
    march.tiles.taper(s, y, z, taper);
    Index<Dim> node{};
    node[0] = start.x0;
    if (Dim == 3) node[1] = y;
    node[Dim - 1] = z;
    std::int64_t k = to.nodes.at(node);
    const bool whole = aligned && z >= s.lower[2] && z + width <= s.upper[2];
    for (std::int64_t x = start.x0; x < start.x1; ++x, at += s.stride_x, k += to.nodes.strides[0]) {
      // all loads precede the first use
      const Vector ahead = wave::kernel::load_lanes<width>(s.now[0] + at + radius * s.stride_x);
      Vector d, l;
      if (whole) {
        d = wave::kernel::load_lanes<width>(to.difference + k);
        l = wave::kernel::load_lanes<width>(to.lambda + k);
      } else {
        for (int i = 0; i < width; ++i) {
          const bool inside = z + i >= s.lower[2] && z + i < s.upper[2];
          d.v[i] = inside ? to.difference[k + i] : T(0);
          l.v[i] = inside ? to.lambda[k + i] : T(0);
        }
      }
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
      if (whole) {
        *reinterpret_cast<Vector*>(to.difference + k) = d;
        *reinterpret_cast<Vector*>(to.lambda + k) = l;
      } else {
        for (int i = 0; i < width; ++i) {
          if (z + i < s.lower[2] || z + i >= s.upper[2]) continue;
          to.difference[k + i] = d.v[i];
          to.lambda[k + i] = l.v[i];
        }
      }
      March::shift(queue);
    }
  }
};

template <class T, int Dim, int radius, class Memory>
void launch_lambda(const Instance<Memory>& exec, const wave::kernel::StepArguments<T>& s,
                   const LambdaArrays<T, Dim>& to) {
  if constexpr (!is_host_memory<Memory>) {
    using Kernel = MarchLambda<T, Dim, radius, DeviceOf<Memory>>;
    Kernel kernel;
    kernel.march.s = s;
    kernel.to = to;
    constexpr std::int64_t width = Kernel::width;
    kernel.aligned = to.nodes.box.lower[Dim - 1] % width == 0;
    const auto look = [&](const T* start) {
      if (reinterpret_cast<std::uintptr_t>(start) % (width * sizeof(T)) != 0) {
        kernel.aligned = false;
      }
    };
    look(to.lambda);
    look(to.difference);
    for (int d = 0; d + 1 < Dim; ++d) {
      kernel.aligned = kernel.aligned && to.nodes.strides[d] % width == 0;
    }
    const std::int64_t teams = kernel.march.tiles.cover(s, multiprocessors(exec.space()));
    const typename Kernel::March::Policy policy(exec.space(), static_cast<int>(teams),
                                                Kernel::March::threads);
    Kokkos::parallel_for("moho::fwi::step_lambda", light_weight(policy), kernel);
  } else {
    (void)exec, (void)s, (void)to;
  }
}

/// Kernels of devices by order.
template <class T, int Dim, class Memory>
void launch_lambda_of(const Instance<Memory>& exec, int order,
                      const wave::kernel::StepArguments<T>& s, const LambdaArrays<T, Dim>& to) {
  using Call = void (*)(const Instance<Memory>&, const wave::kernel::StepArguments<T>&,
                        const LambdaArrays<T, Dim>&);
  constexpr Call table[] = {&launch_lambda<T, Dim, 1, Memory>, &launch_lambda<T, Dim, 2, Memory>,
                            &launch_lambda<T, Dim, 3, Memory>, &launch_lambda<T, Dim, 4, Memory>,
                            &launch_lambda<T, Dim, 5, Memory>, &launch_lambda<T, Dim, 6, Memory>,
                            &launch_lambda<T, Dim, 7, Memory>, &launch_lambda<T, Dim, 8, Memory>};
  table[order / 2 - 1](exec, s, to);
}

/// Returns true if step_lambda() reads the wavefield, not D of it.
template <class T, int Dim, class Memory>
bool lambda_from_wavefield(const wave::Scheme<T, Dim, Memory>& scheme) {
  return !is_host_memory<Memory> && scheme.stencil() == wave::kernel::Stencil::vti;
}

/// \brief Advances lambda by one step at the nodes of a box.
/// \param exec instance to which the work is submitted
/// \param scheme,medium,nu of the adjoint field
/// \param box nodes to advance
/// \param change D nu and the residuals, padded; not read where lambda_from_wavefield()
/// \param residuals of the step
/// \param to arrays that hold the nodes of the box
template <class T, int Dim, class Memory>
void step_lambda(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
                 const wave::MediumCoefficients<T, Dim, Memory>& medium,
                 const wave::Wavefield<T, Dim, Memory>& nu, const Box<Dim>& box,
                 const wave::Storage<T, Memory>& change,
                 const StepInjection<T, Dim, Memory>& residuals, const LambdaArrays<T, Dim>& to) {
  if (!lambda_from_wavefield(scheme)) {
    launch_box("moho::fwi::step_lambda", exec, box,
               StepLambda<T, Dim>{scheme.arguments(), change.data(), nu.layout, to});
    return;
  }
  wave::kernel::StepArguments<T> s;
  if (!wave::kernel::bind_operator(exec, scheme, medium, nu, box, s)) return;
  launch_lambda_of<T, Dim, Memory>(exec, scheme.order(), s, to);
  launch_at_points("moho::fwi::add_to_lambda", exec, residuals, box, AddToLambda<T, Dim>{to});
}

}  // namespace moho::fwi::detail

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi::detail {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, launch_lambda_of)
}  // namespace moho::fwi::detail
#endif
/// \endcond
