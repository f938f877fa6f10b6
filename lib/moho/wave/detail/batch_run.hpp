// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Propagations of batched shots for modules that store and multiply their wavefields.

#include <moho/core/arena.hpp>
#include <moho/wave/detail/batch.hpp>
#include <moho/wave/run.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace moho::wave::detail {

/// Returns an uninitialised series in an arena, valid until its reset(); without one it allocates.
template <class T, class Memory>
PointSeries<T, Memory> series_in(const Instance<Memory>& exec, const char* label, std::size_t steps,
                                 std::size_t points, Arena<T, Memory>* arena) {
  if (arena == nullptr) return allocate<PointSeries<T, Memory>>(exec, label, steps, points);
  const auto memory = arena->take(static_cast<std::int64_t>(steps * points));
  return PointSeries<T, Memory>(memory.data(), steps, points);
}

/// Throws InputError unless there is a wavefield of the propagator for each shot.
template <class T, int Dim, class Memory>
void check_wavefields(const Propagator<T, Dim, Memory>& propagator,
                      const std::vector<Wavefield<T, Dim, Memory>>& wavefields, std::size_t shots) {
  if (wavefields.size() < shots) {
    throw InputError(concat("wavefields: there are ", wavefields.size(), " for ", shots,
                            " shots (allowed: one a shot, or more): make them with "
                            "moho::wave::make_wavefields"));
  }
  for (const auto& wavefield : wavefields) {
    if (wavefield.layout == propagator.layout() && wavefield.fields > 0) continue;
    throw InputError(
        "wavefields: they do not belong to the propagator: make them with "
        "moho::wave::make_wavefields");
  }
}

/// Returns the first `count` wavefields, at rest and in the same order of time levels.
template <class T, int Dim, class Memory>
std::span<Wavefield<T, Dim, Memory>> wavefields_at_rest(
    const Instance<Memory>& exec, std::vector<Wavefield<T, Dim, Memory>>& wavefields,
    std::size_t count) {
  const std::span<Wavefield<T, Dim, Memory>> used(wavefields.data(), count);
  for (auto& wavefield : used) {
    wavefield.clear(exec);
    if (wavefield.next[0].data() < wavefield.now[0].data()) wavefield.advance();
  }
  return used;
}

/// Options of run_batch().
struct BatchRunOptions {
  std::int64_t steps = 0;        ///< number of steps
  std::int64_t check_every = 0;  ///< steps between checks for NaN and overflow; 0: no checks
  /// Called on the host about twice a second, with the nodes of all shots.
  std::function<void(const ShotProgress&)> progress = {};
};

/// \brief Runs the steps of a batch, and returns their seconds.
/// \param exec execution instance
/// \param propagator of all shots
/// \param wavefields of the batch, from wavefields_at_rest()
/// \param options number of steps, checks
/// \param body called as body(done) after each step; it exchanges and advances the wavefields
/// \throws NotFinite with the number of the shot
template <class T, int Dim, class Memory, class Body>
double run_batch(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                 std::span<Wavefield<T, Dim, Memory>> wavefields, const BatchRunOptions& options,
                 const Body& body) {
  const auto nodes =
      static_cast<double>(propagator.grid().size()) * static_cast<double>(wavefields.size());
  exec.fence();
  kernel::ProgressTimer pace(options.steps);
  for (std::int64_t done = 0; done < options.steps;) {
    exec.check_stop();
    step_batch<T, Dim, Memory>(exec, propagator, wavefields);
    body(done);
    ++done;
    const bool last = done == options.steps;
    if (options.check_every > 0 && (done % options.check_every == 0 || last)) {
      check_together<T, Dim, Memory>(exec, propagator, wavefields, done);
    }
    if (options.progress && (pace.due(done) || last)) {
      exec.fence();
      options.progress(pace.report(done, static_cast<double>(done) * nodes));
    }
  }
  exec.fence();
  return pace.seconds();
}

/// Returns the measured seconds of a step of one shot in a batch of `count`.
template <class T, int Dim, class Memory>
double seconds_of_batched_step(const Instance<Memory>& exec,
                               const Propagator<T, Dim, Memory>& propagator, int count) {
  auto wavefields = make_wavefields<T, Dim, Memory>(exec, propagator.scheme(), count);
  const std::span<Wavefield<T, Dim, Memory>> all(wavefields);
  const BatchRunOptions ten{10};
  const auto run = [&] {
    return run_batch<T, Dim, Memory>(exec, propagator, all, ten, [&](std::int64_t) {
      for (auto& wavefield : all) wavefield.advance();
    });
  };
  run();  // loads code
  return run() / static_cast<double>(ten.steps) / static_cast<double>(count);
}

}  // namespace moho::wave::detail
