// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The kernel of a step by medium, precision, dimension, order and execution space.

#include <moho/wave/axis_device.hpp>
#include <moho/wave/march_device.hpp>
#include <moho/wave/march_host.hpp>
#include <moho/wave/reference.hpp>
#include <moho/wave/tti_device.hpp>

namespace moho::wave::detail {

/// Steps the box of the arguments on an instance.
template <class T, class Exec>
using Launch = void (*)(const Exec&, const StepArguments<T>&);

/// The plain kernels: of a step, or (slopes) of what goes before it.
template <Scheme scheme, class T, int Dim, class Exec>
void launch_reference(const Exec& exec, const StepArguments<T>& s, int radius, bool slopes) {
  std::int64_t nodes = 1;
  for (int d = 0; d < 3; ++d) nodes *= s.upper[d] - s.lower[d];
  const auto policy =
      light_weight(Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, nodes));
  if (slopes) {
    Kokkos::parallel_for("moho::wave::reference_slopes", policy,
                         ReferenceSlopes<T, Dim>{s, radius});
  } else {
    Kokkos::parallel_for("moho::wave::reference_step", policy,
                         ReferenceStep<scheme, T, Dim>{s, radius});
  }
}

/// A team kernel of a device.
template <class Kernel, class T, class Exec>
void launch_teams(const char* label, const Exec& exec, const StepArguments<T>& s) {
  Kernel kernel;
  kernel.s = s;
  const std::int64_t teams = kernel.tiles.cover(s);
  typename Kernel::Policy policy(exec, static_cast<int>(teams), Kernel::threads);
  if (Kernel::scratch() > 0) policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch()));
  Kokkos::parallel_for(label, light_weight(policy), kernel);
}

/// The tuned kernel of a device.
template <Scheme scheme, class T, int Dim, class Exec>
struct DeviceLaunch {
  template <int radius>
  static void run(const Exec& exec, const StepArguments<T>& s) {
    if constexpr (scheme == Scheme::tti_fletcher) {
      launch_teams<DeviceFletcherTti<T, Dim, radius, Exec>>("moho::wave::step", exec, s);
    } else if constexpr (scheme == Scheme::tti) {
      launch_teams<DeviceAxis<T, Dim, radius, Exec>>("moho::wave::step", exec, s);
    } else {
      launch_teams<DeviceMarch<scheme, T, Dim, radius, Exec>>("moho::wave::step", exec, s);
    }
  }
};

/// The tuned kernel of a device that goes before the step of self-adjoint TTI.
template <class T, int Dim, class Exec>
struct DeviceSlopesLaunch {
  template <int radius>
  static void run(const Exec& exec, const StepArguments<T>& s) {
    launch_teams<DeviceSlopes<T, Dim, radius, Exec>>("moho::wave::slopes", exec, s);
  }
};

/// The tuned kernel of hosts, by order: the same for every host space.
template <Scheme scheme, class T, int Dim>
HostWork<T> host_work_of(int order) {
  const HostWork<T> table[] = {host_work<scheme, T, Dim, 1>(), host_work<scheme, T, Dim, 2>(),
                               host_work<scheme, T, Dim, 3>(), host_work<scheme, T, Dim, 4>(),
                               host_work<scheme, T, Dim, 5>(), host_work<scheme, T, Dim, 6>(),
                               host_work<scheme, T, Dim, 7>(), host_work<scheme, T, Dim, 8>()};
  return table[order / 2 - 1];
}
/// The same for what goes before the step of self-adjoint TTI.
template <class T, int Dim>
HostWork<T> host_slopes_of(int order) {
  const HostWork<T> table[] = {&slopes_host<T, Dim, 1>, &slopes_host<T, Dim, 2>,
                               &slopes_host<T, Dim, 3>, &slopes_host<T, Dim, 4>,
                               &slopes_host<T, Dim, 5>, &slopes_host<T, Dim, 6>,
                               &slopes_host<T, Dim, 7>, &slopes_host<T, Dim, 8>};
  return table[order / 2 - 1];
}

template <class T, class Exec, class Launcher>
Launch<T, Exec> by_order(int order) {
  constexpr Launch<T, Exec> table[] = {&Launcher::template run<1>, &Launcher::template run<2>,
                                       &Launcher::template run<3>, &Launcher::template run<4>,
                                       &Launcher::template run<5>, &Launcher::template run<6>,
                                       &Launcher::template run<7>, &Launcher::template run<8>};
  return table[order / 2 - 1];
}

/// The device's kernels of a scheme, by order.
template <Scheme scheme, class T, int Dim, class Exec>
Launch<T, Exec> device_launch_of(int order) {
  return by_order<T, Exec, DeviceLaunch<scheme, T, Dim, Exec>>(order);
}
/// The same for what goes before the step of self-adjoint TTI.
template <class T, int Dim, class Exec>
Launch<T, Exec> device_slopes_of(int order) {
  return by_order<T, Exec, DeviceSlopesLaunch<T, Dim, Exec>>(order);
}

/// \brief Steps boxes by one scheme, of one order, on one kind of space.
template <class T, int Dim, class Exec>
class Stepper {
 public:
  Stepper() = default;
  /// The kernels of a scheme and an order known when the program runs.
  Stepper(Scheme scheme, int order, bool reference)
      : m_scheme(scheme), m_radius(order / 2), m_reference(reference) {
    check_order(order);
    switch (scheme) {
      case Scheme::isotropic:
        choose<Scheme::isotropic>(order);
        break;
      case Scheme::variable_density:
        choose<Scheme::variable_density>(order);
        break;
      case Scheme::vti:
        choose<Scheme::vti>(order);
        break;
      case Scheme::tti:
        choose<Scheme::tti>(order);
        break;
      case Scheme::vti_fletcher:
        choose<Scheme::vti_fletcher>(order);
        break;
      default:
        choose<Scheme::tti_fletcher>(order);
        break;
    }
  }

  /// Steps the box of the arguments.
  void step(const Exec& exec, const StepArguments<T>& s) const { run(exec, s, false); }
  /// What goes before the step of self-adjoint TTI: the derivatives along the axis in a box.
  void slopes(const Exec& exec, const StepArguments<T>& s) const { run(exec, s, true); }

 private:
  template <Scheme scheme>
  void choose(int order) {
    m_plain = &launch_reference<scheme, T, Dim, Exec>;
    if constexpr (is_host_space<Exec>) {
      m_work[0] = host_work_of<scheme, T, Dim>(order);
      if (scheme == Scheme::tti) m_work[1] = host_slopes_of<T, Dim>(order);
    } else {
      m_launch[0] = device_launch_of<scheme, T, Dim, Exec>(order);
      if (scheme == Scheme::tti) m_launch[1] = device_slopes_of<T, Dim, Exec>(order);
    }
  }
  void run(const Exec& exec, const StepArguments<T>& s, bool slopes) const {
    if (m_reference) return m_plain(exec, s, m_radius, slopes);
    if constexpr (is_host_space<Exec>) {
      run_on_host(slopes ? "moho::wave::slopes" : "moho::wave::step", exec, m_scheme, Dim, m_radius,
                  m_work[slopes], s);
    } else {
      m_launch[slopes](exec, s);
    }
  }

  Scheme m_scheme = Scheme::isotropic;
  int m_radius = 0;
  bool m_reference = false;
  void (*m_plain)(const Exec&, const StepArguments<T>&, int, bool) = nullptr;
  HostWork<T> m_work[2] = {};
  Launch<T, Exec> m_launch[2] = {};
};

}  // namespace moho::wave::detail
