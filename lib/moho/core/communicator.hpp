// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Processes that share the work of a run; moho/mpi/communicator.hpp has those of MPI.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace moho {

/// \brief The processes of a run, of which rank 0 is the root. This class is a single process;
/// classes for several processes override all functions.
///
/// Functions are collective unless stated otherwise: all processes call them in the same order.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  /// Returns the rank of this process, from 0. Not collective.
  virtual int rank() const { return 0; }
  /// Returns the number of processes, 1 or more. Not collective.
  virtual int size() const { return 1; }
  /// Returns true for rank 0. Not collective.
  bool root() const { return rank() == 0; }
  /// Returns true if the run has no other process. Not collective.
  bool alone() const { return size() == 1; }

  /// Calls a function on every process. If it throws on one, all throw the same exception.
  virtual void collectively(const std::function<void()>& function) { function(); }
  /// Sends plain bytes of the root to all processes. \param count number of bytes, 0 or more
  virtual void broadcast(void* bytes, std::size_t count) { (void)bytes, (void)count; }
  /// Adds values of all processes into those of the root; all pass the same number of values.
  virtual void sum_to_root(std::vector<double>& values) { (void)values; }
  /// Returns true on all processes if one of them passes true.
  bool any(bool mine) {
    std::vector<double> count{mine ? 1.0 : 0.0};
    sum_to_root(count);
    broadcast(count.data(), sizeof(double));
    return count.front() > 0.0;
  }
  /// \brief Merges a value of each process into that of the root.
  /// \param pack returns the value of this process as bytes
  /// \param merge receives the bytes of another process
  virtual void merge_to_root(const std::function<std::string()>& pack,
                             const std::function<void(std::string&&)>& merge) {
    (void)pack, (void)merge;
  }

  /// Sets the shared counter of work items to 1: the root has item 0, see SharedCounter.
  virtual void restart_counter() { m_next = 1; }
  /// Returns the next item, which no other process receives. Not collective.
  virtual std::int64_t next_item() { return m_next++; }
  /// Sends bytes to the root without waiting. Not collective; not called on the root.
  virtual void send_to_root(const std::string& bytes) { (void)bytes; }
  /// \brief Returns the messages that have reached the root since the last call. Not collective;
  /// called on the root.
  /// \param wait true waits for a message if no message has arrived
  virtual std::vector<std::string> received(bool wait) {
    return (void)wait, std::vector<std::string>();
  }

 private:
  std::int64_t m_next = 1;
};

/// \brief Division of work items among processes: each item goes to the process that claims it
/// first. The root has item 0, so that reports of it do not depend on timing.
class SharedCounter {
 public:
  /// Begins at item 0. Collective. \param processes must outlive the claims
  void begin(Communicator& processes) {
    m_processes = &processes;
    processes.restart_counter();
    m_claimed = processes.root() ? 0 : -1;
  }
  /// Returns true if this process has the item. Called once for each item after begin(), in
  /// ascending order. Not collective.
  bool claim(std::int64_t item) {
    while (m_claimed < item) m_claimed = m_processes->next_item();
    return m_claimed == item;
  }

 private:
  Communicator* m_processes = nullptr;
  std::int64_t m_claimed = -1;  // latest item of this process
};

}  // namespace moho
