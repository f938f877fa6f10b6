// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Snapshots of a wavefield that devices hold in slabs (internal).

#include <moho/core/error.hpp>
#include <moho/stream/snapshots.hpp>
#include <moho/wave/snapshots.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace moho::stream {

/// \brief Snapshot queues of slabs, whose parts are passed on in the order of the complete box.
///
/// Slabs are along the slowest axis, so that the values of a slab are consecutive in the box. The
/// thread of a slab waits until the previous slab has passed on the same snapshot.
template <class T, int Dim, class Memory>
class SlabSnapshots {
 public:
  /// Allocates two boxes for each slab, and starts the threads.
  /// \param steps instances that step the slabs
  /// \param own planes of the slabs, ascending
  /// \param box nodes of a snapshot
  /// \param snapshots receivers of snapshots; they must outlive the object
  SlabSnapshots(const std::vector<Instance<Memory>>& steps, const std::vector<PlaneRange>& own,
                const Box<Dim>& box, const StreamSnapshots<T>& snapshots)
      : m_snapshots(snapshots), m_passed(own.size(), 0), m_queues(own.size()) {
    const std::int64_t plane = box.size() / std::max<std::int64_t>(box.extent(0), 1);
    std::optional<std::size_t> before;
    for (std::size_t g = 0; g < own.size(); ++g) {
      Box<Dim> part = box;
      part.lower[0] = std::max(box.lower[0], own[g].begin);
      part.upper[0] = std::min(box.upper[0], own[g].end);
      if (part.lower[0] >= part.upper[0]) continue;
      const std::int64_t first = (part.lower[0] - box.lower[0]) * plane;
      m_queues[g] = std::make_unique<wave::SnapshotQueue<T, Dim, Memory>>(
          steps[g], part, [this, g, before, first, size = box.size()](const auto& one) {
            pass(g, before, {one.index, one.number, first + one.begin, one.count, size, one.values},
                 one.last());
          });
      before = g;
    }
  }
  SlabSnapshots(const SlabSnapshots&) = delete;
  SlabSnapshots& operator=(const SlabSnapshots&) = delete;
  ~SlabSnapshots() {
    fail(std::make_exception_ptr(Error("the run ended before all snapshots were passed on")));
  }

  /// Submits the values of a slab after all work of its instance; see wave::SnapshotQueue::put().
  void put(std::size_t g, const wave::Layout<Dim>& layout,
           const wave::Storage<const T, Memory>& field, std::int64_t step,
           const wave::Storage<const T, Memory>& factors) {
    if (m_queues[g]) m_queues[g]->put(layout, field, step, factors);
  }
  /// Calls StreamSnapshots::done for the complete snapshots.
  void report() {
    std::vector<std::pair<std::int64_t, std::int64_t>> complete;
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      complete.swap(m_complete);
    }
    for (const auto& [index, step] : complete) {
      if (m_snapshots.done) m_snapshots.done(index, step);
    }
  }
  /// Waits until all values are passed on. \throws any exception of StreamSnapshots::take
  void finish() {
    for (const auto& queue : m_queues) {
      if (queue) queue->finish();
    }
    report();
  }
  /// Returns the seconds that the run has waited for snapshots.
  double seconds_waited() const {
    double seconds = 0.0;
    for (const auto& queue : m_queues) seconds += queue ? queue->seconds_waited() : 0.0;
    return seconds;
  }

 private:
  // Threads that wait for an earlier slab end with an exception.
  void fail(const std::exception_ptr& why) {
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      if (!m_failure) m_failure = why;
    }
    m_changed.notify_all();
  }
  void pass(std::size_t g, std::optional<std::size_t> before, const wave::SnapshotPart<T>& part,
            bool last_of_slab) {
    if (before) {
      std::unique_lock<std::mutex> lock(m_mutex);
      m_changed.wait(lock, [&] { return m_failure || m_passed[*before] > part.index; });
      if (m_passed[*before] <= part.index) std::rethrow_exception(m_failure);
    }
    try {
      m_snapshots.take(part);
    } catch (...) {
      fail(std::current_exception());
      throw;
    }
    if (!last_of_slab) return;
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      m_passed[g] = part.index + 1;
      if (part.last()) m_complete.emplace_back(part.index, part.number);
    }
    m_changed.notify_all();
  }

  const StreamSnapshots<T>& m_snapshots;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::int64_t> m_passed;  // snapshots that each slab has passed on
  std::vector<std::pair<std::int64_t, std::int64_t>> m_complete;  // not yet reported
  std::exception_ptr m_failure;
  std::vector<std::unique_ptr<wave::SnapshotQueue<T, Dim, Memory>>> m_queues;
};

}  // namespace moho::stream
