// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Many sums over ranges, one for each item, on any instance.

#include <moho/core/launch.hpp>

#include <cstdint>

namespace moho {

namespace detail {

/// The sums of a part of the items on a host, one after the other.
template <class Body>
struct HostSums {
  Body body;
  void operator()(const std::int64_t i) const {
    std::int64_t begin = 0, end = 0;
    body.range(i, begin, end);
    double sum = 0.0;
    for (std::int64_t k = begin; k < end; ++k) sum += body.term(i, k);
    body.store(i, sum);
  }
};

/// A sum by the lanes of a thread of a team.
template <class Exec, class Body>
struct LaneSums {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  Body body;
  std::int64_t count;
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t i =
        static_cast<std::int64_t>(member.league_rank()) * member.team_size() + member.team_rank();
    if (i >= count) return;
    std::int64_t begin = 0, end = 0;
    body.range(i, begin, end);
    double sum = 0.0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, static_cast<int>(end - begin)),
        [&](const int k, double& part) { part += body.term(i, begin + k); }, sum);
    Kokkos::single(Kokkos::PerThread(member), [&] { body.store(i, sum); });
  }
};

}  // namespace detail

/// \brief Computes `count` sums. On a device the call returns after submission.
///
/// `body` has range(i, begin, end), which sets the range of sum i, fewer than 2^31 positions; a
/// double term(i, k) of each position k of it; and store(i, sum). All are KOKKOS_INLINE_FUNCTION
/// and const. A host adds the terms in the order of the range; a device has the lanes of a warp
/// add every 32nd and joins them in a fixed order, so that the bits of a sum depend on its range
/// alone.
/// \param label label of the kernel, "moho::module::what"
/// \param exec the instance
/// \param count number of sums, 0 or more
/// \param body as above
template <class Memory, class Body>
void launch_sums(const char* label, const Instance<Memory>& exec, std::int64_t count,
                 const Body& body) {
  if (count <= 0) return;
  if constexpr (is_host_memory<Memory>) {
    launch(label, exec, count, detail::HostSums<Body>{body});
  } else {
    using Exec = typename Instance<Memory>::Space;
    using Sums = detail::LaneSums<Exec, Body>;
    constexpr int sums = 8, lanes = 32;  // of a team
    Kokkos::parallel_for(
        label,
        typename Sums::Policy(exec.space(), static_cast<int>((count + sums - 1) / sums), sums,
                              lanes),
        Sums{body, count});
  }
}

}  // namespace moho
