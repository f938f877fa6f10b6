// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/host_memory.hpp>
#include <moho/core/memory_share.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace moho {

namespace {
constexpr const char* variable_name = "MOHO_MEMORY_SHARE";
}  // namespace

MemoryShare MemoryShare::of(int processes) {
  return MemoryShare{1, host_memory().bytes}.divided(processes, processes);
}

std::optional<MemoryShare> MemoryShare::from_environment() {
  const char* const text = std::getenv(variable_name);
  if (text == nullptr) return std::nullopt;
  std::istringstream words(text);
  MemoryShare share;
  if (!(words >> share.processes >> share.bytes) || share.processes < 1) return std::nullopt;
  return share;
}

MemoryShare MemoryShare::divided(int of_host, int of_device) const {
  return {processes * std::max(of_device, 1), bytes / static_cast<std::uint64_t>(of_host)};
}

std::pair<std::string, std::string> MemoryShare::variable() const {
  return {variable_name, std::to_string(processes) + ' ' + std::to_string(bytes)};
}

int MemoryShare::processes_in(std::uint64_t free) const {
  const double share = std::max(static_cast<double>(bytes), 1.0);
  const double planned = static_cast<double>(free) / 20.0 * 19.0;  // as memory_budget()
  return static_cast<int>(std::clamp(std::ceil(planned / share), 1.0, 1e6));
}

}  // namespace moho
