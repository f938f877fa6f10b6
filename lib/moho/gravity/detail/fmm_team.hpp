// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Teams of the fast multipole kernels: one source for hosts and devices.
///
/// A body is called as body(team, item, scratch). Its loops run over the threads of a team. On a
/// device the team is one of Kokkos with scratch memory. On a host it is a single thread, and eight
/// lanes of a row are one value.

#include <moho/core/launch.hpp>
#include <moho/core/simd.hpp>
#include <moho/gravity/detail/arithmetic.hpp>

#include <cstdint>

namespace moho::gravity::detail {

/// Lanes of a row on a host: pairs of nodes, or children, that are translated together.
inline constexpr int fmm_lanes = 8;
/// The same on a device, where translations of every order then fit the fast memory of a team.
inline constexpr int fmm_device_lanes = 2;

/// \brief Eight numbers on a host.
///
/// In device compilation the member functions must not be called, as those of simd::Pack.
struct Eight {
  static constexpr int parts = fmm_lanes / simd::lanes<double>;  ///< vectors
  simd::Pack<double> part[parts];                                ///< the numbers

  Eight() = default;
  /// Broadcasts a number.
  KOKKOS_FORCEINLINE_FUNCTION explicit Eight(double value) {
    for (int k = 0; k < parts; ++k) part[k] = simd::Pack<double>(value);
  }
  /// Returns the sum of each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Eight operator+(const Eight& a, const Eight& b) {
    Eight c;
    for (int k = 0; k < parts; ++k) c.part[k] = a.part[k] + b.part[k];
    return c;
  }
  /// Returns the difference of each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Eight operator-(const Eight& a, const Eight& b) {
    Eight c;
    for (int k = 0; k < parts; ++k) c.part[k] = a.part[k] - b.part[k];
    return c;
  }
  /// Returns the product of each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Eight operator*(const Eight& a, const Eight& b) {
    Eight c;
    for (int k = 0; k < parts; ++k) c.part[k] = a.part[k] * b.part[k];
    return c;
  }
  /// Returns a * b + c for each lane.
  KOKKOS_FORCEINLINE_FUNCTION friend Eight multiply_add(const Eight& a, const Eight& b,
                                                        const Eight& c) {
    Eight d;
    for (int k = 0; k < parts; ++k) d.part[k] = multiply_add(a.part[k], b.part[k], c.part[k]);
    return d;
  }
};

/// \name Access to lanes
/// @{
KOKKOS_FORCEINLINE_FUNCTION void read_lanes(const double* from, double& value) { value = *from; }
KOKKOS_FORCEINLINE_FUNCTION void write_lanes(double* to, double value) { *to = value; }
KOKKOS_FORCEINLINE_FUNCTION void read_lanes(const double* from, Eight& value) {
#if !defined(__CUDA_ARCH__)
  for (int k = 0; k < Eight::parts; ++k) {
    value.part[k] = simd::Pack<double>::load(from + k * simd::lanes<double>);
  }
#else
  (void)from;
  (void)value;
#endif
}
KOKKOS_FORCEINLINE_FUNCTION void write_lanes(double* to, const Eight& value) {
#if !defined(__CUDA_ARCH__)
  for (int k = 0; k < Eight::parts; ++k) value.part[k].store(to + k * simd::lanes<double>);
#else
  (void)to;
  (void)value;
#endif
}
KOKKOS_FORCEINLINE_FUNCTION void read_lanes(const double* from, simd::Pack<double>& value) {
#if !defined(__CUDA_ARCH__)
  value = simd::Pack<double>::load(from);
#else
  (void)from;
  (void)value;
#endif
}
KOKKOS_FORCEINLINE_FUNCTION void write_lanes(double* to, const simd::Pack<double>& value) {
#if !defined(__CUDA_ARCH__)
  value.store(to);
#else
  (void)to;
  (void)value;
#endif
}
/// @}

/// A team of one thread on a host.
struct HostTeam {
  using Value = Eight;                               ///< all lanes of a row
  using Stations = simd::Pack<double>;               ///< stations that are evaluated together
  static constexpr bool on_host = true;              ///< true on a host
  static constexpr int lanes = fmm_lanes;            ///< lanes of a row
  static constexpr int groups = 1;                   ///< values of a row
  static constexpr int width = simd::lanes<double>;  ///< stations of a value
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int rank() { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int size() { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION static void barrier() {}
};

/// A team of Kokkos on a device.
template <class Member>
struct DeviceTeam {
  using Value = double;
  using Stations = double;
  static constexpr bool on_host = false;
  static constexpr int lanes = fmm_device_lanes;
  static constexpr int groups = lanes;
  static constexpr int width = 1;
  const Member& member;
  KOKKOS_FORCEINLINE_FUNCTION int rank() const { return member.team_rank(); }
  KOKKOS_FORCEINLINE_FUNCTION int size() const { return member.team_size(); }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { member.team_barrier(); }
};

/// Calls a body for items on a host, with scratch on the stack.
template <class Body>
struct HostItems {
  Body body;
  void operator()(const std::int64_t item) const {
    alignas(64) double scratch[Body::max_scratch];
    body(HostTeam(), item, scratch);
  }
};

/// Calls a body for items on a device, with a team each.
template <class Body, class Exec>
struct DeviceItems {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  Body body;
  int bytes;
  int level;  ///< of the scratch memory

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    double* const scratch = reinterpret_cast<double*>(
        (reinterpret_cast<std::uintptr_t>(member.team_scratch(level).get_shmem(bytes)) + 15) &
        ~static_cast<std::uintptr_t>(15));
    const DeviceTeam<Member> team{member};
    body(team, static_cast<std::int64_t>(member.league_rank()), scratch);
  }
};

/// \brief Calls body(team, item, scratch) for items of different cost.
///
/// A body has max_scratch, the largest number of doubles in scratch for any order, scratch(), the
/// number for its order, and threads, the size of a team on a device.
template <class Memory, class Body>
void launch_teams(const char* label, const Instance<Memory>& exec, std::int64_t items,
                  const Body& body) {
  if (items <= 0) return;
  if constexpr (is_host_memory<Memory>) {
    launch_dynamic(label, exec, items, HostItems<Body>{body});
  } else {
    using Kernel = DeviceItems<Body, DeviceOf<Memory>>;
    const int bytes = 8 * body.scratch() + 16;
    // scratch that exceeds the shared memory is in global memory
    const int level = bytes <= Kernel::Policy::scratch_size_max(0) ? 0 : 1;
    Kokkos::parallel_for(
        label,
        light_weight(typename Kernel::Policy(exec.space(), static_cast<int>(items), Body::threads)
                         .set_scratch_size(level, Kokkos::PerTeam(bytes))),
        Kernel{body, bytes, level});
  }
}

}  // namespace moho::gravity::detail
