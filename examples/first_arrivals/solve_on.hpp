// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of first_arrivals that runs on an execution space, compiled once for each.

#include "first_arrivals/options.hpp"

#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
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
template <class T, int Dim, class Exec>
Outcome<T> solve_on(const Exec& exec, const Job<T, Dim>& job);

}  // namespace moho::examples::first_arrivals
