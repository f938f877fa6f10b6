// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The wavelet of modelled data: how it is recorded with the data, and how it is found
/// there.

#include "common/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace moho::examples {

/// Wavelet of all programs of waves where neither options nor data name one.
inline constexpr const char* default_wavelet = "ricker:15";

/// \brief Adds the wavelet of gathers to their description: its text, and of a file the path,
/// length and CRC-32C. \param gather the member "gather" of summary.json \throws FileError
void record_wavelet(const std::string& wavelet, Json& gather);

/// Lines of a textual header of SEG-Y that name a wavelet. \param gather as record_wavelet() left
/// it
std::vector<std::string> wavelet_lines(const Json& gather);

/// The wavelet that data name.
struct RecordedWavelet {
  std::string text;      ///< as --wavelet takes it; of a file with the path at which it was found
  std::string where;     ///< "'d/summary.json'" or "the textual header of 'line.sgy'"
  bool missing = false;  ///< a file that was not found, or has changed since
  bool is_file = false;
  double bytes = -1.0, checksum = -1.0;  ///< of a file; negative: unknown
};

/// \brief Finds the wavelet that data name.
/// \param data a SEG-Y file, a folder of gathers, or a summary.json
/// \return nothing where the data name none, or cannot be read
/// \throws InputError for SEG-Y files of one folder that name different wavelets
std::optional<RecordedWavelet> recorded_wavelet(const std::string& data);

/// \brief Whether a wavelet is that of the data: the same file, or the same samples to a thousandth
/// of the largest. \throws InputError, FileError for a wavelet that cannot be read
bool same_wavelet(const RecordedWavelet& recorded, const std::string& wavelet);

}  // namespace moho::examples
