// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of model_waves.

#include "app/wave_options.hpp"

#include <optional>

namespace moho::examples::model_waves {

/// Options of model_waves.
struct Options : WaveOptions {
  int devices = 1;                  ///< devices of a shot; 0: the fewest that hold it
  int ranks_per_shot = 1;           ///< ranks of a shot; 0: chosen by shots and memory
  std::optional<double> snapshots;  ///< seconds between snapshots, 0: no snapshots; empty: a few
};

/// Returns the table of the options, bound to them.
Description describe(Options& options);

}  // namespace moho::examples::model_waves
