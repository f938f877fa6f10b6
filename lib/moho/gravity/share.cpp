// SPDX-License-Identifier: BSD-3-Clause

#include <moho/gravity/share.hpp>

namespace moho::gravity::detail {

JobHeader header_of(const MagneticJob& job) {
  JobHeader header;
  header.regular = job.regular;
  header.remanent = !job.remanence.empty();
  header.mesh = job.mesh;
  header.rows =
      static_cast<std::int64_t>(job.regular ? job.densities.size() : job.prisms.size() / 7);
  header.stations = static_cast<std::int64_t>(job.stations.size() / 3);
  header.count = static_cast<int>(job.components.size());
  std::copy(job.components.begin(), job.components.end(), header.components);
  header.magnetic_count = static_cast<int>(job.magnetic_components.size());
  std::copy(job.magnetic_components.begin(), job.magnetic_components.end(),
            header.magnetic_components);
  header.ambient = job.ambient;
  header.strategy = job.options.strategy;
  header.constant = job.options.constant;
  header.far_tolerance = job.options.far_tolerance;
  header.tolerance = job.options.tolerance;
  header.memory = job.options.memory_budget;
  header.team_size = job.options.team_size;
  header.teams = job.options.teams;
  return header;
}

MagneticJob job_of(const JobHeader& header) {
  MagneticJob job;
  job.regular = header.regular;
  job.mesh = header.mesh;
  job.components.assign(header.components, header.components + header.count);
  job.magnetic_components.assign(header.magnetic_components,
                                 header.magnetic_components + header.magnetic_count);
  job.ambient = header.ambient;
  job.options.strategy = header.strategy;
  job.options.constant = header.constant;
  job.options.far_tolerance = header.far_tolerance;
  job.options.tolerance = header.tolerance;
  job.options.memory_budget = header.memory;
  job.options.team_size = header.team_size;
  job.options.teams = header.teams;
  return job;
}

std::vector<mpi::Part> divide_job(const MagneticJob& job, int processes) {
  const HostEnsemble ensemble{job.regular ? &job.mesh : nullptr,
                              job.regular ? job.densities : job.prisms};
  if (job.magnetic_components.empty() || !job.regular) {
    return divide_ensemble(ensemble, count_masses(ensemble).prisms, processes);
  }
  const std::vector<double> strengths =
      magnetisation_strengths(ensemble, job.remanence, job.ambient);
  const HostEnsemble magnetised{&job.mesh, strengths};
  return divide_ensemble(magnetised, count_masses(magnetised).prisms, processes);
}

}  // namespace moho::gravity::detail
