// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Snapshots of a run handed to the host beside its steps.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/order.hpp>
#include <moho/core/phases.hpp>
#include <moho/wave/layout.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace moho::wave {

namespace detail {
/// Copies the nodes of a box out of a padded array, densely.
template <class T, int Dim>
struct CopyBox {
  const T* from;
  T* to;
  Layout<Dim> layout;
  Box<Dim> box;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    to[n] = from[layout.flat(box.node(n))];
  }
};
}  // namespace detail

/// \brief Hands values of a wavefield in a box to a function on the host, while the run goes on.
///
/// put() submits a copy and returns; a thread of its own waits for the copy and calls the function,
/// in the order of the calls of put(). From a device values leave through page-locked memory on an
/// instance beside that of the run, so that steps and copies overlap.
///
/// It takes the box once in the memory of the run where that is a device, and `slots` times on the
/// host. put() waits where all slots hold values that the function is not done with.
template <class T, int Dim, class Memory>
class SnapshotQueue {
 public:
  /// Gets a number (such as the step) and the values of the box, the last axis fastest. It runs on
  /// a thread of the queue. The values are gone when it returns.
  using Take = std::function<void(std::int64_t number, const T* values)>;

  /// Allocates. \param box nodes that are handed over, in the window of the arrays put()
  SnapshotQueue(const InstanceOf<Memory>& exec, const Box<Dim>& box, Take take, int slots = 2);
  SnapshotQueue(const SnapshotQueue&) = delete;
  SnapshotQueue& operator=(const SnapshotQueue&) = delete;
  /// Waits for what is under way. What the function threw is lost unless finish() was called.
  ~SnapshotQueue();

  /// \brief Submits the values of a padded array as the instance leaves them that it was made with.
  /// \throws what the function has thrown for earlier values
  void put(const Layout<Dim>& layout, const Storage<const T, Memory>& field, std::int64_t number);
  /// Waits until the function has had all values. \throws what the function has thrown
  void finish();
  /// Seconds that put() and finish() have waited: what the snapshots have cost the run.
  double seconds_waited() const { return m_waited; }
  /// Bytes in the memory of the run.
  static std::size_t device_bytes(const Box<Dim>& box) {
    return is_host_memory<Memory> ? 0 : static_cast<std::size_t>(box.size()) * sizeof(T);
  }
  /// Bytes on the host.
  static std::size_t host_bytes(const Box<Dim>& box, int slots = 2) {
    return static_cast<std::size_t>(slots) * static_cast<std::size_t>(box.size()) * sizeof(T);
  }

 private:
  using HostValues = Kokkos::View<T*, Kokkos::LayoutRight, StagingMemory<Memory>>;
  struct Entry {
    std::size_t slot;
    std::int64_t number;
  };
  void work();

  Instance<Memory> m_exec, m_lane;
  Box<Dim> m_box;
  Take m_take;
  Storage<T, Memory> m_device;
  std::vector<HostValues> m_slots;
  double m_waited = 0.0;

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::size_t> m_free;
  std::deque<Entry> m_full;
  bool m_busy = false, m_closed = false;
  std::exception_ptr m_failure;
  std::thread m_thread;
};

template <class T, int Dim, class Memory>
SnapshotQueue<T, Dim, Memory>::SnapshotQueue(const InstanceOf<Memory>& exec, const Box<Dim>& box,
                                             Take take, int slots)
    : m_exec(exec),
      m_lane(instance_beside(Instance<Memory>(exec))),
      m_box(box),
      m_take(std::move(take)) {
  const auto count = static_cast<std::size_t>(box.size());
  if constexpr (!is_host_memory<Memory>) {
    m_device = allocate<Storage<T, Memory>>(exec, "moho::wave::snapshot", count);
  }
  for (int i = 0; i < slots; ++i) {
    m_slots.push_back(HostValues(
        Kokkos::view_alloc("moho::wave::snapshot on the host", Kokkos::WithoutInitializing),
        count));
    m_free.push_back(static_cast<std::size_t>(i));
  }
  m_thread = std::thread([this] { work(); });
}

template <class T, int Dim, class Memory>
SnapshotQueue<T, Dim, Memory>::~SnapshotQueue() {
  {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_closed = true;
  }
  m_changed.notify_all();
  m_thread.join();
  m_lane.fence();
}

template <class T, int Dim, class Memory>
void SnapshotQueue<T, Dim, Memory>::put(const Layout<Dim>& layout,
                                        const Storage<const T, Memory>& field,
                                        std::int64_t number) {
  Entry entry{0, number};
  {
    const Stopwatch watch;
    std::unique_lock<std::mutex> lock(m_mutex);
    m_changed.wait(lock, [this] { return m_failure || !m_free.empty(); });
    m_waited += watch.seconds();
    if (m_failure) std::rethrow_exception(m_failure);
    entry.slot = m_free.back();
    m_free.pop_back();
  }
  detail::CopyBox<T, Dim> functor{field.data(), nullptr, layout, m_box};
  if constexpr (is_host_memory<Memory>) {
    const Stopwatch watch;
    functor.to = m_slots[entry.slot].data();
    launch("moho::wave::snapshot", m_exec, m_box.size(), functor);
    m_exec.fence();
    m_waited += watch.seconds();
  } else {
    // the buffer is free once the copy of the values before has left it
    wait_on_device(m_exec, m_lane);
    functor.to = m_device.data();
    launch("moho::wave::snapshot", m_exec, m_box.size(), functor);
    wait_on_device(m_lane, m_exec);
    copy(m_lane, m_slots[entry.slot], m_device);
  }
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
  m_changed.wait(lock, [this] { return m_full.empty() && !m_busy; });
  m_waited += watch.seconds();
  if (m_failure) std::rethrow_exception(m_failure);
}

template <class T, int Dim, class Memory>
void SnapshotQueue<T, Dim, Memory>::work() {
  std::unique_lock<std::mutex> lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_closed || !m_full.empty(); });
    if (m_full.empty()) return;
    const Entry entry = m_full.front();
    m_full.pop_front();
    m_busy = true;
    const bool failed = m_failure != nullptr;
    lock.unlock();
    std::exception_ptr failure;
    if (!failed) {
      try {
        if constexpr (!is_host_memory<Memory>) m_lane.fence();
        m_take(entry.number, m_slots[entry.slot].data());
      } catch (...) {
        failure = std::current_exception();
      }
    }
    lock.lock();
    if (failure) m_failure = failure;
    m_free.push_back(entry.slot);
    m_busy = false;
    m_changed.notify_all();
  }
}

}  // namespace moho::wave

/// \cond
#define MOHO_WAVE_SNAPSHOTS(prefix, T, Dim, Memory) \
  prefix template class SnapshotQueue<T, Dim, Memory>;
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_WAVE_SNAPSHOTS, extern)
}
#endif
/// \endcond
