// SPDX-License-Identifier: BSD-3-Clause

#include <moho/gravity/detail/fmm_tiles.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::gravity::detail {

namespace {

std::size_t table_index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Adds a tile of elements(row, column).
template <class Elements>
void append_tile(std::vector<double>& tiles, const Elements& elements) {
  for (int k = 0; k < warp_threads; ++k) tiles.push_back(elements(k / 4, k % 4));
}

// Adds the tiles of four columns from `first` on of a degree's exchange.
void append_exchange(const FmmTables& tables, int n, int parity, int first,
                     std::vector<double>& tiles) {
  for (int tile = 0; 8 * tile < block_of_degree(n); ++tile) {
    for (const bool sine : {false, true}) {
      append_tile(tiles, [&](int row, int column) {
        const int order = 2 * (8 * tile + row) + ((n + parity + (sine ? 1 : 0)) & 1);
        const int m = 2 * (first + column) + parity;
        if (order > n || m > n || (sine && (order == 0 || m == 0))) return 0.0;
        const HarmonicRow& number =
            tables.rows[table_index(sine ? sin_at(n, order) : cos_at(n, order))];
        return tables.exchange[table_index(number.exchange + (m - first_exchanged(number)) / 2)];
      });
    }
  }
}

}  // namespace

FmmTiles tiles_of(const FmmTables& tables) {
  FmmTiles tiles;
  const int order = tables.order;
  for (int n = 0; n <= order; ++n) {
    tiles.exchange_begin.push_back(static_cast<std::int32_t>(tiles.exchange.size()));
    for (const int parity : {0, 1}) {
      for (int first = 0; first < block_of_degree(n); first += 4) {
        append_exchange(tables, n, parity, first, tiles.exchange);
      }
    }
  }
  for (int m = 0; m <= order; ++m) {
    tiles.inverse_begin.push_back(static_cast<std::int32_t>(tiles.inverse.size()));
    for (int first = m; first <= order; first += 4) {
      for (int tile = m; tile <= order; tile += 8) {
        append_tile(tiles.inverse, [&](int row, int column) {
          const int k = tile + row, n = first + column;
          if (k > order || n > order) return 0.0;
          return tables.inverse[table_index(tables.rows[table_index(cos_at(k, m))].shift + n - m)];
        });
      }
    }
  }
  return tiles;
}

}  // namespace moho::gravity::detail
