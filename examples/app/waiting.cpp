// SPDX-License-Identifier: BSD-3-Clause
#include "app/waiting.hpp"

#include <moho/core/error.hpp>
#include <moho/core/threads.hpp>

#include <sched.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <cstdlib>
#include <vector>

namespace moho::examples {

namespace {

// Enough on a quiet machine: loops of 10 us and more begin as soon as with longer spinning.
constexpr const char* spins = "1000";
constexpr const char* spins_variable = "GOMP_SPINCOUNT";
constexpr const char* policy_variable = "OMP_WAIT_POLICY";
constexpr const char* mark = "MOHO_CHOSE_WAITING";  // of a restarted process

#if defined(__GNUC__) && !defined(__clang__) && defined(_OPENMP)
constexpr bool gnu_openmp = true;
#else
constexpr bool gnu_openmp = false;
#endif

// Lets this thread run on all places of OpenMP, if OpenMP has bound it to the first one.
// The restarted process would have no other processors.
void leave_place() {
#ifdef _OPENMP
  if (omp_get_proc_bind() == omp_proc_bind_false || omp_get_num_places() == 0) return;
  cpu_set_t processors;
  CPU_ZERO(&processors);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    for (const int id : ids) CPU_SET(id, &processors);
  }
  ::sched_setaffinity(0, sizeof(processors), &processors);
#endif
}

bool is_set() {
  return std::getenv(policy_variable) != nullptr || std::getenv(spins_variable) != nullptr;
}

}  // namespace

void choose_waiting(char** argv) {
  if (!gnu_openmp || is_set() || std::getenv(mark) != nullptr || host_threads().threads < 2) return;
  ::setenv(spins_variable, spins, 1);
  ::setenv(mark, "1", 1);
  leave_place();
  ::execv("/proc/self/exe", argv);
  // this process has already read them
  ::unsetenv(spins_variable);
  ::unsetenv(mark);
}

std::string waiting() {
  const char* const spun = std::getenv(spins_variable);
  const bool chosen = std::getenv(mark) != nullptr;
  if (spun != nullptr) {
    return concat("spin ", spun, " times, then sleep (", chosen ? "chosen" : spins_variable, ")");
  }
  const char* const policy = std::getenv(policy_variable);
  if (policy != nullptr) return concat(policy, " (", policy_variable, ")");
  return host_threads().threads < 2 ? "one thread" : "as OpenMP does by default";
}

}  // namespace moho::examples
