// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The state of an inversion between iterations, and its file.

#include <moho/tomography/types.hpp>

#include <filesystem>
#include <vector>

namespace moho::tomography {

/// Delays of stations, and origin times and moves of sources; lists that are not unknown are empty.
struct Delays {
  std::vector<double> source;    ///< s, one for each source
  std::vector<double> receiver;  ///< s, one for each receiver
  std::vector<double> origin;    ///< origin time of each source, s
  std::vector<double> moves;  ///< of each source along the axes, m; as many as axes times sources
};

/// The state of an inversion between iterations, for files.
struct InversionState {
  std::vector<double> white;             ///< unknowns before the prior
  Delays delays;                         ///< s
  std::vector<IterationReport> reports;  ///< of all iterations
  double min_damping = 0.0;              ///< lambda may not fall below it in the next iteration
  double scale = 0.0;                    ///< of the residuals over sigma; 0: not yet known
  bool redescending = false;             ///< biweights have replaced Huber's weights
  int failures = 0;                      ///< iterations without a step, in sequence
  StopReason stop = StopReason::none;    ///< reason to end
};

/// \brief Writes a state as a .npy file of doubles.
/// \throws FileError
void write_state(const std::filesystem::path& path, const InversionState& state);

/// \brief Reads what write_state() wrote.
/// \throws FileError for another file
InversionState read_state(const std::filesystem::path& path);

}  // namespace moho::tomography
