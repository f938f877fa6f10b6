// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What can be asked of every program that models shots: the model, shots and times, the
/// scheme, where it runs.

#include "common/command_line.hpp"
#include "common/distribute_options.hpp"
#include "common/earth_model.hpp"
#include "common/json.hpp"
#include "common/recorded_wavelet.hpp"
#include "common/survey.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples {

/// What was asked for; a program's own options are derived from these.
struct WaveOptions : CommonOptions, ShotTexts, FaceTexts, SchemeTexts, ShotChoice {
  EarthModelOptions model;

  std::string wavelet = default_wavelet;
  bool wavelet_given = false;  ///< else it is the default

  double time = 1.0;      ///< seconds
  double interval = 0.0;  ///< seconds; 0: dt, or the whole microseconds from there
};

/// Units, axes and files of models, for the head of --help.
std::string wave_units_help();
/// Boundaries and times, for the end of --help.
std::string wave_scheme_help();
/// The model, the shots, the scheme, and where it runs, for --help. The first choice between
/// --source and --shots is noted, too.
/// \param d gets the groups; its program is set
/// \param of_shots,of_running options of the program, at the end of these groups
void add_wave_options(Description& d, const std::vector<OptionText>& of_shots,
                      const std::vector<OptionText>& of_running);
/// What was given for them. \param program for messages \throws InputError
void read_wave_options(const Arguments& arguments, const std::string& program,
                       WaveOptions& options);
/// The options, for the summary. \param times further ones, behind those on times
Json asked_json(const WaveOptions& options, const Json& times);

}  // namespace moho::examples
