// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The options of programs that compute shots at several places.

#include "common/command_line.hpp"

#include <moho/cluster/distributor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples {

/// How shots are distributed.
struct SitesOptions {
  std::string sites;                   ///< file of places; empty: none was given
  cluster::DistributeOptions options;  ///< how
  double result_bytes = 0.0;           ///< that a result takes; 0: it is not known
};

/// --sites and what belongs to it, for --help.
std::vector<OptionText> distribute_options();
/// What was given for them. \throws InputError
void read_distribute_options(const Arguments& arguments, SitesOptions& texts);

/// Which shots a run computes, where, and how many at once.
struct ShotChoice {
  SitesOptions distribute;                ///< shots at several places
  int at_once = 0;                        ///< shots at once on one device; 0: auto
  std::optional<std::int64_t> only_shot;  ///< number of the one to compute
};

/// --only-shot: what a program is asked for at a place.
OptionText only_shot_option();
/// --at-once: shots on one device.
OptionText at_once_option();
/// What was given for --only-shot, --at-once, --sites and what belongs to them. \throws InputError
void read_shot_choice(const Arguments& arguments, ShotChoice& choice);

}  // namespace moho::examples
