// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The wavelet of modelled data: how it is recorded with the data and read back.

#include "app/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace moho::examples {

/// Default wavelet of all programs of waves if neither options nor data name one.
inline constexpr const char* default_wavelet = "ricker:15";

/// Adds the wavelet of gathers to their description.
/// Adds its text; for a file the path, the length and the CRC-32C.
/// \param gather the member "gather" of summary.json
/// \throws FileError for an unreadable file
void record_wavelet(const std::string& wavelet, Json& gather);

/// Returns the lines of a textual header of SEG-Y that name a wavelet.
/// \param gather the member that record_wavelet() completed
std::vector<std::string> wavelet_lines(const Json& gather);

/// The wavelet that data name.
struct RecordedWavelet {
  std::string text;      ///< argument of --wavelet; for a file with the path at which it was found
  std::string where;     ///< "'d/summary.json'" or "the textual header of 'line.sgy'"
  bool missing = false;  ///< true for a file that was not found, or has changed since
  double bytes = -1.0, checksum = -1.0;  ///< of a file; negative: unknown
};

/// \brief Finds the wavelet that data name.
/// \param data a SEG-Y file, a folder of gathers, or a summary.json
/// \return empty if the data name no wavelet, or cannot be read
/// \throws InputError for SEG-Y files of one folder that name different wavelets
std::optional<RecordedWavelet> recorded_wavelet(const std::string& data);

/// Returns true if a wavelet is that of the data.
/// Both are the same file, or their samples agree to a thousandth of the largest sample.
/// \throws InputError, FileError for an unreadable wavelet
bool same_wavelet(const RecordedWavelet& recorded, const std::string& wavelet);

}  // namespace moho::examples
