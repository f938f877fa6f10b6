// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Concurrent execution of similar tasks on one device, with one thread and instance each.
///
/// A small problem leaves most of a device idle, and its launches last longer than its kernels. On
/// a device each worker submits to a separate stream; on hosts each worker computes on one thread.

#include <moho/core/device_instances.hpp>
#include <moho/core/error.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho {

/// \brief Returns `count` instances on the device of `exec`, one for each concurrent thread.
///
/// A single one is `exec` itself. Several are streams of a device, or one-thread instances on
/// hosts.
/// \throws InputError for a count below 1, or above 1 on hosts in a build without Serial
template <class Memory>
std::vector<Instance<Memory>> concurrent_instances(const Instance<Memory>& exec, int count) {
  if (count < 1) {
    throw InputError(concat("at_once is ", count, " (allowed: 1 or more)"));
  }
  if (count == 1) return {exec};
  std::vector<Instance<Memory>> result;
  for (int n = 0; n < count; ++n) {
    if constexpr (is_host_memory<Memory>) {
#ifndef KOKKOS_ENABLE_SERIAL
      throw InputError(
          "at_once: this build has no space of one thread (allowed: 1): build with a Kokkos that "
          "has Serial");
#elif KOKKOS_VERSION >= 40200
      // separate instances: Kokkos serialises the kernels of one instance
      result.push_back(Kokkos::Experimental::partition_space(Kokkos::Serial(), 1)[0]);
#else
      result.push_back(Kokkos::Serial());
#endif
    } else {
      result.push_back(new_instance(exec));
    }
    result.back().take_flag(exec);
  }
  return result;
}

/// Largest number of results that are being computed or wait to be delivered in order.
constexpr int max_pending_results(int workers) { return workers > 1 ? 2 * workers : 1; }

namespace detail {
template <class Result, class Next, class Work, class Done>
class OrderedTasks;
}

/// Access of workers to the thread that called run_concurrently().
class CallingThread {
 public:
  /// Runs a function on the calling thread of run_concurrently() and waits for its end.
  ///
  /// Exceptions of the function are rethrown here. With a single worker the function is called
  /// directly.
  void call(const std::function<void()>& function) {
    if (m_alone) return function();
    std::unique_lock lock(m_mutex);
    Request request{&function, false, nullptr};
    m_requests.push_back(&request);
    m_event.notify_all();
    m_answered.wait(lock, [&] { return request.done; });
    if (request.failure) std::rethrow_exception(request.failure);
  }

 private:
  struct Request {
    const std::function<void()>* function;
    bool done;
    std::exception_ptr failure;
  };
  template <class Result, class Next, class Work, class Done>
  friend void run_concurrently(int workers, Next&& next, const Work& work, const Done& done);
  template <class Result, class Next, class Work, class Done>
  friend class detail::OrderedTasks;

  bool m_alone = false;
  std::mutex m_mutex;
  std::condition_variable m_event;     // wakes the calling thread
  std::condition_variable m_answered;  // wakes workers that wait in call()
  std::condition_variable m_given;     // wakes workers without a task
  std::deque<Request*> m_requests;
};

namespace detail {

/// Tasks of run_concurrently() with several workers: threads, tasks that no worker has started, and
/// results that wait for earlier ones.
template <class Result, class Next, class Work, class Done>
class OrderedTasks {
 public:
  /// The functions must outlive the object.
  OrderedTasks(int workers, Next& next, const Work& work, const Done& done)
      : m_workers(workers), m_next(next), m_work(work), m_done(done) {}

  /// Processes all tasks. \throws the first exception of the functions, after all threads have
  /// ended
  void run() {
    std::vector<std::thread> threads;
    std::unique_lock lock(m_caller.m_mutex);
    try {
      for (int n = 0; n < m_workers; ++n) threads.emplace_back([this, n] { carry_out(n); });
    } catch (...) {  // the system cannot create another thread
      m_failure = std::current_exception();
    }
    for (;;) {
      if (answer_request(lock) || deliver_result(lock) || give_task(lock)) continue;
      if (is_over(threads.size())) break;
      m_caller.m_event.wait(lock);
    }
    m_given.clear();
    m_over = true;
    m_caller.m_given.notify_all();
    lock.unlock();
    for (std::thread& thread : threads) thread.join();
    if (m_failure) std::rethrow_exception(m_failure);
  }

 private:
  struct Piece {
    std::size_t turn, number;
  };
  using Lock = std::unique_lock<std::mutex>;

  // Takes and computes tasks, on a worker's thread.
  void carry_out(int worker) {
    for (;;) {
      Lock lock(m_caller.m_mutex);
      ++m_idle;
      m_caller.m_event.notify_all();
      m_caller.m_given.wait(lock, [&] { return m_over || !m_given.empty(); });
      --m_idle;
      if (m_given.empty()) return;
      const Piece piece = m_given.front();
      m_given.pop_front();
      lock.unlock();
      try {
        Result result = m_work(worker, piece.number, m_caller);
        lock.lock();
        m_ends.emplace(piece.turn, std::make_pair(piece, std::move(result)));
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        m_end_of_done = m_failure ? std::min(m_end_of_done, piece.turn) : piece.turn;
        if (!m_failure) m_failure = std::current_exception();
      }
      m_caller.m_event.notify_all();
    }
  }

  // Calls a function of the caller without the lock, and returns its exception.
  template <class Function>
  static std::exception_ptr guarded(Lock& lock, const Function& function) {
    lock.unlock();
    std::exception_ptr thrown;
    try {
      function();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    return thrown;
  }

  // The next three carry out what is due on the calling thread; false if nothing is.
  bool answer_request(Lock& lock) {
    if (m_caller.m_requests.empty()) return false;
    CallingThread::Request& request = *m_caller.m_requests.front();
    m_caller.m_requests.pop_front();
    request.failure = guarded(lock, *request.function);
    request.done = true;
    m_caller.m_answered.notify_all();
    return true;
  }
  bool deliver_result(Lock& lock) {
    if (m_failure && m_finished >= m_end_of_done) return false;
    if (m_ends.count(m_finished) == 0) return false;
    auto end = std::move(m_ends.at(m_finished));
    m_ends.erase(m_finished++);
    const auto thrown = guarded(lock, [&] { m_done(end.first.number, std::move(end.second)); });
    if (thrown) m_end_of_done = 0;
    if (thrown && !m_failure) m_failure = thrown;
    return true;
  }
  bool give_task(Lock& lock) {
    if (!m_more || m_failure || m_idle <= static_cast<int>(m_given.size())) return false;
    if (m_turns - m_finished >= static_cast<std::size_t>(max_pending_results(m_workers))) {
      return false;
    }
    std::optional<std::size_t> piece;
    const auto thrown = guarded(lock, [&] { piece = m_next(); });
    if (thrown && !m_failure) m_failure = thrown;
    m_more = piece.has_value();
    if (piece && !m_failure) {
      m_given.push_back({m_turns++, *piece});
      m_caller.m_given.notify_one();
    }
    return true;
  }

  // Returns true if all threads are idle, and nothing is left to do.
  bool is_over(std::size_t threads) const {
    return m_idle == static_cast<int>(threads) && (m_failure || m_given.empty()) &&
           (m_failure || !m_more) && (m_failure || m_finished == m_turns);
  }

  const int m_workers;
  Next& m_next;
  const Work& m_work;
  const Done& m_done;
  CallingThread m_caller;
  std::deque<Piece> m_given;  // tasks that no worker has started
  // results by position in the order of next()
  std::map<std::size_t, std::pair<Piece, Result>> m_ends;
  std::exception_ptr m_failure;
  std::size_t m_end_of_done = 0;  // with a failure: results before this turn are delivered
  std::size_t m_turns = 0, m_finished = 0;  // tasks returned by next(), and tasks done
  bool m_more = true, m_over = false;
  int m_idle = 0;
};

}  // namespace detail

/// \brief Processes numbered tasks, `workers` of them concurrently.
///
/// next() and done() are called on this thread, done() in the order in which next() returned the
/// tasks. Sums, files and messages made in done() are therefore those of sequential execution. A
/// result waits until all earlier tasks are done. At most max_pending_results() tasks run or wait.
/// With one worker no thread is started. \param workers number of threads, 1 or more \param next
/// returns the number of the next task, or nothing at the end: std::optional<std::size_t>() \param
/// work computes a task on the worker's thread: Result(int worker, std::size_t task,
/// CallingThread&)
/// \param done takes the result of work(): void(std::size_t task, Result&&)
/// \throws the first exception of any of these functions, after all workers have ended. Results of
/// tasks before one whose work() failed are delivered first
template <class Result, class Next, class Work, class Done>
void run_concurrently(int workers, Next&& next, const Work& work, const Done& done) {
  if (workers <= 1) {
    CallingThread caller;
    caller.m_alone = true;
    while (const std::optional<std::size_t> piece = next()) done(*piece, work(0, *piece, caller));
    return;
  }
  detail::OrderedTasks<Result, std::remove_reference_t<Next>, Work, Done>(workers, next, work, done)
      .run();
}

}  // namespace moho
