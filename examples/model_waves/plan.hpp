// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Time step, samples and snapshots of a run.

#include <moho/core/error.hpp>

#include <cstdint>
#include <optional>

namespace moho::examples::model_waves {

/// What was asked for, in seconds.
struct TimeOptions {
  double time = 1.0;
  double dt = 0.0;                  ///< 0: automatic
  double interval = 0.0;            ///< 0: the shortest in whole microseconds
  std::optional<double> snapshots;  ///< between snapshots; 0: none; empty: a quarter of the time
};

/// What it amounts to.
struct Plan {
  double dt = 0.0;
  double interval = 0.0;            ///< whole microseconds
  std::int64_t steps = 0;           ///< up to the last sample
  std::int64_t samples = 0;         ///< the first at time 0
  std::int64_t snapshot_every = 0;  ///< steps; 0: none
};

/// \brief Chooses what was left open.
///
/// An automatic time step is at most 0.9 of the largest stable one and divides the interval.
/// \param largest_dt the largest stable step
/// \param snapshot_bytes of one snapshot: by default there is none where they are very large
/// \throws InputError naming the option
Plan make_plan(const TimeOptions& options, double largest_dt, double snapshot_bytes);

}  // namespace moho::examples::model_waves
