// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shared parts of the benchmark programs: main function, context, smoke runs, registration.
///
/// A benchmark program has bench/<name>.cpp, which registers cases, and bench/<name>/run_impl.hpp
/// with the timed calls. These are templates on a memory, compiled once for each. A case has its
/// space by name; with_space() selects the call.

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

namespace moho::bench {

/// Returns true if MOHO_BENCH_SMOKE is set to anything but 0. Then only small sizes are registered,
/// on one thread of the host unless OMP_NUM_THREADS or KOKKOS_NUM_THREADS is set, so that the
/// complete program takes seconds, also on busy machines.
bool smoke();

/// Returns true for spaces whose memory is the host's.
bool on_host(const std::string& space);

/// Returns the host space of benchmarks that use only one: openmp if available.
std::string host_space();

/// \brief Registers a benchmark that sets the time of its iterations itself.
///
/// An exception becomes the benchmark's error and fails the program.
void add(const std::string& name, int iterations, std::function<void(benchmark::State&)> body);

/// Reports a wrong result of a benchmark; the program then exits with status 1.
void fail(benchmark::State& state, const std::string& message);

/// Starts Kokkos and Google Benchmark and runs the benchmarks that --benchmark_filter selects.
/// Versions, devices and threads are added to the context of the results. `register_benchmarks`
/// registers the cases. \return the exit status: 1 for an unknown argument, or if a benchmark
/// reported an error
int run_program(int argc, char** argv, void (*register_benchmarks)());

}  // namespace moho::bench
