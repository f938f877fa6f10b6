// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model_gravity/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/gravity/forward.hpp>

#include <algorithm>

namespace moho::examples::model_gravity {

namespace detail {

// Host numbers as a view that the space reads: the numbers themselves, or a copy.
template <class View, class Memory, class... Extents>
View to_space(const Instance<Memory>& exec, const std::vector<double>& values, const char* label,
              Extents... extents) {
  if constexpr (is_host_memory<Memory>) {
    (void)exec;
    (void)label;
    return View(values.data(), extents...);
  } else {
    using Copy = Kokkos::View<typename View::non_const_data_type, typename View::array_layout,
                              typename View::memory_space>;
    using Host = Kokkos::View<typename View::const_data_type, typename View::array_layout,
                              Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const Copy there = allocate<Copy>(exec, label, extents...);
    copy(exec, there, Host(values.data(), extents...));
    return there;
  }
}

}  // namespace detail

template <class T, class Memory>
Outcome compute_on(const Instance<Memory>& exec, const Job& job) {
  using Exec = Instance<Memory>;
  Outcome out;
  out.device = device_name(exec);
  out.threads = exec.concurrency();
  const auto stations = job.stations.size() / 3;
  const auto components = job.components.size();
  out.results.assign(components * stations, 0.0);

  gravity::Options options = job.options;
  // Ranks that share a processor share what is free.
  out.budget = memory_budget(exec, options.memory_budget, job.sharing);
  if (options.memory_budget == 0 && job.sharing > 1) options.memory_budget = out.budget;
  // With fewer prisms than ranks this one may have none.
  const bool none = job.regular ? std::all_of(job.densities.begin(), job.densities.end(),
                                              [](double density) { return density == 0.0; })
                                : job.prisms.empty();
  if (none) return out;

  gravity::StationView<Memory> places;
  gravity::PrismView<Memory> prisms;
  gravity::DensityView<Memory> densities;
  gravity::ResultView<Memory> results;
  {
    ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    places =
        detail::to_space<gravity::StationView<Memory>>(exec, job.stations, "stations", stations);
    if (job.regular) {
      densities = detail::to_space<gravity::DensityView<Memory>>(exec, job.densities, "densities",
                                                                 job.densities.size());
    } else {
      prisms = detail::to_space<gravity::PrismView<Memory>>(exec, job.prisms, "prisms",
                                                            job.prisms.size() / 7);
    }
    if constexpr (is_host_memory<Memory>) {
      results = gravity::ResultView<Memory>(out.results.data(), components, stations);
    } else {
      results = allocate<gravity::ResultView<Memory>>(exec, "results", components, stations);
    }
  }
  out.report =
      job.regular
          ? gravity::forward<T>(exec, job.mesh, densities, places, job.components, results, options)
          : gravity::forward<T>(exec, prisms, places, job.components, results, options);
  for (const auto& [phase, seconds] : out.report.times.phases()) {
    const auto colon = phase.rfind(':');
    out.phases.add(colon == std::string::npos ? phase : phase.substr(colon + 1), seconds);
  }
  if constexpr (!is_host_memory<Memory>) {
    ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    using Host = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    copy(exec, Host(out.results.data(), components, stations), results);
  }
  return out;
}

/// Both precisions on one memory.
#define MOHO_MODEL_GRAVITY(Memory)                                                 \
  template Outcome compute_on<float, Memory>(const Instance<Memory>&, const Job&); \
  template Outcome compute_on<double, Memory>(const Instance<Memory>&, const Job&)

}  // namespace moho::examples::model_gravity
