// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Time spans of work by stage and thread, independent of Kokkos.
///
/// Spans show whether stages overlap. chrome://tracing, Perfetto and Speedscope read a trace in
/// Chrome's format; examples/plots/plot_timeline.py draws it.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace moho {

/// \brief Time spans of all threads.
///
/// Adding a span locks a mutex for a fraction of a microsecond. Spans should last 10 microseconds
/// or more.
class Timeline {
 public:
  /// A time span of work.
  struct Span {
    std::string stage;       ///< name of the work
    int thread = 0;          ///< thread number, in the order of first spans or names, from 0
    double begin = 0.0;      ///< seconds since construction of the timeline
    double end = 0.0;        ///< seconds since construction of the timeline
    std::int64_t bytes = 0;  ///< bytes moved or produced; 0 if not applicable
    double seconds() const { return end - begin; }  ///< duration
  };
  /// Total of a stage.
  struct Total {
    std::string stage;       ///< name of the stage
    double seconds = 0.0;    ///< sum of the durations
    std::int64_t spans = 0;  ///< number of spans
    std::int64_t bytes = 0;  ///< sum of the bytes
  };

  Timeline() = default;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Returns the seconds since construction.
  double now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }
  /// Adds a span of the calling thread.
  void add(std::string_view stage, double begin, double end, std::int64_t bytes = 0);
  /// Names the calling thread for the trace.
  ///
  /// Threads with the same name share a row, for example the threads of one stage in successive
  /// shots.
  void name_thread(std::string_view name);

  /// Returns all spans in the order of their begin.
  std::vector<Span> spans() const;
  /// Returns the totals of all stages, in the order in which their first spans were added.
  std::vector<Total> totals() const;

  /// \brief Returns the trace as JSON in Chrome's format, with times in microseconds.
  ///
  /// Each span is an event "X" with its bytes in "args"; the names of the threads are metadata
  /// events.
  /// \param process process number by which viewers sort; the rank in a parallel run
  std::string json(int process = 0) const;

 private:
  struct Entry {
    int stage, thread;
    double begin, end;
    std::int64_t bytes;
  };
  struct Thread {
    std::thread::id id;
    int number;
  };
  int thread_number();

  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
  mutable std::mutex m_mutex;  // guards all following members
  std::vector<std::string> m_stages;
  std::vector<Thread> m_threads;     // numbers are indices into m_names
  std::vector<std::string> m_names;  // names of the rows; empty for unnamed threads
  std::vector<Entry> m_entries;
};

/// \brief Adds a span from construction to destruction; without a timeline it does nothing.
///
/// Kernels run asynchronously: fence the instance before the end of the scope to include them.
/// \see KernelSpan
class TimelineSpan {
 public:
  /// Begins the span. `stage` must outlive the object.
  TimelineSpan(Timeline* timeline, std::string_view stage, std::int64_t bytes = 0)
      : m_timeline(timeline), m_stage(stage), m_bytes(bytes) {
    if (m_timeline != nullptr) m_begin = m_timeline->now();
  }
  TimelineSpan(const TimelineSpan&) = delete;
  TimelineSpan& operator=(const TimelineSpan&) = delete;
  ~TimelineSpan() {
    if (m_timeline != nullptr) m_timeline->add(m_stage, m_begin, m_timeline->now(), m_bytes);
  }
  /// Sets the number of bytes, if it is known only after the constructor.
  void set_bytes(std::int64_t bytes) { m_bytes = bytes; }

 private:
  Timeline* m_timeline;
  std::string_view m_stage;
  std::int64_t m_bytes;
  double m_begin = 0.0;
};

}  // namespace moho
