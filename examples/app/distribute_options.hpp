// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of programs that compute shots at several sites.

#include "app/option_table.hpp"

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

/// Binds --sites and its related options.
void bind_distribute(Description& d, SitesOptions& texts);

/// Shots computed by a run, their sites, and how many run concurrently.
struct ShotChoice {
  SitesOptions distribute;                ///< sites
  int at_once = 0;                        ///< shots computed concurrently on one device; 0:
                                          ///< automatic
  std::optional<std::int64_t> only_shot;  ///< number of the only shot to compute
};

/// Binds --only-shot, which workers use.
void bind_only_shot(Description& d, ShotChoice& choice);
/// Binds --at-once, the number of concurrent shots on one device.
void bind_at_once(Description& d, ShotChoice& choice);

}  // namespace moho::examples
