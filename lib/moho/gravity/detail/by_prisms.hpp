// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The scheme of Couder-Castaneda et al. (2013): T threads, each with a private station
/// grid.
///
/// Thread t processes the prisms t, T + t, 2 T + t, ... in p = ceil(M / T) passes, one kernel
/// launch each. A sum over the T private grids follows (equations 3 to 5 of the paper). No two
/// threads write to the same address; the cost is the memory of T grids.

#include <moho/gravity/detail/tiles.hpp>

namespace moho::gravity::detail {

/// Private grids; the axis of neighbouring threads or lanes is the last one. That is T on a device
/// (components, stations, T), stations on a host (T, components, stations).
template <class T>
struct PrivateGrids {
  T* data;
  std::int64_t threads;
  std::int64_t components;
  std::int64_t stations;  ///< stations with padding
  /// Returns the address of an element on a device.
  KOKKOS_FORCEINLINE_FUNCTION T& on_device(std::int64_t component, std::int64_t station,
                                           std::int64_t thread) const {
    return data[(component * stations + station) * threads + thread];
  }
  /// Returns the address of the first element on a host.
  T* on_host(std::int64_t thread, std::int64_t component, std::int64_t station) const {
    return data + (thread * components + component) * stations + station;
  }
};

/// The data of a pass.
template <class T>
struct PassData {
  const Record<T>* records;
  std::int64_t prisms;
  PackedStations<T> stations;
  PrivateGrids<T> grids;
  Distances<T> limits;
  std::int64_t first;  ///< prism of thread 0 in this pass
};

/// One pass of the paper's kernel on a device.
template <unsigned Mask, class T, class Exec>
struct SumPrismsOnDevice {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  static constexpr int count = count_of(Mask);

  PassData<T> data;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t thread =
        static_cast<std::int64_t>(member.league_rank()) * member.team_size() + member.team_rank();
    const std::int64_t k = data.first + thread;
    if (k >= data.prisms) return;
    const Record<T> record = data.records[k];
    const std::int64_t n_stations = data.stations.count;
    for (std::int64_t s = 0; s < n_stations; ++s) {
      Station<T, T> station;
      for (int n = 0; n < 3; ++n) {
        station.at[n] = data.stations(n, s);
        if constexpr (parts<T> == 2) station.rest[n] = data.stations(3 + n, s);
      }
      T sums[count];
      for (int c = 0; c < count; ++c) sums[c] = data.grids.on_device(c, s, thread);
      add_pair<Mask>(record, station, data.limits, sums);
      for (int c = 0; c < count; ++c) data.grids.on_device(c, s, thread) = sums[c];
    }
  }
};

/// One pass of the paper's kernel on a host.
template <class T>
struct SumPrismsOnHost {
  PassData<T> data;
  SumRecords<T, Record<T>> sum;

  void operator()(const std::int64_t thread) const {
    using V = simd::Pack<T>;
    const std::int64_t k = data.first + thread;
    if (k >= data.prisms) return;
    for (std::int64_t s = 0; s < data.stations.count; s += simd::lanes<T>) {
      V sums[component_count];
      sum(data.records + k, 1, data.stations, s, data.limits, sums);
      for (std::int64_t c = 0; c < data.grids.components; ++c) {
        T* const to = data.grids.on_host(thread, c, s);
        (V::load(to) + sums[c]).store(to);
      }
    }
  }
};

/// The sum over the private grids on a host (equation 5).
template <class T>
struct AddGridsOnHost {
  PrivateGrids<T> grids;
  PartialSums sums;
  void operator()(const std::int64_t item) const {
    double total = 0.0;
    for (std::int64_t thread = 0; thread < grids.threads; ++thread) {
      total += static_cast<double>(*grids.on_host(thread, 0, item));
    }
    sums.data[item] = total;
  }
};

/// The sum over the private grids on a device, one team per component and station.
template <class T, class Exec>
struct AddGridsOnDevice {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  PrivateGrids<T> grids;
  PartialSums sums;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t item = member.league_rank();
    double total = 0.0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(member, static_cast<int>(grids.threads)),
        [&](const int thread, double& sum) {
          sum += static_cast<double>(grids.on_device(0, item, thread));
        },
        total);
    if (member.team_rank() == 0) sums.data[item] = total;
  }
};

/// \brief Launches one pass: prisms first, first + 1, ..., one per thread.
/// \throws Stopped, see StopFlag
template <class T, class Memory>
void sum_prisms(const Instance<Memory>& exec, unsigned mask, const PassData<T>& data, int teams,
                int team_size) {
  exec.check_stop();
  if constexpr (is_host_memory<Memory>) {
    launch("moho::gravity::sum_prisms", exec, static_cast<std::int64_t>(teams) * team_size,
           SumPrismsOnHost<T>{data, sum_records_of<T, Record<T>>(mask)});
  } else {
    with_mask(mask, [&](auto m) {
      using Kernel = SumPrismsOnDevice<decltype(m)::value, T, DeviceOf<Memory>>;
      const Kernel kernel{data};
      const auto policy = light_weight(typename Kernel::Policy(exec.space(), teams, team_size));
      check_team_size(team_size, policy.team_size_max(kernel, Kokkos::ParallelForTag()));
      Kokkos::parallel_for("moho::gravity::sum_prisms", policy, kernel);
    });
  }
}

/// Adds the private grids into the single chunk of the partial sums.
template <class T, class Memory>
void add_grids(const Instance<Memory>& exec, const PrivateGrids<T>& grids,
               const PartialSums& sums) {
  const std::int64_t items = sums.components * sums.stations;
  if constexpr (is_host_memory<Memory>) {
    launch("moho::gravity::add_grids", exec, items, AddGridsOnHost<T>{grids, sums});
  } else {
    using Kernel = AddGridsOnDevice<T, DeviceOf<Memory>>;
    Kokkos::parallel_for(
        "moho::gravity::add_grids",
        light_weight(typename Kernel::Policy(exec.space(), static_cast<int>(items), 128)),
        Kernel{grids, sums});
  }
}

}  // namespace moho::gravity::detail
