// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernels of a step by medium, precision, dimension, order and execution space.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/axis_device.hpp>
#include <moho/wave/detail/axis_host.hpp>
#include <moho/wave/detail/cpml_host.hpp>
#include <moho/wave/detail/march_host.hpp>
#include <moho/wave/detail/reference.hpp>
#include <moho/wave/detail/section_step.hpp>
#include <moho/wave/detail/tti_device.hpp>
#include <moho/wave/kernel/march_device.hpp>

namespace moho::wave::detail {

/// Function that steps the box of the arguments on an instance.
template <class T, class Memory>
using Launch = void (*)(const Instance<Memory>&, const StepArguments<T>&);

/// Launches the plain kernels: of a step, or of the axis derivatives before it.
template <Stencil stencil, class T, int Dim, class Memory>
void launch_reference(const Instance<Memory>& exec, const StepArguments<T>& s, int radius,
                      bool axis_derivatives) {
  std::int64_t nodes = 1;
  for (int d = 0; d < 3; ++d) nodes *= s.upper[d] - s.lower[d];
  if constexpr (info(stencil).work_fields > 0) {
    if (axis_derivatives) {
      launch("moho::wave::reference_slopes", exec, nodes,
             ReferenceSlopes<stencil, T, Dim>{s, radius});
      return;
    }
  }
  (void)axis_derivatives;
  launch("moho::wave::reference_step", exec, nodes, ReferenceStep<stencil, T, Dim>{s, radius});
}

/// Launches a team kernel on a device.
template <class Kernel, class T, class Exec>
void launch_teams(const char* label, const Instance<MemoryOf<Exec>>& exec,
                  const StepArguments<T>& s) {
  Kernel kernel;
  kernel.s = s;
  const std::int64_t teams = kernel.tiles.cover(s, multiprocessors(exec.space())) * s.shots;
  typename Kernel::Policy policy(exec.space(), static_cast<int>(teams), Kernel::threads);
  if (Kernel::scratch() > 0) policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch()));
  Kokkos::parallel_for(label, light_weight(policy), kernel);
}

/// Launch of the tuned kernel on a device.
template <Stencil stencil, class T, int Dim, class Exec>
struct DeviceLaunch {
  template <int radius>
  static void run(const Instance<MemoryOf<Exec>>& exec, const StepArguments<T>& s) {
    constexpr const char* label = "moho::wave::step";
    if constexpr (stencil == Stencil::tti_fletcher) {
      launch_teams<DeviceFletcherTti<T, Dim, radius, Exec>, T, Exec>(label, exec, s);
    } else if constexpr (stencil == Stencil::tti) {
      launch_teams<DeviceAxis<T, Dim, radius, Exec>, T, Exec>(label, exec, s);
    } else {
      if constexpr (Dim == 2 && kernel::has_section_step(stencil)) {
        LayeredArguments<T> arguments{};
        arguments.s = s;
        if (section_step<stencil, T, radius, false>(exec, arguments)) return;
      }
      launch_teams<DeviceMarch<stencil, T, Dim, radius, Exec>, T, Exec>(label, exec, s);
    }
  }
};

/// Returns true if steps on a device may read codes of parameters.
template <class T, int Dim, class Memory>
constexpr bool has_coded_kernels() {
  return Dim == 3 && std::is_same_v<T, float> && !is_host_memory<Memory>;
}

/// Launch of the tuned kernel on a device that reads codes of parameters.
template <Stencil stencil, class Exec>
struct CodedLaunch {
  template <int radius>
  static void run(const Instance<MemoryOf<Exec>>& exec, const StepArguments<float>& s) {
    using Traits = CodedMarchTraits<stencil, float, radius>;
    launch_teams<DeviceMarch<stencil, float, 3, radius, Exec, Traits>, float, Exec>(
        "moho::wave::coded_step", exec, s);
  }
};

/// Launch of the tuned kernel on a device for the axis derivatives of self-adjoint TTI.
template <class T, int Dim, class Exec>
struct DeviceSlopesLaunch {
  template <int radius>
  static void run(const Instance<MemoryOf<Exec>>& exec, const StepArguments<T>& s) {
    launch_teams<DeviceSlopes<T, Dim, radius, Exec>, T, Exec>("moho::wave::slopes", exec, s);
  }
};

/// Returns the function that steps a tile, by medium and order.
template <Stencil stencil, class T, int Dim, int radius>
HostWork<T> host_work() {
  if constexpr (stencil == Stencil::tti_fletcher) {
    return &tti_host<T, Dim, radius>;
  } else if constexpr (stencil == Stencil::tti) {
    return &axis_step_host<T, Dim, radius>;
  } else {
    return &march_host<stencil, T, Dim, radius>;
  }
}

/// Returns the tuned kernel of hosts, by order; it is the same for every host space.
template <Stencil stencil, class T, int Dim>
HostWork<T> host_work_of(int order) {
  const HostWork<T> table[] = {host_work<stencil, T, Dim, 1>(), host_work<stencil, T, Dim, 2>(),
                               host_work<stencil, T, Dim, 3>(), host_work<stencil, T, Dim, 4>(),
                               host_work<stencil, T, Dim, 5>(), host_work<stencil, T, Dim, 6>(),
                               host_work<stencil, T, Dim, 7>(), host_work<stencil, T, Dim, 8>()};
  return table[order / 2 - 1];
}
/// Returns the tuned kernel of hosts for the axis derivatives of self-adjoint TTI.
template <class T, int Dim>
HostWork<T> host_slopes_of(int order) {
  const HostWork<T> table[] = {
      &axis_derivatives_host<T, Dim, 1>, &axis_derivatives_host<T, Dim, 2>,
      &axis_derivatives_host<T, Dim, 3>, &axis_derivatives_host<T, Dim, 4>,
      &axis_derivatives_host<T, Dim, 5>, &axis_derivatives_host<T, Dim, 6>,
      &axis_derivatives_host<T, Dim, 7>, &axis_derivatives_host<T, Dim, 8>};
  return table[order / 2 - 1];
}

template <class T, class Memory, class Launcher>
Launch<T, Memory> by_order(int order) {
  constexpr Launch<T, Memory> table[] = {&Launcher::template run<1>, &Launcher::template run<2>,
                                         &Launcher::template run<3>, &Launcher::template run<4>,
                                         &Launcher::template run<5>, &Launcher::template run<6>,
                                         &Launcher::template run<7>, &Launcher::template run<8>};
  return table[order / 2 - 1];
}

/// Returns the device's kernels of a stencil, by order.
template <Stencil stencil, class T, int Dim, class Exec>
Launch<T, MemoryOf<Exec>> device_launch_of(int order) {
  return by_order<T, MemoryOf<Exec>, DeviceLaunch<stencil, T, Dim, Exec>>(order);
}
/// Returns the device's kernels of a stencil that read codes of parameters, by order.
template <Stencil stencil, class Exec>
Launch<float, MemoryOf<Exec>> coded_launch_of(int order) {
  return by_order<float, MemoryOf<Exec>, CodedLaunch<stencil, Exec>>(order);
}
/// Returns the device's kernels for the axis derivatives of self-adjoint TTI.
template <class T, int Dim, class Exec>
Launch<T, MemoryOf<Exec>> device_slopes_of(int order) {
  return by_order<T, MemoryOf<Exec>, DeviceSlopesLaunch<T, Dim, Exec>>(order);
}

/// \brief Steps boxes by one stencil, of one order, in one memory space.
template <class T, int Dim, class Memory>
class Stepper {
 public:
  Stepper() = default;
  /// Selects the kernels of a stencil and an order at run time.
  Stepper(Stencil stencil, int order, bool reference)
      : m_stencil(stencil), m_radius(order / 2), m_reference(reference) {
    check_order(order);
    kernel::visit_stencil(stencil,
                          [&](auto constant) { choose<decltype(constant)::value>(order); });
  }

  /// Steps the box of the arguments.
  void step(const Instance<Memory>& exec, const StepArguments<T>& s) const { run(exec, s, false); }
  /// Steps the box of the arguments together with its layers, on a host.
  void step(const Instance<Memory>& exec, const AllLayers<T>& l) const {
    static_assert(is_host_memory<Memory>);
    static thread_local std::vector<T> memory;
    LayeredHostLoop<T> loop{{l.s, m_work[0], 1, 1, 1}, l, m_layered, {}};
    const std::int64_t tiles = cut_for_host(exec, m_stencil, Dim, m_radius, loop.tiles);
    loop.saved = SavedPsi<T>(exec, l, loop.tiles, layer_radius(m_radius), memory);
    launch_dynamic("moho::wave::layered_step", exec, tiles, loop);
  }
  /// Steps the box of the arguments of self-adjoint TTI in one pass, on a host.
  void step_in_one_pass(const Instance<Memory>& exec, const StepArguments<T>& s,
                        const AxisFaces& faces) const {
    static_assert(is_host_memory<Memory>);
    AxisTileLoop<T> loop{{s, nullptr, 1, 1, 1}, faces, m_axis_ring};
    // few tiles, because each computes g around it again
    const std::int64_t tiles = cut_for_host(exec, m_stencil, Dim, m_radius, loop.tiles, 2);
    launch_dynamic("moho::wave::step", exec, tiles, loop);
  }
  /// Computes the derivatives along the axis in a box, before the step of self-adjoint TTI.
  void axis_derivatives(const Instance<Memory>& exec, const StepArguments<T>& s) const {
    run(exec, s, true);
  }

 private:
  template <Stencil stencil>
  void choose(int order) {
    m_plain = &launch_reference<stencil, T, Dim, Memory>;
    if constexpr (!info(stencil).tuned) {
      m_reference = true;
    } else if constexpr (is_host_memory<Memory>) {
      m_work[0] = host_work_of<stencil, T, Dim>(order);
      if (stencil == Stencil::tti) {
        m_work[1] = host_slopes_of<T, Dim>(order);
        m_axis_ring = axis_ring_host_of<T, Dim>(order);
      }
      m_layered = layered_host_of<stencil, T, Dim>(order);
    } else {
      m_launch[0] = device_launch_of<stencil, T, Dim, DeviceOf<Memory>>(order);
      if (stencil == Stencil::tti) m_launch[1] = device_slopes_of<T, Dim, DeviceOf<Memory>>(order);
      if constexpr (has_coded_kernels<T, Dim, Memory>() && has_codes(stencil)) {
        m_coded = coded_launch_of<stencil, DeviceOf<Memory>>(order);
      }
    }
  }
  void run(const Instance<Memory>& exec, const StepArguments<T>& s, bool axis_derivatives) const {
    if (m_reference) return m_plain(exec, s, m_radius, axis_derivatives);
    if constexpr (is_host_memory<Memory>) {
      run_on_host(axis_derivatives ? "moho::wave::slopes" : "moho::wave::step", exec, m_stencil,
                  Dim, m_radius, m_work[axis_derivatives], s);
    } else if (s.words != nullptr || s.halves != nullptr) {
      m_coded(exec, s);
    } else {
      m_launch[axis_derivatives](exec, s);
    }
  }

  Stencil m_stencil = Stencil::isotropic;
  int m_radius = 0;
  bool m_reference = false;
  void (*m_plain)(const Instance<Memory>&, const StepArguments<T>&, int, bool) = nullptr;
  HostWork<T> m_work[2] = {};
  LayeredHostWork<T> m_layered = nullptr;
  AxisTileWork<T> m_axis_ring = nullptr;
  Launch<T, Memory> m_launch[2] = {};
  Launch<T, Memory> m_coded = nullptr;
};

}  // namespace moho::wave::detail

/// \cond
#define MOHO_WAVE_STENCILS(prefix, name, ...)                         \
  MOHO_FUNCTION(prefix, name, Stencil::isotropic, __VA_ARGS__)        \
  MOHO_FUNCTION(prefix, name, Stencil::variable_density, __VA_ARGS__) \
  MOHO_FUNCTION(prefix, name, Stencil::vti, __VA_ARGS__)              \
  MOHO_FUNCTION(prefix, name, Stencil::tti, __VA_ARGS__)              \
  MOHO_FUNCTION(prefix, name, Stencil::vti_fletcher, __VA_ARGS__)     \
  MOHO_FUNCTION(prefix, name, Stencil::tti_fletcher, __VA_ARGS__)
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave::detail {
MOHO_FOR_TYPES(MOHO_WAVE_STENCILS, extern template, host_work_of)
MOHO_FOR_TYPES(MOHO_WAVE_STENCILS, extern template, layered_host_of)
MOHO_FOR_TYPES(MOHO_FUNCTION, extern template, host_slopes_of)
MOHO_FOR_TYPES(MOHO_FUNCTION, extern template, axis_ring_host_of)
MOHO_FOR_ALL(MOHO_WAVE_STENCILS, extern template, launch_reference)
MOHO_FOR_TYPES(MOHO_FOR_DEVICES, MOHO_WAVE_STENCILS, extern template, device_launch_of)
MOHO_FOR_TYPES(MOHO_FOR_DEVICES, MOHO_FUNCTION, extern template, device_slopes_of)
MOHO_FOR_DEVICES(MOHO_FUNCTION, extern template, coded_launch_of, Stencil::isotropic)
MOHO_FOR_DEVICES(MOHO_FUNCTION, extern template, coded_launch_of, Stencil::variable_density)
MOHO_FOR_DEVICES(MOHO_FUNCTION, extern template, coded_launch_of, Stencil::vti)
}  // namespace moho::wave::detail
#endif
/// \endcond
