// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of distribute_shots.

#include "app/command_line.hpp"
#include "app/distribute_options.hpp"

#include <moho/cluster/job.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace moho::examples::distribute_shots {

/// Actions of the program.
enum class Action { compute, status, cancel, probe, relay, run_relay };

/// Options of distribute_shots.
struct Options {
  Action action = Action::compute;   ///< action of this run
  SitesOptions distribute;           ///< sites, and options of distribute()
  cluster::Work work;                ///< command and inputs
  std::string shots;                 ///< list of shots; empty: those of the journal
  std::vector<cluster::Task> tasks;  ///< shots
  std::filesystem::path journal;     ///< journal file
  std::filesystem::path collect;     ///< folder for unpacked results; empty: not unpacked
  std::filesystem::path relay;       ///< folder of a chunk, for Action::run_relay
  bool resume = false;               ///< resume from the journal
  bool quiet = false;                ///< print errors only
};

/// Returns the table of the options, bound to them.
Description describe(Options& options);
/// \brief Reads what was given. An action that needs no sites ignores all other options.
/// \param d table of `options` \param command the words after -- \throws InputError
void read_options(const Description& d, const Arguments& given,
                  const std::vector<std::string>& command, const std::function<bool()>& stop,
                  Options& options);

}  // namespace moho::examples::distribute_shots
