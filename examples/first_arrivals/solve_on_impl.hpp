// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "first_arrivals/solve_on.hpp"

#include <instances/eikonal.hpp>

namespace moho::examples::first_arrivals {

template <class T, int Dim, class Exec>
Outcome<T> solve_on(const Exec& exec, const Job<T, Dim>& job) {
  Outcome<T> out;
  out.device = device_name(exec);
  using HostList =
      Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using List =
      Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto count = static_cast<std::size_t>(job.each ? job.sources.size() : 1);
  const auto nodes = static_cast<std::size_t>(job.grid.size());
  eikonal::Medium<T, Dim, Exec> medium;
  {
    const ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    const auto send = [&](const std::vector<T>& values, Field<T, Dim, Exec>& field) {
      if (values.empty()) return;
      field = make_field<T>(exec, job.grid, "parameter");
      Kokkos::deep_copy(exec, List(field.data(), nodes), HostList(values.data(), nodes));
    };
    send(job.velocity, medium.velocity);
    send(job.epsilon, medium.epsilon);
    send(job.delta, medium.delta);
  }
  const auto bring = [&](T* data) {
    const ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    out.times.resize(count * nodes);
    Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
        out.times.data(), count * nodes);
    Kokkos::deep_copy(exec, host, List(data, count * nodes));
    exec.fence();
  };
  if (job.each) {
    const auto times =
        make_field_per_source<T>(exec, static_cast<std::int64_t>(count), job.grid, "times");
    {
      const ScopedPhase<Exec> phase(exec, out.phases, "solve");
      out.report = eikonal::solve_each<T, Dim, Exec>(exec, job.grid, medium, job.sources, times,
                                                     job.options);
    }
    bring(times.data());
    return out;
  }
  const auto times = make_field<T>(exec, job.grid, "times");
  {
    const ScopedPhase<Exec> phase(exec, out.phases, "solve");
    if constexpr (is_host_space<Exec>) {
      if (job.solver == Solver::fast_marching) {
        out.report = eikonal::fast_marching<T, Dim, Exec>(exec, job.grid, medium, job.sources,
                                                          times, job.options);
      }
    }
    if (job.solver != Solver::fast_marching) {
      out.report =
          eikonal::solve<T, Dim, Exec>(exec, job.grid, medium, job.sources, times, job.options);
    }
  }
  bring(times.data());
  return out;
}

/// The four kinds of call on one space.
#define MOHO_FIRST_ARRIVALS_ON(Exec)                                                      \
  template Outcome<float> solve_on<float, 2, Exec>(const Exec&, const Job<float, 2>&);    \
  template Outcome<float> solve_on<float, 3, Exec>(const Exec&, const Job<float, 3>&);    \
  template Outcome<double> solve_on<double, 2, Exec>(const Exec&, const Job<double, 2>&); \
  template Outcome<double> solve_on<double, 3, Exec>(const Exec&, const Job<double, 3>&)

}  // namespace moho::examples::first_arrivals
