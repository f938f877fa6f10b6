// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief First-arrival traveltimes from a model on the host to times on the host.

#include <moho/core/copy.hpp>
#include <moho/core/node_values.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/core/wrap.hpp>
#include <moho/eikonal/fast_marching.hpp>
#include <moho/eikonal/solve.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::eikonal {

/// Input of compute_traveltimes(): values of the grid's nodes on the host, last axis contiguous.
template <class T, int Dim>
struct TraveltimeJob {
  Grid<Dim> grid;              ///< nodes of the model
  std::vector<T> velocity;     ///< m/s, along the symmetry axis
  std::vector<T> epsilon;      ///< Thomsen's epsilon; empty: 0
  std::vector<T> delta;        ///< Thomsen's delta; empty: epsilon, an elliptical medium
  Points<Dim> sources;         ///< one or more
  bool each = false;           ///< a field for each source; false: the earliest time of all
  bool fast_marching = false;  ///< by fast_marching(), on hosts and without `each`; false: solve()
  Options options;             ///< of the solver
};

/// What compute_traveltimes() returns.
template <class T>
struct Traveltimes {
  std::vector<T> times;  ///< s, of the nodes; for each source if that is requested
  Report report;         ///< of the solver
  std::string device;    ///< name of the processor
  PhaseTimes phases;     ///< "transfer", "solve"
};

/// \brief Bytes that a solver allocates for each source that it works on, besides model and times.
/// \param grid of the model
/// \param anelliptic the medium has a delta that differs from epsilon
/// \param order of the differences, 1 or 2
/// \param fast_marching the solver is fast_marching()
/// \param on_host it runs on a host
template <class T, int Dim>
double bytes_per_source(const Grid<Dim>& grid, bool anelliptic, int order, bool fast_marching,
                        bool on_host);

/// \brief Solves for the traveltimes of a model on the host.
///
/// On hosts the fields of the job and of the result are used in place.
/// \param exec where everything runs; it is waited for
/// \param job model, sources and options
/// \throws InputError, MemoryError as solve(), and InputError for fields of another size than the
/// grid
template <class T, int Dim, class Memory>
Traveltimes<T> compute_traveltimes(const Instance<Memory>& exec, const TraveltimeJob<T, Dim>& job) {
  Traveltimes<T> out;
  out.device = device_name(exec);
  using Exec = Instance<Memory>;
  using List = Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto count = static_cast<std::size_t>(job.each ? job.sources.size() : 1);
  constexpr bool host = is_host_memory<Memory>;
  const auto nodes = static_cast<std::size_t>(job.grid.size());
  Model<T, Dim, Memory> model;
  {
    const ScopedPhase<Exec> phase(exec, out.phases, "transfer");
    const auto send = [&](const char* name, const std::vector<T>& values,
                          Field<T, Dim, Memory>& field) {
      check_node_values(name, values.size(), job.grid);
      if constexpr (host) {
        field = wrap_field<Field<T, Dim, Memory>>(const_cast<T*>(values.data()), job.grid);
      } else {
        field = make_field<T>(exec, job.grid, "parameter");
        copy(exec, List(field.data(), nodes), HostElements<const T>(values.data(), nodes));
      }
    };
    send("velocity", job.velocity, model.velocity);
    if (!job.epsilon.empty()) send("epsilon", job.epsilon, model.epsilon);
    if (!job.delta.empty()) send("delta", job.delta, model.delta);
    // without delta the medium is elliptical
    if (job.delta.empty()) model.delta = model.epsilon;
  }
  out.times.resize(count * nodes);
  const auto bring = [&](T* data) {
    if constexpr (!host) {
      const ScopedPhase<Exec> phase(exec, out.phases, "transfer");
      copy(exec, HostElements<T>(out.times.data(), count * nodes), List(data, count * nodes));
    }
    (void)data;
  };
  if (job.each) {
    FieldPerSource<T, Dim, Memory> times;
    if constexpr (host) {
      times = wrap_field_per_source<FieldPerSource<T, Dim, Memory>>(
          out.times.data(), static_cast<std::int64_t>(count), job.grid);
    } else {
      times = make_field_per_source<T>(exec, static_cast<std::int64_t>(count), job.grid, "times");
    }
    {
      const ScopedPhase<Exec> phase(exec, out.phases, "solve");
      out.report = solve_each(exec, job.grid, model, job.sources, times, job.options);
    }
    bring(times.data());
    return out;
  }
  Field<T, Dim, Memory> times;
  if constexpr (host) {
    times = wrap_field<Field<T, Dim, Memory>>(out.times.data(), job.grid);
  } else {
    times = make_field<T>(exec, job.grid, "times");
  }
  {
    const ScopedPhase<Exec> phase(exec, out.phases, "solve");
    if constexpr (is_host_memory<Memory>) {
      if (job.fast_marching) {
        out.report = fast_marching(exec, job.grid, model, job.sources, times, job.options);
      }
    }
    if (!job.fast_marching) {
      out.report = solve(exec, job.grid, model, job.sources, times, job.options);
    }
  }
  bring(times.data());
  return out;
}

}  // namespace moho::eikonal
