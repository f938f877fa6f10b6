// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of first_arrivals that runs on a space, compiled once for each memory.

#include "first_arrivals/options.hpp"

#include <moho/core/instance.hpp>
#include <moho/core/phases.hpp>
#include <moho/eikonal/types.hpp>

#include <string>
#include <vector>

namespace moho::examples::first_arrivals {

/// Input of the solvers: fields of the grid's nodes, last axis contiguous; empty ones are absent.
template <class T, int Dim>
struct Job {
  Grid<Dim> grid;
  std::vector<T> velocity, epsilon, delta;
  Points<Dim> sources;
  bool each = false;
  Solver solver = Solver::active_tiles;
  eikonal::Options options;
};

/// What comes back.
template <class T>
struct Outcome {
  std::vector<T> times;  ///< of every source if that was asked for
  eikonal::Report report;
  std::string device;
  PhaseTimes phases;  ///< "transfer", "solve"
};

/// Bytes that a solver takes for each source that it works on, beside the model and the times.
/// \param anelliptic is there a delta of its own?
template <class T, int Dim>
double bytes_per_source(const Grid<Dim>& grid, bool anelliptic, int order, Solver solver,
                        bool on_host);

/// Solves on a space. On hosts the fields of the job and of the outcome are used where they are.
template <class T, int Dim, class Memory>
Outcome<T> compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job);

}  // namespace moho::examples::first_arrivals
