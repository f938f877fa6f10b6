// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Traces of a shot in the memory of its instance, and the transpose of their sampling.

#include <moho/core/copy.hpp>
#include <moho/core/launch.hpp>
#include <moho/wave/points.hpp>

#include <cstdint>

namespace moho::wave {

namespace detail {

/// Kernel: traces, receivers x samples, from rows x receivers; sample n is row n * every.
template <class T>
struct TakeTraces {
  const T* rows;
  T* traces;
  std::int64_t receivers, samples, every;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    traces[i] = rows[i % samples * every * receivers + i / samples];
  }
};

/// Kernel: rows x receivers from traces; row n is sample n / every where that is a whole number.
template <class T>
struct SpreadTraces {
  const T* traces;
  T* rows;
  std::int64_t receivers, samples, every;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t step = i / receivers, sample = step / every;
    const bool sampled = step % every == 0 && sample < samples;
    rows[i] = sampled ? traces[(i % receivers) * samples + sample] : T(0);
  }
};

}  // namespace detail

/// \brief Writes the traces of a gather, such as ShotResult::gather, in the memory of an instance.
/// \param exec instance to which the work is submitted
/// \param gather samples x receivers
/// \param traces out, receivers x samples, contiguous
template <class T, class Memory>
void traces_of_gather(const Instance<Memory>& exec, const PointSeries<const T, Memory>& gather,
                      T* traces) {
  const auto samples = static_cast<std::int64_t>(gather.extent(0));
  const auto receivers = static_cast<std::int64_t>(gather.extent(1));
  launch("moho::wave::transpose_gather", exec, samples * receivers,
         detail::TakeTraces<T>{gather.data(), traces, receivers, samples, 1});
}

/// \brief Writes the traces of values at each step: samples every few steps.
/// \param exec instance to which the work is submitted
/// \param rows steps x receivers; at least (samples - 1) * every + 1 steps
/// \param samples number of samples of a trace
/// \param every steps between samples
/// \param traces out, receivers x samples, contiguous
template <class T, class Memory>
void traces_of_steps(const Instance<Memory>& exec, const PointSeries<const T, Memory>& rows,
                     std::int64_t samples, std::int64_t every, T* traces) {
  const auto receivers = static_cast<std::int64_t>(rows.extent(1));
  launch("moho::wave::traces_of_steps", exec, samples * receivers,
         detail::TakeTraces<T>{rows.data(), traces, receivers, samples, every});
}

/// \brief Writes the transpose of sampling: values of each step from traces, zero between samples.
/// \param exec instance to which the work is submitted
/// \param traces receivers x samples in the memory of the instance
/// \param samples number of samples of a trace
/// \param every steps between samples
/// \param rows out, steps x receivers
template <class T, class Memory>
void spread_traces(const Instance<Memory>& exec, const T* traces, std::int64_t samples,
                   std::int64_t every, const PointSeries<T, Memory>& rows) {
  const auto steps = static_cast<std::int64_t>(rows.extent(0));
  const auto receivers = static_cast<std::int64_t>(rows.extent(1));
  launch("moho::wave::spread_traces", exec, steps * receivers,
         detail::SpreadTraces<T>{traces, rows.data(), receivers, samples, every});
}

}  // namespace moho::wave
