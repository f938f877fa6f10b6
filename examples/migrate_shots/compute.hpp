// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of migrate_shots that runs on a space, compiled once for each memory.

#include "common/wave_fields.hpp"
#include "migrate_shots/options.hpp"

#include <moho/core/instance.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/progress.hpp>
#include <moho/core/timeline.hpp>
#include <moho/rtm/image.hpp>
#include <moho/snapshot/strategy.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/survey/window.hpp>
#include <moho/wave/plan.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::migrate_shots {

/// What the run was found to be before its first shot.
struct Plan {
  std::string device;
  int threads = 1;
  wave::Medium medium = wave::Medium::isotropic;
  wave::TimePlan time;
  wave::Limits limits;
  double frequency = 0.0;       ///< highest of the wavelet, Hz
  double peak_time = 0.0;       ///< of the wavelet, s
  double nodes_per_wave = 0.0;  ///< of the shortest
  std::int64_t every = 0;       ///< steps between snapshots
  std::int64_t every_by_rule = 0;
  snapshot::Strategy strategy;        ///< of the largest shot
  double budget = 0.0, disk = 0.0;    ///< bytes that snapshots may take in memory and in files
  double host_budget = 0.0;           ///< beside a device
  std::vector<std::int64_t> largest;  ///< nodes of the largest shot's window, with layers
  double seconds = 0.0;               ///< estimate for all shots
  wave::MemoryNeed memory;            ///< of the largest shot, without snapshots
  int at_once = 1;                    ///< shots that are migrated at once
  std::string onset_note;             ///< data that begin far from first arrivals; empty: none do
};

/// The sums of one shot on its part of the model.
template <class T, int Dim>
struct ShotSums {
  survey::ShotWindow<Dim> window;
  /// By node of the window. `receiver` is zero unless complete_receivers().
  std::vector<T> image, source, receiver;
  std::vector<T> offsets;             ///< column x half offset x depth; columns of the window
  std::vector<std::int64_t> columns;  ///< their numbers among all columns
};

/// What migrating a shot took.
struct ShotReport {
  std::vector<std::string> notes;  ///< what was done to its data
  std::string snapshots;           ///< how they were kept
  double ratio = 1.0;              ///< raw over kept bytes
  double kept_bytes = 0.0;
  double points = 0.0, whole_points = 0.0, again = 0.0;  ///< nodes stepped, of whole grids, twice
  double seconds = 0.0;                                  ///< of both legs
  std::int64_t receivers = 0, dead = 0;
  /// Boxes of both legs as numbers of wave::BoxHistory.
  std::vector<std::int64_t> forward_boxes, backward_boxes;
};

/// Input that is read but not yet checked against the model.
template <class T, int Dim>
struct Job {
  Grid<Dim> grid;
  ModelValues<T>* values = nullptr;       ///< of the model to migrate with
  ModelValues<T>* true_values = nullptr;  ///< of the one that data come from; null: data are read
  std::map<std::string, std::string> names, true_names;  ///< of parameters, for messages
  std::vector<wave::Shot<Dim>> shots;
  std::string sources_name, receivers_name, wavelet_name;
  wave::Boundaries<Dim> boundaries;
  wave::ModellingOptions<Dim> modelling;
  wave::WaveletAt wavelet;
  const Options* options = nullptr;
  std::filesystem::path scratch;    ///< folder for snapshots in files
  rtm::OffsetOptions<Dim> offsets;  ///< columns are nodes of the whole model

  std::function<survey::ShotGather<Dim>(std::size_t)> gather;  ///< reads a shot; none: modelled
  bool check_onsets = false;  ///< compares beginnings of data with first arrivals
  /// Calls a function on all ranks; if it throws on one, all throw the same.
  std::function<void(const std::function<void()>&)> together;
  /// Is it this process that computes a shot? Asked in the order of the shots, once each.
  std::function<bool(std::size_t)> takes;
  /// All is planned; false stops.
  std::function<bool(const Plan&)> begins;
  /// Receives the data of shot 0, unchanged and as they are migrated, before done() of that shot.
  std::function<void(const survey::ShotGather<Dim>&, const survey::PreparedShot<Dim>&)> data;
  /// A shot is done.
  std::function<void(std::size_t, const ShotSums<T, Dim>&, const ShotReport&)> done;
  Progress progress;
  Timeline* timeline = nullptr;
};

/// Migrates all shots on a space.
/// \throws InputError, MemoryError, Error
template <class T, int Dim, class Memory>
PhaseTimes compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job);

}  // namespace moho::examples::migrate_shots
