// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Time step, samples and snapshots of a run.

#include <moho/core/error.hpp>

#include <cstdint>
#include <optional>

namespace moho::wave {

/// What is asked for, in seconds.
struct TimeOptions {
  double time = 1.0;      ///< to model
  double dt = 0.0;        ///< time step; 0: automatic
  double interval = 0.0;  ///< between samples of the gathers; 0: the shortest in whole microseconds
  std::optional<double> snapshot_every = {};  ///< 0: none; empty: a quarter of the time
};

/// What it amounts to.
struct TimePlan {
  double dt = 0.0;                  ///< time step, seconds
  double interval = 0.0;            ///< between samples, whole microseconds
  std::int64_t steps = 0;           ///< up to the last sample
  std::int64_t samples = 0;         ///< the first at time 0
  std::int64_t snapshot_every = 0;  ///< steps; 0: none
};

/// \brief Chooses what was left open.
///
/// An automatic time step is at most 0.9 of the largest stable one and divides the interval.
/// Intervals and numbers of samples are those that SEG-Y can hold.
/// \param options what is asked for
/// \param largest_dt the largest stable step
/// \param snapshot_bytes of one snapshot: by default there is none where they are very large
/// \throws InputError whose text begins with the name of the option
TimePlan make_time_plan(const TimeOptions& options, double largest_dt, double snapshot_bytes = 0.0);

}  // namespace moho::wave
