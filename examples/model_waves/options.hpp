// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything that can be asked of model_waves, and how it is read.

#include "common/command_line.hpp"
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
struct Options : CommonOptions, ShotTexts, FaceTexts {
  EarthModelOptions model;

  std::string wavelet = "ricker:15";

  double time = 1.0;                ///< seconds
  double dt = 0.0;                  ///< seconds; 0: automatic
  double interval = 0.0;            ///< seconds; 0: dt, or the whole microseconds from there
  std::optional<double> snapshots;  ///< seconds between snapshots, 0: none; empty: a few

  int order = 8;
  wave::Equations equations = wave::Equations::self_adjoint;
  double sigma = 0.75;
  std::optional<double> source_taper;  ///< metres, 0: none; empty: by the wavelet
  std::uint64_t seed = 2011;
  rtm::Expansion expand = rtm::Expansion::none;
};

/// The options, for --help.
Description describe();

/// What was given. \throws InputError for what is missing, malformed or contradictory
Options read_options(const Arguments& arguments);

}  // namespace moho::examples::model_waves
