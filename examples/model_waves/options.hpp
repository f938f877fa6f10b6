// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything that can be asked of model_waves, and how it is read.

#include "common/wave_options.hpp"

#include <optional>

namespace moho::examples::model_waves {

/// What was asked for.
struct Options : WaveOptions {
  std::optional<double> snapshots;  ///< seconds between snapshots, 0: none; empty: a few
  bool plan = false;                ///< print the plan and stop
};

/// The options, for --help.
Description describe();

/// What was given. \throws InputError for what is missing, malformed or contradictory
Options read_options(const Arguments& arguments);

}  // namespace moho::examples::model_waves
