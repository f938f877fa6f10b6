// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The part of model_waves that runs on a space, compiled once for each memory.

#include "common/shot_program.hpp"

#include <moho/core/instance.hpp>

#include <cstdint>
#include <functional>

namespace moho::examples::model_waves {

/// The wavefield of the first shot on the model's grid, after a step. Called on another thread.
template <class T>
using TakeSnapshot = std::function<void(std::int64_t step, const T* values)>;

/// Models all shots on a space.
/// \throws InputError, MemoryError, Error
template <class T, int Dim, class Memory>
WaveReport compute_on(const Instance<Memory>& exec, const WaveJob<T, Dim>& job,
                      const TakeSnapshot<T>& snapshot);

}  // namespace moho::examples::model_waves
