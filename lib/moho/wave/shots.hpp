// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots of a survey over one model, several of them at once.

#include <moho/core/at_once.hpp>
#include <moho/wave/detail/batch.hpp>
#include <moho/wave/modelling.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace moho::wave {

/// \brief Where shots at once are computed: an instance for each worker, and wavefields for the
/// shots that it steps together.
template <class T, int Dim, class Memory>
struct ShotPlaces {
  std::vector<Instance<Memory>> instances;                         ///< the first is the caller's
  std::vector<std::vector<Wavefield<T, Dim, Memory>>> wavefields;  ///< of each worker

  /// \brief Allocates what modelling.plan() says, and waits for it.
  /// \param exec where the first worker runs; others get instances of their own on its device
  /// \param modelling of the model; its wavefield becomes the first of the first worker
  ShotPlaces(const InstanceOf<Memory>& exec, Modelling<T, Dim, Memory>& modelling) {
    const int at_once = modelling.plan().at_once;
    const int together = std::max(modelling.plan().together, 1);
    instances = instances_at_once(Instance<Memory>(exec), (at_once + together - 1) / together);
    // its own memory first: there may be no room for one more
    if (together > 1) modelling.wavefield() = {};
    for (std::size_t n = 0; n < instances.size(); ++n) {
      if (n == 0 && together == 1) {
        wavefields.push_back({modelling.wavefield()});
        continue;
      }
      const int first = static_cast<int>(n) * together;
      wavefields.push_back(make_wavefields<T, Dim, Memory>(
          instances[n], modelling.propagator().scheme(), std::min(together, at_once - first)));
    }
    modelling.wavefield() = wavefields.front().front();
    for (const auto& instance : instances) instance.fence();
  }
  /// Workers.
  int workers() const { return static_cast<int>(instances.size()); }
  /// Shots that a worker steps together, at most.
  std::size_t together() const { return wavefields.front().size(); }
  /// Shots that this worker steps together, at most.
  std::size_t room(std::size_t worker) const { return wavefields[worker].size(); }
};

/// \brief Models shots over one model, as many at once as modelling.plan().at_once says
/// (ModellingOptions::at_once), plan().together of them in step with each other.
///
/// Every shot has the bits that Modelling::shot() gives. Results wait where a shot before them
/// takes longer, no more than waiting_results(): plan().memory has them all where
/// ModellingOptions say how many shots and receivers there are.
/// \param exec where the first worker runs; others get instances of their own on its device
/// \param modelling of the model; its wavefield serves the first worker
/// \param shots in the order in which `take` gets them
/// \param take called as take(k, result) on this thread, with the index of a shot in `shots` and
/// its ShotResult
/// \throws InputError, Error as Modelling::shot(), when all workers have ended
template <class T, int Dim, class Memory, class Take>
void model_shots(const InstanceOf<Memory>& exec, Modelling<T, Dim, Memory>& modelling,
                 const std::vector<Shot<Dim>>& shots, const Take& take) {
  using Results = std::vector<ShotResult<T, Dim, Memory>>;
  ShotPlaces<T, Dim, Memory> places(exec, modelling);
  const std::size_t together = places.together();
  const auto end_of = [&](std::size_t first) { return std::min(first + together, shots.size()); };
  std::size_t given = 0;
  run_at_once<Results>(
      places.workers(),
      [&]() -> std::optional<std::size_t> {
        if (given >= shots.size()) return std::nullopt;
        return std::exchange(given, end_of(given));
      },
      [&](int worker, std::size_t first, AtOnceCaller&) {
        const auto n = static_cast<std::size_t>(worker);
        const Instance<Memory>& own = places.instances[n];
        auto& wavefields = places.wavefields[n];
        Results results;
        if (together == 1) {
          results.push_back(model_shot<T, Dim, Memory>(
              own, modelling.propagator(), wavefields.front(), modelling.sources(own, shots[first]),
              modelling.plan().wavelet, modelling.receivers(own, shots[first]),
              modelling.shot_options()));
          return results;
        }
        for (std::size_t k = first; k < end_of(first);) {
          std::vector<ShotPoints<T, Dim, Memory>> points;
          for (; k < end_of(first) && points.size() < wavefields.size(); ++k) {
            points.push_back(
                {modelling.sources(own, shots[k]), modelling.receivers(own, shots[k])});
          }
          for (auto& result :
               model_together<T, Dim, Memory>(own, modelling.propagator(), wavefields, points,
                                              modelling.plan().wavelet, modelling.shot_options())) {
            results.push_back(std::move(result));
          }
        }
        return results;
      },
      [&](std::size_t first, Results&& results) {
        for (std::size_t n = 0; n < results.size(); ++n) {
          take(first + n, std::as_const(results[n]));
        }
      });
}

}  // namespace moho::wave
