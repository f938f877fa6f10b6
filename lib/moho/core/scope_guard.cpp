// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/kokkos.hpp>
#include <moho/core/scope_guard.hpp>
#include <moho/core/threads.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace moho {

namespace {

// Returns the number after `name` in an argument; 0 for another argument.
int number_after(std::string_view name, const char* argument) {
  return std::string_view(argument).starts_with(name) ? std::atoi(argument + name.size()) : 0;
}

// Returns the number of threads that options of Kokkos request; 0 without such options.
int requested_threads(int argc, char* argv[]) {
  int threads = 0;
  for (int k = 1; k < argc; ++k) {
    threads = std::max({threads, number_after("--kokkos-threads=", argv[k]),
                        number_after("--kokkos-num-threads=", argv[k])});
  }
  const char* const variable = std::getenv("KOKKOS_NUM_THREADS");
  return threads == 0 && variable != nullptr ? std::atoi(variable) : threads;
}

// Returns true if an option or a variable determines which warnings Kokkos prints.
bool warnings_are_chosen(int argc, char* argv[]) {
  const auto chooses = [](const char* argument) {
    return std::string_view(argument).starts_with("--kokkos-disable-warnings");
  };
  return std::getenv("KOKKOS_DISABLE_WARNINGS") != nullptr ||
         std::any_of(argv, argv + argc, chooses);
}

// Sets OMP_PROC_BIND to the default of OpenMP while it exists, unless the variable is set.
// The OpenMP runtime read its variables when it was loaded: only the check of Kokkos reads this.
class WithoutWarning {
 public:
  explicit WithoutWarning(bool apply) : m_applied(apply && std::getenv(variable) == nullptr) {
    if (m_applied) ::setenv(variable, "false", 0);
  }
  WithoutWarning(const WithoutWarning&) = delete;
  WithoutWarning& operator=(const WithoutWarning&) = delete;
  ~WithoutWarning() {
    if (m_applied) ::unsetenv(variable);
  }

 private:
  static constexpr const char* variable = "OMP_PROC_BIND";
  bool m_applied;
};

}  // namespace

ScopeGuard::ScopeGuard(int& argc, char* argv[]) {
  if (Kokkos::is_initialized()) return;
  check_host_threads(requested_threads(argc, argv));
  const WithoutWarning without(!warnings_are_chosen(argc, argv));
  Kokkos::initialize(argc, argv);
  m_initialised = true;
}

ScopeGuard::ScopeGuard() {
  if (Kokkos::is_initialized()) return;
  check_host_threads(requested_threads(0, nullptr));
  const WithoutWarning without(!warnings_are_chosen(0, nullptr));
  Kokkos::initialize();
  m_initialised = true;
}

ScopeGuard::~ScopeGuard() {
  if (m_initialised && Kokkos::is_initialized()) Kokkos::finalize();
}

}  // namespace moho
