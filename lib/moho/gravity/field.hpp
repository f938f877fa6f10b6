// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The field of prisms on the host at stations on the host.

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/gravity/forward.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace moho::gravity {

/// Input of compute_field(), on the host.
struct FieldJob {
  bool regular = false;           ///< cells of a mesh; false: a list of prisms
  RegularMesh mesh;               ///< regular
  std::vector<double> densities;  ///< regular: kg/m^3 of all cells, 0 for cells of other processes
  std::vector<double> prisms;     ///< not regular: rows of x1, x2, y1, y2, z1, z2, density
  std::vector<double> stations;   ///< rows of x, y, z, m
  Components components;          ///< which are computed
  Options options;                ///< strategy, memory, progress
  int sharing = 1;                ///< processes that share the memory of the space
};

/// What compute_field() returns.
struct FieldResult {
  std::vector<double> results;  ///< a row for each component, a column for each station
  Report report;                ///< of forward()
  PhaseTimes phases;            ///< "transfer", "check", "prepare", "sum", "reduce"
  std::string device;           ///< name of the processor
  int threads = 1;              ///< concurrency of the instance
  std::size_t budget = 0;       ///< bytes allowed in the space
};

namespace detail {

/// Host numbers as a view that the space reads: the numbers themselves, or a copy.
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

/// \brief Computes the field of prisms at stations, with T as in forward().
///
/// Without prisms, or with densities that are all zero, results are zero and nothing runs.
/// \param exec where everything runs; it is waited for
/// \param job prisms, stations, components and options
/// \throws InputError as forward(), MemoryError if the space does not hold what the strategy needs
template <class T, class Memory>
FieldResult compute_field(const Instance<Memory>& exec, const FieldJob& job) {
  using Exec = Instance<Memory>;
  FieldResult out;
  out.device = device_name(exec);
  out.threads = exec.concurrency();
  const auto stations = job.stations.size() / 3;
  const auto components = job.components.size();
  out.results.assign(components * stations, 0.0);

  Options options = job.options;
  // Ranks that share a processor share what is free.
  out.budget = memory_budget(exec, options.memory_budget, job.sharing);
  if (options.memory_budget == 0 && job.sharing > 1) options.memory_budget = out.budget;
  // With fewer prisms than ranks this one may have none.
  const bool none = job.regular ? std::all_of(job.densities.begin(), job.densities.end(),
                                              [](double density) { return density == 0.0; })
                                : job.prisms.empty();
  if (none) return out;

  StationView<Memory> places;
  PrismView<Memory> prisms;
  DensityView<Memory> densities;
  ResultView<Memory> results;
  {
    ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    places = detail::to_space<StationView<Memory>>(exec, job.stations, "stations", stations);
    if (job.regular) {
      densities = detail::to_space<DensityView<Memory>>(exec, job.densities, "densities",
                                                        job.densities.size());
    } else {
      prisms =
          detail::to_space<PrismView<Memory>>(exec, job.prisms, "prisms", job.prisms.size() / 7);
    }
    if constexpr (is_host_memory<Memory>) {
      results = ResultView<Memory>(out.results.data(), components, stations);
    } else {
      results = allocate<ResultView<Memory>>(exec, "results", components, stations);
    }
  }
  out.report = job.regular
                   ? forward<T>(exec, job.mesh, densities, places, job.components, results, options)
                   : forward<T>(exec, prisms, places, job.components, results, options);
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

}  // namespace moho::gravity
