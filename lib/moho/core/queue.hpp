// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Bounded queues between threads, and pipelines of stages (threads) connected by queues.
///
/// Stages end together and report the first failure of any stage. For example, the forward
/// propagation of a shot passes snapshots to a compressing thread, which passes them to a writing
/// thread:
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
///     stages.join();  // rethrows the first exception of any stage
///
/// When the last writer of a queue ends, the queue is finished: its readers end once it is empty.
/// When the last reader ends, the queue is stopped: its writers do not wait. If a stage throws, all
/// queues fail: every other stage receives the exception from its next push() or pop(). No stage
/// therefore waits for one that has ended.

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

/// Thrown by queues of a pipeline that is abandoned although no stage has failed.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// Base class of queues: finishing, stopping and failing, independent of the element type.
class QueueEnds {
 public:
  QueueEnds() = default;
  QueueEnds(const QueueEnds&) = delete;
  QueueEnds& operator=(const QueueEnds&) = delete;
  virtual ~QueueEnds() = default;

  /// Declares that nothing more is pushed; pop() returns the remaining elements, then nothing.
  void finish() {
    const std::lock_guard lock(m_mutex);
    m_finished = true;
    wake();
  }
  /// Declares that no stage reads any more; elements are dropped and push() returns false.
  void stop() {
    const std::lock_guard lock(m_mutex);
    m_stopped = true;
    drop();
    wake();
  }
  /// Makes all calls of push() and pop(), also waiting ones, throw this exception.
  ///
  /// Later calls of fail() have no effect.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(m_mutex);
    if (m_failure) return;
    m_failure = std::move(failure);
    drop();
    wake();
  }

 protected:
  /// Drops the elements; the caller holds the lock.
  virtual void drop() = 0;
  /// Wakes all waiting threads; the caller holds the lock.
  void wake() {
    m_room.notify_all();
    m_element.notify_all();
  }

  std::mutex m_mutex;                 ///< guards all following members and the elements
  std::condition_variable m_room;     ///< push() waits for room
  std::condition_variable m_element;  ///< pop() waits for an element
  bool m_finished = false;            ///< set by finish()
  bool m_stopped = false;             ///< set by stop()
  std::exception_ptr m_failure;       ///< argument of fail()

 private:
  friend class Stages;
  int m_writers = 0;  // active stages that write; guarded by the lock of Stages
  int m_readers = 0;
};

/// \brief A queue of at most `capacity` elements for any number of threads; elements are moved.
template <class T>
class Queue : public QueueEnds {
 public:
  /// \param capacity largest number of waiting elements, 1 or more \throws InputError for 0
  explicit Queue(std::size_t capacity) : m_capacity(capacity) {
    if (capacity == 0) {
      throw InputError(
          "queue: the capacity is 0 (allowed: 1 or more): 2 let both sides work at the same time");
    }
  }

  /// Appends an element; waits while the queue is full.
  /// \returns false if no stage reads any more: the element is dropped, and the writer may end
  /// \throws the exception of fail(); std::logic_error after finish()
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

  /// Removes and returns the oldest element; waits while the queue is empty and not finished.
  /// \returns nothing when the queue is finished and empty, or stopped
  /// \throws the exception of fail()
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

  /// Returns the number of waiting elements.
  std::size_t size() {
    const std::lock_guard lock(m_mutex);
    return m_elements.size();
  }
  /// Returns the largest number of waiting elements.
  std::size_t capacity() const { return m_capacity; }

 private:
  void drop() override { m_elements.clear(); }

  std::size_t m_capacity;
  std::deque<T> m_elements;
};

/// \brief A pipeline: threads connected by queues. It owns the queues.
///
/// queue(), start(), run() and join() are called by the thread that constructed it. Each end of a
/// queue belongs to one stage, which may have several threads. It is closed when the last of these
/// threads has ended.
class Stages {
 public:
  Stages() = default;
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;
  /// Cancels the stages and waits for them, if an exception prevented join().
  ///
  /// The stages receive Cancelled.
  ~Stages() {
    if (m_threads.empty()) return;
    give_up(std::make_exception_ptr(Cancelled("the work was given up")), "");
    wait();
  }

  /// Creates a queue of this pipeline. \throws InputError for the capacity 0
  template <class T>
  Queue<T>& queue(std::size_t capacity) {
    auto made = std::make_unique<Queue<T>>(capacity);
    Queue<T>& result = *made;
    const std::lock_guard lock(m_mutex);
    if (m_failure) result.fail(m_failure);
    m_queues.push_back(std::move(made));
    return result;
  }

  /// \brief Starts a stage on new threads.
  /// \param name name of the stage, for failed_stage()
  /// \param reads queues of this pipeline that the stage reads
  /// \param writes queues of this pipeline that the stage writes
  /// \param work called once by each thread; returns when its queues return nothing, or earlier
  /// \param threads number of threads of the stage; several write their elements in no defined
  /// order
  /// \throws InputError for less than 1 thread
  void start(std::string name, std::vector<QueueEnds*> reads, std::vector<QueueEnds*> writes,
             std::function<void()> work, int threads = 1) {
    if (threads < 1) {
      throw InputError(concat("stage '", name, "': threads is ", threads, " (allowed: 1 or more)"));
    }
    // Registers all threads first, so that a thread that ends early closes no queue still in use.
    for (int n = 0; n < threads; ++n) enter(reads, writes);
    for (int n = 0; n < threads; ++n) {
      try {
        m_threads.emplace_back(
            [this, name, reads, writes, work] { carry_out(name, reads, writes, work); });
      } catch (...) {  // the system cannot create another thread
        give_up(std::current_exception(), name);
        for (; n < threads; ++n) leave(reads, writes);
        throw;
      }
    }
  }

  /// \brief Runs a stage on the calling thread; join() rethrows its exception.
  ///
  /// Kernels must be submitted by the thread that initialised Kokkos: use run() for such a stage.
  void run(const std::string& name, const std::vector<QueueEnds*>& reads,
           const std::vector<QueueEnds*>& writes, const std::function<void()>& work) {
    enter(reads, writes);
    carry_out(name, reads, writes, work);
  }

  /// Waits until all stages have ended. \throws the first exception of any stage
  void join() {
    wait();
    if (m_failure) std::rethrow_exception(m_failure);
  }

  /// Returns the name of the stage that failed first, or an empty text; call it after join().
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

  std::mutex m_mutex;  // guards the failure, the list of queues and their counts
  std::exception_ptr m_failure;
  std::string m_failed_stage;
  std::vector<std::unique_ptr<QueueEnds>> m_queues;
  std::vector<std::thread> m_threads;
};

}  // namespace moho
