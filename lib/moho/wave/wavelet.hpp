// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Source time functions (Ricker, Ormsby, or samples) at the time step of a propagation.
///
/// All functions return samples S(0), S(dt), S(2 dt), ... up to the end of the wavelet's decay;
/// beyond the last sample the wavelet is zero. Times are in seconds, frequencies in Hz.

#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::wave {

/// \brief Returns a Ricker wavelet, (1 - 2 a) exp(-a) with a = (pi frequency (t - delay))^2.
///
/// The wavelet is 1 at the delay. It ends 1.5 / frequency after the delay, where it is below 1e-8.
/// Its spectrum is largest at `frequency` and under 5 % of the maximum beyond 2.4 times the
/// frequency.
/// \param frequency of the largest amplitude
/// \param dt interval of the samples
/// \param delay time of the peak; negative (the default): 1.5 / frequency, which makes beginning
///   and end equally small
/// \throws InputError if the frequency is not positive, the delay not a number, or dt not positive
///   or too coarse: 1 / (2 dt) has to be at least 2.4 times the frequency
std::vector<double> ricker(double frequency, double dt, double delay = -1.0);

/// \brief Returns an Ormsby wavelet: zero phase, with a trapezoidal amplitude spectrum.
///
/// The spectrum rises from corners[0] to corners[1], is flat up to corners[2] and falls to zero at
/// corners[3]. The wavelet is 1 at the delay. A Hann window from 0 to twice the delay tapers it and
/// smooths the corners of its spectrum over about 1 / delay.
/// \param corners ascending frequencies; the first may be zero, the second and third equal
/// \param dt interval of the samples
/// \param delay time of the peak; negative (the default): 2 over the width of the narrower flank of
///   the spectrum
/// \throws InputError if the corners do not ascend, the delay is zero or not a number, or dt is not
///   positive or too coarse: 1 / (2 dt) has to be at least corners[3]
std::vector<double> ormsby(const std::array<double, 4>& corners, double dt, double delay = -1.0);

/// \brief Resamples a wavelet by band-limited interpolation.
///
/// The interpolator is a sinc under a Kaiser window of 64 samples. Its error is below 1e-7 of the
/// largest amplitude for frequencies up to 0.8 / (2 interval).
/// \param samples S(0), S(interval), ...; zero before and after
/// \param interval of the given samples
/// \param dt interval of the result; an equal interval returns the samples unchanged
/// \throws InputError if an interval is not positive, no sample exists, a sample is not finite, all
///   are zero, or dt is too coarse: 1 / (2 dt) has to be at least their highest_frequency()
std::vector<double> resample(const std::vector<double>& samples, double interval, double dt);

/// \brief Returns the frequency above which the amplitude spectrum stays below a level.
///
/// The level is `level` times the maximum of the spectrum. Grid dispersion is judged at this
/// frequency, which is 2.4 times the frequency of a Ricker wavelet. The samples are padded with
/// zeros to at least four times their number. Between two frequencies of the transform the spectrum
/// is interpolated linearly. The result is 1 / (2 dt) if the spectrum does not fall. \throws
/// InputError if dt is not positive, no sample exists, one is not finite, or all are zero
double highest_frequency(const std::vector<double>& samples, double dt, double level = 0.05);

/// \brief Parsed description of a wavelet.
struct WaveletText {
  /// Kinds of wavelets.
  enum class Kind { ricker, ormsby, file };
  Kind kind = Kind::ricker;         ///< kind of the wavelet
  double frequency = 0.0;           ///< frequency of a Ricker wavelet, Hz
  std::array<double, 4> corners{};  ///< corners of an Ormsby wavelet, Hz
  double delay = -1.0;              ///< time of the peak, s; negative: the default
  std::string path;                 ///< path of a file
  double interval = 0.0;            ///< interval of a file's samples, s; 0: as in the file
};

/// \brief Parses the description of a wavelet.
///
/// Forms: "ricker:15", "ricker:15:0.1" (frequency, delay), "ormsby:5,10,40,50",
/// "ormsby:5,10,40,50:0.3" (corners, delay), "file:PATH", "file:PATH:0.002" (interval of the
/// samples), or a plain path. Files are not opened. \throws InputError with the allowed forms
WaveletText parse_wavelet(const std::string& text);

/// \brief Returns the described Ricker or Ormsby wavelet at an interval.
/// \throws InputError as ricker() and ormsby() do, and for a file; resample() serves the samples of
///   files
std::vector<double> make_wavelet(const WaveletText& text, double dt);

namespace detail {
/// Computes the discrete Fourier transform, sum of x_n exp(-2 pi i k n / N), in place.
///
/// N is a power of two.
void transform(std::vector<std::complex<double>>& values);
}  // namespace detail

}  // namespace moho::wave
