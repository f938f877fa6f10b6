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
#include <optional>
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
  /// Processes that share the memory of the space; 0: those of memory_sharing().
  int sharing = 0;
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

/// Direct sums of a job's prisms at stations on the host.
/// \param options instead of the job's \param results components x stations, on the host
/// \param phases receives "transfer" and the phases of forward()
template <class T, class Memory>
Report sum_directly(const Instance<Memory>& exec, const FieldJob& job,
                    const std::vector<double>& stations, const Options& options,
                    std::vector<double>& results, PhaseTimes& phases) {
  using Exec = Instance<Memory>;
  const std::size_t count = stations.size() / 3, components = job.components.size();
  StationView<Memory> positions;
  PrismView<Memory> prisms;
  DensityView<Memory> densities;
  ResultView<Memory> sums;
  {
    ScopedPhase<Exec> phase(exec, phases, "transfer");
    positions = to_space<StationView<Memory>>(exec, stations, "stations", count);
    if (job.regular) {
      densities =
          to_space<DensityView<Memory>>(exec, job.densities, "densities", job.densities.size());
    } else {
      prisms = to_space<PrismView<Memory>>(exec, job.prisms, "prisms", job.prisms.size() / 7);
    }
    if constexpr (is_host_memory<Memory>) {
      sums = ResultView<Memory>(results.data(), components, count);
    } else {
      sums = allocate<ResultView<Memory>>(exec, "results", components, count);
    }
  }
  Report report =
      job.regular ? forward<T>(exec, job.mesh, densities, positions, job.components, sums, options)
                  : forward<T>(exec, prisms, positions, job.components, sums, options);
  for (const auto& [phase, seconds] : report.times.phases()) {
    const auto colon = phase.rfind(':');
    phases.add(colon == std::string::npos ? phase : phase.substr(colon + 1), seconds);
  }
  if constexpr (!is_host_memory<Memory>) {
    ScopedPhase<Exec> phase(exec, phases, "transfer");
    using Host = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    copy(exec, Host(results.data(), components, count), sums);
    exec.fence();
  }
  return report;
}

/// Returns true if a job has no prisms, or densities that are all zero.
inline bool is_without_mass(const FieldJob& job) {
  return job.regular ? std::all_of(job.densities.begin(), job.densities.end(),
                                   [](double density) { return density == 0.0; })
                     : job.prisms.empty();
}

}  // namespace detail

/// \brief Returns the largest difference of results from direct sums at some stations; -1 without
/// memory. \param memory receives the bytes of the sums, if they are more; or null
template <class Memory>
double difference_from_sums(const Instance<Memory>& exec, const FieldJob& job,
                            const std::vector<double>& results, std::size_t* memory = nullptr) {
  const std::size_t stations = job.stations.size() / 3;
  const std::vector<std::size_t> chosen = spread_stations(stations, 12);
  const std::vector<double> positions = stations_at(job.stations, chosen);
  Options options = job.options;
  options.strategy = Strategy::tiles;
  options.progress = [&exec](double, const std::string&) { exec.check_stop(); };
  if (options.memory_budget == 0 && job.sharing > 1) {
    options.memory_budget = memory_budget(exec, 0, job.sharing);
  }
  std::vector<double> sums(job.components.size() * chosen.size(), 0.0);
  try {
    PhaseTimes phases;
    if (!detail::is_without_mass(job)) {
      const Report report =
          detail::sum_directly<double>(exec, job, positions, options, sums, phases);
      if (memory != nullptr) *memory = std::max(*memory, report.memory);
    }
    return largest_difference(results, sums, chosen, job.components.size());
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
  field.reset();
  {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "check");
    out.report.difference = difference_from_sums(exec, job, out.results, &out.report.memory);
  }
  if (options.progress) options.progress(1.0, "Fourier transforms");
}

/// Computes the product of an operator with densities on the host.
/// \param results components x stations, on the host
template <class Memory>
void apply_to_host(const Instance<Memory>& exec, FmmOperator<Memory>& field,
                   const std::vector<double>& densities, std::vector<double>& results) {
  const auto device_densities =
      to_space<DensityView<Memory>>(exec, densities, "densities", densities.size());
  const std::size_t components = field.components().size();
  const auto stations = static_cast<std::size_t>(field.stations());
  if constexpr (is_host_memory<Memory>) {
    field.apply(exec, device_densities, ResultView<Memory>(results.data(), components, stations));
    exec.fence();
  } else {
    const auto sums = allocate<ResultView<Memory>>(exec, "results", components, stations);
    field.apply(exec, device_densities, sums);
    using Host = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    copy(exec, Host(results.data(), components, stations), sums);
    exec.fence();
  }
}

/// compute_field() by Strategy::fmm. \returns false if direct sums need less work and
/// `only_if_cheaper`
template <class Memory>
bool compute_by_fmm(const Instance<Memory>& exec, const FieldJob& job, const Options& options,
                    bool only_if_cheaper, FieldResult& out) {
  const auto masses = job.regular ? std::count_if(job.densities.begin(), job.densities.end(),
                                                  [](double density) { return density != 0.0; })
                                  : static_cast<std::ptrdiff_t>(job.prisms.size() / 7);
  const auto stations = static_cast<std::int64_t>(job.stations.size() / 3);
  // densities and, of a mesh or on devices, rows
  const bool copies = job.regular || !is_host_memory<Memory>;
  const double held = (copies ? 64.0 : 8.0) * static_cast<double>(masses);
  check_budget(held, budget_of(options, memory_budget(exec, options.memory_budget), 0),
               fmm_name(masses, stations));
  FmmOptions of;
  of.constant = options.constant;
  of.tolerance = options.tolerance;
  of.far_tolerance = options.far_tolerance;
  of.memory_budget = options.memory_budget;
  if (of.memory_budget > 0) {
    of.memory_budget = std::max<std::size_t>(of.memory_budget - static_cast<std::size_t>(held), 1);
  }
  of.part = options.part;
  of.parts = options.parts;
  std::vector<double> of_mesh, densities;
  if (job.regular) of_mesh = mesh_prisms(job.mesh, job.densities);
  const std::vector<double>& rows = job.regular ? of_mesh : job.prisms;
  densities.reserve(static_cast<std::size_t>(masses));
  for (std::size_t k = 6; k < rows.size(); k += 7) densities.push_back(rows[k]);
  if (options.check_overlaps && !job.regular) refuse_overlaps(rows.data(), masses);
  if (options.progress) options.progress(0.0, "trees of prisms and stations");
  std::optional<FmmOperator<Memory>> field;
  {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "prepare");
    field.emplace(
        exec, to_space<PrismView<Memory>>(exec, rows, "prisms", densities.size()),
        to_space<StationView<Memory>>(exec, job.stations, "stations", job.stations.size() / 3),
        job.components, of);
  }
  out.report.memory = static_cast<std::size_t>(held) + field->max_bytes();
  const double pairs = static_cast<double>(masses) * static_cast<double>(stations);
  if (only_if_cheaper && !(field->report().work < pairs)) return false;
  out.report.strategy = Strategy::fmm;
  out.report.stations = stations;
  out.report.prisms = std::count_if(densities.begin(), densities.end(),
                                    [](double density) { return density != 0.0; });
  {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "sum");
    apply_to_host(exec, *field, densities, out.results);
  }
  field.reset();
  of_mesh = {};
  if (options.parts == 1) {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "check");
    out.report.difference = difference_from_sums(exec, job, out.results, &out.report.memory);
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
  if (detail::is_without_mass(job)) return out;

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
  const std::size_t tried = out.report.memory;
  out.report = detail::sum_directly<T>(exec, job, job.stations, options, out.results, out.phases);
  out.report.memory = std::max(out.report.memory, tried);
  return out;
}

}  // namespace moho::gravity
