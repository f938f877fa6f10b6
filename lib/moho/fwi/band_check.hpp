// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of the frequency bands of an inversion against its data.

#include <moho/core/argument_names.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::fwi {

/// Checks bands against the record. \throws InputError for bands with less than a period in the
/// record
/// \param bands corners of low-passes, Hz
/// \param time length of the record, s
/// \param names name of the argument "bands" in messages
void check_bands(const std::vector<double>& bands, double time, const ArgumentNames& names = {});

/// \brief Fraction of the data in each band, as root mean square.
///
/// Bands with less than 1 % of the amplitude result in notes, those with less than 0.01 % in an
/// error.
class BandCheck {
 public:
  /// \param bands corners of low-passes, Hz
  /// \param names name of the argument "bands" in messages
  explicit BandCheck(const std::vector<double>& bands, const ArgumentNames& names = {})
      : m_names(names), m_bands(bands), m_in_band(bands.size(), 0.0) {}
  /// Adds traces.
  /// \param samples traces x count
  /// \param count samples of a trace
  /// \param dt sampling interval, s
  void add(const std::vector<float>& samples, std::int64_t count, double dt);
  /// Returns a note for each band with less than 1 % of the amplitude.
  /// \throws InputError for a band with less than 0.01 % of the amplitude
  std::vector<std::string> notes() const;

 private:
  ArgumentNames m_names;
  std::vector<double> m_bands, m_in_band;  ///< corners; sums of squares
  double m_all = 0.0;                      ///< sum of squares without a low-pass
};

}  // namespace moho::fwi
