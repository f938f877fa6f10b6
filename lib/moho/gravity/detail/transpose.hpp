// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Transposed sums: weights at stations to prisms, with the arithmetic of the direct sums.
///
/// On a device each thread of a team processes one prism, and the team stages stations in scratch.
/// On a host a thread processes blocks of prisms and the same vectors of stations as the direct
/// sums, so that each pair has the same formula. A station of weight 0 does not contribute, even
/// where its field does not exist. The sum of a prism has one order for any number of threads.

#include <moho/gravity/detail/tiles.hpp>

namespace moho::gravity::detail {

/// Weights of the stations: kernel components x stations with padding.
struct StationWeights {
  const double* data;
  std::int64_t stations;  ///< stations with padding
  unsigned used;          ///< bit c: component c of the kernel has weights
  bool squares;           ///< squares of the fields are summed
  KOKKOS_FORCEINLINE_FUNCTION const double& operator()(int component, std::int64_t station) const {
    return data[component * stations + station];
  }
};

/// Data of the kernels on hosts and devices.
struct TransposeData {
  const Record<double>* records;
  std::int64_t prisms;
  PackedStations<double> stations;
  StationWeights weights;
  Distances<double> limits;
  double* sums;           ///< chunks x prisms
  std::int64_t per_part;  ///< stations of a chunk
  int blocks;             ///< blocks of prisms
  int block;              ///< prisms of a block
};

/// \brief The kernel for devices: one team per block of prisms and chunk of stations.
template <unsigned Mask, class Exec>
struct TransposeOnDevice {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  static constexpr int count = count_of(Mask);
  static constexpr int row = 3 + count;  ///< numbers of a staged station

  TransposeData data;

  /// Returns the bytes of one station per thread.
  KOKKOS_INLINE_FUNCTION static int scratch_bytes(int team_size) {
    return team_size * row * static_cast<int>(sizeof(double)) + 8;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int rank = member.team_rank(), size = member.team_size();
    const int block = member.league_rank() % data.blocks,
              chunk = member.league_rank() / data.blocks;
    const std::int64_t at = static_cast<std::int64_t>(block) * size + rank;
    const Record<double> record = data.records[at < data.prisms ? at : data.prisms - 1];
    double* const tile = reinterpret_cast<double*>(
        (reinterpret_cast<std::uintptr_t>(member.team_scratch(0).get_shmem(scratch_bytes(size))) +
         7) &
        ~static_cast<std::uintptr_t>(7));
    const std::int64_t stations = data.stations.count;
    const std::int64_t begin = chunk * data.per_part;
    const std::int64_t end = begin + data.per_part < stations ? begin + data.per_part : stations;
    double total = 0.0;
    for (std::int64_t from = begin; from < end; from += size) {
      const int staged = static_cast<int>(end - from < size ? end - from : size);
      member.team_barrier();
      if (rank < staged) {
        for (int n = 0; n < 3; ++n) tile[rank * row + n] = data.stations(n, from + rank);
        for (int c = 0; c < count; ++c) tile[rank * row + 3 + c] = data.weights(c, from + rank);
      }
      member.team_barrier();
      for (int i = 0; i < staged; ++i) {
        Station<double, double> station;
        for (int n = 0; n < 3; ++n) station.at[n] = tile[i * row + n];
        double out[count];
        pair_field<Mask, double>(record, station, data.limits, out);
        for (int c = 0; c < count; ++c) {
          const double weight = tile[i * row + 3 + c];
          if ((data.weights.used >> c & 1u) == 0 || weight == 0.0) continue;
          total = multiply_add(weight, data.weights.squares ? out[c] * out[c] : out[c], total);
        }
      }
    }
    if (at < data.prisms) data.sums[chunk * data.prisms + at] = total;
  }
};

/// Adds the weighted fields of prisms of density 1 at a vector of stations, starting at `at`, to
/// the sums of the prisms, on a host.
template <unsigned Mask>
MOHO_NOINLINE void transpose_records(const Record<double>* records, int count,
                                     const TransposeData& data, std::int64_t at,
                                     simd::Pack<double>* sums) {
  using V = simd::Pack<double>;
  constexpr int components = count_of(Mask);
  Station<double, V> station;
  for (int n = 0; n < 3; ++n) station.at[n] = V::load(&data.stations(n, at));
  for (int i = 0; i < count; ++i) {
    V out[components];
    pair_fields<Mask, double>(records[i], station, data.limits, out);
    V sum = sums[i];
    for (int c = 0; c < components; ++c) {
      if ((data.weights.used >> c & 1u) == 0) continue;
      const V weight = V::load(&data.weights(c, at));
      const V value = data.weights.squares ? out[c] * out[c] : out[c];
      sum = select(weight == V(0.0), sum, multiply_add(weight, value, sum));
    }
    sums[i] = sum;
  }
}

/// A function of the type of transpose_records().
using TransposeRecords = void (*)(const Record<double>*, int, const TransposeData&, std::int64_t,
                                  simd::Pack<double>*);

/// \brief The kernel for hosts: one item per block of prisms.
struct TransposeOnHost {
  static constexpr int lanes = simd::lanes<double>;
  static constexpr int largest_block = 128;
  static constexpr int check = 64 * lanes;  ///< stations between two readings of the stop flag

  TransposeData data;
  TransposeRecords add;
  const HostStop* stop;

  void operator()(const std::int64_t block) const {
    const std::int64_t first = block * data.block;
    const int count = static_cast<int>(std::min<std::int64_t>(data.block, data.prisms - first));
    simd::Pack<double> sums[largest_block];
    for (int i = 0; i < count; ++i) sums[i] = simd::Pack<double>(0.0);
    for (std::int64_t at = 0; at < data.stations.count; at += lanes) {
      if (at % check == 0 && stop->requested()) return;
      add(data.records + first, count, data, at, sums);
    }
    for (int i = 0; i < count; ++i) {
      double total = 0.0;
      for (int lane = 0; lane < lanes; ++lane) total += sums[i].lanes[lane];
      data.sums[first + i] = total;
    }
  }
};

/// Number of chunks of stations and of prisms in a block of the transposed sums.
struct TransposeShape {
  int chunks = 1, block = 1, blocks = 1;
  std::int64_t per_part = 0;  ///< stations of a chunk
};

/// Returns the shape for a number of prisms and stations. Host: all threads have blocks.
template <class Memory>
TransposeShape transpose_shape(const Instance<Memory>& exec, std::int64_t prisms,
                               std::int64_t stations) {
  TransposeShape shape;
  const std::int64_t threads = exec.concurrency();
  if constexpr (is_host_memory<Memory>) {
    const std::int64_t fair = prisms / (8 * threads);
    shape.block = static_cast<int>(
        std::max<std::int64_t>(1, std::min<std::int64_t>(TransposeOnHost::largest_block, fair)));
  } else {
    shape.block = 128;
    const std::int64_t teams = (prisms + shape.block - 1) / shape.block;
    const std::int64_t wanted = (threads / 32 + teams - 1) / teams;
    shape.chunks =
        static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>(wanted, stations / 256)));
  }
  shape.blocks = static_cast<int>((prisms + shape.block - 1) / shape.block);
  shape.per_part = (stations + shape.chunks - 1) / shape.chunks;
  return shape;
}

/// Computes the sums of all prisms over each chunk of stations. \throws Stopped, see StopFlag
template <class Memory>
void transpose_tiles(const Instance<Memory>& exec, unsigned mask, const TransposeData& data,
                     int chunks) {
  exec.check_stop();
  if constexpr (is_host_memory<Memory>) {
    (void)chunks;
    TransposeRecords add = nullptr;
    with_mask(mask, [&](auto m) { add = &transpose_records<decltype(m)::value>; });
    const HostStop stop(exec);
    launch_dynamic("moho::gravity::transpose_tiles", exec, data.blocks,
                   TransposeOnHost{data, add, &stop});
    stop.check();
  } else {
    with_mask(mask, [&](auto m) {
      using Kernel = TransposeOnDevice<decltype(m)::value, DeviceOf<Memory>>;
      const Kernel kernel{data};
      Kokkos::parallel_for(
          "moho::gravity::transpose_tiles",
          light_weight(
              typename Kernel::Policy(exec.space(), data.blocks * chunks, data.block)
                  .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(data.block)))),
          kernel);
    });
  }
}

/// Adds the chunks of each prism in order.
struct AddStationChunks {
  const double* sums;
  double* densities;
  std::int64_t prisms;
  int chunks;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    double total = 0.0;
    for (int chunk = 0; chunk < chunks; ++chunk) total += sums[chunk * prisms + i];
    densities[i] = total;
  }
};

/// Packs weights: factors of the components are applied, and padded stations have weight 0.
struct PackWeights {
  const double* weights;  ///< components x stations
  std::int64_t stations;
  std::int64_t padded;
  Kokkos::Array<int, component_count>
      row{};  ///< row of the weights of each kernel component, or -1
  Kokkos::Array<double, component_count> factor{};  ///< factor of each kernel component
  bool squares;
  double* packed;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t c = item / padded, s = item % padded;
    double value = 0.0;
    if (row[c] >= 0 && s < stations) value = weights[row[c] * stations + s] * factor[c];
    packed[item] = squares ? value * value : value;
  }
};

/// Sets the densities of packed prisms.
struct SetDensities {
  const double* densities;
  Record<double>* records;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    records[i].density = densities[i];
  }
};

/// The prisms of a source, all of density 1.
template <class Source>
struct UnitSource {
  Source source;
  KOKKOS_INLINE_FUNCTION std::int64_t size() const { return source.size(); }
  KOKKOS_INLINE_FUNCTION double density(std::int64_t) const { return 1.0; }
  KOKKOS_INLINE_FUNCTION void prism(std::int64_t i, double (&p)[7]) const {
    source.box(i, p);
    p[6] = 1.0;
  }
};

}  // namespace moho::gravity::detail
