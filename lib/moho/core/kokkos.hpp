// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The only header of moho that depends on the version of Kokkos (3.4 to 5.x).

#include <moho/core/pages.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#if !defined(KOKKOS_VERSION) || KOKKOS_VERSION < 30400
#error "moho needs Kokkos 3.4 or newer"
#endif

/// \def MOHO_NOINLINE
/// Prevents inlining of a function, for example into unrolled code.
#if defined(__CUDACC__)
#define MOHO_NOINLINE __noinline__
#else
#define MOHO_NOINLINE __attribute__((noinline))
#endif

/// \def MOHO_UNROLL
/// Unrolls the following loop of few iterations completely.
#if defined(__CUDA_ARCH__)
#define MOHO_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define MOHO_UNROLL
#else
#define MOHO_UNROLL _Pragma("GCC unroll 32")
#endif

/// \def MOHO_INDEPENDENT
/// Lets host compilers assume that the iterations of the following loop do not depend on others.
#if defined(__clang__)
#define MOHO_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define MOHO_INDEPENDENT _Pragma("GCC ivdep")
#endif

/// \def MOHO_UNROLL_BY
/// Unrolls the following loop of device code by `turns`.
#if defined(__CUDA_ARCH__)
#define MOHO_PRAGMA(text) _Pragma(#text)
#define MOHO_UNROLL_BY(turns) MOHO_PRAGMA(unroll turns)
#else
#define MOHO_UNROLL_BY(turns)
#endif

namespace moho {

/// A list of execution spaces in ascending order of speed.
template <class... Spaces>
struct SpaceList {};

namespace detail {
template <class List, class Space>
struct append;
template <class... Spaces, class Space>
struct append<SpaceList<Spaces...>, Space> {
  using type = SpaceList<Spaces..., Space>;
};
template <class T>
inline constexpr T infinite = std::numeric_limits<T>::infinity();
using spaces_none = SpaceList<>;
#ifdef KOKKOS_ENABLE_SERIAL
using spaces_serial = append<spaces_none, Kokkos::Serial>::type;
#else
using spaces_serial = spaces_none;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
using spaces_openmp = append<spaces_serial, Kokkos::OpenMP>::type;
#else
using spaces_openmp = spaces_serial;
#endif
#ifdef KOKKOS_ENABLE_CUDA
using spaces_cuda = append<spaces_openmp, Kokkos::Cuda>::type;
#else
using spaces_cuda = spaces_openmp;
#endif
}  // namespace detail

/// All execution spaces enabled in this build.
using EnabledSpaces = detail::spaces_cuda;

/// True if code of this execution space accesses host memory directly.
template <class Exec>
inline constexpr bool is_host_space =
    Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

/// The scratch memory space of an execution space.
template <class Exec>
using ScratchSpace = typename Exec::scratch_memory_space;

/// An unmanaged rank-1 view of team scratch memory.
template <class T, class Exec>
using ScratchView = Kokkos::View<T*, ScratchSpace<Exec>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Returns positive infinity in host and device code.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T infinity() {
  return detail::infinite<T>;
}

/// Reads a word that another team may write concurrently: a relaxed atomic load.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T relaxed_load(const T* address) {
#if defined(__CUDA_ARCH__)
  return *static_cast<const volatile T*>(address);
#else
  T value;
  __atomic_load(const_cast<T*>(address), &value, __ATOMIC_RELAXED);
  return value;
#endif
}

/// Writes a word that another team may read concurrently: a relaxed atomic store.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void relaxed_store(T* address, T value) {
#if defined(__CUDA_ARCH__)
  *static_cast<volatile T*>(address) = value;
#else
  __atomic_store(address, &value, __ATOMIC_RELAXED);
#endif
}

/// Atomically replaces a non-negative number by its minimum with `value`; returns the old number.
///
/// The bit patterns of non-negative numbers have the order of integers, for which hardware has an
/// atomic minimum.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T atomic_minimum(T* address, T value) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  using Bits = std::conditional_t<sizeof(T) == sizeof(int), int, long long>;
  static_assert(sizeof(Bits) == sizeof(T));
  Bits bits;
  memcpy(&bits, &value, sizeof(T));
  bits = Kokkos::atomic_fetch_min(reinterpret_cast<Bits*>(address), bits);
  memcpy(&value, &bits, sizeof(T));
  return value;
}

/// Prefetches a cache line into the second-level cache of a device; does nothing on hosts.
KOKKOS_FORCEINLINE_FUNCTION void prefetch(const void* address) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#else
  (void)address;
#endif
}

/// Returns the multiprocessors of a CUDA device; of another space its concurrent threads.
template <class Exec>
int multiprocessors(const Exec& space) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    return space.cuda_device_prop().multiProcessorCount;
  }
#endif
  return space.concurrency();
}

/// Returns the policy with Kokkos's hint that its kernel is short.
///
/// On CUDA the functor is then passed as an argument of the launch. Without the hint a functor of
/// more than 512 bytes is passed through a buffer in constant memory. The launch then waits on the
/// host until the previous kernel has released that buffer.
template <class Policy>
auto light_weight(const Policy& policy) {
  return Kokkos::Experimental::require(policy,
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

/// Formats KOKKOS_VERSION: "4.7.1".
inline std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) +
         "." + std::to_string(KOKKOS_VERSION % 100);
}

}  // namespace moho
