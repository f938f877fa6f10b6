// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Number of devices of a process.

#include <moho/core/cuda.hpp>
#include <moho/core/instances.hpp>

namespace moho::stream {

/// Returns the number of devices that the process accesses; 1 for hosts.
inline int device_count(const Instance<Kokkos::HostSpace>&) { return 1; }
#ifdef KOKKOS_ENABLE_CUDA
/// \overload
inline int device_count(const Instance<Kokkos::CudaSpace>&) {
  int count = 0;
  moho::check_cuda(cudaGetDeviceCount(&count), "moho::stream::device_count");
  return count;
}
#endif

}  // namespace moho::stream
