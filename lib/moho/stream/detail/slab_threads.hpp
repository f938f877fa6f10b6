// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Threads that submit the work of devices concurrently (internal).

#include <atomic>
#include <condition_variable>
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
/// exceeds the step of a small slab. Threads wait for each other with a short spin, longer where
/// cores are plenty, and then sleep: on a busy machine a thread that yields instead gives its core
/// to another process for milliseconds.
class SlabThreads {
 public:
  /// Starts the threads.
  /// \param count number of devices \throws std::system_error if a thread cannot start
  explicit SlabThreads(std::size_t count) : m_count(count) {
    const std::size_t cores = std::thread::hardware_concurrency();
    if (cores >= count) m_spins = cores >= 4 * count ? 200000 : 20000;
    try {
      for (std::size_t g = 1; g < count; ++g) m_threads.emplace_back([this, g] { serve(g); });
    } catch (...) {  // no further thread can be started
      end();
      throw;
    }
  }
  SlabThreads(const SlabThreads&) = delete;
  SlabThreads& operator=(const SlabThreads&) = delete;
  ~SlabThreads() { end(); }

  /// Returns the number of threads.
  std::size_t count() const { return m_count; }
  /// \brief Calls work(g) on the thread of each device, and waits for all.
  ///
  /// After an exception of one thread, the others end at their next meet().
  /// \throws the first exception
  void run(const std::function<void(std::size_t)>& work) {
    change([&] {
      m_failed = false;
      m_waiting = 0;
      m_work = &work;
      m_busy = m_count - 1;
      ++m_calls;
    });
    call(work, 0);
    wait([this] { return m_busy == 0; });
    if (m_failure) std::rethrow_exception(std::exchange(m_failure, nullptr));
  }
  /// Waits until all threads have called it. Only for functions of run().
  void meet() {
    const std::uint64_t turn = m_meetings;
    if (++m_waiting == m_count) {
      change([&] {
        m_waiting = 0;
        ++m_meetings;
      });
      return;
    }
    wait([&] { return m_meetings != turn || m_failed; });
    if (m_meetings == turn) throw OtherFailed();
  }

 private:
  struct OtherFailed {};
  /// Ends the threads.
  void end() {
    change([&] {
      m_work = nullptr;
      ++m_calls;
    });
    for (std::thread& thread : m_threads) thread.join();
  }
  /// Makes a change that other threads may wait for.
  template <class Change>
  void change(const Change& make) {
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      make();
    }
    m_changed.notify_all();
  }
  /// Waits until ready() is true.
  template <class Ready>
  void wait(const Ready& ready) {
    for (int n = 0; n < m_spins; ++n) {
      if (ready()) return;
    }
    std::unique_lock<std::mutex> lock(m_mutex);
    m_changed.wait(lock, ready);
  }
  void call(const std::function<void(std::size_t)>& work, std::size_t g) {
    try {
      work(g);
    } catch (const OtherFailed&) {  // NOLINT(bugprone-empty-catch): its exception is kept
    } catch (...) {
      change([&] {
        if (!m_failure) m_failure = std::current_exception();
        m_failed = true;
      });
    }
  }
  void serve(std::size_t g) {
    for (std::uint64_t done = 0;; ++done) {
      wait([&] { return m_calls != done; });
      if (m_work == nullptr) return;
      call(*m_work, g);
      change([&] { --m_busy; });
    }
  }

  std::size_t m_count;
  int m_spins = 0;  // 20000 take about 20 microseconds
  const std::function<void(std::size_t)>* m_work = nullptr;
  std::atomic<std::uint64_t> m_calls = 0, m_meetings = 0;
  std::atomic<std::size_t> m_busy = 0, m_waiting = 0;
  std::atomic<bool> m_failed = false;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::exception_ptr m_failure;
  std::vector<std::thread> m_threads;
};

}  // namespace moho::stream
