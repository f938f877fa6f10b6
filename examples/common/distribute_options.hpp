// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of programs that compute shots at several sites.

#include "common/command_line.hpp"

#include <moho/cluster/distributor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples {

/// Sites, and options of distribute().
struct SitesOptions {
  std::string sites;                   ///< sites file; empty: shots are computed here
  cluster::DistributeOptions options;  ///< options of distribute()
  double result_bytes = 0.0;           ///< size of a shot's result in bytes; 0: unknown
};

/// Returns --sites and its related options, for --help.
std::vector<OptionText> distribute_options();
/// Reads these options. \throws InputError
void read_distribute_options(const Arguments& arguments, SitesOptions& texts);

/// Shots computed by a run, their sites, and how many run concurrently.
struct ShotChoice {
  SitesOptions distribute;                ///< sites
  int at_once = 0;                        ///< shots computed concurrently on one device; 0:
                                          ///< automatic
  std::optional<std::int64_t> only_shot;  ///< number of the only shot to compute
};

/// Returns the option --only-shot, used by workers.
OptionText only_shot_option();
/// Returns the option --at-once.
OptionText at_once_option();
/// Reads --only-shot, --at-once, --sites and its related options. \throws InputError
void read_shot_choice(const Arguments& arguments, ShotChoice& choice);

}  // namespace moho::examples
