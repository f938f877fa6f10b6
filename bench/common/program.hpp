// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What all benchmark programs share: the main function, the context of the results, smoke
/// runs, and registering benchmarks that take their own time.
///
/// A benchmark program is bench/<name>.cpp, which registers cases, and run_impl.hpp in the folder
/// bench/<name> with the timed calls as templates on a memory, which are compiled once for each. A
/// case knows its space by name, and with_space() leads to the call.

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

namespace moho::bench {

/// True if MOHO_BENCH_SMOKE is set to anything but 0: only small sizes are registered, so that the
/// whole program takes seconds.
bool smoke();

/// True for spaces whose memory is the host's.
bool on_host(const std::string& space);

/// The space of hosts that a benchmark runs on if it takes one of them: openmp if it is there.
std::string host_space();

/// \brief Registers a benchmark that sets the time of its iterations itself.
///
/// What it throws becomes its error, and fails the program.
void add(const std::string& name, int iterations, std::function<void(benchmark::State&)> body);

/// Reports that a benchmark's result is wrong; the program then exits with status 1.
void fail(benchmark::State& state, const std::string& message);

/// Starts Kokkos and Google Benchmark, puts versions, devices and threads into the context of the
/// results, calls `register_benchmarks`, and runs what --benchmark_filter leaves. \return the exit
/// status: 1 for an argument that nobody knows, or if a benchmark reported an error
int run_program(int argc, char** argv, void (*register_benchmarks)());

}  // namespace moho::bench
