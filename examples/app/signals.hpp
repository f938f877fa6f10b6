// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Signals that end a process, handled in a thread where all of C++ may be used.

#include <functional>
#include <thread>

namespace moho::examples {

/// Passes SIGINT, SIGTERM and SIGHUP to a function, in a thread that waits for them.
///
/// The signals are blocked in the constructing thread and in threads that it starts later:
/// construct the object before all other threads. SIGPIPE and SIGXFSZ are ignored permanently: the
/// failing write reports an error instead. Signals that were ignored, as nohup does, stay ignored.
class SignalWatch {
 public:
  /// Starts the thread that waits for signals.
  /// \param ends called with the signal's number; it ends the process
  explicit SignalWatch(std::function<void(int)> ends);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  /// Unblocks the watched signals.
  ~SignalWatch();

 private:
  int m_signals = -1, m_end = -1;  // descriptors that the thread waits for
  std::thread m_thread;
};

/// Returns the name of a signal: "SIGINT".
const char* signal_name(int signal);

}  // namespace moho::examples
