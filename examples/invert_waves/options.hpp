// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of invert_waves.

#include "app/common_options.hpp"
#include "app/distribute_options.hpp"
#include "app/earth_model.hpp"
#include "app/survey_data.hpp"

#include <moho/fwi/misfit.hpp>
#include <moho/fwi/objective_text.hpp>
#include <moho/fwi/objective_types.hpp>
#include <moho/survey/prepare.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::invert_waves {

/// Returns the parameter of an option: "vp", "rho", "epsilon" or "delta".
fwi::Parameter parameter_of(const std::string& option);
/// Returns the option of a parameter.
std::string option_of(fwi::Parameter parameter);

/// Options of invert_waves.
struct Options : CommonOptions, ShotTexts, FaceTexts, SchemeTexts, DataTexts, ShotChoice {
  EarthModelOptions model;  ///< starting model

  fwi::MisfitOptions misfit;                            ///< measure of the misfit
  std::string offset_weights_text, mute_text = "none";  ///< values of the options
  fwi::OffsetWeights offset_weights;                    ///< weights by offset in m
  survey::MuteOptions mute;                             ///< mute of data and modelled traces

  std::vector<std::string> unknowns{"vp"};                  ///< "vp", "rho", "epsilon", "delta"
  bool logarithms = true;                                   ///< of vp and rho
  std::map<std::string, std::pair<double, double>> bounds;  ///< lower and upper, by option
  std::string mask_text;         ///< "depth:40" or a file; empty: no mask
  double mask_depth = -1.0;      ///< metres above which the model is constant; negative: unset
  std::vector<double> bands;     ///< Hz; empty: all frequencies in one band
  std::int64_t iterations = 10;  ///< of each band
  int memory_pairs = 5;          ///< pairs of vectors of L-BFGS
  double first_change = 0.01;    ///< of the first trial, relative to the unknowns
  bool precondition = false;     ///< by the illumination

  fwi::SourceField source_field = fwi::SourceField::automatic;  ///< method of the source wavefield
  std::int64_t every = 0;       ///< steps between products; 0: set by the wavelet
  fwi::Lags lags;               ///< of the extended image of the result
  bool extended = false;        ///< true if requested
  std::int64_t lags_every = 0;  ///< evaluations from one extended image to the next; 0: the result
  std::string lags_sum = "exact";  ///< of shots: "exact" or "plain"
  std::size_t device_memory = 0;   ///< bytes; 0: all free memory
  std::int64_t block = 0;          ///< planes of a block of the stream; 0: chosen
  std::int64_t updates = 0;        ///< steps of a plane on the device; 0: chosen
  int devices = 1;                 ///< devices that share each shot; 0: chosen
  int ranks_per_shot = 1;          ///< ranks of a shot; 0: chosen by shots and memory
  bool keep_shots = false;         ///< true: sites send each shot
  std::string evaluate;    ///< with --only-shot: file of the unknowns; empty: the starting model
  int band = 1;            ///< with --only-shot, from 1
  double data_size = 0.0;  ///< with --only-shot: misfit without a model; 0: that of the shot
};

/// Returns the table of the options, bound to them.
Description describe(Options& options);

}  // namespace moho::examples::invert_waves
