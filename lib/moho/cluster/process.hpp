// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Programs run with their arguments as a list: no shell reads any of them.

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// A program and what it is given.
struct Command {
  std::vector<std::string> words;  ///< the program, looked for in PATH without a slash, and its
                                   ///< arguments
  std::string input;               ///< of its standard input
  double timeout = 60.0;           ///< seconds after which it and its children are killed
  std::size_t max_output = std::size_t{64} << 20;  ///< bytes that are kept of each output
};

/// How a program ended.
struct CommandResult {
  int exit = -1;           ///< its exit status; -1 after a signal
  int signal = 0;          ///< that ended it; 0: none
  bool timed_out = false;  ///< it was killed because it took too long
  std::string out;         ///< standard output
  std::string error;       ///< standard error

  /// Did it end by itself, with status 0?
  bool succeeded() const { return exit == 0 && !timed_out; }
  /// One line of what it said and how it ended, for messages.
  std::string message() const;
};

/// Runs a program to its end. \throws FileError if it cannot be started
CommandResult run_command(const Command& command);

/// How a program is started that goes on by itself.
struct StartOptions {
  std::vector<std::string> words;  ///< as in Command
  std::filesystem::path folder;    ///< that it works in; empty: this one's
  std::filesystem::path log;       ///< its output and errors are added here; empty: nowhere
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables besides this one's
  int inherited_descriptor = -1;  ///< a descriptor that it inherits (a lock); -1: none
  bool new_session = false;       ///< out of the reach of this terminal's signals
  bool end_with_parent = false;   ///< killed when the thread that starts it ends (Linux)
};

/// Starts a program. \return its process \throws FileError if it cannot be started
int start_process(const StartOptions& start);

/// How a process ended that this one started.
struct ProcessStatus {
  bool running = true;  ///< it has not ended; nothing else is set
  int exit = -1;        ///< exit status; -1 after a signal
  int signal = 0;       ///< that ended it; 0: none
};

/// Looks at a process, or with `wait` waits for its end.
ProcessStatus poll_process(int process, bool wait = false);

/// \brief Start time and name of a process, in a line; empty if it does not run. A process number
/// that the system gave to another process has another identity.
std::string process_identity(int process);

/// \brief Keeps the lock that this process was started with (Start::keep, named in the variable
/// MOHO_LOCK) from programs that it starts, which would hold it beyond its end.
void close_lock_on_exec();

/// The name of this machine, "unknown" if it has none.
std::string host_name();
/// UTC, as 2026-01-31T08:00:00Z.
std::string time_text();

}  // namespace moho::cluster
