// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of every program that models shots: model, shots, times, scheme, execution space.

#include "app/common_options.hpp"
#include "app/distribute_options.hpp"
#include "app/earth_model.hpp"
#include "app/recorded_wavelet.hpp"
#include "app/survey.hpp"

#include <string>
#include <vector>

namespace moho::examples {

/// Options of a program that models shots; each program derives its options from these.
struct WaveOptions : CommonOptions, ShotTexts, FaceTexts, SchemeTexts, ShotChoice {
  EarthModelOptions model;  ///< model of the waves

  std::string wavelet = default_wavelet;  ///< text or file: "ricker:15"
  bool wavelet_given = false;             ///< false: it is the default

  double time = 1.0;      ///< seconds
  double interval = 0.0;  ///< seconds; 0: dt, or dt rounded up to whole microseconds
};

/// Returns help on units, axes and files of models, for the beginning of --help.
std::string wave_units_help();
/// Returns help on boundaries and times, for the end of --help.
std::string wave_scheme_help();
/// Binds the model and the shots. \param d its program is set
void bind_waves(Description& d, WaveOptions& options);
/// Binds the scheme, and the precision and the space of "Running". \param amplitude of --expand
void bind_wave_scheme(Description& d, WaveOptions& options, bool amplitude = true);
/// Binds the results, the end of "Running", and the sites.
void bind_wave_results(Description& d, WaveOptions& options);

}  // namespace moho::examples
