// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The processes of one run of a program.

#include <moho/core/communicator.hpp>

namespace moho::examples {

/// One process; programs that divide their work among several derive from this class.
/// The root reads, prints and writes. Functions are collective unless stated otherwise.
class Processes : public Communicator {
 public:
  /// Returns true if each process reads options and files; otherwise only the root does. Not
  /// collective.
  virtual bool each_reads() const { return false; }
  /// Returns the rank of this process among those of its machine. Not collective.
  virtual int rank_on_host() const { return 0; }
  /// Returns the number of processes of this machine, which share its memory. Not collective.
  virtual int size_of_host() const { return 1; }
  /// Returns true if all processes know the exception that was thrown last. Not collective.
  virtual bool agreed() const { return true; }
  /// Ends the communication; afterwards each process runs alone.
  virtual void finish() {}
  /// Returns true after finish(). Not collective.
  virtual bool finished() const { return true; }
  /// Ends all processes immediately. Not collective.
  virtual void abort(int status) { (void)status; }
};

}  // namespace moho::examples
