// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Cases of the wave benchmarks; each is one line of the table.

#include "bench_waves/runner.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace moho::bench {

/// One line of the table.
struct WaveCase {
  std::string space;      ///< name of the execution space
  WaveSettings settings;  ///< medium, grid and kernel
  /// The grid is a given interior and its layers; names contain the width.
  bool same_interior = false;
};

/// Returns the name of a case, without or with the width of the layers. Examples:
/// "waves/isotropic/float/order:8/sponge/tuned/openmp/256x256x256" and
/// "waves/isotropic/float/order:8/cpml:10/tuned/openmp/216x216x216".
std::string name_of(const WaveCase& what);

/// Times a case, compares the result with the plain kernel's, and writes the counters.
void time_waves(benchmark::State& state, const WaveCase& what);

/// Returns true if the available memory holds a case.
bool wave_fits(const WaveCase& what);

}  // namespace moho::bench
