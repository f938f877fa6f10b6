// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Execution of programs with an argument list, without a shell.

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// A program to run, and its input.
struct Command {
  std::vector<std::string> words;  ///< program (searched in PATH if it has no slash) and arguments
  std::string input;               ///< standard input
  double timeout = 60.0;           ///< seconds after which it and its children are killed
  std::size_t max_output = std::size_t{64} << 20;  ///< bytes kept of standard output and of
                                                   ///< standard error
  int stop_descriptor = -1;  ///< the program is killed when it can be read; -1: unused
};

/// Result of a program.
struct CommandResult {
  int exit = -1;           ///< exit status; -1 after a signal
  int signal = 0;          ///< signal that ended it; 0: none
  bool timed_out = false;  ///< it was killed at the timeout
  std::string out;         ///< standard output
  std::string error;       ///< standard error

  /// Returns true if the program ended with status 0.
  bool succeeded() const { return exit == 0 && !timed_out; }
  /// Returns one line for messages: standard error, or else standard output, and how it ended.
  std::string message() const;
};

/// Runs a program to its end. \throws FileError if it cannot be started
CommandResult run_command(const Command& command);

/// Options of start_process().
struct StartOptions {
  std::vector<std::string> words;  ///< program and arguments, as in Command
  std::filesystem::path folder;    ///< working directory; empty: that of this process
  std::filesystem::path log;       ///< file to which both outputs are appended; empty: discarded
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables to set
  int inherited_descriptor = -1;  ///< descriptor left open in the program, such as a lock; -1: none
  bool new_session = false;       ///< own session, out of reach of the terminal's signals
  bool end_with_parent = false;   ///< killed when the thread that started it ends (Linux)
};

/// Starts a program. \return its process number \throws FileError if it cannot be started
int start_process(const StartOptions& start);

/// Status of a process started by this one.
struct ProcessStatus {
  bool running = true;  ///< still running; then nothing else is set
  int exit = -1;        ///< exit status; -1 after a signal
  int signal = 0;       ///< signal that ended it; 0: none
};

/// Returns the status of a process; with `wait`, after its end.
ProcessStatus poll_process(int process, bool wait = false);

/// \brief Returns start time and name of a process in one line; empty if it does not run.
///
/// Processes that reuse a number have different identities.
std::string process_identity(int process);

/// \brief Stops programs started by this one from inheriting its lock.
///
/// The lock is StartOptions::inherited_descriptor, named by the variable MOHO_LOCK. A program that
/// inherited it would hold it beyond the end of this process.
void close_lock_on_exec();

/// Returns the name of this machine; "unknown" if it has none.
std::string host_name();
/// Returns the time in UTC, such as 2026-01-31T08:00:00Z.
std::string time_text();

}  // namespace moho::cluster
