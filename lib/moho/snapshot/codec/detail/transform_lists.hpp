// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Decoding of the cosine transform on devices, equivalent to TransformCoder::decode().
///
/// Bits of a block can only be read sequentially. One kernel therefore gives a block to each lane,
/// which lists its numbers (WalkTransform). A second one (DecodeTransformLanes) gives each block to
/// 32 lanes, which place the numbers and transform them back.

#include <moho/snapshot/codec/detail/transform_lanes.hpp>
#include <moho/snapshot/codec/packed.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace moho::snapshot::detail {

/// Returns bits [at, at + 32) of the 64 whose lower half comes first; at is 0 to 31.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t bits_of_two(std::uint32_t low, std::uint32_t high,
                                                      int at) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(low, high, at);
#else
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(high) << 32 | low) >> at);
#endif
}

/// \brief Four entries of a block's list of numbers.
///
/// An entry has a run of zeros in the lowest 6 bits and the number after it in the bits above. The
/// number is twice its magnitude, plus one if it is negative. Without a number an entry is only the
/// run.
struct alignas(16) ListQuad {
  static constexpr int longest_run = 63;
  /// Largest number for a block: each entry covers at least one coefficient.
  static constexpr int peak = 128;

  std::uint32_t entries[4];
};

/// Returns the blocks of a snapshot that are listed in one launch, a multiple of 32.
inline std::int64_t blocks_listed_at_once(std::int64_t blocks) {
  return std::min<std::int64_t>((blocks + block_lanes - 1) / block_lanes * block_lanes, 65536);
}
/// Returns the bytes of the lists of a number of blocks, followed by their lengths.
inline std::int64_t list_bytes(std::int64_t blocks) {
  return blocks *
         static_cast<std::int64_t>(ListQuad::peak * sizeof(ListQuad) + sizeof(std::uint16_t));
}

/// \brief Functor that reads the bits of blocks, one block for each lane, and lists their numbers.
///
/// Quads q of 32 consecutive blocks, from a multiple of 32 on, are consecutive in memory.
template <int Dim>
struct WalkTransform {
  static constexpr int threads = 128;
  static constexpr int teams = 6;  ///< teams on a multiprocessor
  /// Shared tables of a team.
  struct alignas(16) Shared {
    std::uint16_t states[TransformTables::bands * code_states];
    std::uint8_t band[512];
    /// Shortest run of a class, and its additional bits in 16 and above.
    std::uint32_t classes[16];
  };
  static constexpr std::size_t shared_bytes = sizeof(Shared);

  TransformCoder<Dim> coder;
  BlockGrid<Dim> blocks;
  Box<Dim> box;             ///< blocks without a node in the box are omitted
  std::int64_t begin, end;  ///< range of blocks; `begin` is a multiple of 32
  const std::uint16_t* lengths;
  const std::int64_t* offsets;
  const std::uint8_t* payload;
  ListQuad* quads;
  std::uint16_t* counts;  ///< number of quads of each block

  /// Returns the number of teams that cover all blocks.
  std::int64_t league() const { return (end - begin + threads - 1) / threads; }

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Member& member) const {
    static_assert(Packed<Dim, Kokkos::HostSpace>::group == block_lanes);
    Shared& shared = *team_shared<Shared>(member);
    const int thread = member.team_rank(), lane = thread % block_lanes;
    const auto* const from = reinterpret_cast<const ListQuad*>(coder.states);
    auto* const states = reinterpret_cast<ListQuad*>(shared.states);
    constexpr int quads_of_states = sizeof(shared.states) / sizeof(ListQuad);
    for (int i = thread; i < quads_of_states; i += threads) states[i] = from[i];
    for (int i = thread; i < 512; i += threads) shared.band[i] = coder.tables->band[i];
    if (thread < 16) {
      shared.classes[thread] = static_cast<std::uint32_t>(coder.tables->run_base[thread]) |
                               static_cast<std::uint32_t>(coder.tables->run_bits[thread]) << 16;
    }
    member.team_barrier();
    const std::int64_t item = static_cast<std::int64_t>(member.league_rank()) * threads + thread;
    const std::int64_t block = begin + item;
    const int bytes = block < end ? lengths[block] : 0;
    const int before = sum_to_lane(bytes, lane) - bytes;
    if (block >= end) return;
    int listed = 0;
    if (bytes > 0 && BlockGrid<Dim>::meets(box, blocks.first(block))) {
      listed = walk(shared, offsets[block / block_lanes] + before, bytes,
                    quads + (item - lane) * ListQuad::peak + lane);
    }
    counts[item] = static_cast<std::uint16_t>(listed);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION int walk(const Shared& shared, std::int64_t at, int bytes,
                                       ListQuad* to) const {
    const auto* next = reinterpret_cast<const std::uint32_t*>(payload) + at / 4;
    const auto* const last = reinterpret_cast<const std::uint32_t*>(payload) + (at + bytes) / 4 + 1;
    int bit = static_cast<int>(at % 4) * 8;  // bit offset in the first of three words
    std::uint32_t low = *next++, middle = *next++, high = *next;
    ListQuad quad{};
    int listed = 0;
    const auto list = [&](std::uint32_t entry) {
      MOHO_UNROLL
      for (int i = 0; i < 3; ++i) quad.entries[i] = quad.entries[i + 1];
      quad.entries[3] = entry;
      ++listed;
      if (listed % 4 == 0) to[(listed / 4 - 1) * block_lanes] = quad;
    };
    for (int p = 0; p < 512; ++p) {
      const std::uint32_t ahead = bits_of_two(low, middle, bit);
      const std::uint32_t state =
          shared.states[shared.band[p] * code_states + static_cast<int>(ahead & (code_states - 1))];
      const int symbol = static_cast<int>(state & 255u);
      int used = static_cast<int>(state >> 8), size = symbol & 15, run = 0;
      if (symbol == TransformTables::escape) {
        run = static_cast<int>(ahead >> used & 511u);
        size = static_cast<int>(ahead >> (used + 9) & 31u);
        used += 14;
      } else {
        const std::uint32_t c = shared.classes[symbol >> 4];
        const int more = static_cast<int>(c >> 16);
        run = static_cast<int>((c & 0xffffu) + (ahead >> used & ((1u << more) - 1u)));
        used += more;
      }
      p += run;
      if (size == 0 || p >= 512) break;  // also the end of the block
      bit += used;
      const bool upper_half = bit >= 32;
      const std::uint32_t rest =
          bits_of_two(upper_half ? middle : low, upper_half ? high : middle, bit & 31) &
          ((1u << size) - 1u);
      // no words beyond the block are read
      for (bit += size; bit >= 32; bit -= 32) {
        low = middle;
        middle = high;
        if (next < last) ++next;
        high = *next;
      }
      for (; run > ListQuad::longest_run; run -= ListQuad::longest_run) list(ListQuad::longest_run);
      list((1u << size | rest) << 6 | static_cast<std::uint32_t>(run));
    }
    while (listed % 4 != 0) list(0);
    return listed / 4;
  }
};

/// Functor that computes the values of listed blocks by their lanes.
template <class Target, class T, int Dim>
struct DecodeTransformLanes {
  static constexpr int threads = 128;
  static constexpr int teams = 8;  ///< teams on a multiprocessor
  static constexpr int at_once = threads / block_lanes;
  /// Shared memory of the lanes of a block.
  struct alignas(16) Shared {
    float coefficients[512];
  };
  static constexpr std::size_t shared_bytes = at_once * sizeof(Shared);

  const TransformLaneTables* lanes;
  float quantum;
  Target target;
  BlockGrid<Dim> blocks;
  std::int64_t begin, end;  ///< range of blocks
  const ListQuad* quads;
  const std::uint16_t* counts;

  /// Returns the number of teams that cover all blocks.
  std::int64_t league() const { return (end - begin + at_once - 1) / at_once; }

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Member& member) const {
    const int thread = member.team_rank(), lane = thread % block_lanes;
    const std::int64_t item =
        static_cast<std::int64_t>(member.league_rank()) * at_once + thread / block_lanes;
    Shared* const shared = team_shared<Shared[at_once]>(member)[0] + thread / block_lanes;
    if (begin + item >= end) return;
    const LaneNodes<Dim> nodes{blocks.first(begin + item), lane};
    if (!BlockGrid<Dim>::meets(target.box, nodes.first)) return;
    float values[16];
    decode(item, lane, shared->coefficients, values);
    store_lane(target, nodes, values);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void decode(std::int64_t item, int lane, float* coefficients,
                                          float* values) const {
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) values[i] = 0.0f;
    const int count = counts[item];
    if (count == 0) return;
    MOHO_UNROLL
    for (int i = 0; i < 4; ++i) {
      reinterpret_cast<ListQuad*>(coefficients)[32 * i + lane] = ListQuad{};
    }
    meet_lanes();
    const ListQuad* const from =
        quads + item / block_lanes * block_lanes * ListQuad::peak + item % block_lanes;
    int next = 0;  // coefficient
    for (int first = 0; first < count; first += block_lanes) {
      ListQuad own{};
      if (first + lane < count) own = from[(first + lane) * block_lanes];
      int taken = 0;
      MOHO_UNROLL
      for (int i = 0; i < 4; ++i) {
        taken += static_cast<int>(own.entries[i] & 63u) + (own.entries[i] > 63u ? 1 : 0);
      }
      const int up_to = next + sum_to_lane(taken, lane);
      int p = up_to - taken;
      MOHO_UNROLL
      for (int i = 0; i < 4; ++i) {
        p += static_cast<int>(own.entries[i] & 63u);
        const std::uint32_t number = own.entries[i] >> 6;
        if (number != 0) {
          const float c = static_cast<float>(number >> 1) * quantum;
          coefficients[lanes->slot[p]] = (number & 1u) != 0 ? -c : c;
          ++p;
        }
      }
      next = from_lane(up_to, block_lanes - 1);
    }
    meet_lanes();
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) values[i] = coefficients[32 * i + lane];
    TransformLanes<Dim>::back(values, lane);
  }
};

/// \brief Passes the nodes of a snapshot in the mode transform to a target.
///
/// It returns when the work is submitted.
/// \param exec instance of a device
/// \param coder with tables for decoding
/// \param lanes tables
/// \param packed the snapshot
/// \param target receives the nodes
/// \param work list_bytes() of blocks_listed_at_once() bytes
template <class T, int Dim, class Memory, class Target>
void decode_transform_by_lanes(const Instance<Memory>& exec, const TransformCoder<Dim>& coder,
                               const TransformLaneTables* lanes, const Packed<Dim, Memory>& packed,
                               const Target& target, std::uint8_t* work) {
  const BlockGrid<Dim> blocks(packed.header.box);
  const std::int64_t count = blocks.size(), at_once = blocks_listed_at_once(count);
  auto* const quads = reinterpret_cast<ListQuad*>(work);
  auto* const counts = reinterpret_cast<std::uint16_t*>(quads + at_once * ListQuad::peak);
  for (std::int64_t begin = 0; begin < count; begin += at_once) {
    const std::int64_t end = std::min(begin + at_once, count);
    const WalkTransform<Dim> walk{coder,
                                  blocks,
                                  target.box,
                                  begin,
                                  end,
                                  packed.lengths.data(),
                                  packed.offsets.data(),
                                  packed.payload.data(),
                                  quads,
                                  counts};
    launch_teams("moho::snapshot::list_numbers", exec, walk.league(), walk);
    const DecodeTransformLanes<Target, T, Dim> decode{lanes, coder.quantum, target, blocks,
                                                      begin, end,           quads,  counts};
    launch_teams("moho::snapshot::decode_blocks", exec, decode.league(), decode);
  }
}

}  // namespace moho::snapshot::detail
