// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/host_memory.hpp>
#include <moho/core/order.hpp>
#include <moho/core/space.hpp>
#include <moho/core/text.hpp>

#include <fstream>

namespace moho {

std::size_t available_memory(const Instance<Kokkos::HostSpace>&) { return host_memory().bytes; }

std::string device_name(const Instance<Kokkos::HostSpace>& exec) {
  std::string model = "CPU";
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (line.rfind("model name", 0) == 0) {
      const auto colon = line.find(':');
      if (colon != std::string::npos && colon + 2 <= line.size()) model = line.substr(colon + 2);
      break;
    }
  }
  return concat(model, ", ", text::counted(exec.concurrency(), "thread"));
}

#ifdef KOKKOS_ENABLE_CUDA
std::size_t available_memory(const Instance<Kokkos::CudaSpace>& exec) {
  const detail::ScopedDevice on(exec);
  std::size_t free_bytes = 0, total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess) return free_bytes;
  return 0;
}

std::string device_name(const Instance<Kokkos::CudaSpace>& exec) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, exec.space().cuda_device()) == cudaSuccess) {
    return properties.name;
  }
  return "CUDA device";
}
#endif

}  // namespace moho
