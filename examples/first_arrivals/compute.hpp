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

/// Solves on a space.
template <class T, int Dim, class Memory>
Outcome<T> compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job);

}  // namespace moho::examples::first_arrivals
