// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Times of recorded traces in a run, which begins with the first sample of the wavelet.

#include <moho/core/error.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/wave/plan.hpp>

#include <cstdint>

namespace moho::survey {

/// Run times of the first and the last sample of traces, s. Outside of them nothing is recorded.
struct RecordTimes {
  double begin = 0.0;  ///< of the first sample; negative: before the run
  double end = 0.0;    ///< of the last sample
};

/// Returns the run time of time zero of the data, s. \param peak time of the wavelet's peak, s
inline double time_shift(WaveletZero zero, double peak) {
  return zero == WaveletZero::peak ? peak : 0.0;
}
/// \overload
/// \param interval sampling interval of the data, s
/// \throws InputError for a wavelet whose frequencies exceed those of the data by far
inline double time_shift(WaveletZero zero, const wave::WaveletAt& wavelet, double interval) {
  if (zero == WaveletZero::start) return 0.0;
  const double dt = interval / 16.0;  // carries the frequencies of any wavelet of the data
  return time_shift(zero, wavelet_times(wavelet(dt), dt).peak);
}

/// Returns the run times of a gather. \param shift result of time_shift(), s
template <int Dim>
RecordTimes record_times(const ShotGather<Dim>& gather, double shift) {
  const double begin = gather.t0 + shift;
  return {begin, begin + static_cast<double>(gather.count - 1) * gather.dt};
}

/// \brief Returns the length of a run that has all samples of data, s.
/// \param duration time from a shot to the last sample of the data: Survey::duration()
/// \param shift result of time_shift(), s
/// \throws InputError for data that end before the run
inline double run_length(double duration, double shift) {
  const double length = duration + shift;
  if (length > 0.0) return length;
  throw InputError(concat("data: the last sample is at ", length, " s, where a run begins at 0 s ",
                          "(allowed: data that end later): check the delays of the traces"));
}

/// Returns the length of a run that has all samples of a survey, s. \throws InputError as above
template <int Dim>
double run_length(const Survey<Dim>& survey, WaveletZero zero, const wave::WaveletAt& wavelet) {
  return run_length(survey.duration(), time_shift(zero, wavelet, survey.interval()));
}

}  // namespace moho::survey
