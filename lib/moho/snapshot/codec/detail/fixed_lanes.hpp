// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Blocks of a fixed number of bits on devices.
///
/// The 32 threads of a warp share four consecutive blocks along the last axis (in 2D one). Each has
/// groups of four neighbouring nodes in registers, so that a row is read and written in pieces of
/// 128 bytes.

#include <moho/core/instances.hpp>
#include <moho/core/launch.hpp>
#include <moho/snapshot/codec/detail/blocks.hpp>
#include <moho/snapshot/codec/detail/lanes.hpp>
#include <moho/snapshot/codec/detail/layout.hpp>
#include <moho/snapshot/correlation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace moho::snapshot::detail {

/// Groups of four nodes ("quads") of a lane.
template <int Dim>
struct LanePacks {
  static constexpr int count = Dim == 3 ? 16 : 4;  ///< quads of a lane
  static constexpr int blocks = Dim == 3 ? 4 : 1;  ///< blocks that lanes share, along the last axis
  static constexpr int across = 8;                 ///< lanes along the last axis

  Index<Dim> first;    ///< node of quad 0
  Index<Dim> corner;   ///< first node of the first of the blocks
  std::int64_t block;  ///< block of the lane, if it exists
  int lane;
  bool valid;  ///< false for lanes beyond the last block of a row of blocks

  /// Returns the threads for all blocks of a grid.
  static std::int64_t threads(const BlockGrid<Dim>& grid) {
    std::int64_t n = (grid.count[Dim - 1] + blocks - 1) / blocks * block_lanes;
    for (int d = 0; d < Dim - 1; ++d) n *= grid.count[d];
    return n;
  }
  /// Constructs the quads of thread n.
  KOKKOS_FORCEINLINE_FUNCTION LanePacks(const BlockGrid<Dim>& grid, std::int64_t n)
      : lane(static_cast<int>(n % block_lanes)) {
    const auto along = static_cast<std::uint32_t>((grid.count[Dim - 1] + blocks - 1) / blocks);
    auto rest = static_cast<std::uint32_t>(n / block_lanes);
    const auto last = static_cast<std::int64_t>(rest % along) * blocks;
    rest /= along;
    corner[Dim - 1] = grid.begin[Dim - 1] + last * BlockGrid<Dim>::side(Dim - 1);
    block = 0;
    if constexpr (Dim == 3) {
      const auto rows = static_cast<std::uint32_t>(grid.count[1]);
      corner[0] = grid.begin[0] + static_cast<std::int64_t>(rest / rows) * 8;
      corner[1] = grid.begin[1] + static_cast<std::int64_t>(rest % rows) * 8;
    } else {
      corner[0] = grid.begin[0] + static_cast<std::int64_t>(rest) * 16;
    }
    const std::int64_t own = last + (Dim == 3 ? lane % across / 2 : 0);
    valid = own < grid.count[Dim - 1];
    block = static_cast<std::int64_t>(rest) * grid.count[Dim - 1] + own;
    first = corner;
    first[Dim - 1] += lane % across * 4;
    first[Dim - 2] += (Dim == 3 ? 2 : 1) * (lane / across);
  }
  /// Returns the nodes from quad 0 to quad i along an axis other than the last.
  KOKKOS_FORCEINLINE_FUNCTION static int step(int i, int axis) {
    return Dim == 3 ? (axis == 0 ? i / 2 : i % 2) : 4 * i;
  }
  /// Returns the elements from quad 0 to quad i in an array with these strides.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t offset(const Index<Dim>& strides, int i) {
    std::int64_t sum = 0;
    for (int d = 0; d < Dim - 1; ++d) sum += step(i, d) * strides[d];
    return sum;
  }
  /// Returns the first node of quad i.
  KOKKOS_FORCEINLINE_FUNCTION Index<Dim> node(int i) const {
    Index<Dim> result = first;
    for (int d = 0; d < Dim - 1; ++d) result[d] += step(i, d);
    return result;
  }
  /// Returns the first element of quad i in its block.
  KOKKOS_FORCEINLINE_FUNCTION int element(int i) const {
    return Dim == 3 ? 64 * (i / 2) + 8 * (lane / across * 2 + i % 2) + lane % 2 * 4
                    : 32 * (4 * i + lane / across) + lane % across * 4;
  }
  /// Returns true if all quads of the lane are in a box.
  KOKKOS_FORCEINLINE_FUNCTION bool inside(const Box<Dim>& box) const {
    bool result = first[Dim - 1] >= box.lower[Dim - 1] && first[Dim - 1] + 4 <= box.upper[Dim - 1];
    for (int d = 0; d < Dim - 1; ++d) {
      result = result && corner[d] >= box.lower[d] &&
               corner[d] + BlockGrid<Dim>::side(d) <= box.upper[d];
    }
    return result;
  }
  /// Returns the maximum of a number over the lanes that share the lane's block.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t largest(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
    MOHO_UNROLL
    for (int step = 16; step > 0; step /= 2) {
      if (Dim == 3 && (step == 2 || step == 4)) continue;
      const std::uint32_t other = __shfl_xor_sync(0xffffffffu, value, step);
      value = other > value ? other : value;
    }
#endif
    return value;
  }
};

/// Two words that are read or written in one access.
struct alignas(8) Pair {
  std::uint32_t low, high;
};

/// FixedCoder::encode() of blocks by their lanes.
template <class T, int Dim>
struct EncodeFixedLanes {
  FixedCoder coder;
  BlockSource<T, Dim> source;
  float min;  ///< magnitude below which a block is zero
  float* scales;
  std::uint8_t* blocks;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    using Quads = LanePacks<Dim>;
    const Quads quads(source.blocks, n);
    float values[Quads::count][4];
    load(quads, values);
    std::uint32_t bits_of_peak = 0;
    MOHO_UNROLL
    for (int i = 0; i < Quads::count; ++i) {
      MOHO_UNROLL
      for (int k = 0; k < 4; ++k) {
        std::uint32_t size;
        memcpy(&size, &values[i][k], 4);
        size &= 0x7fffffffu;
        bits_of_peak = size > bits_of_peak ? size : bits_of_peak;
      }
    }
    bits_of_peak = Quads::largest(bits_of_peak);
    float peak;
    memcpy(&peak, &bits_of_peak, 4);
    if (peak < min) peak = 0.0f;  // NaN passes this test
    const float scale = peak > 0.0f ? static_cast<float>((1 << (coder.bits - 1)) - 1) / peak : 0.0f;
    if (quads.valid && quads.element(0) % BlockGrid<Dim>::nodes == 0) scales[quads.block] = peak;
    std::uint8_t* const to = blocks + quads.block * coder.block_bytes();
    if (coder.bits == 12) return pack_12(quads, values, scale, to);
    if (!quads.valid) return;
    if (coder.bits == 8) {
      MOHO_UNROLL
      for (int i = 0; i < Quads::count; ++i) {
        std::uint32_t word = 0;
        MOHO_UNROLL
        for (int k = 0; k < 4; ++k) word |= (number(values[i][k], scale) & 0xffu) << 8 * k;
        *reinterpret_cast<std::uint32_t*>(to + quads.element(i)) = word;
      }
    } else {
      MOHO_UNROLL
      for (int i = 0; i < Quads::count; ++i) {
        const float* const v = values[i];
        *reinterpret_cast<Pair*>(to + 2 * quads.element(i)) =
            Pair{(number(v[0], scale) & 0xffffu) | number(v[1], scale) << 16,
                 (number(v[2], scale) & 0xffffu) | number(v[3], scale) << 16};
      }
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t number(float value, float scale) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(rintf(value * scale)));
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(const LanePacks<Dim>& quads,
                                        float (&values)[LanePacks<Dim>::count][4]) const {
    const Box<Dim>& box = source.blocks.box;
    if (quads.inside(box)) {
      const T* const from = source.field + source.layout.flat(quads.first);
      MOHO_UNROLL
      for (int i = 0; i < quads.count; ++i) {
        const kernel::Pack4<T> four =
            kernel::load_pack(from + quads.offset(source.layout.strides, i));
        MOHO_UNROLL
        for (int k = 0; k < 4; ++k) values[i][k] = static_cast<float>(four.at[k] * source.up);
      }
      return;
    }
    MOHO_UNROLL
    for (int i = 0; i < quads.count; ++i) {
      MOHO_UNROLL
      for (int k = 0; k < 4; ++k) {
        Index<Dim> node = quads.node(i);
        node[Dim - 1] += k;
        for (int d = 0; d < Dim; ++d) {
          const std::int64_t last = box.upper[d] - 1;
          node[d] = node[d] < box.lower[d] ? box.lower[d] : node[d] > last ? last : node[d];
        }
        values[i][k] = static_cast<float>(source.field[source.layout.flat(node)] * source.up);
      }
    }
  }
  /// Packs numbers of 12 bits.
  ///
  /// Two neighbours exchange halves of two rows of eight and write one row each.
  KOKKOS_FORCEINLINE_FUNCTION static void pack_12(const LanePacks<Dim>& quads,
                                                  const float (&values)[LanePacks<Dim>::count][4],
                                                  float scale, std::uint8_t* to) {
    const bool odd = quads.lane % 2 == 1;
    MOHO_UNROLL
    for (int i = 0; i < quads.count; i += 2) {
      std::uint32_t low[2], high[2];
      MOHO_UNROLL
      for (int h = 0; h < 2; ++h) {
        std::uint32_t q[4];
        MOHO_UNROLL
        for (int k = 0; k < 4; ++k) q[k] = number(values[i + h][k], scale) & 0xfffu;
        low[h] = q[0] | q[1] << 12 | q[2] << 24;
        high[h] = q[2] >> 8 | q[3] << 4;
      }
      const std::uint32_t other_low = from_lane(odd ? low[0] : low[1], quads.lane ^ 1);
      const std::uint32_t other_high = from_lane(odd ? high[0] : high[1], quads.lane ^ 1);
      const std::uint32_t a = odd ? other_low : low[0], a_high = odd ? other_high : high[0];
      const std::uint32_t b = odd ? low[1] : other_low, b_high = odd ? high[1] : other_high;
      if (!quads.valid) continue;
      const int row = odd ? quads.element(i + 1) / 8 : quads.element(i) / 8;
      auto* const words = reinterpret_cast<std::uint32_t*>(to) + 3 * row;
      words[0] = a;
      words[1] = a_high | b << 16;
      words[2] = b >> 16 | b_high << 16;
    }
  }
};

/// \brief Functor that multiplies the scales of blocks by a missing power of two.
///
/// The scales become those of FixedCoder; blocks below its smallest magnitude become zero.
struct SettleScales {
  FixedCoder coder;
  float* scales;
  std::uint8_t* blocks;
  float factor;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t block) const {
    const float peak = scales[block] * factor;
    if (peak >= FixedCoder::min || peak == 0.0f) {
      scales[block] = peak;
      return;
    }
    scales[block] = 0.0f;
    auto* const words = reinterpret_cast<std::uint32_t*>(blocks + block * coder.block_bytes());
    for (int w = 0; w < coder.block_bytes() / 4; ++w) words[w] = 0;
  }
};

/// Reduction to the largest scale as the bits of a number; those of NaN are above all others.
struct LargestScale {
  using value_type = std::uint32_t;
  const float* scales;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::uint32_t& peak) const {
    std::uint32_t bits;
    memcpy(&bits, scales + i, 4);
    if (bits > peak) peak = bits;
  }
  KOKKOS_INLINE_FUNCTION void init(std::uint32_t& peak) const { peak = 0; }
  KOKKOS_INLINE_FUNCTION void join(std::uint32_t& to, const std::uint32_t& from) const {
    if (from > to) to = from;
  }
};

/// FixedCoder::decode() of blocks by their lanes.
template <class Target, class T, int Dim>
struct DecodeFixedLanes {
  FixedCoder coder;
  Target target;
  BlockGrid<Dim> blocks;
  const float* scales;
  const std::uint8_t* payload;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    using Quads = LanePacks<Dim>;
    const Quads quads(blocks, n);
    if (!quads.valid) return;
    const float scale = scales[quads.block] / static_cast<float>((1 << (coder.bits - 1)) - 1);
    const std::uint8_t* const from = payload + quads.block * coder.block_bytes();
    // the bits of a quad's four numbers, in order
    std::uint32_t low[Quads::count], high[Quads::count];
    if (coder.bits == 8) {
      MOHO_UNROLL
      for (int i = 0; i < Quads::count; ++i) {
        low[i] = *reinterpret_cast<const std::uint32_t*>(from + quads.element(i));
        high[i] = 0;
      }
    } else if (coder.bits == 16) {
      MOHO_UNROLL
      for (int i = 0; i < Quads::count; ++i) {
        const Pair words = *reinterpret_cast<const Pair*>(from + 2 * quads.element(i));
        low[i] = words.low;
        high[i] = words.high;
      }
    } else {
      unpack_12(quads, from, low, high);
    }
    const bool whole = quads.inside(target.box);
    if constexpr (requires { typename Target::FunctorType::Loaded; }) {
      if (whole) {
        constexpr int at_once = 4;  // quads whose arrays are read before any is written
        MOHO_UNROLL
        for (int i = 0; i < Quads::count; i += at_once) {
          typename Target::FunctorType::Loaded before[at_once];
          MOHO_UNROLL
          for (int h = 0; h < at_once; ++h) before[h] = target.functor.before(quads.node(i + h));
          MOHO_UNROLL
          for (int h = 0; h < at_once; ++h) {
            target.functor.four(quads.node(i + h), before[h],
                                values(low[i + h], high[i + h], scale));
          }
        }
        return;
      }
    }
    MOHO_UNROLL
    for (int i = 0; i < Quads::count; ++i) {
      const kernel::Pack4<T> four = values(low[i], high[i], scale);
      Index<Dim> node = quads.node(i);
      MOHO_UNROLL
      for (int k = 0; k < 4; ++k) {
        if (whole || target.box.contains(node)) target.functor(node, four.at[k]);
        ++node[Dim - 1];
      }
    }
  }

 private:
  /// Unpacks numbers of 12 bits. In 3D quads i and i + 1 are in consecutive rows of eight: six
  /// words, read two by two.
  KOKKOS_FORCEINLINE_FUNCTION static void unpack_12(const LanePacks<Dim>& quads,
                                                    const std::uint8_t* from, std::uint32_t* low,
                                                    std::uint32_t* high) {
    const bool odd = quads.lane % 2 == 1;
    const auto take = [&](int i, std::uint32_t a, std::uint32_t b) {
      low[i] = odd ? a >> 16 | b << 16 : a;
      high[i] = odd ? b >> 16 : b;
    };
    if constexpr (Dim == 3) {
      MOHO_UNROLL
      for (int i = 0; i < quads.count; i += 2) {
        const auto* const pairs = reinterpret_cast<const Pair*>(from) + 3 * (quads.element(i) / 16);
        const Pair a = pairs[0], b = pairs[1], c = pairs[2];
        take(i, odd ? a.high : a.low, odd ? b.low : a.high);
        take(i + 1, odd ? c.low : b.high, odd ? c.high : c.low);
      }
    } else {
      MOHO_UNROLL
      for (int i = 0; i < quads.count; ++i) {
        const auto* const words =
            reinterpret_cast<const std::uint32_t*>(from) + 3 * (quads.element(i) / 8) + odd;
        take(i, words[0], words[1]);
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION kernel::Pack4<T> values(std::uint32_t low, std::uint32_t high,
                                                      float scale) const {
    std::int32_t n[4];
    if (coder.bits == 8) {
      MOHO_UNROLL
      for (int k = 0; k < 4; ++k) n[k] = static_cast<std::int32_t>(low << (24 - 8 * k)) >> 24;
    } else if (coder.bits == 16) {
      n[0] = static_cast<std::int32_t>(low << 16) >> 16;
      n[1] = static_cast<std::int32_t>(low) >> 16;
      n[2] = static_cast<std::int32_t>(high << 16) >> 16;
      n[3] = static_cast<std::int32_t>(high) >> 16;
    } else {
      n[0] = static_cast<std::int32_t>(low << 20) >> 20;
      n[1] = static_cast<std::int32_t>(low << 8) >> 20;
      n[2] = static_cast<std::int32_t>((low >> 24 | high << 8) << 20) >> 20;
      n[3] = static_cast<std::int32_t>(high << 16) >> 20;
    }
    float scaled[4];
    MOHO_UNROLL
    for (int k = 0; k < 4; ++k) scaled[k] = static_cast<float>(n[k]) * scale;
    keep_finite(scaled, 4, target.down);
    kernel::Pack4<T> result;
    MOHO_UNROLL
    for (int k = 0; k < 4; ++k) result.at[k] = static_cast<T>(scaled[k]) * target.down;
    return result;
  }
};

/// \brief Encodes the nodes of a box on a device in one pass, in single precision.
///
/// The power of two of the previous snapshot replaces that of the largest amplitude; the two mostly
/// are equal or differ by one.
/// \param exponent exponent of the scaling factor; on return, that of the largest amplitude
/// \param max receives the largest amplitude
/// \return false if the exponent is too inexact, or a value is not finite; the scales are then not
///   final
template <int Dim, class Memory>
bool encode_fixed_ahead(const Instance<Memory>& exec, const FixedCoder& coder,
                        const BlockSource<float, Dim>& source, float* scales, std::uint8_t* blocks,
                        int& exponent, double& max) {
  constexpr int margin = 8;  // octaves
  launch("moho::snapshot::encode_fixed", exec, LanePacks<Dim>::threads(source.blocks),
         EncodeFixedLanes<float, Dim>{coder, source, std::ldexp(FixedCoder::min, -margin), scales,
                                      blocks});
  const std::uint32_t bits =
      reduce("moho::snapshot::largest_scale", exec, source.blocks.size(), LargestScale{scales});
  float peak;
  memcpy(&peak, &bits, 4);
  max = std::ldexp(static_cast<double>(peak), -exponent);
  if (!(max > 0.0) || !(max <= FieldNodes<float, Dim>::limit)) return false;
  const int wanted = std::clamp(-std::ilogb(max), -126, 126);
  const int difference = wanted - exponent;
  if (difference > margin || difference < -margin) return false;
  launch("moho::snapshot::settle_scales", exec, source.blocks.size(),
         SettleScales{coder, scales, blocks, std::ldexp(1.0f, difference)});
  exponent = wanted;
  return true;
}

}  // namespace moho::snapshot::detail
