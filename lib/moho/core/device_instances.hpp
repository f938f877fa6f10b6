// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Concurrent instances on one or several devices, and their order.

#include <moho/core/cuda.hpp>
#include <moho/core/error.hpp>
#include <moho/core/instance.hpp>
#include <moho/core/text.hpp>

#include <cstddef>
#include <vector>

namespace moho {

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
/// on hosts.
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
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "moho::wait_on_device");
  const cudaError_t recorded = cudaEventRecord(event, earlier.space().cuda_stream());
  const cudaError_t ordered = recorded == cudaSuccess
                                  ? cudaStreamWaitEvent(later.space().cuda_stream(), event, 0)
                                  : recorded;
  cudaEventDestroy(event);  // destroyed after the wait has completed
  check_cuda(ordered, "moho::wait_on_device");
}
#endif

#ifdef KOKKOS_ENABLE_CUDA
/// \overload
inline std::vector<Instance<Kokkos::CudaSpace>> instances_on_devices(
    const Instance<Kokkos::CudaSpace>& exec, int count) {
  int available = 0;
  check_cuda(cudaGetDeviceCount(&available), "moho::instances_on_devices");
  if (count < 1 || count > available) {
    throw InputError(concat("devices is ", count, " (allowed: 1 to ", available,
                            ", those that this process sees)"));
  }
  std::vector<Instance<Kokkos::CudaSpace>> result{exec};
  const int first = exec.space().cuda_device();
  for (int device = 0; static_cast<int>(result.size()) < count; ++device) {
    if (device == first) continue;
    const detail::ScopedDevice on(exec);
    check_cuda(cudaSetDevice(device), "moho::instances_on_devices");
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreate(&stream), "moho::instances_on_devices");
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

}  // namespace moho
