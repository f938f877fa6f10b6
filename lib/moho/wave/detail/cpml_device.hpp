// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Step with perfectly matched layers on devices, in one launch.
///
/// The box is cut into pieces at the nodes that the layers reach. Pieces out of reach of all layers
/// use the march of march_device.hpp. In the others a thread marches through its nodes in the same
/// way, and updates psi and zeta where required. The field is therefore read and written once:
///
/// - across y and z the new psi of a plane of the tile passes through scratch, in two alternating
///   planes with one barrier each;
/// - along the march, x, the new psi is computed layer_radius() planes ahead from the thread's
///   queue. It stays in registers of the thread, without a barrier.
///
/// psi of nodes around a tile is recomputed from the previous psi, as in the neighbouring tiles.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/detail/cpml_arithmetic.hpp>
#include <moho/wave/detail/cpml_pieces.hpp>
#include <moho/wave/detail/section_step.hpp>
#include <moho/wave/kernel/march_device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace moho::wave::detail {

/// Shape of teams.
template <Stencil stencil, class T, int radius>
struct DeviceLayerMarchTraits : DeviceMarchTraits<stencil, T, radius> {
  /// True for one instance for each set of axes; one for all is slower and compiles faster.
  static constexpr bool by_axes = radius == 2 || radius == 4;
  /// Teams on a multiprocessor in 2D, with 32 threads each.
  static constexpr int section_blocks = 14;
  /// Nodes of a thread within reach of layers in 3D: 8 bytes, because 16 spill registers.
  static constexpr int rim_width = 8 / static_cast<int>(sizeof(T));
  /// Nodes of such a thread in 2D.
  static constexpr int section_rim_width =
      stencil == Stencil::vti ? rim_width : DeviceMarchTraits<stencil, T, radius>::width;
};

/// Shape of teams that read codes of parameters.
template <Stencil stencil, class T, int radius>
struct CodedLayerMarchTraits : DeviceLayerMarchTraits<stencil, T, radius> {
  static constexpr bool coded = true;
};

/// Traits of a march within reach of layers.
template <class Traits, int Dim>
struct RimTraits : Traits {
  static constexpr int width = Dim == 3 ? Traits::rim_width : Traits::section_rim_width;
};

/// One step of isotropic media, variable density and self-adjoint VTI, with layers.
template <Stencil stencil, class T, int Dim, int radius, class Exec,
          class Traits = DeviceLayerMarchTraits<stencil, T, radius>>
struct DeviceLayerMarch
    : LayerArithmetic<T, DeviceMarch<stencil, T, Dim, radius, Exec, RimTraits<Traits, Dim>>::width,
                      radius> {
  using March = DeviceMarch<stencil, T, Dim, radius, Exec, Traits>;
  using Rim = DeviceMarch<stencil, T, Dim, radius, Exec, RimTraits<Traits, Dim>>;
  static constexpr int threads = March::threads, width = Rim::width, fields = March::fields;
  using Policy = Kokkos::TeamPolicy<
      Exec, Kokkos::LaunchBounds<threads, Dim == 3 ? Traits::blocks : Traits::section_blocks>,
      Kokkos::IndexType<int>>;
  using Vector = typename Rim::Vector;
  using Arithmetic = LayerArithmetic<T, width, radius>;
  using Arithmetic::difference;
  using Arithmetic::difference_ahead;
  using Arithmetic::remember;
  using Arithmetic::same;
  using Arithmetic::update;
  using Queue = typename Rim::Queue;
  static_assert(March::width % Rim::width == 0);
  static constexpr int queues = Rim::queues, side = Rim::side, center = Rim::center;
  static constexpr int reach = Arithmetic::reach;  ///< radius of first derivatives
  /// Vectors that `reach` covers along z.
  static constexpr int around = (reach + width - 1) / width;
  static constexpr int ring = 2 * reach;  ///< planes of psi across x
  static constexpr int max_lanes = 32, min_lanes = Dim == 3 ? 6 : 4;
  /// Field that layers across z correct.
  static constexpr int down_field = layer_field(stencil, 2);

  March march;
  Rim rims;
  T slopes[3][largest_layer_radius + 1];
  LayerPair<T> layers[3];
  int count;
  LayerPiece pieces[27];

  /// Returns the vectors of a plane of psi, across y and across z.
  KOKKOS_FORCEINLINE_FUNCTION static int plane_y(const LayerPiece& piece) {
    return (piece.axes & 2) != 0 ? (piece.rows + 2 * reach) * piece.lanes : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int plane_z(const LayerPiece& piece) {
    return (piece.axes & 4) != 0 ? piece.rows * (piece.lanes + 2 * around) : 0;
  }
  /// Returns the bytes of a team's scratch for planes of psi.
  ///
  /// Across one axis these are two alternating planes, across both axes one plane each.
  std::size_t scratch_bytes() const {
    int max = 0;
    for (int k = 0; k < count; ++k) {
      const int y = plane_y(pieces[k]), z = plane_z(pieces[k]);
      max = std::max(max, y > 0 && z > 0 ? y + z : 2 * (y + z));
    }
    return sizeof(Vector) * static_cast<std::size_t>(max);
  }

  /// Cuts the box of the arguments into pieces. Returns the teams of a wavefield.
  std::int64_t cover(const LayerCut& cut) {
    constexpr PieceShape shape{Dim,          static_cast<int>(sizeof(T)),
                               March::width, width,
                               threads,      reach,
                               around,       max_lanes,
                               min_lanes};
    return cut_pieces<T>(shape, cut, march.s, layers, pieces, count);
  }

  /// Marches through a piece within reach of layers of the given axes; -1: of the piece's axes.
  ///
  /// Only stores depend on whether a thread has a node, or a node of a layer. Other threads read
  /// the values of their neighbours, with factors of zero. All loads of a plane are therefore in
  /// flight together.
  /// \param own with the arguments of the wavefield that is stepped
  /// \param by offset in elements of its psi and zeta from those of the first wavefield
  template <int axes, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void rim(const Team& team, const LayerPiece& piece, int tile,
                                       const Rim& own, std::int64_t by) const {
    const StepArguments<T>& s = own.s;
    const bool across_x = axes < 0 ? (piece.axes & 1) != 0 : (axes & 1) != 0;
    const bool across_y = Dim == 3 && (axes < 0 ? (piece.axes & 2) != 0 : (axes & 2) != 0);
    const bool across_z = axes < 0 ? (piece.axes & 4) != 0 : (axes & 4) != 0;
    const int lanes = piece.lanes, rows = piece.rows, rank = team.rank();
    const bool thread = rank < rows * lanes;  // threads beyond the last row have no node
    const int row = thread ? rank / lanes : rows - 1;
    const int lane = thread ? rank - row * lanes : 0;
    const int tile_z = piece.first_z + tile % piece.tiles_z * lanes * width;
    // in 2D the rows of a team march through separate planes, all for the same number of planes
    const int tile_y =
        piece.lower[1] + tile / piece.tiles_z % piece.tiles_y * (Dim == 3 ? rows : 0);
    const int marches = tile / piece.tiles_z / piece.tiles_y;
    int x0 = piece.lower[0] + (Dim == 3 ? marches : marches * rows + row) * piece.planes;
    const bool marching = x0 < piece.upper[0];
    if (Dim == 2 && !marching) x0 = piece.lower[0];
    const int x1 = x0 + piece.planes < piece.upper[0] ? x0 + piece.planes : piece.upper[0];
    const int turns = Dim == 3 ? x1 - x0 : piece.planes;
    int y = Dim == 3 ? tile_y + row : tile_y, z = tile_z + lane * width;
    bool active = thread && marching && y < piece.upper[1] && z < piece.upper[2];
    const bool whole = z >= piece.lower[2] && z + width <= piece.upper[2];
    const LayerPair<T>&lx = layers[0], &ly = layers[1], &lz = layers[2];
    const bool in_y = y < ly.extent, in_z = z < lz.extent;
    if (!in_y) y = ly.extent - 1;
    if (!in_z) z = (lz.extent - 1) / width * width;

    // two alternating planes with one barrier each, or one plane with two barriers
    const int next_y = across_z ? 0 : plane_y(piece), next_z = across_y ? 0 : plane_z(piece);
    Vector* const planes_y = team.scratch();
    Vector* const planes_z = planes_y + (across_y ? plane_y(piece) : 0);
    std::int64_t at = s.flat(x0, y, z);

    // across y: psi of the node, and of a node around the tile
    Vector* const own_y = planes_y + (row + reach) * lanes + lane;
    std::int64_t element_y = 0;
    int around_y = 0, around_slot_y = 0;
    bool is_around_y = false, inside_y = false;
    T a_y = 0, b_y = 0;
    if (across_y) {
      inside_y = in_y && ly.has(y);
      element_y = by + ly.sides[piece.side[1]].at(x0, ly.nearest(y, piece.side[1], 1), z);
      a_y = inside_y ? ly.a[y] : T(0);
      b_y = inside_y ? ly.b[y] : T(0);
      if (thread && row < 2 * reach) {
        around_y = row < reach ? tile_y - reach + row : tile_y + rows + row - reach;
        around_slot_y = (row < reach ? row : row + rows) * lanes + lane;
        is_around_y = ly.has(around_y);
        if (!is_around_y) {
          planes_y[around_slot_y] = planes_y[around_slot_y + next_y] = same(0);
        }
      }
    }
    // across z: psi of the node, and of a node around the tile
    const int pitch_z = lanes + 2 * around;
    Vector* const own_z = planes_z + row * pitch_z + around + lane;
    std::int64_t element_z = 0;
    int around_z = 0, around_slot_z = 0;
    bool is_around_z = false, inside_z = false;
    Vector a_z = same(0), b_z = same(0);
    if (across_z) {
      inside_z = in_z && lz.has_some(z, width);
      element_z = by + lz.sides[piece.side[2]].at(x0, y, lz.nearest(z, piece.side[2], width));
      if (in_z) {
        a_z = load_lanes<width>(lz.a + z);
        b_z = load_lanes<width>(lz.b + z);
      }
      if (thread && lane < 2 * around) {
        around_z = tile_z + (lane < around ? lane - around : lanes + lane - around) * width;
        around_slot_z = row * pitch_z + (lane < around ? lane : lane + lanes);
        is_around_z = lz.has_some(around_z, width);
        if (!is_around_z) {
          planes_z[around_slot_z] = planes_z[around_slot_z + next_z] = same(0);
        }
      }
    }
    // across x: psi of the nodes ahead, in a ring
    std::int64_t element_x = 0;
    Vector ring_x[ring];
    const auto ahead_x = [&](int j, Vector& psi) {
      T slope[width];
      difference(s.now[0] + s.flat(j, y, z), s.stride_x, slopes[0], slope);
      update(slope, same(lx.a[j]), same(lx.b[j]), psi);
    };
    const LayerAccess<T>& side_x = lx.sides[piece.side[0]];
    if (across_x) {
      element_x = by + side_x.at(0, y, z);
      for (int k = 0; k < 2 * reach; ++k) {
        const int j = x0 - reach + k;
        Vector psi = same(0);
        if (lx.has(j)) {
          const std::int64_t element = element_x + j * side_x.stride_x;
          psi = load_lanes<width>(side_x.psi_now + element);
          ahead_x(j, psi);
          if (active && j >= x0 && j < x1) own.tiles.store(s, z, side_x.psi_next + element, psi);
        }
        ring_x[k] = psi;
      }
    }

    Queue queue;
    T taper[width];
    own.begin(at, queue);
    own.tiles.taper(s, y, z, taper);
    int plane = 0;  // index of the plane, 0 or 1
    for (int n = 0, x = x0; n < turns; ++n) {
      if constexpr (Traits::asks && Dim == 3) {
        if (n + 1 < turns) {
          const std::int64_t later = at + s.stride_x;
          MOHO_UNROLL
          for (int f = 0; f < queues; ++f) prefetch(own.column(f) + later + radius * s.stride_x);
          Rim::Parameters::ask(s, later);
          MOHO_UNROLL
          for (int f = 0; f < fields; ++f) prefetch(s.next[f] + later);
          if (across_x) {
            const int j = lx.nearest(x + 1 + reach, piece.side[0], 1);
            const int k = lx.nearest(x + 1, piece.side[0], 1);
            prefetch(side_x.psi_now + element_x + j * side_x.stride_x);
            prefetch(side_x.zeta + element_x + k * side_x.stride_x);
          }
          if (across_y) {
            const LayerAccess<T>& access = ly.sides[piece.side[1]];
            prefetch(access.psi_now + element_y + access.stride_x);
            prefetch(access.zeta + element_y + access.stride_x);
          }
          if (across_z) {
            const LayerAccess<T>& access = lz.sides[piece.side[2]];
            prefetch(access.psi_now + element_z + access.stride_x);
            prefetch(access.zeta + element_z + access.stride_x);
          }
        }
      }
      // all loads, then the work that is independent of other threads
      typename Rim::Parameters medium;
      Vector ahead[queues], before[2], psi_x, psi_y, psi_z, zeta_x, zeta_y, zeta_z;
      T total[width], now_q[width], second_x[width], second_y[width], second_z[width];
      std::int64_t zeta_at = 0, psi_at = 0;
      MOHO_UNROLL
      for (int f = 0; f < queues; ++f) {
        ahead[f] = load_lanes<width>(own.column(f) + at + radius * s.stride_x);
      }
      medium.load(s, at);
      before[0] = load_lanes<width>(s.next[0] + at);
      if constexpr (fields == 2) before[1] = load_lanes<width>(s.next[1] + at);
      if (across_y) {
        psi_y = load_lanes<width>(ly.sides[piece.side[1]].psi_now + element_y);
        zeta_y = load_lanes<width>(ly.sides[piece.side[1]].zeta + element_y);
      }
      if (across_z) {
        psi_z = load_lanes<width>(lz.sides[piece.side[2]].psi_now + element_z);
        zeta_z = load_lanes<width>(lz.sides[piece.side[2]].zeta + element_z);
      }
      if (across_x) {
        zeta_at = element_x + lx.nearest(x, piece.side[0], 1) * side_x.stride_x;
        psi_at = element_x + lx.nearest(x + reach, piece.side[0], 1) * side_x.stride_x;
        zeta_x = load_lanes<width>(side_x.zeta + zeta_at);
        psi_x = load_lanes<width>(side_x.psi_now + psi_at);
      }
      MOHO_UNROLL
      for (int f = 0; f < queues; ++f) {
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) queue[f][2 * radius][i] = ahead[f].v[i];
      }
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        second_x[i] = s.second[0][0] * queue[0][radius][i];
        MOHO_UNROLL
        for (int k = 1; k <= radius; ++k) {
          second_x[i] += s.second[0][k] * (queue[0][radius + k][i] + queue[0][radius - k][i]);
        }
      }
      if (across_x) {
        // beyond the grid the field ends with its halo
        const int j = x + reach < lx.extent ? x + reach : lx.extent - 1;
        const T none = x + reach < lx.extent ? T(1) : T(0);
        T slope[width];
        if constexpr (2 * reach <= radius) {
          difference_ahead(queue[0], slopes[0], slope);
        } else {
          difference(s.now[0] + s.flat(j, y, z), s.stride_x, slopes[0], slope);
        }
        update(slope, same(none * lx.a[j]), same(none * lx.b[j]), psi_x);
      }
      if constexpr (Dim == 3) {
        const T* const here = s.now[0] + at;
        T slope[width];
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          second_y[i] = s.second[1][0] * queue[0][radius][i];
          slope[i] = 0;
        }
        MOHO_UNROLL
        for (int k = 1; k <= radius; ++k) {
          const Vector up = load_lanes<width>(here + k * s.stride_y);
          const Vector low = load_lanes<width>(here - k * s.stride_y);
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            second_y[i] += s.second[1][k] * (up.v[i] + low.v[i]);
            if (k <= reach && across_y) slope[i] += slopes[1][k] * (up.v[i] - low.v[i]);
          }
        }
        if (across_y) update(slope, same(a_y), same(b_y), psi_y);
      } else {
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) second_y[i] = 0;
      }
      const auto along_z = [&](const T* here, Vector& psi, const Vector& c, const Vector& d,
                               T(&mid)[width], T(&second)[width]) {
        typename Rim::Window window;
        load_window<width, side>(here, window);
        own.down(window, second);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) mid[i] = window[center + i];
        if (across_z) {
          T slope[width];
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            slope[i] = 0;
            MOHO_UNROLL
            for (int k = 1; k <= reach; ++k) {
              slope[i] += slopes[2][k] * (window[center + i + k] - window[center + i - k]);
            }
          }
          update(slope, c, d, psi);
        }
      };
      along_z(s.now[down_field] + at, psi_z, a_z, b_z, now_q, second_z);
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        total[i] = Dim == 3 ? second_x[i] + second_y[i] : second_x[i];
      }

      // psi of the plane, and of the nodes around the tile
      if (across_y && thread) own_y[plane * next_y] = psi_y;
      if (across_z && thread) own_z[plane * next_z] = psi_z;
      if (across_y && is_around_y) {
        const LayerAccess<T>& access = ly.sides[piece.side[1]];
        Vector psi = load_lanes<width>(access.psi_now + by +
                                       access.at(x, ly.nearest(around_y, piece.side[1], 1), z));
        T slope[width];
        difference(s.now[0] + s.flat(x, around_y, z), s.stride_y, slopes[1], slope);
        update(slope, same(ly.a[around_y]), same(ly.b[around_y]), psi);
        planes_y[around_slot_y + plane * next_y] = psi;
      }
      if (across_z && is_around_z) {
        const LayerAccess<T>& access = lz.sides[piece.side[2]];
        Vector psi = load_lanes<width>(access.psi_now + by +
                                       access.at(x, y, lz.nearest(around_z, piece.side[2], width)));
        T mid[width], second[width];
        along_z(s.now[down_field] + s.flat(x, y, around_z), psi, load_lanes<width>(lz.a + around_z),
                load_lanes<width>(lz.b + around_z), mid, second);
        planes_z[around_slot_z + plane * next_z] = psi;
      }
      if (across_y || across_z) team.barrier();

      T across[width], down[width];
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) across[i] = down[i] = 0;
      if (across_x) {
        MOHO_UNROLL
        for (int k = 1; k <= reach; ++k) {
          const Vector u = k < reach ? ring_x[(reach + k) % ring] : psi_x;
          const Vector l = ring_x[reach - k];
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) across[i] += slopes[0][k] * (u.v[i] - l.v[i]);
        }
        MOHO_UNROLL
        for (int k = 1; k < ring; ++k) ring_x[k - 1] = ring_x[k];
        ring_x[ring - 1] = psi_x;
        remember(same(lx.a[x]), same(lx.b[x]), second_x, zeta_x, across);
      }
      if (across_y) {
        const Vector* const here = own_y + plane * next_y;
        T change[width];
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) change[i] = 0;
        MOHO_UNROLL
        for (int k = 1; k <= reach; ++k) {
          const Vector u = here[k * lanes], l = here[-k * lanes];
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) change[i] += slopes[1][k] * (u.v[i] - l.v[i]);
        }
        remember(same(a_y), same(b_y), second_y, zeta_y, change);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) across[i] += change[i];
      }
      if (across_z) {
        constexpr int middle = around * width;
        T psi[(2 * around + 1) * width];
        load_window<width, around>(reinterpret_cast<const T*>(own_z + plane * next_z), psi);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          MOHO_UNROLL
          for (int k = 1; k <= reach; ++k) {
            down[i] += slopes[2][k] * (psi[middle + i + k] - psi[middle + i - k]);
          }
        }
        remember(a_z, b_z, second_z, zeta_z, down);
      }

      const T wx = s.taper[0][x];
      const Vector scale = medium.scale(s), a = medium.a(s), b = medium.b(s);
      Vector next[2];
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        if constexpr (stencil == Stencil::vti) {
          T change_q;
          symmetric_change<T>(second_x[i] + second_y[i] + across[i], second_z[i] + down[i], a.v[i],
                              b.v[i], total[i], change_q);
          next[1].v[i] =
              next_value<T>(now_q[i], before[1].v[i], scale.v[i] * change_q, wx * taper[i]);
        } else {
          total[i] += second_z[i] + (across[i] + down[i]);
          if constexpr (stencil == Stencil::variable_density) {
            total[i] -= a.v[i] * queue[0][radius][i];
          }
        }
        next[0].v[i] = next_value<T>(queue[0][radius][i], before[0].v[i], scale.v[i] * total[i],
                                     wx * taper[i]);
      }
      const auto store = [&](const auto& write) {
        write(s.next[0] + at, next[0]);
        if constexpr (fields == 2) write(s.next[1] + at, next[1]);
        if (across_x) {
          if (lx.has(x)) write(side_x.zeta + zeta_at, zeta_x);
          if (lx.has(x + reach) && x + reach < x1) write(side_x.psi_next + psi_at, psi_x);
        }
        if (across_y && inside_y) {
          write(ly.sides[piece.side[1]].zeta + element_y, zeta_y);
          write(ly.sides[piece.side[1]].psi_next + element_y, psi_y);
        }
        if (across_z && inside_z) {
          write(lz.sides[piece.side[2]].zeta + element_z, zeta_z);
          write(lz.sides[piece.side[2]].psi_next + element_z, psi_z);
        }
      };
      if (active && whole) {
        store([](T* to, const Vector& v) { *reinterpret_cast<Vector*>(to) = v; });
      } else if (active) {
        store([&](T* to, const Vector& v) { own.tiles.store(s, z, to, v); });
      }
      Rim::shift(queue);
      if (across_y && across_z) team.barrier();
      plane ^= 1;
      if (Dim == 2 && x + 1 == x1) {
        active = false;  // other threads have more planes
        continue;
      }
      ++x;
      at += s.stride_x;
      if (across_y) element_y += ly.sides[piece.side[1]].stride_x;
      if (across_z) element_z += lz.sides[piece.side[2]].stride_x;
    }
  }

  /// The work of a thread.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void work(const Team& team) const {
    if constexpr (Dim == 2) {
      // the same tile of all wavefields, then the next
      const int number = team.league() / march.s.shots;
      const int shot = team.league() - number * march.s.shots;
      March own = march;
      own.s = march.s.of_shot(shot);
      Rim own_rims = rims;
      own_rims.s = rims.s.of_shot(shot);
      work_of(team, number, own, own_rims, shot * march.s.batch_stride);
    } else {
      work_of(team, team.league(), march, rims, 0);
    }
  }

  /// Does the work of a thread of a team of a wavefield.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void work_of(const Team& team, int number, const March& own,
                                           const Rim& own_rims, std::int64_t by) const {
    int at = 0, first = 0;
    while (number >= pieces[at].end) first = pieces[at++].end;
    const LayerPiece& piece = pieces[at];
    const int tile = number - first;
    if (piece.axes == 0) {
      const int row = team.rank() / piece.lanes, lane = team.rank() - row * piece.lanes;
      const std::int64_t z =
          piece.first_z + (tile % piece.tiles_z * piece.lanes + lane) * March::width;
      std::int64_t y = piece.lower[1];
      int turn = tile / piece.tiles_z / piece.tiles_y;  // planes of the march
      if constexpr (Dim == 3) {
        y += tile / piece.tiles_z % piece.tiles_y * piece.rows + row;
      } else {
        turn = turn * piece.rows + row;
      }
      const int x0 = piece.lower[0] + turn * piece.planes;
      const int x1 = x0 + piece.planes < piece.upper[0] ? x0 + piece.planes : piece.upper[0];
      if (row < piece.rows && z < piece.upper[2] && y < piece.upper[1] && x0 < x1) {
        own.march(x0, x1, y, z);
      }
    } else if constexpr (Traits::by_axes && Dim == 2) {
      switch (piece.axes) {
        case 1:
          return rim<1>(team, piece, tile, own_rims, by);
        case 4:
          return rim<4>(team, piece, tile, own_rims, by);
        default:
          return rim<5>(team, piece, tile, own_rims, by);
      }
    } else if constexpr (Traits::by_axes) {
      switch (piece.axes) {
        case 1:
          return rim<1>(team, piece, tile, own_rims, by);
        case 2:
          return rim<2>(team, piece, tile, own_rims, by);
        case 3:
          return rim<3>(team, piece, tile, own_rims, by);
        case 4:
          return rim<4>(team, piece, tile, own_rims, by);
        case 5:
          return rim<5>(team, piece, tile, own_rims, by);
        case 6:
          return rim<6>(team, piece, tile, own_rims, by);
        default:
          return rim<7>(team, piece, tile, own_rims, by);
      }
    } else {
      rim<-1>(team, piece, tile, own_rims, by);
    }
  }

  /// A team of Kokkos.
  struct Team {
    const typename Policy::member_type& member;
    KOKKOS_FORCEINLINE_FUNCTION int league() const { return member.league_rank(); }
    KOKKOS_FORCEINLINE_FUNCTION int rank() const { return member.team_rank(); }
    KOKKOS_FORCEINLINE_FUNCTION Vector* scratch() const {
      return static_cast<Vector*>(member.team_scratch(0).get_shmem_aligned(
          static_cast<std::ptrdiff_t>(sizeof(Vector)), sizeof(Vector)));
    }
    KOKKOS_FORCEINLINE_FUNCTION void barrier() const { member.team_barrier(); }
  };

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& member) const {
    work(Team{member});
  }

  /// Steps the box of the arguments.
  static void launch(const Instance<MemoryOf<Exec>>& exec, const LayeredArguments<T>& arguments) {
    if constexpr (Dim == 2) {
      if (section_step<stencil, T, radius, true>(exec, arguments)) return;
    }
    run(exec, arguments, stencil == Stencil::vti ? LayerCut{.planes = 8} : LayerCut{});
  }
  /// Steps the box of the arguments with a given cut.
  static void run(const Instance<MemoryOf<Exec>>& exec, const LayeredArguments<T>& arguments,
                  const LayerCut& cut = {}) {
    DeviceLayerMarch kernel;
    kernel.march.s = kernel.rims.s = arguments.s;
    for (int d = 0; d < 3; ++d) {
      kernel.layers[d] = arguments.layers[d];
      for (int k = 0; k <= largest_layer_radius; ++k) kernel.slopes[d][k] = arguments.slope[d][k];
    }
    const std::int64_t teams =
        filling_cut(cut, Dim, multiprocessors(exec.space()),
                    [&](const LayerCut& one) { return kernel.cover(one) * arguments.s.shots; });
    Policy policy(exec.space(), static_cast<int>(teams), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes() + 16));
    Kokkos::parallel_for("moho::wave::layered_step", light_weight(policy), kernel);
  }
};

}  // namespace moho::wave::detail
