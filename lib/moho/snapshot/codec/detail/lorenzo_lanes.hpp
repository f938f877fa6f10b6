// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Differences of integers on devices, with the bytes of LorenzoCoder.
///
/// The 32 threads of a warp share a block, as in lanes.hpp.

#include <moho/snapshot/codec/detail/lanes.hpp>
#include <moho/snapshot/codec/detail/lorenzo.hpp>
#include <moho/snapshot/codec/packed.hpp>

#include <cstdint>

namespace moho::snapshot::detail {

/// Returns the bitwise or over all lanes.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t any_of_lanes(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(0xffffffffu, value);
#else
  MOHO_UNROLL
  for (int step = 16; step > 0; step /= 2) value |= __shfl_xor_sync(0xffffffffu, value, step);
#endif
#endif
  return value;
}

/// Returns the sum over all lanes.
KOKKOS_FORCEINLINE_FUNCTION int sum_of_lanes(int value) {
#if defined(__CUDA_ARCH__)
  MOHO_UNROLL
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
#endif
  return value;
}

/// Returns a bit for each lane: whether its value is true.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t votes_of_lanes(bool value) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(0xffffffffu, value);
#else
  return value ? 1u : 0u;
#endif
}

/// Synchronises the lanes and their writes.
KOKKOS_FORCEINLINE_FUNCTION void meet_lanes() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}

/// \brief Blocks of LorenzoCoder by their lanes. Value e is in register e / 32 of lane e % 32.
template <int Dim>
struct LorenzoLanes {
  /// Computes the differences along all axes.
  KOKKOS_INLINE_FUNCTION static void differences(std::int32_t* v, int lane) {
    MOHO_UNROLL
    for (int i = 15; i >= 0; --i) {
      // along the last axis, and in 3D along the one before
      constexpr int side = Dim == 3 ? 8 : 32;
      const std::int32_t before = from_lane(v[i], (lane + 31) & 31);
      if (lane % side > 0) v[i] -= before;
    }
    if constexpr (Dim == 3) {
      MOHO_UNROLL
      for (int i = 15; i >= 0; --i) {
        const std::int32_t same = from_lane(v[i], (lane + 24) & 31);
        const std::int32_t other = i % 2 == 1 ? from_lane(v[i - i % 2], (lane + 24) & 31) : 0;
        v[i] -= lane >= 8 ? same : other;
      }
    }
    constexpr int rows = Dim == 3 ? 2 : 1;  // registers from one plane to the next
    MOHO_UNROLL
    for (int i = 15; i >= rows; --i) v[i] -= v[i - rows];
  }
  /// Inverse of differences().
  KOKKOS_INLINE_FUNCTION static void sums(std::int32_t* v, int lane) {
    constexpr int rows = Dim == 3 ? 2 : 1;
    MOHO_UNROLL
    for (int i = rows; i < 16; ++i) v[i] += v[i - rows];
    constexpr int side = Dim == 3 ? 8 : 32;
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) {
      MOHO_UNROLL
      for (int step = 1; step < side; step *= 2) {
        const std::int32_t before = from_lane(v[i], (lane + 32 - step) & 31);
        if (lane % side >= step) v[i] += before;
      }
      if constexpr (Dim == 3) {
        MOHO_UNROLL
        for (int step = 8; step < 32; step *= 2) {
          const std::int32_t before = from_lane(v[i], (lane + 32 - step) & 31);
          if (lane >= step) v[i] += before;
        }
        // the upper half of the plane continues the lower one
        if (i % 2 == 1) v[i] += from_lane(v[i - i % 2], 24 + lane % 8);
      }
    }
  }
  /// Returns the position of number e in scratch, which avoids bank conflicts for indexed access.
  KOKKOS_FORCEINLINE_FUNCTION static int place(int e) {
    return Dim == 3 ? e ^ (e >> 6 & 1) << 2 : e ^ (e >> 5 & 3) << 3;
  }
  /// \brief Moves number table[e] of 512 into register e / 32 of lane e % 32, for all e.
  /// \param from,to numbers of the lane
  /// \param table 512 numbers
  /// \param scratch 512 words that the block's lanes share
  /// \param lane of the block
  KOKKOS_FORCEINLINE_FUNCTION static void permute(const std::uint32_t* from, std::uint32_t* to,
                                                  const std::uint16_t* table,
                                                  std::uint32_t* scratch, int lane) {
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) scratch[place(32 * i + lane)] = from[i];
    meet_lanes();
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) to[i] = scratch[place(table[32 * i + lane])];
    meet_lanes();
  }
};

/// Runs a body with scratch for every block in teams: body(block, lane, scratch).
template <class Body>
struct LorenzoTeams {
  static constexpr int threads = 128;
  static constexpr int teams = 6;  ///< teams on a multiprocessor
  static constexpr int at_once = threads / block_lanes;
  struct Shared {
    std::uint32_t words[512];
  };
  static constexpr std::size_t shared_bytes = at_once * sizeof(Shared);
  Body body;
  std::int64_t blocks;

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Member& member) const {
    Shared* const shared = team_shared<Shared[at_once]>(member)[0];
    const int thread = member.team_rank(), own = thread / block_lanes;
    const std::int64_t block = static_cast<std::int64_t>(member.league_rank()) * at_once + own;
    if (block < blocks) body(block, thread % block_lanes, shared[own].words);
  }
};

/// Calls body(block, lane, scratch) for the lanes of all blocks; scratch has 512 words.
template <class Memory, class Body>
void launch_lorenzo(const char* label, const Instance<Memory>& exec, std::int64_t blocks,
                    const Body& body) {
  using Teams = LorenzoTeams<Body>;
  launch_teams(label, exec, (blocks + Teams::at_once - 1) / Teams::at_once, Teams{body, blocks});
}

/// LorenzoCoder::encode() of blocks by their lanes, into slots.
template <class T, int Dim>
struct EncodeLorenzoLanes {
  LorenzoCoder<Dim> coder;
  BlockSource<T, Dim> source;
  std::int64_t begin;  ///< the first block
  std::uint8_t* slots;
  std::uint16_t* lengths;
  std::int32_t* item_bytes;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item, const int lane,
                                         std::uint32_t* scratch) const {
    const std::int64_t block = begin + item;
    std::int32_t v[16];
    std::uint32_t any = 0;
    {
      float values[16];
      load_lane(source, LaneNodes<Dim>{source.blocks.first(block), lane}, values);
      MOHO_UNROLL
      for (int i = 0; i < 16; ++i) {
        v[i] = static_cast<std::int32_t>(rintf(values[i] * coder.inverse_quantum));
        any |= static_cast<std::uint32_t>(v[i]);
      }
    }
    int bytes = 0;
    if (any_of_lanes(any) != 0) {
      LorenzoLanes<Dim>::differences(v, lane);
      std::uint32_t folds[16];
      MOHO_UNROLL
      for (int i = 0; i < 16; ++i) folds[i] = folded(v[i]);
      auto* const to =
          reinterpret_cast<std::uint32_t*>(slots + item * LorenzoCoder<Dim>::most_bytes);
      const std::uint32_t corner = from_lane(folds[0], 0);
      std::uint32_t ordered[16];
      int length[16], longest = 0;
      LorenzoLanes<Dim>::permute(folds, ordered, coder.tables->order, scratch, lane);
      if (lane == 0) ordered[0] = 0;  // the corner
      MOHO_UNROLL
      for (int g = 0; g < 16; ++g) {
        length[g] = bit_width(any_of_lanes(ordered[g]));
        longest = length[g] > longest ? length[g] : longest;
      }
      const int width = longest < 16 ? 4 : 8;
      if (lane == 0) to[0] = corner | (width == 8 ? 0x80000000u : 0u);
      const int words = width / 2;  // 16 lengths
      MOHO_UNROLL
      for (int w = 0; w < 4; ++w) {
        std::uint32_t packed = 0;
        MOHO_UNROLL
        for (int g = 0; g < 16; ++g) {
          const int bit = g * width - 32 * w;
          if (bit >= 0 && bit < 32) packed |= static_cast<std::uint32_t>(length[g]) << bit;
        }
        if (w < words && lane == w) to[1 + w] = packed;
      }
      int at = 1 + words;
      MOHO_UNROLL
      for (int g = 0; g < 16; ++g) {
        std::uint32_t own = 0;
        for (int b = 0; b < length[g]; ++b) {
          const std::uint32_t plane = votes_of_lanes((ordered[g] >> b & 1u) != 0);
          if (lane == b) own = plane;
        }
        if (lane < length[g]) to[at + lane] = own;
        at += length[g];
      }
      bytes = 4 * at;
    }
    if (lane == 0) {
      lengths[block] = static_cast<std::uint16_t>(bytes);
      item_bytes[item] = bytes;
    }
  }
};

/// LorenzoCoder::decode() of blocks by their lanes.
template <class Target, class T, int Dim>
struct DecodeLorenzoLanes {
  LorenzoCoder<Dim> coder;
  Target target;
  BlockGrid<Dim> blocks;
  const std::uint16_t* lengths;
  const std::int64_t* offsets;
  const std::uint8_t* payload;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t block, const int lane,
                                         std::uint32_t* scratch) const {
    constexpr std::int64_t group = Packed<Dim, Kokkos::HostSpace>::group;
    static_assert(group == block_lanes);
    const LaneNodes<Dim> nodes{blocks.first(block), lane};
    if (!BlockGrid<Dim>::meets(target.box, nodes.first)) return;
    const int behind = static_cast<int>(block % group);
    const std::int64_t first = block - behind;
    const std::int64_t at =
        offsets[block / group] + sum_of_lanes(lane < behind ? lengths[first + lane] : 0);
    const int words = lengths[block] / 4;
    std::int32_t v[16];
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) v[i] = 0;
    if (words > 0) {
      const auto* const from = reinterpret_cast<const std::uint32_t*>(payload + at);
      const std::uint32_t corner = from[0];
      const int width = corner >> 31 != 0 ? 8 : 4;
      int next = 1 + width / 2;
      std::uint32_t numbers[16];
      MOHO_UNROLL
      for (int g = 0; g < 16; ++g) {
        const int bit = g * width;
        const int length = static_cast<int>(from[1 + bit / 32] >> bit % 32 & ((1u << width) - 1));
        const std::uint32_t own = lane < length && next + lane < words ? from[next + lane] : 0u;
        std::uint32_t number = 0;
        for (int b = 0; b < length; ++b) number |= (from_lane(own, b) >> lane & 1u) << (b & 31);
        numbers[g] = number;
        next += length;
      }
      if (lane == 0) numbers[0] = corner & 0x7fffffffu;
      std::uint32_t folds[16];
      LorenzoLanes<Dim>::permute(numbers, folds, coder.tables->place, scratch, lane);
      MOHO_UNROLL
      for (int i = 0; i < 16; ++i) v[i] = unfolded(folds[i]);
      LorenzoLanes<Dim>::sums(v, lane);
    }
    float values[16];
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(v[i]) * coder.quantum;
    store_lane(target, nodes, values);
  }
};

}  // namespace moho::snapshot::detail
