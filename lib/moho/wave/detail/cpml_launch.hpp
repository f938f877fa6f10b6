// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernels of devices for a step with perfectly matched layers, by stencil and order.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/cpml_device.hpp>

#include <utility>

namespace moho::wave::detail {

/// Function that steps a box of a grid with layers.
template <class T, class Memory>
using LayeredLaunch = void (*)(const Instance<Memory>&, const LayeredArguments<T>&);

/// Returns the kernel of devices for a step with layers, by order.
template <Stencil stencil, class T, int Dim, class Exec>
LayeredLaunch<T, MemoryOf<Exec>> layered_launch_of(int order) {
  constexpr LayeredLaunch<T, MemoryOf<Exec>> table[] = {
      &DeviceLayerMarch<stencil, T, Dim, 1, Exec>::launch,
      &DeviceLayerMarch<stencil, T, Dim, 2, Exec>::launch,
      &DeviceLayerMarch<stencil, T, Dim, 3, Exec>::launch,
      &DeviceLayerMarch<stencil, T, Dim, 4, Exec>::launch,
      &DeviceLayerMarch<stencil, T, Dim, 5, Exec>::launch,
      &DeviceLayerMarch<stencil, T, Dim, 6, Exec>::launch,
      &DeviceLayerMarch<stencil, T, Dim, 7, Exec>::launch,
      &DeviceLayerMarch<stencil, T, Dim, 8, Exec>::launch};
  return table[order / 2 - 1];
}

/// Selects the kernel that reads codes of parameters by order.
template <Stencil stencil, class Exec, int... below>
LayeredLaunch<float, MemoryOf<Exec>> coded_layers_by_order(int order,
                                                           std::integer_sequence<int, below...>) {
  constexpr LayeredLaunch<float, MemoryOf<Exec>> table[] = {
      &DeviceLayerMarch<stencil, float, 3, below + 1, Exec,
                        CodedLayerMarchTraits<stencil, float, below + 1>>::launch...};
  return table[order / 2 - 1];
}

/// Returns the kernel of devices for a step with layers that reads codes of parameters, by order.
template <Stencil stencil, class Exec>
LayeredLaunch<float, MemoryOf<Exec>> coded_layered_launch_of(int order) {
  return coded_layers_by_order<stencil, Exec>(order, std::make_integer_sequence<int, 8>());
}

/// Returns the step with layers of a stencil with codes.
template <class Exec>
LayeredLaunch<float, MemoryOf<Exec>> coded_layered_launch_of(Stencil stencil, int order) {
  return kernel::visit_stencil<layer_march_stencils.bits>(stencil, [&](auto constant) {
    return coded_layered_launch_of<decltype(constant)::value, Exec>(order);
  });
}

/// Returns the step with layers of a stencil with has_layer_march().
template <class T, int Dim, class Exec>
LayeredLaunch<T, MemoryOf<Exec>> layered_launch_of(Stencil stencil, int order) {
  return kernel::visit_stencil<layer_march_stencils.bits>(stencil, [&](auto constant) {
    return layered_launch_of<decltype(constant)::value, T, Dim, Exec>(order);
  });
}

}  // namespace moho::wave::detail

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave::detail {
MOHO_FOR_TYPES(MOHO_FOR_DEVICES, MOHO_FUNCTION, extern template, layered_launch_of,
               Stencil::isotropic)
MOHO_FOR_TYPES(MOHO_FOR_DEVICES, MOHO_FUNCTION, extern template, layered_launch_of,
               Stencil::variable_density)
MOHO_FOR_TYPES(MOHO_FOR_DEVICES, MOHO_FUNCTION, extern template, layered_launch_of, Stencil::vti)
MOHO_FOR_DEVICES(MOHO_FUNCTION, extern template, coded_layered_launch_of, Stencil::isotropic)
MOHO_FOR_DEVICES(MOHO_FUNCTION, extern template, coded_layered_launch_of, Stencil::variable_density)
MOHO_FOR_DEVICES(MOHO_FUNCTION, extern template, coded_layered_launch_of, Stencil::vti)
}  // namespace moho::wave::detail
#endif
/// \endcond
