// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Stop on request within kernels of hosts (internal).

#include <moho/core/error.hpp>
#include <moho/core/instance.hpp>

#include <atomic>
#include <exception>

namespace moho::gravity::detail {

/// \brief The stop flag of an instance for the threads of one kernel, which must not throw.
///
/// Threads leave the kernel when requested() is true. The caller then calls check().
class HostStop {
 public:
  /// \param exec must outlive the kernel
  explicit HostStop(const Stoppable& exec) : m_exec(exec) {}

  /// Returns true from the first call that sees the request; any thread.
  bool requested() const noexcept {
    if (m_seen.load(std::memory_order_relaxed)) return true;
    try {
      m_exec.check_stop();
    } catch (const Stopped&) {
      if (!m_seen.exchange(true)) m_stopped = std::current_exception();
      return true;
    }
    return false;
  }
  /// Throws Stopped if a thread has seen the request; after the kernel.
  void check() const {
    if (m_stopped) std::rethrow_exception(m_stopped);
  }

 private:
  const Stoppable& m_exec;
  mutable std::atomic<bool> m_seen{false};
  mutable std::exception_ptr m_stopped;
};

}  // namespace moho::gravity::detail
