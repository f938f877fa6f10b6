// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model_gravity/compute_on.hpp"

#include <instances/gravity.hpp>

#include <algorithm>

namespace moho::examples::model_gravity {

namespace detail {

// Host numbers as a view that the space reads: the numbers themselves, or a copy.
template <class View, class Exec, class... Extents>
View to_space(const Exec& exec, const std::vector<double>& values, const char* label,
              Extents... extents) {
  if constexpr (is_host_space<Exec>) {
    (void)exec;
    (void)label;
    return View(values.data(), extents...);
  } else {
    using Copy = Kokkos::View<typename View::non_const_data_type, typename View::array_layout,
                              typename View::memory_space>;
    using Host = Kokkos::View<typename View::const_data_type, typename View::array_layout,
                              Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const Copy copy = allocate<Copy>(exec, label, extents...);
    Kokkos::deep_copy(exec, copy, Host(values.data(), extents...));
    return copy;
  }
}

}  // namespace detail

template <class T, class Exec>
Outcome compute_on(const Exec& exec, const Job& job) {
  using gravity::ResultView;
  Outcome out;
  out.device = device_name(exec);
  out.threads = static_cast<int>(exec.concurrency());
  const auto stations = job.stations.size() / 3;
  const auto components = job.components.size();
  out.results.assign(components * stations, 0.0);

  gravity::Options options = job.options;
  // Ranks that share a processor share what is free; a reserve stays for others.
  const std::size_t free_share =
      available_memory(exec) / 20 * 19 / static_cast<std::size_t>(job.sharing);
  out.budget = options.memory_budget > 0 ? options.memory_budget : free_share;
  if (options.memory_budget == 0 && job.sharing > 1) options.memory_budget = free_share;
  // With fewer prisms than ranks this one may have none.
  const bool none = job.regular ? std::all_of(job.densities.begin(), job.densities.end(),
                                              [](double density) { return density == 0.0; })
                                : job.prisms.empty();
  if (none) return out;

  gravity::StationView<Exec> places;
  gravity::PrismView<Exec> prisms;
  gravity::DensityView<Exec> densities;
  ResultView<Exec> results;
  {
    ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    places = detail::to_space<gravity::StationView<Exec>>(exec, job.stations, "stations", stations);
    if (job.regular) {
      densities = detail::to_space<gravity::DensityView<Exec>>(exec, job.densities, "densities",
                                                               job.densities.size());
    } else {
      prisms = detail::to_space<gravity::PrismView<Exec>>(exec, job.prisms, "prisms",
                                                          job.prisms.size() / 7);
    }
    if constexpr (is_host_space<Exec>) {
      results = ResultView<Exec>(out.results.data(), components, stations);
    } else {
      results = allocate<ResultView<Exec>>(exec, "results", components, stations);
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
  if constexpr (!is_host_space<Exec>) {
    ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    using Host = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    Kokkos::deep_copy(exec, Host(out.results.data(), components, stations), results);
  }
  return out;
}

/// Both precisions on one space.
#define MOHO_COMPUTE_ON(Exec)                                        \
  template Outcome compute_on<float, Exec>(const Exec&, const Job&); \
  template Outcome compute_on<double, Exec>(const Exec&, const Job&)

}  // namespace moho::examples::model_gravity
