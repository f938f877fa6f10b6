// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arithmetic of a row with perfectly matched layers on hosts.
///
/// Vectors lie at multiples of their length along z, and the memory of layers is padded to them.
/// Only the field, psi and zeta of nodes in the box are stored.

#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/detail/march_host.hpp>

#include <algorithm>
#include <cstdint>

namespace moho::wave::detail {

/// Memory of a layer along x or y at a row of the grid, for one field.
///
/// Rows outside of layers have zero factors and point to rows of zeros.
template <class T>
struct LayerRow {
  /// Psi from `reach` nodes before the row up to, not including, `reach` nodes behind it.
  const T* psi[2 * largest_layer_radius];
  T* next;                  ///< psi at the reach behind the row, to be written
  const T* before;          ///< previous psi there
  const T* field;           ///< field there
  T* zeta;                  ///< zeta of the row
  T a_ahead, b_ahead;       ///< factors at the reach behind the row
  T a, b;                   ///< factors of the row
  std::int64_t stride;      ///< stride of `field` along the axis
  std::int64_t rows_ahead;  ///< elements of the layer between prefetches and use
};

/// Lanes of a vector that are in the box, from `first` up to, not including, `last`.
struct BoxLanes {
  std::int64_t first, last;
};
/// Stores a vector; unless it is whole, only its lanes in the box.
template <bool whole, class V, class T>
[[gnu::always_inline]] inline void put_lanes(T* to, const V& v, const BoxLanes& part) {
  if constexpr (whole) {
    (void)part;
    v.store(to);
  } else {
    v.store(to, part.first, part.last);
  }
}

/// \brief Updates psi and zeta of a vector, and returns their contribution to the second
/// derivative. \param second receives the second derivative
template <bool whole, class V, int radius, class T>
[[gnu::always_inline]] inline V layer_terms(const LayerRow<T>& r, const T* slope, const T* c,
                                            const V& now, const T* p, std::int64_t stride,
                                            std::int64_t n, const BoxLanes& part, V& second) {
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
  const V old = V(r.b_ahead) * take<V>(r.before + n);
  const V ahead = fused<V>(V(r.a_ahead), gradient, old);
  put_lanes<whole>(r.next + n, ahead, part);
  V change;
  if constexpr (reach == 2) {
    const V near = take<V>(r.psi[3] + n) - take<V>(r.psi[1] + n);
    change = fused<V>(V(slope[2]), ahead - take<V>(r.psi[0] + n), V(slope[1]) * near);
  } else {
    // a sum, so that the compiler does not fuse the product with other sums in some of the loops
    change = fused<V>(V(slope[1]), ahead - take<V>(r.psi[0] + n), V(T(0)));
  }
  const V memory = V(r.b) * take<V>(r.zeta + n);
  const V zeta = fused<V>(V(r.a), second + change, memory);
  put_lanes<whole>(r.zeta + n, zeta, part);
  return change + zeta;
}

/// Memory of the layers along z at a row of the grid, for one field.
///
/// Its rows are padded to whole vectors of the grid, in which factors outside of layers are zero.
/// In thin grids a vector may hold nodes of both layers: the padding of the lower one keeps them.
template <class T>
struct LayerEnds {
  const T* psi_now[2];  ///< by layer, lower and upper: element of node z = 0
  T *psi_next[2], *zeta[2];
  std::int64_t rows[2];  ///< elements from row to row
  /// Vectors below `low` are in the lower layer, those from `high` up to `past` in the upper one.
  std::int64_t low, high, past;
  const T *a, *b;  ///< factors by node

  /// Returns the layer of the vector at node z, or -1.
  int side(std::int64_t z) const { return z < low ? 0 : z >= high && z < past ? 1 : -1; }
};

/// Coefficients of first derivatives in layers, by axis.
template <class T>
struct LayerSlopes {
  T c[3][largest_layer_radius + 1];
};
/// Nodes along z of the rows of a tile.
struct RowNodes {
  std::int64_t begin, end;  ///< nodes of the box
  std::int64_t start;       ///< first node of the first vector
  std::int64_t low, high;   ///< vectors between these are not reached by layers along z

  /// Returns the lanes of the vector at node z that are in the box.
  BoxLanes part(std::int64_t z, std::int64_t lanes) const {
    return {std::max<std::int64_t>(begin - z, 0), std::min(end - z, lanes)};
  }
  bool whole(std::int64_t z, std::int64_t lanes) const { return z >= begin && z + lanes <= end; }
};
/// Row of a tile with layers.
template <class T>
struct LayeredRow {
  std::int64_t row;          ///< element of node (x, y, 0)
  T taper;                   ///< product of the sponge's factors along x and y
  LayerRow<T> across[2][2];  ///< by field, along x and y
  LayerEnds<T> ends[2];      ///< by field
};

/// Stores the lanes of a vector that are in the box.
template <class V, class T>
[[gnu::noinline]] void store_part(T* to, V v, BoxLanes part) {
  if (part.first < part.last) v.store(to, part.first, part.last);
}
/// \brief Returns psi along z of the vector of nodes at z; zero outside layers.
///
/// If `keep` is set, new values in the box are stored.
template <int reach, class V, class T>
[[gnu::always_inline]] inline V psi_along_z(const LayerEnds<T>& l, const T* c, const T* p,
                                            std::int64_t z, const RowNodes& nodes, bool keep) {
  const int side = l.side(z);
  if (side < 0) return V(0);
  const T* const before = l.psi_now[side] + z;
  T* const next = l.psi_next[side] + z;
  __builtin_prefetch(before + HostTiles::rows_ahead * l.rows[side]);
  __builtin_prefetch(next + HostTiles::rows_ahead * l.rows[side], 1);
  const V old = take<V>(l.b + z) * take<V>(before);
  const V psi = fused<V>(take<V>(l.a + z), first_sum<V, reach>(p + z, 1, c), old);
  if (keep) {
    if (nodes.whole(z, simd::lanes<T>)) [[likely]] {
      psi.store(next);
    } else {
      store_part(next, psi, nodes.part(z, simd::lanes<T>));
    }
  }
  return psi;
}
/// \brief Updates zeta along z, and returns the contribution of layers along z to the second
/// derivative. \param before,here,after psi of the vectors around and at the nodes
template <int reach, bool whole, class V, class T>
[[gnu::always_inline]] inline V terms_along_z(const LayerEnds<T>& l, const T* c, const V& before,
                                              const V& here, const V& after, const V& second,
                                              std::int64_t z, const BoxLanes& part) {
  constexpr int lanes = simd::lanes<T>;
  const V near = simd::lanes_from<1>(here, after) - simd::lanes_from<lanes - 1>(before, here);
  V change;
  if constexpr (reach == 2) {
    const V far = simd::lanes_from<2>(here, after) - simd::lanes_from<lanes - 2>(before, here);
    change = fused<V>(V(c[2]), far, V(c[1]) * near);
  } else {
    // a sum, so that the compiler does not fuse the product with other sums in some of the loops
    change = fused<V>(V(c[1]), near, V(T(0)));
  }
  const int side = l.side(z);
  if (side < 0) return change;
  T* const at = l.zeta[side] + z;
  __builtin_prefetch(at + HostTiles::rows_ahead * l.rows[side], 1);
  const V zeta = fused<V>(take<V>(l.a + z), second + change, take<V>(l.b + z) * take<V>(at));
  put_lanes<whole>(at, zeta, part);
  return change + zeta;
}

/// \brief Returns the second derivatives along x and y.
///
/// The sums are those of march_node(): either may step nodes that no layer reaches.
template <int Dim, int radius, class V, class T>
[[gnu::always_inline]] inline V plain_lateral(const StepArguments<T>& s, const V& now, const T* p) {
  T center = s.second[0][0];
  if constexpr (Dim == 3) center += s.second[1][0];
  V sum = second_sum<V, radius>(V(center) * now, p, s.stride_x, s.second[0]);
  if constexpr (Dim == 3) sum = second_sum<V, radius>(sum, p, s.stride_y, s.second[1]);
  return sum;
}

/// Psi along z of a vector of nodes and of the vectors before and after it, by field.
template <class V>
struct PsiAlongZ {
  V before[2] = {V(0), V(0)}, here[2] = {V(0), V(0)}, after[2] = {V(0), V(0)};
};

/// Steps the vector of nodes at z, with layers along the axes whose argument is set.
template <Stencil stencil, bool whole, bool x, bool y, bool along_z, int Dim, int radius, class T,
          class V>
[[gnu::always_inline]] inline void layered_node(const StepArguments<T>& s,
                                                const LayerSlopes<T>& slopes,
                                                const LayeredRow<T>& l, std::int64_t z,
                                                std::int64_t n, const BoxLanes& part,
                                                const PsiAlongZ<V>& psi) {
  constexpr bool fletcher = stencil == Stencil::vti_fletcher;
  constexpr int fields = kernel::field_count<stencil>;
  constexpr int reach = layer_radius(radius);
  const std::int64_t i = l.row + z;
  V now[2], lateral[2] = {V(T(0)), V(T(0))}, vertical[2] = {V(T(0)), V(T(0))};
  for (int f = 0; f < fields; ++f) {
    const T* const p = s.now[f] + i;
    now[f] = take<V>(p);
    if (f == 0 || fletcher) {
      V terms(T(0));
      if constexpr (!x && !y) {
        lateral[f] = plain_lateral<Dim, radius>(s, now[f], p);
      } else if constexpr (x) {
        terms = layer_terms<whole, V, radius>(l.across[f][0], slopes.c[0], s.second[0], now[f], p,
                                              s.stride_x, n, part, lateral[f]);
      } else {
        lateral[f] = second_sum<V, radius>(V(s.second[0][0]) * now[f], p, s.stride_x, s.second[0]);
      }
      if constexpr (y) {
        V second;
        const V more = layer_terms<whole, V, radius>(l.across[f][1], slopes.c[1], s.second[1],
                                                     now[f], p, s.stride_y, n, part, second);
        terms = x ? terms + more : more;
        lateral[f] = lateral[f] + second;
      } else if constexpr (x && Dim == 3) {
        lateral[f] = second_sum<V, radius>(fused<V>(V(s.second[1][0]), now[f], lateral[f]), p,
                                           s.stride_y, s.second[1]);
      }
      if constexpr (x || y) lateral[f] = lateral[f] + terms;
    }
    if (f == fields - 1 || fletcher) {
      vertical[f] = second_along_z<V, radius>(V(s.second[2][0]) * now[f], now[f], p, s.second[2]);
      if constexpr (along_z) {
        const V terms = terms_along_z<reach, whole>(
            l.ends[f], slopes.c[2], psi.before[f], psi.here[f], psi.after[f], vertical[f], z, part);
        vertical[f] = vertical[f] + terms;
      }
    }
  }
  V change[2];
  const V scale = take<V>(s.scale + i);
  if constexpr (stencil == Stencil::vti) {
    symmetric_change<V>(lateral[0], vertical[1], take<V>(s.a + i), take<V>(s.b + i), change[0],
                        change[1]);
  } else if constexpr (fletcher) {
    fletcher_change<V>(vertical[0], lateral[0], vertical[1], lateral[1], take<V>(s.a + i),
                       take<V>(s.b + i), V(s.shear), change[0], change[1]);
  } else {
    change[0] = lateral[0] + vertical[0];
    if constexpr (stencil == Stencil::variable_density) {
      change[0] = fused<V>(take<V>(s.a + i), -now[0], change[0]);
    }
  }
  const V w = V(l.taper) * take<V>(s.taper[2] + z);
  for (int f = 0; f < fields; ++f) {
    put_lanes<whole>(s.next[f] + i,
                     next_value<V>(now[f], take<V>(s.next[f] + i), scale * change[f], w), part);
  }
}

/// Steps a vector of nodes of which some are not in the box; see layered_node().
template <Stencil stencil, bool x, bool y, bool along_z, int Dim, int radius, class T, class V>
[[gnu::noinline]] void layered_part(const StepArguments<T>& s, const LayerSlopes<T>& slopes,
                                    const LayeredRow<T>& l, const RowNodes& nodes, std::int64_t z,
                                    PsiAlongZ<V> psi) {
  layered_node<stencil, false, x, y, along_z, Dim, radius>(s, slopes, l, z, z - nodes.start,
                                                           nodes.part(z, simd::lanes<T>), psi);
}

}  // namespace moho::wave::detail
