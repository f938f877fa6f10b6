// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Comparison of the start times of data with first arrivals of a model.

#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace moho::survey {

/// Difference between data and first arrivals.
struct OnsetDifference {
  double seconds = 0.0;    ///< median of the traces, positive
  bool late = false;       ///< true: the data begin after first arrivals; false: before
  std::size_t traces = 0;  ///< number of traces
};

/// \brief Compares the start times of traces with first arrivals of the model.
///
/// Of each shot it uses the third of the traces with the earliest arrivals: there the direct wave
/// is strongest. A trace's first sample above a hundredth of its largest one marks the onset. Data
/// begin late if onsets are later than arrivals, and early if the largest samples are earlier.
class OnsetCheck {
 public:
  /// \param zero time zero of the data in the wavelet
  /// \param wavelet times of the wavelet, in the run's time
  /// \param frequency highest frequency of the wavelet, Hz
  OnsetCheck(WaveletZero zero, const WaveletTimes& wavelet, double frequency)
      : m_wavelet(wavelet),
        // a Ricker wavelet's highest frequency is 2.4 times its peak frequency
        m_period(2.4 / frequency),
        m_shift(zero == WaveletZero::peak ? wavelet.peak : 0.0) {}
  /// Adds the traces of a shot.
  /// \param gather traces; may be empty
  /// \param arrivals first arrival of each receiver, s
  template <int Dim>
  void add(const ShotGather<Dim>& gather, const std::vector<double>& arrivals) {
    add(gather.samples, gather.count, gather.dt, gather.t0 + m_shift, arrivals);
  }
  /// \overload
  /// \param samples receivers x count
  /// \param count samples of a trace
  /// \param dt sampling interval, s
  /// \param start time of the first sample in the run's time, s
  /// \param arrivals first arrival of each receiver, s
  void add(const std::vector<float>& samples, std::int64_t count, double dt, double start,
           const std::vector<double>& arrivals);
  /// Returns a difference above a period and a quarter of the arrival time, if any.
  std::optional<OnsetDifference> difference() const;

 private:
  WaveletTimes m_wavelet;
  double m_period, m_shift;
  std::vector<double> m_late, m_early, m_arrivals;
};

/// Returns the shots that an OnsetCheck needs.
/// In 2D the first, the middle and the last of the section; in 3D the middle one of the volume.
template <int Dim>
std::vector<std::size_t> shots_to_check(std::size_t count) {
  std::vector<std::size_t> shots{count / 2};
  if (Dim == 2 && count > 1) shots.insert(shots.end(), {0, count - 1});
  std::sort(shots.begin(), shots.end());
  shots.erase(std::unique(shots.begin(), shots.end()), shots.end());
  return shots;
}

}  // namespace moho::survey
