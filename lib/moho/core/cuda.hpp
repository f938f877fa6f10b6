// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Calls of the CUDA runtime, for kernels that Kokkos cannot launch.

#include <moho/core/error.hpp>
#include <moho/core/instance.hpp>
#include <moho/core/kokkos.hpp>
#include <moho/core/text.hpp>

#include <cstddef>
#include <cstdint>

#ifdef KOKKOS_ENABLE_CUDA

namespace moho {

/// Throws Error for a CUDA status other than success.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error(concat(what, ": CUDA says '", cudaGetErrorString(status),
                     "': another program may have disturbed the device; try again"));
}

namespace detail {

/// Makes the device of an instance the current CUDA device during its lifetime.
class ScopedDevice {
 public:
  explicit ScopedDevice(const Instance<Kokkos::CudaSpace>& exec) {
    check_cuda(cudaGetDevice(&m_before), "moho::ScopedDevice");
    if (exec.space().cuda_device() != m_before) {
      check_cuda(cudaSetDevice(exec.space().cuda_device()), "moho::ScopedDevice");
    }
  }
  ScopedDevice(const ScopedDevice&) = delete;
  ScopedDevice& operator=(const ScopedDevice&) = delete;
  ~ScopedDevice() { cudaSetDevice(m_before); }

 private:
  int m_before = 0;
};

}  // namespace detail

/// Returns an attribute of the device of an instance.
inline int device_attribute(const Kokkos::Cuda& space, cudaDeviceAttr attribute) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, attribute, space.cuda_device()),
             "asking for an attribute of the device");
  return value;
}

/// \brief Launches a native kernel on an instance's stream.
///
/// For kernels that need more shared memory than Kokkos gives to a team (48 KB). Kokkos Tools
/// receive the label like that of a Kokkos kernel.
/// \param label name of the kernel
/// \param space instance
/// \param kernel global function
/// \param blocks number of blocks
/// \param threads number of threads of a block
/// \param bytes of shared memory of a block
/// \param arguments of the kernel
/// \throws Error if CUDA refuses the launch
template <class... Parameters, class... Arguments>
void launch_native(const char* label, const Kokkos::Cuda& space, void (*kernel)(Parameters...),
                   unsigned blocks, unsigned threads, int bytes, const Arguments&... arguments) {
  std::uint64_t id = 0;
  Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(space), &id);
  check_cuda(cudaSetDevice(space.cuda_device()), label);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             label);
  kernel<<<blocks, threads, static_cast<std::size_t>(bytes), space.cuda_stream()>>>(arguments...);
  check_cuda(cudaGetLastError(), label);
  Kokkos::Tools::endParallelFor(id);
}

}  // namespace moho

#endif
