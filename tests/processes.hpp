// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Threads that stand for the processes of a run.

#include <moho/core/communicator.hpp>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace moho::testing {

/// Data that all threads of a run use.
struct ThreadRun {
  explicit ThreadRun(int count) : size(count), step(count) {}
  int size;
  std::barrier<> step;
  const void* address = nullptr;
  std::vector<double> sum;
  std::string bytes;
  std::atomic<std::int64_t> next{1};
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::string> messages;
};

/// A thread as one process of a run.
class ThreadProcess : public Communicator {
 public:
  ThreadProcess(ThreadRun& run, int rank) : m_run(run), m_rank(rank) {}

  int rank() const override { return m_rank; }
  int size() const override { return m_run.size; }
  void collectively(const std::function<void()>& function) override { in_turn(function); }
  void broadcast(void* bytes, std::size_t count) override {
    if (root()) m_run.address = bytes;
    wait();
    if (!root() && count > 0) std::memcpy(bytes, m_run.address, count);
    wait();
  }
  void sum_to_root(std::vector<double>& values) override {
    if (root()) m_run.sum.assign(values.size(), 0.0);
    in_turn([&] {
      for (std::size_t i = 0; i < values.size(); ++i) m_run.sum[i] += values[i];
    });
    if (root()) values = m_run.sum;
  }
  void merge_to_root(const std::function<std::string()>& pack,
                     const std::function<void(std::string&&)>& merge) override {
    for (int turn = 1; turn < size(); ++turn) {
      if (turn == m_rank) m_run.bytes = pack();
      wait();
      if (root()) merge(std::move(m_run.bytes));
      wait();
    }
  }

  void restart_counter() override {
    wait();
    if (root()) m_run.next = 1;
    wait();
  }
  std::int64_t next_item() override { return m_run.next++; }
  void send_to_root(const std::string& bytes) override {
    const std::lock_guard<std::mutex> lock(m_run.mutex);
    m_run.messages.push_back(bytes);
    m_run.arrived.notify_one();
  }
  std::vector<std::string> received(bool wait) override {
    std::unique_lock<std::mutex> lock(m_run.mutex);
    if (wait) m_run.arrived.wait(lock, [&] { return !m_run.messages.empty(); });
    return std::exchange(m_run.messages, {});
  }

  /// Waits for all threads.
  void wait() { m_run.step.arrive_and_wait(); }

 protected:
  /// Calls the function of one thread after another.
  void in_turn(const std::function<void()>& function) {
    wait();
    for (int turn = 0; turn < size(); ++turn) {
      if (turn == m_rank) function();
      wait();
    }
  }

  ThreadRun& m_run;
  int m_rank;
};

/// Calls run(process) on each of some threads, of which this one is the root.
template <class Process = ThreadProcess, class Run>
void on_processes(int count, const Run& run) {
  ThreadRun shared(count);
  std::vector<std::thread> others;
  for (int rank = 1; rank < count; ++rank) {
    others.emplace_back([&, rank] {
      Process process(shared, rank);
      run(process);
    });
  }
  Process root(shared, 0);
  run(root);
  for (std::thread& other : others) other.join();
}

}  // namespace moho::testing
