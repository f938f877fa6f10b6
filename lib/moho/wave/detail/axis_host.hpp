// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Steps of self-adjoint TTI on hosts, from stored axis derivatives or in one pass.
///
/// The second derivative along the axis is H1 = div(n g), g = n . grad. Two passes write and read g
/// in arrays of the grid. In one pass a tile marches along x with rings of planes of nx g and of
/// the parts of H1 along y and z, which stay in the cache; g around the tile is computed again.
/// Both have the same sums, and thus the same bits.

#include <moho/core/denormals.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch.hpp>
#include <moho/wave/detail/march_host.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace moho::wave::detail {

/// Nodes of a row that a step computes at a time.
inline constexpr std::int64_t axis_piece = 512;

/// Returns a product that compilers do not fuse with a later sum.
template <class V>
inline V product(const V& a, const V& b) {
  V value = a * b;
#if !defined(__CUDA_ARCH__)
#if defined(__AVX512F__)
  asm("" : "+v"(value.lanes));
#elif defined(__x86_64__)
  asm("" : "+x"(value.lanes));
#else
  asm("" : "+m"(value.lanes));
#endif
#endif
  return value;
}

/// Adds the part of div(n g) along one axis.
template <class V, int radius, class T>
inline V flow_sum(V sum, const T* n, const T* g, std::int64_t stride, const T* c) {
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) {
    const V low = product<V>(take<V>(n - k * stride), take<V>(g - k * stride));
    const V high = product<V>(take<V>(n + k * stride), take<V>(g + k * stride));
    sum = fused<V>(V(c[k]), high - low, sum);
  }
  return sum;
}
/// Adds a first derivative.
template <class V, int radius, class T>
inline V add_first(V sum, const T* f, std::int64_t stride, const T* c) {
  MOHO_UNROLL
  for (int k = 1; k <= radius; ++k) {
    sum = fused<V>(V(c[k]), take<V>(f + k * stride) - take<V>(f - k * stride), sum);
  }
  return sum;
}

/// \brief Steps `count` nodes of a row, at most axis_piece, from H1 of both fields.
///
/// The first node is element i and at z0. A node reads more than seventy rows. They lie in as many
/// pages of memory, and the fastest level of the TLB of processors has about 64 entries. Each loop
/// over a row therefore reads at most twenty rows; sums are stored in between.
template <int Dim, int radius, class T>
inline void step_from_h1(const StepArguments<T>& s, std::int64_t i, T taper_xy, std::int64_t z0,
                         std::int64_t count, const T* h1p, const T* h1q) {
  using V = simd::Pack<T>;
  constexpr std::int64_t lanes = simd::lanes<T>;
  alignas(64) T lap[axis_piece + lanes];
  T middle = s.second[0][0] + s.second[2][0];
  if constexpr (Dim == 3) middle += s.second[1][0];
  const T* const p = s.now[0] + i;
  for (std::int64_t z = 0; z < count; z += lanes) {
    V sum = second_sum<V, radius>(V(middle) * take<V>(p + z), p + z, s.stride_x, s.second[0]);
    if constexpr (Dim == 3) sum = second_sum<V, radius>(sum, p + z, s.stride_y, s.second[1]);
    second_along_z<V, radius>(sum, take<V>(p + z), p + z, s.second[2]).store(lap + z);
  }
  const auto node = [&](auto whole, std::int64_t z, std::int64_t some) {
    const std::int64_t at = i + z;
    const V w = V(taper_xy) * take<V>(s.taper[2] + z0 + z);
    const V now = take<V>(s.now[0] + at), now_q = take<V>(s.now[1] + at);
    const V scale = take<V>(s.scale + at);
    V change_p, change_q;
    symmetric_change<V>(take<V>(lap + z) - take<V>(h1p + z), take<V>(h1q + z), take<V>(s.a + at),
                        take<V>(s.b + at), change_p, change_q);
    put<decltype(whole)::value>(
        s.next[0] + at, next_value<V>(now, take<V>(s.next[0] + at), scale * change_p, w), some);
    put<decltype(whole)::value>(
        s.next[1] + at, next_value<V>(now_q, take<V>(s.next[1] + at), scale * change_q, w), some);
  };
  std::int64_t z = 0;
  for (; z + lanes <= count; z += lanes) node(std::true_type(), z, lanes);
  if (z < count) node(std::false_type(), z, count - z);
}

/// Steps a tile from stored axis derivatives.
template <class T, int Dim, int radius>
void axis_step_host(const StepArguments<T>& arguments, const HostTile& tile) {
  using V = simd::Pack<T>;
  constexpr std::int64_t lanes = simd::lanes<T>;
  // a copy that no pointer aliases: coefficients stay in registers across stores
  const StepArguments<T> s = arguments;
  alignas(64) T h1[2][axis_piece + lanes];
  const auto piece = [&](std::int64_t x, std::int64_t y, std::int64_t z0, std::int64_t count) {
    const std::int64_t i = s.flat(x, y, z0);
    for (int f = 0; f < 2; ++f) {
      const T* const g = s.axis_derivative[f] + i;
      for (std::int64_t z = 0; z < count; z += lanes) {
        V sum = flow_sum<V, radius>(V(0), s.nz + i + z, g + z, 1, s.first[2]);
        if constexpr (Dim == 3) {
          sum = flow_sum<V, radius>(sum, s.ny + i + z, g + z, s.stride_y, s.first[1]);
        }
        sum.store(h1[f] + z);
      }
      for (std::int64_t z = 0; z < count; z += lanes) {
        if constexpr (Dim == 3) {
          const std::int64_t next = HostTiles::rows_ahead * s.stride_y + radius * s.stride_x + z;
          __builtin_prefetch(g + next);
          if (f == 0) __builtin_prefetch(s.nx + i + next);
        }
        flow_sum<V, radius>(take<V>(h1[f] + z), s.nx + i + z, g + z, s.stride_x, s.first[0])
            .store(h1[f] + z);
      }
    }
    step_from_h1<Dim, radius>(s, i, s.taper[0][x] * s.taper[1][y], z0, count, h1[0], h1[1]);
  };
  for (std::int64_t x = tile.lower[0]; x < tile.upper[0]; ++x) {
    for (std::int64_t y = tile.lower[1]; y < tile.upper[1]; ++y) {
      for (std::int64_t z = tile.lower[2]; z < tile.upper[2]; z += axis_piece) {
        piece(x, y, z, std::min(axis_piece, tile.upper[2] - z));
      }
    }
  }
}

/// \brief Computes g of p or q at `count` nodes from element i on.
///
/// The fields are in separate calls, which therefore read fewer rows each; see step_from_h1().
template <int Dim, int radius, class T>
inline void axis_derivative_row(const StepArguments<T>& s, int f, std::int64_t i,
                                std::int64_t count, T* to) {
  using V = simd::Pack<T>;
  constexpr std::int64_t lanes = simd::lanes<T>;
  const T* const field = s.now[f] + i;
  const auto node = [&](auto whole, std::int64_t z, std::int64_t some) {
    const T* const p = field + z;
    V g = take<V>(s.nx + i + z) * first_sum<V, radius>(p, s.stride_x, s.first[0]);
    if constexpr (Dim == 3) {
      g = fused<V>(take<V>(s.ny + i + z), first_sum<V, radius>(p, s.stride_y, s.first[1]), g);
    }
    g = fused<V>(take<V>(s.nz + i + z), first_along_z<V, radius>(take<V>(p), p, s.first[2]), g);
    put<decltype(whole)::value>(to + z, g, some);
  };
  std::int64_t z = 0;
  for (; z + lanes <= count; z += lanes) {
    if constexpr (Dim == 3) {
      const std::int64_t next = z + HostTiles::rows_ahead * s.stride_y;
      __builtin_prefetch(field + next + radius * s.stride_x);
      if (f == 0) {
        __builtin_prefetch(s.nx + i + next);
        __builtin_prefetch(s.ny + i + next);
        __builtin_prefetch(s.nz + i + next);
      }
    }
    node(std::true_type(), z, lanes);
  }
  if (z < count) node(std::false_type(), z, count - z);
}

/// Computes g of p and q in a tile.
template <class T, int Dim, int radius>
void axis_derivatives_host(const StepArguments<T>& arguments, const HostTile& tile) {
  const StepArguments<T> s = arguments;
  for (std::int64_t x = tile.lower[0]; x < tile.upper[0]; ++x) {
    for (std::int64_t y = tile.lower[1]; y < tile.upper[1]; ++y) {
      const std::int64_t row = s.flat(x, y, tile.lower[2]);
      for (int f = 0; f < 2; ++f) {
        axis_derivative_row<Dim, radius>(s, f, row, tile.upper[2] - tile.lower[2],
                                         s.axis_derivative[f] + row);
      }
    }
  }
}

/// Grid and free surfaces of a step in one pass.
struct AxisFaces {
  std::int64_t extents[3];  ///< nodes of the grid
  bool free[3][2];          ///< free surfaces across y and z, at lower and upper faces

  /// Returns node u along an axis, or the node whose image it is beyond a free surface; -1 if g is
  /// zero there.
  std::int64_t source(int axis, std::int64_t u) const {
    const std::int64_t last = extents[axis] - 1;
    if (u < 0) return free[axis][0] ? -u : -1;
    if (u > last) return free[axis][1] ? 2 * last - u : -1;
    return u;
  }
};

/// Steps a tile in one pass.
template <class T, int radius>
class AxisTile {
 public:
  using V = simd::Pack<T>;
  static constexpr std::int64_t lanes = simd::lanes<T>;
  static constexpr int planes = 2 * radius + 1;

  /// \param store keeps the memory between tiles
  AxisTile(const StepArguments<T>& s, const AxisFaces& faces, const HostTile& tile,
           std::vector<T>& store)
      : m_s(s), m_faces(faces), m_tile(tile) {
    m_length = row_length(tile.upper[2] - tile.lower[2]);
    m_rows = tile.upper[1] - tile.lower[1];
    const std::int64_t rings = 2 * (planes + radius + 1) * m_rows;
    const std::int64_t size = (rings + 2 * (2 * m_rows + 2 * radius) + 1) * m_length;
    m_across = aligned_memory(store, size);
    std::fill_n(m_across, size, T(0));
    m_h1 = m_across + 2 * planes * m_rows * m_length;
    m_along_y = m_h1 + 2 * (radius + 1) * m_rows * m_length;
    m_along_z = m_along_y + 2 * (m_rows + 2 * radius) * m_length;
    m_g = m_along_z + 2 * m_rows * m_length;
  }
  /// Returns the elements of a row of the rings; vectors are loaded and stored beyond its ends.
  static constexpr std::int64_t row_length(std::int64_t nodes) {
    return (nodes + lanes - 1) / lanes * lanes + 2 * pad + lanes;
  }
  void run() const {
    for (std::int64_t u = m_tile.lower[0] - radius; u < m_tile.upper[0] + radius; ++u) {
      if (u >= 0 && u < m_faces.extents[0]) {
        prepare(u);
      } else {
        for (int f = 0; f < 2; ++f) std::fill_n(across(f, u, 0), m_rows * m_length, T(0));
      }
      if (u - radius >= m_tile.lower[0]) step(u - radius);
    }
  }

 private:
  static constexpr std::int64_t pad = (radius + lanes - 1) / lanes * lanes;

  /// Returns nx g of field f in plane x; rows and nodes count from those of the tile.
  T* across(int f, std::int64_t x, std::int64_t row) const {
    return m_across + ((f * planes + (x + planes) % planes) * m_rows + row) * m_length;
  }
  /// Returns the parts of H1 along y and z.
  T* h1(int f, std::int64_t x, std::int64_t row) const {
    return m_h1 + ((f * (radius + 1) + x % (radius + 1)) * m_rows + row) * m_length;
  }
  /// Returns ny g of a plane; rows from -radius on.
  T* along_y(int f, std::int64_t row) const {
    return m_along_y + (f * (m_rows + 2 * radius) + row + radius) * m_length;
  }

  /// Returns nz g of a plane, with `pad` nodes before the row.
  T* along_z(int f, std::int64_t row) const {
    return m_along_z + (f * m_rows + row) * m_length + pad;
  }

  /// Computes g of plane x, its products, and the parts of H1 along y and z of planes to be
  /// stepped.
  void prepare(std::int64_t x) const {
    const StepArguments<T> s = m_s;
    const bool own_plane = x >= m_tile.lower[0] && x < m_tile.upper[0];
    const std::int64_t z0 = m_tile.lower[2], nodes = m_tile.upper[2] - z0;
    const std::int64_t low = std::max<std::int64_t>(z0 - pad, 0);  // whole vectors
    const std::int64_t high = std::min(m_tile.upper[2] + radius, m_faces.extents[2]);
    T* const g = m_g + pad - z0;  // by node
    for (std::int64_t row = -radius; row < m_rows + radius; ++row) {
      const bool own = row >= 0 && row < m_rows;
      if (!own && !own_plane) continue;
      const std::int64_t y = m_tile.lower[1] + row, source = m_faces.source(1, y);
      if (source < 0) continue;
      for (int f = 0; f < 2; ++f) {
        axis_derivative_row<3, radius>(s, f, s.flat(x, source, low), high - low, g + low);
        for (std::int64_t z = z0 - radius; z < 0; ++z) image(g, z);
        for (std::int64_t z = m_faces.extents[2]; z < m_tile.upper[2] + radius; ++z) image(g, z);
        const std::int64_t i = s.flat(x, y, z0);
        if (own_plane) multiply(s.ny + i, g + z0, nodes, along_y(f, row));
        if (!own) continue;
        multiply(s.nx + i, g + z0, nodes, across(f, x, row));
        if (own_plane)
          multiply(s.nz + i - pad, g + z0 - pad, nodes + 2 * pad, along_z(f, row) - pad);
      }
    }
    if (!own_plane) return;
    // separate loops do not read across vectors that were just stored
    for (int f = 0; f < 2; ++f) {
      for (std::int64_t row = 0; row < m_rows; ++row) {
        T* const to = h1(f, x, row);
        const T *const by_y = along_y(f, row), *const by_z = along_z(f, row);
        for (std::int64_t z = 0; z < nodes; z += lanes) {
          V sum(T(0));
          const auto add = [&](int k, const V& up, const V& down) {
            sum = fused<V>(V(s.first[2][k]), up - down, sum);
          };
          visit_along_z<radius>(by_z + z, take<V>(by_z + z), add);
          add_first<V, radius>(sum, by_y + z, m_length, s.first[1]).store(to + z);
        }
      }
    }
  }
  void image(T* g, std::int64_t z) const {
    const std::int64_t source = m_faces.source(2, z);
    g[z] = source < 0 ? T(0) : g[source];
  }
  static void multiply(const T* n, const T* g, std::int64_t count, T* to) {
    for (std::int64_t z = 0; z < count; z += lanes) {
      (take<V>(n + z) * take<V>(g + z)).store(to + z);
    }
  }

  void step(std::int64_t x) const {
    const StepArguments<T> s = m_s;
    const std::int64_t z0 = m_tile.lower[2], nodes = m_tile.upper[2] - z0;
    for (std::int64_t row = 0; row < m_rows; ++row) {
      const std::int64_t y = m_tile.lower[1] + row;
      for (int f = 0; f < 2; ++f) {
        const T* around[planes];
        for (int k = 0; k < planes; ++k) around[k] = across(f, x + k - radius, row);
        T* const to = h1(f, x, row);
        for (std::int64_t z = 0; z < nodes; z += lanes) {
          V sum = take<V>(to + z);
          MOHO_UNROLL
          for (int k = 1; k <= radius; ++k) {
            sum = fused<V>(V(s.first[0][k]),
                           take<V>(around[radius + k] + z) - take<V>(around[radius - k] + z), sum);
          }
          sum.store(to + z);
        }
      }
      for (std::int64_t z = 0; z < nodes; z += axis_piece) {
        step_from_h1<3, radius>(s, s.flat(x, y, z0 + z), s.taper[0][x] * s.taper[1][y], z0 + z,
                                std::min(axis_piece, nodes - z), h1(0, x, row) + z,
                                h1(1, x, row) + z);
      }
    }
  }

  const StepArguments<T>& m_s;
  const AxisFaces& m_faces;
  HostTile m_tile;
  std::int64_t m_length, m_rows;
  T *m_across, *m_h1, *m_along_y, *m_g, *m_along_z;
};

/// Function that steps a tile in one pass.
template <class T>
using AxisTileWork = void (*)(const StepArguments<T>&, const AxisFaces&, const HostTile&);

/// \brief Steps a tile in one pass, with memory of the thread.
///
/// The tile is cut along z, into pieces of at most `max_nodes`, and along y, so that its rings and
/// the planes of both fields take at most `cache` bytes and stay in the second-level cache.
template <class T, int radius>
void axis_ring_host(const StepArguments<T>& s, const AxisFaces& faces, const HostTile& tile) {
  static thread_local std::vector<T> memory;
  constexpr std::int64_t lanes = simd::lanes<T>, max_nodes = 256, cache = 1088 * 1024;
  const std::int64_t nodes = tile.upper[2] - tile.lower[2], rows = tile.upper[1] - tile.lower[1];
  const std::int64_t pieces = (nodes + max_nodes - 1) / max_nodes;
  const std::int64_t length = ((nodes + pieces - 1) / pieces + lanes - 1) / lanes * lanes;
  const std::int64_t planes = 2 * radius + 1;
  const auto bytes = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t field_row = 2 * planes * (length + row_alignment<T>)*bytes;
  const std::int64_t ring_row =
      2 * (planes + radius + 1) * AxisTile<T, radius>::row_length(length) * bytes;
  const std::int64_t fitting =
      std::max<std::int64_t>((cache - 2 * radius * field_row) / (field_row + ring_row), 2 * radius);
  const std::int64_t strips = (rows + fitting - 1) / fitting;
  for (std::int64_t z = tile.lower[2]; z < tile.upper[2]; z += length) {
    for (std::int64_t n = 0; n < strips; ++n) {
      HostTile part = tile;
      part.lower[1] = tile.lower[1] + n * rows / strips;
      part.upper[1] = tile.lower[1] + (n + 1) * rows / strips;
      part.lower[2] = z;
      part.upper[2] = std::min(z + length, tile.upper[2]);
      AxisTile<T, radius>(s, faces, part, memory).run();
    }
  }
}

/// Returns the function of hosts that steps a tile of self-adjoint TTI in one pass, by order.
template <class T, int Dim>
AxisTileWork<T> axis_ring_host_of(int order) {
  if constexpr (Dim == 3) {
    const AxisTileWork<T> table[] = {
        &axis_ring_host<T, 1>, &axis_ring_host<T, 2>, &axis_ring_host<T, 3>, &axis_ring_host<T, 4>,
        &axis_ring_host<T, 5>, &axis_ring_host<T, 6>, &axis_ring_host<T, 7>, &axis_ring_host<T, 8>};
    return table[order / 2 - 1];
  } else {
    (void)order;
    return nullptr;
  }
}

/// Loop over tiles in one pass.
template <class T>
struct AxisTileLoop {
  HostLoop<T> tiles;
  AxisFaces faces;
  AxisTileWork<T> work;

  void operator()(const std::int64_t n) const {
    const FlushDenormals flush;
    work(tiles.s, faces, tiles.tile(n));
  }
};

}  // namespace moho::wave::detail
