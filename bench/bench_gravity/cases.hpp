// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Cases of the gravity benchmarks; each is one line of the table.

#include "bench_gravity/runner.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>

namespace moho::bench {

/// One line of the table.
struct GravityCase {
  std::string space;         ///< name of the execution space
  ProblemSize problem;       ///< prisms and stations
  GravitySettings settings;  ///< call that is timed
};

/// Returns "gz", "nine", "all", or names separated by commas.
std::string name_of(const gravity::Components& components);

/// Runs a case, compares some stations with the textbook's closed forms, and writes the counters.
void time_gravity(benchmark::State& state, const GravityCase& what);

/// One line of the fast multipole method.
struct FmmCase {
  std::string space;               ///< name of the execution space
  std::string scene;               ///< slab, cells, layer or cube
  std::int64_t prisms, stations;   ///< numbers of both
  gravity::Components components;  ///< computed components
  double tolerance;                ///< of the largest value
};

/// Times the fast multipole method, and compares some stations with direct sums.
void time_fmm_case(benchmark::State& state, const FmmCase& what);

/// Times a mesh with stations on its lattice, and compares some stations with direct sums.
void time_lattice_case(benchmark::State& state, const std::string& space,
                       const std::array<int, 3>& cells, const gravity::Components& components);

/// Measures the rate of an operation on a space.
void time_operation(benchmark::State& state, const std::string& space, Operation operation,
                    bool single);

}  // namespace moho::bench
