// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tuned step of Fletcher's TTI on devices: mixed derivatives through two scratch buffers.
///
/// The kernel follows Suh and Wang (2011), with their vertical axis as the slowest one here, x. A
/// team's tile lies across y and z and marches along x. For every plane the first buffer receives
/// the tile of both fields with a halo. Each thread computes the derivatives along y and z of its
/// node. The second buffer receives the z derivative of the tile and of its halo along y, whose y
/// derivative is the mixed one.
///
/// Queues of registers along x hold the fields and their first derivatives. From these follow the
/// second derivative along x and the two other mixed derivatives. Each field is read once.

#include <moho/wave/kernel/arguments.hpp>
#include <moho/wave/kernel/march_device.hpp>

namespace moho::wave::detail {

/// Shape of a team's tile.
template <class T, int Dim, int radius>
struct DeviceFletcherTtiTraits {
  static constexpr int lanes = Dim == 3 ? 32 : 128;  ///< threads, and nodes, along z
  /// Threads, and nodes, along y.
  static constexpr int rows = Dim == 2 ? 1 : sizeof(T) == 8 ? 8 : 16;
  static constexpr int planes = Dim == 3 ? 128 : 16;  ///< planes along x that a team computes
  static constexpr int blocks = 1;  ///< smallest number of teams on a multiprocessor
  static constexpr int turns = 1;   ///< unrolled planes
  static constexpr int buffers = sizeof(T) == 8 && radius > 4 ? 1 : 2;  ///< buffers of each kind
};

template <class T, int Dim, int radius, class Exec,
          class Traits = DeviceFletcherTtiTraits<T, Dim, radius>>
struct DeviceFletcherTti {
  static constexpr int lanes = Traits::lanes, rows = Traits::rows, threads = lanes * rows;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, Traits::blocks>,
                                    Kokkos::IndexType<int>>;
  static constexpr int width = 16 / static_cast<int>(sizeof(T));  ///< nodes in a load
  static constexpr int halo_z = (radius + width - 1) / width * width;
  static constexpr int halo_y = Dim == 3 ? radius : 0;
  static constexpr int row_length = lanes + 2 * halo_z;
  static constexpr int tile_rows = rows + 2 * halo_y;
  static constexpr int tile_size = row_length * tile_rows;  ///< elements of a field, with its halo
  static constexpr int slope_size = lanes * tile_rows;      ///< elements of a field's z derivative
  static constexpr int loads = 2 * tile_size / width;       ///< vectors of a plane, both fields
  static constexpr int loads_each = (loads + threads - 1) / threads;
  using Vector = Lanes<T, width>;

  /// Cover of a box by teams.
  struct Tiles {
    std::int64_t first_z;
    int tiles_z, tiles_y;
    std::int64_t cover(const StepArguments<T>& box, int) {
      first_z = box.lower[2] / width * width;
      tiles_z = static_cast<int>((box.upper[2] - first_z + lanes - 1) / lanes);
      tiles_y = static_cast<int>((box.upper[1] - box.lower[1] + rows - 1) / rows);
      return tiles_z * static_cast<std::int64_t>(tiles_y) *
             ((box.upper[0] - box.lower[0] + Traits::planes - 1) / Traits::planes);
    }
  };

  StepArguments<T> s;
  Tiles tiles;

  /// Returns the bytes of scratch of a team.
  static std::size_t scratch() {
    return ScratchView<T, Exec>::shmem_size(Traits::buffers * 2 *
                                            (tile_size + (Dim == 3 ? slope_size : 0)));
  }

  /// Loads this thread's vectors of a plane.
  KOKKOS_FORCEINLINE_FUNCTION void fetch(Vector (&vectors)[loads_each], int rank, std::int64_t x,
                                         std::int64_t y0, std::int64_t z0) const {
    constexpr int row_vectors = row_length / width;
    MOHO_UNROLL
    for (int n = 0; n < loads_each; ++n) {
      const int load = rank + n * threads;
      if (loads_each * threads > loads && load >= loads) break;
      const int f = load >= loads / 2 ? 1 : 0;
      const int rest = load - f * (loads / 2);
      const int row = rest / row_vectors, column = rest - row * row_vectors;
      std::int64_t y = y0 - halo_y + row;
      // rows beyond the last halo of the box are never used
      if (y >= s.upper[1] + halo_y) y = s.upper[1] + halo_y - 1;
      const std::int64_t z = z0 - halo_z + column * width;
      const std::int64_t at = s.flat(x, y, z < s.upper[2] + halo_z ? z : z0);
      vectors[n] = *reinterpret_cast<const Vector*>((f ? s.now[1] : s.now[0]) + at);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(const Vector (&vectors)[loads_each], int rank,
                                        T* tile) const {
    MOHO_UNROLL
    for (int n = 0; n < loads_each; ++n) {
      const int load = rank + n * threads;
      if (loads_each * threads > loads && load >= loads) break;
      *reinterpret_cast<Vector*>(tile + load * width) = vectors[n];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION T first(int axis, const T* f, int stride) const {
    T sum = 0;
    MOHO_UNROLL
    for (int k = 1; k <= radius; ++k) sum += s.first[axis][k] * (f[k * stride] - f[-k * stride]);
    return sum;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& member) const {
    work_of_shot<Dim>(*this, member);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void work(const Member& member, const int tile) const {
    const ScratchView<T, Exec> scratch_view(
        member.team_scratch(0), Traits::buffers * 2 * (tile_size + (Dim == 3 ? slope_size : 0)));
    T* const buffers = scratch_view.data();
    T* const slopes = buffers + Traits::buffers * 2 * tile_size;

    const int rank = member.team_rank();
    const int lane = rank % lanes, row = rank / lanes;
    const int tiles_z = tiles.tiles_z, tiles_y = tiles.tiles_y;
    const std::int64_t z0 = tiles.first_z + static_cast<std::int64_t>(tile % tiles_z) * lanes;
    const std::int64_t y0 = s.lower[1] + static_cast<std::int64_t>(tile / tiles_z % tiles_y) * rows;
    const std::int64_t x0 =
        s.lower[0] + static_cast<std::int64_t>(tile / tiles_z / tiles_y) * Traits::planes;
    const std::int64_t x1 = x0 + Traits::planes < s.upper[0] ? x0 + Traits::planes : s.upper[0];
    const std::int64_t z = z0 + lane, y = y0 + row;
    const bool mine = z >= s.lower[2] && z < s.upper[2] && y < s.upper[1];

    // queues along x: the fields, their y and z derivatives, and second derivatives within planes
    T value[2][2 * radius + 1], slope_y[2][2 * radius + 1], slope_z[2][2 * radius + 1];
    T dyy[2][radius + 1], dzz[2][radius + 1], dyz[2][radius + 1];
    MOHO_UNROLL
    for (int f = 0; f < 2; ++f) {
      MOHO_UNROLL
      for (int k = 0; k <= 2 * radius; ++k) value[f][k] = slope_y[f][k] = slope_z[f][k] = 0;
      MOHO_UNROLL
      for (int k = 0; k <= radius; ++k) dyy[f][k] = dzz[f][k] = dyz[f][k] = 0;
    }
    const T taper = mine ? s.taper[1][y] * s.taper[2][z] : T(0);
    std::int64_t at = mine ? s.flat(x0 - 2 * radius, y, z) : s.flat(x0 - 2 * radius, y0, z0);

    Vector coming[loads_each];
    fetch(coming, rank, x0 - radius, y0, z0);
    int buffer = 0;
    MOHO_UNROLL_BY(Traits::turns)
    for (std::int64_t plane = x0 - radius; plane < x1 + radius; ++plane, at += s.stride_x) {
      T* const fields = buffers + buffer * 2 * tile_size;
      T* const gradients = slopes + buffer * 2 * slope_size;
      if constexpr (Traits::buffers == 1) member.team_barrier();
      keep(coming, rank, fields);
      member.team_barrier();
      if (plane + 1 < x1 + radius) fetch(coming, rank, plane + 1, y0, z0);
      const std::int64_t x = plane - radius;  // the plane to be written, if it belongs to the team
      const bool out = mine && x >= x0;
      T before[2], scale, a, b, nx, ny = 0, wx = 0;
      if (out) {
        before[0] = s.next[0][at];
        before[1] = s.next[1][at];
        scale = s.scale[at];
        a = s.a[at];
        b = s.b[at];
        nx = s.nx[at];
        if constexpr (Dim == 3) ny = s.ny[at];
        wx = s.taper[0][x];
      }

      // from the first buffer to derivatives within the plane
      MOHO_UNROLL
      for (int f = 0; f < 2; ++f) {
        const T* const here = fields + f * tile_size + (row + halo_y) * row_length + halo_z + lane;
        MOHO_UNROLL
        for (int k = 0; k < 2 * radius; ++k) {
          value[f][k] = value[f][k + 1];
          slope_y[f][k] = slope_y[f][k + 1];
          slope_z[f][k] = slope_z[f][k + 1];
        }
        MOHO_UNROLL
        for (int k = 0; k < radius; ++k) {
          dyy[f][k] = dyy[f][k + 1];
          dzz[f][k] = dzz[f][k + 1];
          dyz[f][k] = dyz[f][k + 1];
        }
        const T center = here[0];
        T second_y = 0, second_z = s.second[2][0] * center, slope1 = 0, slope2 = 0;
        if constexpr (Dim == 3) second_y = s.second[1][0] * center;
        MOHO_UNROLL
        for (int k = 1; k <= radius; ++k) {
          const T up = here[k], low = here[-k];
          second_z += s.second[2][k] * (up + low);
          slope2 += s.first[2][k] * (up - low);
          if constexpr (Dim == 3) {
            const T right = here[k * row_length], left = here[-k * row_length];
            second_y += s.second[1][k] * (right + left);
            slope1 += s.first[1][k] * (right - left);
          }
        }
        value[f][2 * radius] = center;
        slope_y[f][2 * radius] = slope1;
        slope_z[f][2 * radius] = slope2;
        dyy[f][radius] = second_y;
        dzz[f][radius] = second_z;
        if constexpr (Dim == 3) gradients[f * slope_size + (row + halo_y) * lanes + lane] = slope2;
      }
      if constexpr (Dim == 3) {
        // z derivatives of the halo along y
        constexpr int halo = 2 * radius * lanes;
        for (int n = rank; n < 2 * halo; n += threads) {
          const int f = n / halo, rest = n % halo;
          int r = rest / lanes;
          if (r >= radius) r += rows;
          const int column = rest % lanes;
          gradients[f * slope_size + r * lanes + column] =
              first(2, fields + f * tile_size + r * row_length + halo_z + column, 1);
        }
        member.team_barrier();
        MOHO_UNROLL
        for (int f = 0; f < 2; ++f) {
          dyz[f][radius] =
              first(1, gradients + f * slope_size + (row + halo_y) * lanes + lane, lanes);
        }
      }

      if (out) {
        const T nz = third_component<T>(nx, ny);
        T h1[2], h2[2];
        MOHO_UNROLL
        for (int f = 0; f < 2; ++f) {
          T dxx = s.second[0][0] * value[f][radius], dxy = 0, dxz = 0;
          MOHO_UNROLL
          for (int k = 1; k <= radius; ++k) {
            dxx += s.second[0][k] * (value[f][radius + k] + value[f][radius - k]);
            dxz += s.first[0][k] * (slope_z[f][radius + k] - slope_z[f][radius - k]);
            if constexpr (Dim == 3) {
              dxy += s.first[0][k] * (slope_y[f][radius + k] - slope_y[f][radius - k]);
            }
          }
          h1[f] = along_axis<Dim, T>(nx, ny, nz, dxx, dyy[f][0], dzz[f][0], dxy, dyz[f][0], dxz);
          h2[f] = dxx + dyy[f][0] + dzz[f][0] - h1[f];
        }
        T change_p, change_q;
        fletcher_change<T>(h1[0], h2[0], h1[1], h2[1], a, b, s.shear, change_p, change_q);
        const T w = wx * taper;
        s.next[0][at] = next_value<T>(value[0][radius], before[0], scale * change_p, w);
        s.next[1][at] = next_value<T>(value[1][radius], before[1], scale * change_q, w);
      }
      if constexpr (Traits::buffers == 2) buffer ^= 1;
    }
  }
};

}  // namespace moho::wave::detail
