// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The tuned step of isotropic media and VTI on devices.
///
/// A thread owns a few neighbouring nodes of a row along z, 16 bytes of them where registers allow,
/// and marches along x. What it needs along x waits in a queue of registers, so that each plane is
/// read once from memory; neighbours along y and z come through the cache. All loads are aligned
/// vectors: the chip wants some megabytes in flight.

#include <moho/wave/arguments.hpp>

namespace moho::wave::detail {

/// Shape of a team's tile and of a thread's work.
template <Medium medium, class T, int radius>
struct DeviceMarchTraits {
  static constexpr bool two = medium != Medium::isotropic;  ///< two queues
  static constexpr int width =
      two && (sizeof(T) == 8 || radius > 4) ? 8 / int(sizeof(T)) : 16 / int(sizeof(T));
  static constexpr int lanes = 32;   ///< threads along z
  static constexpr int rows = 8;     ///< threads along y
  static constexpr int planes = 64;  ///< planes along x that a team marches through
  static constexpr int threads = lanes * rows;
};

/// A vector that is loaded and stored at once.
template <class T, int width>
struct alignas(width * sizeof(T)) Lanes {
  T v[width];
};

template <Medium medium, class T, int Dim, int radius, class Exec,
          class Traits = DeviceMarchTraits<medium, T, radius>>
struct DeviceMarch {
  using Policy =
      Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Traits::threads, 1>, Kokkos::IndexType<int>>;
  static constexpr int width = Traits::width;
  static constexpr int fields = medium == Medium::isotropic ? 1 : 2;  ///< that have a queue
  static constexpr int side = (radius + width - 1) / width;  ///< vectors to each side along z
  using Vector = Lanes<T, width>;

  StepArguments<T> s;
  std::int64_t first_z;  ///< the box's first node along z, rounded down to a vector
  int tiles_z, tiles_y;

  /// Teams for the box of the arguments.
  static std::int64_t teams(const StepArguments<T>& s, std::int64_t& first_z, int& tiles_z,
                            int& tiles_y) {
    first_z = s.lower[2] / width * width;
    constexpr std::int64_t z = Traits::lanes * width, y = rows();
    tiles_z = static_cast<int>((s.upper[2] - first_z + z - 1) / z);
    tiles_y = static_cast<int>((s.upper[1] - s.lower[1] + y - 1) / y);
    return tiles_z * static_cast<std::int64_t>(tiles_y) *
           ((s.upper[0] - s.lower[0] + planes() - 1) / planes());
  }
  static constexpr int rows() { return Dim == 3 ? Traits::rows : 1; }
  static constexpr int planes() { return Dim == 3 ? Traits::planes : 16; }
  static constexpr int threads() { return Traits::lanes * rows(); }

  KOKKOS_FORCEINLINE_FUNCTION static Vector load(const T* from) {
    return *reinterpret_cast<const Vector*>(from);
  }

  /// Adds what neighbours at distance k along an axis contribute.
  KOKKOS_FORCEINLINE_FUNCTION void add(T (&sum)[fields][width], int f, T c, const T* up,
                                       const T* down) const {
    for (int i = 0; i < width; ++i) sum[f][i] += c * (up[i] + down[i]);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const int tile = member.league_rank();
    const int lane = member.team_rank() % Traits::lanes, row = member.team_rank() / Traits::lanes;
    const std::int64_t z = first_z + (tile % tiles_z * Traits::lanes + lane) * width;
    const std::int64_t y = s.lower[1] + tile / tiles_z % tiles_y * rows() + row;
    if (z >= s.upper[2] || y >= s.upper[1]) return;
    const std::int64_t x0 =
        s.lower[0] + static_cast<std::int64_t>(tile / tiles_z / tiles_y) * planes();
    const std::int64_t x1 = x0 + planes() < s.upper[0] ? x0 + planes() : s.upper[0];

    std::int64_t at = s.flat(x0, y, z);
    const T* const column[2] = {s.now[0], medium == Medium::variable_density ? s.a : s.now[1]};
    T queue[fields][2 * radius + 1][width];
    for (int f = 0; f < fields; ++f) {
      MOHO_UNROLL
      for (int k = 0; k < 2 * radius; ++k) {
        const Vector v = load(column[f] + at + (k - radius) * s.stride_x);
        for (int i = 0; i < width; ++i) queue[f][k][i] = v.v[i];
      }
    }
    T taper[width];
    for (int i = 0; i < width; ++i) {
      taper[i] = z + i < s.upper[2] ? s.taper[1][y] * s.taper[2][z + i] : T(1);
    }
    const bool whole = z >= s.lower[2] && z + width <= s.upper[2];

    for (std::int64_t x = x0; x < x1; ++x, at += s.stride_x) {
      // everything that comes from memory is asked for before anything is used
      Vector ahead[fields], before[fields], scale, a, b;
      MOHO_UNROLL
      for (int f = 0; f < fields; ++f) ahead[f] = load(column[f] + at + radius * s.stride_x);
      scale = load(s.scale + at);
      before[0] = load(s.before[0] + at);
      if constexpr (medium == Medium::vti) {
        before[1] = load(s.before[1] + at);
        a = load(s.a + at);
        b = load(s.b + at);
      }
      const T wx = s.taper[0][x];

      T across[fields][width], down[fields][width];  // derivatives along x and y, along z
      MOHO_UNROLL
      for (int f = 0; f < fields; ++f) {
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) queue[f][2 * radius][i] = ahead[f].v[i];
      }
      if constexpr (medium == Medium::variable_density) {
        flux(at, queue, across[0]);
      } else {
        MOHO_UNROLL
        for (int f = 0; f < fields; ++f) {
          const T* const here = column[f] + at;
          T window[(2 * side + 1) * width];
          MOHO_UNROLL
          for (int k = 0; k <= 2 * side; ++k) {
            if (k == side) continue;
            const Vector v = load(here + (k - side) * width);
            MOHO_UNROLL
            for (int i = 0; i < width; ++i) window[k * width + i] = v.v[i];
          }
          const T cross = Dim == 3 ? s.second[0][0] + s.second[1][0] : s.second[0][0];
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            window[side * width + i] = queue[f][radius][i];
            across[f][i] = cross * queue[f][radius][i];
            down[f][i] = s.second[2][0] * queue[f][radius][i];
          }
          MOHO_UNROLL
          for (int k = 1; k <= radius; ++k) {
            add(across, f, s.second[0][k], queue[f][radius + k], queue[f][radius - k]);
            if constexpr (Dim == 3) {
              const Vector up = load(here + k * s.stride_y), low = load(here - k * s.stride_y);
              add(across, f, s.second[1][k], up.v, low.v);
            }
            add(down, f, s.second[2][k], window + side * width + k, window + side * width - k);
          }
        }
      }

      Vector next[fields];
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        const T w = wx * taper[i];
        if constexpr (medium == Medium::vti) {
          T change_p, change_q;
          anisotropic_change<T>(down[0][i], across[0][i], down[1][i], across[1][i], a.v[i], b.v[i],
                                s.shear, change_p, change_q);
          next[0].v[i] =
              next_value<T>(queue[0][radius][i], before[0].v[i], scale.v[i] * change_p, w);
          next[1].v[i] =
              next_value<T>(queue[1][radius][i], before[1].v[i], scale.v[i] * change_q, w);
        } else {
          const T change = medium == Medium::isotropic ? across[0][i] + down[0][i] : across[0][i];
          next[0].v[i] = next_value<T>(queue[0][radius][i], before[0].v[i], scale.v[i] * change, w);
        }
      }
      if (whole) {
        *reinterpret_cast<Vector*>(s.before[0] + at) = next[0];
        if constexpr (medium == Medium::vti) *reinterpret_cast<Vector*>(s.before[1] + at) = next[1];
      } else {
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          if (z + i >= s.lower[2] && z + i < s.upper[2]) {
            s.before[0][at + i] = next[0].v[i];
            if constexpr (medium == Medium::vti) s.before[1][at + i] = next[1].v[i];
          }
        }
      }
      MOHO_UNROLL
      for (int f = 0; f < fields; ++f) {
        MOHO_UNROLL
        for (int k = 0; k < 2 * radius; ++k) {
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) queue[f][k][i] = queue[f][k + 1][i];
        }
      }
    }
  }

  /// div(b grad p), the queues being those of p and b.
  KOKKOS_FORCEINLINE_FUNCTION void flux(std::int64_t at,
                                        const T (&queue)[fields][2 * radius + 1][width],
                                        T (&sum)[width]) const {
    T window[fields][(2 * side + 1) * width];
    const T* const column[2] = {s.now[0], s.a};
    MOHO_UNROLL
    for (int f = 0; f < fields; ++f) {
      MOHO_UNROLL
      for (int k = 0; k <= 2 * side; ++k) {
        if (k == side) continue;
        const Vector v = load(column[f] + at + (k - side) * width);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) window[f][k * width + i] = v.v[i];
      }
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) window[f][side * width + i] = queue[f][radius][i];
    }
    for (int i = 0; i < width; ++i) sum[i] = 0;
    MOHO_UNROLL
    for (int k = 1; k <= radius; ++k) {
      Vector up[2], low[2];
      if constexpr (Dim == 3) {
        for (int f = 0; f < 2; ++f) {
          up[f] = load(column[f] + at + k * s.stride_y);
          low[f] = load(column[f] + at - k * s.stride_y);
        }
      }
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        const T p = queue[0][radius][i], b = queue[fields - 1][radius][i];
        const auto term = [&](T there, T buoyancy) { return (buoyancy + b) * (there - p); };
        const int c = side * width + i;
        sum[i] +=
            s.second[0][k] * (term(queue[0][radius + k][i], queue[fields - 1][radius + k][i]) +
                              term(queue[0][radius - k][i], queue[fields - 1][radius - k][i]));
        sum[i] += s.second[2][k] * (term(window[0][c + k], window[fields - 1][c + k]) +
                                    term(window[0][c - k], window[fields - 1][c - k]));
        if constexpr (Dim == 3) {
          sum[i] +=
              s.second[1][k] * (term(up[0].v[i], up[1].v[i]) + term(low[0].v[i], low[1].v[i]));
        }
      }
    }
    for (int i = 0; i < width; ++i) sum[i] *= T(0.5);
  }
};

}  // namespace moho::wave::detail
