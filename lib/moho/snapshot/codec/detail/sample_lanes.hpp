// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sampling of blocks on devices: SampleMagnitudes and SampleSymbols, a warp for each block.
///
/// Counts are integers, whose sums are independent of the order. Each warp always processes the
/// same blocks and returns one energy; hosts add the energies in order.

#include <moho/snapshot/codec/detail/block_loops.hpp>
#include <moho/snapshot/codec/detail/transform_lanes.hpp>

#include <algorithm>
#include <cstdint>

namespace moho::snapshot::detail {

/// Returns the sum over all lanes, in each lane.
KOKKOS_FORCEINLINE_FUNCTION float sum_of_lanes(float value) {
#if defined(__CUDA_ARCH__)
  MOHO_UNROLL
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
#endif
  return value;
}

/// Adds to a number that a team shares.
KOKKOS_FORCEINLINE_FUNCTION void add_shared(std::uint32_t* to, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  atomicAdd(to, value);
#else
  *to += value;
#endif
}

/// \brief Base of the sampling functors: teams of four warps with a histogram each.
template <int Columns>
struct SampleTeams {
  static constexpr int threads = 128;
  static constexpr int groups = threads / block_lanes;
  static constexpr int columns = Columns;

  Sample sample;
  std::uint64_t* counts;  ///< counts of all teams, initially zero
  double* energies;       ///< energies of every warp of every team

  /// Returns the teams for a number of blocks.
  ///
  /// They are no more than stay busy. They are so many that 32 bits hold a team's counts, at most
  /// 2^18 for each block.
  static std::int64_t league(std::int64_t blocks) {
    return std::max(std::min<std::int64_t>((blocks + groups - 1) / groups, 1056),
                    (blocks + 8191) / 8192);
  }

  /// Processes the team's blocks: look(block) returns an energy, the same in all lanes.
  template <class Member, class Look>
  KOKKOS_FORCEINLINE_FUNCTION void look_at_blocks(const Member& member, std::uint32_t* histogram,
                                                  const Look& look) const {
    const int thread = member.team_rank(), group = thread / block_lanes;
    for (int i = thread; i < Columns; i += threads) histogram[i] = 0;
    member.team_barrier();
    const std::int64_t first = static_cast<std::int64_t>(member.league_rank()) * groups + group;
    const std::int64_t step = static_cast<std::int64_t>(member.league_size()) * groups;
    double energy = 0.0;
    for (std::int64_t n = first; n < sample.count(); n += step) energy += look(sample.block(n));
    if (thread % block_lanes == 0) energies[first] = energy;
    member.team_barrier();
    for (int i = thread; i < Columns; i += threads) {
      if (histogram[i] != 0) {
        Kokkos::atomic_add(counts + i, static_cast<std::uint64_t>(histogram[i]));
      }
    }
  }
};

/// SampleMagnitudes by lanes.
template <class T, int Dim>
struct SampleMagnitudesLanes : SampleTeams<MagnitudeBins::count> {
  static constexpr int teams = 8;  ///< teams on a multiprocessor
  /// Shared memory of a team.
  struct Shared {
    std::uint32_t histogram[MagnitudeBins::count];
  };
  static constexpr std::size_t shared_bytes = sizeof(Shared);

  BlockSource<T, Dim> source;

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Member& member) const {
    Shared& shared = *team_shared<Shared>(member);
    const int lane = member.team_rank() % block_lanes;
    this->look_at_blocks(member, shared.histogram, [&](std::int64_t block) {
      float values[16];
      load_lane(source, LaneNodes<Dim>{source.blocks.first(block), lane}, values);
      const int inside = source.blocks.inside(block);
      bool any = false;
      MOHO_UNROLL
      for (int i = 0; i < 16; ++i) any = any || values[i] != 0.0f;
      if (votes_of_lanes(any) == 0) {
        if (lane == 0) add_shared(shared.histogram, 512u * static_cast<std::uint32_t>(inside));
        return 0.0;
      }
      TransformLanes<Dim>::forward(values, lane);
      float sum = 0.0f;
      MOHO_UNROLL
      for (int i = 0; i < 16; ++i) {
        sum += values[i] * values[i];
        add_shared(shared.histogram + MagnitudeBins::of(fabsf(values[i])),
                   static_cast<std::uint32_t>(inside));
      }
      return static_cast<double>(sum_of_lanes(sum)) * inside / 512.0;
    });
  }
};

/// SampleSymbols of a TransformCoder by lanes.
template <class T, int Dim>
struct SampleSymbolsLanes : SampleTeams<TransformTables::bands * symbols> {
  static constexpr int teams = 4;  ///< teams on a multiprocessor
  using Base = SampleTeams<TransformTables::bands * symbols>;
  /// Shared memory of a team.
  struct Shared {
    std::uint32_t histogram[TransformTables::bands * symbols];
    NumberList lists[Base::groups];
  };
  static constexpr std::size_t shared_bytes = sizeof(Shared);

  TransformCoder<Dim> coder;
  const TransformLaneTables* lanes;
  BlockSource<T, Dim> source;

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Member& member) const {
    Shared& shared = *team_shared<Shared>(member);
    const int lane = member.team_rank() % block_lanes;
    NumberList& list = shared.lists[member.team_rank() / block_lanes];
    this->look_at_blocks(member, shared.histogram, [&](std::int64_t block) {
      const LaneNodes<Dim> nodes{source.blocks.first(block), lane};
      float values[16];
      load_lane(source, nodes, values);
      TransformLanes<Dim>::forward(values, lane);
      std::int32_t numbers[16];
      if (quantise_lane(coder, values, numbers)) {
        MOHO_UNROLL
        for (int i = 0; i < 16; ++i) values[i] -= static_cast<float>(numbers[i]) * coder.quantum;
        const int count = list.make(lanes, numbers, lane);
        for (int j = lane; j < count; j += block_lanes) {
          add_shared(shared.histogram + symbol(list, j), 1u);
        }
        meet_lanes();
      }
      // Outside the box, where one node replaces many, errors are smaller than inside.
      const bool whole = source.blocks.inside(block) == BlockGrid<Dim>::nodes;
      if (!whole) TransformLanes<Dim>::back(values, lane);
      float sum = 0.0f;
      MOHO_UNROLL
      for (int i = 0; i < 16; ++i) {
        if (whole || source.blocks.box.contains(nodes.node(i))) sum += values[i] * values[i];
      }
      return static_cast<double>(sum_of_lanes(sum));
    });
  }

 private:
  /// Returns the index of a symbol among those of all bands.
  KOKKOS_FORCEINLINE_FUNCTION int symbol(const NumberList& list, int j) const {
    int band = 0, run = 0;
    std::int32_t number = 0;
    list.symbol(coder.tables, j, band, run, number);
    const int size = bit_width(static_cast<std::uint32_t>(number < 0 ? -number : number));
    const int s = size == 0   ? TransformTables::end_of_block
                  : size < 16 ? coder.tables->run_class[run] * 16 + size
                              : TransformTables::escape;
    return band * symbols + s;
  }
};

}  // namespace moho::snapshot::detail
