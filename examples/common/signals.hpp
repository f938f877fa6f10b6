// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Signals that end a process, met where all of C++ may be used.

#include <functional>
#include <thread>

namespace moho::examples {

/// \brief Hands SIGINT, SIGTERM and SIGHUP to a function, in a thread that waits for them.
///
/// The signals are blocked in the thread that makes this object and in those that it starts
/// afterwards, so make it first. SIGPIPE and SIGXFSZ are ignored for good: what they would end the
/// process for is an error of the write, which has a message. Signals that were ignored, as nohup
/// does, stay so.
class SignalWatch {
 public:
  /// \param ends called with the signal's number; it ends the process
  explicit SignalWatch(std::function<void(int)> ends);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  /// Signals act as they did before.
  ~SignalWatch();

 private:
  int m_signals = -1, m_end = -1;  // descriptors of what the thread waits for
  std::thread m_thread;
};

/// "SIGINT"
const char* signal_name(int signal);

}  // namespace moho::examples
