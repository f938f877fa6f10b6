// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Preparation of traces for backpropagation: resampling, muting, scaling.
///
/// docs/theory/migration_data.md describes the operations and their order.

#include <moho/survey/gathers.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::survey {

/// Time of the wavelet that is time zero of the data.
enum class WaveletZero {
  start,  ///< its first sample: data modelled with the wavelet, or data that begin with the shot
  peak    ///< its largest sample: zero-phase data
};

/// Returns "start" or "peak".
inline const char* to_string(WaveletZero zero) {
  return zero == WaveletZero::start ? "start" : "peak";
}

/// Returns the time zero with a name. \throws InputError for other names
WaveletZero parse_wavelet_zero(const std::string& name);

/// Times of a wavelet, in s after its first sample.
struct WaveletTimes {
  double begin = 0.0;  ///< of the first sample above a thousandth of the largest
  double peak = 0.0;   ///< of the largest sample in magnitude, between samples by a parabola
  double end = 0.0;    ///< of the last sample above a thousandth of the largest
};

/// Returns the times of a wavelet S(0), S(dt), ... \throws InputError unless dt is positive and the
/// wavelet has a nonzero sample
WaveletTimes wavelet_times(const std::vector<double>& wavelet, double dt);

/// Returns a note on a wavelet that lasts longer than a run; empty if it does not.
/// \param wavelet,dt samples and their interval, see wavelet_times() \param end of the run, s
std::string note_of_late_wavelet(const std::vector<double>& wavelet, double dt, double end);

/// Mute of the beginning of traces.
struct MuteOptions {
  /// Reference time of the mute.
  enum class Kind {
    none,      ///< no mute
    arrivals,  ///< first arrivals in the model (arrival_times())
    velocity   ///< straight ray from source to receiver at a constant velocity
  };
  Kind kind = Kind::none;  ///< reference time
  double velocity = 0.0;   ///< m/s, of Kind::velocity
  double delay = -1.0;  ///< end of the mute after the reference time, s; negative: the end of the
                        ///< wavelet
  double taper = -1.0;  ///< length of the following cosine taper, s; negative: a quarter of the
                        ///< wavelet's duration
};

/// \brief Parses "none", "arrivals" or "velocity:1500", the latter two optionally with a suffix.
///
/// The suffix is ":DELAY" or ":DELAY:TAPER", in s. \throws InputError with the allowed forms
MuteOptions parse_mute(const std::string& text);

/// \brief Correction of amplitude and phase for spreading in more dimensions than the model.
///
/// Constant velocity v, far field, time t: the field of a line source is v sqrt(2 pi t) times the
/// half integral (i omega)^(-1/2) of the field of a point source.
struct SpreadingOptions {
  double power = 0.0;     ///< gain: samples are multiplied by (time since the shot)^power
  int half_order = 0;     ///< 1: half derivative, (i omega)^(1/2); -1: half integral; 0: unchanged
  double velocity = 0.0;  ///< v in m/s: factor v sqrt(2 pi), the amplitude of a line source; 0:
                          ///< factor 1
  bool line = false;      ///< true: the form "line", which models of two dimensions need
};

/// \brief Parses a correction for spreading.
///
/// Forms: "none"; "line" or "line:VELOCITY" (point sources in 3D for a model in 2D: t^(1/2) and the
/// half integral); "gain:POWER", "half-derivative" and "half-integral", also joined by "+".
/// \throws InputError with the allowed forms
SpreadingOptions parse_spreading(const std::string& text);

/// Options of prepare().
struct PrepareOptions {
  double dt = 0.0;           ///< time step of the run, s
  std::int64_t samples = 0;  ///< samples of each prepared trace, at 0, dt, 2 dt, ...: steps + 1
  double highest = 0.0;  ///< pass frequency of the low-pass, Hz; zero response above 1.25 times it;
                         ///< 0: no low-pass
  WaveletZero zero = WaveletZero::start;  ///< time of the wavelet that is time zero of the data
  WaveletTimes wavelet = {};              ///< times of the wavelet of the run
  MuteOptions mute = {};                  ///< top mute
  SpreadingOptions spreading = {};        ///< gain and phase
  double end_taper = 0.0;  ///< length of the taper smooth_ramp() at the end of the data or the run,
                           ///< s
  bool normalise = false;  ///< true: divide by the root mean square of the shot
};

/// Checks that a model of `dim` dimensions can use a correction.
/// \throws InputError for the form "line" in three dimensions
void check_spreading(const SpreadingOptions& spreading, int dim);

/// Checks options. \throws InputError for values out of range
void check_options(const PrepareOptions& options);

/// Traces of a shot, sampled at the time steps of a run.
template <int Dim>
struct PreparedShot {
  wave::Shot<Dim> shot;        ///< number, sources, receivers in the order of `samples`
  std::vector<float> samples;  ///< receivers x count; sample n is at time n * dt of the run
  std::int64_t count = 0;      ///< samples in a trace
  double dt = 0.0;             ///< seconds between samples
  double rms = 0.0;            ///< root mean square of the samples before normalisation
  double scale = 1.0;          ///< factor of the normalisation
  double adjoint_scale = 1.0;  ///< dt over the interval of the data, not applied. The samples times
                               ///< this factor are the adjoint of sampling a run at that interval
  std::vector<std::string> notes;  ///< operations applied, as text
};

/// \brief Prepares the traces of a shot for the time steps of a run.
///
/// The order is: shift by the wavelet's time zero; band-limited resampling with a low-pass (sinc
/// with a Kaiser window); gain; mute; half derivative or integral; end taper; normalisation. Time
/// zero of the run is the first sample of the wavelet.
///
/// \param gather result of Survey::read()
/// \param options time step, number of samples, and operations
/// \param arrivals first arrival at each receiver in s, for MuteOptions::Kind::arrivals
/// \throws InputError for options out of range, missing arrivals, and a gather whose samples are
/// not receivers x count
template <int Dim>
PreparedShot<Dim> prepare(const ShotGather<Dim>& gather, const PrepareOptions& options,
                          const std::vector<double>& arrivals = {});

namespace detail {

/// Resampling from times `start` + i * interval to times n * dt, with a low-pass.
class Resampling {
 public:
  /// \param interval sampling interval of the input, s
  /// \param start time of the first input sample, s
  /// \param count number of input samples
  /// \param dt sampling interval of the result, s
  /// \param samples number of samples of the result
  /// \param highest pass frequency, Hz; 0: limited by both intervals
  Resampling(double interval, double start, std::int64_t count, double dt, std::int64_t samples,
             double highest);
  /// Pass frequency of the low-pass, Hz; 0 without low-pass.
  double pass() const { return m_pass; }
  /// True if samples are copied unchanged.
  bool plain() const { return m_plain; }
  /// Resamples `from`, traces x count, to `to`, traces x samples.
  void apply(const float* from, std::int64_t traces, float* to) const;

 private:
  std::int64_t m_count, m_samples;
  double m_pass = 0.0;
  bool m_plain = true;
  std::vector<std::int64_t> m_first;   // input sample of the first weight, for each sample
  std::vector<std::size_t> m_weights;  // offsets of the weights of each sample; samples + 1 entries
  std::vector<double> m_weight;
};

/// Applies (i omega)^(order / 2) in place, order 1 or -1, to traces x count samples.
/// Samples before the first one are zero.
void half_derivatives(float* samples, std::int64_t traces, std::int64_t count, double dt,
                      int order);

}  // namespace detail

}  // namespace moho::survey
