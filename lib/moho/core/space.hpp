// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names of execution spaces, the choice of one at run time, its device and memory.

#include <moho/core/error.hpp>
#include <moho/core/instance.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace moho {

/// Name of an execution space, and whether its memory is the host's. Specialised for every space.
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

/// Names of the execution spaces in this build: "serial", "openmp", "cuda".
inline std::vector<std::string> space_names() { return detail::names_of(EnabledSpaces()); }

/// The quickest space of this build by name: cuda if it is there, else openmp, else serial.
inline std::string default_space_name() { return space_names().back(); }

/// Calls function(exec) with the default instance of the space of that name, as an
/// Instance<Memory>: the function is compiled once for every memory.
/// \throws InputError if this build lacks the space; the message lists those it has.
template <class Function>
void with_space(const std::string& name, Function&& function) {
  if (detail::dispatch(EnabledSpaces(), name, function)) return;
  std::string list;
  for (const std::string& known : space_names()) list += (list.empty() ? "" : ", ") + known;
  throw InputError(concat("space '", name, "' is not in this build (it has: ", list,
                          "): choose one of these, or build with a Kokkos that has it"));
}

/// Bytes that can still be allocated in the memory of an instance. On the host this is what
/// host_memory() says; on a device what its driver reports as free.
std::size_t available_memory(const Instance<Kokkos::HostSpace>& exec);

/// The processor behind an instance: the GPU's name, or the CPU's with the number of threads.
std::string device_name(const Instance<Kokkos::HostSpace>& exec);

#ifdef KOKKOS_ENABLE_CUDA
/// \overload
std::size_t available_memory(const Instance<Kokkos::CudaSpace>& exec);
/// \overload
std::string device_name(const Instance<Kokkos::CudaSpace>& exec);
#endif

/// \brief Bytes that a call may allocate in the memory of an instance: 19/20 of what is free, and
/// no more than was asked for.
/// \param exec the instance
/// \param asked an option's budget in bytes; 0: what is free
/// \param sharing processes that share what is free
template <class Memory>
std::size_t memory_budget(const Instance<Memory>& exec, std::size_t asked = 0, int sharing = 1) {
  const std::size_t free_share =
      available_memory(exec) / 20 * 19 / static_cast<std::size_t>(sharing > 0 ? sharing : 1);
  return asked > 0 && asked < free_share ? asked : free_share;
}

}  // namespace moho
