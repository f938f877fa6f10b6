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

/// One process; a program that divides its work among several derives from this. Functions are
/// collective, except where they say otherwise.
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  virtual ~Processes() = default;

  /// Is this the one that reads, prints and writes? Not collective.
  virtual bool root() const { return true; }
  /// Is there no other process? Not collective.
  virtual bool alone() const { return true; }
  /// Number of processes. Not collective.
  virtual int size() const { return 1; }
  /// The number of this one, from 0. Not collective.
  virtual int rank() const { return 0; }
  /// Does each read options and files itself? Else the root alone does. Not collective.
  virtual bool each_reads() const { return false; }
  /// This process among those of its machine. Not collective.
  virtual int rank_on_host() const { return 0; }
  /// Processes of this machine, which share its memory. Not collective.
  virtual int size_of_host() const { return 1; }
  /// Calls a function on every process. If it throws on one, all throw the same.
  virtual void together(const std::function<void()>& function) { function(); }
  /// Do all know of the exception that was thrown last? Not collective.
  virtual bool agreed() const { return true; }
  /// Ends what makes processes work together: afterwards each is on its own.
  virtual void finish() {}
  /// Is each on its own by now? Not collective.
  virtual bool finished() const { return true; }
  /// Sends plain bytes of the root to all.
  virtual void broadcast(void* bytes, std::size_t count) { (void)bytes, (void)count; }
  /// Adds numbers of all processes into those of the root.
  virtual void sum_to_root(std::vector<double>& values) { (void)values; }
  /// Ends all processes at once. Not collective.
  virtual void abort(int status) { (void)status; }

  /// \brief Begins to hand out positions of work from 0. The first is the root's, the others are
  /// given by next().
  virtual void begin_count() { m_next = 1; }
  /// The next position, which no other process gets. Not collective.
  virtual std::int64_t next() { return m_next++; }
  /// Sends a text to the root without waiting. Not collective.
  virtual void tell_root(const std::string& text) { (void)text; }
  /// Texts that have come to the root. \param wait for one, if there is none. Not collective.
  virtual std::vector<std::string> told(bool wait) {
    return (void)wait, std::vector<std::string>();
  }

 private:
  std::int64_t m_next = 1;
};

}  // namespace moho::examples
