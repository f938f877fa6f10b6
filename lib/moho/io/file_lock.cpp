// SPDX-License-Identifier: BSD-3-Clause

#include <moho/io/file_lock.hpp>

#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace moho::io {

int lock_file(int descriptor, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
    const int reason = errno;
    const bool passes = reason == EWOULDBLOCK || reason == EINTR;
    if (!passes || Clock::now() >= end) return reason;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace moho::io
