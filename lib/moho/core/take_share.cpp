// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/host_memory.hpp>
#include <moho/core/memory_share.hpp>
#include <moho/core/space.hpp>
#include <moho/core/take_share.hpp>

#include <optional>

namespace moho {

void take_memory_share() {
  const std::optional<MemoryShare> share = MemoryShare::from_environment();
  if (!share) return;
  const MemorySharing ranks = memory_sharing();
  set_memory_sharing(
      {ranks.host * share->processes_in(host_memory().bytes), ranks.device * share->processes});
}

}  // namespace moho
