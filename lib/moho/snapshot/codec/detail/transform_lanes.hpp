// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Cosine transform on devices: the 32 threads of a warp share a block, as in lanes.hpp.
///
/// Device and host (TransformCoder) read each other's bytes.
///
/// Encoding: axes are transformed within lanes, which exchange halves of their 16 registers between
/// one axis and the next. The integers are brought into coding order through team scratch, and the
/// nonzero ones are listed. Each lane codes one of 32 of them. Its run is the distance to the
/// previous one; its bit offset is the sum of the lengths before.
///
/// Decoding is in transform_lists.hpp.

#include <moho/core/instance.hpp>
#include <moho/snapshot/codec/detail/lanes.hpp>
#include <moho/snapshot/codec/detail/lorenzo_lanes.hpp>
#include <moho/snapshot/codec/detail/transform.hpp>

#include <cstddef>
#include <cstdint>

namespace moho::snapshot::detail {

/// Returns the inclusive prefix sum over the lanes.
KOKKOS_FORCEINLINE_FUNCTION int sum_to_lane(int value, int lane) {
#if defined(__CUDA_ARCH__)
  MOHO_UNROLL
  for (int step = 1; step < block_lanes; step *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, value, step);
    if (lane >= step) value += before;
  }
#else
  (void)lane;
#endif
  return value;
}

/// Sets bits of a word that lanes share.
KOKKOS_FORCEINLINE_FUNCTION void set_shared_bits(std::uint32_t* word, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  atomicOr(word, bits);
#else
  *word |= bits;
#endif
}

/// \brief Transform by lanes.
///
/// Nodes are in the registers of LaneNodes; coefficients are at coefficient().
template <int Dim>
struct TransformLanes {
  /// Returns the index in a block of the coefficient in a register of a lane.
  static constexpr int coefficient(int i, int lane) {
    if constexpr (Dim == 3) {
      const int x = (i >> 1 & 1) + 2 * (i >> 2 & 1) + 4 * (i & 1);
      return 64 * (lane / 8 + 4 * (i / 8)) + 8 * (lane % 8) + x;
    } else {
      return 32 * (lane % 8 + 8 * (i / 8)) + i % 8 + 8 * (lane / 8);
    }
  }
  /// Returns register k of 8 along an axis, the first one or another, in one of two halves.
  template <bool First>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int index(int k, int half) {
    if constexpr (Dim == 2) {
      return k + 8 * half;
    } else if constexpr (First) {
      return 2 * k + half;
    } else {
      return (k >> 2) + 2 * (k & 1) + 4 * (k >> 1 & 1) + 8 * half;
    }
  }
  /// Transforms one axis, whose values are in registers.
  template <bool First, bool Inverse>
  KOKKOS_FORCEINLINE_FUNCTION static void axis(float* v) {
    MOHO_UNROLL
    for (int half = 0; half < 2; ++half) {
      float from[8], to[8];
      MOHO_UNROLL
      for (int k = 0; k < 8; ++k) from[k] = v[index<First>(k, half)];
      if constexpr (Inverse) {
        inverse8<1>(from, to);
      } else {
        forward8<1>(from, to);
      }
      MOHO_UNROLL
      for (int k = 0; k < 8; ++k) v[index<First>(k, half)] = to[k];
    }
  }
  /// Exchanges a bit of the register index with a bit of the lane index.
  template <int LaneBit, int RegisterBit>
  KOKKOS_FORCEINLINE_FUNCTION static void exchange(float* v, int lane) {
    const bool upper = (lane >> LaneBit & 1) != 0;
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) {
      constexpr int other = 1 << RegisterBit;
      if ((i & other) != 0) continue;
      const float a = v[i], b = v[i | other];
#if defined(__CUDA_ARCH__)
      const float got = __shfl_xor_sync(0xffffffffu, upper ? a : b, 1 << LaneBit);
#else
      const float got = upper ? a : b;
#endif
      v[i] = upper ? got : a;
      v[i | other] = upper ? b : got;
    }
  }
  /// Transforms nodes to coefficients.
  KOKKOS_FORCEINLINE_FUNCTION static void forward(float* v, int lane) {
    axis<true, false>(v);
    if constexpr (Dim == 3) {
      exchange<3, 1>(v, lane);
      exchange<4, 2>(v, lane);
      axis<false, false>(v);
      exchange<0, 1>(v, lane);
      exchange<1, 2>(v, lane);
      exchange<2, 0>(v, lane);
    } else {
      exchange<0, 0>(v, lane);
      exchange<1, 1>(v, lane);
      exchange<2, 2>(v, lane);
    }
    axis<false, false>(v);
  }
  /// Transforms coefficients to nodes.
  KOKKOS_FORCEINLINE_FUNCTION static void back(float* v, int lane) {
    axis<false, true>(v);
    if constexpr (Dim == 3) {
      exchange<2, 0>(v, lane);
      exchange<1, 2>(v, lane);
      exchange<0, 1>(v, lane);
      axis<false, true>(v);
      exchange<4, 2>(v, lane);
      exchange<3, 1>(v, lane);
    } else {
      exchange<2, 2>(v, lane);
      exchange<1, 1>(v, lane);
      exchange<0, 0>(v, lane);
    }
    axis<true, true>(v);
  }
};

/// Positions of the coefficients in lanes.
struct TransformLaneTables {
  std::uint16_t index[512];  ///< [16 lane + i]: coding order of the coefficient in register i
  std::uint16_t slot[512];   ///< of the p-th coefficient: 32 i + lane

  /// Returns the tables of 2D or 3D.
  template <int Dim>
  static TransformLaneTables make() {
    TransformLaneTables tables{};
    const TransformTables order = TransformTables::make<Dim>();
    std::uint16_t index_of[512];
    for (int p = 0; p < 512; ++p) index_of[order.order[p]] = static_cast<std::uint16_t>(p);
    for (int lane = 0; lane < block_lanes; ++lane) {
      for (int i = 0; i < 16; ++i) {
        const int p = index_of[TransformLanes<Dim>::coefficient(i, lane)];
        tables.index[16 * lane + i] = static_cast<std::uint16_t>(p);
        tables.slot[p] = static_cast<std::uint16_t>(32 * i + lane);
      }
    }
    return tables;
  }
};

/// \brief Nonzero numbers of a block in coding order, in memory that lanes share.
struct NumberList {
  static constexpr int end = 512;  ///< position of the symbol after the last number

  std::int32_t numbers[512];   ///< in coding order
  std::uint16_t indices[520];  ///< positions of the nonzero numbers, and `end` if zeros follow

  /// \brief Makes the list of numbers that lanes hold as coefficients; at least one is nonzero.
  /// \return its length, including `end`
  KOKKOS_FORCEINLINE_FUNCTION int make(const TransformLaneTables* tables, const std::int32_t* own,
                                       int lane) {
    const auto* const index = reinterpret_cast<const Places*>(tables->index) + 2 * lane;
    MOHO_UNROLL
    for (int part = 0; part < 2; ++part) {
      const Places at = index[part];
      MOHO_UNROLL
      for (int i = 0; i < 8; ++i) numbers[at.p[i]] = own[8 * part + i];
    }
    meet_lanes();
    const std::uint32_t before = (1u << lane) - 1u;
    int count = 0, next = 0;
    MOHO_UNROLL
    for (int g = 0; g < 16; ++g) {
      const bool used = numbers[32 * g + lane] != 0;
      const std::uint32_t all = votes_of_lanes(used);
      if (used) indices[count + ones(all & before)] = static_cast<std::uint16_t>(32 * g + lane);
      count += ones(all);
      if (all != 0) next = 32 * g + bit_width(all);
    }
    if (next < 512) {
      if (lane == 0) indices[count] = end;
      ++count;
    }
    meet_lanes();
    return count;
  }
  /// Computes symbol j: its band, its run of zeros, and its number, which is 0 for the end.
  KOKKOS_FORCEINLINE_FUNCTION void symbol(const TransformTables* tables, int j, int& band, int& run,
                                          std::int32_t& number) const {
    const int p = indices[j];
    const int next = j > 0 ? indices[j - 1] + 1 : 0;
    band = tables->band[next];
    run = p - next;
    number = p < end ? numbers[p] : 0;
  }
  /// Returns the number of set bits.
  KOKKOS_FORCEINLINE_FUNCTION static int ones(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __popc(bits);
#else
    return __builtin_popcount(bits);
#endif
  }

 private:
  struct alignas(16) Places {
    std::uint16_t p[8];
  };
};

/// Quantises the coefficients of a lane. \return whether any lane has a nonzero integer
template <int Dim>
KOKKOS_FORCEINLINE_FUNCTION bool quantise_lane(const TransformCoder<Dim>& coder,
                                               const float* values, std::int32_t* numbers) {
  std::int32_t any = 0;
  MOHO_UNROLL
  for (int i = 0; i < 16; ++i) {
    const float scaled = values[i] * coder.inverse_quantum;
    const auto n = static_cast<std::int32_t>(fabsf(scaled) + TransformCoder<Dim>::rounding);
    any |= n;
    numbers[i] = scaled < 0.0f ? -n : n;
  }
  return votes_of_lanes(any != 0) != 0;
}

/// TransformCoder::encode() of blocks by their lanes, into slots.
template <class T, int Dim>
struct EncodeTransformLanes {
  static constexpr int threads = 128;
  static constexpr int teams = 8;  ///< teams on a multiprocessor
  static constexpr int blocks = threads / block_lanes;
  /// Shared memory of the lanes of a block.
  struct Shared {
    NumberList list;
    std::uint32_t words[64];  ///< bits that are not yet written: at most 31 + 32 * 50
  };
  static constexpr std::size_t shared_bytes = blocks * sizeof(Shared);

  TransformCoder<Dim> coder;
  const TransformLaneTables* lanes;
  BlockSource<T, Dim> source;
  std::int64_t begin;  ///< the first block
  std::int64_t count;  ///< number of blocks
  std::uint8_t* slots;
  std::uint16_t* lengths;
  std::int32_t* item_bytes;

  /// Returns the number of teams that cover all blocks.
  std::int64_t league() const { return (count + blocks - 1) / blocks; }

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Member& member) const {
    const int thread = member.team_rank(), lane = thread % block_lanes;
    const std::int64_t item =
        static_cast<std::int64_t>(member.league_rank()) * blocks + thread / block_lanes;
    Shared* const shared = team_shared<Shared[blocks]>(member)[0] + thread / block_lanes;
    if (item >= count) return;
    const int bytes =
        encode(begin + item, lane, *shared,
               reinterpret_cast<std::uint32_t*>(slots + item * TransformCoder<Dim>::max_bytes));
    if (lane == 0) {
      lengths[begin + item] = static_cast<std::uint16_t>(bytes);
      item_bytes[item] = bytes;
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION int encode(std::int64_t block, int lane, Shared& shared,
                                         std::uint32_t* to) const {
    float values[16];
    load_lane(source, LaneNodes<Dim>{source.blocks.first(block), lane}, values);
    bool any = false;
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) any = any || values[i] != 0.0f;
    if (votes_of_lanes(any) == 0) return 0;
    TransformLanes<Dim>::forward(values, lane);
    std::int32_t numbers[16];
    if (!quantise_lane(coder, values, numbers)) return 0;
    const int symbols_of_block = shared.list.make(lanes, numbers, lane);
    shared.words[lane] = 0;
    shared.words[lane + 32] = 0;
    meet_lanes();
    int held = 0;     // bits in the first word
    int written = 0;  // words
    for (int first = 0; first < symbols_of_block; first += block_lanes) {
      int length = 0;
      std::uint64_t bits = 0;
      if (first + lane < symbols_of_block) symbol(shared.list, first + lane, bits, length);
      const int up_to = held + sum_to_lane(length, lane);
      const int at = up_to - length, shift = at & 31;
      std::uint32_t* const word = shared.words + (at >> 5);
      const auto low = static_cast<std::uint32_t>(bits << shift);
      const auto middle = static_cast<std::uint32_t>(bits << shift >> 32);
      const auto high = shift > 0 ? static_cast<std::uint32_t>(bits >> (64 - shift)) : 0u;
      if (low != 0) set_shared_bits(word, low);
      if (middle != 0) set_shared_bits(word + 1, middle);
      if (high != 0) set_shared_bits(word + 2, high);
      meet_lanes();
      const int end = from_lane(up_to, block_lanes - 1);
      const int whole = end >> 5;
      for (int w = lane; w < whole; w += block_lanes) to[written + w] = shared.words[w];
      const std::uint32_t rest = shared.words[whole];
      meet_lanes();
      shared.words[lane] = lane == 0 ? rest : 0u;
      shared.words[lane + 32] = 0;
      meet_lanes();
      written += whole;
      held = end & 31;
    }
    if (held > 0 && lane == 0) to[written] = shared.words[0];
    return 4 * written + (held + 7) / 8;
  }
  /// Computes the bits of a symbol and of its number, at most 50.
  KOKKOS_FORCEINLINE_FUNCTION void symbol(const NumberList& list, int j, std::uint64_t& bits,
                                          int& length) const {
    const TransformTables* const tables = coder.tables;
    int band = 0, run = 0;
    std::int32_t number = 0;
    list.symbol(tables, j, band, run, number);
    const std::uint32_t* const codes = coder.codes + band * symbols;
    const auto magnitude = static_cast<std::uint32_t>(number < 0 ? -number : number);
    const int size = bit_width(magnitude);
    if (size == 0) {
      const std::uint32_t code = codes[TransformTables::end_of_block];
      bits = code & 0xffffu;
      length = static_cast<int>(code >> 16);
      return;
    }
    const int c = tables->run_class[run];
    const std::uint32_t code = size < 16 ? codes[c * 16 + size] : 0u;
    if (code != 0) {
      length = static_cast<int>(code >> 16);
      bits = (code & 0xffffu) | static_cast<std::uint32_t>(run - tables->run_base[c]) << length;
      length += tables->run_bits[c];
    } else {
      const std::uint32_t escape = codes[TransformTables::escape];
      length = static_cast<int>(escape >> 16);
      bits = (escape & 0xffffu) |
             (static_cast<std::uint32_t>(run) | static_cast<std::uint32_t>(size) << 9) << length;
      length += 14;
    }
    const std::uint32_t rest =
        (magnitude - (1u << (size - 1))) << 1 | static_cast<std::uint32_t>(number < 0);
    bits |= static_cast<std::uint64_t>(rest) << length;
    length += size;
  }
};

}  // namespace moho::snapshot::detail
