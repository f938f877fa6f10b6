// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Concurrent execution of similar tasks on one device, with one thread and instance each.
///
/// A small problem leaves most of a device idle, and its launches last longer than its kernels. On
/// a device each worker submits to a separate stream; on hosts each worker computes on one thread.

#include <moho/core/error.hpp>
#include <moho/core/order.hpp>

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

  bool m_alone = false;
  std::mutex m_mutex;
  std::condition_variable m_event;     // wakes the calling thread
  std::condition_variable m_answered;  // wakes workers that wait in call()
  std::condition_variable m_given;     // wakes workers without a task
  std::deque<Request*> m_requests;
};

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
  CallingThread caller;
  if (workers <= 1) {
    caller.m_alone = true;
    while (const std::optional<std::size_t> piece = next()) done(*piece, work(0, *piece, caller));
    return;
  }
  struct Piece {
    std::size_t turn, number;
  };
  std::deque<Piece> given;  // tasks that no worker has started
  // results by position in the order of next()
  std::map<std::size_t, std::pair<Piece, Result>> ends;
  std::exception_ptr failure;
  std::size_t end_of_done = 0;  // with a failure: results before this turn are delivered
  bool over = false;
  int idle = 0;
  const auto carry_out = [&](int worker) {
    for (;;) {
      std::unique_lock lock(caller.m_mutex);
      ++idle;
      caller.m_event.notify_all();
      caller.m_given.wait(lock, [&] { return over || !given.empty(); });
      --idle;
      if (given.empty()) return;
      const Piece piece = given.front();
      given.pop_front();
      lock.unlock();
      try {
        Result result = work(worker, piece.number, caller);
        lock.lock();
        ends.emplace(piece.turn, std::make_pair(piece, std::move(result)));
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        end_of_done = failure ? std::min(end_of_done, piece.turn) : piece.turn;
        if (!failure) failure = std::current_exception();
      }
      caller.m_event.notify_all();
    }
  };
  std::vector<std::thread> threads;
  std::size_t turns = 0, finished = 0;  // tasks returned by next(), and tasks done
  bool more = true;
  std::unique_lock lock(caller.m_mutex);
  const auto guarded = [&](const auto& function) {
    lock.unlock();
    std::exception_ptr thrown;
    try {
      function();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    return thrown;
  };
  try {
    for (int n = 0; n < workers; ++n) threads.emplace_back(carry_out, n);
  } catch (...) {  // the system cannot create another thread
    failure = std::current_exception();
  }
  for (;;) {
    if (!caller.m_requests.empty()) {
      CallingThread::Request& request = *caller.m_requests.front();
      caller.m_requests.pop_front();
      request.failure = guarded(*request.function);
      request.done = true;
      caller.m_answered.notify_all();
    } else if ((!failure || finished < end_of_done) && ends.count(finished) > 0) {
      auto end = std::move(ends.at(finished));
      ends.erase(finished++);
      const auto thrown = guarded([&] { done(end.first.number, std::move(end.second)); });
      if (thrown) end_of_done = 0;
      if (thrown && !failure) failure = thrown;
    } else if (more && !failure && idle > static_cast<int>(given.size()) &&
               turns - finished < static_cast<std::size_t>(max_pending_results(workers))) {
      std::optional<std::size_t> piece;
      const auto thrown = guarded([&] { piece = next(); });
      if (thrown && !failure) failure = thrown;
      more = piece.has_value();
      if (piece && !failure) {
        given.push_back({turns++, *piece});
        caller.m_given.notify_one();
      }
    } else if (idle == static_cast<int>(threads.size()) && (failure || given.empty()) &&
               (failure || !more) && (failure || finished == turns)) {
      break;
    } else {
      caller.m_event.wait(lock);
    }
  }
  given.clear();
  over = true;
  caller.m_given.notify_all();
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace moho
