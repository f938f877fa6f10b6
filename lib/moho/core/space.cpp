// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/communicator.hpp>
#include <moho/core/cuda.hpp>
#include <moho/core/host_memory.hpp>
#include <moho/core/space.hpp>
#include <moho/core/text.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <vector>

namespace moho {

namespace {
std::atomic<int> processes_of_host{1}, processes_of_device{1};
}  // namespace

void set_memory_sharing(const MemorySharing& sharing) {
  if (sharing.host < 1 || sharing.device < 1) {
    throw InputError(concat("memory sharing: ", sharing.host, " processes of the host and ",
                            sharing.device, " of the device (allowed: 1 or more)"));
  }
  processes_of_host = sharing.host;
  processes_of_device = sharing.device;
}

void set_memory_sharing(Communicator& processes, int of_host) {
  std::vector<double> devices(static_cast<std::size_t>(processes.size()));
  const auto own = static_cast<double>(device_number());
  devices[static_cast<std::size_t>(processes.rank())] = own;
  processes.sum_to_root(devices);
  processes.broadcast(devices.data(), devices.size() * sizeof(double));
  const auto same = std::count(devices.begin(), devices.end(), own);
  set_memory_sharing({of_host, std::max(static_cast<int>(same), 1)});
}

MemorySharing memory_sharing() { return {processes_of_host, processes_of_device}; }

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

std::uint64_t device_number() {
  cudaDeviceProp properties{};
  const Instance<Kokkos::CudaSpace> exec{Kokkos::Cuda()};
  if (cudaGetDeviceProperties(&properties, exec.space().cuda_device()) != cudaSuccess) return 0;
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char byte : properties.uuid.bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211U;
  }
  return hash >> 12;
}
#else
std::uint64_t device_number() { return 0; }
#endif

}  // namespace moho
