// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tuned step of isotropic media and VTI on devices.
///
/// A thread owns a few neighbouring nodes of a row along z, 16 bytes of them where registers allow,
/// and marches along x. Values along x are kept in a queue of registers, so that each plane is read
/// from memory once. Neighbours along y and z are read through the cache. All loads are aligned
/// vectors, because the memory bandwidth requires some megabytes in flight.

#include <moho/wave/kernel/arguments.hpp>

#include <cmath>
#include <cstdint>

namespace moho::wave::kernel {

/// Shape of a team's tile and of a thread's work.
template <Stencil stencil, class T, int radius>
struct DeviceMarchTraits {
  /// True for kernels with two queues.
  static constexpr bool two = stencil == Stencil::vti_fletcher;
  /// Nodes of a thread: 16 bytes, or 8 with long queues.
  static constexpr int width = (two || radius > 4 ? 8 : 16) / static_cast<int>(sizeof(T));
  /// Threads along z and y in 3D: higher tiles for variable density.
  static constexpr int lanes = stencil == Stencil::variable_density ? 16 : 32;
  static constexpr int rows = 256 / lanes;
  static constexpr int planes = 64;                  ///< most planes along x of a march
  static constexpr int blocks = radius > 6 ? 1 : 2;  ///< teams on a multiprocessor
  /// In 3D a plane's values are prefetched into the second-level cache during the previous plane.
  ///
  /// Only media with one field have been tested with it.
  static constexpr bool asks = fields_of(stencil) == 1;
  static constexpr bool coded = false;  ///< true for kernels that read codes of parameters
};

/// Traits of kernels that read codes of parameters.
template <Stencil stencil, class T, int radius>
struct CodedMarchTraits : DeviceMarchTraits<stencil, T, radius> {
  static constexpr bool coded = true;
};

/// Vector that is loaded and stored with one instruction.
template <class T, int width>
struct alignas(width * sizeof(T)) Lanes {
  T v[width];
};

template <int width, class T>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T, width> load_lanes(const T* from) {
  return *reinterpret_cast<const Lanes<T, width>*>(from);
}

/// Parameters of a thread's nodes in a plane, loaded as numbers or as codes.
///
/// load() starts all loads; the other functions return values, and are called where these are used.
template <Stencil stencil, class T, int width, bool coded>
struct NodeParameters {
  static constexpr bool density = stencil == Stencil::variable_density;
  static constexpr bool two = fields_of(stencil) == 2;
  static constexpr bool has_words = coded && (density || two);
  static constexpr bool has_halves = coded && !density;
  using Vector = Lanes<T, width>;

  Vector first, second, third;         ///< scale, a and b
  Lanes<std::uint32_t, width> words;   ///< codes of v dt and a
  Lanes<std::uint16_t, width> halves;  ///< codes of v dt, or of b

  KOKKOS_FORCEINLINE_FUNCTION void load(const StepArguments<T>& s, std::int64_t at) {
    if constexpr (has_words) words = load_lanes<width>(s.words + at);
    if constexpr (has_halves) halves = load_lanes<width>(s.halves + at);
    if constexpr (!coded) {
      first = load_lanes<width>(s.scale + at);
      if constexpr (density || two) second = load_lanes<width>(s.a + at);
      if constexpr (two) third = load_lanes<width>(s.b + at);
    }
  }
  /// Requests the parameters of a plane from memory.
  KOKKOS_FORCEINLINE_FUNCTION static void ask(const StepArguments<T>& s, std::int64_t at) {
    if constexpr (has_words) prefetch(s.words + at);
    if constexpr (has_halves) prefetch(s.halves + at);
    if constexpr (!coded) {
      prefetch(s.scale + at);
      if constexpr (density || two) prefetch(s.a + at);
      if constexpr (two) prefetch(s.b + at);
    }
  }
  /// Returns (v dt)^2.
  KOKKOS_FORCEINLINE_FUNCTION Vector scale(const StepArguments<T>& s) const {
    if constexpr (coded) {
      Vector result;
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        const std::uint32_t code =
            has_words ? words.v[i] & 0xffffU : static_cast<std::uint32_t>(halves.v[i]);
        const T v = s.codes.velocity.decode_from_zero(code);
        result.v[i] = v * v;
      }
      return result;
    } else {
      return first;
    }
  }
  /// Returns coefficient a.
  KOKKOS_FORCEINLINE_FUNCTION Vector a(const StepArguments<T>& s) const {
    if constexpr (has_words) {
      Vector result;
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) result.v[i] = s.codes.a.decode(words.v[i] >> 16U);
      return result;
    } else {
      return second;
    }
  }
  /// Returns coefficient b.
  KOKKOS_FORCEINLINE_FUNCTION Vector b(const StepArguments<T>& s) const {
    if constexpr (has_halves && two) {
      Vector result;
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) result.v[i] = s.codes.b.decode(halves.v[i]);
      return result;
    } else {
      return third;
    }
  }
};

/// Loads the z neighbours of a thread's nodes: from -side * width up to (side + 1) * width.
template <int width, int side, class T>
KOKKOS_FORCEINLINE_FUNCTION void load_window(const T* here, T (&window)[(2 * side + 1) * width]) {
  MOHO_UNROLL
  for (int k = 0; k <= 2 * side; ++k) {
    const Lanes<T, width> v = load_lanes<width>(here + (k - side) * width);
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) window[k * width + i] = v.v[i];
  }
}

/// \brief Returns the planes of a march for which the teams of a box take the least time.
///
/// Teams run in rounds of as many as the device runs concurrently. A team of a round that is not
/// full is hardly faster, because it waits for memory as long as others. The start of a march takes
/// as long as some of a plane: its planes are read by concurrent marches, too.
/// \param tiles of a plane
/// \param depth planes of the box
/// \param max planes of a march
/// \param at_once teams that the device runs concurrently
inline int march_planes(std::int64_t tiles, std::int64_t depth, int max, std::int64_t at_once) {
  // measured on an H200 with boxes of 4 to 552 planes and 26 to 400 tiles
  constexpr std::int64_t min = 4;
  constexpr double start = 0.75, idle = 0.45;
  int result = max;
  double fastest = 0.0;
  for (std::int64_t count = (depth + max - 1) / max; count <= (depth + min - 1) / min; ++count) {
    const std::int64_t planes = (depth + count - 1) / count;
    const double rounds = static_cast<double>(tiles * count) / static_cast<double>(at_once);
    const double full = std::floor(rounds), part = rounds - full;
    const double time = (full + (part > 0.0 ? idle + (1.0 - idle) * part : 0.0)) *
                        (static_cast<double>(planes) + start);
    if (fastest > 0.0 && time >= 0.99 * fastest) continue;
    fastest = time;
    result = static_cast<int>(planes);
  }
  return result;
}

/// Cover of a box by teams: tiles of rows along y and vectors along z, pieces of planes along x.
template <class T, int Dim, class Traits>
struct MarchTiles {
  static constexpr int width = Traits::width;
  static constexpr int lanes = Dim == 3 ? Traits::lanes : 32;
  static constexpr int rows = Dim == 3 ? Traits::rows : 1;
  static constexpr int threads = lanes * rows;

  std::int64_t first_z;  ///< first node of the box along z, rounded down to a vector
  int tiles_z, tiles_y;
  int planes;  ///< planes of a march

  /// Returns the teams for the box of the arguments, of one wavefield.
  /// \param multiprocessors of the device
  std::int64_t cover(const StepArguments<T>& s, int multiprocessors) {
    first_z = s.lower[2] / width * width;
    constexpr std::int64_t z = lanes * width;
    tiles_z = static_cast<int>((s.upper[2] - first_z + z - 1) / z);
    tiles_y = static_cast<int>((s.upper[1] - s.lower[1] + rows - 1) / rows);
    const std::int64_t tiles = tiles_z * static_cast<std::int64_t>(tiles_y);
    const std::int64_t depth = s.upper[0] - s.lower[0];
    planes = Dim == 3 ? march_planes(tiles, depth, Traits::planes,
                                     std::int64_t(multiprocessors) * Traits::blocks)
                      : 16;
    return tiles * ((depth + planes - 1) / planes);
  }
  /// Sets the nodes of a thread of a team; returns false for a thread without nodes.
  KOKKOS_FORCEINLINE_FUNCTION bool place(const StepArguments<T>& s, int team, int rank,
                                         std::int64_t& x0, std::int64_t& x1, std::int64_t& y,
                                         std::int64_t& z) const {
    z = first_z + (team % tiles_z * lanes + rank % lanes) * width;
    y = s.lower[1] + team / tiles_z % tiles_y * rows + rank / lanes;
    x0 = s.lower[0] + static_cast<std::int64_t>(team / tiles_z / tiles_y) * planes;
    x1 = x0 + planes < s.upper[0] ? x0 + planes : s.upper[0];
    return z < s.upper[2] && y < s.upper[1];
  }
  /// Writes the nodes of a vector that lie in the box.
  KOKKOS_FORCEINLINE_FUNCTION void store(const StepArguments<T>& s, std::int64_t z, T* to,
                                         const Lanes<T, width>& values) const {
    if (z >= s.lower[2] && z + width <= s.upper[2]) {
      *reinterpret_cast<Lanes<T, width>*>(to) = values;
    } else {
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        if (z + i >= s.lower[2] && z + i < s.upper[2]) to[i] = values.v[i];
      }
    }
  }
  /// Computes the sponge's factors along y and z.
  KOKKOS_FORCEINLINE_FUNCTION void taper(const StepArguments<T>& s, std::int64_t y, std::int64_t z,
                                         T (&factors)[width]) const {
    for (int i = 0; i < width; ++i) factors[i] = s.taper[1][y] * s.taper[2][z + i];
  }
};

/// Calls kernel.work(member, team) for the team's wavefield, with the team's number within it.
///
/// Teams of the same tile of all wavefields, which read the same part of the medium, precede those
/// of the next tile. In 3D a launch steps one wavefield.
template <int Dim, class Kernel, class Member>
KOKKOS_FORCEINLINE_FUNCTION void work_of_shot(const Kernel& kernel, const Member& member) {
  if constexpr (Dim == 2) {
    const int team = member.league_rank() / kernel.s.shots;
    Kernel own = kernel;
    own.s = kernel.s.of_shot(member.league_rank() - team * kernel.s.shots);
    own.work(member, team);
  } else {
    kernel.work(member, member.league_rank());
  }
}

/// One step of isotropic media, variable density, VTI and Fletcher's VTI.
template <Stencil stencil, class T, int Dim, int radius, class Exec,
          class Traits = DeviceMarchTraits<stencil, T, radius>>
struct DeviceMarch {
  using Tiles = MarchTiles<T, Dim, Traits>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Tiles::threads, Traits::blocks>,
                                    Kokkos::IndexType<int>>;
  static constexpr int width = Traits::width;
  static constexpr int threads = Tiles::threads;
  static constexpr int fields = fields_of(stencil);
  static constexpr bool two = Traits::two;
  static constexpr int queues = two ? 2 : 1;
  static constexpr int side = (radius + width - 1) / width;  ///< vectors to each side along z
  static constexpr int center = side * width;  ///< position of the node itself in a window
  using Vector = Lanes<T, width>;
  using Parameters = NodeParameters<stencil, T, width, Traits::coded>;
  using Window = T[(2 * side + 1) * width];
  using Queue = T[queues][2 * radius + 1][width];

  StepArguments<T> s;
  Tiles tiles;

  static std::size_t scratch() { return 0; }

  /// Adds derivatives along x and y.
  KOKKOS_FORCEINLINE_FUNCTION void across(const Queue& queue, int f, const T* here,
                                          T (&sum)[width]) const {
    const T c = Dim == 3 ? s.second[0][0] + s.second[1][0] : s.second[0][0];
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) sum[i] = c * queue[f][radius][i];
    MOHO_UNROLL
    for (int k = 1; k <= radius; ++k) {
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        sum[i] += s.second[0][k] * (queue[f][radius + k][i] + queue[f][radius - k][i]);
      }
      if constexpr (Dim == 3) {
        const Vector up = load_lanes<width>(here + k * s.stride_y);
        const Vector low = load_lanes<width>(here - k * s.stride_y);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) sum[i] += s.second[1][k] * (up.v[i] + low.v[i]);
      }
    }
  }
  /// Adds the derivative along z.
  KOKKOS_FORCEINLINE_FUNCTION void down(const Window& window, T (&sum)[width]) const {
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) {
      sum[i] = s.second[2][0] * window[center + i];
      MOHO_UNROLL
      for (int k = 1; k <= radius; ++k) {
        sum[i] += s.second[2][k] * (window[center + i + k] + window[center + i - k]);
      }
    }
  }
  /// Returns the array whose values along x are in queue f.
  KOKKOS_FORCEINLINE_FUNCTION const T* column(int f) const { return s.now[f]; }
  /// Fills the queues before the first plane of a march.
  KOKKOS_FORCEINLINE_FUNCTION void begin(std::int64_t at, Queue& queue) const {
    MOHO_UNROLL
    for (int f = 0; f < queues; ++f) {
      MOHO_UNROLL
      for (int k = 0; k < 2 * radius; ++k) {
        const Vector v = load_lanes<width>(column(f) + at + (k - radius) * s.stride_x);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) queue[f][k][i] = v.v[i];
      }
    }
  }
  /// Moves the queues to the next plane.
  KOKKOS_FORCEINLINE_FUNCTION static void shift(Queue& queue) {
    MOHO_UNROLL
    for (int f = 0; f < queues; ++f) {
      MOHO_UNROLL
      for (int k = 0; k < 2 * radius; ++k) {
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) queue[f][k][i] = queue[f][k + 1][i];
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& member) const {
    work_of_shot<Dim>(*this, member);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void work(const Member& member, int team) const {
    std::int64_t x0, x1, y, z;
    if (tiles.place(s, team, member.team_rank(), x0, x1, y, z)) march(x0, x1, y, z);
  }

  /// Steps a thread's nodes in planes x0 up to x1.
  KOKKOS_FORCEINLINE_FUNCTION void march(std::int64_t x0, std::int64_t x1, std::int64_t y,
                                         std::int64_t z) const {
    std::int64_t at = s.flat(x0, y, z);
    Queue queue;
    begin(at, queue);
    T taper[width];
    tiles.taper(s, y, z, taper);

    for (std::int64_t x = x0; x < x1; ++x, at += s.stride_x) {
      // all loads before the first use
      Vector ahead[queues], before[2], next;
      Parameters medium;
      if constexpr (Traits::asks && Dim == 3) {
        if (x + 1 < x1) {  // no array may exist beyond the last plane of a march
          const std::int64_t later = at + s.stride_x;
          MOHO_UNROLL
          for (int f = 0; f < queues; ++f) prefetch(column(f) + later + radius * s.stride_x);
          Parameters::ask(s, later);
          prefetch(s.next[0] + later);
          if constexpr (fields == 2) prefetch(s.next[1] + later);
        }
      }
      MOHO_UNROLL
      for (int f = 0; f < queues; ++f) {
        ahead[f] = load_lanes<width>(column(f) + at + radius * s.stride_x);
      }
      medium.load(s, at);
      before[0] = load_lanes<width>(s.next[0] + at);
      if constexpr (fields == 2) before[1] = load_lanes<width>(s.next[1] + at);
      const T wx = s.taper[0][x];
      MOHO_UNROLL
      for (int f = 0; f < queues; ++f) {
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) queue[f][2 * radius][i] = ahead[f].v[i];
      }

      if constexpr (fields == 1) {
        T change[width], depth[width];
        Window window;
        load_window<width, side>(s.now[0] + at, window);
        across(queue, 0, s.now[0] + at, change);
        down(window, depth);
        const Vector scale = medium.scale(s), a = medium.a(s);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          change[i] += depth[i];
          if constexpr (stencil == Stencil::variable_density) {
            change[i] -= a.v[i] * queue[0][radius][i];
          }
        }
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          next.v[i] = next_value<T>(queue[0][radius][i], before[0].v[i], scale.v[i] * change[i],
                                    wx * taper[i]);
        }
        tiles.store(s, z, s.next[0] + at, next);
      } else {
        T h2p[width], h1q[width], q_now[width], change_q[width];
        Window window;
        load_window<width, side>(s.now[1] + at, window);
        across(queue, 0, s.now[0] + at, h2p);
        down(window, h1q);
        const Vector scale = medium.scale(s), a = medium.a(s), b = medium.b(s);
        if constexpr (stencil == Stencil::vti_fletcher) {
          T h2q[width], h1p[width];
          across(queue, queues - 1, s.now[1] + at, h2q);
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) q_now[i] = window[center + i];
          load_window<width, side>(s.now[0] + at, window);
          down(window, h1p);
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            T change_p;
            fletcher_change<T>(h1p[i], h2p[i], h1q[i], h2q[i], a.v[i], b.v[i], s.shear, change_p,
                               change_q[i]);
            h2p[i] = change_p;
          }
        } else {
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            q_now[i] = window[center + i];
            T change_p;
            symmetric_change<T>(h2p[i], h1q[i], a.v[i], b.v[i], change_p, change_q[i]);
            h2p[i] = change_p;
          }
        }
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          next.v[i] = next_value<T>(queue[0][radius][i], before[0].v[i], scale.v[i] * h2p[i],
                                    wx * taper[i]);
        }
        tiles.store(s, z, s.next[0] + at, next);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          next.v[i] =
              next_value<T>(q_now[i], before[1].v[i], scale.v[i] * change_q[i], wx * taper[i]);
        }
        tiles.store(s, z, s.next[1] + at, next);
      }
      shift(queue);
    }
  }
};

}  // namespace moho::wave::kernel
