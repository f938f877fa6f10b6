// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Differences of integers on devices, with the bytes of LorenzoCoder.
///
/// The 32 threads of a warp share a block. Each has four groups of four nodes (LaneQuads).

#include <moho/snapshot/codec/detail/lanes.hpp>
#include <moho/snapshot/codec/detail/lorenzo.hpp>
#include <moho/snapshot/codec/detail/quads.hpp>
#include <moho/snapshot/codec/packed.hpp>

#include <cstdint>

namespace moho::snapshot::detail {

/// Blocks of LorenzoCoder by their lanes. Node k of group j (LaneQuads) is in register 4 j + k.
template <int Dim>
struct LorenzoLanes {
  static constexpr int quads_of_row = Dim == 3 ? 2 : 8;  ///< groups of four nodes of a row

  /// Subtracts the value of the previous lane, if `inner`.
  KOKKOS_FORCEINLINE_FUNCTION static void subtract(std::int32_t& to, std::int32_t before,
                                                   bool inner) {
    if (inner) to -= before;
  }
  /// Computes the differences along all axes.
  KOKKOS_FORCEINLINE_FUNCTION static void differences(std::int32_t* v, int lane) {
    MOHO_UNROLL
    for (int j = 0; j < 16; j += 4) {
      const std::int32_t before = from_lane(v[j + 3], (lane + 31) & 31);
      v[j + 3] -= v[j + 2];
      v[j + 2] -= v[j + 1];
      v[j + 1] -= v[j];
      subtract(v[j], before, lane % quads_of_row > 0);
    }
    MOHO_UNROLL
    for (int k = 0; k < 4; ++k) {
      if constexpr (Dim == 3) {
        MOHO_UNROLL
        for (int x = 0; x < 16; x += 8) {
          const std::int32_t before = from_lane(v[x + 4 + k], (lane + 30) & 31);
          v[x + 4 + k] -= v[x + k];
          subtract(v[x + k], before, lane % 8 > 1);
        }
        MOHO_UNROLL
        for (int y = 0; y < 8; y += 4) {
          const std::int32_t before = from_lane(v[8 + y + k], (lane + 24) & 31);
          v[8 + y + k] -= v[y + k];
          subtract(v[y + k], before, lane > 7);
        }
      } else {
        const std::int32_t before = from_lane(v[12 + k], (lane + 24) & 31);
        v[12 + k] -= v[8 + k];
        v[8 + k] -= v[4 + k];
        v[4 + k] -= v[k];
        subtract(v[k], before, lane > 7);
      }
    }
  }
  /// Returns the sum over this lane and those before it, of `Count` lanes that are `Step` apart.
  template <int Step, int Count>
  KOKKOS_FORCEINLINE_FUNCTION static std::int32_t sum_up_to(std::int32_t value, int lane) {
    const int index = lane / Step % Count;
    MOHO_UNROLL
    for (int n = 1; n < Count; n *= 2) {
      const std::int32_t before = from_lane(value, (lane + 32 - n * Step) & 31);
      if (index >= n) value += before;
    }
    return value;
  }
  /// Inverse of differences().
  KOKKOS_FORCEINLINE_FUNCTION static void sums(std::int32_t* v, int lane) {
    MOHO_UNROLL
    for (int j = 0; j < 16; j += 4) {
      v[j + 1] += v[j];
      v[j + 2] += v[j + 1];
      v[j + 3] += v[j + 2];
      const std::int32_t own = v[j + 3];
      const std::int32_t before = sum_up_to<1, quads_of_row>(own, lane) - own;
      MOHO_UNROLL
      for (int k = 0; k < 4; ++k) v[j + k] += before;
    }
    MOHO_UNROLL
    for (int k = 0; k < 4; ++k) {
      if constexpr (Dim == 3) {
        MOHO_UNROLL
        for (int x = 0; x < 16; x += 8) {
          const std::int32_t second = v[x + 4 + k];
          v[x + 4 + k] = sum_up_to<2, 4>(v[x + k] + second, lane);
          v[x + k] = v[x + 4 + k] - second;
        }
        MOHO_UNROLL
        for (int y = 0; y < 8; y += 4) {
          const std::int32_t second = v[8 + y + k];
          v[8 + y + k] = sum_up_to<8, 4>(v[y + k] + second, lane);
          v[y + k] = v[8 + y + k] - second;
        }
      } else {
        v[4 + k] += v[k];
        v[8 + k] += v[4 + k];
        v[12 + k] += v[8 + k];
        const std::int32_t own = v[12 + k];
        const std::int32_t before = sum_up_to<8, 4>(own, lane) - own;
        MOHO_UNROLL
        for (int j = 0; j < 16; j += 4) v[j + k] += before;
      }
    }
  }
};

inline constexpr int lorenzo_warps = 4;  ///< warps of a team

/// Words of a block, and room to reorder its numbers.
struct LorenzoShared {
  std::uint32_t numbers[512];
  std::uint32_t words[512];
};

/// \brief Runs a body for groups of 32 blocks, which teams of four warps share.
///
/// It calls body(first, count, warp, lane, shared) for the blocks first + warp + 4 n of a group,
/// which begins at `first` and has `count` blocks. Warps thus read and write neighbours at the same
/// time.
template <class Body>
struct LorenzoTeams {
  static constexpr int warps = lorenzo_warps;  ///< of a team
  static constexpr int threads = warps * block_lanes;
  static constexpr int teams = Body::warps / warps;  ///< teams on a multiprocessor
  static constexpr std::size_t shared_bytes = warps * sizeof(LorenzoShared);
  Body body;
  std::int64_t blocks;

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Member& member) const {
    LorenzoShared* const shared = team_shared<LorenzoShared[warps]>(member)[0];
    const int thread = member.team_rank(), warp = thread / block_lanes;
    const std::int64_t first = static_cast<std::int64_t>(member.league_rank()) * 32;
    const int count = static_cast<int>(first + 32 < blocks ? 32 : blocks - first);
    if (warp < count) body(first, count, warp, thread % block_lanes, shared[warp]);
  }
};

/// Launches LorenzoTeams.
template <class Memory, class Body>
void launch_lorenzo(const char* label, const Instance<Memory>& exec, std::int64_t blocks,
                    const Body& body) {
  launch_teams(label, exec, (blocks + 31) / 32, LorenzoTeams<Body>{body, blocks});
}

/// Places in LorenzoShared::numbers of four stored differences of a lane.
struct alignas(8) FourPlaces {
  std::uint16_t at[4];
};

/// Returns the places of differences 128 turn + 32 i + lane, i from 0 to 3.
KOKKOS_FORCEINLINE_FUNCTION FourPlaces indices_of(const LorenzoTables& tables, int turn, int lane) {
  return *reinterpret_cast<const FourPlaces*>(tables.banks + 128 * turn + 4 * lane);
}

/// What EncodeLorenzoLanes finds.
struct LorenzoFindings {
  std::uint64_t words;  ///< words taken from the store
  std::uint32_t max;    ///< bits of the largest amplitude
  std::uint32_t wrong;  ///< not zero if a value is not finite, or far beyond the expected one
  std::int64_t bytes;   ///< sum of the lengths of all blocks
};

/// \brief LorenzoCoder::encode() of blocks by their lanes.
///
/// Blocks are written anywhere in a store, in which warps reserve room for several blocks.
template <class T, int Dim>
struct EncodeLorenzoLanes {
  static constexpr int warps = 32;  ///< on a multiprocessor
  static constexpr int words_at_once = 256;
  const LorenzoTables* tables;
  QuadSource<T, Dim> source;
  BlockGrid<Dim> blocks;
  T up;                   ///< factor of values
  float inverse_quantum;  ///< second factor
  std::uint32_t* store;
  std::uint64_t capacity;   ///< words of the store
  std::uint16_t* lengths;   ///< bytes of every block
  std::int64_t* positions;  ///< first word of every block in the store
  LorenzoFindings* findings;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t first, int count, int warp, int lane,
                                         LorenzoShared& shared) const {
    int quads[4];
    MOHO_UNROLL
    for (int j = 0; j < 4; ++j) {
      quads[j] = LorenzoTables::bank<Dim>(LaneQuads<Dim>::element(lane, j));
    }
    BlockWalk<Dim> block(blocks, first + warp);
    T peak = T(0);
    std::uint32_t wrong = 0;
    std::uint64_t next = 0;
    int left = 0;
    int bytes = 0;              // of the block that has the number of the lane
    std::int64_t position = 0;  // the same
    MOHO_NO_UNROLL
    for (int n = warp; n < count; n += lorenzo_warps, block.advance(lorenzo_warps)) {
      std::int32_t v[16];
      T values[16];
      source.load(block.node, lane, values);
      const std::uint32_t any = integers(values, v, peak);
      wrong |= any >> 23;
      if (any_of_lanes(any) == 0) continue;
      LorenzoLanes<Dim>::differences(v, lane);
      if (lane == 0) v[0] -= static_cast<std::int32_t>(zero);  // it is part of the corner alone
      MOHO_UNROLL
      for (int j = 0; j < 4; ++j) {
        *reinterpret_cast<kernel::Pack4<std::uint32_t>*>(shared.numbers + quads[j]) = {
            {folded(v[4 * j]), folded(v[4 * j + 1]), folded(v[4 * j + 2]), folded(v[4 * j + 3])}};
      }
      meet_lanes();
      const auto [from, words] = pack(lane, shared);
      meet_lanes();
      if (words > left) {
        left = words > words_at_once ? words : words_at_once;
        std::uint64_t found = 0;
        if (lane == 0) {
          found = Kokkos::atomic_fetch_add(&findings->words, static_cast<std::uint64_t>(left));
        }
        next = from_lane(found, 0);
      }
      if (next + words <= capacity) {
        std::uint32_t* const to = store + next;
        MOHO_NO_UNROLL
        for (int k = lane; k < words; k += block_lanes) to[k] = shared.words[from + k];
      }
      if (lane == n) {
        bytes = 4 * words;
        position = static_cast<std::int64_t>(next);
      }
      next += words;
      left -= words;
    }
    if (lane % lorenzo_warps == warp && lane < count) {
      lengths[first + lane] = static_cast<std::uint16_t>(bytes);
      positions[first + lane] = position;
    }
    const std::uint32_t max = max_of_lanes(bits_of(static_cast<float>(peak)));
    wrong = any_of_lanes(wrong);
    if (lane == 0) {
      if (max > findings->max) Kokkos::atomic_fetch_max(&findings->max, max);
      if (wrong != 0) findings->wrong = 1;
    }
  }

 private:
  static constexpr int longest_number = 27;
  static constexpr std::uint32_t zero = 0x4b400000u;  ///< bits of 1.5 2^23
  /// Part of LorenzoShared::words.
  struct Part {
    int from, words;
  };

  /// \brief Writes the numbers in stored order as the words of a block.
  KOKKOS_FORCEINLINE_FUNCTION Part pack(int lane, LorenzoShared& shared) const {
    int at = 5, longest = 0;
    std::uint32_t own = 0;  // length of group `lane`
    std::uint32_t corner = 0;
    MOHO_NO_UNROLL
    for (int turn = 0; turn < 4; ++turn) {
      const FourPlaces indices = indices_of(*tables, turn, lane);
      std::uint32_t number[4];
      int length[4];
      MOHO_UNROLL
      for (int i = 0; i < 4; ++i) number[i] = shared.numbers[indices.at[i]];
      if (turn == 0 && lane == 0) {
        corner = number[0];
        number[0] = 0;
      }
      MOHO_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int width = bit_width(any_of_lanes(number[i]));
        length[i] = width < longest_number ? width : longest_number;
        longest = length[i] > longest ? length[i] : longest;
        if (lane == 4 * turn + i) own = static_cast<std::uint32_t>(length[i]);
      }
      MOHO_UNROLL
      for (int i = 0; i < 4; ++i) {
        std::uint32_t rest = number[i];
        std::uint32_t* const to = shared.words + at;
        MOHO_NO_UNROLL
        for (int b = 0; b < length[i]; b += 2) {
          const std::uint32_t low = votes_of_lanes((rest & 1u) != 0);
          const std::uint32_t high = votes_of_lanes((rest & 2u) != 0);
          rest >>= 2;
          if (lane == 0) {
            to[b] = low;
            to[b + 1] = high;  // the next group replaces it if it is one too many
          }
        }
        at += length[i];
      }
    }
    // lengths of 4 or 8 bits, eight or four in a word
    const bool wide = longest >= 16;
    const int per = wide ? 4 : 8, from = wide ? 0 : 2;
    own <<= lane % per * (32 / per);
    own |= from_lane(own, lane ^ 1);
    own |= from_lane(own, lane ^ 2);
    if (!wide) own |= from_lane(own, lane ^ 4);
    if (lane == 0) shared.words[from] = corner | (wide ? 0x80000000u : 0u);
    if (lane < 16 && lane % per == 0) shared.words[from + 1 + lane / per] = own;
    return {from, at - from};
  }
  /// \brief Rounds the values of a lane. Adding 1.5 2^23 rounds to integers, in the low bits.
  /// \return the bits in which any of them, or the exponent of such a sum, differs from 0
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t integers(const T* values, std::int32_t* v,
                                                     T& peak) const {
    constexpr float rounding = 12582912.0f;
    std::uint32_t any = 0;
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) {
      peak = larger_size(peak, values[i]);
      const auto scaled = static_cast<float>(values[i] * up);
      const std::uint32_t bits = bits_of(rounded_sum(scaled, inverse_quantum, rounding));
      any |= bits ^ zero;
      v[i] = static_cast<std::int32_t>(bits);
    }
    return any;
  }
};

/// LorenzoCoder::decode() of blocks by their lanes.
template <class Target, class T, int Dim>
struct DecodeLorenzoLanes {
  static constexpr int warps = 28;  ///< on a multiprocessor
  const LorenzoTables* tables;
  QuadTarget<Target, Dim> target;
  BlockGrid<Dim> blocks;
  float quantum;
  const std::uint16_t* lengths;
  const std::int64_t* offsets;
  const std::uint8_t* payload;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t first, int count, int warp, int lane,
                                         LorenzoShared& shared) const {
    constexpr std::int64_t group = Packed<Dim, Kokkos::HostSpace>::group;
    static_assert(group == block_lanes);
    int quads[4];
    MOHO_UNROLL
    for (int j = 0; j < 4; ++j) {
      quads[j] = LorenzoTables::bank<Dim>(LaneQuads<Dim>::element(lane, j));
    }
    BlockWalk<Dim> block(blocks, first + warp);
    const int bytes = lane < count ? lengths[first + lane] : 0;
    const int lane_offset = LorenzoLanes<Dim>::template sum_up_to<1, 32>(bytes, lane) - bytes;
    const auto* const payload_words =
        reinterpret_cast<const std::uint32_t*>(payload + offsets[first / group]);
    // words of the next block are read while the present one is decoded
    const std::uint32_t* from = payload_words + from_lane(lane_offset, warp) / 4;
    int words = from_lane(bytes, warp) / 4;
    std::uint32_t ahead[2];
    read(from, words, lane, ahead);
    MOHO_NO_UNROLL
    for (int n = warp; n < count; n += lorenzo_warps, block.advance(lorenzo_warps)) {
      const int present = words;
      if (present > 0) {
        shared.words[lane] = ahead[0];
        shared.words[32 + lane] = ahead[1];
        MOHO_NO_UNROLL
        for (int k = 64 + lane; k < present && k < 512; k += 32) shared.words[k] = from[k];
      }
      if (n + lorenzo_warps < count) {
        from = payload_words + from_lane(lane_offset, n + lorenzo_warps) / 4;
        words = from_lane(bytes, n + lorenzo_warps) / 4;
        read(from, words, lane, ahead);
      }
      if (!target.box.meets(block.node)) continue;
      float values[16];
      MOHO_UNROLL
      for (int i = 0; i < 16; ++i) values[i] = 0.0f;
      if (any_of_lanes(present) > 0) {
        meet_lanes();
        unpack(lane, shared);
        meet_lanes();
        std::int32_t v[16];
        MOHO_UNROLL
        for (int j = 0; j < 4; ++j) {
          const auto pack =
              *reinterpret_cast<const kernel::Pack4<std::uint32_t>*>(shared.numbers + quads[j]);
          MOHO_UNROLL
          for (int k = 0; k < 4; ++k) v[4 * j + k] = unfolded(pack.at[k]);
        }
        LorenzoLanes<Dim>::sums(v, lane);
        MOHO_UNROLL
        for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(v[i]) * quantum;
        meet_lanes();
      }
      target.store(block.node, lane, values);
    }
  }

 private:
  /// Reads the first 64 words of a block.
  KOKKOS_FORCEINLINE_FUNCTION static void read(const std::uint32_t* from, int words, int lane,
                                               std::uint32_t* to) {
    MOHO_UNROLL
    for (int n = 0; n < 2; ++n) to[n] = lane + 32 * n < words ? from[lane + 32 * n] : 0u;
  }
  /// Writes the differences of a block from its words.
  KOKKOS_FORCEINLINE_FUNCTION void unpack(int lane, LorenzoShared& shared) const {
    // numbers that are the same in all lanes: loops end for all lanes together
    const std::uint32_t corner = any_of_lanes(shared.words[0]);
    const bool wide = corner >> 31 != 0;
    int next = wide ? 5 : 3;
    MOHO_NO_UNROLL
    for (int turn = 0; turn < 4; ++turn) {
      const FourPlaces indices = indices_of(*tables, turn, lane);
      const std::uint32_t packed =
          any_of_lanes(shared.words[1 + (wide ? turn : turn / 2)]) >> (wide ? 0 : turn % 2 * 16);
      MOHO_UNROLL
      for (int i = 0; i < 4; ++i) {
        const auto length = static_cast<int>(wide ? packed >> 8 * i & 31u : packed >> 4 * i & 15u);
        std::uint32_t number = 0;
        const std::uint32_t* const from = shared.words + next;
        int b = length;
        if (length % 2 != 0) number = from[--b] >> lane & 1u;
        MOHO_NO_UNROLL
        for (; b > 0; b -= 2) {
          const std::uint32_t high = from[b - 1], low = from[b - 2];
          number = append_bit(number, high << (31 - lane));
          number = append_bit(number, low << (31 - lane));
        }
        next += length;
        if (i == 0 && turn == 0 && lane == 0) number = corner & 0x7fffffffu;
        shared.numbers[indices.at[i]] = number;
      }
    }
  }
};

}  // namespace moho::snapshot::detail
