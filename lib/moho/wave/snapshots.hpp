// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Snapshots of a run, transferred to the host concurrently with its steps.

#include <moho/core/copy.hpp>
#include <moho/core/device_instances.hpp>
#include <moho/core/event.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/staging.hpp>
#include <moho/wave/layout.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace moho::wave {

namespace detail {
/// Functor that copies the nodes of a box from a padded array into a dense one.
template <class T, int Dim>
struct CopyBox {
  const T* from;
  const T* factor;  ///< null: 1
  T* to;
  Layout<Dim> layout;
  Box<Dim> box;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t i = layout.flat(box.node(n));
    to[n] = factor != nullptr ? from[i] * factor[i] : from[i];
  }
};
}  // namespace detail

/// Part of the values of a box of a wavefield, in transfer to the host.
template <class T>
struct SnapshotPart {
  std::int64_t index;   ///< index of the call of SnapshotQueue::put(), from 0
  std::int64_t number;  ///< number given to put()
  std::int64_t begin;   ///< first value, counted through the box with the last axis fastest
  std::int64_t count;   ///< values of this part
  std::int64_t size;    ///< values of the box
  const T* values;      ///< valid until the function returns

  /// Returns true for the first part of its box.
  bool first() const { return begin == 0; }
  /// Returns true for the last part of its box.
  bool last() const { return begin + count == size; }
};

/// Options of a SnapshotQueue.
struct SnapshotOptions {
  int slots = 2;    ///< boxes that wait for the host, in the memory of the run
  int writers = 1;  ///< boxes that the function processes concurrently, each in a thread
  std::int64_t part_bytes = std::int64_t{4} << 20;  ///< size of a part in bytes, for devices
};

/// \brief Queue that passes a wavefield's values in a box to a function on the host during a run.
///
/// put() submits a copy and returns. Separate threads call the function with the values, part by
/// part. Transfers from a device use small page-locked buffers and separate instances, so that
/// steps, copies and the function overlap. On a host the box is one part.
///
/// The queue allocates the box `slots` times in the memory of the run. put() waits while all slots
/// hold values that the function still needs.
template <class T, int Dim, class Memory>
class SnapshotQueue {
 public:
  /// Receives the parts of each box in order, in one thread; several boxes may be concurrent.
  using Take = std::function<void(const SnapshotPart<T>&)>;

  /// Allocates slots and buffers, and starts the threads of the function.
  /// \param exec execution instance that computes the values given to put()
  /// \param box nodes to transfer, in the window of the arrays given to put()
  /// \param take function that receives the values
  /// \param options slots, writers, bytes of a part
  SnapshotQueue(const InstanceOf<Memory>& exec, const Box<Dim>& box, Take take,
                const SnapshotOptions& options = {});
  SnapshotQueue(const SnapshotQueue&) = delete;
  SnapshotQueue& operator=(const SnapshotQueue&) = delete;
  /// Waits for pending transfers. Exceptions of the function are lost unless finish() was called.
  ~SnapshotQueue();

  /// \brief Submits the values of a padded array, after all work of the constructor's instance.
  /// \param layout of the array
  /// \param field the array
  /// \param number passed to the function with the values
  /// \param factors by node, in the same layout: Propagator::pressure_factors(); unallocated: 1
  /// \throws any exception of the function for earlier values
  void put(const Layout<Dim>& layout, const Storage<const T, Memory>& field, std::int64_t number,
           const Storage<const T, Memory>& factors = {});
  /// Waits until the function has processed all values. \throws any exception of the function
  void finish();
  /// Returns the seconds that put() and finish() have waited: the cost of snapshots for the run.
  double seconds_waited() const { return m_waited; }
  /// \brief Returns the bytes in the memory of the run.
  /// \param box nodes to transfer
  /// \param options the slots
  static std::size_t bytes(const Box<Dim>& box, const SnapshotOptions& options = {}) {
    return static_cast<std::size_t>(std::max(options.slots, 1)) *
           static_cast<std::size_t>(box.size()) * sizeof(T);
  }

 private:
  using HostValues = Kokkos::View<T*, Kokkos::LayoutRight, StagingMemory<Memory>>;
  struct Entry {
    std::size_t slot;
    std::int64_t index, number;
  };
  // Buffers of a writer: one is filled while the function reads the other.
  struct Lane {
    explicit Lane(const Instance<Memory>& exec) : instance(exec) {}
    Instance<Memory> instance;
    HostValues parts[2];
    Event<Memory> staged[2];
  };
  void close();
  void work(Lane* lane);
  void hand_over(const Entry& entry, Lane* lane);

  Instance<Memory> m_exec;
  Box<Dim> m_box;
  Take m_take;
  std::int64_t m_part;
  std::vector<Storage<T, Memory>> m_slots;
  std::vector<Event<Memory>> m_filled;  // by slot
  std::vector<Lane> m_lanes;
  double m_waited = 0.0;

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::size_t> m_free;
  std::deque<Entry> m_full;
  std::int64_t m_count = 0;
  int m_busy = 0;
  bool m_closed = false;
  std::exception_ptr m_failure;
  std::vector<std::thread> m_threads;
};

template <class T, int Dim, class Memory>
SnapshotQueue<T, Dim, Memory>::SnapshotQueue(const InstanceOf<Memory>& exec, const Box<Dim>& box,
                                             Take take, const SnapshotOptions& options)
    : m_exec(exec),
      m_box(box),
      m_take(std::move(take)),
      m_part(std::clamp<std::int64_t>(options.part_bytes / static_cast<std::int64_t>(sizeof(T)), 1,
                                      std::max<std::int64_t>(box.size(), 1))) {
  for (int i = 0; i < std::max(options.slots, 1); ++i) {
    m_slots.push_back(allocate<Storage<T, Memory>>(exec, "moho::wave::snapshot",
                                                   static_cast<std::size_t>(box.size())));
    m_free.push_back(static_cast<std::size_t>(i));
  }
  m_filled.resize(m_slots.size());
  const int writers = std::max(options.writers, 1);
  for (int i = 0; i < writers; ++i) {
    m_lanes.emplace_back(new_instance(Instance<Memory>(exec)));
    if constexpr (!is_host_memory<Memory>) {
      for (HostValues& part : m_lanes.back().parts) {
        part = HostValues(
            Kokkos::view_alloc("moho::wave::snapshot on the host", Kokkos::WithoutInitializing),
            static_cast<std::size_t>(m_part));
      }
    }
  }
  try {
    for (Lane& lane : m_lanes) m_threads.emplace_back([this, &lane] { work(&lane); });
  } catch (...) {  // no further thread can be started
    close();
    throw;
  }
}

template <class T, int Dim, class Memory>
SnapshotQueue<T, Dim, Memory>::~SnapshotQueue() {
  close();
  try {
    for (Lane& lane : m_lanes) lane.instance.fence();
  } catch (...) {  // the device has failed; the run's own calls report it
  }
}

template <class T, int Dim, class Memory>
void SnapshotQueue<T, Dim, Memory>::close() {
  {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_closed = true;
  }
  m_changed.notify_all();
  for (std::thread& thread : m_threads) thread.join();
}

template <class T, int Dim, class Memory>
void SnapshotQueue<T, Dim, Memory>::put(const Layout<Dim>& layout,
                                        const Storage<const T, Memory>& field, std::int64_t number,
                                        const Storage<const T, Memory>& factors) {
  Entry entry{0, 0, number};
  {
    const Stopwatch watch;
    std::unique_lock<std::mutex> lock(m_mutex);
    m_changed.wait(lock, [this] { return m_failure || !m_free.empty(); });
    m_waited += watch.seconds();
    if (m_failure) std::rethrow_exception(m_failure);
    entry.slot = m_free.back();
    entry.index = m_count++;
    m_free.pop_back();
  }
  const Stopwatch watch;
  launch("moho::wave::snapshot", m_exec, m_box.size(),
         detail::CopyBox<T, Dim>{field.data(), factors.data(), m_slots[entry.slot].data(), layout,
                                 m_box});
  if constexpr (is_host_memory<Memory>) {
    m_exec.fence();
    m_waited += watch.seconds();
  }
  m_filled[entry.slot].record(m_exec);
  {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_full.push_back(entry);
  }
  m_changed.notify_all();
}

template <class T, int Dim, class Memory>
void SnapshotQueue<T, Dim, Memory>::finish() {
  const Stopwatch watch;
  std::unique_lock<std::mutex> lock(m_mutex);
  m_changed.wait(lock, [this] { return m_full.empty() && m_busy == 0; });
  m_waited += watch.seconds();
  if (m_failure) std::rethrow_exception(m_failure);
}

template <class T, int Dim, class Memory>
void SnapshotQueue<T, Dim, Memory>::hand_over(const Entry& entry, [[maybe_unused]] Lane* lane) {
  const auto& slot = m_slots[entry.slot];
  SnapshotPart<T> part{entry.index, entry.number, 0, 0, m_box.size(), nullptr};
  if constexpr (is_host_memory<Memory>) {
    part.count = part.size;
    part.values = slot.data();
    m_take(part);
  } else {
    m_filled[entry.slot].make_wait(lane->instance);
    const std::int64_t parts = (part.size + m_part - 1) / m_part;
    const auto fetch = [&](std::int64_t k) {
      const auto begin = static_cast<std::size_t>(k * m_part);
      const auto end = static_cast<std::size_t>(std::min((k + 1) * m_part, part.size));
      const auto& to = lane->parts[k % 2];
      copy(lane->instance, Kokkos::subview(to, std::pair<std::size_t, std::size_t>(0, end - begin)),
           Kokkos::subview(slot, std::pair<std::size_t, std::size_t>(begin, end)));
      lane->staged[k % 2].record(lane->instance);
    };
    fetch(0);
    for (std::int64_t k = 0; k < parts; ++k) {
      if (k + 1 < parts) fetch(k + 1);
      lane->staged[k % 2].wait();
      part.begin = k * m_part;
      part.count = std::min(m_part, part.size - part.begin);
      part.values = lane->parts[k % 2].data();
      m_take(part);
    }
  }
}

template <class T, int Dim, class Memory>
void SnapshotQueue<T, Dim, Memory>::work(Lane* lane) {
  std::unique_lock<std::mutex> lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_closed || !m_full.empty(); });
    if (m_full.empty()) return;
    const Entry entry = m_full.front();
    m_full.pop_front();
    ++m_busy;
    const bool failed = m_failure != nullptr;
    lock.unlock();
    std::exception_ptr failure;
    if (!failed) {
      try {
        hand_over(entry, lane);
      } catch (...) {
        failure = std::current_exception();
        try {
          lane->instance.fence();  // no transfer writes to the buffers any more
        } catch (...) {            // the device has failed; the first failure reports it
        }
      }
    }
    lock.lock();
    if (failure && !m_failure) m_failure = failure;
    m_free.push_back(entry.slot);
    --m_busy;
    m_changed.notify_all();
  }
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, SnapshotQueue)
}  // namespace moho::wave
#endif
/// \endcond
