// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Traces made ready for being sent back in time: resampled to the steps of a run, muted,
/// scaled.
///
/// What is done, in which order and why, stands in docs/theory/migration_data.md.

#include <moho/survey/gathers.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::survey {

/// Which time of the wavelet is zero in the data.
enum class WaveletZero {
  start,  ///< its first sample: data that were modelled with it, or that begin with the shot
  peak    ///< its largest sample: data that were made zero phase
};

/// "start", "peak".
inline const char* to_string(WaveletZero zero) {
  return zero == WaveletZero::start ? "start" : "peak";
}

/// A zero by its name. \throws InputError
WaveletZero parse_wavelet_zero(const std::string& name);

/// When a wavelet happens, seconds after its first sample.
struct WaveletTimes {
  double begin = 0.0;  ///< of the first sample above a thousandth of the largest
  double peak = 0.0;   ///< of the largest sample in magnitude, between samples by a parabola
  double end = 0.0;    ///< of the last sample above a thousandth of the largest
};

/// The times of a wavelet S(0), S(dt), ... \throws InputError if dt is not positive or there is no
/// amplitude
WaveletTimes wavelet_times(const std::vector<double>& wavelet, double dt);

/// What is taken off the beginning of traces.
struct MuteOptions {
  /// What it goes by.
  enum class Kind {
    none,      ///< nothing is taken off
    arrivals,  ///< first arrivals in the model (arrival_times())
    velocity   ///< the straight way from source to receiver at one velocity
  };
  Kind kind = Kind::none;  ///< what it goes by
  double velocity = 0.0;   ///< m/s, of Kind::velocity
  double delay = -1.0;  ///< seconds after the arrival that are taken off; negative: to the end of
                        ///< the wavelet
  double taper = -1.0;  ///< seconds of the cosine that follows; negative: a quarter of the
                        ///< wavelet's duration
};

/// \brief Reads "none", "arrivals", "velocity:1500", both followed by ":DELAY" or ":DELAY:TAPER" in
/// seconds if wanted. \throws InputError with the forms that are allowed
MuteOptions parse_mute(const std::string& text);

/// \brief What is done to amplitudes and phases for waves that spread in other dimensions than the
/// model has.
///
/// In a medium of constant velocity v a line source makes, of what a point source does at time t, v
/// sqrt(2 pi t) times the half integral (i omega)^(-1/2), far from the source.
struct SpreadingOptions {
  double power = 0.0;     ///< samples are multiplied by (time since the shot)^power
  int half_order = 0;     ///< 1: half a derivative, (i omega)^(1/2); -1: half an integral
  double velocity = 0.0;  ///< m/s: times v sqrt(2 pi), the amplitude of a line source; 0: times 1
};

/// \brief Reads "none", "line" or "line:VELOCITY" (data of points in three dimensions for a model
/// of two: t^(1/2) and half an integral), "gain:POWER", "half-derivative" and "half-integral"; the
/// last ones may be joined by "+". \throws InputError with the forms that are allowed
SpreadingOptions parse_spreading(const std::string& text);

/// Options of prepare().
struct PrepareOptions {
  double dt = 0.0;           ///< seconds between steps of the run
  std::int64_t samples = 0;  ///< of each trace after it, at 0, dt, 2 dt, ...: steps + 1
  double highest = 0.0;  ///< Hz that the grid carries: the frequencies up to it stay, those above
                         ///< 1.25 times it go; 0: no low-pass
  WaveletZero zero = WaveletZero::start;  ///< which time of the wavelet is zero in the data
  WaveletTimes wavelet = {};              ///< of the wavelet of the run
  MuteOptions mute = {};                  ///< top mute
  SpreadingOptions spreading = {};        ///< gain and phase
  double end_taper = 0.0;  ///< seconds over which data fall to zero, by smooth_ramp(), where they
                           ///< or the run end
  bool normalise = false;  ///< divide by the root mean square of the shot
};

/// Throws InputError for options out of range.
void check_options(const PrepareOptions& options);

/// A shot's traces at the steps of a run.
template <int Dim>
struct PreparedShot {
  wave::Shot<Dim> shot;        ///< number, sources, receivers in the order of `samples`
  std::vector<float> samples;  ///< receivers x count; sample n is at n * dt of the run's time
  std::int64_t count = 0;      ///< samples in a trace
  double dt = 0.0;             ///< seconds between samples
  double rms = 0.0;            ///< root mean square of the samples, before they were normalised
  double scale = 1.0;          ///< what they were normalised with
  double adjoint_scale = 1.0;  ///< dt over the interval of the data: times this the samples are the
                               ///< adjoint of sampling a run at that interval. Not applied
  std::vector<std::string> notes;  ///< what was done, in words
};

/// \brief Brings the traces of a shot to the steps of a run.
///
/// In this order: the wavelet's zero, band-limited resampling with a low-pass (a sinc under a
/// Kaiser window), gain, mute, half derivative or integral, taper at the end, normalisation. The
/// time of the run is zero when the first sample of the wavelet is injected. \param gather as
/// Survey::read() gives it \param options dt, samples, and what is to be done \param arrivals first
/// arrival at each receiver in seconds, where the mute goes by them \throws InputError for options
/// out of range, arrivals that are missing, and a gather whose samples are not receivers x count
template <int Dim>
PreparedShot<Dim> prepare(const ShotGather<Dim>& gather, const PrepareOptions& options,
                          const std::vector<double>& arrivals = {});

namespace detail {

/// Weights that make samples at n * dt of others at `start` + i * interval, with a low-pass.
class Resampling {
 public:
  /// \param interval of the samples that there are
  /// \param start time of the first of them
  /// \param count how many there are
  /// \param dt of the result
  /// \param samples of the result
  /// \param highest frequency that stays, 0: as many as both intervals carry
  Resampling(double interval, double start, std::int64_t count, double dt, std::int64_t samples,
             double highest);
  /// The frequency up to which all stays, 0 if there is no low-pass.
  double pass() const { return m_pass; }
  /// True if samples are copied and nothing else is done.
  bool plain() const { return m_plain; }
  /// traces x samples from traces x count.
  void apply(const float* from, std::int64_t traces, float* to) const;

 private:
  std::int64_t m_count, m_samples;
  double m_pass = 0.0;
  bool m_plain = true;
  std::vector<std::int64_t> m_first;   // sample that the first weight belongs to
  std::vector<std::size_t> m_weights;  // where weights begin; one more than there are samples
  std::vector<double> m_weight;
};

/// In place: (i omega)^(order / 2) of traces x count samples that are zero before the first, order
/// 1 or -1.
void half_derivatives(float* samples, std::int64_t traces, std::int64_t count, double dt,
                      int order);

}  // namespace detail

}  // namespace moho::survey
