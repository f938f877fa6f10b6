// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/stream_ranks.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/format.hpp"
#include "ranks/ranks.hpp"

#include <moho/core/error.hpp>

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
      [&processes](const std::function<void()>& function) { processes.collectively(function); });
}

#else

std::unique_ptr<stream::StreamRanks> stream_ranks(Processes&) { return nullptr; }

#endif

void bind_ranks_per_shot(Description& d, int& ranks_per_shot, const int& devices) {
  d.bind(ranks_per_shot, "ranks-per-shot", "N|auto",
         "under mpirun, ranks that compute each shot together, with the same bits: each has a slab "
         "across x. auto: as few as have the memory and leave no rank without a shot (default: 1)",
         count(1, 4096), {.word = "auto", .free = true});
  d.check([&ranks_per_shot, &devices](const Arguments& given) {
    if (given.given("ranks-per-shot") && given.text("ranks-per-shot") == "auto") ranks_per_shot = 0;
    if (ranks_per_shot > 1 && given.given("sites")) {
      throw InputError(concat("--ranks-per-shot is ", ranks_per_shot,
                              " with --sites (allowed: 1 or auto, sites compute each shot by one "
                              "process): leave one of the options out"));
    }
    if (devices <= 1 || ranks_per_shot == 1) return;
    throw InputError(concat("--devices is ", devices,
                            " with --ranks-per-shot (allowed: 1 or auto, each rank has a device): "
                            "leave one of the options out"));
  });
}

void check_ranks(const Processes& processes, int devices, int ranks_per_shot, bool one_shot) {
  const int ranks = processes.size();
  if (ranks > 1 && devices > 1) {
    throw InputError(concat("--devices is ", devices, ", and there are ", ranks,
                            " ranks (allowed: 1 or auto, each rank has a device): run it without "
                            "mpirun, or leave the option out"));
  }
  if (ranks_per_shot > 1) stream::ranks_of_shot(ranks_per_shot, ranks, 1, "--ranks-per-shot");
  if (!one_shot || ranks == 1 || ranks_per_shot == 0 || ranks_per_shot == ranks) return;
  throw InputError(concat("--only-shot: mpirun started ", ranks, " ranks, and ",
                          counted(ranks_per_shot, "rank computes", "ranks compute"),
                          " the shot (allowed: 1 rank, or --ranks-per-shot ", ranks,
                          "): run it without mpirun, or give that option"));
}

}  // namespace moho::examples
