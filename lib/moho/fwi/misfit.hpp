// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Misfits of traces, their derivatives, and weights of residuals.

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Measure of the difference between modelled and observed traces.
enum class MisfitKind {
  least_squares,  ///< half the integral over time of the square of the weighted residual
  correlation,    ///< 1 minus the normalised correlation of each trace: independent of amplitudes
  huber,          ///< squares of small residuals, absolute values of large residuals
  envelope        ///< least squares of envelopes: insensitive to phases
};

/// Returns "least-squares", "correlation", "huber" or "envelope".
const char* to_string(MisfitKind kind);
/// Returns the misfit with a name. \throws InputError for other names
MisfitKind parse_misfit(const std::string& name);

/// Weights by offset: pairs of a distance in m and a weight.
/// Weights are linear between distances and constant beyond.
using OffsetWeights = std::vector<std::pair<double, double>>;

/// \brief Parses "0:0,200:0.3,600:1": ascending distances in m with weights of 0 or more.
/// \throws InputError with the allowed form
OffsetWeights parse_offset_weights(const std::string& text);
/// Returns the weight at a distance in m; 1 without weights.
double offset_weight(const OffsetWeights& weights, double distance);

/// Options of shot_misfit().
struct MisfitOptions {
  MisfitKind kind = MisfitKind::least_squares;  ///< kind of misfit
  double huber = 1.0;  ///< threshold of large residuals, over the root mean square of the shot's
                       ///< weighted observed samples
};

/// \brief Observed traces of a shot, sampled at the time steps of a run.
struct ObservedShot {
  std::int64_t receivers = 0;   ///< number of traces
  std::int64_t count = 0;       ///< samples of a trace, at 0, dt, 2 dt, ...
  double dt = 0.0;              ///< sampling interval, s
  std::vector<float> samples;   ///< receivers x count
  std::vector<double> weights;  ///< of each trace; empty: 1
  std::vector<double> begins;   ///< start time of the weights of each trace, s; empty: 0 for all
  double data_begin = 0.0;      ///< time of the first recorded sample, s; weights before are 0
  /// Time of the last recorded sample, s; weights after are 0.
  double data_end = std::numeric_limits<double>::infinity();
  double taper = 0.0;             ///< length of the ramp of the weights after `begins`, s
  double end_taper = 0.0;         ///< length of the taper at the end of the run or the data,
                                  ///< smooth_ramp() of smooth_ramp(), s; 0: no taper
  std::string name = "the shot";  ///< name of the shot in messages

  /// Returns the weight of a sample.
  double weight(std::int64_t receiver, std::int64_t sample) const;
};

/// \brief Checks the sizes and values of observed traces.
/// \throws InputError for differing sizes, values that are not finite, and zeros only in all traces
/// with weight
void check_observed(const ObservedShot& shot);

/// \brief Returns the misfit of a shot, and its derivative with respect to each modelled sample.
///
/// Least squares: 1/2 dt sum (w (d - o))^2. Correlation: sum over traces of 1 - <w d, w o> / (|w d|
/// |w o|). Observed traces below a thousandth of the largest one contribute 0, modelled traces of
/// zeros contribute 1. Huber: dt sum h(w (d - o)), h(x) = x^2 / 2 up to c and c (|x| - c / 2)
/// beyond. Envelope: 1/2 dt sum (E(w d) - E(w o))^2, E(x) = sqrt(x^2 + H[x]^2 + e^2) with the
/// Hilbert transform H of the trace extended by zeros. e is a thousandth of the root mean square of
/// the shot's weighted observed samples. Sums are in double precision.
///
/// \param options kind of misfit
/// \param shot observed traces o with weights w
/// \param modelled modelled traces d, samples x receivers
/// \param derivative written: samples x receivers
/// \throws InputError if the numbers of samples differ
template <class T>
double shot_misfit(const MisfitOptions& options, const ObservedShot& shot,
                   const std::vector<T>& modelled, std::vector<T>& derivative);

/// \brief Applies a causal Butterworth low-pass of eighth order.
///
/// Applied to data and wavelet it is consistent: filtered traces are those of the filtered wavelet.
/// The filter starts at rest.
/// \param samples traces x count, in place
/// \param count samples of a trace
/// \param dt sampling interval, s
/// \param frequency corner in Hz, with half of the power; below 1 / (2 dt)
/// \throws InputError for a frequency out of range
template <class T>
void low_pass(std::vector<T>& samples, std::int64_t count, double dt, double frequency);

/// \brief Removes frequencies of adjoint sources that alias in products at every few steps.
///
/// Consider a wavefield with frequencies up to f, and products at every k-th step. Their sum is
/// exact if the adjoint source has no frequencies above 1 / (k dt) - f. Frequencies of the adjoint
/// source above f add nothing to the sum over all steps. The filter is symmetric (sinc with a
/// Kaiser window). It passes frequencies up to `pass` and reduces those above `stop` by 80 dB. Rows
/// before the first one are zero. Rows after the last one continue with the opposite sign: the last
/// row, zero due to ObservedShot::end_taper, remains zero.
/// \param rows samples x points, in place
/// \param points values of a row
/// \param dt interval of rows, s
/// \param pass,stop frequencies in Hz; rows are unchanged if stop is 1 / (2 dt) or more
/// \throws InputError unless 0 < pass < stop and dt is positive
template <class T>
void remove_aliases(std::vector<T>& rows, std::int64_t points, double dt, double pass, double stop);

/// \brief Returns the weights of remove_aliases() at distances of 0, 1, ... rows.
///
/// Empty: rows are unchanged. \throws InputError unless 0 < pass < stop and dt is positive
std::vector<double> alias_weights(double dt, double pass, double stop);

}  // namespace moho::fwi
