// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Blocks on devices: 32 threads that run together share one, each with 16 nodes in
/// registers.
///
/// Node e of a block is in register e / 32 of lane e % 32, so that lanes read and write whole
/// pieces of memory. Loops run over 32 lanes of every block; Kokkos hands consecutive items to
/// consecutive threads, and their number is a multiple of 32, so that the lanes of a block are
/// those of a warp. Only devices run these functors: hosts have those of codec.hpp, to which tests
/// hold them.

#include <moho/rtm/codec/blocks.hpp>
#include <moho/rtm/codec/layout.hpp>
#include <moho/rtm/codec/statistics.hpp>

#include <cmath>
#include <cstdint>

namespace moho::rtm::detail {

inline constexpr int block_lanes = 32;

/// What another lane of the warp holds.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V from_lane(V value, int lane) {
#if defined(__CUDA_ARCH__)
  return __shfl_sync(0xffffffffu, value, lane);
#else
  (void)lane;
  return value;
#endif
}

/// The largest of all lanes' numbers, none of which is negative.
KOKKOS_FORCEINLINE_FUNCTION float greatest_of_lanes(float value) {
#if defined(__CUDA_ARCH__)
  MOHO_UNROLL
  for (int step = 16; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
#endif
  return value;
}

/// The nodes of a lane.
template <int Dim>
struct LaneNodes {
  Index<Dim> first;  ///< of the block
  int lane;

  /// A node of the lane.
  KOKKOS_FORCEINLINE_FUNCTION Index<Dim> node(int i) const {
    Index<Dim> result = first;
    if constexpr (Dim == 3) {
      result[0] += i / 2;
      result[1] += i % 2 * 4 + lane / 8;
      result[2] += lane % 8;
    } else {
      result[0] += i;
      result[1] += lane;
    }
    return result;
  }
};

/// Reads the 16 nodes of a lane as BlockSource::load() does.
template <class T, int Dim>
KOKKOS_FORCEINLINE_FUNCTION void load_lane(const BlockSource<T, Dim>& source,
                                           const LaneNodes<Dim>& nodes, float* values) {
  MOHO_UNROLL
  for (int i = 0; i < 16; ++i) {
    Index<Dim> node = nodes.node(i);
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t last = source.blocks.box.upper[d] - 1;
      node[d] = node[d] < source.blocks.box.lower[d] ? source.blocks.box.lower[d]
                : node[d] > last                     ? last
                                                     : node[d];
    }
    values[i] = static_cast<float>(source.field[source.layout.flat(node)] * source.up);
  }
}

/// FieldNodes for the 16 nodes of a lane.
template <class T, int Dim>
struct FieldLanes : FieldNodes<T, Dim> {
  BlockGrid<Dim> blocks;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n, FieldSums& sums) const {
    const LaneNodes<Dim> nodes{blocks.first(n / block_lanes), static_cast<int>(n % block_lanes)};
    for (int i = 0; i < 16; ++i) {
      const Index<Dim> node = nodes.node(i);
      if (!this->box.contains(node)) continue;
      std::int64_t at = 0;
      for (int d = 0; d < Dim; ++d) at = at * this->box.extent(d) + node[d] - this->box.lower[d];
      this->look(this->field[this->layout.flat(node)], at, sums);
    }
  }
};

/// The sums of a box; it waits for them.
template <class T, int Dim, class Memory>
FieldSums field_sums(const Instance<Memory>& exec, const T* field, const wave::Layout<Dim>& layout,
                     const Box<Dim>& box) {
  if constexpr (is_host_memory<Memory>) {
    const FieldRows<T, Dim> rows{{field, layout, box}};
    return reduce("moho::rtm::field_sums", exec, rows.items(), rows);
  } else {
    const FieldLanes<T, Dim> lanes{{field, layout, box}, BlockGrid<Dim>(box)};
    return reduce("moho::rtm::field_sums", exec, lanes.blocks.size() * block_lanes, lanes);
  }
}

/// FixedCoder::encode() of a block by its lanes.
template <class T, int Dim>
struct EncodeFixedLanes {
  FixedCoder coder;
  BlockSource<T, Dim> source;
  float* scales;
  std::uint8_t* blocks;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t block = n / block_lanes;
    const int lane = static_cast<int>(n % block_lanes);
    float values[16];
    load_lane(source, LaneNodes<Dim>{source.blocks.first(block), lane}, values);
    float most = 0.0f;
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) most = fmaxf(most, fabsf(values[i]));
    most = greatest_of_lanes(most);
    if (most < FixedCoder::least) most = 0.0f;
    const float scale = most > 0.0f ? static_cast<float>((1 << (coder.bits - 1)) - 1) / most : 0.0f;
    if (lane == 0) scales[block] = most;
    std::uint8_t* const to = blocks + block * coder.block_bytes();
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) {
      const auto number = static_cast<std::int32_t>(rintf(values[i] * scale));
      const int e = 32 * i + lane;
      if (coder.bits == 8) {
        reinterpret_cast<std::int8_t*>(to)[e] = static_cast<std::int8_t>(number);
      } else if (coder.bits == 16) {
        reinterpret_cast<std::int16_t*>(to)[e] = static_cast<std::int16_t>(number);
      } else {
        // eight numbers of 12 bits are three words: first pairs of 24 bits, in every other lane
        const std::uint32_t own = static_cast<std::uint32_t>(number) & 0xfffu;
        const std::uint32_t pair = own | from_lane(own, lane ^ 1) << 12;
        const int word = lane % 8;
        const std::uint32_t low = from_lane(pair, (lane & 24) + (2 * word & 7));
        const std::uint32_t high = from_lane(pair, (lane & 24) + ((2 * word + 2) & 7));
        if (word < 3) {
          reinterpret_cast<std::uint32_t*>(to)[3 * (e / 8) + word] =
              low >> 8 * word | high << (24 - 8 * word);
        }
      }
    }
  }
};

/// FixedCoder::decode() of a block by its lanes.
template <class Target, class T, int Dim>
struct DecodeFixedLanes {
  FixedCoder coder;
  Target target;
  BlockGrid<Dim> blocks;
  const float* scales;
  const std::uint8_t* payload;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t block = n / block_lanes;
    const LaneNodes<Dim> nodes{blocks.first(block), static_cast<int>(n % block_lanes)};
    if (!BlockGrid<Dim>::meets(target.box, nodes.first)) return;
    const float scale = scales[block] / static_cast<float>((1 << (coder.bits - 1)) - 1);
    const std::uint8_t* const from = payload + block * coder.block_bytes();
    std::int32_t numbers[16];
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) {
      const int e = 32 * i + nodes.lane;
      if (coder.bits == 8) {
        numbers[i] = reinterpret_cast<const std::int8_t*>(from)[e];
      } else if (coder.bits == 16) {
        numbers[i] = reinterpret_cast<const std::int16_t*>(from)[e];
      } else {
        const auto* const words = reinterpret_cast<const std::uint32_t*>(from) + 3 * (e / 8);
        const int bit = 12 * (e % 8);
        const std::uint64_t both =
            words[bit / 32] | static_cast<std::uint64_t>(words[bit < 64 ? bit / 32 + 1 : 2]) << 32;
        numbers[i] =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(both >> bit % 32) << 20) >> 20;
      }
    }
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) {
      const Index<Dim> node = nodes.node(i);
      if (target.box.contains(node)) {
        target.functor(node, static_cast<T>(static_cast<float>(numbers[i]) * scale) * target.down);
      }
    }
  }
};

}  // namespace moho::rtm::detail
