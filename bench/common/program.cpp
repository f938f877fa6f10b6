// SPDX-License-Identifier: BSD-3-Clause
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <type_traits>

#ifndef MOHO_VERSION
#define MOHO_VERSION "unknown"
#endif
#ifndef MOHO_COMMIT
#define MOHO_COMMIT "unknown"
#endif

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

template <class... Spaces>
void add_devices(SpaceList<Spaces...>) {
  std::string names;
  auto add = [&](auto* tag) {
    using Exec = std::remove_pointer_t<decltype(tag)>;
    const Exec exec;
    const std::string name = SpaceTraits<Exec>::name;
    names += (names.empty() ? "" : ", ") + name;
    benchmark::AddCustomContext("device_" + name, device_name(exec));
    if (SpaceTraits<Exec>::host) {
      benchmark::AddCustomContext("threads_" + name, concat(exec.concurrency()));
    }
  };
  (add(static_cast<Spaces*>(nullptr)), ...);
  benchmark::AddCustomContext("spaces", names);
}

}  // namespace

bool smoke() {
  const char* const value = std::getenv("MOHO_BENCH_SMOKE");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

void note_error() { g_error = true; }

int run_program(int argc, char** argv, void (*register_benchmarks)()) {
  Kokkos::ScopeGuard guard(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("moho_version", MOHO_VERSION);
  benchmark::AddCustomContext("moho_commit", MOHO_COMMIT);
  benchmark::AddCustomContext("kokkos_version", kokkos_version());
  benchmark::AddCustomContext("compiler", compiler());
#ifdef NDEBUG
  benchmark::AddCustomContext("assertions", "off");
#else
  benchmark::AddCustomContext("assertions", "on");
#endif
  add_devices(EnabledSpaces());
  register_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return g_error ? 1 : 0;
}

}  // namespace moho::bench
