// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of model_waves that runs on a space, compiled once for each memory.

#include <moho/core/instance.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/progress.hpp>
#include <moho/rtm/types.hpp>
#include <moho/wave/plan.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples::model_waves {

/// What the run was found to be, before its first step and after its last.
struct Report {
  wave::TimePlan time;
  wave::Medium medium = wave::Medium::isotropic;
  wave::Limits limits;
  std::vector<std::int64_t> extended;  ///< nodes of the grid with its layers
  double frequency = 0.0;              ///< highest of the wavelet, Hz
  double source_taper = 0.0;           ///< delta goes to epsilon so near sources, m; 0: nowhere
  double peak_time = 0.0;              ///< of the largest sample of the wavelet, seconds
  double nodes_per_wave = 0.0;         ///< of the shortest wave
  double nodes_per_wave_wanted = 0.0;  ///< at this order
  std::size_t bytes = 0;               ///< estimate of what the run takes in the space
  std::string device;
  int threads = 1;

  PhaseTimes phases;
  double points = 0.0;          ///< nodes stepped
  double whole_points = 0.0;    ///< nodes of all steps without --expand
  double seconds = 0.0;         ///< of all steps with injection and recording
  double domain_seconds = 0.0;  ///< that finding the nodes to step took
};

/// Traces on the host, receivers x samples.
template <class T>
struct Gather {
  const T* samples;  ///< a row a receiver
  std::int64_t receivers, count;
};

/// Input that is read but not yet checked against the model.
template <class T, int Dim>
struct Job {
  Grid<Dim> grid;
  std::map<std::string, std::vector<T>>* values = nullptr;  ///< by option: "vp", "rho" ...
  std::map<std::string, std::string> names;                 ///< of parameters, for messages
  std::vector<wave::Shot<Dim>> shots;
  std::string sources_name, receivers_name, wavelet_name;  ///< for messages
  wave::Boundaries<Dim> boundaries;
  wave::ModellingOptions<Dim> modelling;  ///< times, order, equations; sources come from the shots
  rtm::Expansion expand = rtm::Expansion::none;
  wave::WaveletAt wavelet;

  /// Is a shot there already, so that it need not be computed?
  std::function<bool(std::size_t shot)> is_there;
  /// Everything is checked; the first step comes next.
  std::function<void(const Report&)> begins;
  /// The traces of a shot, receivers x samples.
  std::function<void(std::size_t shot, const Gather<T>&)> gather;
  /// The wavefield of the first shot on the model's grid, after a step. Called on another thread.
  std::function<void(std::int64_t step, const T* values)> snapshot;
  Progress progress;
};

/// Models all shots on a space.
/// \throws InputError, MemoryError, Error
template <class T, int Dim, class Memory>
Report compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job);

}  // namespace moho::examples::model_waves
