// SPDX-License-Identifier: BSD-3-Clause

#include <moho/gravity/magnetic_job.hpp>

#include <cmath>

namespace moho::gravity {

namespace {

// Calls f(k, J) for the magnetisation J of each cell or prism.
template <class Function>
void for_each_magnetisation(const HostEnsemble& ensemble, std::span<const double> remanence,
                            const AmbientField& ambient, const Function& f) {
  const Kokkos::Array<double, 3> induced = unit_magnetisation(ambient);
  for (std::int64_t k = 0; k < ensemble.size(); ++k) {
    Kokkos::Array<double, 3> vector{};
    for (int n = 0; n < 3; ++n) {
      vector[n] = ensemble.density(k) * induced[n];
      const auto at = static_cast<std::size_t>(3 * k + n);
      if (at < remanence.size()) vector[n] += remanence[at];
    }
    f(static_cast<std::size_t>(k), vector);
  }
}

HostEnsemble ensemble_of(const MagneticJob& job) {
  return {job.regular ? &job.mesh : nullptr, job.regular ? job.densities : job.prisms};
}

}  // namespace

std::vector<double> magnetisation_strengths(const HostEnsemble& ensemble,
                                            std::span<const double> remanence,
                                            const AmbientField& ambient) {
  std::vector<double> strengths(static_cast<std::size_t>(ensemble.size()));
  for_each_magnetisation(ensemble, remanence, ambient,
                         [&](std::size_t k, const Kokkos::Array<double, 3>& v) {
                           strengths[k] = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
                         });
  return strengths;
}

std::vector<double> uniform_remanence(const HostEnsemble& ensemble, double strength,
                                      double inclination, double declination) {
  const Kokkos::Array<double, 3> direction = direction_of(inclination, declination);
  std::vector<double> rows(static_cast<std::size_t>(3 * ensemble.size()), 0.0);
  for (std::int64_t k = 0; k < ensemble.size(); ++k) {
    if (ensemble.mesh != nullptr && ensemble.density(k) == 0.0) continue;
    for (int n = 0; n < 3; ++n) rows[static_cast<std::size_t>(3 * k + n)] = strength * direction[n];
  }
  return rows;
}

void check_remanence(const std::string& name, std::span<const double> rows) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (std::isfinite(rows[k])) continue;
    throw InputError(concat(name, ": row ", k / 3 + 1, ": m", "xyz"[k % 3], " is ", rows[k],
                            " (allowed: finite numbers, in A/m): mend the file"));
  }
}

std::vector<std::string> magnetic_remarks(const AmbientField& ambient,
                                          const HostEnsemble& ensemble) {
  std::vector<std::string> remarks;
  if (ambient.intensity < 1e4 || ambient.intensity > 1e5) {
    remarks.emplace_back("the Earth's field has 20,000 to 70,000 nT: the unit of a field is nT");
  }
  if (count_masses(ensemble).highest > 0.1) {
    remarks.emplace_back(
        "susceptibilities above 0.1: demagnetisation, which is neglected, matters");
  }
  return remarks;
}

void check_magnetic_input(const HostEnsemble& ensemble, std::span<const double> remanence,
                          std::span<const double> stations, const AmbientField& ambient) {
  using Host = Kokkos::HostSpace;
  const Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const StationView<Host> positions(stations.data(), stations.size() / 3);
  const RemanenceView<Host> vectors(remanence.data(), remanence.size() / 3);
  detail::check_ambient(ambient);
  detail::check_stations<Host>(exec, positions);
  const double* const rest = remanence.empty() ? nullptr : remanence.data();
  const Kokkos::Array<double, 3> induced = unit_magnetisation(ambient);
  if (ensemble.mesh != nullptr) {
    detail::check_mesh(*ensemble.mesh, ensemble.size());
    const detail::MeshSource source{*ensemble.mesh, ensemble.values.data()};
    detail::check_magnetisation<Host>(exec, source, ensemble.values.data(), 1, vectors);
    detail::refuse_inner_stations<Host>(
        exec, detail::MagneticSource<detail::MeshSource>{source, rest, induced}, positions);
  } else {
    const detail::RowSource source{ensemble.values.data(), ensemble.size()};
    detail::check_magnetisation<Host>(exec, source, ensemble.values.data(), 7, vectors);
    detail::check_prisms<Host>(
        exec, PrismView<Host>(ensemble.values.data(), static_cast<std::size_t>(ensemble.size())));
    detail::refuse_inner_stations<Host>(
        exec, detail::MagneticSource<detail::RowSource>{source, rest, induced}, positions);
  }
}

namespace detail {

std::vector<double> magnetisation_along(const MagneticJob& job, int axis) {
  std::vector<double> values(job.densities.size());
  for_each_magnetisation(
      ensemble_of(job), job.remanence, job.ambient,
      [&](std::size_t k, const Kokkos::Array<double, 3>& v) { values[k] = v[axis]; });
  return values;
}

std::int64_t count_magnetised(const MagneticJob& job) {
  std::int64_t count = 0;
  for_each_magnetisation(ensemble_of(job), job.remanence, job.ambient,
                         [&](std::size_t, const Kokkos::Array<double, 3>& v) {
                           if (v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0) ++count;
                         });
  return count;
}

void add_gradient(const std::vector<double>& gradient, int b, std::vector<double>& fields) {
  // rows of gxx, gyy, gzz, gxy, gxz, gyz
  constexpr std::size_t row[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
  const std::size_t stations = fields.size() / 3;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t s = 0; s < stations; ++s) {
      fields[a * stations + s] += gradient[row[a][b] * stations + s];
    }
  }
}

std::vector<double> select_magnetic(const MagneticJob& job, const std::vector<double>& fields) {
  const std::size_t stations = fields.size() / 3;
  std::vector<double> results(job.magnetic_components.size() * stations);
  SelectMagnetic select{};
  select.field = fields.data();
  select.results = results.data();
  select.stations = static_cast<std::int64_t>(stations);
  select.direction = direction_of(job.ambient.inclination, job.ambient.declination);
  for (std::size_t c = 0; c < job.magnetic_components.size(); ++c) {
    select.component[c] = static_cast<int>(job.magnetic_components[c]);
  }
  for (std::size_t item = 0; item < results.size(); ++item) {
    select(static_cast<std::int64_t>(item));
  }
  return results;
}

}  // namespace detail

}  // namespace moho::gravity
