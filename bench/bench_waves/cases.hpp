// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What the benchmarks of waves run: one line of the table each.

#include "bench_waves/runner.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace moho::bench {

/// One line of the table.
struct WaveCase {
  std::string space;
  WaveSettings settings;
  bool same_interior = false;  ///< the grid is a given interior and its layers: names say the width
};

/// "waves/isotropic/float/order:8/sponge/tuned/openmp/256x256x256", and
/// "waves/isotropic/float/order:8/cpml:10/tuned/openmp/216x216x216" where names say the width.
std::string name_of(const WaveCase& what);

/// Times a case, holds the result to the plain kernel's, and writes the counters.
void time_waves(benchmark::State& state, const WaveCase& what);

/// True if the memory that is available now holds a case.
bool wave_fits(const WaveCase& what);

}  // namespace moho::bench
