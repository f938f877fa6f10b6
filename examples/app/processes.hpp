// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The processes of one run of a program.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace moho::examples {

/// One process; programs that divide their work among several derive from this class.
/// Functions are collective unless stated otherwise.
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  virtual ~Processes() = default;

  /// Returns true for the process that reads, prints and writes. Not collective.
  virtual bool root() const { return true; }
  /// Returns true if the run has no other process. Not collective.
  virtual bool alone() const { return true; }
  /// Returns the number of processes. Not collective.
  virtual int size() const { return 1; }
  /// Returns the rank of this process, from 0. Not collective.
  virtual int rank() const { return 0; }
  /// Returns true if each process reads options and files; otherwise only the root does. Not
  /// collective.
  virtual bool each_reads() const { return false; }
  /// Returns the rank of this process among those of its machine. Not collective.
  virtual int rank_on_host() const { return 0; }
  /// Returns the number of processes of this machine, which share its memory. Not collective.
  virtual int size_of_host() const { return 1; }
  /// Calls a function on every process. If it throws on one, all throw the same exception.
  virtual void together(const std::function<void()>& function) { function(); }
  /// Returns true if all processes know the exception that was thrown last. Not collective.
  virtual bool agreed() const { return true; }
  /// Ends the communication; afterwards each process runs alone.
  virtual void finish() {}
  /// Returns true after finish(). Not collective.
  virtual bool finished() const { return true; }
  /// Sends plain bytes from the root to all processes.
  virtual void broadcast(void* bytes, std::size_t count) { (void)bytes, (void)count; }
  /// Adds numbers of all processes into those of the root.
  virtual void sum_to_root(std::vector<double>& values) { (void)values; }
  /// Ends all processes immediately. Not collective.
  virtual void abort(int status) { (void)status; }

  /// Starts a shared counter of work items at 0.
  /// The root has the first item; next() gives the others.
  virtual void begin_count() { m_next = 1; }
  /// Returns the next item, which no other process gets. Not collective.
  virtual std::int64_t next() { return m_next++; }
  /// Sends a text or bytes to the root without waiting. Not collective.
  virtual void tell_root(const std::string& text) { (void)text; }
  /// Returns the texts that have reached the root.
  /// \param wait true waits for a text if no text has arrived. Not collective.
  virtual std::vector<std::string> told(bool wait) {
    return (void)wait, std::vector<std::string>();
  }

  /// Merges a value of each process into that of the root.
  /// \param pack value of this process as bytes \param merge receives that of another process
  virtual void merge_to_root(const std::function<std::string()>& pack,
                             const std::function<void(std::string&&)>& merge) {
    (void)pack, (void)merge;
  }

 private:
  std::int64_t m_next = 1;
};

}  // namespace moho::examples
