// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/stream_ranks.hpp"

#include "ranks/ranks.hpp"

#ifdef MOHO_WITH_MPI
#include <moho/stream/mpi.hpp>
#endif

namespace moho::examples {

#ifdef MOHO_WITH_MPI

namespace {
class RanksOfProgram : public stream::MpiRanks {
 public:
  RanksOfProgram(Processes& processes, MPI_Comm communicator)
      : stream::MpiRanks(communicator), m_processes(processes) {}
  void together(const std::function<void()>& function) override { m_processes.together(function); }

 private:
  Processes& m_processes;
};
}  // namespace

std::unique_ptr<stream::StreamRanks> stream_ranks(Processes& processes) {
  auto* const ranks = dynamic_cast<Ranks*>(&processes);
  if (ranks == nullptr || ranks->alone()) return nullptr;
  const auto* const communicator = static_cast<const MPI_Comm*>(ranks->communicator());
  return std::make_unique<RanksOfProgram>(processes, *communicator);
}

#else

std::unique_ptr<stream::StreamRanks> stream_ranks(Processes&) { return nullptr; }

#endif

}  // namespace moho::examples
