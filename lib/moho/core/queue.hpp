// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Bounded queues between threads, and stages: threads that work through queues, end
/// together, and report the first failure of any of them.
///
/// A shot's forward leg, say, hands snapshots to a thread that compresses them and on to one that
/// writes:
///
///     Stages stages;
///     auto& raw = stages.queue<Snapshot>(2);
///     auto& packed = stages.queue<Packed>(4);
///     stages.start("compress", {&raw}, {&packed}, [&] {
///       while (auto snapshot = raw.pop()) packed.push(compress(*snapshot));
///     });
///     stages.start("write", {&packed}, {}, [&] {
///       while (auto p = packed.pop()) file.write(*p);
///     });
///     stages.run("propagate", {}, {&raw}, [&] { ... raw.push(...) ... });
///     stages.join();  // throws what failed first, whichever stage it was
///
/// A stage that ends closes the queues that it alone still wrote, so that the next one ends when
/// they are empty, and those that it alone still read, so that nobody waits for room in them. A
/// stage that throws fails all queues: every other stage gets its exception from the next push() or
/// pop(). So no stage waits for one that is gone.

#include <moho/core/error.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace moho {

/// What stages get from their queues when the work is given up although none of them failed.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// What all queues have in common: ends and failures, without the elements.
class QueueEnds {
 public:
  QueueEnds() = default;
  QueueEnds(const QueueEnds&) = delete;
  QueueEnds& operator=(const QueueEnds&) = delete;
  virtual ~QueueEnds() = default;

  /// Nothing more will be pushed: pop() gives what is left, and then nothing.
  void finish() {
    const std::lock_guard lock(m_mutex);
    m_finished = true;
    wake();
  }
  /// Nobody reads any more: what is left is dropped, and push() returns false.
  void stop() {
    const std::lock_guard lock(m_mutex);
    m_stopped = true;
    drop();
    wake();
  }
  /// All calls of push() and pop(), waiting ones too, throw this exception. The first one stays.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(m_mutex);
    if (m_failure) return;
    m_failure = std::move(failure);
    drop();
    wake();
  }

 protected:
  /// Drops the elements; the lock is held.
  virtual void drop() = 0;
  /// Wakes all that wait; the lock is held.
  void wake() {
    m_room.notify_all();
    m_element.notify_all();
  }

  std::mutex m_mutex;                 ///< of all that follows and of the elements
  std::condition_variable m_room;     ///< waited for by push()
  std::condition_variable m_element;  ///< waited for by pop()
  bool m_finished = false;            ///< finish() was called
  bool m_stopped = false;             ///< stop() was called
  std::exception_ptr m_failure;       ///< what fail() was called with

 private:
  friend class Stages;
  int m_writers = 0;  // stages that write it and have not ended; Stages holds its own lock
  int m_readers = 0;
};

/// \brief A queue of at most `capacity` elements between any number of threads. Elements are
/// moved.
template <class T>
class Queue : public QueueEnds {
 public:
  /// \param capacity elements that wait at most, 1 or more \throws InputError for 0
  explicit Queue(std::size_t capacity) : m_capacity(capacity) {
    if (capacity == 0) {
      throw InputError(
          "queue: the capacity is 0 (allowed: 1 or more): 2 let both sides work at the same time");
    }
  }

  /// Appends an element; waits while the queue is full.
  /// \returns false if nobody reads any more: the element is dropped, and the writer may end
  /// \throws what the queue was failed with; std::logic_error after finish()
  bool push(T element) {
    std::unique_lock lock(m_mutex);
    m_room.wait(lock, [&] {
      return m_failure || m_stopped || m_finished || m_elements.size() < m_capacity;
    });
    if (m_failure) std::rethrow_exception(m_failure);
    if (m_stopped) return false;
    if (m_finished) throw std::logic_error("moho::Queue: push() after finish()");
    m_elements.push_back(std::move(element));
    m_element.notify_one();
    return true;
  }

  /// Takes the oldest element; waits while there is none and more may come.
  /// \returns nothing when the queue is finished and empty, or stopped
  /// \throws what the queue was failed with
  std::optional<T> pop() {
    std::unique_lock lock(m_mutex);
    m_element.wait(lock,
                   [&] { return m_failure || m_stopped || m_finished || !m_elements.empty(); });
    if (m_failure) std::rethrow_exception(m_failure);
    if (m_elements.empty()) return std::nullopt;
    std::optional<T> element(std::move(m_elements.front()));
    m_elements.pop_front();
    m_room.notify_one();
    return element;
  }

  /// Elements that wait now.
  std::size_t size() {
    const std::lock_guard lock(m_mutex);
    return m_elements.size();
  }
  /// Elements that wait at most.
  std::size_t capacity() const { return m_capacity; }

 private:
  void drop() override { m_elements.clear(); }

  std::size_t m_capacity;
  std::deque<T> m_elements;
};

/// \brief Threads that work through queues. It owns both: a queue lives as long as the stages.
///
/// queue(), start(), run() and join() are called by the thread that made it. Each end of a queue
/// belongs to one stage, which may have several threads: it is closed when the last of them has
/// ended.
class Stages {
 public:
  Stages() = default;
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;
  /// Without join() (an exception is on its way) the stages get Cancelled and are waited for.
  ~Stages() {
    if (m_threads.empty()) return;
    give_up(std::make_exception_ptr(Cancelled("the work was given up")), "");
    wait();
  }

  /// A queue of these stages. \throws InputError for the capacity 0
  template <class T>
  Queue<T>& queue(std::size_t capacity) {
    auto made = std::make_unique<Queue<T>>(capacity);
    Queue<T>& result = *made;
    const std::lock_guard lock(m_mutex);
    if (m_failure) result.fail(m_failure);
    m_queues.push_back(std::move(made));
    return result;
  }

  /// \brief Starts a stage on threads of its own.
  /// \param name for failed_stage()
  /// \param reads queues of these stages that it reads
  /// \param writes queues of these stages that it writes
  /// \param work called once by each thread; it returns when its queues give nothing more, or
  /// earlier if it wants no more
  /// \param threads that share the stage; what they write has no order then
  /// \throws InputError for no threads
  void start(std::string name, std::vector<QueueEnds*> reads, std::vector<QueueEnds*> writes,
             std::function<void()> work, int threads = 1) {
    if (threads < 1) {
      throw InputError(concat("stage '", name, "': threads is ", threads, " (allowed: 1 or more)"));
    }
    // All of them enter before the first can leave, and close what the others still use.
    for (int n = 0; n < threads; ++n) enter(reads, writes);
    for (int n = 0; n < threads; ++n) {
      try {
        m_threads.emplace_back(
            [this, name, reads, writes, work] { carry_out(name, reads, writes, work); });
      } catch (...) {  // the system has no thread left
        give_up(std::current_exception(), name);
        for (; n < threads; ++n) leave(reads, writes);
        throw;
      }
    }
  }

  /// \brief Carries out a stage on this thread: kernels are submitted by the thread that Kokkos was
  /// started on. A failure is thrown by join().
  void run(const std::string& name, const std::vector<QueueEnds*>& reads,
           const std::vector<QueueEnds*>& writes, const std::function<void()>& work) {
    enter(reads, writes);
    carry_out(name, reads, writes, work);
  }

  /// Waits until all stages have ended. \throws the first failure of any of them
  void join() {
    wait();
    if (m_failure) std::rethrow_exception(m_failure);
  }

  /// The stage that failed first; empty if none did. Call it after join().
  const std::string& failed_stage() const { return m_failed_stage; }

 private:
  void carry_out(const std::string& name, const std::vector<QueueEnds*>& reads,
                 const std::vector<QueueEnds*>& writes, const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      give_up(std::current_exception(), name);
    }
    leave(reads, writes);
  }

  void enter(const std::vector<QueueEnds*>& reads, const std::vector<QueueEnds*>& writes) {
    const std::lock_guard lock(m_mutex);
    for (QueueEnds* queue : reads) ++queue->m_readers;
    for (QueueEnds* queue : writes) ++queue->m_writers;
  }

  void leave(const std::vector<QueueEnds*>& reads, const std::vector<QueueEnds*>& writes) {
    const std::lock_guard lock(m_mutex);
    for (QueueEnds* queue : writes) {
      if (--queue->m_writers == 0) queue->finish();
    }
    for (QueueEnds* queue : reads) {
      if (--queue->m_readers == 0) queue->stop();
    }
  }

  void give_up(const std::exception_ptr& failure, const std::string& name) {
    const std::lock_guard lock(m_mutex);
    if (!m_failure) {
      m_failure = failure;
      m_failed_stage = name;
    }
    for (const auto& queue : m_queues) queue->fail(m_failure);
  }

  void wait() {
    for (std::thread& thread : m_threads) thread.join();
    m_threads.clear();
  }

  std::mutex m_mutex;  // of the failure, the list of queues and their counts
  std::exception_ptr m_failure;
  std::string m_failed_stage;
  std::vector<std::unique_ptr<QueueEnds>> m_queues;
  std::vector<std::thread> m_threads;
};

}  // namespace moho
