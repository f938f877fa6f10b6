// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Input and results of trace_sources().

#include <moho/core/error.hpp>
#include <moho/core/field.hpp>
#include <moho/core/progress.hpp>
#include <moho/core/text.hpp>
#include <moho/core/timer.hpp>
#include <moho/rays/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::rays {

/// Words of messages for arguments of trace_sources(); programs name their options.
struct TraceNames {
  std::string memory = "memory";                      ///< TraceJob::memory
  std::string single_precision = "single precision";  ///< a smaller scalar
  std::string devices = "devices";                    ///< TraceJob::devices
};

/// Input of trace_sources(), on the host.
template <class T, int Dim>
struct TraceJob {
  Grid<Dim> grid;           ///< nodes of the velocity
  std::vector<T> velocity;  ///< m/s, of the grid's nodes, last axis contiguous
  /// Velocity that the caller owns, used in place on hosts; null: that of `velocity`.
  const T* borrowed_velocity = nullptr;
  /// Host memory that receives the traveltimes, sources x nodes; null: the result owns its memory.
  T* borrowed_times = nullptr;
  Points<Dim> sources;           ///< one or more
  Points<Dim> receivers;         ///< at which rays end; may be empty
  std::int64_t all_sources = 0;  ///< with those of other processes: for the storage of weights
  GraphOptions graph;            ///< radius, interpolation, weights
  Method method = Method::active_tiles;  ///< the solver
  std::size_t memory = 0;   ///< bytes that may be allocated in the space; 0: what is free
  double ray_memory = 0.0;  ///< bytes on the host for rays, besides `memory`, of which they may
                            ///< take what is left; 0: no limit
  int devices = 1;          ///< over which the model is split in slabs, if more than one
  int slabs = 0;            ///< slabs of a device; 0: chosen; 2 or more also split one device
  TraceNames names;         ///< for messages
  Progress progress;        ///< of all sources
};

/// \brief Returns the bytes of rays, and of the group of sources that adds to them.
/// \param rays number of rays \param vertices of all of them
template <int Dim>
double ray_bytes(double rays, double vertices) {
  return 2.0 * (rays * 2.0 * sizeof(double) + vertices * sizeof(Point<Dim>));
}

/// \brief Returns an estimate of the bytes of the rays of a job before they are traced.
///
/// It counts as many vertices as nodes lie between source and receiver along all axes. Rays that
/// dive in strong gradients may have more with small radii, and those around slow regions many
/// more: trace_sources() counts the vertices before it allocates them.
template <class T, int Dim>
double ray_bytes(const TraceJob<T, Dim>& job) {
  const auto rays = static_cast<double>(job.sources.size() * job.receivers.size());
  double vertices = 2.0 * rays;
  for (const Point<Dim>& source : job.sources) {
    for (const Point<Dim>& receiver : job.receivers) {
      for (int d = 0; d < Dim; ++d) {
        vertices += std::abs(source[d] - receiver[d]) / job.grid.spacing[d];
      }
    }
  }
  return ray_bytes<Dim>(rays, vertices);
}

/// What trace_sources() did.
struct TraceSummary {
  TraceReport report;  ///< sums over all groups
  PhaseTimes phases;   ///< "transfer", "prepare" (graph, fields of the solver), "weights", "trace",
                       ///< "predecessors", "rays"; with several devices without "prepare"
  std::string device;  ///< name of the processor
  int threads = 1;     ///< concurrency of the instance
  WeightStorage storage = WeightStorage::stored;  ///< of edge weights
  std::string storage_reason;                     ///< why
  std::size_t weight_bytes = 0;                   ///< of edge weights
  int neighbours = 0;                             ///< of a node
  std::int64_t groups = 1;       ///< calls of trace(), more than one if memory was short
  std::size_t budget = 0;        ///< bytes allowed in the space
  std::size_t field_bytes = 0;   ///< of velocity, traveltimes and predecessors in the space
  std::size_t min_bytes = 0;     ///< of a source without a weight table; 0: unknown
  std::size_t solver_bytes = 0;  ///< largest allocation of the solver besides fields and weights
  int devices = 1;               ///< that took part
  int slabs = 1;                 ///< of the model
  std::int64_t fragments = 0;    ///< of the table of weights at a time
};

/// Results of trace_sources() on the host.
template <class T, int Dim>
struct TraceResult : TraceSummary {
  /// s, sources x nodes; without ownership of TraceJob::borrowed_times.
  FieldPerSource<T, Dim, Kokkos::HostSpace> times;
  RayPaths<Dim> paths;  ///< of all sources and receivers
};

namespace detail {

/// \brief Refuses rays that exceed their memory, before their points are allocated.
/// \param out results of the sources before, and the memory of the fields
/// \param sources,points number of further sources, and of all points of their rays
/// \throws MemoryError
template <class T, int Dim>
void check_ray_memory(const TraceJob<T, Dim>& job, const TraceResult<T, Dim>& out,
                      std::int64_t sources, std::int64_t points) {
  if (job.ray_memory == 0.0) return;
  const std::int64_t all = out.paths.sources + sources;
  const std::int64_t vertices = static_cast<std::int64_t>(out.paths.points.size()) + points;
  const double need =
      ray_bytes<Dim>(static_cast<double>(all) * static_cast<double>(job.receivers.size()),
                     static_cast<double>(vertices));
  const double taken = static_cast<double>(out.field_bytes + out.weight_bytes + out.solver_bytes);
  const double room = job.ray_memory + std::max(0.0, static_cast<double>(out.budget) - taken);
  if (need <= room) return;
  throw MemoryError(concat(
      "memory: the rays of ", text::counted(all, "source"), " to ",
      text::counted(job.receivers.size(), "receiver"), " have ", vertices, " vertices, which take ",
      format_bytes(need), " (allowed: ", format_bytes(room), ", what the ", job.names.memory,
      " given leaves): raise ", job.names.memory, ", or take fewer sources or receivers"));
}

/// Appends the rays of further sources to the same receivers.
template <int Dim>
void append(RayPaths<Dim>& all, const RayPaths<Dim>& more) {
  if (all.sources == 0) {
    all = more;
    return;
  }
  const std::int64_t shift = static_cast<std::int64_t>(all.points.size());
  all.sources += more.sources;
  for (std::size_t k = 1; k < more.first.size(); ++k) all.first.push_back(more.first[k] + shift);
  all.points.insert(all.points.end(), more.points.begin(), more.points.end());
  all.traveltime.insert(all.traveltime.end(), more.traveltime.begin(), more.traveltime.end());
}

}  // namespace detail

}  // namespace moho::rays
