// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Division of a job among the processes of a run.

#include <moho/gravity/inspect.hpp>
#include <moho/gravity/magnetic_job.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::gravity {

namespace detail {

/// Numbers of a job that the root sends to the other processes.
struct JobHeader {
  bool regular = false, remanent = false;
  RegularMesh mesh;
  std::int64_t rows = 0, stations = 0;
  int count = 0, magnetic_count = 0;
  Component components[component_count] = {};
  MagneticComponent magnetic_components[magnetic_component_count] = {};
  AmbientField ambient;
  Strategy strategy = Strategy::automatic;
  double constant = 0.0, far_tolerance = 0.0, tolerance = 0.0;
  std::uint64_t memory = 0;
  int team_size = 0, teams = 0;
};
static_assert(std::is_trivially_copyable_v<JobHeader>);

/// Returns the header of a job.
JobHeader header_of(const MagneticJob& job);
/// Returns a job without arrays.
MagneticJob job_of(const JobHeader& header);
/// Returns the rows or cells of each process; see divide_ensemble().
std::vector<mpi::Part> divide_job(const MagneticJob& job, int processes);

}  // namespace detail

/// \brief Returns the part of a job that this process computes; results of all parts are added.
///
/// Prisms of a list are divided by rows. Of a mesh each process has all cells, with zeros for those
/// of others. All have all stations. For Strategy::fmm each process has all prisms, and a part of
/// the stations (Options::part). Job and options, without `progress` and `sharing`, are those
/// of the root. A job with magnetic components is one for compute_magnetic_field().
/// \tparam Processes has size(), rank(), root(), collectively(f), broadcast(bytes, count) and
///         scatter_rows(all, width, parts, mine), as the class Ranks of the example programs
/// \param processes all processes call it
/// \param job of the root, whose arrays are moved; ignored on other processes
template <class Processes>
MagneticJob share_job(Processes& processes, MagneticJob job) {
  detail::JobHeader header;
  std::vector<mpi::Part> parts(static_cast<std::size_t>(processes.size()));
  processes.collectively([&] {
    if (!processes.root()) return;
    header = detail::header_of(job);
    parts = detail::divide_job(job, processes.size());
  });
  processes.broadcast(&header, sizeof(header));
  processes.broadcast(parts.data(), parts.size() * sizeof(mpi::Part));
  const bool whole = header.strategy == Strategy::fmm && processes.size() > 1;
  const mpi::Part mine =
      whole ? mpi::Part{0, header.rows} : parts[static_cast<std::size_t>(processes.rank())];
  const bool root = processes.root();
  const auto resize = [&](std::vector<double>& values, std::int64_t count) {
    if (!root) values.assign(static_cast<std::size_t>(count), 0.0);
  };
  const std::int64_t rows = header.regular ? header.rows : mine.size();
  processes.collectively([&] {
    if (!root) job = detail::job_of(header);
    resize(job.stations, 3 * header.stations);
    if (header.regular) resize(job.densities, rows);
    if (!header.regular) resize(job.prisms, 7 * rows);
    if (header.remanent) resize(job.remanence, 3 * rows);
  });
  processes.broadcast(job.stations.data(), job.stations.size() * sizeof(double));
  const auto scatter = [&](std::vector<double>& values, std::int64_t width) {
    if (whole) {
      processes.broadcast(values.data(), values.size() * sizeof(double));
      return;
    }
    const std::int64_t first = header.regular ? width * mine.first : 0;
    processes.scatter_rows(values.data(), width, parts, values.data() + first);
    if (!root) return;
    // the root has the first rows
    if (header.regular) {
      std::fill(values.begin() + static_cast<std::ptrdiff_t>(width * mine.last), values.end(), 0.0);
    } else {
      values.resize(static_cast<std::size_t>(width * mine.size()));
    }
  };
  if (header.regular) {
    scatter(job.densities, 1);
  } else {
    scatter(job.prisms, 7);
  }
  if (header.remanent) scatter(job.remanence, 3);
  job.options.part = whole ? processes.rank() : 0;
  job.options.parts = whole ? processes.size() : 1;
  return job;
}

}  // namespace moho::gravity
