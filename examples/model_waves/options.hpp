// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything that can be asked of model_waves, and how it is read.

#include "common/command_line.hpp"
#include "common/earth_model.hpp"

#include <moho/rtm/types.hpp>
#include <moho/wave/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::model_waves {

/// What was asked for.
struct Options : CommonOptions {
  EarthModelOptions model;

  std::vector<std::string> sources;  ///< points; empty: one in the middle
  std::string receivers;             ///< points; empty: a line along the surface
  bool moving = false;               ///< receivers are distances from each source
  std::string shots_file;            ///< table of sources and receivers; replaces both
  std::string wavelet = "ricker:15";

  double time = 1.0;                ///< seconds
  double dt = 0.0;                  ///< seconds; 0: automatic
  double interval = 0.0;            ///< seconds; 0: dt, or the whole microseconds from there
  std::optional<double> snapshots;  ///< seconds between snapshots, 0: none; empty: a few

  int order = 8;
  wave::Equations equations = wave::Equations::self_adjoint;
  double sigma = 0.75;
  std::optional<double> source_taper;  ///< metres, 0: none; empty: by the wavelet
  std::string boundary;                ///< empty: cpml, sponge for TTI
  std::optional<int> width;            ///< of layers whose width is not told
  bool free_surface = false;
  std::uint64_t seed = 2011;
  rtm::Expansion expand = rtm::Expansion::none;
};

/// The options, for --help.
Description describe();

/// What was given. \throws InputError for what is missing, malformed or contradictory
Options read_options(const Arguments& arguments);

}  // namespace moho::examples::model_waves
