// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Magnetic anomalies of prisms on the host at stations on the host.

#include <moho/gravity/field.hpp>
#include <moho/gravity/inspect.hpp>
#include <moho/gravity/lattice.hpp>
#include <moho/gravity/magnetic.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace moho::gravity {

/// \brief Input of compute_magnetic_field(), on the host.
///
/// `densities` and the seventh column of `prisms` are susceptibilities. `components` and
/// `options.constant` are not used.
struct MagneticJob : FieldJob {
  MagneticComponents magnetic_components;  ///< which are computed
  AmbientField ambient;                    ///< of the induced magnetisation and of `total`
  std::vector<double> remanence;           ///< A/m along x, y, z for each cell or prism; or empty
};

/// \brief Returns |J| of each cell or prism, A/m.
/// \param ensemble cells or prisms with susceptibilities as densities
/// \param remanence A/m along x, y, z for each cell or prism; or empty
/// \param ambient the ambient field
std::vector<double> magnetisation_strengths(const HostEnsemble& ensemble,
                                            std::span<const double> remanence,
                                            const AmbientField& ambient);

/// \brief Returns a remanence that all prisms have: rows of A/m along x, y and z.
///
/// Cells of a mesh with a susceptibility of 0 have none.
/// \param ensemble cells or prisms with susceptibilities as densities
/// \param strength A/m
/// \param inclination,declination of the remanence, degrees as in AmbientField
std::vector<double> uniform_remanence(const HostEnsemble& ensemble, double strength,
                                      double inclination, double declination);

/// Checks that a remanence has finite numbers.
/// \param name name of the remanence, for messages
/// \param rows A/m along x, y and z
/// \throws InputError with the number of the row, from 1
void check_remanence(const std::string& name, std::span<const double> rows);

/// \brief Returns remarks on an ambient field far from the Earth's, and on susceptibilities whose
/// demagnetisation matters. \param ensemble cells or prisms with susceptibilities as densities
std::vector<std::string> magnetic_remarks(const AmbientField& ambient,
                                          const HostEnsemble& ensemble);

/// \brief Checks the input of compute_magnetic_field() on the host.
/// \param ensemble cells or prisms with susceptibilities as densities
/// \param remanence A/m along x, y, z for each cell or prism; or empty
/// \param stations rows x, y, z, m
/// \param ambient the ambient field
/// \throws InputError for invalid prisms, susceptibilities, remanence or ambient fields, and for
///         stations inside of magnetised prisms
void check_magnetic_input(const HostEnsemble& ensemble, std::span<const double> remanence,
                          std::span<const double> stations, const AmbientField& ambient);

namespace detail {

/// Returns the magnetisation of all cells along an axis, A/m.
std::vector<double> magnetisation_along(const MagneticJob& job, int axis);
/// Returns the number of cells or prisms that are magnetised.
std::int64_t count_magnetised(const MagneticJob& job);
/// Adds mu0 / (4 pi) W_ab J_b for an axis b, nT, to the fields along x, y and z. `gradient`: rows
/// of gxx, gyy, gzz, gxy, gxz, gyz for a constant of 1e-7.
void add_gradient(const std::vector<double>& gradient, int b, std::vector<double>& fields);
/// Returns requested components of the fields along x, y and z.
std::vector<double> select_magnetic(const MagneticJob& job, const std::vector<double>& fields);

/// compute_magnetic_field() by Strategy::lattice: three products with the gradient.
template <class Memory>
void magnetic_on_lattice(const Instance<Memory>& exec, const MagneticJob& job,
                         const Options& options, FieldResult& out) {
  const std::size_t stations = job.stations.size() / 3;
  check_magnetic(job.magnetic_components, job.ambient, Strategy::automatic, stations,
                 job.magnetic_components.size(), stations);
  check_magnetic_input({&job.mesh, job.densities}, job.remanence, job.stations, job.ambient);
  const Components gradient{Component::gxx, Component::gyy, Component::gzz,
                            Component::gxy, Component::gxz, Component::gyz};
  // the magnetisation along an axis, fields along all, a product of six components
  const double held =
      8.0 * (static_cast<double>(job.mesh.size()) + 9.0 * static_cast<double>(stations));
  OperatorOptions of{1e-7, options.far_tolerance, options.memory_budget};
  if (is_host_memory<Memory> && of.memory_budget > 0) {
    check_budget(held, static_cast<double>(of.memory_budget), counted(job.mesh.size(), "prism"));
    of.memory_budget = std::max<std::size_t>(of.memory_budget - static_cast<std::size_t>(held), 1);
  }
  out.report.strategy = Strategy::lattice;
  out.report.stations = static_cast<std::int64_t>(stations);
  if (options.progress) options.progress(0.0, "spectra of the layers");
  std::unique_ptr<LatticeOperator<Memory>> field;
  {
    ScopedPhase<Instance<Memory>> phase(exec, out.phases, "prepare");
    field = std::make_unique<LatticeOperator<Memory>>(exec, job.mesh, job.stations, gradient, of);
  }
  out.report.memory =
      field->bytes() + (is_host_memory<Memory> ? static_cast<std::size_t>(held) : 0);
  ScopedPhase<Instance<Memory>> phase(exec, out.phases, "sum");
  std::vector<double> fields(3 * stations, 0.0), product;
  for (int b = 0; b < 3; ++b) {
    field->apply(magnetisation_along(job, b), product);
    add_gradient(product, b, fields);
    if (options.progress) options.progress((1.0 + b) / 3.0, "Fourier transforms");
  }
  out.results = select_magnetic(job, fields);
}

}  // namespace detail

/// \brief Computes the magnetic anomaly of prisms at stations, with T as in magnetic_field().
///
/// Without magnetised prisms results are zero. Strategy::lattice serves regular meshes and stations
/// on their lattice, in double precision.
/// \param exec where everything runs; it is waited for
/// \param job prisms, stations, components, ambient field and options
/// \throws InputError as magnetic_field(), and for incomplete rows, MemoryError if the space does
/// not hold what is needed
template <class T, class Memory>
FieldResult compute_magnetic_field(const Instance<Memory>& exec, const MagneticJob& job) {
  using Exec = Instance<Memory>;
  FieldResult out;
  out.device = device_name(exec);
  out.threads = exec.concurrency();
  const auto stations = detail::row_count("stations", job.stations, 3);
  if (!job.regular) detail::row_count("prisms", job.prisms, 7);
  detail::row_count("remanence", job.remanence, 3);
  const auto components = job.magnetic_components.size();
  out.results.assign(components * stations, 0.0);
  Options options = job.options;
  out.budget = memory_budget(exec, options.memory_budget, job.sharing);
  if (options.memory_budget == 0 && job.sharing > 1) options.memory_budget = out.budget;
  if (detail::count_magnetised(job) == 0) return out;

  if (options.strategy == Strategy::lattice) {
    if (!job.regular || !std::is_same_v<T, double>) {
      throw InputError(
          "strategy: lattice is for regular meshes in double precision: take tiles, or a mesh and "
          "double");
    }
    detail::magnetic_on_lattice(exec, job, options, out);
    out.report.prisms = detail::count_magnetised(job);
    return out;
  }
  StationView<Memory> positions;
  PrismView<Memory> prisms;
  DensityView<Memory> susceptibilities;
  RemanenceView<Memory> remanence;
  ResultView<Memory> results;
  {
    ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    positions = detail::to_space<StationView<Memory>>(exec, job.stations, "stations", stations);
    if (job.regular) {
      susceptibilities = detail::to_space<DensityView<Memory>>(
          exec, job.densities, "susceptibilities", job.densities.size());
    } else {
      prisms =
          detail::to_space<PrismView<Memory>>(exec, job.prisms, "prisms", job.prisms.size() / 7);
    }
    if (!job.remanence.empty()) {
      remanence = detail::to_space<RemanenceView<Memory>>(exec, job.remanence, "remanence",
                                                          job.remanence.size() / 3);
    }
    if constexpr (is_host_memory<Memory>) {
      results = ResultView<Memory>(out.results.data(), components, stations);
    } else {
      results = allocate<ResultView<Memory>>(exec, "results", components, stations);
    }
  }
  out.report = job.regular
                   ? magnetic_field<T>(exec, job.mesh, susceptibilities, remanence, positions,
                                       job.magnetic_components, job.ambient, results, options)
                   : magnetic_field<T>(exec, prisms, remanence, positions, job.magnetic_components,
                                       job.ambient, results, options);
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
