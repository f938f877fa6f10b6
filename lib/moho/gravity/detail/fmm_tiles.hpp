// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Far pairs on devices with matrix units for double precision.
///
/// The same translations as FarPairs: eight at a time, as products of tiles of constant matrices
/// and of eight columns. A warp owns a degree during rotations and an order m during the shift
/// along z, holds their results in registers and overwrites their numbers in shared memory. What a
/// warp writes, other warps read only behind a barrier.

#include <moho/gravity/detail/fmm_translation.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace moho::gravity::detail {

/// True if far pairs in a memory space use matrix units for double precision: compute
/// capability 8.0 and later.
template <class Memory>
inline constexpr bool has_matrix_units =
#if defined(KOKKOS_ENABLE_CUDA) && (defined(KOKKOS_ARCH_AMPERE) || defined(KOKKOS_ARCH_ADA89) || \
                                    defined(KOKKOS_ARCH_HOPPER) || defined(KOKKOS_ARCH_BLACKWELL))
    std::is_same_v<Memory, Kokkos::CudaSpace>;
#else
    false;
#endif

/// Threads of a warp, and translations that it processes together.
inline constexpr int warp_threads = 32, tile_columns = 8;

/// \name Numbers of an expansion by degree, kind and parity of m
///
/// Degree n has four blocks of n / 2 + 1 numbers: cosines with even and odd m, sines with even and
/// odd m. Number j of a block has m = 2 j + parity. Numbers that do not exist (the sine of m = 0, m
/// = n + 1) are zero.
/// @{
KOKKOS_INLINE_FUNCTION constexpr int block_of_degree(int n) { return n / 2 + 1; }
KOKKOS_INLINE_FUNCTION constexpr int first_of_degree(int n) { return n * (n + 2) + (n & 1); }
/// @}

/// \brief Tiles of the exchange of x and z and of the shift of far pairs, on the host.
///
/// A tile has 8 rows and 4 columns, row by row; elements outside of a matrix are zero. Exchange:
/// for each degree, parity of the columns and four columns: a tile for cosines and one for sines
/// for each eight rows. Shift: for each m and four columns: a tile for each eight rows.
struct FmmTiles {
  std::vector<double> exchange, inverse;
  std::vector<std::int32_t> exchange_begin, inverse_begin;  ///< first element of each degree and m
};

/// Returns the tiles of tables in the arrangement of hosts.
FmmTiles tiles_of(const FmmTables& tables);

/// Addresses of the tiles in a memory space.
struct TileAddresses {
  const double *exchange, *inverse;
  const std::int32_t *exchange_begin, *inverse_begin;
};

/// Tiles in a memory space.
template <class Memory>
struct FmmTilesIn {
  Kokkos::View<double*, Memory> exchange, inverse;
  Kokkos::View<std::int32_t*, Memory> exchange_begin, inverse_begin;

  FmmTilesIn() = default;
  FmmTilesIn(const Instance<Memory>& exec, const FmmTiles& tiles) {
    const char* const label = "moho::gravity::fmm_tiles";
    exchange = upload(exec, tiles.exchange, label);
    inverse = upload(exec, tiles.inverse, label);
    exchange_begin = upload(exec, tiles.exchange_begin, label);
    inverse_begin = upload(exec, tiles.inverse_begin, label);
  }
  TileAddresses addresses() const {
    return {exchange.data(), inverse.data(), exchange_begin.data(), inverse_begin.data()};
  }
};

/// \name Operations of a warp
/// @{
/// Adds the product of a tile of 8 x 4 and one of 4 x 8 elements to 8 x 8 sums. Thread t has
/// element (t / 4, t % 4) of the first, (t % 4, t / 4) of the second, and sums (t / 4, 2 (t % 4))
/// and next.
KOKKOS_FORCEINLINE_FUNCTION void add_tile(double (&sums)[2], double a, double b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(sums[0]), "+d"(sums[1])
      : "d"(a), "d"(b));
#else
  (void)sums;
  (void)a;
  (void)b;
#endif
}
/// Returns the sum over four adjacent threads.
KOKKOS_FORCEINLINE_FUNCTION double sum_of_four(double value) {
#if defined(__CUDA_ARCH__)
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  value += __shfl_xor_sync(0xffffffffu, value, 2);
#endif
  return value;
}
/// Waits for the threads of the warp; what they wrote is visible.
KOKKOS_FORCEINLINE_FUNCTION void warp_barrier() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}
/// @}

/// Sums of a thread: parity of m of the columns, cosines and sines, tile of rows, column.
using TileSums = double[2][2][2][2];

/// \brief Eight translations in shared memory.
///
/// Translations are rows of `data` with numbers in blocks. Column c of the tiles is translation
/// row_of(c), so that the threads of a half warp access different banks.
struct TileTranslation {
  TileAddresses tiles;
  int order;                       ///< of the tables
  int row;                         ///< numbers of a row of `data`
  int turn_row;                    ///< numbers of a row of `azimuth` and `polar`
  double *data, *azimuth, *polar;  ///< angles: cos and sin of m times the angle
  double *before, *after;          ///< powers of lengths, eight columns for each degree
  double* total;                   ///< sums over the translations of a node
  int thread, warp, warps;         ///< of the team

  /// Numbers of a row of `data`: 4 more than a multiple of 16.
  KOKKOS_INLINE_FUNCTION static constexpr int row_numbers(int order) {
    return (first_of_degree(order + 1) + 11) / 16 * 16 + 4;
  }
  /// Numbers of a row of angles for m = 0 to order + 1: twice an odd number.
  KOKKOS_INLINE_FUNCTION static constexpr int turn_numbers(int order) {
    return 2 * ((order + 2) | 1);
  }
  KOKKOS_INLINE_FUNCTION static constexpr int scratch(int order) {
    return tile_columns * (row_numbers(order) + 2 * turn_numbers(order) + 2 * (order + 1)) +
           row_numbers(order);
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int row_of(int column) {
    return column ^ (column >> 2);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION TileTranslation(const Team& team, const TileAddresses& addresses,
                                         int of_tables, double* memory)
      : tiles(addresses),
        order(of_tables),
        row(row_numbers(of_tables)),
        turn_row(turn_numbers(of_tables)),
        thread(team.rank() % warp_threads),
        warp(team.rank() / warp_threads),
        warps(team.size() / warp_threads) {
    data = memory;
    azimuth = data + tile_columns * row;
    polar = azimuth + tile_columns * turn_row;
    before = polar + tile_columns * turn_row;
    after = before + tile_columns * (order + 1);
    total = after + tile_columns * (order + 1);
  }

  /// Sets a translation by the vector d from `known` degrees of an expansion; degrees up to `max`
  /// are set. Lengths before the shift are multiplied by powers of `in`, after it by powers of
  /// `out`, and by `inverse`.
  KOKKOS_INLINE_FUNCTION void set_row(int translation, const double* from, int known, int max,
                                      const double (&d)[3], double in, double out,
                                      double inverse) const {
    const double across = sqrt(d[0] * d[0] + d[1] * d[1]);
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double a[2] = {across > 0.0 ? d[1] / across : 1.0, across > 0.0 ? d[0] / across : 0.0};
    double p[2] = {d[2] / length, across / length};
    double turn[2] = {1.0, 0.0}, tilt[2] = {1.0, 0.0}, powers[2] = {1.0, inverse};
    const int m = thread;
    for (int bit = 1; bit < warp_threads; bit *= 2) {
      if ((m & bit) != 0) {
        multiply(turn, a);
        multiply(tilt, p);
        powers[0] *= in;
        powers[1] *= out;
      }
      multiply(a, a);
      multiply(p, p);
      in *= in;
      out *= out;
    }
    if (m <= order + 1) {
      const int at = translation * turn_row + 2 * m;
      azimuth[at] = turn[0];
      azimuth[at + 1] = turn[1];
      polar[at] = tilt[0];
      polar[at + 1] = tilt[1];
    }
    if (m <= order) {
      before[m * tile_columns + row_of(translation)] = powers[0];
      after[m * tile_columns + row_of(translation)] = powers[1];
    }
    double* const to = data + translation * row + m / 2;
    for (int n = 0; n <= max; ++n) {
      const int block = block_of_degree(n);
      if (m >= 2 * block) continue;
      double c = 0.0, s = 0.0;
      if (m <= n && n <= known) {
        c = from[cos_at(n, m)];
        if (m > 0) s = from[sin_at(n, m)];
      }
      double* const slot = to + first_of_degree(n) + (m & 1) * block;
      slot[0] = c * turn[0] - s * turn[1];
      slot[2 * block] = s * turn[0] + c * turn[1];
    }
  }

  /// Translates degrees up to `in_order` and adds degrees up to `out_order` to the totals.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void run(const Team& team, int in_order, int out_order) const {
    for (int slot = 0; slot * warps <= in_order; ++slot) {
      const int n = in_order - own(slot);
      if (n < 0) continue;
      with_shape(n, [&](auto steps, auto rows) {
        TileSums sums;
        exchange<steps(), rows()>(n, sums);
        turn<rows()>(n, sums, polar, -1.0);
        warp_barrier();
        exchange<steps(), rows()>(n, sums);
        scale<rows()>(n, sums);
      });
    }
    team.barrier();
    for (int slot = 0; slot * warps <= out_order; ++slot) {
      const int m = own(slot);
      if (m > out_order) continue;
      switch ((out_order - m) / 8) {
        case 0:
          along_z<1>(m, in_order, out_order);
          break;
        case 1:
          along_z<2>(m, in_order, out_order);
          break;
        case 2:
          along_z<3>(m, in_order, out_order);
          break;
        default:
          along_z<4>(m, in_order, out_order);
      }
    }
    team.barrier();
    for (int slot = 0; slot * warps <= out_order; ++slot) {
      const int n = out_order - own(slot);
      if (n < 0) continue;
      with_shape(n, [&](auto steps, auto rows) {
        TileSums sums;
        exchange<steps(), rows()>(n, sums);
        turn<rows()>(n, sums, polar, 1.0);
        warp_barrier();
        exchange<steps(), rows()>(n, sums);
        add_totals<rows()>(n, sums);
      });
    }
    team.barrier();
  }

 private:
  /// The place in the order of cost of the k-th degree or m of this warp.
  KOKKOS_FORCEINLINE_FUNCTION int own(int k) const {
    return k * warps + ((k & 1) != 0 ? warps - 1 - warp : warp);
  }

  KOKKOS_FORCEINLINE_FUNCTION static void multiply(double (&a)[2], const double (&b)[2]) {
    const double re = a[0] * b[0] - a[1] * b[1];
    a[1] = a[0] * b[1] + a[1] * b[0];
    a[0] = re;
  }

  /// Calls body with the steps of four columns and the tiles of rows of a degree, as constants.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void with_shape(int n, const Body& body) {
    if (n < 8) {
      body(std::integral_constant<int, 1>(), std::integral_constant<int, 1>());
    } else if (n < 16) {
      body(std::integral_constant<int, 2>(), std::integral_constant<int, 1>());
    } else if (n < 24) {
      body(std::integral_constant<int, 3>(), std::integral_constant<int, 2>());
    } else {
      body(std::integral_constant<int, 4>(), std::integral_constant<int, 2>());
    }
  }

  /// Exchanges x and z for a degree, by parity of the columns.
  template <int steps, int tiles_of_rows>
  KOKKOS_FORCEINLINE_FUNCTION void exchange(int n, TileSums& sums) const {
    const double* const element = tiles.exchange + tiles.exchange_begin[n] + thread;
    const int last = n / 2;
    const double* const from = data + row_of(thread / 4) * row + first_of_degree(n);
    MOHO_UNROLL
    for (int parity = 0; parity < 2; ++parity) {
      MOHO_UNROLL
      for (int tile = 0; tile < tiles_of_rows; ++tile) {
        for (int kind = 0; kind < 2; ++kind) {
          sums[parity][kind][tile][0] = 0.0;
          sums[parity][kind][tile][1] = 0.0;
        }
      }
      MOHO_UNROLL
      for (int step = 0; step < steps; ++step) {
        const int j = 4 * step + thread % 4;
        const double* const at = from + parity * (last + 1) + (j < last ? j : last);
        const double c = at[0], s = at[2 * (last + 1)];
        MOHO_UNROLL
        for (int tile = 0; tile < tiles_of_rows; ++tile) {
          const int first = 2 * ((parity * steps + step) * tiles_of_rows + tile) * warp_threads;
          add_tile(sums[parity][0][tile], element[first], c);
          add_tile(sums[parity][1][tile], element[first + warp_threads], s);
        }
      }
    }
    warp_barrier();
  }

  /// Calls sink(place, m, tile column, cosine, sine) for the sums of this thread, by kind and
  /// parity of m.
  template <int tiles_of_rows, class Sink>
  KOKKOS_FORCEINLINE_FUNCTION void for_rows(int n, const TileSums& sums, const Sink& sink) const {
    const int block = block_of_degree(n);
    MOHO_UNROLL
    for (int parity = 0; parity < 2; ++parity) {
      const int of_rows = (n + parity) & 1;
      MOHO_UNROLL
      for (int tile = 0; tile < tiles_of_rows; ++tile) {
        const int j = 8 * tile + thread / 4;
        const int slot = first_of_degree(n) + of_rows * block + j;
        sink(slot, j < block ? 2 * j + of_rows : -1, sums[parity][0][tile],
             sums[1 - parity][1][tile]);
      }
    }
  }

  /// Turns a degree about z by the angles of a table, or back, and writes it.
  template <int tiles_of_rows>
  KOKKOS_FORCEINLINE_FUNCTION void turn(int n, const TileSums& sums, const double* angles,
                                        double direction) const {
    const int block = block_of_degree(n);
    for_rows<tiles_of_rows>(n, sums,
                            [&](int slot, int m, const double(&c)[2], const double(&s)[2]) {
                              if (m < 0) return;
                              for (int k = 0; k < 2; ++k) {
                                const int at = row_of(2 * (thread % 4) + k);
                                const double cosine = angles[at * turn_row + 2 * m];
                                const double sine = direction * angles[at * turn_row + 2 * m + 1];
                                data[at * row + slot] = c[k] * cosine - s[k] * sine;
                                data[at * row + slot + 2 * block] = s[k] * cosine + c[k] * sine;
                              }
                            });
  }

  /// Multiplies a degree by powers of lengths and writes it.
  template <int tiles_of_rows>
  KOKKOS_FORCEINLINE_FUNCTION void scale(int n, const TileSums& sums) const {
    const int block = block_of_degree(n), column = 2 * (thread % 4);
    const double power[2] = {before[n * tile_columns + column],
                             before[n * tile_columns + column + 1]};
    for_rows<tiles_of_rows>(n, sums,
                            [&](int slot, int m, const double(&c)[2], const double(&s)[2]) {
                              if (m < 0) return;
                              for (int k = 0; k < 2; ++k) {
                                const int at = row_of(column + k);
                                data[at * row + slot] = c[k] * power[k];
                                data[at * row + slot + 2 * block] = s[k] * power[k];
                              }
                            });
  }

  /// Turns a degree back about z by the azimuths and adds it to the totals.
  template <int tiles_of_rows>
  KOKKOS_FORCEINLINE_FUNCTION void add_totals(int n, const TileSums& sums) const {
    const int block = block_of_degree(n);
    for_rows<tiles_of_rows>(
        n, sums, [&](int slot, int m, const double(&c)[2], const double(&s)[2]) {
          double cosines = 0.0, sines = 0.0;
          for (int k = 0; k < 2; ++k) {
            const int at = row_of(2 * (thread % 4) + k) * turn_row + 2 * (m < 0 ? 0 : m);
            cosines += c[k] * azimuth[at] + s[k] * azimuth[at + 1];
            sines += s[k] * azimuth[at] - c[k] * azimuth[at + 1];
          }
          cosines = sum_of_four(cosines);
          sines = sum_of_four(sines);
          if (m >= 0 && thread % 4 == 0) {
            total[slot] += cosines;
            total[slot + 2 * block] += sines;
          }
        });
  }

  /// Shifts the numbers of an order m along z.
  template <int used>
  KOKKOS_FORCEINLINE_FUNCTION void along_z(int m, int in_order, int out_order) const {
    const double* element = tiles.inverse + tiles.inverse_begin[m] + thread;
    const int next = ((order - m) / 8 + 1) * warp_threads;
    const double* const from = data + row_of(thread / 4) * row + m / 2;
    double sums[used][2][2];
    MOHO_UNROLL
    for (int tile = 0; tile < used; ++tile) {
      for (int kind = 0; kind < 2; ++kind) sums[tile][kind][0] = sums[tile][kind][1] = 0.0;
    }
    MOHO_UNROLL_BY(2)
    for (int first = m; first <= in_order; first += 4, element += next) {
      const int n = first + thread % 4;
      double c = 0.0, s = 0.0;
      if (n <= in_order) {
        const int block = block_of_degree(n), at = first_of_degree(n) + (m & 1) * block;
        c = from[at];
        s = from[at + 2 * block];
      }
      MOHO_UNROLL
      for (int tile = 0; tile < used; ++tile) {
        const double a = element[tile * warp_threads];
        add_tile(sums[tile][0], a, c);
        add_tile(sums[tile][1], a, s);
      }
    }
    warp_barrier();
    MOHO_UNROLL
    for (int tile = 0; tile < used; ++tile) {
      const int k = m + 8 * tile + thread / 4;
      if (k > out_order) continue;
      const int block = block_of_degree(k);
      const int slot = first_of_degree(k) + (m & 1) * block + m / 2;
      for (int column = 0; column < 2; ++column) {
        const int c = 2 * (thread % 4) + column;
        const double power = after[k * tile_columns + c];
        double* const to = data + row_of(c) * row + slot;
        to[0] = sums[tile][0][column] * power;
        to[2 * block] = sums[tile][1][column] * power;
      }
    }
  }
};

/// \brief Translations of the far pairs of nodes: a team processes the list of one node.
struct FarPairTiles {
  static constexpr int threads = 256, blocks = 3;
  FarPairs far;
  TileAddresses tiles;

  KOKKOS_INLINE_FUNCTION int scratch() const { return TileTranslation::scratch(far.tables.order); }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team, std::int64_t item,
                                         double* scratch) const {
    const std::int32_t node = far.items[item];
    if (far.nodes[node].begin >= far.last || far.nodes[node].end <= far.first) return;
    const int order = far.tables.order;
    const TileTranslation work(team, tiles, order, scratch);
    for (int k = team.rank(); k < work.row; k += team.size()) work.total[k] = 0.0;
    const std::int32_t end = far.begin[node + 1];
    for (std::int32_t at = far.begin[node]; at < end;) {
      int count = 1;
      while (count < tile_columns && at + count < end &&
             far.pairs[at + count].order == far.pairs[at].order) {
        ++count;
      }
      batch(team, work, node, at, count);
      at += count;
    }
    double* const sums = far.to + static_cast<std::int64_t>(node) * far.numbers;
    for (int r = team.rank(); r < fmm_count(order); r += team.size()) {
      const HarmonicRow number = far.tables.rows[r];
      const int block = block_of_degree(number.degree);
      sums[r] += work.total[first_of_degree(number.degree) +
                            (2 * number.sine + (number.order & 1)) * block + number.order / 2];
    }
  }

 private:
  template <class Team>
  KOKKOS_INLINE_FUNCTION void batch(const Team& team, const TileTranslation& work,
                                    std::int32_t node, std::int32_t at, int count) const {
    const FmmNode& target = far.nodes[node];
    const int order = far.pairs[at].order;
    // a node of stations at one point has derivatives only
    const int own = far.transposed || target.radius > 0.0 ? order : far.min;
    int max = 0;
    for (int k = 0; k < count; ++k) {
      const int known = order_of(at + k);
      max = known > max ? known : max;
    }
    for (int k = work.warp; k < tile_columns; k += work.warps) {
      // columns without a pair translate zeros
      const std::int32_t other = far.pairs[at + (k < count ? k : 0)].node;
      double d[3], square = 0.0;
      for (int n = 0; n < 3; ++n) {
        d[n] = target.centre[n] - far.others[other].centre[n];
        square += d[n] * d[n];
      }
      const double inverse = 1.0 / sqrt(square);
      work.set_row(k, far.from + static_cast<std::int64_t>(other) * far.numbers,
                   k < count ? order_of(at + k) : -1, max > own ? max : own, d,
                   far.others[other].scale * inverse, target.scale * inverse, inverse);
    }
    team.barrier();
    work.run(team, max, own);
  }

  /// Returns the order of the expansion of a pair's other node.
  KOKKOS_INLINE_FUNCTION int order_of(std::int32_t pair) const {
    const FarPair& entry = far.pairs[pair];
    return far.transposed && !(far.others[entry.node].radius > 0.0) ? far.min : entry.order;
  }
};

}  // namespace moho::gravity::detail
