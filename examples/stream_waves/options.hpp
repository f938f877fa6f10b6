// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of stream_waves.

#include "app/wave_options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho::examples::stream_waves {

/// Options of stream_waves.
struct Options : WaveOptions {
  std::size_t device_memory = 0;  ///< largest number of bytes on a device; 0: all free memory
  std::int64_t block = 0;         ///< planes of a block; 0: chosen
  std::int64_t updates = 0;       ///< steps of a plane on a device; 0: chosen
  std::int64_t lag = 0;           ///< planes between these steps; 0: the smallest lag
  int devices = 0;                ///< of all chains; 0: not given, or chosen
  bool fewest = false;            ///< true: the fewest devices that hold the model
  int groups = 0;                 ///< number of chains; 0: chosen
  std::string volume;             ///< file of the volume; empty: in memory
};

/// Returns the table of the options, bound to them.
Description describe(Options& options);

}  // namespace moho::examples::stream_waves
