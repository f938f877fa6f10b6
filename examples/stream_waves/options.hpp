// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything that can be asked of stream_waves, and how it is read.

#include "common/wave_options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::examples::stream_waves {

/// What was asked for.
struct Options : WaveOptions {
  std::size_t device_memory = 0;  ///< most bytes of a device; 0: what is free
  std::int64_t block = 0;         ///< planes that move at a time; 0: to be chosen
  std::int64_t updates = 0;       ///< steps of a plane on a device; 0: to be chosen
  std::int64_t lag = 0;           ///< planes between these steps; 0: the least
  int devices = 0;                ///< of all chains; 0: not given
  int groups = 0;                 ///< chains of them; 0: to be chosen
  std::string volume;             ///< file of the volume; empty: in memory
  bool plan = false;              ///< print the plan and stop
};

/// The options, for --help.
Description describe();

/// What was given. \throws InputError for what is missing, malformed or contradictory
Options read_options(const Arguments& arguments);

}  // namespace moho::examples::stream_waves
