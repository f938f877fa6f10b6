// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of stream_waves that runs on a space, compiled once for each memory.

#include "common/shot_program.hpp"

#include <moho/core/instance.hpp>
#include <moho/core/timeline.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/ranks.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace moho::examples::stream_waves {

/// What a run was found to be, before its first step and after its last.
struct Report : WaveReport {
  stream::StreamPlan plan;
  stream::StreamNeed need;
  stream::StreamRates rates;
  bool locked = true;            ///< copies go to the volume itself, not through buffers
  std::string lock_text;         ///< why not
  int chains = 1;                ///< of this process, side by side
  std::int64_t steps = 0;        ///< of a shot: the last wavefield is at this time
  std::int64_t went_on_at = 0;   ///< steps that were there in the file
  std::int64_t iterations = 0;   ///< of all shots
  double bytes_in = 0.0;         ///< to devices, of all shots
  double bytes_out = 0.0;        ///< from devices, of all shots
  double staging_seconds = 0.0;  ///< that the host copied between volume and buffers
};

/// What is asked besides the waves.
template <class T>
struct StreamJob {
  stream::StreamWishes wishes;
  std::string file;        ///< of the volume; empty: in memory
  std::string run;         ///< what the run is, for the file
  bool resume = false;     ///< go on with the file
  bool in_core = true;     ///< a volume that fits is stepped where it lies
  bool only_plan = false;  ///< WaveJob::begins will say no
  Timeline* timeline = nullptr;
  stream::StreamRanks* ranks = nullptr;  ///< of the run; null: there is one process

  /// What was planned; called before WaveJob::begins.
  std::function<void(const Report&)> planned;
  /// Volume and rings are there; called after it.
  std::function<void(const Report&)> prepared;
  /// The last wavefield of the first shot on the model's nodes, after so many steps; called before
  /// WaveJob::gather.
  std::function<void(const T* values, std::int64_t steps)> wavefield;
};

/// Models all shots on a space.
/// \throws InputError, MemoryError, FileError, Error
template <class T, int Dim, class Memory>
Report compute_on(const Instance<Memory>& exec, const WaveJob<T, Dim>& job,
                  const StreamJob<T>& streaming);

}  // namespace moho::examples::stream_waves
