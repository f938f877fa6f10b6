// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Cosine transform of blocks, and the coding order of its coefficients.

#include <moho/core/kokkos.hpp>
#include <moho/snapshot/codec/detail/huffman.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace moho::snapshot::detail {

/// Values cos(k pi / 16) / 2, k = 0 ... 7; the first is 1 / sqrt(8).
struct Cosines {
  static constexpr float c0 = 0.35355339059327376f, c1 = 0.49039264020161522f,
                         c2 = 0.46193976625564337f, c3 = 0.41573480615127262f,
                         c5 = 0.27778511650980111f, c6 = 0.19134171618254489f,
                         c7 = 0.09754516100806413f;
};

/// \brief Computes the orthonormal cosine transform of 8 numbers with stride `Stride`.
///
/// X_k = a_k sum_n x_n cos((2 n + 1) k pi / 16).
template <int Stride>
KOKKOS_FORCEINLINE_FUNCTION void forward8(const float* KOKKOS_RESTRICT from,
                                          float* KOKKOS_RESTRICT to) {
  using C = Cosines;
  const float x0 = from[0], x1 = from[Stride], x2 = from[2 * Stride], x3 = from[3 * Stride];
  const float x4 = from[4 * Stride], x5 = from[5 * Stride], x6 = from[6 * Stride],
              x7 = from[7 * Stride];
  const float s0 = x0 + x7, s1 = x1 + x6, s2 = x2 + x5, s3 = x3 + x4;
  const float d0 = x0 - x7, d1 = x1 - x6, d2 = x2 - x5, d3 = x3 - x4;
  const float a = s0 + s3, b = s1 + s2, c = s0 - s3, d = s1 - s2;
  to[0] = C::c0 * (a + b);
  to[4 * Stride] = C::c0 * (a - b);
  to[2 * Stride] = C::c2 * c + C::c6 * d;
  to[6 * Stride] = C::c6 * c - C::c2 * d;
  to[Stride] = C::c1 * d0 + C::c3 * d1 + C::c5 * d2 + C::c7 * d3;
  to[3 * Stride] = C::c3 * d0 - C::c7 * d1 - C::c1 * d2 - C::c5 * d3;
  to[5 * Stride] = C::c5 * d0 - C::c1 * d1 + C::c7 * d2 + C::c3 * d3;
  to[7 * Stride] = C::c7 * d0 - C::c5 * d1 + C::c3 * d2 - C::c1 * d3;
}

/// Computes the inverse of forward8(), its transpose.
template <int Stride>
KOKKOS_FORCEINLINE_FUNCTION void inverse8(const float* KOKKOS_RESTRICT from,
                                          float* KOKKOS_RESTRICT to) {
  using C = Cosines;
  const float y0 = C::c0 * from[0], y1 = from[Stride], y2 = from[2 * Stride], y3 = from[3 * Stride];
  const float y4 = C::c0 * from[4 * Stride], y5 = from[5 * Stride], y6 = from[6 * Stride],
              y7 = from[7 * Stride];
  const float a = y0 + y4, b = y0 - y4;
  const float c = C::c2 * y2 + C::c6 * y6, d = C::c6 * y2 - C::c2 * y6;
  const float e0 = a + c, e1 = b + d, e2 = b - d, e3 = a - c;
  const float o0 = C::c1 * y1 + C::c3 * y3 + C::c5 * y5 + C::c7 * y7;
  const float o1 = C::c3 * y1 - C::c7 * y3 - C::c1 * y5 - C::c5 * y7;
  const float o2 = C::c5 * y1 - C::c1 * y3 + C::c7 * y5 + C::c3 * y7;
  const float o3 = C::c7 * y1 - C::c5 * y3 + C::c3 * y5 - C::c1 * y7;
  to[0] = e0 + o0;
  to[Stride] = e1 + o1;
  to[2 * Stride] = e2 + o2;
  to[3 * Stride] = e3 + o3;
  to[4 * Stride] = e3 - o3;
  to[5 * Stride] = e2 - o2;
  to[6 * Stride] = e1 - o1;
  to[7 * Stride] = e0 - o0;
}

/// Transforms a block of 512 values along the axis with a stride, or inversely.
template <int Stride, bool Inverse>
KOKKOS_INLINE_FUNCTION void transform_axis(const float* KOKKOS_RESTRICT from,
                                           float* KOKKOS_RESTRICT to) {
  if constexpr (Stride == 1) {
    for (int row = 0; row < 512; row += 8) {
      if constexpr (Inverse) {
        inverse8<1>(from + row, to + row);
      } else {
        forward8<1>(from + row, to + row);
      }
    }
  } else {
    for (int begin = 0; begin < 512; begin += 8 * Stride) {
      for (int i = 0; i < Stride; ++i) {
        if constexpr (Inverse) {
          inverse8<Stride>(from + begin + i, to + begin + i);
        } else {
          forward8<Stride>(from + begin + i, to + begin + i);
        }
      }
    }
  }
}

/// \brief Transforms a block: 8 x 8 x 8 values, or eight pieces of 8 x 8 in 16 x 32.
///
/// The result overwrites `values`. This function and its inverse are not inlined: otherwise
/// products and sums would be rounded once in one calling loop and twice in another.
template <int Dim>
MOHO_NOINLINE KOKKOS_FUNCTION void transform_block(float* KOKKOS_RESTRICT values,
                                                   float* KOKKOS_RESTRICT work) {
  if constexpr (Dim == 3) {
    transform_axis<64, false>(values, work);
    transform_axis<8, false>(work, values);
    transform_axis<1, false>(values, work);
    for (int i = 0; i < 512; ++i) values[i] = work[i];
  } else {
    transform_axis<32, false>(values, work);
    transform_axis<1, false>(work, values);
  }
}

/// Computes the inverse of transform_block().
template <int Dim>
MOHO_NOINLINE KOKKOS_FUNCTION void transform_block_back(float* KOKKOS_RESTRICT values,
                                                        float* KOKKOS_RESTRICT work) {
  if constexpr (Dim == 3) {
    transform_axis<1, true>(values, work);
    transform_axis<8, true>(work, values);
    transform_axis<64, true>(values, work);
    for (int i = 0; i < 512; ++i) values[i] = work[i];
  } else {
    transform_axis<1, true>(values, work);
    transform_axis<32, true>(work, values);
  }
}

/// Largest coefficient over the largest value: the square root of the nodes of a transform.
template <int Dim>
inline constexpr double largest_gain = Dim == 3 ? 22.6274169979695208 : 8.0;

/// \brief Returns the order of coefficients: the position in a block of the p-th one.
///
/// They are ordered by the squared wavenumber i^2 + j^2 (+ k^2); in 2D the same coefficient of all
/// eight pieces is consecutive.
template <int Dim>
inline std::array<std::uint16_t, 512> coefficient_order() {
  std::array<std::uint16_t, 512> order{};
  for (int e = 0; e < 512; ++e) order[static_cast<std::size_t>(e)] = static_cast<std::uint16_t>(e);
  const auto key = [](int e) {
    const int k = e % 8;
    if constexpr (Dim == 3) {
      const int i = e / 64, j = e / 8 % 8;
      return i * i + j * j + k * k;
    } else {
      const int i = e / 32 % 8;
      return (i * i + k * k) * 64 + i * 8 + k;
    }
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  return order;
}

/// \brief Tables of the coder of transformed blocks.
///
/// A symbol combines a class of runs of zeros (16 classes) with the bits of the number after the
/// run (1 to 15). Runs of up to 7 have separate classes. Longer ones share a class and have
/// additional bits. Each of 8 bands of the order of coefficients has an alphabet.
struct TransformTables {
  static constexpr int bands = 8;
  static constexpr int end_of_block = 0;  ///< symbol after the last number that is not zero
  static constexpr int escape = 16;       ///< a run of 9 bits and a size of 5 follow

  std::uint16_t order[512];     ///< position of the p-th coefficient
  std::uint8_t band[513];       ///< band of the p-th coefficient
  std::uint8_t run_class[512];  ///< class of a run
  std::uint16_t run_base[16];   ///< shortest run of a class
  std::uint8_t run_bits[16];    ///< additional bits of a run's length

  /// Returns the tables of 2D or 3D.
  template <int Dim>
  static TransformTables make() {
    TransformTables tables{};
    const auto order = coefficient_order<Dim>();
    constexpr int limits_3d[] = {1, 4, 10, 24, 56, 112, 224};
    constexpr int limits_2d[] = {8, 24, 48, 80, 128, 224, 352};
    for (int p = 0; p < 512; ++p) tables.order[p] = order[static_cast<std::size_t>(p)];
    for (int p = 0; p <= 512; ++p) {
      int band = 0;
      while (band < 7 && p >= (Dim == 3 ? limits_3d : limits_2d)[band]) ++band;
      tables.band[p] = static_cast<std::uint8_t>(band);
    }
    constexpr int bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 9};
    for (int c = 0, base = 0; c < 16; ++c) {
      tables.run_base[c] = static_cast<std::uint16_t>(base);
      tables.run_bits[c] = static_cast<std::uint8_t>(bits[c]);
      for (int r = base; r < std::min(base + (1 << bits[c]), 512); ++r) {
        tables.run_class[r] = static_cast<std::uint8_t>(c);
      }
      base += 1 << bits[c];
    }
    return tables;
  }
};

/// Sink that writes symbols by their codes.
struct SymbolWriter {
  BitWriter bits;
  const std::uint32_t* codes;  ///< encoding_table()
  const TransformTables* tables;

  KOKKOS_FORCEINLINE_FUNCTION void number(int band, int run, int size, std::uint32_t rest) {
    const int c = tables->run_class[run];
    const std::uint32_t code = size < 16 ? codes[band * symbols + c * 16 + size] : 0u;
    if (code != 0) {
      const int length = static_cast<int>(code >> 16);
      bits.put((code & 0xffffu) | static_cast<std::uint32_t>(run - tables->run_base[c]) << length,
               length + tables->run_bits[c]);
    } else {
      const std::uint32_t escape = codes[band * symbols + TransformTables::escape];
      const int length = static_cast<int>(escape >> 16);
      bits.put((escape & 0xffffu) |
                   (static_cast<std::uint32_t>(run) | static_cast<std::uint32_t>(size) << 9)
                       << length,
               length + 14);
    }
    bits.put(rest, size);
  }
  KOKKOS_FORCEINLINE_FUNCTION void end(int band) {
    const std::uint32_t code = codes[band * symbols + TransformTables::end_of_block];
    bits.put(code & 0xffffu, static_cast<int>(code >> 16));
  }
};

/// Sink that counts symbols.
struct SymbolCounter {
  std::uint32_t* counts;
  const TransformTables* tables;
  KOKKOS_FORCEINLINE_FUNCTION void number(int band, int run, int size, std::uint32_t) {
    const int symbol = size < 16 ? tables->run_class[run] * 16 + size : TransformTables::escape;
    ++counts[band * symbols + symbol];
  }
  KOKKOS_FORCEINLINE_FUNCTION void end(int band) {
    ++counts[band * symbols + TransformTables::end_of_block];
  }
};

/// \brief Blocks as quantised coefficients of the cosine transform.
///
/// A coefficient c becomes the integer part of |c| / quantum + rounding, with its sign. Rounding is
/// less than one half, since numbers just above a quantum cost more bits than they gain in
/// accuracy.
template <int Dim>
struct TransformCoder {
  static constexpr int max_bytes = 3328;  ///< largest size of a block
  static constexpr int alphabets = TransformTables::bands;
  static constexpr float rounding = 0.42f;
  /// Returns the symbols that always get a code.
  static std::vector<std::size_t> always() {
    return {TransformTables::end_of_block, TransformTables::escape};
  }

  const TransformTables* tables;
  const std::uint32_t* codes;   ///< encoding_table(), null if unused
  const std::uint16_t* states;  ///< decoding_table(), null if unused
  float quantum;
  float inverse_quantum;

  /// Computes the integers of a block in coding order, and a bit for each that is not zero.
  ///
  /// `values` become the coefficients. \return false, with no other result, if all are zero
  KOKKOS_INLINE_FUNCTION bool quantise(float* KOKKOS_RESTRICT values,
                                       std::int32_t* KOKKOS_RESTRICT ordered,
                                       std::uint64_t* KOKKOS_RESTRICT used) const {
    float work[512];
    std::int32_t numbers[512];
    transform_block<Dim>(values, work);
    const float inverse = inverse_quantum;
    std::int32_t any = 0;
    for (int e = 0; e < 512; ++e) {
      const float scaled = values[e] * inverse;
      const std::int32_t n = static_cast<std::int32_t>(fabsf(scaled) + rounding);
      any |= n;
      numbers[e] = scaled < 0.0f ? -n : n;
    }
    if (any == 0) return false;
    for (int p = 0; p < 512; ++p) ordered[p] = numbers[tables->order[p]];
    for (int w = 0; w < 8; ++w) {
      std::uint64_t mask = 0;
      for (int b = 0; b < 64; ++b) {
        mask |= static_cast<std::uint64_t>(ordered[64 * w + b] != 0) << b;
      }
      used[w] = mask;
    }
    return true;
  }
  /// Passes the symbols of a block with nonzero numbers to a sink.
  template <class Sink>
  KOKKOS_INLINE_FUNCTION void code(const std::int32_t* ordered, const std::uint64_t* used,
                                   Sink& sink) const {
    int next = 0;
    for (int w = 0; w < 8; ++w) {
      for (std::uint64_t mask = used[w]; mask != 0; mask &= mask - 1) {
        const int p = 64 * w + lowest_bit(mask);
        const std::int32_t n = ordered[p];
        const auto size_of = static_cast<std::uint32_t>(n < 0 ? -n : n);
        const int size = bit_width(size_of);
        const std::uint32_t rest =
            (size_of - (1u << (size - 1))) << 1 | static_cast<std::uint32_t>(n < 0);
        sink.number(tables->band[next], p - next, size, rest);
        next = p + 1;
      }
    }
    if (next < 512) sink.end(tables->band[next]);
  }
  /// Writes a block. \return its bytes, 0 if all numbers are zero
  KOKKOS_INLINE_FUNCTION int encode(float* KOKKOS_RESTRICT values, std::uint8_t* to) const {
    std::int32_t ordered[512];
    std::uint64_t used[8];
    if (!quantise(values, ordered, used)) return 0;
    SymbolWriter writer{BitWriter{to}, codes, tables};
    code(ordered, used, writer);
    return static_cast<int>(writer.bits.finish() - to);
  }
  /// Counts the symbols of a block; `values` become the errors of its coefficients.
  KOKKOS_INLINE_FUNCTION void count(float* KOKKOS_RESTRICT values, std::uint32_t* counts) const {
    std::int32_t ordered[512];
    std::uint64_t used[8];
    if (!quantise(values, ordered, used)) return;
    for (int p = 0; p < 512; ++p) {
      values[tables->order[p]] -= static_cast<float>(ordered[p]) * quantum;
    }
    SymbolCounter counter{counts, tables};
    code(ordered, used, counter);
  }
  /// Transforms the coefficients that count() leaves back to values.
  KOKKOS_INLINE_FUNCTION static void back(float* values) {
    alignas(64) float work[512];
    transform_block_back<Dim>(values, work);
  }
  /// Computes the values of a block that has bytes.
  KOKKOS_INLINE_FUNCTION void decode(const std::uint8_t* from, const std::uint8_t* end,
                                     float* KOKKOS_RESTRICT values) const {
    float work[512];
    for (int e = 0; e < 512; ++e) values[e] = 0.0f;
    BitReader bits{from, end};
    for (int p = 0; p < 512; ++p) {
      bits.refill();
      const std::uint32_t state =
          states[tables->band[p] * code_states + static_cast<int>(bits.held & (code_states - 1))];
      bits.take(static_cast<int>(state >> 8));
      const int symbol = static_cast<int>(state & 255u);
      if (symbol == TransformTables::end_of_block) break;
      int size = symbol & 15;
      if (symbol == TransformTables::escape) {
        p += static_cast<int>(bits.take(9));
        size = static_cast<int>(bits.take(5));
      } else {
        const int c = symbol >> 4;
        p += tables->run_base[c] + static_cast<int>(bits.take(tables->run_bits[c]));
      }
      if (p >= 512 || size == 0) break;
      const std::uint32_t rest = bits.take(size);
      const float n = static_cast<float>((1u << (size - 1)) + (rest >> 1)) * quantum;
      values[tables->order[p]] = (rest & 1u) != 0 ? -n : n;
    }
    transform_block_back<Dim>(values, work);
  }
};

}  // namespace moho::snapshot::detail
