// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The iterations of a stream over the devices of one process: who waits for whom.

#include <moho/core/timeline.hpp>
#include <moho/stream/pipeline.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moho::stream {

/// Options of run_stream().
template <class T>
struct StreamRunOptions {
  bool staged = false;  ///< the volume is not page-locked: copies go through buffers that are
  Timeline* timeline = nullptr;  ///< where the first iterations are noted; null: nowhere
  std::int64_t noted = 400;      ///< iterations that are noted
  std::function<void(const wave::ShotProgress&)> progress = {};  ///< about twice a second
  /// Called when a sweep's planes are all in the volume, with the sweep, before it is committed:
  /// its rows of the gather are in the devices' arrays.
  std::function<void(std::int64_t sweep)> stored = {};
};

/// What run_stream() did.
struct StreamReport {
  double seconds = 0.0;          ///< of all iterations
  double points = 0.0;           ///< nodes stepped
  std::int64_t iterations = 0;   ///< of the schedule
  double bytes_in = 0.0;         ///< from the host
  double bytes_out = 0.0;        ///< to the host
  double staging_seconds = 0.0;  ///< the host copied between volume and buffers
  double steady_seconds = 0.0;  ///< with all stages at work: from the first plane that is stored to
                                ///< the last one that is loaded
  double steady_points = 0.0;   ///< nodes stepped in that time
  std::int64_t bad_node = -1;   ///< a node that was not finite when it left; -1: none
};

namespace detail {

/// The last few moments of a kind, by iteration.
template <class Memory>
class Moments {
 public:
  /// The one of an iteration; never set for negative ones.
  Mark<Memory>& at(std::int64_t i) {
    if (i < 0) return m_never;
    return m_marks[static_cast<std::size_t>(i % count)];
  }

 private:
  static constexpr std::int64_t count = 4;
  Mark<Memory> m_marks[count];
  Mark<Memory> m_never;
};

/// Spans of a device's instances, which become a time line when all is done.
template <class Memory>
class Spans {
 public:
  /// Begins a span on an instance.
  void begin(const Instance<Memory>& exec, std::string row, std::string stage, double bytes) {
    m_spans.push_back({std::move(row), std::move(stage), {}, {}, bytes});
    m_spans.back().begin.set(exec);
  }
  /// Ends the latest one.
  void end(const Instance<Memory>& exec) { m_spans.back().end.set(exec); }
  /// The first moment, which others are counted from.
  Mark<Memory> zero;
  /// Adds all of them.
  void add_to(Timeline& timeline) const {
    for (const One& span : m_spans) {
      timeline.name_thread(span.row);
      timeline.add(span.stage, span.begin.seconds_since(zero), span.end.seconds_since(zero),
                   static_cast<std::int64_t>(span.bytes));
    }
  }

 private:
  struct One {
    std::string row, stage;
    Mark<Memory> begin, end;
    double bytes;
  };
  std::vector<One> m_spans;
};

}  // namespace detail

/// \brief Runs a schedule: the volume goes through the pipelines of a chain, sweep by sweep.
///
/// In an iteration every device loads, steps and stores at the same time: planes that arrive were
/// handed on by the iteration before, and so on. The order is kept by events between instances, so
/// that the host only submits; it stays two iterations ahead at most.
/// \param schedule of the run; its first time is that of the volume
/// \param chain one pipeline a device, in order; begin() was called for each
/// \param volume whose state is advanced from its level to the end of the schedule; null where one
/// device holds the whole grid
/// \param options staging, progress, time line
template <class T, int Dim, class Memory>
StreamReport run_stream(const Schedule& schedule,
                        const std::vector<std::unique_ptr<Pipeline<T, Dim, Memory>>>& chain,
                        HostVolume<T, Dim>* volume, const StreamRunOptions<T>& options);

template <class T, int Dim, class Memory>
StreamReport run_stream(const Schedule& schedule,
                        const std::vector<std::unique_ptr<Pipeline<T, Dim, Memory>>>& chain,
                        HostVolume<T, Dim>* volume, const StreamRunOptions<T>& options) {
  using Elements = Kokkos::View<T*, StagingMemory<Memory>>;
  const std::size_t devices = chain.size();
  Pipeline<T, Dim, Memory>& first = *chain.front();
  const bool in_file = volume != nullptr && volume->in_file();
  const VolumeShape<T, Dim>& shape = first.shape();
  Pipeline<T, Dim, Memory>& last = *chain.back();
  StreamReport report;
  report.iterations = schedule.iterations();
  // two buffers for each way
  const bool staged = options.staged && !is_host_memory<Memory>;
  Elements arriving[2], leaving[2];
  if (staged) {
    const auto size = static_cast<std::size_t>(first.staging_elements(schedule.shape().block));
    for (Elements* buffer : {&arriving[0], &arriving[1], &leaving[0], &leaving[1]}) {
      *buffer =
          Elements(Kokkos::view_alloc("moho::stream::staging", Kokkos::WithoutInitializing), size);
    }
  }
  for (const auto& device : chain) device->stepping().fence();

  std::vector<detail::Moments<Memory>> loaded(devices), stepped(devices);
  detail::Moments<Memory> stored;
  std::vector<detail::Spans<Memory>> spans(devices);
  for (std::size_t g = 0; g < devices; ++g) spans[g].zero.set(chain[g]->stepping());
  const auto row = [&](const char* what, std::size_t g) {
    return devices > 1 ? concat(what, " ", g) : std::string(what);
  };
  // what a device hands on in an iteration has left it at this moment
  const auto left = [&](std::size_t g, std::int64_t i) -> Mark<Memory>& {
    return g + 1 < devices ? loaded[g + 1].at(i) : stored.at(i);
  };
  const double plane_out =
      2.0 * shape.fields * static_cast<double>(shape.layout.strides[0]) * sizeof(T);
  const double plane_in = plane_out + (first.ring().resident() ? 0.0 : shape.parameters) *
                                          static_cast<double>(shape.layout.strides[0]) * sizeof(T);
  const auto planes_of_all = [](const std::vector<StreamRange>& ranges) {
    std::int64_t sum = 0;
    for (const StreamRange& range : ranges) sum += range.planes.count();
    return static_cast<double>(sum);
  };

  wave::detail::Pace pace(report.iterations);
  // nodes that were submitted until an iteration, and when the steps of that iteration were done
  std::vector<double> submitted;
  bool draining = false;
  double steady_begin = -1.0, points_begin = 0.0;
  std::int64_t committed = 0;  // sweeps
  const auto commit = [&](std::int64_t sweeps) {
    for (; committed < sweeps; ++committed) {
      if (options.stored) options.stored(committed);
      const int end = static_cast<int>(devices) - 1;
      if (volume != nullptr)
        volume->commit(schedule.first_level(committed, end) + schedule.updates(committed, end));
    }
  };
  // the states that a sweep reads and writes, whatever has been committed
  const auto state_before = [&](std::int64_t sweep) -> const VolumeState<T>& {
    return volume->state(sweep - committed);
  };
  const auto state_behind = [&](std::int64_t sweep) -> const VolumeState<T>& {
    return volume->state(sweep - committed + 1);
  };
  std::vector<StreamRange> unloaded;  // stores of the iteration before, on their way
  const auto unload = [&](std::int64_t i) {
    if (!staged && !in_file) return;
    stored.at(i).wait();
    const auto start = std::chrono::steady_clock::now();
    const T* from = staged ? leaving[i % 2].data() : nullptr;
    for (const StreamRange& range : unloaded) {
      commit(range.sweep);
      if (from == nullptr) continue;
      last.unload(range, state_behind(range.sweep), from);
      from += last.staging_elements(range.planes.count());
    }
    report.staging_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    unloaded.clear();
  };

  for (std::int64_t i = 0; i < report.iterations; ++i) {
    const bool noted = options.timeline != nullptr && i < options.noted;
    std::vector<StreamWork> work(devices);
    for (std::size_t g = 0; g < devices; ++g) work[g] = schedule.iteration(i, static_cast<int>(g));
    for (std::size_t g = 0; g < devices; ++g) {
      Pipeline<T, Dim, Memory>& device = *chain[g];
      loaded[g].at(i - 1).hold(device.stepping());
      if (noted && !work[g].stages.empty()) {
        spans[g].begin(device.stepping(), row("steps", g), "steps", 0.0);
      }
      device.step(work[g]);
      if (noted && !work[g].stages.empty()) spans[g].end(device.stepping());
      stepped[g].at(i).set(device.stepping());
    }
    if (i > 0) unload(i - 1);
    {
      stepped.back().at(i - 1).hold(last.storing());
      const std::vector<StreamRange>& ranges = work.back().stores;
      const double bytes = plane_out * planes_of_all(ranges);
      T* to = staged ? leaving[i % 2].data() : nullptr;
      if (noted && !ranges.empty()) {
        spans.back().begin(last.storing(), row("to the host", devices - 1), "to the host", bytes);
      }
      for (const StreamRange& range : ranges) {
        if (last.ring().whole()) continue;
        // without buffers the order of sweeps is kept by unload() all the same
        if (!staged && in_file) commit(range.sweep);
        last.store(range, state_behind(range.sweep), to);
        if (to != nullptr) to += last.staging_elements(range.planes.count());
      }
      if (noted && !ranges.empty()) spans.back().end(last.storing());
      report.bytes_out += bytes;
      unloaded = ranges;
      stored.at(i).set(last.storing());
    }
    for (std::size_t g = devices; g-- > 0;) {
      Pipeline<T, Dim, Memory>& device = *chain[g];
      const Instance<Memory>& loading = device.loading();
      stepped[g].at(i - 1).hold(loading);
      left(g, i - 1).hold(loading);
      const double bytes = plane_in * planes_of_all(work[g].loads);
      if (g > 0) stepped[g - 1].at(i - 1).hold(loading);
      if (g == 0) stored.at(i - 1).hold(loading);
      if (noted && !work[g].loads.empty()) {
        spans[g].begin(loading, row("to the device", g), g == 0 ? "to the device" : "handed on",
                       bytes);
      }
      T* buffer = staged && g == 0 ? arriving[i % 2].data() : nullptr;
      if (buffer != nullptr) loaded[0].at(i - 2).wait();
      for (const StreamRange& range : work[g].loads) {
        if (device.ring().whole()) continue;
        if (g == 0) {
          const auto start = std::chrono::steady_clock::now();
          device.load(range, volume->parameters(), state_before(range.sweep), buffer);
          if (buffer != nullptr) {
            buffer += device.staging_elements(range.planes.count());
            report.staging_seconds +=
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          }
          report.bytes_in += plane_in * static_cast<double>(range.planes.count());
        } else {
          device.load_from(*chain[g - 1], range);
        }
      }
      if (noted && !work[g].loads.empty()) spans[g].end(loading);
      loaded[g].at(i).set(loading);
    }
    stepped.back().at(i - 2).wait();
    double points_now = 0.0;
    for (const auto& device : chain) points_now += device->points();
    submitted.push_back(points_now);
    draining = draining ||
               (i > 0 && work.front().loads.empty() && schedule.iteration(i + 1).loads.empty());
    if (i >= 2 && !draining && !work.back().stores.empty()) {
      const double now = pace.seconds();
      const double done = submitted[static_cast<std::size_t>(i - 2)];
      if (steady_begin < 0.0) {
        steady_begin = now;
        points_begin = done;
      } else {
        report.steady_seconds = now - steady_begin;
        report.steady_points = done - points_begin;
      }
    }
    if (options.progress && (pace.due(i + 1) || i + 1 == report.iterations)) {
      options.progress(pace.report(i + 1, points_now));
    }
  }
  for (const auto& device : chain) {
    device->storing().fence();
    device->stepping().fence();
    device->loading().fence();
  }
  unload(report.iterations - 1);
  commit(schedule.sweeps());
  report.seconds = pace.seconds();
  for (const auto& device : chain) {
    report.points += device->points();
    const std::int64_t bad = device->bad_node();
    if (bad >= 0 && (report.bad_node < 0 || bad < report.bad_node)) report.bad_node = bad;
  }
  if (options.timeline != nullptr) {
    for (const auto& one : spans) one.add_to(*options.timeline);
  }
  return report;
}

}  // namespace moho::stream
