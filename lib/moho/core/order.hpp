// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Concurrent instances: creation, ordering and events; host memory for fast transfers.

#include <moho/core/error.hpp>
#include <moho/core/instance.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace moho {

/// \cond
namespace detail {
template <class Memory>
struct StagingOf {
  using type = Kokkos::HostSpace;
};
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct StagingOf<Kokkos::CudaSpace> {
  using type = Kokkos::CudaHostPinnedSpace;
};
inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}
/// Makes the device of an instance the current CUDA device during its lifetime.
class ScopedDevice {
 public:
  explicit ScopedDevice(const Instance<Kokkos::CudaSpace>& exec) {
    check_cuda(cudaGetDevice(&m_before), "moho::OnDeviceOf");
    if (exec.space().cuda_device() != m_before) {
      check_cuda(cudaSetDevice(exec.space().cuda_device()), "moho::OnDeviceOf");
    }
  }
  ScopedDevice(const ScopedDevice&) = delete;
  ScopedDevice& operator=(const ScopedDevice&) = delete;
  ~ScopedDevice() { cudaSetDevice(m_before); }

 private:
  int m_before = 0;
};
#endif
}  // namespace detail
/// \endcond

/// Host memory for transfers to and from `Memory`.
///
/// For a device it is page-locked, so that transfers run concurrently with the work of other
/// instances. For the host it is Kokkos::HostSpace.
template <class Memory>
using StagingMemory = typename detail::StagingOf<Memory>::type;

/// \brief Returns another instance on the same device, which runs concurrently with `exec`.
///
/// On hosts it is `exec` itself, and work runs in the order of the calls.
inline Instance<Kokkos::HostSpace> new_instance(const Instance<Kokkos::HostSpace>& exec) {
  return exec;
}

/// \brief Orders work: later submissions to `later` start after all previous ones to `earlier`.
///
/// The call does not block; the device keeps the order. On hosts work runs in the order of the
/// calls.
inline void wait_on_device(const Instance<Kokkos::HostSpace>& later,
                           const Instance<Kokkos::HostSpace>& earlier) {
  (void)later, (void)earlier;
}

/// \brief Returns instances on `count` devices for one process; the first is `exec`.
///
/// On hosts it returns `count` copies of `exec`, so that code for several devices can be tested
/// there.
/// \throws InputError for more devices than the process can access
inline std::vector<Instance<Kokkos::HostSpace>> instances_on_devices(
    const Instance<Kokkos::HostSpace>& exec, int count) {
  return std::vector<Instance<Kokkos::HostSpace>>(static_cast<std::size_t>(count), exec);
}

#ifdef KOKKOS_ENABLE_CUDA
/// \overload
inline Instance<Kokkos::CudaSpace> new_instance(const Instance<Kokkos::CudaSpace>& exec) {
  const detail::ScopedDevice on(exec);
  Instance<Kokkos::CudaSpace> result = Kokkos::Experimental::partition_space(exec.space(), 1)[0];
  result.take_flag(exec);
  return result;
}
/// \overload
inline void wait_on_device(const Instance<Kokkos::CudaSpace>& later,
                           const Instance<Kokkos::CudaSpace>& earlier) {
  const detail::ScopedDevice on(earlier);
  cudaEvent_t event = nullptr;
  detail::check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                     "moho::wait_on_device");
  const cudaError_t recorded = cudaEventRecord(event, earlier.space().cuda_stream());
  const cudaError_t ordered = recorded == cudaSuccess
                                  ? cudaStreamWaitEvent(later.space().cuda_stream(), event, 0)
                                  : recorded;
  cudaEventDestroy(event);  // destroyed after the wait has completed
  detail::check_cuda(ordered, "moho::wait_on_device");
}
#endif

#ifdef KOKKOS_ENABLE_CUDA
/// \overload
inline std::vector<Instance<Kokkos::CudaSpace>> instances_on_devices(
    const Instance<Kokkos::CudaSpace>& exec, int count) {
  int there = 0;
  detail::check_cuda(cudaGetDeviceCount(&there), "moho::instances_on_devices");
  if (count < 1 || count > there) {
    throw InputError(
        concat("devices is ", count, " (allowed: 1 to ", there, ", those that this process sees)"));
  }
  std::vector<Instance<Kokkos::CudaSpace>> result{exec};
  const int first = exec.space().cuda_device();
  for (int device = 0; static_cast<int>(result.size()) < count; ++device) {
    if (device == first) continue;
    const detail::ScopedDevice on(exec);
    detail::check_cuda(cudaSetDevice(device), "moho::instances_on_devices");
    cudaStream_t stream = nullptr;
    detail::check_cuda(cudaStreamCreate(&stream), "moho::instances_on_devices");
    result.push_back(Kokkos::Cuda(stream));  // the stream exists until the process ends
    // enable direct copies between devices that support them
    for (const auto& other : result) {
      const int peer = other.space().cuda_device();
      int can = 0;
      if (peer == device) continue;
      if (cudaDeviceCanAccessPeer(&can, device, peer) == cudaSuccess && can != 0) {
        cudaSetDevice(device);
        cudaDeviceEnablePeerAccess(peer, 0);
        cudaSetDevice(peer);
        cudaDeviceEnablePeerAccess(device, 0);
        cudaGetLastError();  // access may be enabled already
      }
    }
  }
  return result;
}
#endif

/// Returns true if two instances of the host share its memory: always.
inline bool share_memory(const Instance<Kokkos::HostSpace>&, const Instance<Kokkos::HostSpace>&) {
  return true;
}

#ifdef KOKKOS_ENABLE_CUDA
/// Returns true if two instances run on the same device.
/// \overload
inline bool share_memory(const Instance<Kokkos::CudaSpace>& a,
                         const Instance<Kokkos::CudaSpace>& b) {
  return a.space().cuda_device() == b.space().cuda_device();
}
#endif

/// \brief An event: complete when all work submitted to the instance before set() is done.
///
/// Further calls of set() replace the event. wait() blocks the host until the event is complete.
/// hold() delays later submissions to an instance until the event is complete, without blocking the
/// host. Both do nothing before the first set(). seconds_since() is the time between two complete
/// events of one device; Mark(false) has no times, and costs a device less. On hosts an event is
/// complete at the call of set().
template <class Memory>
class Mark;

/// \cond
template <>
class Mark<Kokkos::HostSpace> {
 public:
  Mark() = default;
  explicit Mark(bool) {}
  void set(const Instance<Kokkos::HostSpace>&) { m_time = std::chrono::steady_clock::now(); }
  void wait() const {}
  void hold(const Instance<Kokkos::HostSpace>&) const {}
  double seconds_since(const Mark& earlier) const {
    return std::chrono::duration<double>(m_time - earlier.m_time).count();
  }

 private:
  std::chrono::steady_clock::time_point m_time{};
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
class Mark<Kokkos::CudaSpace> {
 public:
  Mark() = default;
  explicit Mark(bool timed) : m_flags(timed ? cudaEventDefault : cudaEventDisableTiming) {}
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  Mark(Mark&& other) noexcept
      : m_flags(other.m_flags), m_event(std::exchange(other.m_event, nullptr)) {}
  Mark& operator=(Mark&& other) noexcept {
    std::swap(m_flags, other.m_flags);
    std::swap(m_event, other.m_event);
    return *this;
  }
  ~Mark() {
    if (m_event != nullptr) cudaEventDestroy(m_event);
  }
  void set(const Instance<Kokkos::CudaSpace>& exec) {
    const detail::ScopedDevice on(exec);
    if (m_event == nullptr) {
      detail::check_cuda(cudaEventCreateWithFlags(&m_event, m_flags), "moho::Mark");
    }
    detail::check_cuda(cudaEventRecord(m_event, exec.space().cuda_stream()), "moho::Mark");
  }
  void wait() const {
    if (m_event != nullptr) detail::check_cuda(cudaEventSynchronize(m_event), "moho::Mark");
  }
  void hold(const Instance<Kokkos::CudaSpace>& later) const {
    if (m_event == nullptr) return;
    detail::check_cuda(cudaStreamWaitEvent(later.space().cuda_stream(), m_event, 0), "moho::Mark");
  }
  double seconds_since(const Mark& earlier) const {
    float milliseconds = 0.0f;
    detail::check_cuda(cudaEventElapsedTime(&milliseconds, earlier.m_event, m_event), "moho::Mark");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  unsigned m_flags = cudaEventDefault;
  cudaEvent_t m_event = nullptr;
};
#endif
/// \endcond

}  // namespace moho
