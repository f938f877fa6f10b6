// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Time step, samples and snapshots of a run.

#include <moho/core/error.hpp>

#include <cstdint>
#include <optional>

namespace moho::wave {

/// Requested times, in seconds.
struct TimeOptions {
  double time = 1.0;  ///< modelled time
  double dt = 0.0;    ///< time step; 0: automatic
  /// Sampling interval of the gathers; 0: the shortest in whole microseconds.
  double interval = 0.0;
  /// Snapshot interval; 0: no snapshots; empty: a quarter of the time.
  std::optional<double> snapshot_every = {};
};

/// Chosen times: step, sampling and snapshots.
struct TimePlan {
  double dt = 0.0;                  ///< time step, s
  double interval = 0.0;            ///< sampling interval, s; a whole number of microseconds
  std::int64_t steps = 0;           ///< steps up to the last sample
  std::int64_t samples = 0;         ///< samples; the first is at time 0
  std::int64_t snapshot_every = 0;  ///< snapshot interval in steps; 0: no snapshots
};

/// \brief Chooses time step, sampling and snapshot interval where options leave them open.
///
/// An automatic time step is at most 0.9 of the largest stable one and divides the interval.
/// Intervals and numbers of samples satisfy the limits of SEG-Y.
/// \param options requested times
/// \param largest_dt largest stable step, s
/// \param snapshot_bytes size of a snapshot: very large ones are not taken by default
/// \throws InputError whose text begins with the name of the option
TimePlan make_time_plan(const TimeOptions& options, double largest_dt, double snapshot_bytes = 0.0);

}  // namespace moho::wave
