// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Memory of the traces of shots that are computed or wait for delivery.

#include <moho/wave/geometry.hpp>
#include <moho/wave/model_shot.hpp>
#include <moho/wave/time_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace moho::survey {

/// \brief Returns the largest number of bytes of traces of wave::model_shots() on a host.
///
/// The caller keeps a copy of the traces of each delivered shot; that memory is not included. At
/// its end each concurrent shot has two arrays of recorded rows and one of traces, with resampling
/// also two of samples, and the weights of its receivers. Later, a shot that waits for delivery has
/// its traces only, in place of the copy of the caller. The traces of a batch are released
/// together, after the caller has copied them. \param shots all shots; the largest one counts
/// \param time time steps and samples
/// \param concurrent,batch concurrent shots; of these, shots in one batch
template <class T, int Dim>
double pending_trace_bytes(const std::vector<wave::Shot<Dim>>& shots, const wave::TimePlan& time,
                           int concurrent, int batch) {
  std::size_t receivers = 0;
  for (const auto& shot : shots) receivers = std::max(receivers, shot.receivers.size());
  const wave::ShotSampling sampling = wave::shot_sampling(time.dt, time.steps, time.interval);
  const auto rows = static_cast<double>(sampling.rows);
  const auto samples = static_cast<double>(sampling.samples);
  const double weights = 20.0 * Dim + 32.0;  // as in wave::modelling_memory()
  const double computed =
      std::min(static_cast<double>(concurrent), static_cast<double>(shots.size()));
  // one array of traces is in place of the copy of the caller
  const double each = 2.0 * rows + (sampling.resampled ? 2.0 * samples : 0.0) + weights;
  const double delivered = std::max(batch, 1) * samples;
  return sizeof(T) * static_cast<double>(receivers) * (computed * each + delivered);
}

}  // namespace moho::survey
