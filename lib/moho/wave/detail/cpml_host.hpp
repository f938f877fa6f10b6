// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Step with perfectly matched layers on hosts, in one launch.
///
/// A tile is stepped row by row (march_host.hpp). Corrections of a row are added while the row and
/// its neighbours are in the first-level cache. Psi along x is in a ring of planes of the tile, psi
/// along y in a ring of rows of the plane, psi along z in a row. The sum of all corrections of a
/// row is added to the next values once.
///
/// Psi of nodes around a tile is recomputed from the previous psi, as in the neighbouring tiles.
/// All vectors of a node use the same operations for any start of a row. A node therefore gets the
/// same bits in any box.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/detail/march_host.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace moho::wave::detail {

/// Adds the corrections of a row's nodes [begin, end) to their next values.
///
/// `across` and `down` are of p and q, by node from `begin` on.
template <Stencil stencil, class T>
void correct_row(const StepArguments<T>& arguments, std::int64_t row, T taper_xy,
                 std::int64_t begin, std::int64_t end, const T* const (&across)[2],
                 const T* const (&down)[2]) {
  using V = simd::Pack<T>;
  const StepArguments<T> s = arguments;  // its pointers stay in registers
  constexpr int fields = kernel::field_count<stencil>;
  for (std::int64_t z = begin; z < end; z += simd::lanes<T>) {
    const std::int64_t i = row + z, n = z - begin;
    const V scale = V(taper_xy) * take<V>(s.taper[2] + z) * take<V>(s.scale + i);
    V a = V(0), b = V(0), change[2] = {V(0), V(0)}, sums[2][2];
    if constexpr (stencil != Stencil::isotropic) a = take<V>(s.a + i);
    if constexpr (fields == 2) b = take<V>(s.b + i);
    for (int f = 0; f < fields; ++f) {
      sums[f][0] = take<V>(across[f] + n);
      sums[f][1] = take<V>(down[f] + n);
    }
    if constexpr (fields == 1) sums[1][0] = sums[1][1] = V(0);
    corrected<stencil, V>(a, b, V(s.shear), sums[0][0], sums[1][0], sums[0][1], sums[1][1],
                          change[0], change[1]);
    for (int f = 0; f < fields; ++f) {
      fused<V>(scale, change[f], take<V>(s.next[f] + i)).store(s.next[f] + i, end - z);
    }
  }
}

/// Function that adds the corrections of a row.
template <class T>
using CorrectRow = void (*)(const StepArguments<T>&, std::int64_t, T, std::int64_t, std::int64_t,
                            const T* const (&)[2], const T* const (&)[2]);
/// Returns the function of a stencil.
template <class T>
CorrectRow<T> correct_row_of(Stencil stencil) {
  return kernel::visit_stencil<cpml_stencils.bits>(
      stencil, [](auto constant) { return &correct_row<decltype(constant)::value, T>; });
}

/// Corrections of the rows of a tile, one after the other.
template <class T, int radius>
class HostLayers {
 public:
  static constexpr int reach = layer_radius(radius);  ///< radius of first derivatives
  static constexpr int slots = 2 * reach + 1;         ///< planes and rows of the rings
  static constexpr std::int64_t lanes = simd::lanes<T>;

  /// \param store keeps the memory between tiles
  HostLayers(const AllLayers<T>& layers, const HostTile& tile, std::vector<T>& store)
      : m_l(layers), m_tile(tile), m_correct(correct_row_of<T>(layers.stencil)) {
    m_rows = tile.upper[1] - tile.lower[1];
    // vectors read beyond the end of a row
    m_length = (tile.upper[2] - tile.lower[2] + 2 * lanes - 1) / lanes * lanes;
    for (int f = 0; f < 2; ++f) {
      for (int d = 0; d < 3; ++d) m_has[f][d] = layer_has(layers.stencil, d, f);
    }
    // all fields have the same layers
    const LayerPair<T>& along_z = layers.pairs[m_has[0][2] ? 0 : 1][2];
    m_ends = cut_ends(along_z, m_end);
    m_z_row = 0;
    for (int e = 0; e < m_ends; ++e) m_z_row += length_of(m_end[e]);

    const std::int64_t rows = 2 * slots * m_rows + 2 * slots + 2 + 2 + 1;
    const std::int64_t wanted = m_length * rows + 2 * m_rows * m_z_row;
    if (static_cast<std::int64_t>(store.size()) < wanted) store.resize(wanted);
    m_ring = store.data();
    m_y = m_ring + m_length * 2 * slots * m_rows;
    m_across = m_y + m_length * 2 * slots;
    m_down = m_across + m_length * 2;
    m_zeros = m_down + m_length * 2;
    T* const z = m_zeros + m_length;
    // elements that no layer writes stay zero
    std::fill(m_down, z + 2 * m_rows * m_z_row, T(0));
    std::int64_t before = 0;
    for (int e = 0; e < m_ends; ++e) {
      m_end[e].psi = z + before + reach - m_end[e].begin;
      before += length_of(m_end[e]);
    }
  }

  /// Begins a plane. Planes are consecutive.
  void begin(std::int64_t x) {
    const bool first = x == m_tile.lower[0];
    const std::int64_t y0 = m_tile.lower[1];
    m_any_x = false;
    for (int f = 0; f < fields_of(m_l.stencil); ++f) {
      m_across_x[f] = m_has[f][0] && m_l.pairs[f][0].reaches(x, reach);
      m_any_x = m_any_x || m_across_x[f];
      for (std::int64_t u = x - reach; first && m_across_x[f] && u < x + reach; ++u) {
        for (std::int64_t y = y0; y < m_tile.upper[1]; ++y) fill_ring(f, u, y);
      }
      for (std::int64_t v = y0 - reach; m_has[f][1] && v < y0 + reach; ++v) fill_row(f, x, v);
      if (m_has[f][2]) fill_ends(f, x, y0);
    }
  }
  /// Corrects a row of the current plane. Rows are consecutive.
  void row(std::int64_t x, std::int64_t y) const {
    const StepArguments<T>& s = m_l.s;
    const int fields = fields_of(m_l.stencil);
    for (int f = 0; f < fields; ++f) {
      if (m_across_x[f]) fill_ring(f, x + reach, y);
      if (m_has[f][1]) fill_row(f, x, y + reach);
      // a row in advance: values are not read across vectors right after they are stored
      if (m_has[f][2] && y + 1 < m_tile.upper[1]) fill_ends(f, x, y + 1);
    }
    bool whole = m_any_x;
    for (int f = 0; f < fields; ++f) {
      whole = whole || (m_has[f][1] && m_l.pairs[f][1].reaches(y, reach));
    }
    const T taper = s.taper[0][x] * s.taper[1][y];
    for (int f = 0; f < fields; ++f) {
      if (m_has[f][2]) add_z(f, x, y);
    }
    if (!whole) {
      for (int e = 0; e < m_ends; ++e) {
        const std::int64_t begin = m_end[e].begin, shift = begin - m_tile.lower[2];
        const T* const across[2] = {m_zeros, m_zeros};
        const T* const down[2] = {m_down + shift, m_down + m_length + shift};
        m_correct(s, s.flat(x, y, 0), taper, begin, m_end[e].end, across, down);
      }
      return;
    }
    const T* across[2] = {m_zeros, m_zeros};
    for (int f = 0; f < fields; ++f) {
      T* const sum = m_across + f * m_length;
      if (m_across_x[f]) add_x(f, x, y, sum);
      const bool across_y = m_has[f][1] && m_l.pairs[f][1].reaches(y, reach);
      if (across_y) add_y(f, x, y, sum, !m_across_x[f]);
      if (m_across_x[f] || across_y) across[f] = sum;
    }
    const T* const down[2] = {m_down, m_down + m_length};
    m_correct(s, s.flat(x, y, 0), taper, m_tile.lower[2], m_tile.upper[2], across, down);
  }

 private:
  using V = simd::Pack<T>;
  /// Local copies of coefficients, not aliased by pointers, which stay in registers across stores.
  template <int count>
  struct Copied {
    T c[count + 1];
    explicit Copied(const T* from) {
      MOHO_UNROLL
      for (int k = 0; k <= count; ++k) c[k] = from[k];
    }
  };
  using Slope = Copied<reach>;
  using Second = Copied<radius>;
  /// Nodes of a row that layers along z reach.
  struct End {
    std::int64_t begin, end;
    T* psi;  ///< by node, with `reach` more nodes on both sides
  };
  static std::int64_t length_of(const End& end) { return end.end - end.begin + 2 * reach + lanes; }

  int cut_ends(const LayerPair<T>& pair, End (&ends)[2]) const {
    const std::int64_t z0 = m_tile.lower[2], z1 = m_tile.upper[2];
    std::int64_t low = z0, high = z1;
    if (pair.lower_end > 0) low = std::clamp<std::int64_t>(pair.lower_end + reach, z0, z1);
    if (pair.upper_begin < pair.extent) {
      high = std::clamp<std::int64_t>(pair.upper_begin - reach, z0, z1);
    }
    int count = 0;
    if (low >= high && (low > z0 || high < z1)) {
      ends[count++] = {z0, z1, nullptr};
      return count;
    }
    if (low > z0) ends[count++] = {z0, low, nullptr};
    if (high < z1) ends[count++] = {high, z1, nullptr};
    return count;
  }

  /// Computes psi along x or y of a row's nodes; stores it in the layer if `next` is not null.
  void psi_row(const T* p, std::int64_t stride, const T* c, T a, T b, const T* before, T* next,
               T* to) const {
    const std::int64_t count = m_tile.upper[2] - m_tile.lower[2];
    const Slope slope(c);
    for (std::int64_t n = 0; n < count; n += lanes) {
      const V old = V(b) * V::load(before + n, count - n);
      const V psi = fused<V>(V(a), first_sum<V, reach>(p + n, stride, slope.c), old);
      psi.store(to + n);
      if (next != nullptr) psi.store(next + n, count - n);
    }
  }

  const T* ring_row(int f, std::int64_t x, std::int64_t y) const {
    if (!m_l.pairs[f][0].has(x)) return m_zeros;
    return m_ring + ((f * slots + (x + slots) % slots) * m_rows + y - m_tile.lower[1]) * m_length;
  }
  /// Computes psi along x of a row of plane u.
  void fill_ring(int f, std::int64_t u, std::int64_t y) const {
    const StepArguments<T>& s = m_l.s;
    const LayerPair<T>& pair = m_l.pairs[f][0];
    if (!pair.has(u)) return;
    const LayerAccess<T>& layer = pair.of(u);
    const bool own = u >= m_tile.lower[0] && u < m_tile.upper[0];
    const std::int64_t z0 = m_tile.lower[2], at = layer.at(u, y, z0);
    psi_row(s.now[f] + s.flat(u, y, z0), s.stride_x, m_l.slope[0], pair.a[u], pair.b[u],
            layer.psi_now + at, own ? layer.psi_next + at : nullptr,
            const_cast<T*>(ring_row(f, u, y)));
  }
  const T* y_row(int f, std::int64_t y) const {
    if (!m_l.pairs[f][1].has(y)) return m_zeros;
    return m_y + (f * slots + (y - m_tile.lower[1] + reach) % slots) * m_length;
  }
  /// Computes psi along y of row v.
  void fill_row(int f, std::int64_t x, std::int64_t v) const {
    const StepArguments<T>& s = m_l.s;
    const LayerPair<T>& pair = m_l.pairs[f][1];
    if (!pair.has(v)) return;
    const LayerAccess<T>& layer = pair.of(v);
    const std::int64_t z0 = m_tile.lower[2], at = layer.at(x, v, z0);
    const bool own = v >= m_tile.lower[1] && v < m_tile.upper[1];
    psi_row(s.now[f] + s.flat(x, v, z0), s.stride_y, m_l.slope[1], pair.a[v], pair.b[v],
            layer.psi_now + at, own ? layer.psi_next + at : nullptr, const_cast<T*>(y_row(f, v)));
  }

  /// Adds the derivative of psi along x or y of a row, and zeta in a layer.
  ///
  /// `first` is true if the sum begins with it.
  void add_rows(const T* const (&psi)[2 * reach], const T* c, const T* p, std::int64_t stride,
                const T* second, T a, T b, T* zeta, bool first, T* sum) const {
    const std::int64_t count = m_tile.upper[2] - m_tile.lower[2];
    const Slope slope(c);
    const Second coefficients(second);
    for (std::int64_t n = 0; n < count; n += lanes) {
      V value = V(slope.c[1]) * (take<V>(psi[reach] + n) - take<V>(psi[reach - 1] + n));
      if constexpr (reach == 2) {
        value = fused<V>(V(slope.c[2]), take<V>(psi[3] + n) - take<V>(psi[0] + n), value);
      }
      if (zeta != nullptr) {
        const V all = second_sum<V, radius>(V(coefficients.c[0]) * take<V>(p + n), p + n, stride,
                                            coefficients.c) +
                      value;
        const V old = V(b) * V::load(zeta + n, count - n);
        const V memory = fused<V>(V(a), all, old);
        memory.store(zeta + n, count - n);
        value = value + memory;
      }
      if (!first) value = value + take<V>(sum + n);
      value.store(sum + n);
    }
  }
  void add_x(int f, std::int64_t x, std::int64_t y, T* sum) const {
    const StepArguments<T>& s = m_l.s;
    const LayerPair<T>& pair = m_l.pairs[f][0];
    const T* psi[2 * reach];
    for (int k = 1; k <= reach; ++k) {
      psi[reach - k] = ring_row(f, x - k, y);
      psi[reach + k - 1] = ring_row(f, x + k, y);
    }
    const LayerAccess<T>& layer = pair.of(x);
    const std::int64_t z0 = m_tile.lower[2];
    const bool has = pair.has(x);
    add_rows(psi, m_l.slope[0], s.now[f] + s.flat(x, y, z0), s.stride_x, s.second[0],
             has ? pair.a[x] : T(0), has ? pair.b[x] : T(0),
             has ? layer.zeta + layer.at(x, y, z0) : nullptr, true, sum);
  }
  void add_y(int f, std::int64_t x, std::int64_t y, T* sum, bool first) const {
    const StepArguments<T>& s = m_l.s;
    const LayerPair<T>& pair = m_l.pairs[f][1];
    const T* psi[2 * reach];
    for (int k = 1; k <= reach; ++k) {
      psi[reach - k] = y_row(f, y - k);
      psi[reach + k - 1] = y_row(f, y + k);
    }
    const LayerAccess<T>& layer = pair.of(y);
    const std::int64_t z0 = m_tile.lower[2];
    const bool has = pair.has(y);
    add_rows(psi, m_l.slope[1], s.now[f] + s.flat(x, y, z0), s.stride_y, s.second[1],
             has ? pair.a[y] : T(0), has ? pair.b[y] : T(0),
             has ? layer.zeta + layer.at(x, y, z0) : nullptr, first, sum);
  }

  /// Computes psi along z of nodes [begin, end) of a layer, and stores new values of the tile.
  void psi_along_z(const LayerPair<T>& pair, const LayerAccess<T>& layer, const T* p,
                   std::int64_t at, std::int64_t begin, std::int64_t end, T* to) const {
    const bool own = begin >= m_tile.lower[2] && end <= m_tile.upper[2];
    const Slope slope(m_l.slope[2]);
    const T *const a = pair.a, *const b = pair.b, *const before = layer.psi_now + at;
    T* const next = layer.psi_next + at;
    for (std::int64_t z = begin; z < end; z += lanes) {
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
  /// Computes corrections of nodes [begin, end) of a row; with zeta if it is not null.
  void sum_along_z(const LayerPair<T>& pair, T* zeta, const T* p, const T* psi, std::int64_t begin,
                   std::int64_t end, T* sum) const {
    const Second second(m_l.s.second[2]);
    const Slope slope(m_l.slope[2]);
    const T *const a = pair.a, *const b = pair.b;
    for (std::int64_t z = begin; z < end; z += lanes) {
      V value = first_sum<V, reach>(psi + z, 1, slope.c);
      if (zeta != nullptr) {
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
      if (begin < low) sum_along_z(pair, zeta(0), p, psi, begin, low, sum);
      sum_along_z(pair, nullptr, p, psi, low, high, sum);
      if (high < end) sum_along_z(pair, zeta(1), p, psi, high, end, sum);
    }
  }

  const AllLayers<T>& m_l;
  HostTile m_tile;
  CorrectRow<T> m_correct;
  std::int64_t m_rows, m_length, m_z_row;
  T *m_ring, *m_y, *m_across, *m_down, *m_zeros;
  End m_end[2];
  int m_ends;
  bool m_across_x[2] = {false, false};  ///< true if layers along x reach the plane
  bool m_any_x = false;
  bool m_has[2][3];
};

/// Function that steps a tile with its layers.
template <class T>
using LayeredHostWork = void (*)(const AllLayers<T>&, HostWork<T>, const HostTile&);

template <class T, int radius>
void layered_host(const AllLayers<T>& l, HostWork<T> work, const HostTile& tile) {
  static thread_local std::vector<T> memory;
  HostLayers<T, radius> layers(l, tile, memory);
  for (std::int64_t x = tile.lower[0]; x < tile.upper[0]; ++x) {
    layers.begin(x);
    HostTile row = tile;
    row.lower[0] = x;
    row.upper[0] = x + 1;
    for (std::int64_t y = tile.lower[1]; y < tile.upper[1]; ++y) {
      row.lower[1] = y;
      row.upper[1] = y + 1;
      work(l.s, row);
      layers.row(x, y);
    }
  }
}

/// Returns the function of hosts for a tile with layers, by order.
template <class T>
LayeredHostWork<T> layered_host_of(int order) {
  const LayeredHostWork<T> table[] = {&layered_host<T, 1>, &layered_host<T, 2>, &layered_host<T, 3>,
                                      &layered_host<T, 4>, &layered_host<T, 5>, &layered_host<T, 6>,
                                      &layered_host<T, 7>, &layered_host<T, 8>};
  return table[order / 2 - 1];
}

/// Loop over tiles with layers.
template <class T>
struct LayeredHostLoop {
  HostLoop<T> tiles;
  AllLayers<T> layers;
  LayeredHostWork<T> work;

  void operator()(const std::int64_t n) const {
    const FlushDenormals flush;
    if (layers.s.shots == 1) return work(layers, tiles.work, tiles.tile(n));
    const AllLayers<T> own = layers.of_shot(static_cast<int>(n / tiles.tiles));
    work(own, tiles.work, tiles.tile(n % tiles.tiles));
  }
};

}  // namespace moho::wave::detail

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave::detail {
MOHO_FOR_SCALARS(MOHO_FUNCTION, extern template, layered_host_of)
}  // namespace moho::wave::detail
#endif
/// \endcond
