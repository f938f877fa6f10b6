// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What Kokkos Tools are told of a call: its kernels, copies and fences, and what the
/// conventions of moho allow of them.
///
/// Every kernel has a label "moho::<module>::<what>"; kernels, fills and copies run on the instance
/// that was given; nothing waits for all instances, and only what returns host data waits for its
/// own. Tests whose name ends with `contract` hold the modules to that.

#include <moho/core/instance.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::testing {

/// Something that Kokkos was asked to do.
struct Event {
  /// Kinds of events.
  enum class Kind { kernel, copy, fence };
  Kind kind = Kind::kernel;
  std::string name;  ///< label of a kernel or fence; "from -> to" of a copy: labels of views
  std::uint32_t device = 0;  ///< of kernels and fences: device_of()
  bool everywhere = false;   ///< a fence that waits for all instances
  bool host_only = false;    ///< a copy from host memory to host memory
};

/// \brief Records the events of its life time. One at a time.
///
/// Kokkos 3.4 tells no tool of fences: there the linker replaces Kokkos::fence() and the fence() of
/// Instance<Kokkos::HostSpace> by functions that record them first.
class Events {
 public:
  Events();
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// What happened so far, in its order.
  const std::vector<Event>& list() const { return m_list; }
  /// Adds an event, unless it is Kokkos's own: a fence for tools, the end of a view.
  void add(Event event);

 private:
  std::vector<Event> m_list;
};

/// What Kokkos Tools call an instance.
template <class Memory>
std::uint32_t device_of(const Instance<Memory>& exec) {
  return exec.visit(
      [](const auto& space) { return Kokkos::Tools::Experimental::device_id(space); });
}

/// An instance other than the default one, where this Kokkos has several.
template <class Exec>
Instance<MemoryOf<Exec>> own_instance() {
#if KOKKOS_VERSION >= 40200
  return Kokkos::Experimental::partition_space(Exec(), 1, 1)[1];
#else
  return Exec();
#endif
}

/// What a call may do.
struct Contract {
  std::vector<std::string> modules;  ///< that its kernels may belong to: "wave"; core is always one
  bool waits = false;                ///< it may wait for its instance, because it returns host data
};

/// Events that break the contract of a call, one line each.
/// \param device of the instance that was given to the call
/// \param host true if its memory is the host's
/// \param events of the call
/// \param contract what it may do
std::vector<std::string> breaches(std::uint32_t device, bool host, const std::vector<Event>& events,
                                  const Contract& contract);

/// Number of kernels.
std::int64_t kernels_in(const std::vector<Event>& events);
/// Number of fences that were asked for, without those of Kokkos's memory management.
std::int64_t fences_in(const std::vector<Event>& events);

/// Calls call(), reports every event that breaks its contract as a failure, and returns the events.
/// \param exec the instance that is given to the call
/// \param what the call, for messages
/// \param contract what it may do
/// \param call the call
template <class Memory, class Call>
std::vector<Event> hold(const Instance<Memory>& exec, const std::string& what,
                        const Contract& contract, const Call& call) {
  exec.fence();
  std::vector<Event> found;
  {
    Events events;
    call();
    found = events.list();
  }
  for (const std::string& breach :
       breaches(device_of(exec), is_host_memory<Memory>, found, contract)) {
    ADD_FAILURE() << what << ": " << breach;
  }
  return found;
}

}  // namespace moho::testing
