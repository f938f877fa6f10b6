// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Events: order between instances, and times.

#include <moho/core/cuda.hpp>
#include <moho/core/instance.hpp>

#include <chrono>
#include <utility>

namespace moho {

/// \brief An event: complete when all work submitted to the instance before record() is done.
///
/// Further calls of record() replace the event. wait() blocks the host until the event is complete.
/// make_wait() delays later submissions to an instance until the event is complete, without
/// blocking the host. Both do nothing before the first record(). seconds_since() is the time
/// between two complete events of one device; Event(false) has no times, and costs a device less.
/// On hosts an event is complete at the call of record().
template <class Memory>
class Event;

/// \cond
template <>
class Event<Kokkos::HostSpace> {
 public:
  Event() = default;
  explicit Event(bool) {}
  void record(const Instance<Kokkos::HostSpace>&) { m_time = std::chrono::steady_clock::now(); }
  void wait() const {}
  void make_wait(const Instance<Kokkos::HostSpace>&) const {}
  double seconds_since(const Event& earlier) const {
    return std::chrono::duration<double>(m_time - earlier.m_time).count();
  }

 private:
  std::chrono::steady_clock::time_point m_time{};
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
class Event<Kokkos::CudaSpace> {
 public:
  Event() = default;
  explicit Event(bool timed) : m_flags(timed ? cudaEventDefault : cudaEventDisableTiming) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&& other) noexcept
      : m_flags(other.m_flags), m_event(std::exchange(other.m_event, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(m_flags, other.m_flags);
    std::swap(m_event, other.m_event);
    return *this;
  }
  ~Event() {
    if (m_event != nullptr) cudaEventDestroy(m_event);
  }
  void record(const Instance<Kokkos::CudaSpace>& exec) {
    const detail::ScopedDevice on(exec);
    if (m_event == nullptr) {
      check_cuda(cudaEventCreateWithFlags(&m_event, m_flags), "moho::Event");
    }
    check_cuda(cudaEventRecord(m_event, exec.space().cuda_stream()), "moho::Event");
  }
  void wait() const {
    if (m_event != nullptr) check_cuda(cudaEventSynchronize(m_event), "moho::Event");
  }
  void make_wait(const Instance<Kokkos::CudaSpace>& later) const {
    if (m_event == nullptr) return;
    check_cuda(cudaStreamWaitEvent(later.space().cuda_stream(), m_event, 0), "moho::Event");
  }
  double seconds_since(const Event& earlier) const {
    float milliseconds = 0.0f;
    check_cuda(cudaEventElapsedTime(&milliseconds, earlier.m_event, m_event), "moho::Event");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  unsigned m_flags = cudaEventDefault;
  cudaEvent_t m_event = nullptr;
};
#endif
/// \endcond

}  // namespace moho
