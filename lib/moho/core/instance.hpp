// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief An execution space instance whose type depends on the memory space of its kernels only.
///
/// Data and algorithms of moho are templates on a memory space. Serial and OpenMP share the host
/// memory and are compiled once; which of them runs a kernel is chosen at run time.

#include <moho/core/error.hpp>
#include <moho/core/kokkos.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace moho {

/// True for memory that the host accesses directly.
template <class Memory>
inline constexpr bool is_host_memory = std::is_same_v<Memory, Kokkos::HostSpace>;

/// \brief A request to end computations before they are complete. Copies share the request.
///
/// Computations on instances of stopped_by() end with Stopped soon after request(). Time loops of
/// waves check it in each step.
class StopFlag {
 public:
  /// Requests the end; safe in signal handlers and on any thread.
  void request() noexcept { m_requested->store(true, std::memory_order_relaxed); }
  /// Withdraws the request.
  void clear() noexcept { m_requested->store(false, std::memory_order_relaxed); }
  /// Returns true between request() and clear().
  bool requested() const noexcept { return m_requested->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> m_requested = std::make_shared<std::atomic<bool>>(false);
};

/// The part of an Instance that does not depend on its memory.
class Stoppable {
 public:
  /// Throws Stopped if the flag of stopped_by() is set.
  void check_stop() const {
    if (m_flag && m_flag->requested()) throw Stopped("the computation was stopped on request");
  }
  /// Shares the stop flag of another instance, if it has one.
  void take_flag(const Stoppable& other) { m_flag = other.m_flag; }
  /// Takes a flag.
  void take_flag(const StopFlag& flag) { m_flag = std::make_shared<const StopFlag>(flag); }

 private:
  std::shared_ptr<const StopFlag> m_flag;
};

/// \brief An execution space instance whose kernels access `Memory`.
///
/// It holds Serial or OpenMP for Kokkos::HostSpace, and Cuda for Kokkos::CudaSpace. Execution space
/// instances of Kokkos convert to it. Copies refer to the same instance.
template <class Memory>
class Instance;

/// \cond
template <>
class Instance<Kokkos::HostSpace> : public Stoppable {
 public:
  using memory_space = Kokkos::HostSpace;
#if defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP)
  using Space = std::variant<Kokkos::Serial, Kokkos::OpenMP>;
#elif defined(KOKKOS_ENABLE_OPENMP)
  using Space = std::variant<Kokkos::OpenMP>;
#else
  using Space = std::variant<Kokkos::Serial>;
#endif

#ifdef KOKKOS_ENABLE_SERIAL
  Instance(const Kokkos::Serial& space) : m_space(space) {}
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  Instance(const Kokkos::OpenMP& space) : m_space(space) {}
#endif

  /// Returns "serial" or "openmp".
  const char* name() const;
  /// Returns the number of threads.
  int concurrency() const;
  /// Waits for all work submitted to the instance.
  void fence() const;
  /// Calls function(space) with the Kokkos execution space instance.
  template <class Function>
  decltype(auto) visit(const Function& function) const {
    return std::visit(function, m_space);
  }

 private:
  Space m_space;
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
class Instance<Kokkos::CudaSpace> : public Stoppable {
 public:
  using memory_space = Kokkos::CudaSpace;
  using Space = Kokkos::Cuda;

  Instance(const Kokkos::Cuda& space) : m_space(space) {}

  const char* name() const { return "cuda"; }
  int concurrency() const { return static_cast<int>(m_space.concurrency()); }
  void fence() const { m_space.fence(); }
  /// Returns the Kokkos execution space instance.
  const Kokkos::Cuda& space() const { return m_space; }
  template <class Function>
  decltype(auto) visit(const Function& function) const {
    return function(m_space);
  }

 private:
  Kokkos::Cuda m_space;
};
#endif
/// \endcond

/// An Instance in a non-deduced context, so that Kokkos execution space instances convert to it.
///
/// Memory is deduced from the views among the arguments.
template <class Memory>
using InstanceOf = std::type_identity_t<Instance<Memory>>;

/// The memory space of an execution space or of an Instance.
template <class Exec>
using MemoryOf = typename Exec::memory_space;

/// Maps a device memory space to its execution space.
template <class Memory>
struct device_of;
#ifdef KOKKOS_ENABLE_CUDA
/// \cond
template <>
struct device_of<Kokkos::CudaSpace> {
  using type = Kokkos::Cuda;
};
/// \endcond
#endif
/// The execution space of a device memory: Kokkos::Cuda for Kokkos::CudaSpace.
///
/// It is not defined for host memory.
template <class Memory>
using DeviceOf = typename device_of<Memory>::type;

/// A list of memory spaces.
template <class... Memories>
struct MemoryList {};

/// The memory spaces of the execution spaces of this build.
#ifdef KOKKOS_ENABLE_CUDA
using EnabledMemories = MemoryList<Kokkos::HostSpace, Kokkos::CudaSpace>;
#else
using EnabledMemories = MemoryList<Kokkos::HostSpace>;
#endif

/// Returns an instance on which computations end with Stopped after flag.request().
///
/// Instances that algorithms derive from it share the flag.
template <class Memory>
Instance<Memory> stopped_by(Instance<Memory> exec, const StopFlag& flag) {
  exec.take_flag(flag);
  return exec;
}

/// Allocates an uninitialised view; on hosts with huge pages if the system provides them.
///
/// `exec` is an Instance or a Kokkos execution space instance.
template <class ViewType, class Exec, class... Extents>
ViewType allocate(const Exec& exec, const std::string& label, Extents... extents) {
  if constexpr (is_host_memory<typename ViewType::memory_space>) {
    (void)exec;  // the allocation does not write to host memory
    const ViewType view(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), extents...);
    detail::advise_huge_pages(const_cast<typename ViewType::non_const_value_type*>(view.data()),
                              view.span() * sizeof(typename ViewType::value_type));
    return view;
  } else {
#if KOKKOS_VERSION >= 30700
    return Instance<MemoryOf<Exec>>(exec).visit([&](const auto& space) {
      return ViewType(Kokkos::view_alloc(space, label, Kokkos::WithoutInitializing), extents...);
    });
#else
    (void)exec;  // older releases accept no instance here and allocate synchronously
    return ViewType(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), extents...);
#endif
  }
}

}  // namespace moho
