// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gathers of Python as data of a survey.

#include "arrays.hpp"

#include <moho/core/text.hpp>
#include <moho/survey/gathers.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::python {

/// Traces of a shot in arrays of the caller, which are read during a job.
struct GatherInput {
  Input traces;             ///< float32, receivers x samples
  Input sources;            ///< rows of positions
  Input receivers;          ///< rows of positions
  double interval = 0.0;    ///< s
  double start = 0.0;       ///< time of the first sample, s
  std::int64_t number = 0;  ///< of the shot
};

/// Returns the gathers of a survey; shots have the numbers 1, 2, ..., as in results of model_waves
/// and field records of SEG-Y files; seeds of random layers depend on them.
inline std::vector<GatherInput> make_gathers(const std::vector<Input>& traces,
                                             const std::vector<Input>& sources,
                                             const std::vector<Input>& receivers,
                                             const std::vector<double>& intervals,
                                             const std::vector<double>& starts) {
  std::vector<GatherInput> gathers;
  for (std::size_t k = 0; k < traces.size(); ++k) {
    gathers.push_back({traces[k], sources.at(k), receivers.at(k), intervals.at(k), starts.at(k),
                       static_cast<std::int64_t>(k) + 1});
  }
  return gathers;
}

/// Returns the positions of a gather.
template <int Dim>
wave::Shot<Dim> shot_of(const GatherInput& given) {
  return {given.number, points_of<Dim>(given.sources), points_of<Dim>(given.receivers)};
}

/// Returns the positions of all gathers.
template <int Dim>
std::vector<wave::Shot<Dim>> shots_of(const std::vector<GatherInput>& gathers) {
  std::vector<wave::Shot<Dim>> shots;
  for (const GatherInput& gather : gathers) shots.push_back(shot_of<Dim>(gather));
  return shots;
}

/// Returns the data of a gather. \param name of the gather in messages
template <int Dim>
survey::ShotGather<Dim> gather_of(const GatherInput& given, std::string name) {
  survey::ShotGather<Dim> gather;
  gather.shot = shot_of<Dim>(given);
  const auto* const first = static_cast<const float*>(given.traces.data());
  gather.samples.assign(first, first + given.traces.size());
  gather.count = static_cast<std::int64_t>(given.traces.shape(1));
  gather.dt = given.interval;
  gather.t0 = given.start;
  for (std::size_t n = 1; n <= given.traces.shape(0); ++n) {
    gather.traces.push_back(static_cast<std::int64_t>(n));
  }
  gather.name = std::move(name);
  return gather;
}

}  // namespace moho::python
