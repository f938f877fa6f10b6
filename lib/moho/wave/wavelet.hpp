// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Source time functions: Ricker, Ormsby, or samples, at the time step of a propagation.
///
/// All functions return samples S(0), S(dt), S(2 dt), ... that end where the wavelet has decayed;
/// beyond them it is zero. Times are in seconds, frequencies in Hz.

#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::wave {

/// \brief The wavelet (1 - 2 a) exp(-a) with a = (pi frequency (t - delay))^2: 1 at the delay.
///
/// It ends 1.5 / frequency after the delay, where less than 1e-8 of it is left. Its spectrum is
/// largest at `frequency` and under 5 % of that beyond 2.4 times the frequency.
/// \param frequency of the largest amplitude
/// \param dt interval of the samples
/// \param delay time of the peak; negative (the default): 1.5 / frequency, with which it begins as
/// quietly as it ends
/// \throws InputError if the frequency is not positive, the delay no number, or dt not positive or
/// too coarse: 1 / (2 dt) has to be 2.4 times the frequency or more
std::vector<double> ricker(double frequency, double dt, double delay = -1.0);

/// \brief The zero-phase wavelet whose amplitude spectrum rises from corners[0] to corners[1], is
/// flat up to corners[2] and falls to zero at corners[3]; 1 at the delay.
///
/// It is tapered by a Hann window from 0 to twice the delay, which smooths the corners of its
/// spectrum over about 1 / delay.
/// \param corners ascending frequencies; the first may be zero, the second and third equal
/// \param dt interval of the samples
/// \param delay time of the peak; negative (the default): 2 over the narrower of the two slopes
/// \throws InputError if the corners do not ascend, the delay is zero or no number, or dt is not
/// positive or too coarse: 1 / (2 dt) has to be corners[3] or more
std::vector<double> ormsby(const std::array<double, 4>& corners, double dt, double delay = -1.0);

/// \brief Samples at another interval, by band-limited interpolation: a sinc under a Kaiser window
/// of 64 samples, whose error is below 1e-7 of the largest amplitude for frequencies up to 0.8 /
/// (2 interval).
/// \param samples S(0), S(interval), ...; zero before and after
/// \param interval of the samples given
/// \param dt interval of the result; the same interval gives the same samples
/// \throws InputError if an interval is not positive, there is no sample, a sample is not finite,
/// all are zero, or dt is too coarse: 1 / (2 dt) has to be their highest_frequency() or more
std::vector<double> resample(const std::vector<double>& samples, double interval, double dt);

/// \brief The frequency above which the amplitude spectrum stays under `level` times its maximum:
/// what grid dispersion is to be judged by. (2.4 times the frequency of a Ricker wavelet.)
///
/// The samples are padded with zeros to at least four times their number; between two frequencies
/// of the transform the spectrum is taken as linear. It is 1 / (2 dt) if the spectrum does not
/// fall. \throws InputError if dt is not positive, there is no sample, one is not finite, or all
/// are zero
double highest_frequency(const std::vector<double>& samples, double dt, double level = 0.05);

/// \brief A wavelet as a text describes it.
struct WaveletText {
  /// Kinds of wavelets.
  enum class Kind { ricker, ormsby, file };
  Kind kind = Kind::ricker;         ///< which one
  double frequency = 0.0;           ///< of a Ricker wavelet
  std::array<double, 4> corners{};  ///< of an Ormsby wavelet
  double delay = -1.0;              ///< negative: the default
  std::string path;                 ///< of a file
  double interval = 0.0;            ///< of the samples in a file; 0: the file says
};

/// \brief Reads "ricker:15", "ricker:15:0.1" (frequency, delay), "ormsby:5,10,40,50",
/// "ormsby:5,10,40,50:0.3" (corners, delay), "file:PATH", "file:PATH:0.002" (interval of the
/// samples), or a plain path.
///
/// Files are not opened here. \throws InputError with the forms that are allowed
WaveletText parse_wavelet(const std::string& text);

/// \brief The Ricker or Ormsby wavelet of a text, at an interval.
/// \throws InputError as ricker() and ormsby() do, and for a file, whose samples resample() takes
std::vector<double> make_wavelet(const WaveletText& text, double dt);

namespace detail {
/// The discrete Fourier transform, sum of x_n exp(-2 pi i k n / N), in place; N is a power of two.
void transform(std::vector<std::complex<double>>& values);
}  // namespace detail

}  // namespace moho::wave
