// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Direct sums over the near pairs of leaves, and their transpose.
///
/// The formulas are those of the direct sums. Each leaf's sums have the order of its list.

#include <moho/gravity/detail/fmm_stations.hpp>
#include <moho/gravity/detail/transpose.hpp>

#include <cstdint>

namespace moho::gravity::detail {

/// Near pairs of leaves.
struct NearData {
  FmmStations stations;        ///< its leaves are those of the items, or of the lists
  const FmmNode* prisms;       ///< nodes of prisms
  const std::int32_t* leaves;  ///< leaves of the items
  const std::int32_t* begin;   ///< lists of the items' nodes
  const std::int32_t* list;    ///< leaves of the other tree
  const Record<double>* records;
  Distances<double> limits;
};

/// Direct sums at the stations of a leaf, on a host.
struct NearOnHost {
  NearData data;
  PartialSums sums;
  SumRecords<double, Record<double>> sum;

  void operator()(const std::int64_t item) const {
    using V = simd::Pack<double>;
    constexpr int lanes = simd::lanes<double>;
    const std::int32_t leaf = data.leaves[item];
    const FmmNode& node = data.stations.nodes[leaf];
    if (data.stations.omitted(node)) return;
    const std::int64_t last = node.slot + data.stations.count(node);
    const int components = static_cast<int>(sums.components);
    for (std::int64_t at = node.slot; at < last; at += lanes) {
      V total[component_count], out[component_count];
      for (int c = 0; c < components; ++c) total[c] = V(0.0);
      for (std::int32_t e = data.begin[leaf]; e < data.begin[leaf + 1]; ++e) {
        const FmmNode& other = data.prisms[data.list[e]];
        sum(data.records + other.begin, other.end - other.begin, data.stations.slots, at,
            data.limits, out);
        for (int c = 0; c < components; ++c) total[c] = total[c] + out[c];
      }
      for (int c = 0; c < components; ++c) total[c].store(sums.at(0, c, at));
    }
  }
};

/// Sums of weights at the stations of near leaves for the prisms of a leaf, on a host.
struct NearTransposeOnHost {
  NearData data;
  TransposeData weights;
  TransposeRecords add;
  double* densities;  ///< of sorted prisms

  void operator()(const std::int64_t item) const {
    constexpr int lanes = simd::lanes<double>, max = TransposeOnHost::largest_block;
    const std::int32_t leaf = data.leaves[item];
    const FmmNode& node = data.prisms[leaf];
    for (std::int32_t first = node.begin; first < node.end; first += max) {
      const int count = node.end - first < max ? node.end - first : max;
      simd::Pack<double> sums[max];
      for (int i = 0; i < count; ++i) sums[i] = simd::Pack<double>(0.0);
      for (std::int32_t e = data.begin[leaf]; e < data.begin[leaf + 1]; ++e) {
        const FmmNode& other = data.stations.nodes[data.list[e]];
        const std::int64_t last = other.slot + data.stations.count(other);
        for (std::int64_t at = other.slot; at < last; at += lanes) {
          add(data.records + first, count, weights, at, sums);
        }
      }
      for (int i = 0; i < count; ++i) {
        double total = 0.0;
        for (int lane = 0; lane < lanes; ++lane) total += sums[i].lanes[lane];
        densities[first + i] = total;
      }
    }
  }
};

/// \brief Threads of a team that share the targets of a leaf.
///
/// Each target has a thread in every slice; the sources are divided among the slices.
struct LeafSlices {
  int targets;  ///< targets of a pass
  int slices;
  int target, slice;  ///< of this thread; slice is `slices` or more for idle threads

  KOKKOS_INLINE_FUNCTION LeafSlices(int left, int rank, int size)
      : targets(left < size ? left : size),
        slices(size / targets),
        target(rank % targets),
        slice(rank / targets) {}
  KOKKOS_INLINE_FUNCTION bool idle() const { return slice >= slices; }
};

/// \brief Calls add(staged) for the sources of a list of leaves, as many as the team has threads at
/// a time.
/// \param count count(e): sources of the e-th leaf of the list
/// \param stage stage(e, n, at): puts the n-th source of leaf e at a place of the scratch memory
template <class Team, class Count, class Stage, class Add>
KOKKOS_INLINE_FUNCTION void for_staged_sources(const Team& team, std::int32_t begin,
                                               std::int32_t end, const Count& count,
                                               const Stage& stage, const Add& add) {
  const int size = team.size(), rank = team.rank();
  std::int32_t leaf = begin;
  int before = 0;  // sources of the leaf that are done
  while (leaf < end) {
    int found = 0, own = -1;
    std::int32_t of = 0;
    while (leaf < end && found < size) {
      const int all = count(leaf);
      const int taken = all - before < size - found ? all - before : size - found;
      if (rank >= found && rank < found + taken) {
        of = leaf;
        own = before + rank - found;
      }
      found += taken;
      before += taken;
      if (before == all) {
        ++leaf;
        before = 0;
      }
    }
    team.barrier();
    if (own >= 0) stage(of, own, rank);
    team.barrier();
    add(found);
  }
}

/// \brief Direct sums at the stations of a leaf, on a device.
///
/// Each station has several threads, which share its near prisms.
template <unsigned Mask>
struct NearFields {
  static constexpr int count = count_of(Mask);
  static constexpr int threads = 128;
  static constexpr int record = sizeof(Record<double>) / sizeof(double);
  NearData data;
  PartialSums sums;

  KOKKOS_INLINE_FUNCTION int scratch() const { return threads * (record > count ? record : count); }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team, std::int64_t item,
                                         double* scratch) const {
    const std::int32_t leaf = data.leaves[item];
    const FmmNode& node = data.stations.nodes[leaf];
    if (data.stations.omitted(node)) return;
    Record<double>* const tile = reinterpret_cast<Record<double>*>(scratch);
    const int slots = static_cast<int>(data.stations.count(node));
    for (int from = 0; from < slots; from += team.size()) {
      const LeafSlices own(slots - from, team.rank(), team.size());
      const std::int64_t slot = node.slot + from + own.target;
      Station<double, double> station;
      for (int n = 0; n < 3; ++n) station.at[n] = data.stations.slots(n, slot);
      double total[count] = {};
      for_staged_sources(
          team, data.begin[leaf], data.begin[leaf + 1],
          [&](std::int32_t e) {
            const FmmNode& other = data.prisms[data.list[e]];
            return other.end - other.begin;
          },
          [&](std::int32_t e, int n, int at) {
            tile[at] = data.records[data.prisms[data.list[e]].begin + n];
          },
          [&](int staged) {
            if (own.idle()) return;
            for (int i = own.slice; i < staged; i += own.slices) {
              add_pair<Mask>(tile[i], station, data.limits, total);
            }
          });
      team.barrier();
      for (int c = 0; c < count; ++c) scratch[c * team.size() + team.rank()] = total[c];
      team.barrier();
      if (own.slice == 0) {
        for (int c = 0; c < count; ++c) {
          double sum = 0.0;
          for (int k = 0; k < own.slices; ++k) {
            sum += scratch[c * team.size() + k * own.targets + own.target];
          }
          *sums.at(0, c, slot) = sum;
        }
      }
      team.barrier();
    }
  }
};

/// \brief Sums of weights for the prisms of a leaf, on a device.
///
/// Each prism has several threads, which share its near stations.
template <unsigned Mask>
struct NearTranspose {
  static constexpr int count = count_of(Mask);
  static constexpr int threads = 128;
  static constexpr int row = 3 + count;  ///< numbers of a staged station
  NearData data;
  StationWeights weights;
  double* densities;  ///< of sorted prisms

  KOKKOS_INLINE_FUNCTION int scratch() const { return threads * row; }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team, std::int64_t item,
                                         double* scratch) const {
    const std::int32_t leaf = data.leaves[item];
    const FmmNode& node = data.prisms[leaf];
    for (std::int32_t from = node.begin; from < node.end; from += team.size()) {
      const LeafSlices own(node.end - from, team.rank(), team.size());
      const Record<double> record = data.records[from + own.target];
      double total = 0.0;
      for_staged_sources(
          team, data.begin[leaf], data.begin[leaf + 1],
          [&](std::int32_t e) {
            return static_cast<int>(data.stations.count(data.stations.nodes[data.list[e]]));
          },
          [&](std::int32_t e, int n, int at) {
            const std::int64_t slot = data.stations.nodes[data.list[e]].slot + n;
            double* const to = scratch + at * row;
            for (int axis = 0; axis < 3; ++axis) to[axis] = data.stations.slots(axis, slot);
            for (int c = 0; c < count; ++c) to[3 + c] = weights(c, slot);
          },
          [&](int staged) {
            if (own.idle()) return;
            for (int i = own.slice; i < staged; i += own.slices) {
              total = pair(record, scratch + i * row, total);
            }
          });
      team.barrier();
      scratch[team.rank()] = total;
      team.barrier();
      if (own.slice == 0) {
        double sum = 0.0;
        for (int k = 0; k < own.slices; ++k) sum += scratch[k * own.targets + own.target];
        densities[from + own.target] = sum;
      }
      team.barrier();
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION double pair(const Record<double>& record, const double* staged,
                                          double total) const {
    Station<double, double> station;
    for (int n = 0; n < 3; ++n) station.at[n] = staged[n];
    double out[count];
    pair_field<Mask, double>(record, station, data.limits, out);
    for (int c = 0; c < count; ++c) {
      const double weight = staged[3 + c];
      if ((weights.used >> c & 1u) == 0 || weight == 0.0) continue;
      total = multiply_add(weight, out[c], total);
    }
    return total;
  }
};

/// Sets the sums of stations to those over their near pairs.
template <class Memory>
void sum_near(const Instance<Memory>& exec, unsigned mask, const NearData& data,
              const PartialSums& sums, std::int64_t leaves) {
  if constexpr (is_host_memory<Memory>) {
    launch_dynamic("moho::gravity::near_fields", exec, leaves,
                   NearOnHost{data, sums, sum_records_of<double, Record<double>>(mask)});
  } else {
    with_mask(mask, [&](auto m) {
      launch_teams("moho::gravity::near_fields", exec, leaves,
                   NearFields<decltype(m)::value>{data, sums});
    });
  }
}

/// Adds the fields of the expansions of leaves to the sums of their stations.
template <class Memory>
void add_far(const Instance<Memory>& exec, unsigned mask, const FmmStations& stations,
             const PartialSums& sums, std::int64_t leaves) {
  with_mask(mask, [&](auto m) {
    launch_teams("moho::gravity::far_fields", exec, leaves,
                 FarFields<decltype(m)::value>{stations, sums});
  });
}

/// Sets the expansions of leaves to those of their weighted stations.
template <class Memory>
void take_moments(const Instance<Memory>& exec, unsigned mask, const FmmStations& stations,
                  const double* weights, std::int64_t leaves) {
  with_mask(mask, [&](auto m) {
    launch_teams("moho::gravity::station_moments", exec, leaves,
                 StationMoments<decltype(m)::value>{stations, weights, stations.slots.count});
  });
}

/// Sets the sums of sorted prisms to those over their near pairs.
template <class Memory>
void transpose_near(const Instance<Memory>& exec, unsigned mask, const NearData& data,
                    const StationWeights& weights, double* densities, std::int64_t leaves) {
  if constexpr (is_host_memory<Memory>) {
    TransposeRecords add = nullptr;
    with_mask(mask, [&](auto m) { add = &transpose_records<decltype(m)::value>; });
    TransposeData sums{};
    sums.stations = data.stations.slots;
    sums.weights = weights;
    sums.limits = data.limits;
    launch_dynamic("moho::gravity::near_transposed", exec, leaves,
                   NearTransposeOnHost{data, sums, add, densities});
  } else {
    with_mask(mask, [&](auto m) {
      launch_teams("moho::gravity::near_transposed", exec, leaves,
                   NearTranspose<decltype(m)::value>{data, weights, densities});
    });
  }
}

}  // namespace moho::gravity::detail
