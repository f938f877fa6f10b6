// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Misfits of traces and their derivatives, and what weighs residuals.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// How far modelled traces are from observed ones.
enum class MisfitKind {
  least_squares,  ///< half the integral over time of the square of the weighted residual
  correlation,    ///< 1 less the normalised correlation of each trace: amplitudes do not matter
  huber,          ///< least squares of small residuals, absolute values of large ones
  envelope        ///< least squares of envelopes: phases do not matter
};

/// "least-squares", "correlation", "huber", "envelope".
const char* to_string(MisfitKind kind);
/// A misfit by its name. \throws InputError
MisfitKind parse_misfit(const std::string& name);

/// Weights by offset: pairs of a distance in metres and a weight, linear between them and constant
/// beyond.
using OffsetWeights = std::vector<std::pair<double, double>>;

/// \brief Reads "0:0,200:0.3,600:1": distances that ascend, and weights that are not negative.
/// \throws InputError with the form that is allowed
OffsetWeights parse_offset_weights(const std::string& text);
/// The weight at a distance; 1 if there are none.
double offset_weight(const OffsetWeights& weights, double distance);

/// Options of shot_misfit().
struct MisfitOptions {
  MisfitKind kind = MisfitKind::least_squares;  ///< which
  double huber = 1.0;  ///< residuals are large above so many times the root mean square of the
                       ///< weighted observed samples of the shot
};

/// \brief The observed traces of a shot, at the steps of a run.
struct ObservedShot {
  std::int64_t receivers = 0;     ///< traces
  std::int64_t count = 0;         ///< samples of a trace, at 0, dt, 2 dt, ...
  double dt = 0.0;                ///< seconds between samples
  std::vector<float> samples;     ///< receivers x count
  std::vector<double> weights;    ///< of each trace; empty: 1
  std::vector<double> begins;     ///< seconds before which residuals do not count; empty: all count
  double taper = 0.0;             ///< seconds after that over which their weight rises to 1
  double end_taper = 0.0;         ///< seconds before the last sample over which all weights fall to
                                  ///< 0 by smooth_ramp() of itself; 0: the record ends abruptly
  std::string name = "the shot";  ///< for messages

  /// The weight of a sample.
  double weight(std::int64_t receiver, std::int64_t sample) const;
};

/// \brief Throws InputError unless there are as many samples, weights and beginnings as it says,
/// all of them finite, and some trace that counts is not zero everywhere.
void check_observed(const ObservedShot& shot);

/// \brief The misfit of a shot, and its derivative by each modelled sample. Sums are in double
/// precision.
///
/// Least squares: 1/2 dt sum (w (d - o))^2. Correlation: sum over traces of 1 - <w d, w o> / (|w d|
/// |w o|), where observed traces below a thousandth of the loudest one count 0, and modelled ones
/// that are zero count 1. Huber: dt sum h(w (d -
/// o)), h(x) = x^2 / 2 up to c and c (|x| - c / 2) beyond. Envelope: 1/2 dt sum (E(w d) - E(w
/// o))^2, E(x) = sqrt(x^2 + H[x]^2 + e^2) with the Hilbert transform H of a trace that is zero
/// before and after, and e a thousandth of the root mean square of the weighted observed samples of
/// the shot. \param options which misfit \param shot what was observed \param modelled samples x
/// receivers \param derivative samples x receivers: written \throws InputError where the numbers of
/// samples differ
template <class T>
double shot_misfit(const MisfitOptions& options, const ObservedShot& shot,
                   const std::vector<T>& modelled, std::vector<T>& derivative);

/// \brief A low-pass of eighth order (Butterworth) that looks at no later samples: the same in data
/// and wavelet changes neither's part in a misfit, whatever lies before the first sample.
/// \param samples traces x count, in place
/// \param count samples of a trace
/// \param dt seconds between samples
/// \param frequency in Hz at which half of the power is left, below 1 / (2 dt)
/// \throws InputError for a frequency out of range
template <class T>
void low_pass(std::vector<T>& samples, std::int64_t count, double dt, double frequency);

/// \brief Removes the frequencies of adjoint sources that alias where products of wavefields are
/// formed every few steps.
///
/// The sum over every k-th step of products of a wavefield with frequencies up to f is exact if the
/// adjoint source has none above 1 / (k dt) - f. Frequencies of the adjoint source above f add
/// nothing to the sum over all steps. The filter is symmetric (a sinc under a Kaiser window): it
/// passes frequencies up to `pass` and reduces those above `stop` by 80 dB. Before the first sample
/// rows are zero; after the last one they continue with the opposite sign, so that the last row,
/// which is zero after ObservedShot::end_taper, remains zero.
/// \param rows samples x points, in place
/// \param points values of a row
/// \param dt seconds between rows
/// \param pass,stop in Hz; nothing is done where stop is 1 / (2 dt) or more
/// \throws InputError unless 0 < pass < stop and dt is positive
template <class T>
void remove_aliases(std::vector<T>& rows, std::int64_t points, double dt, double pass, double stop);

}  // namespace moho::fwi
