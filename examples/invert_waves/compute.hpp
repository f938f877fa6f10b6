// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of invert_waves that runs on a space, compiled once for each memory.

#include "common/wave_fields.hpp"
#include "invert_waves/options.hpp"

#include <moho/core/instance.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/progress.hpp>
#include <moho/stream/plan.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/wave/plan.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::invert_waves {

/// What the run was found to be before its first shot.
struct Plan {
  std::string device;
  int threads = 1;
  wave::Medium medium = wave::Medium::isotropic;
  wave::TimePlan time;
  wave::Limits limits;          ///< of the start
  double largest_dt = 0.0;      ///< stable with all models within the bounds
  double frequency = 0.0;       ///< highest of the last band, Hz
  double nodes_per_wave = 0.0;  ///< of the shortest wave of the last band in the start
  std::int64_t every = 0;       ///< steps between products in the last band
  std::vector<std::pair<double, double>> bounds;  ///< of each unknown
  std::vector<std::int64_t> nodes;                ///< with layers
  SourceField source_field = SourceField::shell;
  double source_bytes = 0.0;        ///< that keeping the source's wavefield takes
  double fixed_bytes = 0.0;         ///< all else in the space
  double budget = 0.0;              ///< of the space
  double data_bytes = 0.0;          ///< of all gathers, on the host
  double lags_bytes = 0.0;          ///< of the extended image
  int at_once = 1;                  ///< shots that are computed at once
  double unknowns = 0.0;            ///< how many
  double seconds = 0.0;             ///< estimate for an evaluation
  std::vector<std::string> stream;  ///< how gradients stream, for people; empty: they do not
  stream::StreamPlan stream_plan;   ///< the same
  std::string onset_note;           ///< data that begin far from first arrivals; empty: none do
};

/// A row of history.csv.
struct Evaluation {
  int band = 0;                 ///< from 1
  double frequency = 0.0;       ///< of the band, Hz; 0: all
  std::int64_t evaluation = 0;  ///< from 1
  std::int64_t iteration = 0;   ///< steps taken so far
  bool taken = false;           ///< this evaluation was a step that was taken
  double misfit = 0.0;          ///< over that of data without a model
  double relative = 0.0;        ///< over the first of the band
  double gradient = 0.0;        ///< length of the gradient at the best point
  double step = 0.0;            ///< along the direction, of this evaluation
  double vp_error = -1.0;       ///< |vp - true vp| / |true vp| of the best point; negative: unknown
  double seconds = 0.0;         ///< of this evaluation
  double points = 0.0;          ///< nodes stepped in it
  double modelling = 0.0;       ///< seconds of its forward legs
  double gradients = 0.0;       ///< seconds of all else that the shots took on the space
};

/// A gather of the middle shot.
struct Gather {
  std::int64_t shot = 0, receivers = 0, samples = 0;
  double dt = 0.0;
  std::vector<float> observed, start, modelled;  ///< receivers x samples
};

/// The extended image of the result.
template <class T>
struct Extension {
  std::vector<T> values;  ///< lag after lag, each with the nodes of the model
  double focus = 0.0;     ///< 1/2 sum of h^2 I^2 over 1/2 sum of I^2, square metres
};

/// What has been found so far, fetched when it is wanted.
template <class T>
struct Found {
  std::function<void(const std::filesystem::path&)> save;  ///< the state of the search
  std::function<ModelValues<T>()> model, gradient;         ///< of the unknowns, at the best point
  std::function<std::vector<T>()> illumination;            ///< of the last evaluation
};

/// What a shot adds to an evaluation, on the host.
template <class T>
struct ShotPart {
  double misfit = 0.0;     ///< over that of data without a model
  double points = 0.0;     ///< nodes stepped
  double modelling = 0.0;  ///< seconds of its forward leg
  double gradients = 0.0;  ///< seconds of all else on the space
  /// Derivatives by the parameters of the unknowns, and the illumination behind them: each on the
  /// nodes of the model.
  std::vector<T> values;
};

/// An evaluation whose shots several processes compute.
template <class T>
struct Order {
  std::int64_t evaluation = 0;  ///< from 1; 0: there is no other
  int band = 0;                 ///< from 0
  double size = 0.0;            ///< the misfit of no model
  std::vector<T> model;         ///< the parameters of the unknowns, each on the nodes
};

/// Input that is read but not yet checked against the model.
template <class T, int Dim>
struct Job {
  Grid<Dim> grid;
  ModelValues<T>* values = nullptr;       ///< of the start
  ModelValues<T>* true_values = nullptr;  ///< of the model that data come from; null: data are read
  bool truth_known = false;               ///< there is a true model, and it is not the start
  std::map<std::string, std::string> names, true_names;  ///< of parameters, for messages
  std::vector<wave::Shot<Dim>> shots;
  std::string sources_name, receivers_name, wavelet_name, data_name;
  wave::Boundaries<Dim> boundaries;
  wave::ModellingOptions<Dim> modelling;
  wave::WaveletAt wavelet;
  const Options* options = nullptr;
  std::vector<std::pair<double, double>> bounds;  ///< of each unknown
  std::vector<unsigned char> mask;                ///< by node, 0: stays; empty: none

  std::filesystem::path state;  ///< of an earlier run to go on with; empty: none
  int band = 0;                 ///< that the state is in, from 0
  std::int64_t in_band = 0;     ///< evaluations of that band that were told

  // Where several processes compute the shots of an evaluation. What is added is the same numbers
  // in the same order wherever they come from.
  bool root = true;                        ///< this one searches; others compute shots for it
  std::optional<std::size_t> only;         ///< with --only-shot: its place among the shots
  Order<T> order;                          ///< what is asked of that shot
  std::function<void(Order<T>&)> share;    ///< gives the root's order to all; none: it is alone
  std::function<bool(std::size_t)> takes;  ///< is it this process that computes a shot?
  std::function<void(std::size_t, const ShotPart<T>&)> keep;  ///< this process has computed it
  /// On the root: hands all shots to a function, in their order. None: it computes them itself.
  std::function<void(const Order<T>&, const std::function<void(std::size_t, const ShotPart<T>&)>&)>
      collect;
  /// Calls a function on all ranks; if it throws on one, all throw the same.
  std::function<void(const std::function<void()>&)> together;
  /// \brief Of ranks that choose the way of the source's wavefield themselves: from that which each
  /// would take the one that all do, as ways differ in rounding. Collective; none: it is alone.
  std::function<SourceField(SourceField)> agree;
  std::function<bool()> stop;  ///< is it time to begin no other evaluation?

  std::function<survey::ShotGather<Dim>(std::size_t)> gather;  ///< reads a shot; none: modelled
  bool check_onsets = false;  ///< compares beginnings of data with first arrivals
  std::function<void(const std::string&)> note;  ///< told what reading a shot left out
  /// All is planned; false stops.
  std::function<bool(const Plan&)> begins;
  /// An evaluation was told to the search.
  std::function<void(const Evaluation&, std::int64_t in_band, const Found<T>&)> told;
  /// A band is over, and why. The last one when all is done.
  std::function<void(int band, const std::string& why, const Found<T>&)> band_over;
  /// The middle shot at the end.
  std::function<void(const Gather&)> gathered;
  /// The extended image, if it was asked for.
  std::function<void(const Extension<T>&)> extended;
  Progress progress;
};

/// Inverts on a space.
/// \throws InputError, MemoryError, Error
template <class T, int Dim, class Memory>
PhaseTimes compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job);

}  // namespace moho::examples::invert_waves
