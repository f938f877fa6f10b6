// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tuned steps on hosts: rows of explicit vectors along z, tiles that stay in the cache.
///
/// A tile spans all of z and a few rows along y and marches along x. The planes that a node reads
/// are therefore still in the second-level cache. TTI (Fletcher) keeps rings of planes with first
/// derivatives along y and z; the device's kernel keeps these in registers and scratch.

#include <moho/core/denormals.hpp>
#include <moho/core/launch.hpp>
#include <moho/wave/kernel/arguments.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::wave::detail {

/// Division of a box into tiles on hosts.
struct HostTiles {
  static constexpr std::int64_t cache = 768 * 1024;  ///< cache size in bytes for a tile's planes
  static constexpr std::int64_t max_rows = 32;       ///< rows along y
  static constexpr std::int64_t rows_ahead = 3;      ///< prefetched rows
};

/// Returns memory of `size` elements from a store, aligned to lines of the cache.
template <class T>
T* aligned_memory(std::vector<T>& store, std::int64_t size) {
  constexpr std::size_t line = 64;
  const std::size_t wanted = static_cast<std::size_t>(size) + line / sizeof(T);
  if (store.size() < wanted) store.resize(wanted);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(store.data()) % line;
  return store.data() + (line - beyond) % line / sizeof(T);
}

/// Loads a vector.
template <class V, class T>
[[gnu::always_inline]] inline V take(const T* from) {
  return V::load(from);
}
/// Stores a vector; at the end of a row only its first `count` lanes.
///
/// Rows are padded, so that complete vectors can be loaded there. Each node gets the same bits
/// wherever a row of the box begins.
template <bool whole, class V, class T>
[[gnu::always_inline]] inline void put(T* to, const V& v, std::int64_t count) {
  if constexpr (whole) {
    (void)count;
    v.store(to);
  } else {
    v.store(to, count);
  }
}

/// Returns a second derivative without the term of the node itself.
template <class V, int radius, class T>
[[gnu::always_inline]] inline V second_sum(V sum, const T* f, std::int64_t stride, const T* c) {
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) {
    sum = fused<V>(V(c[k]), take<V>(f + k * stride) + take<V>(f - k * stride), sum);
  }
  return sum;
}
template <class V, int radius, class T>
[[gnu::always_inline]] inline V first_sum(const T* f, std::int64_t stride, const T* c) {
  V sum = V(c[1]) * (take<V>(f + stride) - take<V>(f - stride));
  MOHO_UNROLL
  for (int k = 2; k <= radius; ++k) {
    sum = fused<V>(V(c[k]), take<V>(f + k * stride) - take<V>(f - k * stride), sum);
  }
  return sum;
}
/// Calls visit(k, up, low) for k to radius with the vectors k nodes from `here`, by moved lanes.
template <int k, int radius, class T, class Visit>
[[gnu::always_inline]] inline void visit_lanes(const simd::Pack<T>& low, const simd::Pack<T>& here,
                                               const simd::Pack<T>& high, const Visit& visit) {
  visit(k, simd::lanes_from<k>(here, high), simd::lanes_from<simd::lanes<T> - k>(low, here));
  if constexpr (k < radius) visit_lanes<k + 1, radius>(low, here, high, visit);
}
/// \brief Calls visit(k, up, low) for k = 1 to radius with the vectors k nodes behind and before
/// the one at `f`, along z.
///
/// Where one instruction moves lanes between registers, three aligned vectors are loaded instead of
/// 2 radius others, each of which lies in two lines of the cache.
/// \param here the vector at `f`
template <int radius, class T, class Visit>
[[gnu::always_inline]] inline void visit_along_z(const T* f, const simd::Pack<T>& here,
                                                 const Visit& visit) {
  using V = simd::Pack<T>;
  constexpr int lanes = simd::lanes<T>;
  if constexpr (simd::moves_lanes && radius < lanes) {
    visit_lanes<1, radius>(take<V>(f - lanes), here, take<V>(f + lanes), visit);
  } else {
    (void)here;
    MOHO_UNROLL
    for (int k = 1; k <= radius; ++k) visit(k, take<V>(f + k), take<V>(f - k));
  }
}
/// Returns a second derivative along z without the term of the node itself.
template <class V, int radius, class T>
[[gnu::always_inline]] inline V second_along_z(V sum, const V& here, const T* f, const T* c) {
  const auto add = [&](int k, const V& up, const V& low) {
    sum = fused<V>(V(c[k]), up + low, sum);
  };
  visit_along_z<radius>(f, here, add);
  return sum;
}
/// Returns a first derivative along z.
template <class V, int radius, class T>
[[gnu::always_inline]] inline V first_along_z(const V& here, const T* f, const T* c) {
  V sum(T(0));
  const auto add = [&](int k, const V& up, const V& low) {
    sum = k == 1 ? V(c[1]) * (up - low) : fused<V>(V(c[k]), up - low, sum);
  };
  visit_along_z<radius>(f, here, add);
  return sum;
}
/// Steps the node, or the vector of nodes, at element i, of media without a tilted axis.
template <Stencil stencil, bool whole, int Dim, int radius, class T>
[[gnu::always_inline]] inline void march_node(const StepArguments<T>& s, std::int64_t i, T taper_xy,
                                              std::int64_t z, std::int64_t count = 0) {
  using V = simd::Pack<T>;
  const V w = V(taper_xy) * take<V>(s.taper[2] + z);
  const T* const p = s.now[0] + i;
  const V now = take<V>(p);
  const V scale = take<V>(s.scale + i);
  if constexpr (stencil == Stencil::vti) {
    const T* const q = s.now[1] + i;
    const V now_q = take<V>(q);
    const V h1q = second_along_z<V, radius>(V(s.second[2][0]) * now_q, now_q, q, s.second[2]);
    V h2p;
    if constexpr (Dim == 3) {
      h2p = second_sum<V, radius>(V(s.second[0][0] + s.second[1][0]) * now, p, s.stride_x,
                                  s.second[0]);
      h2p = second_sum<V, radius>(h2p, p, s.stride_y, s.second[1]);
    } else {
      h2p = second_sum<V, radius>(V(s.second[0][0]) * now, p, s.stride_x, s.second[0]);
    }
    V change_p, change_q;
    symmetric_change<V>(h2p, h1q, take<V>(s.a + i), take<V>(s.b + i), change_p, change_q);
    put<whole>(s.next[0] + i, next_value<V>(now, take<V>(s.next[0] + i), scale * change_p, w),
               count);
    put<whole>(s.next[1] + i, next_value<V>(now_q, take<V>(s.next[1] + i), scale * change_q, w),
               count);
  } else if constexpr (stencil == Stencil::vti_fletcher) {
    const T* const q = s.now[1] + i;
    const V now_q = take<V>(q);
    const T* const* const fields = s.now;
    V across[2], down[2];
    for (int f = 0; f < 2; ++f) {
      const T* const here = fields[f] + i;
      const V value = f ? now_q : now;
      down[f] = second_along_z<V, radius>(V(s.second[2][0]) * value, value, here, s.second[2]);
      if constexpr (Dim == 3) {
        across[f] = second_sum<V, radius>(V(s.second[0][0] + s.second[1][0]) * value, here,
                                          s.stride_x, s.second[0]);
        across[f] = second_sum<V, radius>(across[f], here, s.stride_y, s.second[1]);
      } else {
        across[f] = second_sum<V, radius>(V(s.second[0][0]) * value, here, s.stride_x, s.second[0]);
      }
    }
    V change_p, change_q;
    fletcher_change<V>(down[0], across[0], down[1], across[1], take<V>(s.a + i), take<V>(s.b + i),
                       V(s.shear), change_p, change_q);
    put<whole>(s.next[0] + i, next_value<V>(now, take<V>(s.next[0] + i), scale * change_p, w),
               count);
    put<whole>(s.next[1] + i, next_value<V>(now_q, take<V>(s.next[1] + i), scale * change_q, w),
               count);
  } else {
    T center = s.second[0][0];
    if constexpr (Dim == 3) center += s.second[1][0];
    V change = second_sum<V, radius>(V(center) * now, p, s.stride_x, s.second[0]);
    if constexpr (Dim == 3) change = second_sum<V, radius>(change, p, s.stride_y, s.second[1]);
    change = change + second_along_z<V, radius>(V(s.second[2][0]) * now, now, p, s.second[2]);
    if constexpr (stencil == Stencil::variable_density) {
      change = fused<V>(take<V>(s.a + i), -now, change);
    }
    put<whole>(s.next[0] + i, next_value<V>(now, take<V>(s.next[0] + i), scale * change, w), count);
  }
}

/// \brief Prefetches values for a row further along y; rows are too short for hardware prefetch.
///
/// Always inlined: GCC 12 removes calls of functions that only prefetch.
template <Stencil stencil, int Dim, int radius, class T>
[[gnu::always_inline]] inline void ask_for_next_row(const StepArguments<T>& s, std::int64_t i) {
  if constexpr (Dim == 3) {
    const std::int64_t next = i + HostTiles::rows_ahead * s.stride_y;
    __builtin_prefetch(s.now[0] + next + radius * s.stride_x);
    __builtin_prefetch(s.scale + next);
    __builtin_prefetch(s.next[0] + next, 1);
    if constexpr (fields_of(stencil) == 2) {
      __builtin_prefetch(s.now[1] + next + (stencil == Stencil::vti ? 0 : radius * s.stride_x));
      __builtin_prefetch(s.next[1] + next, 1);
      __builtin_prefetch(s.b + next);
    }
    if constexpr (stencil != Stencil::isotropic) __builtin_prefetch(s.a + next);
  }
}

/// Box that one thread steps.
struct HostTile {
  std::int64_t lower[3], upper[3];
};

/// Steps a tile of isotropic media, variable density and VTI.
template <Stencil stencil, class T, int Dim, int radius>
void march_host(const StepArguments<T>& arguments, const HostTile& tile) {
  constexpr std::int64_t lanes = simd::lanes<T>;
  // a copy that no pointer aliases: coefficients stay in registers across stores
  const StepArguments<T> s = arguments;
  for (std::int64_t x = tile.lower[0]; x < tile.upper[0]; ++x) {
    for (std::int64_t y = tile.lower[1]; y < tile.upper[1]; ++y) {
      const std::int64_t row = s.flat(x, y, 0);
      const T taper = s.taper[0][x] * s.taper[1][y];
      std::int64_t z = tile.lower[2];
      for (; z + lanes <= tile.upper[2]; z += lanes) {
        ask_for_next_row<stencil, Dim, radius>(s, row + z);
        march_node<stencil, true, Dim, radius>(s, row + z, taper, z);
      }
      if (z < tile.upper[2]) {
        march_node<stencil, false, Dim, radius>(s, row + z, taper, z, tile.upper[2] - z);
      }
    }
  }
}

/// Rings of planes with first derivatives along y and z of both fields.
template <class T, int Dim, int radius>
struct TtiRings {
  static constexpr int planes = 2 * radius + 1;
  std::int64_t length;  ///< elements of a row
  std::int64_t rows;    ///< rows of the tile
  T* memory;

  TtiRings(std::int64_t nodes, std::int64_t tile_rows, std::vector<T>& store)
      : length((nodes + simd::lanes<T> - 1) / simd::lanes<T> * simd::lanes<T>),
        rows(tile_rows),
        memory(aligned_memory(store, 2 * planes * (slab_y() + slab_z()))) {}
  static constexpr std::int64_t halo() { return Dim == 3 ? radius : 0; }
  std::int64_t slab_y() const { return Dim == 3 ? rows * length : 0; }
  std::int64_t slab_z() const { return (rows + 2 * halo()) * length; }
  /// Returns the y derivative of field f in plane x, of the row at `row` of the tile.
  T* slope_y(int f, std::int64_t x, std::int64_t row) const {
    return memory + (f * planes + (x + planes) % planes) * slab_y() + row * length;
  }
  /// Returns the z derivative; rows from -radius to rows + radius - 1 in 3D.
  T* slope_z(int f, std::int64_t x, std::int64_t row) const {
    return memory + 2 * planes * slab_y() + (f * planes + (x + planes) % planes) * slab_z() +
           (row + halo()) * length;
  }
};

/// Pointers to the rings around a row.
template <class T, int radius>
struct TtiRows {
  const T* y[2][2 * radius + 1];
  const T* z[2][2 * radius + 1];
};

/// Steps the node, or the vector of nodes, at element i of TTI; n indexes rows of the rings.
template <bool whole, int Dim, int radius, class T>
inline void tti_node(const StepArguments<T>& s, std::int64_t i, std::int64_t n,
                     const TtiRows<T, radius>& rings, std::int64_t length, T taper_xy,
                     std::int64_t z, std::int64_t count = 0) {
  using V = simd::Pack<T>;
  const V nx = take<V>(s.nx + i);
  V ny = V(0);
  if constexpr (Dim == 3) ny = take<V>(s.ny + i);
  const V nz = third_component<V>(nx, ny);
  V h1[2], h2[2], now[2];
  for (int f = 0; f < 2; ++f) {
    const T* const here = s.now[f] + i;
    now[f] = take<V>(here);
    const V dxx = second_sum<V, radius>(V(s.second[0][0]) * now[f], here, s.stride_x, s.second[0]);
    const V dzz = second_sum<V, radius>(V(s.second[2][0]) * now[f], here, 1, s.second[2]);
    V dyy = V(0), dxy = V(0), dyz = V(0), dxz = V(0);
    MOHO_UNROLL
    for (int k = 1; k <= radius; ++k) {
      const V c = V(s.first[0][k]);
      dxz = fused<V>(c, take<V>(rings.z[f][radius + k] + n) - take<V>(rings.z[f][radius - k] + n),
                     dxz);
      if constexpr (Dim == 3) {
        dxy = fused<V>(c, take<V>(rings.y[f][radius + k] + n) - take<V>(rings.y[f][radius - k] + n),
                       dxy);
      }
    }
    if constexpr (Dim == 3) {
      dyy = second_sum<V, radius>(V(s.second[1][0]) * now[f], here, s.stride_y, s.second[1]);
      dyz = first_sum<V, radius>(rings.z[f][radius] + n, length, s.first[1]);
    }
    h1[f] = along_axis<Dim, V>(nx, ny, nz, dxx, dyy, dzz, dxy, dyz, dxz);
    h2[f] = dxx + dyy + dzz - h1[f];
  }
  V change_p, change_q;
  fletcher_change<V>(h1[0], h2[0], h1[1], h2[1], take<V>(s.a + i), take<V>(s.b + i), V(s.shear),
                     change_p, change_q);
  const V w = V(taper_xy) * take<V>(s.taper[2] + z);
  const V scale = take<V>(s.scale + i);
  put<whole>(s.next[0] + i, next_value<V>(now[0], take<V>(s.next[0] + i), scale * change_p, w),
             count);
  put<whole>(s.next[1] + i, next_value<V>(now[1], take<V>(s.next[1] + i), scale * change_q, w),
             count);
}

/// Steps a tile of TTI.
template <class T, int Dim, int radius>
void tti_host(const StepArguments<T>& s, const HostTile& tile) {
  using V = simd::Pack<T>;
  constexpr std::int64_t lanes = simd::lanes<T>;
  static thread_local std::vector<T> memory;
  const std::int64_t z0 = tile.lower[2], nz = tile.upper[2] - z0;
  const std::int64_t y0 = tile.lower[1], ny = tile.upper[1] - y0;
  const TtiRings<T, Dim, radius> rings(nz, ny, memory);

  for (std::int64_t plane = tile.lower[0] - radius; plane < tile.upper[0] + radius; ++plane) {
    for (int f = 0; f < 2; ++f) {
      for (std::int64_t y = -rings.halo(); y < ny + rings.halo(); ++y) {
        const T* const from = s.now[f] + s.flat(plane, y0 + y, z0);
        T* const to = rings.slope_z(f, plane, y);
        for (std::int64_t z = 0; z < nz; z += lanes) {
          first_sum<V, radius>(from + z, 1, s.first[2]).store(to + z);
        }
      }
      if constexpr (Dim == 3) {
        for (std::int64_t y = 0; y < ny; ++y) {
          const T* const from = s.now[f] + s.flat(plane, y0 + y, z0);
          T* const to = rings.slope_y(f, plane, y);
          for (std::int64_t z = 0; z < nz; z += lanes) {
            first_sum<V, radius>(from + z, s.stride_y, s.first[1]).store(to + z);
          }
        }
      }
    }
    const std::int64_t x = plane - radius;
    if (x < tile.lower[0]) continue;
    for (std::int64_t y = 0; y < ny; ++y) {
      TtiRows<T, radius> rows{};
      for (int f = 0; f < 2; ++f) {
        for (int k = -radius; k <= radius; ++k) {
          rows.z[f][k + radius] = rings.slope_z(f, x + k, y);
          if constexpr (Dim == 3) rows.y[f][k + radius] = rings.slope_y(f, x + k, y);
        }
      }
      const std::int64_t i = s.flat(x, y0 + y, z0);
      const T taper = s.taper[0][x] * s.taper[1][y0 + y];
      std::int64_t z = 0;
      for (; z + lanes <= nz; z += lanes) {
        tti_node<true, Dim, radius>(s, i + z, z, rows, rings.length, taper, z0 + z);
      }
      if (z < nz) {
        tti_node<false, Dim, radius>(s, i + z, z, rows, rings.length, taper, z0 + z, nz - z);
      }
    }
  }
}

/// Function that steps a tile on a host, for any medium and order.
template <class T>
using HostWork = void (*)(const StepArguments<T>&, const HostTile&);

/// Loop over the tiles of consecutive wavefields.
template <class T>
struct HostLoop {
  StepArguments<T> s;
  HostWork<T> work;
  std::int64_t rows, planes, tiles_y;
  std::int64_t tiles = 1;  ///< tiles of a wavefield

  /// Returns tile n of the box.
  HostTile tile(const std::int64_t n) const {
    HostTile tile;
    tile.lower[0] = s.lower[0] + n / tiles_y * planes;
    tile.upper[0] = std::min(tile.lower[0] + planes, s.upper[0]);
    tile.lower[1] = s.lower[1] + n % tiles_y * rows;
    tile.upper[1] = std::min(tile.lower[1] + rows, s.upper[1]);
    tile.lower[2] = s.lower[2];
    tile.upper[2] = s.upper[2];
    return tile;
  }
  void operator()(const std::int64_t n) const {
    const FlushDenormals flush;
    if (s.shots == 1) return work(s, tile(n));
    const StepArguments<T> own = s.of_shot(static_cast<int>(n / tiles));
    work(own, tile(n % tiles));
  }
};

/// Cuts the box of the arguments into tiles. Returns the number of tiles of all wavefields.
/// \param tiles_a_thread least number, if the box has as many planes
template <class T>
std::int64_t cut_for_host(const Instance<Kokkos::HostSpace>& exec, Stencil stencil, int dim,
                          int radius, HostLoop<T>& loop, int tiles_a_thread = 4) {
  const StepArguments<T>& s = loop.s;
  const std::int64_t nx = s.upper[0] - s.lower[0], ny = s.upper[1] - s.lower[1],
                     nz = s.upper[2] - s.lower[2];
  const int fields = stencil == Stencil::isotropic || stencil == Stencil::vti ? 1
                     : stencil == Stencil::tti_fletcher                       ? 4
                                                                              : 2;
  const std::int64_t plane_bytes =
      (2 * radius + 1) * fields * static_cast<std::int64_t>(sizeof(T)) * nz;
  if (dim == 3) {
    loop.rows = std::clamp<std::int64_t>(HostTiles::cache / plane_bytes - 2 * radius, 8,
                                         HostTiles::max_rows);
    loop.rows = std::min(loop.rows, ny);
  }
  loop.tiles_y = (ny + loop.rows - 1) / loop.rows;
  const std::int64_t wanted = exec.concurrency() > 1 ? tiles_a_thread * exec.concurrency() : 1;
  const std::int64_t rows = loop.tiles_y * s.shots;
  std::int64_t cuts = (wanted + rows - 1) / rows;
  cuts = std::clamp<std::int64_t>(cuts, 1, std::max<std::int64_t>(1, nx / (2 * radius)));
  loop.planes = (nx + cuts - 1) / cuts;
  cuts = (nx + loop.planes - 1) / loop.planes;
  loop.tiles = cuts * loop.tiles_y;
  return loop.tiles * s.shots;
}

/// Steps the box of the arguments on a host.
template <class T>
void run_on_host(const char* label, const Instance<Kokkos::HostSpace>& exec, Stencil stencil,
                 int dim, int radius, HostWork<T> work, const StepArguments<T>& s) {
  HostLoop<T> loop{s, work, 1, 1, 1};
  const std::int64_t tiles = cut_for_host(exec, stencil, dim, radius, loop);
  launch_dynamic(label, exec, tiles, loop);
}

}  // namespace moho::wave::detail
