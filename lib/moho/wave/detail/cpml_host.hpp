// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Step with perfectly matched layers on hosts, in one sweep over the rows of a tile.
///
/// Psi and zeta along x and y are updated in the loop over a row that computes the second
/// derivatives, from the same loads. At node u this loop updates psi of node u + reach; psi of the
/// nodes behind it is read from the memory of the layer, which has new values there. Psi of nodes
/// around a tile is recomputed from the previous psi into rows of the tile, as in the neighbouring
/// tiles; where psi is updated in place, from the values that SavedPsi keeps. Along z, the loop
/// over the ends of a row computes psi of the next vector and keeps psi of three vectors.
///
/// Loops over a row use the same operations for a node wherever the box begins. A node therefore
/// gets the same bits in any box.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/cpml_row.hpp>
#include <moho/wave/detail/psi_in_place.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace moho::wave::detail {

/// Steps the rows of a tile with layers, one after the other.
template <Stencil stencil, class T, int Dim, int radius>
class LayeredTile {
 public:
  static constexpr int reach = layer_radius(radius);  ///< radius of first derivatives
  static constexpr std::int64_t lanes = simd::lanes<T>;
  static constexpr int fields = kernel::field_count<stencil>;

  /// \param saved previous psi around the tile, if psi is updated in place
  /// \param store keeps the memory between tiles
  LayeredTile(const AllLayers<T>& layers, const HostTile& tile, const SavedPsi<T>& saved,
              std::vector<T>& store)
      : m_l(layers), m_tile(tile), m_saved(saved) {
    m_rows = tile.upper[1] - tile.lower[1];
    m_nodes.begin = tile.lower[2];
    m_nodes.end = tile.upper[2];
    m_nodes.start = tile.lower[2] / lanes * lanes;
    m_length = round_up(tile.upper[2] - m_nodes.start);
    const LayerPair<T>& down = layers.pairs[vertical_field()][2];
    m_nodes.low = down.lower_end > 0 ? round_up(down.lower_end + reach) : 0;
    m_nodes.high = down.upper_begin < down.extent ? (down.upper_begin - reach) / lanes * lanes
                                                  : round_up(down.extent);
    for (int d = 0; d < 3; ++d) {
      for (int k = 0; k <= largest_layer_radius; ++k) m_slopes.c[d][k] = layers.slope[d][k];
    }
    const std::int64_t wanted = m_length * (fields * 2 * reach * (m_rows + 1) + 3);
    m_around_x = aligned_memory(store, wanted);
    m_around_y = m_around_x + m_length * fields * 2 * reach * m_rows;
    m_zeros = m_around_y + m_length * fields * 2 * reach;
    m_unread = m_zeros + m_length;
    std::fill(m_zeros, m_unread + 2 * m_length, T(0));
  }

  /// Steps the tile. \param work steps nodes without layers
  void run(HostWork<T> work) {
    for (std::int64_t x = m_tile.lower[0]; x < m_tile.upper[0]; ++x) {
      begin(x);
      step_plane(work, x);
    }
  }

 private:
  using V = simd::Pack<T>;
  static std::int64_t round_up(std::int64_t nodes) { return (nodes + lanes - 1) / lanes * lanes; }
  static constexpr bool has(int f, int axis) { return layer_has(stencil, axis, f); }
  /// Returns a field with layers along z; all such fields have the same layers.
  static constexpr int vertical_field() { return has(0, 2) ? 0 : 1; }

  /// Begins a plane: psi around the tile and at its first nodes.
  void begin(std::int64_t x) {
    const std::int64_t x0 = m_tile.lower[0], y0 = m_tile.lower[1];
    for (int f = 0; f < fields; ++f) {
      if (has(f, 0) && x == x0 && m_l.pairs[f][0].reaches(x, reach)) {
        for (std::int64_t u = x0 - reach; u < x0 + reach; ++u) {
          for (std::int64_t y = y0; y < m_tile.upper[1]; ++y) fill(f, 0, u, y, u);
        }
      }
      if constexpr (Dim == 3) {
        if (has(f, 1) && m_l.pairs[f][1].reaches(y0, reach)) {
          for (std::int64_t v = y0 - reach; v < y0 + reach; ++v) fill(f, 1, x, v, v);
        }
      }
    }
  }
  /// Steps the rows of a plane; consecutive rows with the same layers by one function.
  void step_plane(HostWork<T> work, std::int64_t x) const {
    const bool along_x = m_l.pairs[0][0].reaches(x, reach);
    const auto along_y = [&](std::int64_t y) {
      return Dim == 3 && m_l.pairs[0][1].reaches(y, reach);
    };
    const bool along_z = m_nodes.begin < m_nodes.low || m_nodes.end > m_nodes.high;
    for (std::int64_t y = m_tile.lower[1]; y < m_tile.upper[1];) {
      const bool reached = along_y(y);
      std::int64_t end = y + 1;
      while (end < m_tile.upper[1] && along_y(end) == reached) ++end;
      if (!along_x && !reached && !along_z) {
        work(m_l.s, {{x, y, m_nodes.begin}, {x + 1, end, m_nodes.end}});
      } else if (!reached) {
        along_x ? step_rows<true, false>(x, y, end) : step_rows<false, false>(x, y, end);
      } else if constexpr (Dim == 3) {
        along_x ? step_rows<true, true>(x, y, end) : step_rows<false, true>(x, y, end);
      }
      y = end;
    }
  }
  /// Steps rows [y, end) of a plane.
  template <bool along_x, bool along_y>
  void step_rows(std::int64_t x, std::int64_t y, std::int64_t end) const {
    // copies that no pointer aliases stay in registers across stores
    const StepArguments<T> s = m_l.s;
    const LayerSlopes<T> slopes = m_slopes;
    LayeredRow<T> row;
    LayerSteps steps[2];
    for (int f = 0; f < fields; ++f) {
      if (has(f, 2)) row.ends[f] = ends_of_row(f, x, y);
      if (!has(f, 0)) continue;
      if constexpr (along_x) {
        row.across[f][0] = layer_row(f, 0, x, y, x);
        steps[f] = LayerSteps(row.across[f][0], layer_row(f, 0, x, y + 1, x));
      }
      if constexpr (along_y) row.across[f][1] = layer_row(f, 1, x, y, y);
    }
    for (;;) {
      row.row = s.flat(x, y, 0);
      row.taper = s.taper[0][x] * s.taper[1][y];
      step_row<along_x, along_y>(s, slopes, row);
      if (++y >= end) break;
      for (int f = 0; f < fields; ++f) {
        if (has(f, 2)) to_next_row(row.ends[f]);
        if (!has(f, 0)) continue;
        if constexpr (along_x) steps[f].move(row.across[f][0]);
        if constexpr (along_y) to_next_row(row.across[f][1], f, x, y);
      }
    }
  }
  /// Steps a row.
  template <bool x, bool y>
  [[gnu::always_inline]] inline void step_row(const StepArguments<T>& s,
                                              const LayerSlopes<T>& slopes,
                                              const LayeredRow<T>& l) const {
    const RowNodes nodes = m_nodes;
    const auto psi_at = [&](int f, std::int64_t z, bool keep) {
      return psi_along_z<reach, V>(l.ends[f], slopes.c[2], s.now[f] + l.row, z, nodes, keep);
    };
    for (std::int64_t z = nodes.start; z < nodes.end;) {
      if (z >= nodes.low && z < nodes.high) {
        for (const std::int64_t end = std::min(nodes.high, nodes.end); z < end; z += lanes) {
          ask_for_next_row<stencil, Dim, radius>(s, l.row + z);
          if (nodes.whole(z, lanes)) [[likely]] {
            layered_node<stencil, true, x, y, false, Dim, radius>(s, slopes, l, z, z - nodes.start,
                                                                  {0, lanes}, PsiAlongZ<V>());
          } else {
            layered_part<stencil, x, y, false, Dim, radius>(m_l.s, m_slopes, l, m_nodes, z,
                                                            PsiAlongZ<V>());
          }
        }
        continue;
      }
      PsiAlongZ<V> psi;
      for (int f = 0; f < fields; ++f) {
        if (!has(f, 2)) continue;
        if (z > 0) psi.before[f] = psi_at(f, z - lanes, false);
        psi.here[f] = psi_at(f, z, true);
      }
      // without vectors in between, both ends are one loop: it updates each psi once
      const std::int64_t end =
          z < nodes.low && nodes.low < nodes.high ? std::min(nodes.low, nodes.end) : nodes.end;
      for (; z < end; z += lanes) {
        ask_for_next_row<stencil, Dim, radius>(s, l.row + z);
        for (int f = 0; f < fields; ++f) {
          if (has(f, 2)) psi.after[f] = psi_at(f, z + lanes, true);
        }
        if (nodes.whole(z, lanes)) [[likely]] {
          layered_node<stencil, true, x, y, true, Dim, radius>(s, slopes, l, z, z - nodes.start,
                                                               {0, lanes}, psi);
        } else {
          layered_part<stencil, x, y, true, Dim, radius>(m_l.s, m_slopes, l, m_nodes, z, psi);
        }
        for (int f = 0; f < fields; ++f) {
          psi.before[f] = psi.here[f];
          psi.here[f] = psi.after[f];
        }
      }
    }
  }

  /// Returns the memory of layers along z of a row.
  LayerEnds<T> ends_of_row(int f, std::int64_t x, std::int64_t y) const {
    const LayerPair<T>& pair = m_l.pairs[f][2];
    LayerEnds<T> r{};
    r.low = round_up(pair.lower_end);
    r.past = round_up(pair.extent);
    r.high = pair.upper_begin < pair.extent ? pair.upper_begin / lanes * lanes : r.past;
    r.a = pair.a;
    r.b = pair.b;
    for (int side = 0; side < 2; ++side) {
      const LayerAccess<T>& layer = pair.sides[side];
      if (layer.zeta == nullptr) continue;
      const std::int64_t at = layer.at(x, y, 0);
      r.psi_now[side] = layer.psi_now + at;
      r.psi_next[side] = layer.psi_next + at;
      r.zeta[side] = layer.zeta + at;
      r.rows[side] = layer.stride_y;
    }
    return r;
  }
  static void to_next_row(LayerEnds<T>& r) {
    for (int side = 0; side < 2; ++side) {
      r.psi_now[side] += r.rows[side];
      r.psi_next[side] += r.rows[side];
      r.zeta[side] += r.rows[side];
    }
  }

  /// Returns true if node u along an axis is in the tile.
  bool own(int axis, std::int64_t u) const {
    return u >= m_tile.lower[axis] && u < m_tile.upper[axis];
  }
  /// Returns psi of nodes (x, y) along x or y; u is the node along that axis.
  T* psi(int f, int axis, std::int64_t x, std::int64_t y, std::int64_t u) const {
    const LayerPair<T>& pair = m_l.pairs[f][axis];
    if (!pair.has(u)) return m_zeros;
    if (own(axis, u)) return pair.of(u).psi_next + pair.of(u).at(x, y, m_nodes.start);
    const std::int64_t slot =
        u < m_tile.lower[axis] ? u - m_tile.lower[axis] + reach : u - m_tile.upper[axis] + reach;
    if (axis == 1) return m_around_y + (f * 2 * reach + slot) * m_length;
    return m_around_x + ((f * 2 * reach + slot) * m_rows + y - m_tile.lower[1]) * m_length;
  }
  /// Returns the previous psi of nodes (x, y) of a layer along x or y; u is the node along that
  /// axis.
  const T* previous(int f, int axis, std::int64_t x, std::int64_t y, std::int64_t u) const {
    if (!own(axis, u) && m_saved.has(f, axis, u)) {
      return m_saved.row(f, axis, u, axis == 0 ? y : x);
    }
    const LayerAccess<T>& layer = m_l.pairs[f][axis].of(u);
    return layer.psi_now + layer.at(x, y, m_nodes.start);
  }
  /// Returns the memory of layers along x or y of a row; u is its node along that axis.
  LayerRow<T> layer_row(int f, int axis, std::int64_t x, std::int64_t y, std::int64_t u) const {
    const std::int64_t dx = axis == 0 ? 1 : 0, dy = 1 - dx;
    LayerRow<T> r{};
    for (int k = -reach; k < reach; ++k) {
      r.psi[k + reach] = psi(f, axis, x + k * dx, y + k * dy, u + k);
    }
    set_node(r, f, axis, x, y, u);
    return r;
  }
  /// Sets the memory of the node of a row, and of that at the reach behind it.
  void set_node(LayerRow<T>& r, int f, int axis, std::int64_t x, std::int64_t y,
                std::int64_t u) const {
    const LayerPair<T>& pair = m_l.pairs[f][axis];
    const std::int64_t dx = axis == 0 ? 1 : 0, dy = 1 - dx, z0 = m_nodes.start;
    const std::int64_t ahead = u + reach;
    r.stride = axis == 0 ? m_l.s.stride_x : m_l.s.stride_y;
    if (pair.has(ahead)) {
      const std::int64_t ax = x + reach * dx, ay = y + reach * dy;
      const LayerAccess<T>& layer = pair.of(ahead);
      r.before = previous(f, axis, ax, ay, ahead);
      r.next = psi(f, axis, ax, ay, ahead);
      r.a_ahead = pair.a[ahead];
      r.b_ahead = pair.b[ahead];
      r.field = m_l.s.now[f] + m_l.s.flat(ax, ay, z0);
      if (Dim == 3) r.rows_ahead = HostTiles::rows_ahead * layer.stride_y;
    } else {
      r.before = m_zeros;
      r.next = m_unread;
      r.a_ahead = r.b_ahead = 0;
      r.field = m_zeros;
      r.stride = 0;
    }
    if (pair.has(u)) {
      const LayerAccess<T>& layer = pair.of(u);
      r.zeta = layer.zeta + layer.at(x, y, z0);
      r.a = pair.a[u];
      r.b = pair.b[u];
      if (Dim == 3) r.rows_ahead = HostTiles::rows_ahead * layer.stride_y;
    } else {
      r.zeta = m_unread + m_length;
      r.a = r.b = 0;
    }
  }
  /// Moves the memory of layers along y to row y, the next one.
  void to_next_row(LayerRow<T>& r, int f, std::int64_t x, std::int64_t y) const {
    const T* const ahead = m_l.pairs[f][1].has(y - 1 + reach) ? r.next : m_zeros;
    for (int k = 1; k < 2 * reach; ++k) r.psi[k - 1] = r.psi[k];
    r.psi[2 * reach - 1] = ahead;
    set_node(r, f, 1, x, y, y);
  }
  /// Elements from row to row of the memory of layers along x.
  struct LayerSteps {
    std::int64_t psi[2 * reach], next, before, field, zeta;
    LayerSteps() = default;
    LayerSteps(const LayerRow<T>& row, const LayerRow<T>& after)
        : next(after.next - row.next),
          before(after.before - row.before),
          field(after.field - row.field),
          zeta(after.zeta - row.zeta) {
      for (int k = 0; k < 2 * reach; ++k) psi[k] = after.psi[k] - row.psi[k];
    }
    void move(LayerRow<T>& row) const {
      for (int k = 0; k < 2 * reach; ++k) row.psi[k] += psi[k];
      row.next += next;
      row.before += before;
      row.field += field;
      row.zeta += zeta;
    }
  };

  /// Computes psi along x or y of nodes (x, y), if they are in a layer.
  void fill(int f, int axis, std::int64_t x, std::int64_t y, std::int64_t u) const {
    const LayerPair<T>& pair = m_l.pairs[f][axis];
    if (!pair.has(u)) return;
    const StepArguments<T>& s = m_l.s;
    const std::int64_t stride = axis == 0 ? s.stride_x : s.stride_y;
    const LayerSlopes<T> slopes = m_slopes;
    const T* const p = s.now[f] + s.flat(x, y, m_nodes.start);
    const T* const before = previous(f, axis, x, y, u);
    T* const to = psi(f, axis, x, y, u);
    const V a = V(pair.a[u]), b = V(pair.b[u]);
    for (std::int64_t n = 0; n < m_length; n += lanes) {
      const V value =
          fused<V>(a, first_sum<V, reach>(p + n, stride, slopes.c[axis]), b * take<V>(before + n));
      const BoxLanes part = m_nodes.part(m_nodes.start + n, lanes);
      value.store(to + n, part.first, part.last);
    }
  }

  const AllLayers<T>& m_l;
  HostTile m_tile;
  const SavedPsi<T>& m_saved;
  RowNodes m_nodes;
  LayerSlopes<T> m_slopes;
  std::int64_t m_rows, m_length;
  T* m_around_x;  ///< psi along x around the tile, by field, plane and row
  T* m_around_y;  ///< psi along y around the tile in a plane, by field and row
  T *m_zeros, *m_unread;
};

/// Function that steps a tile with its layers.
template <class T>
using LayeredHostWork = void (*)(const AllLayers<T>&, HostWork<T>, const HostTile&,
                                 const SavedPsi<T>&);

template <Stencil stencil, class T, int Dim, int radius>
void layered_host(const AllLayers<T>& l, HostWork<T> work, const HostTile& tile,
                  const SavedPsi<T>& saved) {
  static thread_local std::vector<T> memory;
  LayeredTile<stencil, T, Dim, radius>(l, tile, saved, memory).run(work);
}

/// Returns the function of hosts for a tile with layers, by order; null for stencils without
/// layers.
template <Stencil stencil, class T, int Dim>
LayeredHostWork<T> layered_host_of(int order) {
  if constexpr (info(stencil).cpml) {
    const LayeredHostWork<T> table[] = {
        &layered_host<stencil, T, Dim, 1>, &layered_host<stencil, T, Dim, 2>,
        &layered_host<stencil, T, Dim, 3>, &layered_host<stencil, T, Dim, 4>,
        &layered_host<stencil, T, Dim, 5>, &layered_host<stencil, T, Dim, 6>,
        &layered_host<stencil, T, Dim, 7>, &layered_host<stencil, T, Dim, 8>};
    return table[order / 2 - 1];
  } else {
    (void)order;
    return nullptr;
  }
}

/// Loop over tiles with layers.
template <class T>
struct LayeredHostLoop {
  HostLoop<T> tiles;
  AllLayers<T> layers;
  LayeredHostWork<T> work;
  SavedPsi<T> saved;  ///< of one wavefield: those of a batch keep two levels of psi

  /// Returns the n-th tile in the order of the loop: from both ends to the middle.
  ///
  /// Tiles at the ends have layers and take longer; no thread is left with one of them at the end.
  std::int64_t tile_at(std::int64_t n) const {
    return n % 2 == 0 ? n / 2 : tiles.tiles - 1 - n / 2;
  }
  void operator()(const std::int64_t n) const {
    const FlushDenormals flush;
    if (layers.s.shots == 1) return work(layers, tiles.work, tiles.tile(tile_at(n)), saved);
    const AllLayers<T> own = layers.of_shot(static_cast<int>(n / tiles.tiles));
    work(own, tiles.work, tiles.tile(tile_at(n % tiles.tiles)), saved);
  }
};

}  // namespace moho::wave::detail
