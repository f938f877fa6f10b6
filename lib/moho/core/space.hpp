// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names and run-time selection of execution spaces; their device and memory.

#include <moho/core/error.hpp>
#include <moho/core/instance.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho {

class Communicator;

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

/// \brief Returns a number of the device of this process, below 2^52: the same for all processes
/// that use the device, another for other devices. 0 in a build for hosts.
std::uint64_t device_number();

/// Numbers of processes that share memory, such as the ranks of one machine.
struct MemorySharing {
  int host = 1;    ///< processes on this machine, this one included; 1 or more
  int device = 1;  ///< of these, processes that use the device of this one; 1 or more
};

/// \brief Sets the numbers of processes by which memory_budget() divides the free memory.
///
/// Programs that start several processes on a machine call it once, before the first plan: without
/// it each process plans with all free memory. Any thread may call it.
/// \throws InputError for a number below 1
void set_memory_sharing(const MemorySharing& sharing);

/// \brief Sets these numbers for the processes of a run, such as the ranks of MPI.
///
/// Processes share a device if their device_number() is the same. Collective, after the start of
/// Kokkos.
/// \param processes all processes of the run
/// \param of_host number of them on this machine, 1 or more: mpi::Session::size_of_host()
void set_memory_sharing(Communicator& processes, int of_host);

/// Returns the numbers of set_memory_sharing(); 1 and 1 before its first call.
MemorySharing memory_sharing();

/// \brief Returns the bytes that a call may allocate in the memory of an instance.
///
/// Without a budget this is 19/20 of the free memory, divided by the number of processes that share
/// it. A budget is that of this process: the result is the budget, and at most 19/20 of the free
/// memory.
/// \param exec the instance
/// \param requested budget in bytes that an option gives; 0: no budget
/// \param sharing number of processes by which the free memory is divided, also with a budget; 0:
/// that of memory_sharing() without a budget, 1 with it
template <class Memory>
std::size_t memory_budget(const Instance<Memory>& exec, std::size_t requested = 0,
                          int sharing = 0) {
  if (sharing <= 0 && requested == 0) {
    sharing = is_host_memory<Memory> ? memory_sharing().host : memory_sharing().device;
  }
  const std::size_t free_share =
      available_memory(exec) / 20 * 19 / static_cast<std::size_t>(sharing > 0 ? sharing : 1);
  return requested > 0 && requested < free_share ? requested : free_share;
}

}  // namespace moho
