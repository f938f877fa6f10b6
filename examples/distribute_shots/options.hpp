// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What can be asked of distribute_shots.

#include "common/command_line.hpp"
#include "common/distribute_options.hpp"

#include <moho/cluster/job.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace moho::examples::distribute_shots {

/// What is to be done.
enum class Action { compute, status, cancel, probe, relay, run_relay };

/// What was asked.
struct Options {
  Action action = Action::compute;
  SitesOptions distribute;           ///< places, and how
  cluster::Work work;                ///< command and inputs
  std::vector<cluster::Task> tasks;  ///< shots
  std::filesystem::path journal;     ///< its file
  std::filesystem::path collect;     ///< folder that results are unpacked into; empty: none
  std::filesystem::path relay;       ///< folder of a chunk
  bool resume = false;               ///< go on with the journal
  bool quiet = false;                ///< print nothing but errors
};

/// The options, for --help.
Description describe();
/// What was given. \param command the words behind -- \throws InputError
Options read_options(const Arguments& arguments, const std::vector<std::string>& command,
                     const std::function<bool()>& stop = {});

}  // namespace moho::examples::distribute_shots
