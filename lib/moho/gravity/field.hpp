// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The field of prisms on the host at stations on the host.

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/gravity/detail/to_space.hpp>
#include <moho/gravity/fmm.hpp>
#include <moho/gravity/forward.hpp>
#include <moho/gravity/lattice.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
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

template <class T, class Memory>
FieldResult compute_field(const Instance<Memory>& exec, const FieldJob& job);

/// Returns the largest difference of results from direct sums at some stations; -1 without memory.
template <class Memory>
double difference_from_sums(const Instance<Memory>& exec, const FieldJob& job,
                            const std::vector<double>& results) {
  const std::size_t stations = job.stations.size() / 3;
  const std::vector<std::size_t> chosen = spread_stations(stations, 12);
  FieldJob some = job;
  some.stations = stations_at(job.stations, chosen);
  some.options.strategy = Strategy::tiles;
  some.options.progress = [&exec](double, const std::string&) { exec.check_stop(); };
  try {
    return largest_difference(results, compute_field<double>(exec, some).results, chosen,
                              job.components.size());
  } catch (const MemoryError&) {
    return -1.0;
  }
}

namespace detail {

/// compute_field() by Strategy::lattice.
template <class Memory>
void compute_on_lattice(const Instance<Memory>& exec, const FieldJob& job, const Options& options,
                        FieldResult& out) {
  if (!job.regular) {
    throw InputError(
        "strategy: lattice is for regular meshes (this ensemble is a list of prisms): take tiles");
  }
  const OperatorOptions of{options.constant, options.far_tolerance, options.memory_budget};
  out.report.strategy = Strategy::lattice;
  out.report.stations = static_cast<std::int64_t>(job.stations.size() / 3);
  out.report.prisms = static_cast<std::int64_t>(std::count_if(
      job.densities.begin(), job.densities.end(), [](double density) { return density != 0.0; }));
  if (options.progress) options.progress(0.0, "spectra of the layers");
  std::unique_ptr<LatticeOperator<Memory>> field;
  {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "prepare");
    field =
        std::make_unique<LatticeOperator<Memory>>(exec, job.mesh, job.stations, job.components, of);
  }
  out.report.memory = field->bytes();
  {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "sum");
    field->apply(job.densities, out.results);
  }
  {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "check");
    out.report.difference = difference_from_sums(exec, job, out.results);
  }
  if (options.progress) options.progress(1.0, "Fourier transforms");
}

/// Returns the prisms with mass of a job.
inline std::vector<double> rows_of(const FieldJob& job) {
  return job.regular ? mesh_prisms(job.mesh, job.densities) : job.prisms;
}

/// compute_field() by Strategy::fmm. \returns false if direct sums need less work and
/// `only_if_cheaper`
template <class Memory>
bool compute_by_fmm(const Instance<Memory>& exec, const FieldJob& job, const Options& options,
                    bool only_if_cheaper, FieldResult& out) {
  const std::vector<double> rows = rows_of(job);
  std::vector<double> densities;
  for (std::size_t k = 6; k < rows.size(); k += 7) densities.push_back(rows[k]);
  FmmOptions of;
  of.constant = options.constant;
  of.tolerance = options.tolerance;
  of.far_tolerance = options.far_tolerance;
  of.memory_budget = options.memory_budget;
  of.part = options.part;
  of.parts = options.parts;
  if (options.check_overlaps && !job.regular) {
    refuse_overlaps(rows.data(), static_cast<std::int64_t>(densities.size()));
  }
  if (options.progress) options.progress(0.0, "trees of prisms and stations");
  std::unique_ptr<FmmFieldOperator<Memory>> field;
  {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "prepare");
    field =
        std::make_unique<FmmFieldOperator<Memory>>(exec, rows, job.stations, job.components, of);
  }
  const double pairs =
      static_cast<double>(densities.size()) * static_cast<double>(job.stations.size() / 3);
  if (only_if_cheaper && !(field->field().report().work < pairs)) return false;
  out.report.strategy = Strategy::fmm;
  out.report.stations = static_cast<std::int64_t>(job.stations.size() / 3);
  out.report.prisms = static_cast<std::int64_t>(std::count_if(
      densities.begin(), densities.end(), [](double density) { return density != 0.0; }));
  out.report.memory = field->bytes();
  {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "sum");
    field->apply(densities, out.results);
  }
  if (options.parts == 1) {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "check");
    out.report.difference = difference_from_sums(exec, job, out.results);
  }
  if (options.progress) options.progress(1.0, "fast multipole method");
  return true;
}

/// Returns true if the automatic strategy of a job is to be compared with fmm.
template <class Memory>
bool may_take_fmm(const Instance<Memory>& exec, const FieldJob& job) {
  if (!job.regular) {
    return fmm_pays(static_cast<std::int64_t>(job.prisms.size() / 7),
                    static_cast<std::int64_t>(job.stations.size() / 3), job.components,
                    is_host_memory<Memory>);
  }
  const auto masses = std::count_if(job.densities.begin(), job.densities.end(),
                                    [](double density) { return density != 0.0; });
  if (!fmm_pays(static_cast<std::int64_t>(masses),
                static_cast<std::int64_t>(job.stations.size() / 3), job.components,
                is_host_memory<Memory>)) {
    return false;
  }
  return strategy_of<double>(
             exec, job.mesh,
             to_space<DensityView<Memory>>(exec, job.densities, "densities", job.densities.size()),
             to_space<StationView<Memory>>(exec, job.stations, "stations",
                                           job.stations.size() / 3)) == Strategy::tiles;
}

}  // namespace detail

/// \brief Computes the field of prisms at stations, with T as in forward().
///
/// Without prisms, or with densities that are all zero, results are zero and nothing runs. In
/// double the automatic strategy takes fmm where that costs less than the direct sums. \param exec
/// where everything runs; it is waited for \param job prisms, stations, components and options
/// \throws InputError as forward(), and for incomplete rows, MemoryError if the space does not hold
/// what the strategy needs
template <class T, class Memory>
FieldResult compute_field(const Instance<Memory>& exec, const FieldJob& job) {
  using Exec = Instance<Memory>;
  FieldResult out;
  out.device = device_name(exec);
  out.threads = exec.concurrency();
  const auto stations = detail::row_count("stations", job.stations, 3);
  const auto components = job.components.size();
  if (!job.regular) detail::row_count("prisms", job.prisms, 7);
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

  if (options.strategy == Strategy::lattice) {
    if constexpr (std::is_same_v<T, double>) {
      detail::compute_on_lattice(exec, job, options, out);
      return out;
    } else {
      throw InputError("strategy: lattice works in double precision: take double, or tiles");
    }
  }
  if (options.strategy == Strategy::fmm) {
    if constexpr (std::is_same_v<T, double>) {
      detail::compute_by_fmm(exec, job, options, false, out);
      return out;
    } else {
      throw InputError("strategy: fmm works in double precision: take double, or tiles");
    }
  }
  if constexpr (std::is_same_v<T, double>) {
    if (options.strategy == Strategy::automatic && detail::may_take_fmm(exec, job)) {
      try {
        if (detail::compute_by_fmm(exec, job, options, true, out)) return out;
      } catch (const MemoryError&) {
        // direct sums need less memory
      }
    }
  }
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
