// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The tuned step of self-adjoint TTI on devices: derivatives along the symmetry axis,
/// twice.
///
/// H1 = div(n (n . grad)): the first pass writes g = n . grad of p and q, the second takes div(n g)
/// of both and the Laplacian of p. Both march along x like the step of isotropic media. Two passes
/// move more bytes than one, but need no scratch, no barriers and fewer operations.

#include <moho/wave/march_device.hpp>

namespace moho::wave::detail {

/// Shape of a team's tile and of a thread's work in both passes.
template <class T, int radius>
struct DeviceAxisTraits {
  static constexpr int width = 8 / static_cast<int>(sizeof(T));
  static constexpr int lanes = 32, rows = 8, planes = 64;
  static constexpr int blocks = radius > 4 ? 1 : 2;
  static constexpr int early = 1;  ///< planes prefetched into the second-level cache
};

/// g = n . grad of p and q.
template <class T, int Dim, int radius, class Exec, class Traits = DeviceAxisTraits<T, radius>>
struct DeviceSlopes {
  using Tiles = MarchTiles<T, Dim, Traits>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Tiles::threads, Traits::blocks>,
                                    Kokkos::IndexType<int>>;
  static constexpr int width = Traits::width, threads = Tiles::threads;
  static constexpr int side = (radius + width - 1) / width, center = side * width;
  using Vector = Lanes<T, width>;

  StepArguments<T> s;
  Tiles tiles;

  static std::size_t scratch() { return 0; }

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& member) const {
    std::int64_t x0, x1, y, z;
    if (!tiles.place(s, member.league_rank(), member.team_rank(), x0, x1, y, z)) return;
    std::int64_t at = s.flat(x0, y, z);
    T queue[2][2 * radius + 1][width];
    MOHO_UNROLL
    for (int f = 0; f < 2; ++f) {
      MOHO_UNROLL
      for (int k = 0; k < 2 * radius; ++k) {
        const Vector v = load_lanes<width>(s.now[f] + at + (k - radius) * s.stride_x);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) queue[f][k][i] = v.v[i];
      }
    }
    for (std::int64_t x = x0; x < x1; ++x, at += s.stride_x) {
      if constexpr (Traits::early > 0) {
        const std::int64_t later = at + Traits::early * s.stride_x;
        prefetch(s.now[0] + later + radius * s.stride_x);
        prefetch(s.now[1] + later + radius * s.stride_x);
        prefetch(s.nx + later);
        prefetch(s.nz + later);
        if constexpr (Dim == 3) prefetch(s.ny + later);
      }
      Vector ahead[2], ny;
      MOHO_UNROLL
      for (int f = 0; f < 2; ++f) ahead[f] = load_lanes<width>(s.now[f] + at + radius * s.stride_x);
      const Vector nx = load_lanes<width>(s.nx + at), nz = load_lanes<width>(s.nz + at);
      if constexpr (Dim == 3) ny = load_lanes<width>(s.ny + at);
      MOHO_UNROLL
      for (int f = 0; f < 2; ++f) {
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) queue[f][2 * radius][i] = ahead[f].v[i];
        const T* const here = s.now[f] + at;
        T window[(2 * side + 1) * width];
        load_window<width, side>(here, window);
        T dx[width] = {}, dy[width] = {}, dz[width] = {};
        MOHO_UNROLL
        for (int k = 1; k <= radius; ++k) {
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            dx[i] += s.first[0][k] * (queue[f][radius + k][i] - queue[f][radius - k][i]);
            dz[i] += s.first[2][k] * (window[center + i + k] - window[center + i - k]);
          }
          if constexpr (Dim == 3) {
            const Vector up = load_lanes<width>(here + k * s.stride_y);
            const Vector low = load_lanes<width>(here - k * s.stride_y);
            MOHO_UNROLL
            for (int i = 0; i < width; ++i) dy[i] += s.first[1][k] * (up.v[i] - low.v[i]);
          }
        }
        Vector slope;
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          slope.v[i] = nx.v[i] * dx[i] + nz.v[i] * dz[i];
          if constexpr (Dim == 3) slope.v[i] += ny.v[i] * dy[i];
        }
        tiles.store(s, z, s.slope[f] + at, slope);
        MOHO_UNROLL
        for (int k = 0; k < 2 * radius; ++k) {
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) queue[f][k][i] = queue[f][k + 1][i];
        }
      }
    }
  }
};

/// The step, from p, q and their slopes.
template <class T, int Dim, int radius, class Exec, class Traits = DeviceAxisTraits<T, radius>>
struct DeviceAxis {
  using Tiles = MarchTiles<T, Dim, Traits>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Tiles::threads, Traits::blocks>,
                                    Kokkos::IndexType<int>>;
  static constexpr int width = Traits::width, threads = Tiles::threads;
  static constexpr int side = (radius + width - 1) / width, center = side * width;
  using Vector = Lanes<T, width>;
  using Window = T[(2 * side + 1) * width];

  StepArguments<T> s;
  Tiles tiles;

  static std::size_t scratch() { return 0; }

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& member) const {
    std::int64_t x0, x1, y, z;
    if (!tiles.place(s, member.league_rank(), member.team_rank(), x0, x1, y, z)) return;
    std::int64_t at = s.flat(x0, y, z);
    // p, and nx times the slopes of p and q
    T value[2 * radius + 1][width], flow[2][2 * radius + 1][width];
    MOHO_UNROLL
    for (int k = 0; k < 2 * radius; ++k) {
      const std::int64_t there = at + (k - radius) * s.stride_x;
      const Vector p = load_lanes<width>(s.now[0] + there), n = load_lanes<width>(s.nx + there);
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) value[k][i] = p.v[i];
      MOHO_UNROLL
      for (int f = 0; f < 2; ++f) {
        const Vector g = load_lanes<width>(s.slope[f] + there);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) flow[f][k][i] = n.v[i] * g.v[i];
      }
    }
    T taper[width];
    tiles.taper(s, y, z, taper);

    for (std::int64_t x = x0; x < x1; ++x, at += s.stride_x) {
      const std::int64_t far = at + radius * s.stride_x;
      if constexpr (Traits::early > 0) {
        const std::int64_t later = Traits::early * s.stride_x;
        prefetch(s.now[0] + far + later);
        prefetch(s.nx + far + later);
        prefetch(s.slope[0] + far + later);
        prefetch(s.slope[1] + far + later);
        prefetch(s.next[0] + at + later);
        prefetch(s.next[1] + at + later);
        prefetch(s.scale + at + later);
        prefetch(s.a + at + later);
        prefetch(s.b + at + later);
        prefetch(s.now[1] + at + later);
        prefetch(s.nz + at + later);
        if constexpr (Dim == 3) prefetch(s.ny + at + later);
      }
      const Vector ahead = load_lanes<width>(s.now[0] + far),
                   n_ahead = load_lanes<width>(s.nx + far);
      const Vector g_ahead[2] = {load_lanes<width>(s.slope[0] + far),
                                 load_lanes<width>(s.slope[1] + far)};
      const Vector before[2] = {load_lanes<width>(s.next[0] + at),
                                load_lanes<width>(s.next[1] + at)};
      const Vector scale = load_lanes<width>(s.scale + at), a = load_lanes<width>(s.a + at),
                   r = load_lanes<width>(s.b + at), q = load_lanes<width>(s.now[1] + at);
      const T wx = s.taper[0][x];
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        value[2 * radius][i] = ahead.v[i];
        flow[0][2 * radius][i] = n_ahead.v[i] * g_ahead[0].v[i];
        flow[1][2 * radius][i] = n_ahead.v[i] * g_ahead[1].v[i];
      }
      T laplacian[width], h1[2][width] = {};
      {
        Window p, n, g;
        load_window<width, side>(s.now[0] + at, p);
        const T c = Dim == 3 ? s.second[0][0] + s.second[1][0] + s.second[2][0]
                             : s.second[0][0] + s.second[2][0];
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          laplacian[i] = c * value[radius][i];
          MOHO_UNROLL
          for (int k = 1; k <= radius; ++k) {
            laplacian[i] += s.second[0][k] * (value[radius + k][i] + value[radius - k][i]);
            laplacian[i] += s.second[2][k] * (p[center + i + k] + p[center + i - k]);
          }
        }
        load_window<width, side>(s.nz + at, n);
        MOHO_UNROLL
        for (int f = 0; f < 2; ++f) {
          load_window<width, side>(s.slope[f] + at, g);
          MOHO_UNROLL
          for (int i = 0; i < (2 * side + 1) * width; ++i) g[i] *= n[i];
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            MOHO_UNROLL
            for (int k = 1; k <= radius; ++k) {
              h1[f][i] += s.first[0][k] * (flow[f][radius + k][i] - flow[f][radius - k][i]);
              h1[f][i] += s.first[2][k] * (g[center + i + k] - g[center + i - k]);
            }
          }
        }
      }
      if constexpr (Dim == 3) {
        MOHO_UNROLL
        for (int k = 1; k <= radius; ++k) {
          const std::int64_t up = at + k * s.stride_y, low = at - k * s.stride_y;
          const Vector p_up = load_lanes<width>(s.now[0] + up);
          const Vector p_low = load_lanes<width>(s.now[0] + low);
          const Vector n_up = load_lanes<width>(s.ny + up), n_low = load_lanes<width>(s.ny + low);
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            laplacian[i] += s.second[1][k] * (p_up.v[i] + p_low.v[i]);
          }
          MOHO_UNROLL
          for (int f = 0; f < 2; ++f) {
            const Vector g_up = load_lanes<width>(s.slope[f] + up);
            const Vector g_low = load_lanes<width>(s.slope[f] + low);
            MOHO_UNROLL
            for (int i = 0; i < width; ++i) {
              h1[f][i] += s.first[1][k] * (n_up.v[i] * g_up.v[i] - n_low.v[i] * g_low.v[i]);
            }
          }
        }
      }
      Vector next[2];
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        T change_p, change_q;
        symmetric_change<T>(laplacian[i] - h1[0][i], h1[1][i], a.v[i], r.v[i], change_p, change_q);
        const T w = wx * taper[i];
        next[0].v[i] = next_value<T>(value[radius][i], before[0].v[i], scale.v[i] * change_p, w);
        next[1].v[i] = next_value<T>(q.v[i], before[1].v[i], scale.v[i] * change_q, w);
      }
      tiles.store(s, z, s.next[0] + at, next[0]);
      tiles.store(s, z, s.next[1] + at, next[1]);
      MOHO_UNROLL
      for (int k = 0; k < 2 * radius; ++k) {
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          value[k][i] = value[k + 1][i];
          flow[0][k][i] = flow[0][k + 1][i];
          flow[1][k][i] = flow[1][k + 1][i];
        }
      }
    }
  }
};

}  // namespace moho::wave::detail
