// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Magnetic anomalies of ensembles of prisms, by Poisson's relation.

#include <moho/gravity/detail/magnetic.hpp>
#include <moho/gravity/forward.hpp>
#include <moho/gravity/magnetic_types.hpp>

namespace moho::gravity {

/// Remanent magnetisations, A/m along x, y and z: a row for each prism. Without rows there are
/// none.
template <class Space>
using RemanenceView =
    Kokkos::View<const double* [3], Kokkos::LayoutRight, typename Space::memory_space>;

namespace detail {

/// Throws InputError for susceptibilities or remanence out of range.
template <class Memory, class Source>
void check_magnetisation(const Instance<Memory>& exec, const Source& source, const double* numbers,
                         std::int64_t stride, const RemanenceView<Memory>& remanence) {
  const std::int64_t offset = stride - 1;
  const std::int64_t bad = find_first(
      "moho::gravity::check_susceptibilities", exec, source.size(),
      IsOutOfRange{numbers, stride, offset, min_susceptibility, max_susceptibility, true});
  if (bad != none_found) {
    refuse_susceptibility(bad, value_at(exec, numbers + stride * bad + offset));
  }
  check_remanence(remanence.extent(0), source.size());
  if (remanence.extent(0) == 0) return;
  check_contiguous(remanence, "remanence");
  const std::int64_t wrong = find_first(
      "moho::gravity::check_remanence", exec, static_cast<std::int64_t>(remanence.size()),
      IsOutOfRange{remanence.data(), 1, 0, -max_magnetisation, max_magnetisation, false});
  if (wrong != none_found) refuse_remanence(wrong, value_at(exec, remanence.data() + wrong));
}

/// Throws InputError for a station inside of a magnetised prism.
template <class Memory, class Source>
void refuse_inner_stations(const Instance<Memory>& exec, const MagneticSource<Source>& source,
                           const StationView<Memory>& stations) {
  IsInMagneticPrism<Source> inside{stations.data(), source, {}, {}};
  const auto bounds = reduce("moho::gravity::bounds", exec, source.size(),
                             BoundPrisms<MagneticSource<Source>>{source});
  for (int n = 0; n < 3; ++n) {
    inside.low[n] = bounds.low[n];
    inside.high[n] = bounds.high[n];
  }
  const std::int64_t found = find_first("moho::gravity::check_inner_stations", exec,
                                        static_cast<std::int64_t>(stations.extent(0)), inside);
  if (found == none_found) return;
  const auto* const at = stations.data() + 3 * found;
  refuse_inner_station(found, value_at(exec, at), value_at(exec, at + 1), value_at(exec, at + 2));
}

/// magnetic_field() of checked prisms.
template <class T, class Memory, class Source>
Report sum_magnetic_of(const Instance<Memory>& exec, const MagneticSource<Source>& source,
                       const StationView<Memory>& stations, const MagneticComponents& components,
                       const AmbientField& ambient, const ResultView<Memory>& results,
                       const Options& options, Report report) {
  Job<T, Memory, MagneticRecord<T>> job;
  job.stations = stations;
  SelectMagnetic select{};
  select.stations = report.stations;
  select.results = results.data();
  select.direction = direction_of(ambient.inclination, ambient.declination);
  for (std::size_t c = 0; c < components.size(); ++c) {
    select.component[c] = static_cast<int>(components[c]);
  }
  {
    const ScopedPhase phase(exec, report.times, "prepare");
    report.prisms = sum_of<std::int64_t>("moho::gravity::count_prisms", exec, source.size(),
                                         CountPrisms<MagneticSource<Source>>{source});
    job.plan.mask = mask_attraction;
    job.plan.count = 3;
    for (int n = 0; n < 3; ++n) {
      job.plan.slot[n] = n;
      job.plan.factor[n] = 200.0;  // 1e9 mu0 / (2 pi)
    }
    job.frame = make_frame<T>(exec, source, job.plan.axis);
    const double fields = 24.0 * static_cast<double>(report.stations);
    const double bytes = fields + static_cast<double>(sizeof(MagneticRecord<T>)) *
                                      static_cast<double>(report.prisms);
    check_budget(bytes, budget_of(options, memory_budget(exec, options.memory_budget), 0),
                 concat(counted(report.prisms, "magnetised prism"), " at ",
                        counted(report.stations, "station")));
    report.memory = static_cast<std::size_t>(bytes);
    job.results = allocate<ResultView<Memory>>(exec, "moho::gravity::field", 3, report.stations);
    job.records = allocate<Kokkos::View<MagneticRecord<T>*, Memory>>(exec, "moho::gravity::records",
                                                                     report.prisms);
    scan<std::int64_t>("moho::gravity::pack_magnetic_prisms", exec, source.size(),
                       PackMagneticPrisms<T, Source>{source, job.frame, job.records.data()});
  }
  const double tolerance =
      options.far_tolerance < 0.0 ? default_far_tolerance<T> : options.far_tolerance;
  const double far = far_distance(mask_gradient, tolerance);
  job.limits = {static_cast<T>(near_distance * near_distance), static_cast<T>(far * far)};
  if (report.prisms == 0) {
    fill(exec, job.results, 0.0);
  } else {
    run_tiles(exec, job, options, report);
  }
  select.field = job.results.data();
  launch("moho::gravity::select_magnetic", exec,
         report.stations * static_cast<std::int64_t>(components.size()), select);
  if (options.progress) {
    exec.fence();
    options.progress(1.0, "summing prisms");
  }
  return report;
}

/// magnetic_field() of prisms given as rows.
template <class T, class Memory>
Report magnetic_rows(const Instance<Memory>& exec, const PrismView<Memory>& prisms,
                     const RemanenceView<Memory>& remanence, const StationView<Memory>& stations,
                     const MagneticComponents& components, const AmbientField& ambient,
                     const ResultView<Memory>& results, const Options& options) {
  check_magnetic(components, ambient, options.strategy, stations.extent(0), results.extent(0),
                 results.extent(1));
  check_contiguous(results, "results");
  check_stations(exec, stations);
  Report report;
  report.stations = static_cast<std::int64_t>(stations.extent(0));
  report.strategy =
      options.strategy == Strategy::by_stations ? Strategy::by_stations : Strategy::tiles;
  const MagneticSource<RowSource> source{
      {prisms.data(), static_cast<std::int64_t>(prisms.extent(0))},
      remanence.extent(0) == 0 ? nullptr : remanence.data(),
      unit_magnetisation(ambient)};
  {
    const ScopedPhase phase(exec, report.times, "check");
    check_magnetisation<Memory>(exec, source, prisms.data(), 7, remanence);
    check_prisms(exec, prisms);
    if (options.check_overlaps) {
      refuse_overlaps(download(exec, prisms).data(), source.size());
    }
    refuse_inner_stations(exec, source, stations);
  }
  return sum_magnetic_of<T>(exec, source, stations, components, ambient, results, options, report);
}

/// magnetic_field() of a mesh.
template <class T, class Memory>
Report magnetic_mesh(const Instance<Memory>& exec, const RegularMesh& mesh,
                     const DensityView<Memory>& susceptibilities,
                     const RemanenceView<Memory>& remanence, const StationView<Memory>& stations,
                     const MagneticComponents& components, const AmbientField& ambient,
                     const ResultView<Memory>& results, const Options& options) {
  check_magnetic(components, ambient, options.strategy, stations.extent(0), results.extent(0),
                 results.extent(1));
  check_contiguous(results, "results");
  check_stations(exec, stations);
  Report report;
  report.stations = static_cast<std::int64_t>(stations.extent(0));
  report.strategy =
      options.strategy == Strategy::by_stations ? Strategy::by_stations : Strategy::tiles;
  const MagneticSource<MeshSource> source{{mesh, susceptibilities.data()},
                                          remanence.extent(0) == 0 ? nullptr : remanence.data(),
                                          unit_magnetisation(ambient)};
  {
    const ScopedPhase phase(exec, report.times, "check");
    check_contiguous(susceptibilities, "susceptibilities");
    check_mesh(mesh, static_cast<std::int64_t>(susceptibilities.extent(0)));
    check_magnetisation<Memory>(exec, source, susceptibilities.data(), 1, remanence);
    refuse_inner_stations(exec, source, stations);
  }
  return sum_magnetic_of<T>(exec, source, stations, components, ambient, results, options, report);
}

}  // namespace detail

/// \brief Computes the magnetic anomaly of prisms with induced and remanent magnetisation.
///
/// The magnetisation of a prism is J = k F / mu0 along the ambient field, plus its remanence; k is
/// its susceptibility, F the intensity. By Poisson's relation B_a = mu0 / (4 pi) sum_b W_ab J_b,
/// with the second derivatives W_ab of the integral of 1/r over the prism: the gradient tensor of
/// forward() without G rho. `total` is the projection of B on the ambient field, which is the
/// total-field anomaly for |B| much smaller than F. Demagnetisation and the prisms' effect on each
/// other are neglected; both matter for susceptibilities above 0.1.
///
/// Source: Blakely, R. J., 1995. Potential Theory in Gravity and Magnetic Applications, chapters 4,
/// 5 and 9.
///
/// \tparam T precision of the prisms' fields, float or double; sums and results are double
/// \param exec an Instance or an instance of a Kokkos execution space; all work is submitted to it
/// \param prisms one row per prism: x1, x2, y1, y2, z1, z2 (m, z down), susceptibility (SI, more
///        than -1, at most 1e5)
/// \param remanence A/m along x, y and z for each prism, at most 1e9; an empty view: zero
/// \param stations one row per station: x, y, z (m, z down), outside of magnetised prisms. On a
///        face the field is its limit from outside
/// \param components requested components, in the order of the rows of the results
/// \param ambient the ambient field: its direction is that of `total` and of the induced
///        magnetisation
/// \param results components x stations, nT. NaN where a component does not exist: on vertices and
///        edges of magnetised prisms
/// \param options strategy (automatic, tiles or by_stations), far field, memory, teams, overlaps,
///        progress; the gravitational constant is not used
/// \returns statistics and times; `prisms` is the number of magnetised prisms
/// \throws InputError for invalid prisms, stations, susceptibilities, remanence or ambient fields,
///         stations inside of magnetised prisms, other strategies; MemoryError
template <class T, class Exec>
Report magnetic_field(const Exec& exec, const PrismView<Exec>& prisms,
                      const RemanenceView<Exec>& remanence, const StationView<Exec>& stations,
                      const MagneticComponents& components, const AmbientField& ambient,
                      const ResultView<Exec>& results, const Options& options = {}) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "magnetic_field() computes in float or double");
  return detail::magnetic_rows<T>(Instance<MemoryOf<Exec>>(exec), prisms, remanence, stations,
                                  components, ambient, results, options);
}

/// \brief Computes the magnetic anomaly of a regular mesh with a susceptibility for each cell.
///
/// A cell without magnetisation has no field. Arguments and errors are those of the list of prisms.
/// \param mesh the box and its division
/// \param susceptibilities SI, x fastest, then y, then z
/// \param remanence A/m along x, y and z for each cell in the same order; an empty view: zero
template <class T, class Exec>
Report magnetic_field(const Exec& exec, const RegularMesh& mesh,
                      const DensityView<Exec>& susceptibilities,
                      const RemanenceView<Exec>& remanence, const StationView<Exec>& stations,
                      const MagneticComponents& components, const AmbientField& ambient,
                      const ResultView<Exec>& results, const Options& options = {}) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "magnetic_field() computes in float or double");
  return detail::magnetic_mesh<T>(Instance<MemoryOf<Exec>>(exec), mesh, susceptibilities, remanence,
                                  stations, components, ambient, results, options);
}

#ifdef MOHO_GRAVITY_KERNELS
MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_FUNCTION, extern template, detail::magnetic_rows)
MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_FUNCTION, extern template, detail::magnetic_mesh)
#endif

}  // namespace moho::gravity
