// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The paper's scheme: T threads, each with a grid of stations of its own.
///
/// Thread t takes the prisms t, T + t, 2 T + t, ...; there are p = ceil(M / T) passes, a kernel
/// launch each, and a sum over the T private grids at the end (equations 3 to 5 of Couder-Castaneda
/// et al. 2013). No two threads write to the same place, at the price of T grids in memory.

#include <moho/gravity/tiles.hpp>

namespace moho::gravity::detail {

/// Private grids. The axis along which neighbouring threads or lanes work comes last: T on a device
/// (components, stations, T), stations on a host (T, components, stations).
template <class T, class Exec>
using PrivateGrids = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;

/// One pass of the paper's kernel on a device.
template <unsigned Mask, class T, class Exec>
struct SumPrismsOnDevice {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  static constexpr int count = count_of(Mask);

  Kokkos::View<const Record<T>*, typename Exec::memory_space> records;
  PackedStations<T, Exec> stations;
  PrivateGrids<T, Exec> grids;
  Distances<T> limits;
  std::int64_t first;  ///< prism of thread 0 in this pass

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t thread =
        static_cast<std::int64_t>(member.league_rank()) * member.team_size() + member.team_rank();
    const std::int64_t k = first + thread;
    if (k >= static_cast<std::int64_t>(records.extent(0))) return;
    const Record<T> record = records(k);
    const std::int64_t n_stations = static_cast<std::int64_t>(stations.extent(1));
    for (std::int64_t s = 0; s < n_stations; ++s) {
      Station<T, T> station;
      for (int n = 0; n < 3; ++n) {
        station.at[n] = stations(n, s);
        if constexpr (parts<T> == 2) station.rest[n] = stations(3 + n, s);
      }
      T sums[count];
      for (int c = 0; c < count; ++c) sums[c] = grids(c, s, thread);
      add_pair<Mask>(record, station, limits, sums);
      for (int c = 0; c < count; ++c) grids(c, s, thread) = sums[c];
    }
  }
};

/// One pass of the paper's kernel on a host.
template <unsigned Mask, class T, class Exec>
struct SumPrismsOnHost {
  static constexpr int count = count_of(Mask);

  Kokkos::View<const Record<T>*, typename Exec::memory_space> records;
  PackedStations<T, Exec> stations;
  PrivateGrids<T, Exec> grids;
  Distances<T> limits;
  std::int64_t first;

  void operator()(const std::int64_t thread) const {
    using V = simd::Pack<T>;
    const std::int64_t k = first + thread;
    if (k >= static_cast<std::int64_t>(records.extent(0))) return;
    const std::int64_t n_stations = static_cast<std::int64_t>(stations.extent(1));
    for (std::int64_t s = 0; s < n_stations; s += simd::lanes<T>) {
      Station<T, V> station;
      for (int n = 0; n < 3; ++n) {
        station.at[n] = V::load(&stations(n, s));
        if constexpr (parts<T> == 2) station.rest[n] = V::load(&stations(3 + n, s));
      }
      V sums[count];
      for (int c = 0; c < count; ++c) sums[c] = V::load(&grids(thread, c, s));
      add_pairs<Mask>(records(k), station, limits, sums);
      for (int c = 0; c < count; ++c) sums[c].store(&grids(thread, c, s));
    }
  }
};

/// The sum over the private grids of a host, equation 5.
template <class T, class Exec>
struct AddGridsOnHost {
  PrivateGrids<T, Exec> grids;
  PartialSums<Exec> sums;
  void operator()(const std::int64_t item) const {
    const std::int64_t stations = static_cast<std::int64_t>(sums.extent(2));
    double total = 0.0;
    for (std::size_t thread = 0; thread < grids.extent(0); ++thread) {
      total += static_cast<double>(grids(thread, item / stations, item % stations));
    }
    sums(0, item / stations, item % stations) = total;
  }
};

/// The sum over the private grids of a device, a team a component and station.
template <class T, class Exec>
struct AddGridsOnDevice {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  PrivateGrids<T, Exec> grids;
  PartialSums<Exec> sums;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int stations = static_cast<int>(sums.extent(2));
    const int c = member.league_rank() / stations, s = member.league_rank() % stations;
    double total = 0.0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(member, static_cast<int>(grids.extent(2))),
        [&](const int thread, double& sum) { sum += static_cast<double>(grids(c, s, thread)); },
        total);
    if (member.team_rank() == 0) sums(0, c, s) = total;
  }
};

/// Launches one pass: prisms first, first + 1, ..., one a thread.
template <unsigned Mask, class T, class Exec>
void sum_prisms(const Exec& exec,
                const Kokkos::View<const Record<T>*, typename Exec::memory_space>& records,
                const PackedStations<T, Exec>& stations, const PrivateGrids<T, Exec>& grids,
                const Distances<T>& limits, std::int64_t first, int teams, int team_size) {
  if constexpr (is_host_space<Exec>) {
    Kokkos::parallel_for("moho::gravity::sum_prisms",
                         LongRange<Exec>(exec, 0, static_cast<std::int64_t>(teams) * team_size),
                         SumPrismsOnHost<Mask, T, Exec>{records, stations, grids, limits, first});
  } else {
    using Kernel = SumPrismsOnDevice<Mask, T, Exec>;
    const Kernel kernel{records, stations, grids, limits, first};
    const auto policy = light_weight(typename Kernel::Policy(exec, teams, team_size));
    check_team_size(team_size, policy.team_size_max(kernel, Kokkos::ParallelForTag()));
    Kokkos::parallel_for("moho::gravity::sum_prisms", policy, kernel);
  }
}

/// Adds the private grids into the only chunk of the partial sums.
template <class T, class Exec>
void add_grids(const Exec& exec, const PrivateGrids<T, Exec>& grids,
               const PartialSums<Exec>& sums) {
  const std::int64_t items = static_cast<std::int64_t>(sums.extent(1) * sums.extent(2));
  if constexpr (is_host_space<Exec>) {
    Kokkos::parallel_for("moho::gravity::add_grids", LongRange<Exec>(exec, 0, items),
                         AddGridsOnHost<T, Exec>{grids, sums});
  } else {
    using Kernel = AddGridsOnDevice<T, Exec>;
    Kokkos::parallel_for("moho::gravity::add_grids",
                         light_weight(typename Kernel::Policy(exec, static_cast<int>(items), 128)),
                         Kernel{grids, sums});
  }
}

}  // namespace moho::gravity::detail
