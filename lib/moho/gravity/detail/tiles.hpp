// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums over chunks of prisms at blocks of stations: Strategy::tiles and by_stations.
///
/// Strategy::by_stations has one chunk. On a device each thread of a team processes one station,
/// and the team stages prisms in scratch. On a host a thread processes vectors of stations and
/// tiles of prisms. Sums of a chunk are kept in double and added in the order of chunks. The result
/// is therefore independent of the order of teams.

#include <moho/gravity/detail/host_stop.hpp>
#include <moho/gravity/detail/near_lanes.hpp>
#include <moho/gravity/detail/pack.hpp>

namespace moho::gravity::detail {

/// Partial sums: chunks x components x stations.
struct PartialSums {
  double* data;
  std::int64_t components;
  std::int64_t stations;  ///< stations with padding
  KOKKOS_FORCEINLINE_FUNCTION double* at(std::int64_t chunk, std::int64_t component,
                                         std::int64_t station) const {
    return data + (chunk * components + component) * stations + station;
  }
};

/// Squares of the distances, in half diagonals, at which the formulas change.
template <class T>
struct Distances {
  T near2;
  T far2;
  /// Smallest squared distance of mid_field(); below it near_field() is used. A product of six
  /// smaller ones would leave a float's range.
  static constexpr T least2 = sizeof(T) == 4 ? T(1e-11) : T(0);
};

/// Returns true for a prism too long or too flat for mid_field() in this precision.
KOKKOS_FORCEINLINE_FUNCTION bool is_slender(const Record<float>& record) {
  return record.slender != 0.0f;
}
/// \overload
KOKKOS_FORCEINLINE_FUNCTION bool is_slender(const Record<double>&) { return false; }

/// Computes the field of one prism of density 1 at one station, on a device.
template <unsigned Mask, class T>
KOKKOS_FORCEINLINE_FUNCTION void pair_field(const Record<T>& record, const Station<T, T>& station,
                                            const Distances<T>& limits, T* out) {
  T lower[3], upper[3], length[3], centre[3], squares[3];
  T distance2 = T(0);
  station.corners(record, lower, upper, length);
  for (int n = 0; n < 3; ++n) {
    centre[n] = multiply_add(T(0.5), length[n], lower[n]);
    squares[n] = centre[n] * centre[n];
    distance2 += squares[n];
  }
  if (distance2 > limits.far2 * record.diagonal2 && distance2 > limits.least2) {
    far_field<Mask, T>(centre, length, squares, distance2, out);
  } else if (distance2 > limits.near2 * record.diagonal2 && distance2 > limits.least2 &&
             !is_slender(record)) {
    mid_field<Mask, T>(lower, upper, length, out);
  } else {
    constexpr int count = count_of(Mask);
    double lowest[3], highest[3], values[count];
    for (int n = 0; n < 3; ++n) {
      lowest[n] = static_cast<double>(lower[n]);
      highest[n] = static_cast<double>(upper[n]);
    }
    near_station<Mask>(lowest, highest, values);
    for (int c = 0; c < count; ++c) out[c] = static_cast<T>(values[c]);
  }
}

/// Adds the field of one prism at one station to the sums, on a device.
template <unsigned Mask, class T>
KOKKOS_FORCEINLINE_FUNCTION void add_pair(const Record<T>& record, const Station<T, T>& station,
                                          const Distances<T>& limits, T* sums) {
  constexpr int count = count_of(Mask);
  T out[count];
  pair_field<Mask, T>(record, station, limits, out);
  for (int c = 0; c < count; ++c) sums[c] = multiply_add(record.density, out[c], sums[c]);
}

/// Computes the field of one prism of density 1 at a vector of stations, on a host.
template <unsigned Mask, class T>
[[gnu::always_inline]] inline void pair_fields(const Record<T>& record,
                                               const Station<T, simd::Pack<T>>& station,
                                               const Distances<T>& limits, simd::Pack<T>* out) {
  using V = simd::Pack<T>;
  constexpr int count = count_of(Mask);
  V lower[3], upper[3], length[3], centre[3], squares[3];
  V distance2(T(0));
  station.corners(record, lower, upper, length);
  for (int n = 0; n < 3; ++n) {
    centre[n] = lower[n] + V(T(0.5)) * length[n];
    squares[n] = centre[n] * centre[n];
    distance2 = distance2 + squares[n];
  }
  const T min = simd::reduce_min(distance2), max = simd::reduce_max(distance2);
  // squared distances beyond which the closed form in this precision and the expansion are used
  const T far_diagonals2 = limits.far2 * record.diagonal2;
  const T far2 = far_diagonals2 > limits.least2 ? far_diagonals2 : limits.least2;
  const T near_diagonals2 = is_slender(record) ? far2 : limits.near2 * record.diagonal2;
  const T near2 = near_diagonals2 > limits.least2 ? near_diagonals2 : limits.least2;
  if (min > far2) {
    far_field<Mask, V>(centre, length, squares, distance2, out);
  } else if (!(max > near2)) {
    near_values<Mask>(lower, upper, out);
  } else {
    mid_field<Mask, V>(lower, upper, length, out);
    // stations of a vector may be far apart: those beyond this distance use far_field()
    const T away2 = near2 < far2 ? T(4) * far2 : far2;
    if (max > away2) {
      V afar[count];
      far_field<Mask, V>(centre, length, squares, distance2, afar);
      const auto away = V(away2) < distance2;
      for (int c = 0; c < count; ++c) out[c] = select(away, afar[c], out[c]);
    }
    if (!(min > near2)) {
      V close[count];
      near_values<Mask>(lower, upper, close);
      const auto away = V(near2) < distance2;
      for (int c = 0; c < count; ++c) out[c] = select(away, out[c], close[c]);
    }
  }
}

/// Adds the field of one prism at a vector of stations to the sums, on a host.
template <unsigned Mask, class T>
inline void add_pairs(const Record<T>& record, const Station<T, simd::Pack<T>>& station,
                      const Distances<T>& limits, simd::Pack<T>* sums) {
  using V = simd::Pack<T>;
  constexpr int count = count_of(Mask);
  V out[count];
  pair_fields<Mask, T>(record, station, limits, out);
  const V density(record.density);
  for (int c = 0; c < count; ++c) sums[c] = multiply_add(density, out[c], sums[c]);
}

/// Data of the kernels on hosts and devices. An item is a prism (Record<T>), or any type with
/// functions add_pair() and add_pairs().
template <class T, class Item>
struct TileData {
  const Item* records;
  PackedStations<T> stations;
  PartialSums sums;
  Distances<T> limits;
  std::int64_t first;  ///< first prism of this launch
  std::int64_t last;
  int blocks;  ///< blocks of stations
  int chunks;  ///< chunks of prisms

  /// Sets the range of prisms of a chunk.
  KOKKOS_INLINE_FUNCTION void chunk_range(int chunk, std::int64_t& begin, std::int64_t& end) const {
    const std::int64_t size = (last - first + chunks - 1) / chunks;
    begin = first + size * chunk;
    end = begin + size < last ? begin + size : last;
  }
};

/// Number of stations in a block on a host: several vectors.
template <class T>
inline constexpr int host_block = 16 * simd::lanes<T>;

/// \brief The kernel for devices: one team per block of stations and chunk of prisms.
template <unsigned Mask, class T, class Item, class Exec>
struct SumTilesOnDevice {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  static constexpr int count = count_of(Mask);

  TileData<T, Item> data;

  /// Returns the bytes of one record per thread, plus space to align the first.
  KOKKOS_INLINE_FUNCTION static int scratch_bytes(int team_size) {
    return team_size * static_cast<int>(sizeof(Item)) + 16;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int rank = member.team_rank(), size = member.team_size();
    const int block = member.league_rank() % data.blocks,
              chunk = member.league_rank() / data.blocks;
    // teams also write padded stations; those after the end repeat the last one
    const std::int64_t at = static_cast<std::int64_t>(block) * size + rank;
    const std::int64_t stations = data.stations.count;
    Station<T, T> station;
    for (int n = 0; n < 3; ++n) {
      station.at[n] = data.stations(n, at < stations ? at : stations - 1);
      if constexpr (parts<T> == 2) {
        station.rest[n] = data.stations(3 + n, at < stations ? at : stations - 1);
      }
    }
    Item* const tile = reinterpret_cast<Item*>(
        (reinterpret_cast<std::uintptr_t>(member.team_scratch(0).get_shmem(scratch_bytes(size))) +
         15) &
        ~static_cast<std::uintptr_t>(15));
    std::int64_t begin = 0, end = 0;
    data.chunk_range(chunk, begin, end);
    double total[count] = {};
    for (std::int64_t from = begin; from < end; from += size) {
      const int staged = static_cast<int>(end - from < size ? end - from : size);
      member.team_barrier();
      if (rank < staged) tile[rank] = data.records[from + rank];
      member.team_barrier();
      if constexpr (parts<T> == 2) {
        T sums[count] = {};
        for (int i = 0; i < staged; ++i) add_pair<Mask>(tile[i], station, data.limits, sums);
        for (int c = 0; c < count; ++c) total[c] += static_cast<double>(sums[c]);
      } else {
        for (int i = 0; i < staged; ++i) add_pair<Mask>(tile[i], station, data.limits, total);
      }
    }
    if (at < stations) {
      for (int c = 0; c < count; ++c) *data.sums.at(chunk, c, at) += total[c];
    }
  }
};

/// Adds the field of prisms at a vector of stations, starting at `at`, on a host. The kernels of
/// all strategies call this one function.
template <unsigned Mask, class T, class Item>
MOHO_NOINLINE void sum_records(const Item* records, int count, const PackedStations<T>& stations,
                               std::int64_t at, const Distances<T>& limits, simd::Pack<T>* out) {
  using V = simd::Pack<T>;
  constexpr int components = count_of(Mask);
  Station<T, V> station;
  for (int n = 0; n < 3; ++n) {
    station.at[n] = V::load(&stations(n, at));
    if constexpr (parts<T> == 2) station.rest[n] = V::load(&stations(3 + n, at));
  }
  V sums[components];
  for (int c = 0; c < components; ++c) sums[c] = V(T(0));
  for (int i = 0; i < count; ++i) add_pairs<Mask>(records[i], station, limits, sums);
  for (int c = 0; c < components; ++c) out[c] = sums[c];
}

/// A function of the type of sum_records().
template <class T, class Item>
using SumRecords = void (*)(const Item*, int, const PackedStations<T>&, std::int64_t,
                            const Distances<T>&, simd::Pack<T>*);

/// \brief The kernel for hosts: one item per block of stations and chunk of prisms.
template <class T, class Item>
struct SumTilesOnHost {
  static constexpr int lanes = simd::lanes<T>;
  static constexpr int block_size = host_block<T>;
  /// Number of prisms that stay in the L1 cache during the loop over the block's stations.
  static constexpr int tile = 128;

  TileData<T, Item> data;
  SumRecords<T, Item> sum;
  const HostStop* stop;

  void operator()(const std::int64_t item) const {
    const int block = static_cast<int>(item % data.blocks);
    const int chunk = static_cast<int>(item / data.blocks);
    const std::int64_t stations = data.stations.count;
    const std::int64_t station_begin = static_cast<std::int64_t>(block) * block_size;
    const std::int64_t station_end =
        station_begin + block_size < stations ? station_begin + block_size : stations;
    std::int64_t begin = 0, end = 0;
    data.chunk_range(chunk, begin, end);
    for (std::int64_t from = begin; from < end; from += tile) {
      if (stop->requested()) return;
      const int staged = static_cast<int>(end - from < tile ? end - from : tile);
      for (std::int64_t at = station_begin; at < station_end; at += lanes) {
        simd::Pack<T> sums[component_count];
        sum(data.records + from, staged, data.stations, at, data.limits, sums);
        for (std::int64_t c = 0; c < data.sums.components; ++c) {
          double* const to = data.sums.at(chunk, c, at);
          for (int lane = 0; lane < lanes; ++lane) {
            to[lane] += static_cast<double>(sums[c].lanes[lane]);
          }
        }
      }
    }
  }
};

/// Tuning parameters for each memory.
template <class T, class Memory>
struct TileShape {
  static constexpr bool host = is_host_memory<Memory>;
  static constexpr int default_team = 128;

  /// Returns the number of stations in a block.
  static int block(const Options& options) {
    if constexpr (host) {
      return host_block<T>;
    } else {
      return options.team_size > 0 ? options.team_size : default_team;
    }
  }
  /// Returns the multiple to which the number of stations is padded.
  static constexpr int padding() {
    if constexpr (host) {
      return simd::lanes<T>;
    } else {
      return 1;
    }
  }
  /// Returns the number of chunks of prisms: several times as many teams as threads.
  static int chunks(const Instance<Memory>& exec, std::int64_t prisms, std::int64_t blocks) {
    const std::int64_t smallest = host ? 1024 : 256;
    const std::int64_t threads = exec.concurrency();
    const std::int64_t items = host ? (threads > 1 ? 16 * threads : 1) : threads / 32;
    const std::int64_t max = prisms / smallest > 1 ? prisms / smallest : 1;
    const std::int64_t wanted = (items + blocks - 1) / blocks;
    return static_cast<int>(wanted < 1 ? 1 : wanted < max ? wanted : max);
  }
};

/// Throws InputError if the kernel's teams cannot have this number of threads.
void check_team_size(int team_size, int largest);

/// Calls function(std::integral_constant of the mask).
template <class Function>
void with_mask(unsigned mask, const Function& function) {
  const auto attempt = [&](auto constant) {
    if (mask == decltype(constant)::value) function(constant);
  };
  attempt(std::integral_constant<unsigned, 1u>());
  attempt(std::integral_constant<unsigned, mask_gz>());
  attempt(std::integral_constant<unsigned, mask_gzz>());
  attempt(std::integral_constant<unsigned, mask_gxy>());
  attempt(std::integral_constant<unsigned, mask_attraction>());
  attempt(std::integral_constant<unsigned, mask_gradient>());
  attempt(std::integral_constant<unsigned, mask_nine>());
  attempt(std::integral_constant<unsigned, mask_ten>());
}

/// Returns the function that sums a set of components on a host.
template <class T, class Item>
SumRecords<T, Item> sum_records_of(unsigned mask) {
  SumRecords<T, Item> sum = nullptr;
  with_mask(mask, [&](auto m) { sum = &sum_records<decltype(m)::value, T, Item>; });
  return sum;
}

/// Adds the field of prisms first to last to the partial sums. \throws Stopped, see StopFlag
template <class T, class Item, class Memory>
void sum_tiles(const Instance<Memory>& exec, unsigned mask, const TileData<T, Item>& data,
               int block) {
  const std::int64_t items = static_cast<std::int64_t>(data.blocks) * data.chunks;
  exec.check_stop();
  if constexpr (is_host_memory<Memory>) {
    (void)block;
    const HostStop stop(exec);
    launch_dynamic("moho::gravity::sum_tiles", exec, items,
                   SumTilesOnHost<T, Item>{data, sum_records_of<T, Item>(mask), &stop});
    stop.check();
  } else {
    with_mask(mask, [&](auto m) {
      using Kernel = SumTilesOnDevice<decltype(m)::value, T, Item, DeviceOf<Memory>>;
      const Kernel kernel{data};
      const auto policy =
          light_weight(typename Kernel::Policy(exec.space(), static_cast<int>(items), block)
                           .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(block))));
      check_team_size(block, policy.team_size_max(kernel, Kokkos::ParallelForTag()));
      Kokkos::parallel_for("moho::gravity::sum_tiles", policy, kernel);
    });
  }
}

/// Computes results from partial sums: adds chunks in order and applies each component's factor.
struct AddChunks {
  PartialSums sums;
  std::int64_t chunks;
  double* results;
  Kokkos::Array<int, component_count> slot;       ///< index in the sums of each result's component
  Kokkos::Array<double, component_count> factor;  ///< factor of each result's component
  std::int64_t stations;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const int c = static_cast<int>(item / stations);
    double total = 0.0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      total += *sums.at(chunk, slot[c], item % stations);
    }
    results[item] = total * factor[c];
  }
};

}  // namespace moho::gravity::detail
