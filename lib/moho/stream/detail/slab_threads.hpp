// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Threads that submit the work of devices concurrently (internal).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace moho::stream {

/// \brief One thread for each device of a process; the first is that of the caller.
///
/// Submitting the launches, copies and events of a step takes tens of microseconds a device, which
/// exceeds the step of a small slab.
class SlabThreads {
 public:
  /// Starts the threads. \param count number of devices
  explicit SlabThreads(std::size_t count) : m_count(count) {
    for (std::size_t g = 1; g < count; ++g) {
      m_threads.emplace_back([this, g] { serve(g); });
    }
  }
  SlabThreads(const SlabThreads&) = delete;
  SlabThreads& operator=(const SlabThreads&) = delete;
  ~SlabThreads() {
    m_work = nullptr;
    next();
    for (std::thread& thread : m_threads) thread.join();
  }

  /// Returns the number of threads.
  std::size_t count() const { return m_count; }
  /// \brief Calls work(g) on the thread of each device, and waits for all.
  ///
  /// After an exception of one thread, the others end at their next meet().
  /// \throws the first exception
  void run(const std::function<void(std::size_t)>& work) {
    m_failed.store(false, std::memory_order_relaxed);
    m_waiting.store(0, std::memory_order_relaxed);
    m_work = &work;
    m_busy.store(m_count - 1, std::memory_order_relaxed);
    next();
    call(work, 0);
    for (std::size_t left = m_busy.load(); left > 0; left = m_busy.load()) m_busy.wait(left);
    if (m_failure) std::rethrow_exception(std::exchange(m_failure, nullptr));
  }
  /// Waits until all threads have called it. Only for functions of run().
  void meet() {
    const std::uint64_t turn = m_meetings.load(std::memory_order_acquire);
    if (m_waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == m_count) {
      m_waiting.store(0, std::memory_order_relaxed);
      m_meetings.store(turn + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; m_meetings.load(std::memory_order_acquire) == turn; ++spins) {
      if (m_failed.load(std::memory_order_relaxed)) throw OtherFailed();
      if (spins > 4096) std::this_thread::yield();
    }
  }

 private:
  struct OtherFailed {};
  void call(const std::function<void(std::size_t)>& work, std::size_t g) {
    try {
      work(g);
    } catch (const OtherFailed&) {  // NOLINT(bugprone-empty-catch): its exception is kept
    } catch (...) {
      const std::lock_guard<std::mutex> lock(m_mutex);
      if (!m_failure) m_failure = std::current_exception();
      m_failed.store(true, std::memory_order_release);
    }
  }
  void next() {
    m_calls.fetch_add(1, std::memory_order_release);
    m_calls.notify_all();
  }
  void serve(std::size_t g) {
    for (std::uint64_t done = 0;; ++done) {
      m_calls.wait(done, std::memory_order_acquire);
      if (m_work == nullptr) return;
      call(*m_work, g);
      m_busy.fetch_sub(1, std::memory_order_acq_rel);
      m_busy.notify_all();
    }
  }

  std::size_t m_count;
  const std::function<void(std::size_t)>* m_work = nullptr;
  std::atomic<std::uint64_t> m_calls = 0, m_meetings = 0;
  std::atomic<std::size_t> m_busy = 0, m_waiting = 0;
  std::atomic<bool> m_failed = false;
  std::mutex m_mutex;
  std::exception_ptr m_failure;
  std::vector<std::thread> m_threads;
};

}  // namespace moho::stream
