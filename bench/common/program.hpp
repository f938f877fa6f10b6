// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What all benchmark programs share: the main function, the context of the results, smoke
/// runs.

#include <string>

namespace moho::bench {

/// True if MOHO_BENCH_SMOKE is set to anything but 0: only small sizes are registered, so that the
/// whole program takes seconds.
bool smoke();

/// Starts Kokkos and Google Benchmark, puts versions, devices and threads into the context of the
/// results, calls `register_benchmarks`, and runs what --benchmark_filter leaves. \return the exit
/// status: 1 for an argument that nobody knows, or if a benchmark reported an error
int run_program(int argc, char** argv, void (*register_benchmarks)());

/// Notes that a benchmark reported an error; the program then exits with status 1.
void note_error();

}  // namespace moho::bench
