// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What differs between execution spaces, and choosing one by name at run time.

#include <moho/core/error.hpp>
#include <moho/core/kokkos.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace moho {

/// Name, and whether memory is shared with the host. Specialised for every execution space.
template <class Exec>
struct SpaceTraits;

#ifdef KOKKOS_ENABLE_SERIAL
/// \cond
template <>
struct SpaceTraits<Kokkos::Serial> {
  static constexpr const char* name = "serial";
  static constexpr bool host = true;
};
/// \endcond
#endif
#ifdef KOKKOS_ENABLE_OPENMP
/// \cond
template <>
struct SpaceTraits<Kokkos::OpenMP> {
  static constexpr const char* name = "openmp";
  static constexpr bool host = true;
};
/// \endcond
#endif
#ifdef KOKKOS_ENABLE_CUDA
/// \cond
template <>
struct SpaceTraits<Kokkos::Cuda> {
  static constexpr const char* name = "cuda";
  static constexpr bool host = false;
};
/// \endcond
#endif

namespace detail {
template <class... Spaces>
std::vector<std::string> names_of(SpaceList<Spaces...>) {
  return {SpaceTraits<Spaces>::name...};
}
template <class Function, class... Spaces>
bool dispatch(SpaceList<Spaces...>, const std::string& name, Function&& function) {
  bool found = false;
  auto attempt = [&](auto* tag) {
    using Exec = std::remove_pointer_t<decltype(tag)>;
    if (!found && name == SpaceTraits<Exec>::name) {
      found = true;
      function(Exec());
    }
  };
  (attempt(static_cast<Spaces*>(nullptr)), ...);
  return found;
}
}  // namespace detail

/// Names of the execution spaces in this build: "serial", "openmp", "cuda".
inline std::vector<std::string> space_names() { return detail::names_of(EnabledSpaces()); }

/// The quickest space of this build by name: cuda if it is there, else openmp, else serial.
inline std::string default_space_name() { return space_names().back(); }

/// Calls function(exec) with the default instance of the space of that name.
/// \throws InputError if this build lacks the space; the message lists those it has.
template <class Function>
void with_space(const std::string& name, Function&& function) {
  if (detail::dispatch(EnabledSpaces(), name, function)) return;
  std::string list;
  for (const std::string& known : space_names()) list += (list.empty() ? "" : ", ") + known;
  throw InputError(concat("space '", name, "' is not in this build (it has: ", list,
                          "): choose one of these, or build with a Kokkos that has it"));
}

/// Bytes that can still be allocated in the memory of the space. On the host this is what the
/// operating system reports as available; on a device what its driver reports as free.
template <class Exec>
std::size_t available_memory(const Exec&) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    std::size_t free_bytes = 0, total_bytes = 0;
    if (cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess) return free_bytes;
    return 0;
  }
#endif
  std::ifstream info("/proc/meminfo");
  std::string key, unit;
  std::size_t kib = 0;
  while (info >> key >> kib >> unit) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return std::size_t(1) << 32;
}

/// The processor behind the space: the GPU's name, or the CPU's with the number of threads.
template <class Exec>
std::string device_name(const Exec& exec) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, exec.cuda_device()) == cudaSuccess) {
      return properties.name;
    }
    return "CUDA device";
  }
#endif
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
  return concat(model, ", ", exec.concurrency(), exec.concurrency() == 1 ? " thread" : " threads");
}

}  // namespace moho
