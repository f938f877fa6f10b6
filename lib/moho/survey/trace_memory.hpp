// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Memory of the traces of shots that are modelled, migrated, or wait for delivery.

#include <moho/wave/geometry.hpp>
#include <moho/wave/model_shot.hpp>
#include <moho/wave/time_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::survey {

/// \brief Returns the largest number of bytes of traces of wave::model_shots() and
/// stream::model_shots() on a host.
///
/// The caller keeps a copy of the traces of each delivered shot; that memory is not included. At
/// its end each concurrent shot has two arrays of recorded rows and one of traces, with resampling
/// also two of samples, and the weights of its receivers. Each further recorder has its own array
/// and weights; with several, one array more is on its way to the rows of all. Later, a shot that
/// waits for delivery has its traces only, in place of the copy of the caller. The traces of a
/// batch are released together, after the caller has copied them.
/// \param shots all shots; the largest one counts
/// \param time time steps and samples
/// \param concurrent,batch concurrent shots; of these, shots in one batch
/// \param recorders slabs or devices of a chain on this host that record each shot
template <class T, int Dim>
double pending_trace_bytes(const std::vector<wave::Shot<Dim>>& shots, const wave::TimePlan& time,
                           int concurrent, int batch, int recorders = 1) {
  std::size_t receivers = 0;
  for (const auto& shot : shots) receivers = std::max(receivers, shot.receivers.size());
  const wave::ShotSampling sampling = wave::shot_sampling(time.dt, time.steps, time.interval);
  const auto rows = static_cast<double>(sampling.rows);
  const auto samples = static_cast<double>(sampling.samples);
  const double weights = 20.0 * Dim + 32.0;  // as in wave::modelling_memory()
  const double computed =
      std::min(static_cast<double>(concurrent), static_cast<double>(shots.size()));
  // one array of traces is in place of the copy of the caller
  const double further = recorders > 1 ? rows + (recorders - 1) * (rows + weights) : 0.0;
  const double each = 2.0 * rows + (sampling.resampled ? 2.0 * samples : 0.0) + weights + further;
  const double delivered = std::max(batch, 1) * samples;
  return sizeof(T) * static_cast<double>(receivers) * (computed * each + delivered);
}

/// Bytes of the traces of a shot that is migrated: those read, prepared, and propagated backward.
struct ShotTraceBytes {
  double series = 0.0;  ///< amplitudes that the propagations inject, in the memory of the run
  double points = 0.0;  ///< weights of receivers, in the memory of the run
  double host = 0.0;    ///< further bytes of the host while they are prepared
  double read = 0.0;    ///< of these, the traces as read
  double kept = 0.0;    ///< traces as read and as prepared, of a shot whose data are kept
};

/// \brief Returns the memory of the traces of the largest shot of a migration.
///
/// Traces as read are freed when they are prepared, and these when they have been rearranged for
/// injection. Results of model_waves exist twice while they are read.
/// \param shots all shots
/// \param count samples of a trace as read; 0: `samples`
/// \param samples of a prepared trace
/// \param on_host true if the run is in the memory of the host
template <class T, int Dim>
ShotTraceBytes shot_trace_bytes(const std::vector<wave::Shot<Dim>>& shots, std::int64_t count,
                                std::int64_t samples, bool on_host) {
  std::size_t receivers = 0, points = 0;
  for (const auto& shot : shots) {
    receivers = std::max(receivers, shot.receivers.size());
    points = std::max(points, shot.receivers.size() + shot.sources.size());
  }
  const auto traces = static_cast<double>(receivers);
  const double prepared = traces * static_cast<double>(samples) * sizeof(float);
  ShotTraceBytes bytes;
  bytes.read = traces * static_cast<double>(count > 0 ? count : samples) * sizeof(float);
  bytes.series = static_cast<double>(points) * static_cast<double>(samples) * sizeof(T);
  bytes.points = static_cast<double>(points) * (20.0 * Dim + 32.0) * sizeof(T);
  bytes.kept = bytes.read + prepared;
  const double max = std::max({2.0 * bytes.read, bytes.read + prepared, prepared + bytes.series});
  bytes.host = on_host ? std::max(max - bytes.series, 0.0) : max;
  return bytes;
}

}  // namespace moho::survey
