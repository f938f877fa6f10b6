// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything that can be asked of model_waves, and how it is read.

#include "common/command_line.hpp"
#include "common/distribute.hpp"
#include "common/earth_model.hpp"
#include "common/survey.hpp"

#include <moho/rtm/types.hpp>
#include <moho/wave/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::model_waves {

/// What was asked for.
struct Options : CommonOptions, ShotTexts, FaceTexts, SchemeTexts {
  DistributeTexts distribute;             ///< shots at several places
  std::optional<std::int64_t> only_shot;  ///< number of the one to compute
  EarthModelOptions model;

  std::string wavelet = "ricker:15";

  double time = 1.0;                ///< seconds
  double interval = 0.0;            ///< seconds; 0: dt, or the whole microseconds from there
  std::optional<double> snapshots;  ///< seconds between snapshots, 0: none; empty: a few
};

/// The options, for --help.
Description describe();

/// What was given. \throws InputError for what is missing, malformed or contradictory
Options read_options(const Arguments& arguments);

}  // namespace moho::examples::model_waves
