// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The processes of one run of a program.

#include <cstddef>
#include <functional>
#include <string>

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
  /// This process among those of its machine. Not collective.
  virtual int rank_on_host() const { return 0; }
  /// Calls a function on every process. If it throws on one, all throw the same.
  virtual void together(const std::function<void()>& function) { function(); }
  /// Do all know of the exception that was thrown last? Not collective.
  virtual bool agreed() const { return true; }
  /// Is each on its own by now? Not collective.
  virtual bool finished() const { return true; }
  /// Sends plain bytes of the root to all.
  virtual void broadcast(void* bytes, std::size_t count) { (void)bytes, (void)count; }
  /// Ends all processes at once. Not collective.
  virtual void abort(int status) { (void)status; }
};

}  // namespace moho::examples
