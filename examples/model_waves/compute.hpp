// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of model_waves that runs on a space, compiled once for each memory.

#include "common/shot_program.hpp"

#include <moho/core/instance.hpp>
#include <moho/wave/snapshots.hpp>

#include <cstdint>
#include <functional>

namespace moho::examples::model_waves {

/// What becomes of the wavefield of the first shot on the model's grid.
template <class T>
struct TakeSnapshots {
  /// Gets the values of each, part by part, on threads of their own; `number` is the step.
  std::function<void(const wave::SnapshotPart<T>&)> part;
  /// To be called with the step when all parts of a snapshot have been taken, in the order of the
  /// steps, on one thread at a time.
  std::function<void(std::int64_t index, std::int64_t step)> whole;
};

/// Models all shots on a space.
/// \throws InputError, MemoryError, Error
template <class T, int Dim, class Memory>
WaveReport compute_on(const Instance<Memory>& exec, const WaveJob<T, Dim>& job,
                      const TakeSnapshots<T>& snapshots);

}  // namespace moho::examples::model_waves
