// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names and run-time selection of execution spaces; their device and memory.

#include <moho/core/error.hpp>
#include <moho/core/instance.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace moho {

/// Name of an execution space, and whether its memory is host memory; specialised for every space.
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
      function(Instance<MemoryOf<Exec>>(Exec()));
    }
  };
  (attempt(static_cast<Spaces*>(nullptr)), ...);
  return found;
}
}  // namespace detail

/// Returns the names of the execution spaces of this build: "serial", "openmp", "cuda".
inline std::vector<std::string> space_names() { return detail::names_of(EnabledSpaces()); }

/// Returns the fastest space of this build: "cuda" if enabled, else "openmp", else "serial".
inline std::string default_space_name() { return space_names().back(); }

/// Calls function(exec) with the default instance of the named space.
///
/// exec is an Instance<Memory>: the function is compiled once for each memory.
/// \throws InputError if this build lacks the space; the message lists the available ones
template <class Function>
void with_space(const std::string& name, Function&& function) {
  if (detail::dispatch(EnabledSpaces(), name, function)) return;
  std::string list;
  for (const std::string& known : space_names()) list += (list.empty() ? "" : ", ") + known;
  throw InputError(concat("space '", name, "' is not in this build (it has: ", list,
                          "): choose one of these, or build with a Kokkos that has it"));
}

/// Returns the bytes that can still be allocated in the memory of an instance.
///
/// On hosts this is host_memory().bytes; on devices the free memory that the driver reports.
std::size_t available_memory(const Instance<Kokkos::HostSpace>& exec);

/// Returns the name of the GPU, or the name of the CPU with the number of threads.
std::string device_name(const Instance<Kokkos::HostSpace>& exec);

#ifdef KOKKOS_ENABLE_CUDA
/// \overload
std::size_t available_memory(const Instance<Kokkos::CudaSpace>& exec);
/// \overload
std::string device_name(const Instance<Kokkos::CudaSpace>& exec);
#endif

/// \brief Returns the bytes that a call may allocate in the memory of an instance.
///
/// This is 19/20 of the free memory, divided by the number of processes, and at most the budget.
/// \param exec the instance
/// \param asked budget in bytes that an option gives; 0: no budget
/// \param sharing number of processes that share the free memory
template <class Memory>
std::size_t memory_budget(const Instance<Memory>& exec, std::size_t asked = 0, int sharing = 1) {
  const std::size_t free_share =
      available_memory(exec) / 20 * 19 / static_cast<std::size_t>(sharing > 0 ? sharing : 1);
  return asked > 0 && asked < free_share ? asked : free_share;
}

}  // namespace moho
