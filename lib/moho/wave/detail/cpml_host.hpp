// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Step with perfectly matched layers on hosts, in one sweep over the rows of a tile.
///
/// Psi and zeta along x and y are updated in the loop over a row that computes the second
/// derivatives, from the same loads. At node u this loop updates psi of node u + reach; psi of the
/// nodes behind it is read from the memory of the layer, which has new values there. Psi of nodes
/// around a tile is recomputed from the previous psi into rows of the tile, as in the neighbouring
/// tiles. Along z, psi and zeta of the ends of a row are updated before the row.
///
/// Loops over a row use the same operations for a node wherever the row begins. A node therefore
/// gets the same bits in any box.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/detail/march_host.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace moho::wave::detail {

/// Memory of a layer along x or y at a row of the grid, for one field.
///
/// Rows outside of layers have zero factors and point to rows of zeros.
template <class T>
struct LayerRow {
  const T* below[largest_layer_radius + 1];  ///< psi at k nodes before the row
  const T* above[largest_layer_radius + 1];  ///< psi at k nodes behind, k below the reach
  const T* before;                           ///< previous psi at the reach behind the row
  T* next;                                   ///< psi there, to be written
  T* zeta;                                   ///< zeta of the row
  T a_ahead, b_ahead;                        ///< factors at the reach behind the row
  T a, b;                                    ///< factors of the row
  const T* field;                            ///< field at the reach behind the row
  std::int64_t stride;                       ///< stride of `field` along the axis
  std::int64_t rows_ahead;                   ///< elements of the layer between prefetches and use
};

/// Loads a vector; at the end of a row only its first `count` lanes.
template <bool whole, class V, class T>
inline V take_some(const T* from, std::int64_t count) {
  if constexpr (whole) {
    (void)count;
    return V::load(from);
  } else {
    return V::load(from, count);
  }
}

/// \brief Updates psi and zeta of a vector, and returns their contribution to the second
/// derivative. \param second receives the second derivative
template <bool whole, class V, int radius, class T>
inline V layer_terms(const LayerRow<T>& r, const T* slope, const T* c, const V& now, const T* p,
                     std::int64_t stride, std::int64_t n, std::int64_t count, V& second) {
  constexpr int reach = layer_radius(radius);
  V up[radius + 1];
  up[0] = now;
  second = V(c[0]) * now;
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) {
    up[k] = take<V>(p + k * stride);
    second = fused<V>(V(c[k]), up[k] + take<V>(p - k * stride), second);
  }
  V gradient;
  if constexpr (radius >= 2 * reach) {
    gradient = V(slope[1]) * (up[reach + 1] - up[reach - 1]);
    if constexpr (reach == 2) gradient = fused<V>(V(slope[2]), up[4] - up[0], gradient);
  } else {
    gradient = first_sum<V, reach>(r.field + n, r.stride, slope);
  }
  __builtin_prefetch(r.before + n + r.rows_ahead);
  __builtin_prefetch(r.next + n + r.rows_ahead, 1);
  __builtin_prefetch(r.zeta + n + r.rows_ahead, 1);
  const V old = V(r.b_ahead) * take_some<whole, V>(r.before + n, count);
  const V ahead = fused<V>(V(r.a_ahead), gradient, old);
  put<whole>(r.next + n, ahead, count);
  V change;
  if constexpr (reach == 2) {
    const V near =
        take_some<whole, V>(r.above[1] + n, count) - take_some<whole, V>(r.below[1] + n, count);
    change = fused<V>(V(slope[2]), ahead - take_some<whole, V>(r.below[2] + n, count),
                      V(slope[1]) * near);
  } else {
    // a sum, so that the compiler does not fuse the product with other sums in some of the loops
    change = fused<V>(V(slope[1]), ahead - take_some<whole, V>(r.below[1] + n, count), V(T(0)));
  }
  const V memory = V(r.b) * take_some<whole, V>(r.zeta + n, count);
  const V zeta = fused<V>(V(r.a), second + change, memory);
  put<whole>(r.zeta + n, zeta, count);
  return change + zeta;
}

/// Arguments of a row with layers.
template <class T>
struct LayeredRowArguments {
  std::int64_t row;                      ///< element of node (x, y, 0)
  std::int64_t begin, end;               ///< nodes along z
  T taper;                               ///< product of the sponge's factors along x and y
  T slope[2][largest_layer_radius + 1];  ///< first derivative along x and y
  LayerRow<T> across[2][2];              ///< by field, along x and y
  const T* down[2];                      ///< contributions of layers along z, by field and node
};

/// \brief Returns the second derivatives along x and y, with one field also along z.
///
/// The sums are those of march_node(): either may step nodes that no layer reaches.
template <Stencil stencil, int Dim, int radius, class V, class T>
inline V plain_lateral(const StepArguments<T>& s, const V& now, const T* p) {
  constexpr bool all = kernel::field_count<stencil> == 1;
  T center = all ? s.second[0][0] + s.second[2][0] : s.second[0][0];
  if constexpr (Dim == 3) center += s.second[1][0];
  V sum = second_sum<V, radius>(V(center) * now, p, s.stride_x, s.second[0]);
  if constexpr (Dim == 3) sum = second_sum<V, radius>(sum, p, s.stride_y, s.second[1]);
  if constexpr (all) sum = second_sum<V, radius>(sum, p, 1, s.second[2]);
  return sum;
}

/// Steps the vector of nodes at z. Layers along x and y are included where `x` and `y` are set.
template <Stencil stencil, bool whole, bool x, bool y, int Dim, int radius, class T>
inline void layered_node(const StepArguments<T>& s, const LayeredRowArguments<T>& l,
                         const LayerRow<T> (&across)[2][2], std::int64_t z, std::int64_t count) {
  using V = simd::Pack<T>;
  constexpr bool fletcher = stencil == Stencil::vti_fletcher;
  constexpr int fields = kernel::field_count<stencil>;
  const std::int64_t i = l.row + z, n = z - l.begin;
  V now[2], lateral[2], vertical[2], terms[2];
  for (int f = 0; f < fields; ++f) {
    const T* const p = s.now[f] + i;
    now[f] = take<V>(p);
    terms[f] = V(0);
    if (f == 0 || fletcher) {
      if constexpr (!x && !y) {
        lateral[f] = plain_lateral<stencil, Dim, radius>(s, now[f], p);
      } else if constexpr (x) {
        terms[f] = layer_terms<whole, V, radius>(across[f][0], l.slope[0], s.second[0], now[f], p,
                                                 s.stride_x, n, count, lateral[f]);
      } else {
        lateral[f] = second_sum<V, radius>(V(s.second[0][0]) * now[f], p, s.stride_x, s.second[0]);
      }
      if constexpr (y) {
        V second;
        const V more = layer_terms<whole, V, radius>(across[f][1], l.slope[1], s.second[1], now[f],
                                                     p, s.stride_y, n, count, second);
        terms[f] = terms[f] + more;
        lateral[f] = lateral[f] + second;
      } else if constexpr (x && Dim == 3) {
        lateral[f] = second_sum<V, radius>(fused<V>(V(s.second[1][0]), now[f], lateral[f]), p,
                                           s.stride_y, s.second[1]);
      }
    }
    if (f == fields - 1 || fletcher) {
      vertical[f] = second_sum<V, radius>(V(s.second[2][0]) * now[f], p, 1, s.second[2]);
    }
  }
  V change[2];
  const V scale = take<V>(s.scale + i);
  const V down = take<V>(l.down[fields - 1] + n);
  if constexpr (stencil == Stencil::vti) {
    symmetric_change<V>(lateral[0] + terms[0], vertical[1] + down, take<V>(s.a + i),
                        take<V>(s.b + i), change[0], change[1]);
  } else if constexpr (fletcher) {
    fletcher_change<V>(vertical[0] + take<V>(l.down[0] + n), lateral[0] + terms[0],
                       vertical[1] + down, lateral[1] + terms[1], take<V>(s.a + i),
                       take<V>(s.b + i), V(s.shear), change[0], change[1]);
  } else {
    if constexpr (x || y) lateral[0] = lateral[0] + vertical[0];
    change[0] = lateral[0] + (terms[0] + down);
    if constexpr (stencil == Stencil::variable_density) {
      change[0] = fused<V>(take<V>(s.a + i), -now[0], change[0]);
    }
  }
  const V w = V(l.taper) * take<V>(s.taper[2] + z);
  for (int f = 0; f < fields; ++f) {
    put<whole>(s.next[f] + i, next_value<V>(now[f], take<V>(s.next[f] + i), scale * change[f], w),
               count);
  }
}

/// Steps nodes of a row with layers.
template <Stencil stencil, bool x, bool y, int Dim, int radius, class T>
void layered_row(const StepArguments<T>& arguments, const LayeredRowArguments<T>& row) {
  constexpr std::int64_t lanes = simd::lanes<T>;
  // copies that no pointer aliases stay in registers across stores
  const StepArguments<T> s = arguments;
  const LayeredRowArguments<T> l = row;
  std::int64_t z = l.begin;
  for (; z + lanes <= l.end; z += lanes) {
    ask_for_next_row<stencil, Dim, radius>(s, l.row + z);
    layered_node<stencil, true, x, y, Dim, radius>(s, l, l.across, z, lanes);
  }
  if (z < l.end) layered_node<stencil, false, x, y, Dim, radius>(s, l, l.across, z, l.end - z);
}

/// Steps the rows of a tile with layers, one after the other.
template <Stencil stencil, class T, int Dim, int radius>
class LayeredTile {
 public:
  static constexpr int reach = layer_radius(radius);  ///< radius of first derivatives
  static constexpr std::int64_t lanes = simd::lanes<T>;
  static constexpr int fields = kernel::field_count<stencil>;

  /// \param store keeps the memory between tiles
  LayeredTile(const AllLayers<T>& layers, const HostTile& tile, std::vector<T>& store)
      : m_l(layers), m_tile(tile) {
    m_rows = tile.upper[1] - tile.lower[1];
    // vectors read beyond the end of a row
    m_length = (tile.upper[2] - tile.lower[2] + 2 * lanes - 1) / lanes * lanes;
    cut_ends(layers.pairs[vertical_field()][2]);
    m_z_row = 0;
    for (int e = 0; e < m_ends; ++e) m_z_row += length_of(m_end[e]);

    const std::int64_t rows = fields * 2 * reach * (m_rows + 1) + 2 + 3;
    const std::int64_t wanted = m_length * rows + 2 * m_rows * m_z_row;
    if (static_cast<std::int64_t>(store.size()) < wanted) store.resize(wanted);
    m_around_x = store.data();
    m_around_y = m_around_x + m_length * fields * 2 * reach * m_rows;
    m_down = m_around_y + m_length * fields * 2 * reach;
    m_zeros = m_down + m_length * 2;
    m_unread = m_zeros + m_length;
    T* const z = m_unread + 2 * m_length;
    // elements that no layer writes stay zero
    std::fill(m_down, z + 2 * m_rows * m_z_row, T(0));
    std::int64_t before = 0;
    for (int e = 0; e < m_ends; ++e) {
      m_end[e].psi = z + before + reach - m_end[e].begin;
      before += length_of(m_end[e]);
    }
  }

  /// Steps the tile. \param work steps nodes without layers
  void run(HostWork<T> work) {
    for (std::int64_t x = m_tile.lower[0]; x < m_tile.upper[0]; ++x) {
      begin(x);
      for (std::int64_t y = m_tile.lower[1]; y < m_tile.upper[1]; ++y) step_row(work, x, y);
    }
  }

 private:
  using V = simd::Pack<T>;
  /// Nodes of a row that layers along z reach.
  struct End {
    std::int64_t begin, end;
    T* psi;  ///< by node, with `reach` more nodes on both sides
  };
  static std::int64_t length_of(const End& end) { return end.end - end.begin + 2 * reach + lanes; }
  static constexpr bool has(int f, int axis) { return layer_has(stencil, axis, f); }
  /// Returns a field with layers along z; all such fields have the same layers.
  static constexpr int vertical_field() { return has(0, 2) ? 0 : 1; }

  void cut_ends(const LayerPair<T>& pair) {
    const std::int64_t z0 = m_tile.lower[2], z1 = m_tile.upper[2];
    std::int64_t low = z0, high = z1;
    // to whole vectors, so that those between the ends are aligned
    if (pair.lower_end > 0) {
      low = std::clamp<std::int64_t>((pair.lower_end + reach + lanes - 1) / lanes * lanes, z0, z1);
    }
    if (pair.upper_begin < pair.extent) {
      high = std::clamp<std::int64_t>((pair.upper_begin - reach) / lanes * lanes, z0, z1);
    }
    m_ends = 0;
    if (low >= high && (low > z0 || high < z1)) {
      m_end[m_ends++] = {z0, z1, nullptr};
      return;
    }
    if (low > z0) m_end[m_ends++] = {z0, low, nullptr};
    if (high < z1) m_end[m_ends++] = {high, z1, nullptr};
  }

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
      if (has(f, 2)) fill_ends(f, x, y0);
    }
  }
  void step_row(HostWork<T> work, std::int64_t x, std::int64_t y) {
    const StepArguments<T>& s = m_l.s;
    for (int f = 0; f < fields; ++f) {
      if (!has(f, 2)) continue;
      // a row in advance: values are not read across vectors right after they are stored
      if (y + 1 < m_tile.upper[1]) fill_ends(f, x, y + 1);
      add_z(f, x, y);
    }
    const bool along_x = m_l.pairs[0][0].reaches(x, reach);
    const bool along_y = Dim == 3 && m_l.pairs[0][1].reaches(y, reach);
    LayeredRowArguments<T> row;
    row.row = s.flat(x, y, 0);
    row.taper = s.taper[0][x] * s.taper[1][y];
    for (int d = 0; d < 2; ++d) {
      for (int k = 0; k <= largest_layer_radius; ++k) row.slope[d][k] = m_l.slope[d][k];
    }
    const auto step_nodes = [&](std::int64_t from, std::int64_t to) {
      row.begin = from;
      row.end = to;
      for (int f = 0; f < 2; ++f) row.down[f] = m_down + f * m_length + from - m_tile.lower[2];
      if constexpr (Dim == 3) {
        if (along_x && along_y) return layered_row<stencil, true, true, Dim, radius>(s, row);
        if (along_y) return layered_row<stencil, false, true, Dim, radius>(s, row);
      }
      if (along_x) return layered_row<stencil, true, false, Dim, radius>(s, row);
      layered_row<stencil, false, false, Dim, radius>(s, row);
    };
    if (along_x || along_y) {
      for (int f = 0; f < fields; ++f) {
        if (!has(f, 0)) continue;
        row.across[f][0] = layer_row(f, 0, along_x, x, y, x);
        row.across[f][1] = layer_row(f, 1, along_y, x, y, y);
      }
      return step_nodes(m_tile.lower[2], m_tile.upper[2]);
    }
    std::int64_t from = m_tile.lower[2];
    for (int e = 0; e <= m_ends; ++e) {
      HostTile middle{{x, y, from}, {x + 1, y + 1, m_tile.upper[2]}};
      if (e < m_ends) middle.upper[2] = m_end[e].begin;
      if (middle.lower[2] < middle.upper[2]) work(s, middle);
      if (e == m_ends) break;
      step_nodes(m_end[e].begin, m_end[e].end);
      from = m_end[e].end;
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
    if (own(axis, u)) return pair.of(u).psi_next + pair.of(u).at(x, y, m_tile.lower[2]);
    const std::int64_t slot =
        u < m_tile.lower[axis] ? u - m_tile.lower[axis] + reach : u - m_tile.upper[axis] + reach;
    if (axis == 1) return m_around_y + (f * 2 * reach + slot) * m_length;
    return m_around_x + ((f * 2 * reach + slot) * m_rows + y - m_tile.lower[1]) * m_length;
  }
  /// Returns the memory of layers along x or y of a row; u is its node along that axis.
  LayerRow<T> layer_row(int f, int axis, bool reached, std::int64_t x, std::int64_t y,
                        std::int64_t u) const {
    const LayerPair<T>& pair = m_l.pairs[f][axis];
    LayerRow<T> r{};
    r.before = m_zeros;
    r.next = m_unread;
    r.zeta = m_unread + m_length;
    r.field = m_zeros;
    for (int k = 1; k <= reach; ++k) r.below[k] = r.above[k] = m_zeros;
    if (!reached) return r;
    const std::int64_t dx = axis == 0 ? 1 : 0, dy = 1 - dx, z0 = m_tile.lower[2];
    for (int k = 1; k <= reach; ++k) {
      r.below[k] = psi(f, axis, x - k * dx, y - k * dy, u - k);
      if (k < reach) r.above[k] = psi(f, axis, x + k * dx, y + k * dy, u + k);
    }
    const std::int64_t ahead = u + reach;
    if (pair.has(ahead)) {
      const std::int64_t ax = x + reach * dx, ay = y + reach * dy;
      const LayerAccess<T>& layer = pair.of(ahead);
      r.before = layer.psi_now + layer.at(ax, ay, z0);
      r.next = psi(f, axis, ax, ay, ahead);
      r.a_ahead = pair.a[ahead];
      r.b_ahead = pair.b[ahead];
      r.field = m_l.s.now[f] + m_l.s.flat(ax, ay, z0);
      r.stride = axis == 0 ? m_l.s.stride_x : m_l.s.stride_y;
      if (Dim == 3) r.rows_ahead = HostTiles::rows_ahead * layer.stride_y;
    }
    if (pair.has(u)) {
      const LayerAccess<T>& layer = pair.of(u);
      r.zeta = layer.zeta + layer.at(x, y, z0);
      r.a = pair.a[u];
      r.b = pair.b[u];
      if (Dim == 3) r.rows_ahead = HostTiles::rows_ahead * layer.stride_y;
    }
    return r;
  }
  /// Computes psi along x or y of nodes (x, y), if they are in a layer.
  void fill(int f, int axis, std::int64_t x, std::int64_t y, std::int64_t u) const {
    const LayerPair<T>& pair = m_l.pairs[f][axis];
    if (!pair.has(u)) return;
    const StepArguments<T>& s = m_l.s;
    const std::int64_t z0 = m_tile.lower[2], length = m_tile.upper[2] - z0;
    const std::int64_t stride = axis == 0 ? s.stride_x : s.stride_y;
    T slope[largest_layer_radius + 1];
    for (int k = 0; k <= largest_layer_radius; ++k) slope[k] = m_l.slope[axis][k];
    const T* const p = s.now[f] + s.flat(x, y, z0);
    const T* const before = pair.of(u).psi_now + pair.of(u).at(x, y, z0);
    T* const to = psi(f, axis, x, y, u);
    const V a = V(pair.a[u]), b = V(pair.b[u]);
    for (std::int64_t n = 0; n < length; n += lanes) {
      const V old = b * V::load(before + n, length - n);
      fused<V>(a, first_sum<V, reach>(p + n, stride, slope), old).store(to + n, length - n);
    }
  }

  /// Local copies of coefficients, not aliased by pointers, which stay in registers across stores.
  template <int count>
  struct Copied {
    T c[count + 1];
    explicit Copied(const T* from) {
      MOHO_UNROLL
      for (int k = 0; k <= count; ++k) c[k] = from[k];
    }
  };

  /// Computes psi along z of nodes [begin, end) of a layer, and stores new values of the tile.
  void psi_along_z(const LayerPair<T>& pair, const LayerAccess<T>& layer, const T* p,
                   std::int64_t at, std::int64_t begin, std::int64_t end, T* to) const {
    const bool own = begin >= m_tile.lower[2] && end <= m_tile.upper[2];
    const Copied<reach> slope(m_l.slope[2]);
    const T *const a = pair.a, *const b = pair.b, *const before = layer.psi_now + at;
    T* const next = layer.psi_next + at;
    const std::int64_t far = HostTiles::rows_ahead * layer.stride_y;
    for (std::int64_t z = begin; z < end; z += lanes) {
      __builtin_prefetch(before + z + far);
      __builtin_prefetch(next + z + far, 1);
      const V old = take<V>(b + z) * V::load(before + z, end - z);
      const V psi = fused<V>(take<V>(a + z), first_sum<V, reach>(p + z, 1, slope.c), old);
      psi.store(to + z, end - z);
      if (own) psi.store(next + z, end - z);
    }
    if (own) return;
    const std::int64_t low = std::max(begin, m_tile.lower[2]),
                       high = std::min(end, m_tile.upper[2]);
    if (low < high) std::copy(to + low, to + high, layer.psi_next + at + low);
  }
  /// Computes corrections of nodes [begin, end) of a row; with zeta if it is not null, which
  /// is read `far` elements in advance.
  void sum_along_z(const LayerPair<T>& pair, T* zeta, std::int64_t far, const T* p, const T* psi,
                   std::int64_t begin, std::int64_t end, T* sum) const {
    const Copied<radius> second(m_l.s.second[2]);
    const Copied<reach> slope(m_l.slope[2]);
    const T *const a = pair.a, *const b = pair.b;
    for (std::int64_t z = begin; z < end; z += lanes) {
      V value = first_sum<V, reach>(psi + z, 1, slope.c);
      if (zeta != nullptr) {
        __builtin_prefetch(zeta + z + far, 1);
        const V all =
            second_sum<V, radius>(V(second.c[0]) * take<V>(p + z), p + z, 1, second.c) + value;
        const V old = take<V>(b + z) * V::load(zeta + z, end - z);
        const V memory = fused<V>(take<V>(a + z), all, old);
        memory.store(zeta + z, end - z);
        value = value + memory;
      }
      value.store(sum + z, end - z);
    }
  }
  T* end_row(int f, int e, std::int64_t y) const {
    return m_end[e].psi + (f * m_rows + y - m_tile.lower[1]) * m_z_row;
  }
  /// Computes psi along z of a row.
  void fill_ends(int f, std::int64_t x, std::int64_t y) const {
    const StepArguments<T>& s = m_l.s;
    const LayerPair<T>& pair = m_l.pairs[f][2];
    for (int e = 0; e < m_ends; ++e) {
      for (int side = 0; side < 2; ++side) {
        const std::int64_t first = side == 0 ? 0 : pair.upper_begin;
        const std::int64_t last = side == 0 ? pair.lower_end : pair.extent;
        const std::int64_t begin = std::max(first, m_end[e].begin - reach);
        const std::int64_t end = std::min(last, m_end[e].end + reach);
        if (begin >= end) continue;
        psi_along_z(pair, pair.sides[side], s.now[f] + s.flat(x, y, 0),
                    pair.sides[side].at(x, y, 0), begin, end, end_row(f, e, y));
      }
    }
  }
  /// Adds the corrections along z of a row.
  void add_z(int f, std::int64_t x, std::int64_t y) const {
    const StepArguments<T>& s = m_l.s;
    const LayerPair<T>& pair = m_l.pairs[f][2];
    const T* const p = s.now[f] + s.flat(x, y, 0);
    T* const sum = m_down + f * m_length - m_tile.lower[2];
    for (int e = 0; e < m_ends; ++e) {
      const std::int64_t begin = m_end[e].begin, end = m_end[e].end;
      const T* const psi = end_row(f, e, y);
      const std::int64_t low = std::clamp<std::int64_t>(pair.lower_end, begin, end);
      const std::int64_t high = std::clamp<std::int64_t>(pair.upper_begin, low, end);
      const auto zeta = [&](int side) {
        return pair.sides[side].zeta + pair.sides[side].at(x, y, 0);
      };
      const auto far = [&](int side) { return HostTiles::rows_ahead * pair.sides[side].stride_y; };
      if (begin < low) sum_along_z(pair, zeta(0), far(0), p, psi, begin, low, sum);
      sum_along_z(pair, nullptr, 0, p, psi, low, high, sum);
      if (high < end) sum_along_z(pair, zeta(1), far(1), p, psi, high, end, sum);
    }
  }

  const AllLayers<T>& m_l;
  HostTile m_tile;
  std::int64_t m_rows, m_length, m_z_row;
  T* m_around_x;  ///< psi along x around the tile, by field, plane and row
  T* m_around_y;  ///< psi along y around the tile in a plane, by field and row
  T* m_down;      ///< contributions of layers along z to a row, by field
  T *m_zeros, *m_unread;
  End m_end[2];
  int m_ends;
};

/// Function that steps a tile with its layers.
template <class T>
using LayeredHostWork = void (*)(const AllLayers<T>&, HostWork<T>, const HostTile&);

template <Stencil stencil, class T, int Dim, int radius>
void layered_host(const AllLayers<T>& l, HostWork<T> work, const HostTile& tile) {
  static thread_local std::vector<T> memory;
  LayeredTile<stencil, T, Dim, radius>(l, tile, memory).run(work);
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

  /// Returns the n-th tile in the order of the loop: from both ends to the middle.
  ///
  /// Tiles at the ends have layers and take longer; no thread is left with one of them at the end.
  std::int64_t tile_at(std::int64_t n) const {
    return n % 2 == 0 ? n / 2 : tiles.tiles - 1 - n / 2;
  }
  void operator()(const std::int64_t n) const {
    const FlushDenormals flush;
    if (layers.s.shots == 1) return work(layers, tiles.work, tiles.tile(tile_at(n)));
    const AllLayers<T> own = layers.of_shot(static_cast<int>(n / tiles.tiles));
    work(own, tiles.work, tiles.tile(tile_at(n % tiles.tiles)));
  }
};

}  // namespace moho::wave::detail
