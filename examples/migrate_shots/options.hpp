// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of migrate_shots.

#include "app/common_options.hpp"
#include "app/distribute_options.hpp"
#include "app/earth_model.hpp"
#include "app/survey_data.hpp"

#include <moho/domain/types.hpp>
#include <moho/snapshot/exact_methods.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/wave/types.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::migrate_shots {

/// Imaging condition that is applied to the sums.
enum class Condition { zero_lag, source, receiver, inverse_scattering, laplacian };

/// Returns "zero-lag", "source", "receiver", "inverse-scattering" or "laplacian".
const char* to_string(Condition condition);

/// Options of migrate_shots.
struct Options : CommonOptions, ShotTexts, FaceTexts, SchemeTexts, DataTexts, ShotChoice {
  EarthModelOptions model;  ///< migration model

  std::string mute_text = "arrivals", spreading_text = "none";  ///< values of the options
  survey::MuteOptions mute;                                     ///< mute of the data
  survey::SpreadingOptions spreading;  ///< amplitude correction of the data
  bool normalise = false;              ///< true: divide each shot by its root mean square
  std::string aperture_text = "all";   ///< value of the option
  std::vector<double> aperture;        ///< along x (3D: x, y), m; empty: the complete model

  std::vector<Condition> conditions{Condition::inverse_scattering};  ///< first: image.npy
  std::vector<double> columns;  ///< x, or x and y of each column of offset gathers, m
  double offset = 0.0;          ///< largest half offset, m; 0: a tenth of the model's width
  bool angles = false;          ///< also write angle gathers at the columns

  std::string snapshots = "auto";  ///< snapshot::StorageOptions::method
  std::string error = "snr:55";    ///< allowed error of the snapshots' codec, or "lossless"
  std::int64_t every = 0;          ///< steps between snapshots; 0: set by the wavelet
  std::size_t device_memory = 0;   ///< bytes; 0: all free memory
  std::size_t disk = 0;            ///< bytes of snapshots on disk; 0: none, or what is free there:
  std::string snapshot_folder;     ///< folder of snapshots in files; empty: that of the results
  std::int64_t block = 0;          ///< planes of a stream that move at a time; 0: chosen
  std::int64_t updates = 0;        ///< steps of a plane on the device in a stream; 0: chosen
  int devices = 1;                 ///< devices that share each shot; 0: chosen
  int batch = 0;                   ///< shots in the same launches; 0: chosen
  int ranks_per_shot = 1;          ///< ranks of a shot; 0: chosen by shots and memory
  bool keep_shots = false;         ///< keep the image of each shot
};

/// Returns true if the receiver illumination covers the complete grid: without expanding domains,
/// or with a condition that needs it, for which backward propagation steps the complete grid.
inline bool complete_receivers(const Options& options) {
  return options.expand == domain::ExpansionMethod::none ||
         std::count(options.conditions.begin(), options.conditions.end(), Condition::receiver) > 0;
}

/// Returns the table of the options, bound to them.
Description describe(Options& options);

}  // namespace moho::examples::migrate_shots
