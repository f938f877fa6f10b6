// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory.hpp"

#include <moho/core/space.hpp>

namespace moho::examples {

void check_host_memory(const std::string& what, double bytes, const std::string& advice,
                       const std::string& whose) {
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  const auto allowed = static_cast<double>(memory_budget(host));
  if (bytes <= allowed) return;
  throw MemoryError(concat(what, " ", format_bytes(bytes), " of ", whose,
                           " (allowed: ", format_bytes(allowed), ", what is free): ", advice));
}

}  // namespace moho::examples
