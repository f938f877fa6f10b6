// SPDX-License-Identifier: BSD-3-Clause
#include "app/waiting.hpp"

#include <moho/core/error.hpp>
#include <moho/core/threads.hpp>

#include <unistd.h>

#include <cstdlib>

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

bool asked() {
  return std::getenv(policy_variable) != nullptr || std::getenv(spins_variable) != nullptr;
}

}  // namespace

void choose_waiting(char** argv) {
  if (!gnu_openmp || asked() || std::getenv(mark) != nullptr || host_threads().threads < 2) return;
  ::setenv(spins_variable, spins, 1);
  ::setenv(mark, "1", 1);
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
