// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.hpp"

#include "common/version.hpp"

#include <moho/core/error.hpp>
#include <moho/core/scope_guard.hpp>
#include <moho/core/space.hpp>

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

namespace moho::bench {

namespace {

bool g_error = false;

std::string compiler() {
#if defined(__clang__)
  std::string name = std::string("Clang ") + __clang_version__;
#elif defined(__GNUC__)
  std::string name = std::string("GCC ") + __VERSION__;
#else
  std::string name = "unknown";
#endif
#ifdef CUDART_VERSION
  name += concat(", CUDA ", CUDART_VERSION / 1000, ".", CUDART_VERSION % 1000 / 10);
#endif
  return name;
}

void add_devices() {
  std::string names;
  for (const std::string& name : space_names()) {
    names += (names.empty() ? "" : ", ") + name;
    with_space(name, [&](const auto& exec) {
      benchmark::AddCustomContext("device_" + name, device_name(exec));
      if (on_host(name)) {
        benchmark::AddCustomContext("threads_" + name, concat(exec.concurrency()));
      }
    });
  }
  benchmark::AddCustomContext("spaces", names);
}

}  // namespace

bool smoke() {
  const char* const value = std::getenv("MOHO_BENCH_SMOKE");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

bool on_host(const std::string& space) { return space != "cuda"; }

std::string host_space() {
  std::string last;
  for (const std::string& name : space_names()) {
    if (on_host(name)) last = name;
  }
  return last;
}

void fail(benchmark::State& state, const std::string& message) {
  g_error = true;
  state.SkipWithError(message.c_str());
}

void add(const std::string& name, int iterations, std::function<void(benchmark::State&)> body) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [body = std::move(body)](benchmark::State& state) {
                                 try {
                                   body(state);
                                 } catch (const std::exception& error) {
                                   fail(state, error.what());
                                 }
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(iterations);
}

namespace {
int run_benchmarks(int argc, char** argv, void (*register_benchmarks)()) {
  // Threads that wait for each other on shared cores take ten times as long as one thread.
  if (smoke() && std::getenv("OMP_NUM_THREADS") == nullptr) ::setenv("KOKKOS_NUM_THREADS", "1", 0);
  const ScopeGuard guard(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("moho_version", version());
  benchmark::AddCustomContext("moho_commit", commit());
  benchmark::AddCustomContext("kokkos_version", kokkos_version());
  benchmark::AddCustomContext("compiler", compiler());
#ifdef NDEBUG
  benchmark::AddCustomContext("assertions", "off");
#else
  benchmark::AddCustomContext("assertions", "on");
#endif
  add_devices();
  register_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return g_error ? 1 : 0;
}
}  // namespace

int run_program(int argc, char** argv, void (*register_benchmarks)()) {
  try {
    return run_benchmarks(argc, argv, register_benchmarks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace moho::bench
