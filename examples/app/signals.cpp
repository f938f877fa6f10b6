// SPDX-License-Identifier: BSD-3-Clause
#include "app/signals.hpp"

#include <moho/io/standard_streams.hpp>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <utility>

namespace moho::examples {

namespace {

// Watched signals that are not ignored.
sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    const bool ignored = sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (!ignored) sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void(int)> ends) {
  io::open_closed_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const sigset_t set = watched();
  m_signals = ::signalfd(-1, &set, SFD_CLOEXEC);
  m_end = ::eventfd(0, EFD_CLOEXEC);
  if (m_signals < 0 || m_end < 0) return;  // signals end the process immediately
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  try {
    m_thread = std::thread([this, ends = std::move(ends)] {
      pollfd waits[2] = {{m_signals, POLLIN, 0}, {m_end, POLLIN, 0}};
      for (;;) {
        if (::poll(waits, 2, -1) < 0) continue;
        if (waits[0].revents == 0) return;  // the end; a signal before it is passed
        signalfd_siginfo info{};
        if (::read(m_signals, &info, sizeof(info)) != sizeof(info)) continue;
        ends(static_cast<int>(info.ssi_signo));
      }
    });
  } catch (const std::system_error&) {  // no memory for a thread: as above
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  if (m_thread.joinable()) {
    const std::uint64_t one = 1;
    while (::write(m_end, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    m_thread.join();
    const sigset_t set = watched();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
  for (const int descriptor : {m_signals, m_end}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

const char* signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

}  // namespace moho::examples
