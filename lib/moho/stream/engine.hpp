// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Iterations of a stream over the devices of one process, and their synchronisation.

#include <moho/core/event.hpp>
#include <moho/core/timeline.hpp>
#include <moho/stream/kernel/pipeline.hpp>

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
  bool staged = false;  ///< true if the volume is not page-locked: copies use page-locked buffers
  Timeline* timeline = nullptr;  ///< receives spans of the first iterations; may be null
  std::int64_t noted = 400;      ///< number of recorded iterations
  double look_every = 5.0;       ///< seconds between checks for values that are not finite
  std::function<void(const wave::ShotProgress&)> progress = {};  ///< called about twice a second
  /// Called when all planes of a sweep are in the volume, before the sweep is committed.
  ///
  /// The rows of the gather that belong to the sweep are in the devices' arrays.
  std::function<void(std::int64_t sweep)> stored = {};
};

/// Report of run_stream().
struct StreamReport {
  double seconds = 0.0;          ///< wall time of all iterations
  double points = 0.0;           ///< nodes advanced
  std::int64_t iterations = 0;   ///< iterations of the schedule
  double bytes_in = 0.0;         ///< bytes from the host
  double bytes_out = 0.0;        ///< bytes to the host
  double staging_seconds = 0.0;  ///< time of host copies between volume and buffers
  /// Time with all stages at work: from the first stored plane to the last loaded one.
  double steady_seconds = 0.0;
  double steady_points = 0.0;  ///< nodes advanced in that time
  /// BadValue::key() of the earliest value that is not finite, in the grid of its volume.
  ///
  /// The run may stop later. With several volumes only the value `none` is meaningful.
  std::int64_t bad = BadValue::none;
};

namespace detail {

/// The last few events of a kind, by iteration.
template <class Memory>
class RecentEvents {
 public:
  /// Returns the event of an iteration; those of negative iterations are never set.
  Event<Memory>& at(std::int64_t i) {
    if (i < 0) return m_never;
    return m_marks[static_cast<std::size_t>(i % count)];
  }

 private:
  static constexpr std::int64_t count = 4;
  Event<Memory> m_marks[count];
  Event<Memory> m_never;
};

/// Spans of a device's instances, which enter the timeline at the end.
template <class Memory>
class Spans {
 public:
  /// Begins a span on an instance.
  void begin(const Instance<Memory>& exec, std::string row, std::string stage, double bytes) {
    m_spans.push_back({std::move(row), std::move(stage), {}, {}, bytes});
    m_spans.back().begin.record(exec);
  }
  /// Ends the latest span.
  void end(const Instance<Memory>& exec) { m_spans.back().end.record(exec); }
  /// First event, the time origin of the others.
  Event<Memory> zero;
  /// Adds all spans to a timeline.
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
    Event<Memory> begin, end;
    double bytes;
  };
  std::vector<One> m_spans;
};

}  // namespace detail

/// \brief Volume that streams through the devices, possibly with others: a pipeline on each device.
template <class T, int Dim, class Memory>
struct StreamLane {
  const Schedule* schedule = nullptr;  ///< schedule whose first time is that of the volume
  /// One pipeline for each device, in order; begin() was called for each.
  const std::vector<std::unique_ptr<Pipeline<T, Dim, Memory>>>* chain = nullptr;
  /// The volume, whose state is advanced from its level to the end of the schedule.
  ///
  /// It is null if one device holds the complete grid.
  HostVolume<T, Dim>* volume = nullptr;
};

/// \brief Action on a device before the stages of all lanes from one time level.
///
/// The stage is that of the first lane. The action submits to the stepping instance.
/// run_concurrent_volumes() defines the planes that it may read.
using StreamAction = std::function<void(std::size_t device, const StreamStage& stage)>;

/// \brief Runs volumes concurrently through the same devices, in lockstep.
/// \param lanes volumes whose schedules were made by run_concurrent_volumes(), and whose pipelines
///   of a device share one stepping instance; the volumes of several lanes are in memory
/// \param options as for run_stream()
/// \param action called before stages; may be empty
/// \throws InputError for no lanes, chains of different lengths, several lanes of which one is not
///   in memory
template <class T, int Dim, class Memory>
StreamReport run_lanes(const std::vector<StreamLane<T, Dim, Memory>>& lanes,
                       const StreamRunOptions<T>& options, const StreamAction& action);

/// \brief Runs a schedule: the volume passes through the pipelines of a chain, sweep by sweep.
///
/// In an iteration every device concurrently loads, steps and stores. Planes that a device loads
/// were passed on by the previous iteration. Events between instances enforce the order, so that
/// the host only submits; it is at most two iterations ahead.
/// \param schedule of the run; its first time is that of the volume
/// \param chain one pipeline for each device, in order; begin() was called for each
/// \param volume its state is advanced from its level to the end of the schedule; null if one
///   device holds the complete grid
/// \param options staging, progress, timeline
template <class T, int Dim, class Memory>
StreamReport run_stream(const Schedule& schedule,
                        const std::vector<std::unique_ptr<Pipeline<T, Dim, Memory>>>& chain,
                        HostVolume<T, Dim>* volume, const StreamRunOptions<T>& options) {
  StreamLane<T, Dim, Memory> lane;
  lane.schedule = &schedule;
  lane.chain = &chain;
  lane.volume = volume;
  return run_lanes<T, Dim, Memory>(std::vector<StreamLane<T, Dim, Memory>>(1, lane), options,
                                   StreamAction());
}

namespace detail {

/// State of one lane during a run.
template <class T, int Dim, class Memory>
class LaneRun {
 public:
  /// Begins a lane; `name` is its name in a timeline, empty for a single lane.
  LaneRun(const StreamLane<T, Dim, Memory>& lane, std::string name,
          const StreamRunOptions<T>& options, StreamReport& report)
      : m_lane(lane),
        m_name(std::move(name)),
        m_options(options),
        m_report(report),
        m_devices(lane.chain->size()),
        m_in_file(lane.volume != nullptr && lane.volume->in_file()),
        m_staged(options.staged && !is_host_memory<Memory>),
        m_loaded(m_devices),
        m_plane_in(first().plane_bytes(true)),
        m_plane_out(first().plane_bytes(false)) {
    if (!m_staged) return;
    // two buffers for each direction
    const auto size =
        static_cast<std::size_t>(first().staging_elements(lane.schedule->shape().block));
    for (Elements* buffer : {&m_arriving[0], &m_arriving[1], &m_leaving[0], &m_leaving[1]}) {
      *buffer =
          Elements(Kokkos::view_alloc("moho::stream::staging", Kokkos::WithoutInitializing), size);
    }
  }

  /// Returns the pipeline of a device.
  Pipeline<T, Dim, Memory>& device(std::size_t g) const { return *(*m_lane.chain)[g]; }
  /// Returns the schedule.
  const Schedule& schedule() const { return *m_lane.schedule; }
  /// Returns the work of a device in an iteration.
  const StreamWork& work(std::size_t g) const { return m_work[g]; }
  /// Sets the work of an iteration.
  void begin(std::int64_t i) {
    m_last = i;
    m_work.clear();
    for (std::size_t g = 0; g < m_devices; ++g) {
      m_work.push_back(schedule().iteration(i, static_cast<int>(g)));
    }
  }
  /// Makes the steps of an iteration wait for the arrivals of the previous one.
  void hold_steps(std::size_t g, std::int64_t i) {
    m_loaded[g].at(i - 1).make_wait(device(g).stepping());
  }
  /// Copies the output of the last device in an iteration to the volume.
  void unload(std::int64_t i) {
    if (!m_staged && !m_in_file) return;
    m_stored.at(i).wait();
    const auto start = std::chrono::steady_clock::now();
    const T* from = m_staged ? m_leaving[i % 2].data() : nullptr;
    for (const StreamRange& range : m_unloaded) {
      commit(range.sweep);
      if (from == nullptr) continue;
      last().unload(range, state_after(range.sweep), from);
      from += last().staging_elements(range.planes.count());
    }
    m_report.staging_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    m_unloaded.clear();
  }
  /// Stores the output of the last device in an iteration.
  void store(std::int64_t i, Event<Memory>& stepped, Spans<Memory>* spans) {
    stepped.make_wait(last().storing());
    const std::vector<StreamRange>& ranges = m_work.back().stores;
    const double bytes = m_plane_out * planes_of_all(ranges);
    T* to = m_staged ? m_leaving[i % 2].data() : nullptr;
    const bool noted = spans != nullptr && !ranges.empty();
    if (noted) {
      spans->begin(last().storing(), row("to the host", m_devices - 1), "to the host", bytes);
    }
    for (const StreamRange& range : ranges) {
      if (last().ring().whole()) continue;
      // without buffers unload() still keeps the order of sweeps
      if (!m_staged && m_in_file) commit(range.sweep);
      last().store(range, state_after(range.sweep), to);
      if (to != nullptr) to += last().staging_elements(range.planes.count());
    }
    if (noted) spans->end(last().storing());
    m_report.bytes_out += bytes;
    m_unloaded = ranges;
    m_stored.at(i).record(last().storing());
  }
  /// Loads the input of a device in an iteration.
  ///
  /// `stepped` are the events, of this and of the preceding device, that complete the steps of the
  /// previous iteration.
  void load(std::size_t g, std::int64_t i, Event<Memory>& stepped, Event<Memory>* stepped_before,
            Spans<Memory>* spans) {
    Pipeline<T, Dim, Memory>& to = device(g);
    const Instance<Memory>& loading = to.loading();
    stepped.make_wait(loading);
    left(g, i - 1).make_wait(loading);
    const double bytes = m_plane_in * planes_of_all(m_work[g].loads);
    if (stepped_before != nullptr) stepped_before->make_wait(loading);
    if (g == 0) m_stored.at(i - 1).make_wait(loading);
    const bool noted = spans != nullptr && !m_work[g].loads.empty();
    if (noted) {
      spans->begin(loading, row("to the device", g), g == 0 ? "to the device" : "handed on", bytes);
    }
    T* buffer = m_staged && g == 0 ? m_arriving[i % 2].data() : nullptr;
    if (buffer != nullptr) m_loaded[0].at(i - 2).wait();
    for (const StreamRange& range : m_work[g].loads) {
      if (to.ring().whole()) continue;
      if (g > 0) {
        to.load_from(device(g - 1), range);
        continue;
      }
      const auto start = std::chrono::steady_clock::now();
      to.load(range, m_lane.volume->parameters(), state_before(range.sweep), buffer,
              m_lane.volume->at_rest() && range.sweep == 0);
      if (buffer != nullptr) {
        buffer += to.staging_elements(range.planes.count());
        m_report.staging_seconds +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      }
      m_report.bytes_in += m_plane_in * static_cast<double>(range.planes.count());
    }
    if (noted) spans->end(loading);
    m_loaded[g].at(i).record(loading);
  }
  /// Ends the lane after all submissions. \param whole false: discard pending results
  void end(bool whole) {
    for (const auto& one : *m_lane.chain) {
      one->storing().fence();
      one->stepping().fence();
      one->loading().fence();
    }
    if (!whole) return;
    unload(m_last);
    commit(schedule().sweeps());
  }
  /// Returns the number of submitted nodes.
  double points() const {
    double sum = 0.0;
    for (const auto& one : *m_lane.chain) sum += one->points();
    return sum;
  }

 private:
  using Elements = Kokkos::View<T*, StagingMemory<Memory>>;
  Pipeline<T, Dim, Memory>& first() const { return *m_lane.chain->front(); }
  Pipeline<T, Dim, Memory>& last() const { return *m_lane.chain->back(); }
  std::string row(const char* what, std::size_t g) const {
    return concat(what, m_devices > 1 ? concat(" ", g) : "", m_name);
  }
  static double planes_of_all(const std::vector<StreamRange>& ranges) {
    std::int64_t sum = 0;
    for (const StreamRange& range : ranges) sum += range.planes.count();
    return static_cast<double>(sum);
  }
  // event: the output of a device in an iteration has left it
  Event<Memory>& left(std::size_t g, std::int64_t i) {
    return g + 1 < m_devices ? m_loaded[g + 1].at(i) : m_stored.at(i);
  }
  void commit(std::int64_t sweeps) {
    for (; m_committed < sweeps; ++m_committed) {
      if (m_options.stored) m_options.stored(m_committed);
      const int end = static_cast<int>(m_devices) - 1;
      if (m_lane.volume != nullptr) {
        m_lane.volume->commit(schedule().first_level(m_committed, end) +
                              schedule().updates(m_committed, end));
      }
    }
  }
  // the states that a sweep reads and writes, independent of commits
  const VolumeState<T>& state_before(std::int64_t sweep) const {
    return m_lane.volume->state(sweep - m_committed);
  }
  const VolumeState<T>& state_after(std::int64_t sweep) const {
    return m_lane.volume->state(sweep - m_committed + 1);
  }

  StreamLane<T, Dim, Memory> m_lane;
  std::string m_name;
  const StreamRunOptions<T>& m_options;
  StreamReport& m_report;
  std::size_t m_devices;
  bool m_in_file, m_staged;
  std::vector<RecentEvents<Memory>> m_loaded;
  RecentEvents<Memory> m_stored;
  double m_plane_in, m_plane_out;
  Elements m_arriving[2], m_leaving[2];
  std::vector<StreamWork> m_work;
  std::vector<StreamRange> m_unloaded;  ///< stores of the previous iteration, in transfer
  std::int64_t m_committed = 0;         ///< number of committed sweeps
  std::int64_t m_last = 0;              ///< latest iteration
};

/// Runs the stages of all lanes on a device; those from one time of one sweep run together.
template <class T, int Dim, class Memory>
void step_lanes(const std::vector<std::unique_ptr<LaneRun<T, Dim, Memory>>>& lanes, std::size_t g,
                const StreamAction& action) {
  // the stages of an iteration are ordered by their number in the pass, then by sweep
  using Key = std::pair<std::int64_t, std::int64_t>;
  const auto key_of = [&](std::size_t k, const StreamStage& stage) {
    const std::int64_t first =
        lanes[k]->schedule().first_level(stage.range.sweep, static_cast<int>(g));
    return Key{stage.level - first, stage.range.sweep};
  };
  std::vector<std::size_t> next(lanes.size(), 0);
  for (;;) {
    const Key none{INT64_MAX, INT64_MAX};
    Key min = none;
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      const auto& stages = lanes[k]->work(g).stages;
      if (next[k] < stages.size()) min = std::min(min, key_of(k, stages[next[k]]));
    }
    if (min == none) return;
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      const auto& stages = lanes[k]->work(g).stages;
      if (next[k] == stages.size() || key_of(k, stages[next[k]]) != min) continue;
      // the first lane is the first
      if (k == 0 && action) action(g, stages[next[k]]);
      lanes[k]->device(g).step(stages[next[k]++]);
    }
  }
}

/// Run of concurrent volumes, iteration by iteration.
///
/// Several runs on different devices may alternate, since an iteration only submits work.
template <class T, int Dim, class Memory>
class StreamRun {
 public:
  /// Takes the arguments of run_lanes(); options and action have to outlive the object.
  StreamRun(const std::vector<StreamLane<T, Dim, Memory>>& lanes,
            const StreamRunOptions<T>& options, const StreamAction& action);
  StreamRun(const StreamRun&) = delete;
  StreamRun& operator=(const StreamRun&) = delete;
  /// Returns the iterations of all lanes.
  std::int64_t iterations() const { return m_report.iterations; }
  /// Submits an iteration, and waits for the steps of the one before the last.
  void iterate(std::int64_t i);
  /// \brief Returns true if later iterations are useless, because values are no longer finite.
  ///
  /// It checks every few seconds. If every step is checked, it returns true when no earlier time
  /// can follow.
  bool failed();
  /// Waits for all work.
  StreamReport end();

 private:
  const Instance<Memory>& stepping(std::size_t g) const {
    return m_runs.front()->device(g).stepping();
  }
  double points() const {
    double sum = 0.0;
    for (const auto& run : m_runs) sum += run->points();
    return sum;
  }
  void note_steady(std::int64_t i);
  std::int64_t bad() const {
    std::int64_t min = BadValue::none;
    for (const auto& run : m_runs) {
      for (std::size_t g = 0; g < m_devices; ++g) min = std::min(min, run->device(g).bad());
    }
    return min;
  }

  const StreamRunOptions<T>& m_options;
  const StreamAction& m_action;
  StreamReport m_report;
  std::vector<std::unique_ptr<LaneRun<T, Dim, Memory>>> m_runs;
  std::size_t m_devices = 0;
  std::vector<RecentEvents<Memory>> m_stepped;
  std::vector<Spans<Memory>> m_spans;
  wave::kernel::ProgressTimer m_pace;
  /// Number of nodes submitted up to an iteration.
  std::vector<double> m_submitted;
  bool m_draining = false, m_failed = false;
  double m_next_look = 0.0;  // time of the next check, s
  double m_steady_begin = -1.0, m_points_begin = 0.0;
};

template <class T, int Dim, class Memory>
std::int64_t iterations_of(const std::vector<StreamLane<T, Dim, Memory>>& lanes) {
  std::int64_t max = 0;
  for (const auto& lane : lanes) max = std::max(max, lane.schedule->iterations());
  return max;
}

template <class T, int Dim, class Memory>
StreamRun<T, Dim, Memory>::StreamRun(const std::vector<StreamLane<T, Dim, Memory>>& lanes,
                                     const StreamRunOptions<T>& options, const StreamAction& action)
    : m_options(options), m_action(action), m_pace(iterations_of(lanes)) {
  if (lanes.empty() || lanes.front().chain->empty()) {
    throw InputError("lanes: there is no volume or no device (allowed: one or more of both)");
  }
  m_report.iterations = iterations_of(lanes);
  m_next_look = options.look_every;
  for (const StreamLane<T, Dim, Memory>& lane : lanes) {
    if (lane.chain->size() != lanes.front().chain->size()) {
      throw InputError(concat("lanes: chains have ", lanes.front().chain->size(), " and ",
                              lane.chain->size(),
                              " devices (allowed: the same number for all volumes)"));
    }
    if (lanes.size() > 1 && (lane.volume == nullptr || lane.volume->in_file())) {
      throw InputError(
          "lanes: volumes side by side are in memory (not in files, nor whole on a "
          "device): keep them there");
    }
    for (const auto& device : *lane.chain) device->stepping().fence();
    const std::string name = lanes.size() > 1 ? concat(", volume ", m_runs.size() + 1) : "";
    m_runs.push_back(std::make_unique<LaneRun<T, Dim, Memory>>(lane, name, options, m_report));
  }
  m_devices = lanes.front().chain->size();
  m_stepped = std::vector<RecentEvents<Memory>>(m_devices);
  m_spans = std::vector<Spans<Memory>>(m_devices);
  for (std::size_t g = 0; g < m_devices; ++g) m_spans[g].zero.record(stepping(g));
  m_pace = wave::kernel::ProgressTimer(m_report.iterations);
}

template <class T, int Dim, class Memory>
void StreamRun<T, Dim, Memory>::iterate(std::int64_t i) {
  const bool noted = m_options.timeline != nullptr && i < m_options.noted;
  for (const auto& run : m_runs) run->begin(i);
  for (std::size_t g = 0; g < m_devices; ++g) {
    bool any = false;
    for (const auto& run : m_runs) {
      run->hold_steps(g, i);
      any = any || !run->work(g).stages.empty();
    }
    if (noted && any) {
      m_spans[g].begin(stepping(g), m_devices > 1 ? concat("steps ", g) : "steps", "steps", 0.0);
    }
    step_lanes<T, Dim, Memory>(m_runs, g, m_action);
    if (noted && any) m_spans[g].end(stepping(g));
    m_stepped[g].at(i).record(stepping(g));
  }
  for (const auto& run : m_runs) {
    if (i > 0) run->unload(i - 1);
    run->store(i, m_stepped.back().at(i - 1), noted ? &m_spans.back() : nullptr);
  }
  for (std::size_t g = m_devices; g-- > 0;) {
    for (const auto& run : m_runs) {
      run->load(g, i, m_stepped[g].at(i - 1), g > 0 ? &m_stepped[g - 1].at(i - 1) : nullptr,
                noted ? &m_spans[g] : nullptr);
    }
  }
  m_stepped.back().at(i - 2).wait();
  m_submitted.push_back(points());
  note_steady(i);
  stepping(0).check_stop();
  if (m_options.progress && (m_pace.due(i + 1) || i + 1 == m_report.iterations)) {
    m_options.progress(m_pace.report(i + 1, m_submitted.back()));
  }
}

// Records the time with all stages at work, for complete steps: those of the iteration before the
// last.
template <class T, int Dim, class Memory>
void StreamRun<T, Dim, Memory>::note_steady(std::int64_t i) {
  const auto& one = *m_runs.front();
  m_draining = m_draining || (i > 0 && one.work(0).loads.empty() &&
                              one.schedule().iteration(i + 1).loads.empty());
  if (i < 2 || m_draining || one.work(m_devices - 1).stores.empty()) return;
  const double now = m_pace.seconds();
  const double done = m_submitted[static_cast<std::size_t>(i - 2)];
  if (m_steady_begin < 0.0) {
    m_steady_begin = now;
    m_points_begin = done;
  } else {
    m_report.steady_seconds = now - m_steady_begin;
    m_report.steady_points = done - m_points_begin;
  }
}

template <class T, int Dim, class Memory>
bool StreamRun<T, Dim, Memory>::failed() {
  if (m_failed || m_pace.seconds() < m_next_look) return m_failed;
  const std::int64_t min = bad();
  m_next_look = m_pace.seconds() + m_options.look_every;
  if (min == BadValue::none) return false;
  for (const auto& run : m_runs) {
    const std::int64_t level = BadValue::of(min, run->device(0).nodes()).level;
    for (std::size_t g = 0; g < m_devices; ++g) {
      if (!run->device(g).watched()) continue;
      // sweeps are consecutive on a device
      const auto& stages = run->work(g).stages;
      if (stages.empty()) return false;
      for (const StreamStage& stage : stages) {
        const auto device = static_cast<int>(g);
        if (run->schedule().first_level(stage.range.sweep, device) < level) return false;
      }
    }
  }
  m_failed = true;
  return true;
}

template <class T, int Dim, class Memory>
StreamReport StreamRun<T, Dim, Memory>::end() {
  for (const auto& run : m_runs) run->end(!m_failed);
  m_report.seconds = m_pace.seconds();
  m_report.points = points();
  m_report.bad = bad();
  if (m_options.timeline != nullptr) {
    for (const auto& one : m_spans) one.add_to(*m_options.timeline);
  }
  return m_report;
}

}  // namespace detail

template <class T, int Dim, class Memory>
StreamReport run_lanes(const std::vector<StreamLane<T, Dim, Memory>>& lanes,
                       const StreamRunOptions<T>& options, const StreamAction& action) {
  detail::StreamRun<T, Dim, Memory> run(lanes, options, action);
  for (std::int64_t i = 0; i < run.iterations() && !run.failed(); ++i) run.iterate(i);
  return run.end();
}

/// \brief Runs several volumes concurrently, each through a separate chain.
///
/// Iterations of the chains alternate, so that all devices have work.
/// \param lanes one for each chain; they share no device
/// \param options as for run_stream(), one for each chain
template <class T, int Dim, class Memory>
std::vector<StreamReport> run_chains(const std::vector<StreamLane<T, Dim, Memory>>& lanes,
                                     const std::vector<StreamRunOptions<T>>& options) {
  const StreamAction none;
  std::vector<std::unique_ptr<detail::StreamRun<T, Dim, Memory>>> runs;
  std::int64_t max = 0;
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    const std::vector<StreamLane<T, Dim, Memory>> one(1, lanes[k]);
    runs.push_back(std::make_unique<detail::StreamRun<T, Dim, Memory>>(one, options[k], none));
    max = std::max(max, runs.back()->iterations());
  }
  for (std::int64_t i = 0; i < max; ++i) {
    for (const auto& run : runs) {
      if (i < run->iterations() && !run->failed()) run->iterate(i);
    }
  }
  std::vector<StreamReport> reports;
  for (const auto& run : runs) reports.push_back(run->end());
  return reports;
}

}  // namespace moho::stream
