// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of the bands of an inversion against its data.

#include <cstdint>
#include <string>
#include <vector>

namespace moho::examples::invert_waves {

/// Refuses bands without a period in the record. \param bands Hz \param time of the record, s
/// \throws InputError
void check_bands(const std::vector<double>& bands, double time);

/// How much of the data is left in each band.
class BandCheck {
 public:
  /// \param bands corners of low-passes, Hz
  explicit BandCheck(const std::vector<double>& bands)
      : m_bands(bands), m_left(bands.size(), 0.0) {}
  /// Adds traces. \param samples traces x count \param dt seconds between samples
  void add(const std::vector<float>& samples, std::int64_t count, double dt);
  /// Bands with little of the data. \throws InputError for one with practically nothing
  std::vector<std::string> notes() const;

 private:
  std::vector<double> m_bands, m_left;  ///< sums of squares by band
  double m_all = 0.0;                   ///< of the data without a low-pass
};

}  // namespace moho::examples::invert_waves
