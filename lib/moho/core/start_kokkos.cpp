// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/ranks.hpp>
#include <moho/core/start_kokkos.hpp>

#include <Kokkos_Core.hpp>

#include <cstdlib>

namespace moho {

int visible_devices() {
#ifdef KOKKOS_ENABLE_CUDA
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
#else
  return 0;
#endif
}

std::vector<std::string> take_kokkos_options(std::vector<std::string>& arguments) {
  std::vector<std::string> taken, rest;
  for (const std::string& argument : arguments) {
    (argument.rfind("--kokkos", 0) == 0 ? taken : rest).push_back(argument);
  }
  arguments = rest;
  return taken;
}

std::unique_ptr<ScopeGuard> start_kokkos(const std::string& program,
                                         std::vector<std::string> options, int rank_on_host) {
  const int devices = visible_devices();
  bool chosen = devices == 0 || std::getenv("KOKKOS_DEVICE_ID") != nullptr;
  for (const std::string& option : options) {
    chosen = chosen || option.rfind("--kokkos-device-id", 0) == 0;
  }
  if (!chosen) {
    // The only form that Kokkos 3.4 and 5 both accept.
    options.push_back(concat("--kokkos-device-id=", mpi::device_of(rank_on_host, devices)));
  }
  // Only the first rank of a machine prints warnings.
  if (rank_on_host > 0 && std::getenv("KOKKOS_DISABLE_WARNINGS") == nullptr) {
    options.emplace_back("--kokkos-disable-warnings");
  }
  options.insert(options.begin(), program);
  std::vector<char*> argv;
  for (std::string& word : options) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(options.size());
  return std::make_unique<ScopeGuard>(argc, argv.data());
}

}  // namespace moho
