// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/stream_ranks.hpp"

#include "ranks/ranks.hpp"

#ifdef MOHO_WITH_MPI
#include <moho/stream/mpi.hpp>
#endif

namespace moho::examples {

#ifdef MOHO_WITH_MPI

std::unique_ptr<stream::StreamRanks> stream_ranks(Processes& processes) {
  auto* const ranks = dynamic_cast<Ranks*>(&processes);
  if (ranks == nullptr || ranks->alone()) return nullptr;
  const auto* const communicator = static_cast<const MPI_Comm*>(ranks->communicator());
  return std::make_unique<stream::MpiRanks>(
      *communicator, false,
      [&processes](const std::function<void()>& function) { processes.together(function); });
}

#else

std::unique_ptr<stream::StreamRanks> stream_ranks(Processes&) { return nullptr; }

#endif

}  // namespace moho::examples
