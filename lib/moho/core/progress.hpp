// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Progress of long computations: a callback for libraries, a bar for terminals.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

namespace moho {

/// A progress callback, called on the host; it may be empty.
///
/// `fraction` is the completed part, from 0 to 1; it does not decrease during a computation. `what`
/// is a short description of the current work.
using Progress = std::function<void(double fraction, const std::string& what)>;

/// A progress bar on standard error.
///
/// It is drawn only if standard error is a terminal, and at most ten times a second.
class TerminalProgress {
 public:
  /// \param stream output stream; tests use a file
  explicit TerminalProgress(std::FILE* stream = stderr)
      : m_stream(stream), m_terminal(::isatty(::fileno(stream)) == 1) {}
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;
  ~TerminalProgress() { clear(); }

  /// Draws the bar.
  void operator()(double fraction, const std::string& what) {
    if (!m_terminal) return;
    const auto now = std::chrono::steady_clock::now();
    if (m_drawn && now - m_last < std::chrono::milliseconds(100)) return;
    m_last = now;
    m_drawn = true;
    constexpr int width = 30;
    const int full = static_cast<int>(width * std::clamp(fraction, 0.0, 1.0));
    std::fprintf(m_stream, "\r\033[K%s%s %3d %%  %s", std::string(full, '#').c_str(),
                 std::string(width - full, '.').c_str(),
                 static_cast<int>(100.0 * std::clamp(fraction, 0.0, 1.0)), what.c_str());
    std::fflush(m_stream);
  }

  /// Removes the bar from the terminal.
  void clear() {
    if (!m_drawn) return;
    std::fprintf(m_stream, "\r\033[K");
    std::fflush(m_stream);
    m_drawn = false;
  }

  /// Returns a callback that draws this bar; the bar must outlive the callback.
  Progress callback() {
    return [this](double fraction, const std::string& what) { (*this)(fraction, what); };
  }

 private:
  std::FILE* m_stream;
  bool m_terminal;
  bool m_drawn = false;
  std::chrono::steady_clock::time_point m_last{};
};

}  // namespace moho
