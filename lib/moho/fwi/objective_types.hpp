// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options, plan and values of an Objective.

#include <moho/core/argument_names.hpp>
#include <moho/core/binned_sum.hpp>
#include <moho/core/error.hpp>
#include <moho/core/progress.hpp>
#include <moho/core/text.hpp>
#include <moho/fwi/extended_image.hpp>
#include <moho/fwi/misfit.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/ranks.hpp>
#include <moho/stream/slab_plan.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/wave/model.hpp>
#include <moho/wave/plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace moho::fwi {

using wave::Parameter;

/// True for vp and density, whose values are positive.
inline bool is_positive(Parameter parameter) {
  return parameter == Parameter::vp || parameter == Parameter::density;
}

/// Variables of an inversion.
enum class Variables {
  logarithmic,  ///< ln(m / m_start) of vp and density, differences of epsilon and delta
  linear        ///< (m - m_start) / mean |m_start| of vp and density, the same differences
};

/// Methods to provide the source wavefield backward in time.
enum class SourceField {
  automatic,       ///< boundary_shell if it fits the memory, else replay
  boundary_shell,  ///< propagated backward from boundary values
  random,          ///< propagated backward with random boundaries; nothing is stored
  stored,          ///< every snapshot is stored
  replay           ///< recomputed from checkpoints
};
/// Returns "auto", "shell", "random", "stored" or "replay".
const char* to_string(SourceField field);

/// Bounds of a parameter.
struct Range {
  double low = 0.0;   ///< lowest value
  double high = 0.0;  ///< highest value

  /// False for a range chosen by the objective: both are 0.
  bool given() const { return low != 0.0 || high != 0.0; }
};

/// \brief Checks given bounds of a parameter against the values that models may have.
/// \param what name of the bounds in messages \param name of the parameter in messages
/// \throws InputError unless the bounds ascend within the range of wave::info()
void check_bounds(const std::string& what, const std::string& name, Parameter parameter,
                  const Range& bounds);

/// Options of make_objective().
template <int Dim>
struct ObjectiveOptions {
  /// Time, time step, order, equations, seed of random boundaries. With dt = 0 the time step is
  /// 0.9 of the stable one of the highest vp and epsilon within the bounds, with the density and
  /// delta of the initial model. Contrasts of an updated density lower the stable step: models that
  /// cannot be stepped are failed trials of a search (Objective::begin_trial()).
  wave::ModellingOptions<Dim> modelling = {};

  MisfitOptions misfit = {};                              ///< misfit function
  OffsetWeights offset_weights = {};                      ///< weights of traces by offset
  survey::MuteOptions mute = {};                          ///< mute of residuals
  survey::WaveletZero zero = survey::WaveletZero::start;  ///< time zero of the data
  bool complete_records = false;  ///< true: InputError if all data end before the modelled time

  /// Inverted parameters: vp, and any of density, epsilon and delta in the initial model.
  std::vector<Parameter> parameters = {Parameter::vp};
  Variables variables = Variables::logarithmic;  ///< of vp and density
  /// Bounds of each parameter, in the order of `parameters`.
  /// Default: 20 % beyond the values of the initial model within the limits of grid and time step;
  /// for epsilon and delta 0.1 beyond, within what models may have.
  std::vector<Range> bounds = {};
  std::vector<unsigned char> mask = {};  ///< for each node, 0: constant; empty: all nodes may
                                         ///< change
  std::vector<double> bands = {};        ///< corners of low-passes for set_band(), Hz, ascending

  SourceField source_field = SourceField::automatic;  ///< method
  /// Steps between products, at most half of those of the run; 0: by the wavelet.
  std::int64_t product_interval = 0;
  int random_width = 60;     ///< nodes of random boundaries, of source_field random
  int concurrent_shots = 0;  ///< shots computed concurrently; 0: chosen
  /// Of these, shots that advance in the same launches (ShotGradients::add_batch()), with a stored
  /// source wavefield; 0: chosen, more than 1 in 2D on devices; 1: none.
  int batch_size = 0;
  std::optional<std::size_t> only = {};  ///< the one shot that will be computed; empty: all
  std::optional<Lags> lags = {};         ///< lags of an extended image, for the memory plan
  /// True: extended images of several shots are summed exactly (ExtendedSum), with the same bits
  /// for any division among processes, and 16 bytes of the host per lag and node. False: one
  /// process adds them in single precision without that memory.
  bool exact_lags = true;

  int memory_pairs = 5;           ///< pairs of the L-BFGS search, for the memory plan
  std::size_t memory = 0;         ///< bytes of the host; 0: what is free
  std::size_t held = 0;           ///< bytes of `memory` that the caller's arrays take
  std::size_t device_memory = 0;  ///< bytes of the device, or host in its place; 0: what is free
  std::int64_t block = 0;         ///< planes of a streamed block; 0: chosen; else gradients stream
  std::int64_t updates = 0;       ///< steps of a plane on the device; 0: chosen; else gradients
                                  ///< stream
  /// Devices of this process for each shot. More than 1: slabs of the grid in core (SlabGradients);
  /// with source_field random and a block or updates, or if the slabs do not fit, a chain through
  /// which gradients stream. 0: slabs on as few devices as have the memory, at least 2.
  int devices = 1;
  /// Processes that compute each shot together, a slab of the grid each, in place of devices; they
  /// must outlive the objective. All of them make the objective and call its functions with equal
  /// arguments. Contributions of rank 0 are complete, those of the others are not. Null: each
  /// process computes complete shots.
  stream::StreamRanks* ranks = nullptr;
  int groups = 1;  ///< groups of as many ranks, which compute other shots; for messages
  /// Returns the bytes of `memory` that the caller leaves; 0: what is free.
  std::size_t rest_of_memory() const {
    return memory > 0 ? memory - std::min(memory - 1, held) : 0;
  }
  /// Returns a limit of memory for messages.
  std::string limit_text(double bytes) const {
    const bool shared = held > 0 && bytes == static_cast<double>(rest_of_memory());
    if (!shared) return format_bytes(bytes) + " in all";
    return concat(format_bytes(static_cast<double>(memory)), " in all, with ",
                  format_bytes(static_cast<double>(held)), " of the model");
  }
  /// Returns the number of devices or ranks of a shot for messages.
  std::string devices_text() const {
    return stream::device_count_text(ranks != nullptr ? ranks->size() : devices);
  }

  ArgumentNames names = {};  ///< names of arguments in messages
  Progress progress = {};    ///< called with the finished fraction of the evaluation
  std::function<void(const std::string&)> note = {};  ///< called with notes on the data
};

/// Choices of an Objective.
struct ObjectivePlan {
  wave::Medium medium = wave::Medium::isotropic;  ///< of the start
  wave::TimePlan time;                            ///< steps
  double max_dt = 0.0;                            ///< stable with vp and epsilon within the
                                                  ///< bounds, density and delta of the start, s
  double frequency = 0.0;                         ///< highest frequency of the last band, Hz
  double nodes_per_wave = 0.0;        ///< nodes per shortest wavelength of the last band in the
                                      ///< initial model
  std::int64_t product_interval = 0;  ///< steps between products in the last band
  std::vector<Range> bounds;          ///< of each parameter
  std::vector<std::int64_t> nodes;    ///< of the grid with layers
  SourceField source_field = SourceField::boundary_shell;  ///< method
  double source_bytes = 0.0;                               ///< of the source wavefield
  double fixed_bytes = 0.0;                                ///< of all other arrays
  double budget = 0.0;                                     ///< bytes available
  double data_bytes = 0.0;                                 ///< of all gathers, on the host
  double host_bytes = 0.0;          ///< of search, volumes, traces of misfits and extended images
                                    ///< on the host, in addition to data; 0 if fixed_bytes has them
  double lags_bytes = 0.0;          ///< of the extended image, on the host if gradients stream, on
                                    ///< the device of the largest slab with slabs
  double lags_sum_bytes = 0.0;      ///< of the exact sum of extended images, on the host; with
                                    ///< ObjectiveOptions::ranks of the first rank
  int concurrent_shots = 1;         ///< shots computed concurrently
  int batch_size = 1;               ///< of these, shots that advance in the same launches
  double variables = 0.0;           ///< number of variables
  double seconds = 0.0;             ///< of an evaluation, estimated
  std::vector<std::string> stream;  ///< description of the stream; empty for gradients in core
  stream::StreamPlan stream_plan;   ///< plan of streamed gradients
  /// Slabs of several devices. source_bytes, fixed_bytes and budget are then those of each device.
  stream::SlabPlan slabs;
  /// Description of the stream of the extended image; empty in core and without lags.
  std::vector<std::string> lags_stream;
  stream::StreamPlan lags_stream_plan;  ///< plan of the extended image in a stream

  /// Returns the bytes of a gradient on each device, or on the host in its place.
  double device_bytes() const { return fixed_bytes + source_bytes; }
};

/// \brief Settings on which the length of an inversion depends.
///
/// A search evaluates each band once before its iterations, and iterations on average 1.15 times.
/// An extended image takes about as long as an evaluation, and modelled data a third: they have no
/// adjoint field.
struct SearchLength {
  std::size_t bands = 0;              ///< number of bands; 0: all frequencies at once
  std::int64_t iterations_each = 10;  ///< iterations of a band
  bool extended = false;              ///< with an extended image of the result
  std::int64_t images_every = 0;      ///< evaluations from one such image to the next; 0: no others
  bool modelled = false;              ///< data are modelled

  /// Returns the number of iterations of all bands.
  double iterations() const { return each_band() * static_cast<double>(iterations_each); }
  /// Returns the number of evaluations of all bands.
  double evaluations() const { return each_band() + 1.15 * iterations(); }
  /// Returns the number of extended images.
  double images() const {
    if (!extended) return 0.0;
    const auto every = static_cast<double>(images_every);
    return 1.0 + (images_every > 0 ? std::floor(evaluations() / every) : 0.0);
  }
  /// Returns the time of the run. \param evaluation seconds of one
  double seconds(double evaluation) const {
    return evaluation * (evaluations() + images() + (modelled ? 1.0 / 3.0 : 0.0));
  }
  /// Returns the numbers of iterations and images as text.
  std::string counts() const {
    const std::string text = text::counted(iterations(), "iteration");
    return extended ? text + " and " + text::counted(images(), "extended image") : text;
  }

 private:
  double each_band() const { return static_cast<double>(std::max<std::size_t>(bands, 1)); }
};

/// Shots, and the source of their data.
template <class T, int Dim, class Memory>
struct ObjectiveData {
  std::vector<wave::Shot<Dim>> shots;  ///< in the order of the sums
  /// Reads the gather of a shot; empty: data are modelled with `model`.
  std::function<survey::ShotGather<Dim>(std::size_t)> read;
  wave::Model<T, Dim, Memory> model;  ///< model of modelled data
};

/// \brief The contribution of one shot to an evaluation, on the host.
///
/// It can be added to this objective or to that of another process.
template <class T>
struct ShotContribution {
  std::size_t shot = 0;           ///< position among the shots
  double misfit = 0.0;            ///< misfit over that of traces of zeros
  double points = 0.0;            ///< nodes stepped
  double forward_seconds = 0.0;   ///< of the forward propagation
  double backward_seconds = 0.0;  ///< of all other work
  /// Derivatives with respect to each parameter, then the illumination, on the nodes of the model.
  std::vector<T> values;
};

/// Returns the bytes of the sums of an evaluation. \param variables,nodes their numbers
inline double sum_bytes(double variables, double nodes) {
  return BinnedSum::bytes_per_element * (variables + nodes);
}

/// \brief The sum of the contributions of several shots, on the host.
///
/// It can be added to the objective of another process.
struct ContributionSum {
  std::vector<std::size_t> shots;  ///< positions of the shots
  std::vector<double> misfits;     ///< misfit of each of them, as ShotContribution::misfit
  double points = 0.0;             ///< nodes stepped
  double forward_seconds = 0.0;    ///< of the forward propagations
  double backward_seconds = 0.0;   ///< of all other work
  /// Derivatives with respect to each parameter, then the illumination. The terms are the shots.
  std::vector<BinnedSumState> sums;
};

/// Model for which another process computes contributions.
template <class T>
struct EvaluationRequest {
  double corner = 0.0;     ///< of the low-pass, Hz; 0: all frequencies
  double data_size = 0.0;  ///< misfit of traces of zeros; 0: that of the loaded shots
  std::vector<T> values;   ///< of each parameter on the nodes of the model
};

/// Statistics of an evaluation.
struct EvaluationReport {
  double points = 0.0;            ///< nodes stepped
  double forward_seconds = 0.0;   ///< of forward propagations
  double backward_seconds = 0.0;  ///< of all other work of the shots
  std::string failure;            ///< why the model cannot be stepped; empty if it can

  /// Adds nodes and seconds. \param work a contribution, a sum of them, or a report
  template <class Work>
  void add(const Work& work) {
    points += work.points;
    forward_seconds += work.forward_seconds;
    backward_seconds += work.backward_seconds;
  }
};

/// Extended image of a model.
template <class T>
struct ExtendedResult {
  std::vector<T> values;  ///< lags x nodes of the model
  double focus = 0.0;     ///< sum of h^2 I^2 over sum of I^2, m^2
};

}  // namespace moho::fwi
