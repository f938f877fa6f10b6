// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Events of a call as reported to Kokkos Tools, and moho's rules for them.
///
/// Every kernel has a label "moho::<module>::<what>". Kernels, fills and copies run on the given
/// instance. No call waits for all instances, and only a call that returns host data waits for its
/// instance. Tests whose names end with `contract` check that modules obey these rules.

#include <moho/core/instance.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::testing {

/// An operation reported by Kokkos.
struct Event {
  /// Kinds of events.
  enum class Kind { kernel, copy, fence };
  Kind kind = Kind::kernel;
  std::string name;          ///< label of a kernel or fence; "from -> to" with labels of views
  std::uint32_t device = 0;  ///< device and instance of kernels and fences, see device_of()
  bool everywhere = false;   ///< true for a fence of all instances
  bool host_only = false;    ///< true for a copy from host memory to host memory
};

/// \brief Records the events of its lifetime; only one object may exist at a time.
///
/// Kokkos 3.4 reports no fences to tools. With it the linker replaces Kokkos::fence() and the
/// fence() of Instance<Kokkos::HostSpace> by functions that record them first.
class Events {
 public:
  Events();
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// Returns the events so far, in their order.
  const std::vector<Event>& list() const { return m_list; }
  /// Adds an event, except for Kokkos's internal ones: fences for tools, destruction of views.
  void add(Event event);

 private:
  std::vector<Event> m_list;
};

/// Returns the identifier of an instance in Kokkos Tools.
template <class Memory>
std::uint32_t device_of(const Instance<Memory>& exec) {
  return exec.visit(
      [](const auto& space) { return Kokkos::Tools::Experimental::device_id(space); });
}

/// Returns an instance other than the default one, if this Kokkos supports several.
template <class Exec>
Instance<MemoryOf<Exec>> own_instance() {
#if KOKKOS_VERSION >= 40200
  return Kokkos::Experimental::partition_space(Exec(), 1, 1)[1];
#else
  return Exec();
#endif
}

/// Events that a call may cause.
struct Contract {
  /// Modules of its kernels, such as "wave"; core is always included.
  std::vector<std::string> modules;
  bool waits = false;  ///< true if it may wait for its instance, because it returns host data
};

/// Returns the violations of the contract of a call, one line each.
/// \param device identifier of the instance of the call
/// \param host true if its memory is host memory
/// \param events the events of the call
/// \param contract the allowed events
std::vector<std::string> breaches(std::uint32_t device, bool host, const std::vector<Event>& events,
                                  const Contract& contract);

/// Returns the number of kernels.
std::int64_t kernels_in(const std::vector<Event>& events);
/// Returns the number of fences of the program, without those of Kokkos's memory management.
std::int64_t fences_in(const std::vector<Event>& events);

/// Calls call(), reports every violation of its contract as a failure, and returns the events.
/// \param exec the instance that is passed to the call
/// \param what name of the call in messages
/// \param contract the allowed events
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
