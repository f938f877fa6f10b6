// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "first_arrivals/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/eikonal/fast_marching.hpp>
#include <moho/eikonal/solve.hpp>

namespace moho::examples::first_arrivals {

namespace detail {

template <class View, int Dim>
View wrap(typename View::value_type* data, const Grid<Dim>& grid) {
  if constexpr (Dim == 2) {
    return View(data, grid.extents[0], grid.extents[1]);
  } else {
    return View(data, grid.extents[0], grid.extents[1], grid.extents[2]);
  }
}

template <class View, int Dim>
View wrap(typename View::value_type* data, std::int64_t sources, const Grid<Dim>& grid) {
  if constexpr (Dim == 2) {
    return View(data, sources, grid.extents[0], grid.extents[1]);
  } else {
    return View(data, sources, grid.extents[0], grid.extents[1], grid.extents[2]);
  }
}

}  // namespace detail

template <class T, int Dim, class Memory>
Outcome<T> compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job) {
  Outcome<T> out;
  out.device = device_name(exec);
  using Exec = Instance<Memory>;
  using List = Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto count = static_cast<std::size_t>(job.each ? job.sources.size() : 1);
  constexpr bool host = is_host_memory<Memory>;
  const auto nodes = static_cast<std::size_t>(job.grid.size());
  eikonal::Model<T, Dim, Memory> model;
  {
    const ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    const auto send = [&](const std::vector<T>& values, Field<T, Dim, Memory>& field) {
      if (values.empty()) return;
      if constexpr (host) {
        field = detail::wrap<Field<T, Dim, Memory>>(const_cast<T*>(values.data()), job.grid);
      } else {
        field = make_field<T>(exec, job.grid, "parameter");
        copy(exec, List(field.data(), nodes), HostElements<const T>(values.data(), nodes));
      }
    };
    send(job.velocity, model.velocity);
    send(job.epsilon, model.epsilon);
    send(job.delta, model.delta);
    // without --delta the medium is elliptical
    if (job.delta.empty()) model.delta = model.epsilon;
  }
  out.times.resize(count * nodes);
  const auto bring = [&](T* data) {
    if constexpr (!host) {
      const ScopedPhase<Exec> phase(exec, out.phases, "transfer");
      copy(exec, HostElements<T>(out.times.data(), count * nodes), List(data, count * nodes));
    }
    (void)data;
  };
  if (job.each) {
    FieldPerSource<T, Dim, Memory> times;
    if constexpr (host) {
      times = detail::wrap<FieldPerSource<T, Dim, Memory>>(
          out.times.data(), static_cast<std::int64_t>(count), job.grid);
    } else {
      times = make_field_per_source<T>(exec, static_cast<std::int64_t>(count), job.grid, "times");
    }
    {
      const ScopedPhase<Exec> phase(exec, out.phases, "solve");
      out.report = eikonal::solve_each(exec, job.grid, model, job.sources, times, job.options);
    }
    bring(times.data());
    return out;
  }
  Field<T, Dim, Memory> times;
  if constexpr (host) {
    times = detail::wrap<Field<T, Dim, Memory>>(out.times.data(), job.grid);
  } else {
    times = make_field<T>(exec, job.grid, "times");
  }
  {
    const ScopedPhase<Exec> phase(exec, out.phases, "solve");
    if constexpr (is_host_memory<Memory>) {
      if (job.solver == Solver::fast_marching) {
        out.report = eikonal::fast_marching(exec, job.grid, model, job.sources, times, job.options);
      }
    }
    if (job.solver != Solver::fast_marching) {
      out.report = eikonal::solve(exec, job.grid, model, job.sources, times, job.options);
    }
  }
  bring(times.data());
  return out;
}

/// The four kinds of call on one memory.
#define MOHO_FIRST_ARRIVALS(Memory)                                               \
  template Outcome<float> compute_on<float, 2, Memory>(const Instance<Memory>&,   \
                                                       const Job<float, 2>&);     \
  template Outcome<float> compute_on<float, 3, Memory>(const Instance<Memory>&,   \
                                                       const Job<float, 3>&);     \
  template Outcome<double> compute_on<double, 2, Memory>(const Instance<Memory>&, \
                                                         const Job<double, 2>&);  \
  template Outcome<double> compute_on<double, 3, Memory>(const Instance<Memory>&, \
                                                         const Job<double, 3>&)

}  // namespace moho::examples::first_arrivals
