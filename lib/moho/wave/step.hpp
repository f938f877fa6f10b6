// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The kernel of a step by medium, precision, dimension, order and execution space.

#include <moho/wave/march_device.hpp>
#include <moho/wave/march_host.hpp>
#include <moho/wave/reference.hpp>
#include <moho/wave/tti_device.hpp>

namespace moho::wave::detail {

/// Steps the box of the arguments on an instance.
template <class T, class Exec>
using Launch = void (*)(const Exec&, const StepArguments<T>&);

/// The plain kernel.
template <Medium medium, class T, int Dim, class Exec>
struct ReferenceLaunch {
  template <int radius>
  static void run(const Exec& exec, const StepArguments<T>& s) {
    std::int64_t nodes = 1;
    for (int d = 0; d < 3; ++d) nodes *= s.upper[d] - s.lower[d];
    Kokkos::parallel_for(
        "moho::wave::reference_step",
        light_weight(Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, nodes)),
        ReferenceStep<medium, T, Dim>{s, radius});
  }
};

/// A team kernel of a device.
template <class Kernel, class T, class Exec>
void launch_teams(const Exec& exec, const StepArguments<T>& s, int threads, std::size_t scratch) {
  Kernel kernel;
  kernel.s = s;
  const std::int64_t teams = Kernel::teams(s, kernel.first_z, kernel.tiles_z, kernel.tiles_y);
  typename Kernel::Policy policy(exec, static_cast<int>(teams), threads);
  if (scratch > 0) policy.set_scratch_size(0, Kokkos::PerTeam(scratch));
  Kokkos::parallel_for("moho::wave::step", light_weight(policy), kernel);
}

/// The tuned kernel of a device.
template <Medium medium, class T, int Dim, class Exec>
struct DeviceLaunch {
  template <int radius>
  static void run(const Exec& exec, const StepArguments<T>& s) {
    if constexpr (medium == Medium::tti) {
      using Kernel = DeviceTti<T, Dim, radius, Exec>;
      launch_teams<Kernel>(exec, s, Kernel::threads, Kernel::scratch());
    } else {
      using Kernel = DeviceMarch<medium, T, Dim, radius, Exec>;
      launch_teams<Kernel>(exec, s, Kernel::threads(), 0);
    }
  }
};

/// The tuned kernel of hosts, by order: the same for every host space.
template <Medium medium, class T, int Dim>
HostWork<T> host_work_of(int order) {
  const HostWork<T> table[] = {host_work<medium, T, Dim, 1>(), host_work<medium, T, Dim, 2>(),
                               host_work<medium, T, Dim, 3>(), host_work<medium, T, Dim, 4>(),
                               host_work<medium, T, Dim, 5>(), host_work<medium, T, Dim, 6>(),
                               host_work<medium, T, Dim, 7>(), host_work<medium, T, Dim, 8>()};
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

/// The device's kernels of a medium, by order.
template <Medium medium, class T, int Dim, class Exec>
Launch<T, Exec> device_launch_of(int order) {
  return by_order<T, Exec, DeviceLaunch<medium, T, Dim, Exec>>(order);
}

/// \brief Steps boxes in one medium, of one order, on one kind of space.
template <class T, class Exec>
struct Stepper {
  Medium medium = Medium::isotropic;
  int dim = 0;
  int radius = 0;
  Launch<T, Exec> launch = nullptr;  ///< devices, and the plain kernel anywhere
  HostWork<T> work = nullptr;        ///< hosts

  void operator()(const Exec& exec, const StepArguments<T>& s) const {
    if (launch != nullptr) {
      launch(exec, s);
    } else {
      run_on_host(exec, medium, dim, radius, work, s);
    }
  }
};

template <Medium medium, class T, int Dim, class Exec>
Stepper<T, Exec> stepper_of(int order, bool reference) {
  Stepper<T, Exec> stepper{medium, Dim, order / 2, nullptr, nullptr};
  if (reference) {
    stepper.launch = by_order<T, Exec, ReferenceLaunch<medium, T, Dim, Exec>>(order);
  } else if constexpr (is_host_space<Exec>) {
    stepper.work = host_work_of<medium, T, Dim>(order);
  } else {
    stepper.launch = device_launch_of<medium, T, Dim, Exec>(order);
  }
  return stepper;
}

/// The stepper of a medium and an order known when the program runs.
template <class T, int Dim, class Exec>
Stepper<T, Exec> make_stepper(Medium medium, int order, bool reference) {
  check_order(order);
  switch (medium) {
    case Medium::isotropic:
      return stepper_of<Medium::isotropic, T, Dim, Exec>(order, reference);
    case Medium::variable_density:
      return stepper_of<Medium::variable_density, T, Dim, Exec>(order, reference);
    case Medium::vti:
      return stepper_of<Medium::vti, T, Dim, Exec>(order, reference);
    default:
      return stepper_of<Medium::tti, T, Dim, Exec>(order, reference);
  }
}

}  // namespace moho::wave::detail
