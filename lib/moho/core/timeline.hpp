// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Who did what when: spans of time by stage and thread, without Kokkos.
///
/// Spans show whether stages hide behind each other. A trace in Chrome's format is read by
/// chrome://tracing, Perfetto and Speedscope, and drawn by examples/plots/plot_timeline.py.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace moho {

/// \brief Spans of all threads. Adding one takes a lock for a fraction of a microsecond; meant for
/// pieces of work of 10 microseconds and more.
class Timeline {
 public:
  /// One piece of work.
  struct Span {
    std::string stage;       ///< what was done
    int thread = 0;          ///< who did it: 0, 1, ... in the order of their first spans or names
    double begin = 0.0;      ///< seconds since the timeline was made
    double end = 0.0;        ///< seconds since the timeline was made
    std::int64_t bytes = 0;  ///< what was moved or made, 0 if that means nothing
    double seconds() const { return end - begin; }  ///< its length
  };
  /// What a stage did in all.
  struct Total {
    std::string stage;       ///< which
    double seconds = 0.0;    ///< of its spans
    std::int64_t spans = 0;  ///< number
    std::int64_t bytes = 0;  ///< of its spans
  };

  Timeline() = default;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Seconds since it was made.
  double now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }
  /// Adds a span of the calling thread.
  void add(std::string_view stage, double begin, double end, std::int64_t bytes = 0);
  /// Names the calling thread, for the trace. A name that was given before continues its row: the
  /// threads of the same stage in one shot after the other.
  void name_thread(std::string_view name);

  /// All spans, by begin.
  std::vector<Span> spans() const;
  /// The totals of all stages, in the order in which they first ended a span.
  std::vector<Total> totals() const;

  /// \brief The trace as JSON in Chrome's format: microseconds, an event "X" a span with its bytes
  /// in "args", and the threads' names.
  /// \param process number that viewers sort by; the rank where there are several
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
  mutable std::mutex m_mutex;  // of all that follows
  std::vector<std::string> m_stages;
  std::vector<Thread> m_threads;     // whose numbers count the names
  std::vector<std::string> m_names;  // of the rows, empty where none was given
  std::vector<Entry> m_entries;
};

/// \brief A span from construction to destruction. Without a timeline it does nothing.
///
/// Kernels go on after they are submitted: fence the instance inside of the scope where the span is
/// to be that of the work. \see KernelSpan
class TimelineSpan {
 public:
  /// Begins it. `stage` has to live as long.
  TimelineSpan(Timeline* timeline, std::string_view stage, std::int64_t bytes = 0)
      : m_timeline(timeline), m_stage(stage), m_bytes(bytes) {
    if (m_timeline != nullptr) m_begin = m_timeline->now();
  }
  TimelineSpan(const TimelineSpan&) = delete;
  TimelineSpan& operator=(const TimelineSpan&) = delete;
  ~TimelineSpan() {
    if (m_timeline != nullptr) m_timeline->add(m_stage, m_begin, m_timeline->now(), m_bytes);
  }
  /// Says how many bytes it was, when that is known only later.
  void set_bytes(std::int64_t bytes) { m_bytes = bytes; }

 private:
  Timeline* m_timeline;
  std::string_view m_stage;
  std::int64_t m_bytes;
  double m_begin = 0.0;
};

}  // namespace moho
