// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tuned two-pass step of self-adjoint TTI on devices.
///
/// H1 = div(n (n . grad)). The first pass writes g = n . grad of p and q; the second computes div(n
/// g) of both and the Laplacian of p. Both march along x like the step of isotropic media. Two
/// passes move more bytes than one, but need no scratch, no barriers and fewer operations. If
/// axis_ring_device.hpp has a kernel for the order and the device, that kernel steps in one pass,
/// with the same bits.

#include <moho/wave/detail/axis_arithmetic.hpp>

namespace moho::wave::detail {

/// Shape of a team's tile and of a thread's work in both passes.
template <class T, int radius>
struct DeviceAxisTraits {
  static constexpr int width = 8 / static_cast<int>(sizeof(T));
  static constexpr int lanes = 32, rows = 8, planes = 64;
  static constexpr int blocks = radius > 4 ? 1 : 2;
  static constexpr int early = 1;  ///< planes prefetched into the second-level cache
};

/// Functor that computes g = n . grad of p and q.
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
    work_of_shot<Dim>(*this, member);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void work(const Member& member, int team) const {
    std::int64_t x0, x1, y, z;
    if (!tiles.place(s, team, member.team_rank(), x0, x1, y, z)) return;
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
        if (x + Traits::early < x1) {  // no array may exist beyond the last plane of a march
          const std::int64_t later = at + Traits::early * s.stride_x;
          prefetch(s.now[0] + later + radius * s.stride_x);
          prefetch(s.now[1] + later + radius * s.stride_x);
          prefetch(s.nx + later);
          prefetch(s.nz + later);
          if constexpr (Dim == 3) prefetch(s.ny + later);
        }
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
        T dy[width] = {};
        if constexpr (Dim == 3) {
          MOHO_UNROLL
          for (int k = 1; k <= radius; ++k) {
            const Vector up = load_lanes<width>(here + k * s.stride_y);
            const Vector low = load_lanes<width>(here - k * s.stride_y);
            MOHO_UNROLL
            for (int i = 0; i < width; ++i) {
              const T difference = up.v[i] - low.v[i];
              dy[i] = k == 1 ? rounded_product<T>(s.first[1][k], difference)
                             : rounded_once<T>(s.first[1][k], difference, dy[i]);
            }
          }
        }
        Vector slope;
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          const T dx = odd_sum<radius, width, T>(s.first[0], &queue[f][radius][i]);
          const T dz = odd_sum<radius, 1, T>(s.first[2], window + center + i);
          slope.v[i] =
              slope_along<Dim, T>(nx.v[i], Dim == 3 ? ny.v[i] : T(0), nz.v[i], dx, dy[i], dz);
        }
        tiles.store(s, z, s.axis_derivative[f] + at, slope);
        MOHO_UNROLL
        for (int k = 0; k < 2 * radius; ++k) {
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) queue[f][k][i] = queue[f][k + 1][i];
        }
      }
    }
  }
};

/// Functor that steps from p, q and their axis derivatives.
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
    work_of_shot<Dim>(*this, member);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void work(const Member& member, int team) const {
    std::int64_t x0, x1, y, z;
    if (!tiles.place(s, team, member.team_rank(), x0, x1, y, z)) return;
    std::int64_t at = s.flat(x0, y, z);
    // p, and nx times the axis derivatives of p and q
    T value[2 * radius + 1][width], flow[2][2 * radius + 1][width];
    MOHO_UNROLL
    for (int k = 0; k < 2 * radius; ++k) {
      const std::int64_t neighbour = at + (k - radius) * s.stride_x;
      const Vector p = load_lanes<width>(s.now[0] + neighbour),
                   n = load_lanes<width>(s.nx + neighbour);
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) value[k][i] = p.v[i];
      MOHO_UNROLL
      for (int f = 0; f < 2; ++f) {
        const Vector g = load_lanes<width>(s.axis_derivative[f] + neighbour);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) flow[f][k][i] = rounded_product<T>(n.v[i], g.v[i]);
      }
    }
    T taper[width];
    tiles.taper(s, y, z, taper);

    for (std::int64_t x = x0; x < x1; ++x, at += s.stride_x) {
      const std::int64_t far = at + radius * s.stride_x;
      if constexpr (Traits::early > 0) {
        if (x + Traits::early < x1) {
          const std::int64_t later = Traits::early * s.stride_x;
          prefetch(s.now[0] + far + later);
          prefetch(s.nx + far + later);
          prefetch(s.axis_derivative[0] + far + later);
          prefetch(s.axis_derivative[1] + far + later);
          prefetch(s.next[0] + at + later);
          prefetch(s.next[1] + at + later);
          prefetch(s.scale + at + later);
          prefetch(s.a + at + later);
          prefetch(s.b + at + later);
          prefetch(s.now[1] + at + later);
          prefetch(s.nz + at + later);
          if constexpr (Dim == 3) prefetch(s.ny + at + later);
        }
      }
      const Vector ahead = load_lanes<width>(s.now[0] + far),
                   n_ahead = load_lanes<width>(s.nx + far);
      const Vector g_ahead[2] = {load_lanes<width>(s.axis_derivative[0] + far),
                                 load_lanes<width>(s.axis_derivative[1] + far)};
      const Vector before[2] = {load_lanes<width>(s.next[0] + at),
                                load_lanes<width>(s.next[1] + at)};
      const Vector scale = load_lanes<width>(s.scale + at), a = load_lanes<width>(s.a + at),
                   r = load_lanes<width>(s.b + at), q = load_lanes<width>(s.now[1] + at);
      const T wx = s.taper[0][x];
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        value[2 * radius][i] = ahead.v[i];
        flow[0][2 * radius][i] = rounded_product<T>(n_ahead.v[i], g_ahead[0].v[i]);
        flow[1][2 * radius][i] = rounded_product<T>(n_ahead.v[i], g_ahead[1].v[i]);
      }
      T laplacian[width], h1[2][width] = {};
      {
        Window p, n, g;
        load_window<width, side>(s.now[0] + at, p);
        const T c = Dim == 3 ? s.second[0][0] + s.second[1][0] + s.second[2][0]
                             : s.second[0][0] + s.second[2][0];
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          laplacian[i] = add_even_sum<radius, width, T>(s.second[0], &value[radius][i],
                                                        rounded_product<T>(c, value[radius][i]));
          laplacian[i] = add_even_sum<radius, 1, T>(s.second[2], p + center + i, laplacian[i]);
        }
        load_window<width, side>(s.nz + at, n);
        MOHO_UNROLL
        for (int f = 0; f < 2; ++f) {
          load_window<width, side>(s.axis_derivative[f] + at, g);
          MOHO_UNROLL
          for (int i = 0; i < (2 * side + 1) * width; ++i) g[i] = rounded_product<T>(g[i], n[i]);
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            h1[f][i] = odd_sum<radius, 1, T>(s.first[2], g + center + i);
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
            laplacian[i] = rounded_once<T>(s.second[1][k], p_up.v[i] + p_low.v[i], laplacian[i]);
          }
          MOHO_UNROLL
          for (int f = 0; f < 2; ++f) {
            const Vector g_up = load_lanes<width>(s.axis_derivative[f] + up);
            const Vector g_low = load_lanes<width>(s.axis_derivative[f] + low);
            MOHO_UNROLL
            for (int i = 0; i < width; ++i) {
              const T difference = rounded_product<T>(n_up.v[i], g_up.v[i]) -
                                   rounded_product<T>(n_low.v[i], g_low.v[i]);
              h1[f][i] = rounded_once<T>(s.first[1][k], difference, h1[f][i]);
            }
          }
        }
      }
      // planes x - radius to x + radius, in this order
      MOHO_UNROLL
      for (int f = 0; f < 2; ++f) {
        const T sign = f == 0 ? T(-1) : T(1);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          T sum = rounded_product<T>(-sign * s.first[0][radius], flow[f][0][i]);
          MOHO_UNROLL
          for (int k = radius - 1; k >= 1; --k) {
            sum = rounded_once<T>(-sign * s.first[0][k], flow[f][radius - k][i], sum);
          }
          sum = sum + (f == 0 ? laplacian[i] - h1[f][i] : h1[f][i]);
          MOHO_UNROLL
          for (int k = 1; k <= radius; ++k) {
            sum = rounded_once<T>(sign * s.first[0][k], flow[f][radius + k][i], sum);
          }
          h1[f][i] = sum;  // H2 p, H1 q
        }
      }
      Vector next[2];
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        symmetric_step<T>(h1[0][i], h1[1][i], a.v[i], r.v[i], scale.v[i],
                          rounded_product<T>(wx, taper[i]), value[radius][i], q.v[i],
                          before[0].v[i], before[1].v[i], next[0].v[i], next[1].v[i]);
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
