// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Blocks as differences of integers: bounded error, and the same bytes in every space.

#include <moho/snapshot/codec/detail/huffman.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace moho::snapshot::detail {

/// \brief Order of the stored differences, in 16 groups of 32.
///
/// A group uses as many bits for each number as its largest number needs. The corner, the edges and
/// the faces of the block come first, where fewer neighbours predict a value. The others follow,
/// with neighbours together.
struct LorenzoTables {
  std::uint16_t order[512];             ///< index of the p-th stored difference
  alignas(8) std::uint16_t banks[512];  ///< bank() of order[32 (4 n + i) + l] at 128 n + 4 l + i

  /// \brief Returns the position of difference e in scratch of devices.
  ///
  /// Four in a row remain neighbours. Chosen for few bank conflicts of lanes that read the
  /// differences in stored order (33 and 24 accesses for 16 in 3D and 2D), and of lanes that read
  /// their nodes (no conflicts).
  template <int Dim>
  KOKKOS_FORCEINLINE_FUNCTION static int bank(int e) {
    const int high = e >> 5;
    const int a = Dim == 3 ? high >> 1 : high;
    const int b = Dim == 3 ? high ^ high >> 2 : high >> 1;
    const int c = Dim == 3 ? high ^ high >> 1 ^ high >> 3 : high ^ high >> 3;
    return e ^ (a & 1) << 2 ^ (b & 1) << 3 ^ (c & 1) << 4;
  }

  /// Returns the tables of 2D or 3D.
  template <int Dim>
  static LorenzoTables make() {
    std::array<int, 512> order{};
    std::array<std::int64_t, 512> key{};
    for (int e = 0; e < 512; ++e) {
      const int c[3] = {Dim == 3 ? e / 64 : e / 32, Dim == 3 ? e / 8 % 8 : e % 32,
                        Dim == 3 ? e % 8 : 0};
      int inner = 0;
      std::int64_t axes = 0, index = 0;
      for (int d = 0; d < Dim; ++d) {
        inner += c[d] > 0;
        axes = axes * 2 + (c[d] > 0);
      }
      for (int b = 4; b >= 0; --b) {
        for (int d = 0; d < Dim; ++d) index = index * 2 + (c[d] >> b & 1);
      }
      order[static_cast<std::size_t>(e)] = e;
      key[static_cast<std::size_t>(e)] = (inner * 8 + axes) * 65536 + index;
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)];
    });
    LorenzoTables tables{};
    for (std::size_t p = 0; p < 512; ++p) {
      tables.order[p] = static_cast<std::uint16_t>(order[p]);
      tables.banks[p / 128 * 128 + p % 32 * 4 + p / 32 % 4] =
          static_cast<std::uint16_t>(bank<Dim>(order[p]));
    }
    return tables;
  }
};

/// \brief Coder of integers round(value / quantum) as folded Lorenzo differences along every axis.
///
/// A block is a sequence of words of 32 bits. The first is the corner, with 1 in bit 31 if lengths
/// have 8 bits instead of 4. The lengths of the 16 groups follow. Each group then has as many words
/// as its length; word b holds bit b of its 32 numbers.
template <int Dim>
struct LorenzoCoder {
  static constexpr int max_bytes = 4 * (5 + 16 * 27);  ///< largest size of a block
  static constexpr int alphabets = 0;

  const LorenzoTables* tables;
  float quantum;
  float inverse_quantum;

  /// Writes a block. \return its bytes, 0 if all numbers are zero
  KOKKOS_INLINE_FUNCTION int encode(const float* KOKKOS_RESTRICT values, std::uint8_t* to) const {
    std::int32_t a[512], b[512];
    std::uint32_t ordered[512];
    const float inverse = inverse_quantum;
    std::int32_t any = 0;
    for (int e = 0; e < 512; ++e) {
      a[e] = static_cast<std::int32_t>(rintf(values[e] * inverse));
      any |= a[e];
    }
    if (any == 0) return 0;
    if constexpr (Dim == 3) {
      differences<64>(a, b);
      differences<8>(b, a);
      differences<1>(a, b);
    } else {
      differences<32>(a, b);
      for (int e = 0; e < 512; ++e) a[e] = b[e];
      differences<1>(a, b);
    }
    for (int p = 0; p < 512; ++p) ordered[p] = folded(b[tables->order[p]]);
    const std::uint32_t corner = ordered[0];
    ordered[0] = 0;

    int length[16], longest = 0;
    for (int g = 0; g < 16; ++g) {
      std::uint32_t all = 0;
      for (int l = 0; l < 32; ++l) all |= ordered[32 * g + l];
      length[g] = bit_width(all);
      longest = length[g] > longest ? length[g] : longest;
    }
    auto* word = reinterpret_cast<std::uint32_t*>(to);
    const int width = longest < 16 ? 4 : 8;
    *word++ = corner | (width == 8 ? 0x80000000u : 0u);
    for (int g = 0; g < 16;) {
      std::uint32_t lengths = 0;
      for (int s = 0; s < 32; s += width) lengths |= static_cast<std::uint32_t>(length[g++]) << s;
      *word++ = lengths;
    }
    for (int g = 0; g < 16; ++g) {
      const std::uint32_t* const from = ordered + 32 * g;
      for (int n = 0; n < length[g]; ++n) {
        std::uint32_t plane = 0;
        for (int l = 0; l < 32; ++l) plane |= (from[l] >> n & 1u) << l;
        *word++ = plane;
      }
    }
    return static_cast<int>(reinterpret_cast<std::uint8_t*>(word) - to);
  }
  /// Computes the values of a block that has bytes.
  KOKKOS_INLINE_FUNCTION void decode(const std::uint8_t* from, const std::uint8_t* end,
                                     float* KOKKOS_RESTRICT values) const {
    std::int32_t a[512], b[512];
    const auto* word = reinterpret_cast<const std::uint32_t*>(from);
    const auto* const last = reinterpret_cast<const std::uint32_t*>(end);
    const std::uint32_t corner = *word++;
    const int width = corner >> 31 != 0 ? 8 : 4;
    int length[16];
    for (int g = 0; g < 16;) {
      const std::uint32_t lengths = *word++;
      for (int s = 0; s < 32; s += width) {
        length[g++] = static_cast<int>(lengths >> s & ((1u << width) - 1));
      }
    }
    for (int g = 0; g < 16; ++g) {
      std::uint32_t numbers[32] = {};
      for (int n = 0; n < length[g] && word < last; ++n) {
        const std::uint32_t plane = *word++;
        for (int l = 0; l < 32; ++l) numbers[l] |= (plane >> l & 1u) << (n & 31);
      }
      for (int l = 0; l < 32; ++l) a[tables->order[32 * g + l]] = unfolded(numbers[l]);
    }
    a[0] = unfolded(corner & 0x7fffffffu);
    if constexpr (Dim == 3) {
      sums<1>(a);
      sums<8>(a);
      sums<64>(a);
    } else {
      sums<1>(a);
      sums<32>(a);
    }
    (void)b;
    for (int e = 0; e < 512; ++e) values[e] = static_cast<float>(a[e]) * quantum;
  }

 private:
  /// Nodes of a block along the axis with a stride.
  template <int Stride>
  static constexpr int side = Dim == 3       ? 8
                              : Stride == 32 ? 16
                                             : 32;

  template <int Stride>
  KOKKOS_FORCEINLINE_FUNCTION static void differences(const std::int32_t* KOKKOS_RESTRICT from,
                                                      std::int32_t* KOKKOS_RESTRICT to) {
    constexpr int part = Stride * side<Stride>;
    for (int begin = 0; begin < 512; begin += part) {
      for (int e = 0; e < Stride; ++e) to[begin + e] = from[begin + e];
      for (int e = Stride; e < part; ++e)
        to[begin + e] = from[begin + e] - from[begin + e - Stride];
    }
  }
  template <int Stride>
  KOKKOS_FORCEINLINE_FUNCTION static void sums(std::int32_t* values) {
    constexpr int part = Stride * side<Stride>;
    for (int begin = 0; begin < 512; begin += part) {
      for (int i = Stride; i < part; i += Stride) {
        for (int e = 0; e < Stride; ++e) values[begin + i + e] += values[begin + i + e - Stride];
      }
    }
  }
};

}  // namespace moho::snapshot::detail
