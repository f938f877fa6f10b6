// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Instances side by side: a second one, the order between two, and memory of the host that
/// copies from a device go to at the full rate of the link.

#include <moho/core/instance.hpp>

#include <stdexcept>
#include <string>

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
#endif
}  // namespace detail
/// \endcond

/// Memory of the host for copies to and from `Memory`: page-locked for a device, so that copies run
/// beside the work of other instances; Kokkos::HostSpace for the host.
template <class Memory>
using StagingMemory = typename detail::StagingOf<Memory>::type;

/// \brief Another instance on the same device: what it is given runs beside the work of `exec`.
///
/// Hosts have one instance for all: `exec` itself comes back, and what both are given runs in the
/// order of the calls.
inline Instance<Kokkos::HostSpace> instance_beside(const Instance<Kokkos::HostSpace>& exec) {
  return exec;
}

/// \brief What `later` is given from now on begins when all that `earlier` was given until now is
/// done. It does not wait: on a device the order is kept there. Hosts work in the order of the
/// calls in any case.
inline void wait_on_device(const Instance<Kokkos::HostSpace>& later,
                           const Instance<Kokkos::HostSpace>& earlier) {
  (void)later, (void)earlier;
}

#ifdef KOKKOS_ENABLE_CUDA
/// \overload
inline Instance<Kokkos::CudaSpace> instance_beside(const Instance<Kokkos::CudaSpace>& exec) {
  return Kokkos::Experimental::partition_space(exec.space(), 1)[0];
}
/// \overload
inline void wait_on_device(const Instance<Kokkos::CudaSpace>& later,
                           const Instance<Kokkos::CudaSpace>& earlier) {
  cudaEvent_t event = nullptr;
  detail::check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                     "moho::wait_on_device");
  const cudaError_t recorded = cudaEventRecord(event, earlier.space().cuda_stream());
  const cudaError_t ordered = recorded == cudaSuccess
                                  ? cudaStreamWaitEvent(later.space().cuda_stream(), event, 0)
                                  : recorded;
  cudaEventDestroy(event);  // lives on until it has been waited for
  detail::check_cuda(ordered, "moho::wait_on_device");
}
#endif

}  // namespace moho
