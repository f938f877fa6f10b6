// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief An instance of an execution space, known by the memory that its kernels work in.
///
/// Data and algorithms of moho are templates on a memory space. Serial and OpenMP share the
/// host's memory, and therefore one compilation: which of them runs a kernel is known when the
/// program runs.

#include <moho/core/kokkos.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace moho {

/// True for memory that the host reads and writes directly.
template <class Memory>
inline constexpr bool is_host_memory = std::is_same_v<Memory, Kokkos::HostSpace>;

/// \brief An execution space instance whose kernels work in `Memory`: of Serial or OpenMP for
/// Kokkos::HostSpace, of Cuda for Kokkos::CudaSpace.
///
/// Public functions take one where they take an execution space instance; Kokkos's own instances
/// convert to it. A copy refers to the same instance.
template <class Memory>
class Instance;

/// \cond
template <>
class Instance<Kokkos::HostSpace> {
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

  /// "serial" or "openmp".
  const char* name() const;
  /// Threads.
  int concurrency() const;
  /// Waits for the work of the instance.
  void fence() const;
  /// Calls function(instance) with the instance of Kokkos.
  template <class Function>
  decltype(auto) visit(const Function& function) const {
    return std::visit(function, m_space);
  }

 private:
  Space m_space;
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
class Instance<Kokkos::CudaSpace> {
 public:
  using memory_space = Kokkos::CudaSpace;
  using Space = Kokkos::Cuda;

  Instance(const Kokkos::Cuda& space) : m_space(space) {}

  const char* name() const { return "cuda"; }
  int concurrency() const { return static_cast<int>(m_space.concurrency()); }
  void fence() const { m_space.fence(); }
  /// The instance of Kokkos.
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

/// An instance that takes no part in argument deduction, so that Kokkos's own instances convert to
/// it; Memory is deduced from views among the arguments.
template <class Memory>
using InstanceOf = std::type_identity_t<Instance<Memory>>;

/// The memory of an execution space, or of an Instance.
template <class Exec>
using MemoryOf = typename Exec::memory_space;

/// The kind of execution space that runs kernels on a device's memory.
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
/// As above: Kokkos::Cuda for Kokkos::CudaSpace. Hosts have none.
template <class Memory>
using DeviceOf = typename device_of<Memory>::type;

/// Memory spaces.
template <class... Memories>
struct MemoryList {};

/// The memories of the execution spaces of this build.
#ifdef KOKKOS_ENABLE_CUDA
using EnabledMemories = MemoryList<Kokkos::HostSpace, Kokkos::CudaSpace>;
#else
using EnabledMemories = MemoryList<Kokkos::HostSpace>;
#endif

/// An uninitialised view, allocated on the instance; on hosts in large pages where there are any.
/// `exec` is an Instance, or an instance of Kokkos.
template <class ViewType, class Exec, class... Extents>
ViewType allocate(const Exec& exec, const std::string& label, Extents... extents) {
  if constexpr (is_host_memory<typename ViewType::memory_space>) {
    (void)exec;  // host memory is not written by the allocation
    const ViewType view(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), extents...);
    detail::prefer_large_pages(const_cast<typename ViewType::non_const_value_type*>(view.data()),
                               view.span() * sizeof(typename ViewType::value_type));
    return view;
  } else {
#if KOKKOS_VERSION >= 30700
    return Instance<MemoryOf<Exec>>(exec).visit([&](const auto& space) {
      return ViewType(Kokkos::view_alloc(space, label, Kokkos::WithoutInitializing), extents...);
    });
#else
    (void)exec;  // older releases take no instance here and allocate synchronously
    return ViewType(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), extents...);
#endif
  }
}

}  // namespace moho
