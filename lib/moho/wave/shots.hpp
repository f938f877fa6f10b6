// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots of a survey over one model, several of them at once.

#include <moho/core/at_once.hpp>
#include <moho/wave/driver.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace moho::wave {

/// \brief Models shots over one model, as many at once as modelling.plan().at_once says
/// (ModellingOptions::at_once).
///
/// Every shot has the bits that Modelling::shot() gives.
/// \param exec where the first worker runs; others get instances of their own on its device
/// \param modelling of the model; its wavefield serves the first worker
/// \param shots in the order in which `take` gets them
/// \param take called on this thread with the number of a shot in `shots` and its result
/// \throws InputError, Error as Modelling::shot(), when all workers have ended
template <class T, int Dim, class Memory>
void model_shots(const InstanceOf<Memory>& exec, Modelling<T, Dim, Memory>& modelling,
                 const std::vector<Shot<Dim>>& shots,
                 const std::function<void(std::size_t, const ShotResult<T, Dim, Memory>&)>& take) {
  const auto instances = instances_at_once(Instance<Memory>(exec), modelling.plan().at_once);
  std::vector<Wavefield<T, Dim, Memory>> wavefields{modelling.wavefield()};
  for (std::size_t n = 1; n < instances.size(); ++n) {
    wavefields.push_back(modelling.propagator().make_wavefield(instances[n]));
  }
  for (const auto& instance : instances) instance.fence();
  std::size_t given = 0;
  run_at_once<ShotResult<T, Dim, Memory>>(
      static_cast<int>(instances.size()),
      [&]() -> std::optional<std::size_t> {
        if (given == shots.size()) return std::nullopt;
        return given++;
      },
      [&](int worker, std::size_t k, AtOnceCaller&) {
        const auto n = static_cast<std::size_t>(worker);
        return model_shot<T, Dim, Memory>(
            instances[n], modelling.propagator(), wavefields[n],
            modelling.sources(instances[n], shots[k]), modelling.plan().wavelet,
            modelling.receivers(instances[n], shots[k]), modelling.shot_options());
      },
      [&](std::size_t k, ShotResult<T, Dim, Memory>&& result) { take(k, result); });
}

}  // namespace moho::wave
