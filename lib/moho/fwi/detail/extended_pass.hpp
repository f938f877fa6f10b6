// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Passes over extended images (internal): each adds several pairs of wavefields.

#include <moho/core/box.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/fwi/detail/gradient_kernels.hpp>
#include <moho/wave/kernel/march_device.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace moho::fwi::detail {

/// Several pairs of wavefields at nodes of one box, one after the other.
inline constexpr int slices_at_once = 8;
/// Planes of a tile of AddExtendedTiles; no tile contains the end of a ring.
inline constexpr int tile_planes = 8;

/// Operands of a pass over an extended image.
template <class T, int Dim>
struct ExtendedPass {
  const T* source[slices_at_once];
  const T* adjoint[slices_at_once];
  int slices;
  DenseBox<Dim> nodes;
  std::int64_t x, y;         ///< largest lags
  std::int64_t size;         ///< elements from a lag of the image to the next
  PlaneRange planes;         ///< planes of the image that are added to, from 0 on
  std::int64_t image_first;  ///< plane of the image's first element
  /// True if the planes of every pair are those of a ring; false: all planes of `nodes`.
  bool ring;
  std::int64_t wrap[slices_at_once];  ///< plane that is in the first slot once more
  std::int64_t jump[slices_at_once];  ///< elements of a ring

  /// Returns the planes of the wavefields that are read.
  PlaneRange read() const {
    const std::int64_t count = nodes.box.extent(0);
    return {std::max<std::int64_t>(planes.begin - x, 0), std::min(planes.end + x, count)};
  }
  /// Returns the elements by which a plane of a pair is before its place without a ring.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t back(int k, std::int64_t plane) const {
    return plane >= wrap[k] ? jump[k] : 0;
  }
  /// \brief Adds a pair in rings.
  /// \param of_source,of_adjoint rings of some planes
  /// \param turn plane in the first slot, at most the first one of read(); multiple of tile_planes
  /// \param slots of both rings, planes of read() or more; multiple of tile_planes
  void add_pair(const T* of_source, const T* of_adjoint, std::int64_t turn, std::int64_t slots) {
    const std::int64_t plane = nodes.strides[0];
    source[slices] = of_source - turn * plane;
    adjoint[slices] = of_adjoint - turn * plane;
    wrap[slices] = turn + slots;
    jump[slices] = slots * plane;
    ring = true;
    ++slices;
  }

  /// Computes the element of a node shifted by lags; returns false if it is outside.
  KOKKOS_FORCEINLINE_FUNCTION bool moved(Index<Dim> node, std::int64_t by_x, std::int64_t by_y,
                                         std::int64_t& element) const {
    node[0] += by_x;
    if (Dim == 3) node[1] += by_y;
    if (node[0] < nodes.box.lower[0] || node[0] >= nodes.box.upper[0]) return false;
    if (Dim == 3 && (node[1] < nodes.box.lower[1] || node[1] >= nodes.box.upper[1])) return false;
    element = nodes.at(node);
    return true;
  }
};

/// \brief Kernel of hosts: I(x, h) += sum over slices of adjoint(x + h) source(x - h), by rows.
template <class T, int Dim>
struct AddExtendedRows {
  ExtendedPass<T, Dim> pass;
  T* image;  ///< lag after lag
  T weight;
  Box<Dim> rows;  ///< the first nodes of the rows of the image
  void operator()(const std::int64_t i) const {
    const std::int64_t lag = i / rows.size(), wide = 2 * pass.x + 1;
    const std::int64_t hx = lag % wide - pass.x, hy = lag / wide - pass.y;
    const Index<Dim> node = rows.node(i % rows.size());
    std::int64_t up = 0, down = 0;
    if (!pass.moved(node, hx, hy, up) || !pass.moved(node, -hx, -hy, down)) return;
    const std::int64_t plane = pass.nodes.strides[0], x = node[0] - pass.nodes.box.lower[0];
    T* const to = image + lag * pass.size + pass.nodes.at(node) - pass.image_first * plane;
    const std::int64_t count = pass.nodes.box.extent(Dim - 1);
    for (int k = 0; k < pass.slices; ++k) {
      const T* const a = pass.adjoint[k] + up - (pass.ring ? pass.back(k, x + hx) : 0);
      const T* const s = pass.source[k] + down - (pass.ring ? pass.back(k, x - hx) : 0);
      MOHO_INDEPENDENT
      for (std::int64_t z = 0; z < count; ++z) to[z] += weight * a[z] * s[z];
    }
  }
};

/// \brief Kernel of devices: I(x, h) += sum over slices of adjoint(x + h) source(x - h), one lag in
/// y.
///
/// Lag and node are the difference and the sum of the two positions x + h and x - h. A thread loads
/// four values of each wavefield at every other node along x. It adds their sixteen products to
/// sixteen nodes and lags of the image: half a load per product. The nodes of the adjoint wavefield
/// are fixed; the thread loops over nodes of the source wavefield within the lags. Threads of a
/// warp are along z, warps of a block next to each other along x. `whole_pass`: the pass has
/// slices_at_once pairs, a constant number of loads. `part`: some planes of an image, by pairs that
/// may be in rings.
template <class T, int Dim, int width, bool whole_pass, bool part>
struct AddExtendedTiles {
  using Vector = wave::kernel::Lanes<T, width>;
  static constexpr int side = tile_planes / 2;  ///< values of each wavefield
  static constexpr int lane_width = width;
  static constexpr int lanes = 32;  ///< threads along z

  ExtendedPass<T, Dim> pass;
  T* image;  ///< of lag 0 along x
  T weight;
  std::int64_t count, depth;    ///< nodes along x and z
  std::int64_t plane, row;      ///< elements from one x, or y, to the next
  std::int64_t up_row, middle;  ///< rows of the first adjoint values and of their image
  std::int64_t down_row;        ///< that of the source
  int tiles, chunks;            ///< along x, of both parities, and along z
  int first_tile, last_tile;    ///< first tile of the pass, and last one of the box
  std::int64_t begin, end;      ///< planes that are read: of `part` only

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t lane = n % lanes;
    std::int64_t rest = n / lanes;
    const auto tile = static_cast<int>(rest % tiles);
    rest /= tiles;
    const std::int64_t z = (rest % chunks * lanes + lane) * width;
    if (z >= depth) return;
    const std::int64_t y = rest / chunks * row + z;
    const int parity = tile & 1, mine = first_tile + (tile >> 1);
    const auto far = static_cast<int>((pass.x + side - 1) / side);
    for (int other = mine > far ? mine - far : 0; other <= last_tile && other <= mine + far;
         ++other) {
      const std::int64_t from_up = 2 * side * mine + parity, from_down = 2 * side * other + parity;
      const std::int64_t h = side * (mine - other);
      bool whole = from_up + 2 * (side - 1) < count && from_down + 2 * (side - 1) < count &&
                   h + side - 1 <= pass.x && h - side + 1 >= -pass.x;
      if constexpr (part) {
        const std::int64_t middles = side * (mine + other) + parity;
        if (middles >= pass.planes.end || middles + 2 * (side - 1) < pass.planes.begin) continue;
        whole = whole && middles >= pass.planes.begin && middles + 2 * (side - 1) < pass.planes.end;
      }
      if (whole) {
        add<true>(from_up, from_down, y);
      } else {
        add<false>(from_up, from_down, y);
      }
    }
  }
  /// Adds the products of one tile.
  template <bool whole>
  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t from_up, std::int64_t from_down,
                                       std::int64_t y) const {
    const auto wanted = [&](int i, int j) {
      if (whole) return true;
      const std::int64_t h = (from_up - from_down) / 2 + i - j;
      if constexpr (part) {
        const std::int64_t at = (from_up + from_down) / 2 + i + j;
        if (at < pass.planes.begin || at >= pass.planes.end) return false;
      }
      return from_up + 2 * i < count && from_down + 2 * j < count && h <= pass.x && h >= -pass.x;
    };
    const std::int64_t at_up = up_row + y + from_up * plane;
    const std::int64_t at_down = down_row + y + from_down * plane;
    T* const first = image + (from_up - from_down) / 2 * pass.size +
                     (from_up + from_down) / 2 * plane + middle + y;
    const std::int64_t by_up = pass.size + plane, by_down = plane - pass.size;
    Vector sum[side][side] = {};
    MOHO_UNROLL
    for (int i = 0; i < side; ++i) {
      MOHO_UNROLL
      for (int j = 0; j < side; ++j) {
        if (wanted(i, j)) {
          sum[i][j] = wave::kernel::load_lanes<width>(first + i * by_up + j * by_down);
        }
      }
    }
    const auto held = [&](std::int64_t at) {
      if (whole) return true;
      if constexpr (part) return at >= begin && at < end;
      return at < count;
    };
    const auto add_slice = [&](int k) {
      Vector up[side] = {}, down[side] = {};
      const T* const a = pass.adjoint[k] + at_up - (part ? pass.back(k, from_up) : 0);
      const T* const s = pass.source[k] + at_down - (part ? pass.back(k, from_down) : 0);
      MOHO_UNROLL
      for (int i = 0; i < side; ++i) {
        if (held(from_up + 2 * i)) {
          up[i] = wave::kernel::load_lanes<width>(a + 2 * i * plane);
        }
        if (held(from_down + 2 * i)) {
          down[i] = wave::kernel::load_lanes<width>(s + 2 * i * plane);
        }
        MOHO_UNROLL
        for (int v = 0; v < width; ++v) down[i].v[v] *= weight;
      }
      MOHO_UNROLL
      for (int i = 0; i < side; ++i) {
        MOHO_UNROLL
        for (int j = 0; j < side; ++j) {
          MOHO_UNROLL
          for (int v = 0; v < width; ++v) sum[i][j].v[v] += up[i].v[v] * down[j].v[v];
        }
      }
    };
    if constexpr (whole_pass) {
      MOHO_UNROLL
      for (int k = 0; k < slices_at_once; ++k) add_slice(k);
    } else {
      for (int k = 0; k < pass.slices; ++k) add_slice(k);
    }
    MOHO_UNROLL
    for (int i = 0; i < side; ++i) {
      MOHO_UNROLL
      for (int j = 0; j < side; ++j) {
        if (wanted(i, j)) {
          *reinterpret_cast<Vector*>(first + i * by_up + j * by_down) = sum[i][j];
        }
      }
    }
  }
};

/// Returns the kernel of a pass without its lag in y.
template <class Kernel, class T, int Dim>
Kernel extended_tiles(const ExtendedPass<T, Dim>& pass, T weight) {
  Kernel add{};
  add.pass = pass;
  add.weight = weight;
  add.count = pass.nodes.box.extent(0);
  add.depth = pass.nodes.box.extent(Dim - 1);
  add.plane = pass.nodes.strides[0];
  add.row = Dim == 3 ? pass.nodes.strides[1] : 0;
  constexpr std::int64_t each = 2 * Kernel::side, width = Kernel::lanes * Kernel::lane_width;
  const PlaneRange read = pass.read();
  add.begin = read.begin;
  add.end = read.end;
  add.first_tile = static_cast<int>(read.begin / each);
  add.last_tile = static_cast<int>((add.count - 1) / each);
  add.tiles = 2 * static_cast<int>((read.end + each - 1) / each - add.first_tile);
  add.chunks = static_cast<int>((add.depth + width - 1) / width);
  return add;
}

/// \brief Sets the lag in y of a kernel.
/// \param image first element of the image
/// \return threads; 0 for lags without products
template <class Kernel, class T>
std::int64_t set_lag(Kernel& add, T* image, std::int64_t hy) {
  const auto& pass = add.pass;
  const std::int64_t wide = 2 * pass.x + 1;
  const std::int64_t high = add.row > 0 ? pass.nodes.box.extent(1) : 1;
  const std::int64_t rows = std::max<std::int64_t>(high - 2 * std::abs(hy), 0);
  add.image = image + ((hy + pass.y) * wide + pass.x) * pass.size - pass.image_first * add.plane;
  add.middle = std::abs(hy) * add.row;
  add.up_row = add.middle + hy * add.row;
  add.down_row = add.middle - hy * add.row;
  return rows * add.chunks * add.tiles * Kernel::lanes;
}

template <int width, bool whole_pass, bool part, class T, int Dim, class Memory>
void launch_extended_tiles(const Instance<Memory>& exec, const ExtendedPass<T, Dim>& pass, T* image,
                           T weight) {
  using Kernel = AddExtendedTiles<T, Dim, width, whole_pass, part>;
  using Policy = Kokkos::RangePolicy<typename Instance<Memory>::Space, Kokkos::LaunchBounds<256, 2>,
                                     Kokkos::IndexType<std::int64_t>>;
  Kernel add = extended_tiles<Kernel>(pass, weight);
  for (std::int64_t hy = -pass.y; hy <= pass.y; ++hy) {
    const std::int64_t threads = set_lag(add, image, hy);
    if (threads == 0) continue;
    Kokkos::parallel_for("moho::fwi::extended_image",
                         light_weight(Policy(exec.space(), 0, threads)), add);
  }
}

template <bool part, class T, int Dim, class Memory>
void launch_extended_width(const Instance<Memory>& exec, const ExtendedPass<T, Dim>& pass, T* image,
                           T weight) {
  constexpr int width = static_cast<int>(8 / sizeof(T));
  const bool even = pass.nodes.box.extent(Dim - 1) % width == 0;
  if (even && pass.slices == slices_at_once) {
    launch_extended_tiles<width, true, part>(exec, pass, image, weight);
  } else if (even) {
    launch_extended_tiles<width, false, part>(exec, pass, image, weight);
  } else {
    launch_extended_tiles<1, false, part>(exec, pass, image, weight);
  }
}

/// Adds the pairs of a pass to planes of an image, for all lags.
template <class T, int Dim, class Memory>
void add_extended(const Instance<Memory>& exec, const ExtendedPass<T, Dim>& pass, T* image,
                  T weight) {
  if constexpr (is_host_memory<Memory>) {
    Box<Dim> rows = pass.nodes.box;
    rows.upper[0] = rows.lower[0] + pass.planes.end;
    rows.lower[0] += pass.planes.begin;
    rows.upper[Dim - 1] = rows.lower[Dim - 1] + 1;
    launch("moho::fwi::extended_image", exec, (2 * pass.x + 1) * (2 * pass.y + 1) * rows.size(),
           AddExtendedRows<T, Dim>{pass, image, weight, rows});
  } else {
    if (pass.ring) {
      launch_extended_width<true>(exec, pass, image, weight);
    } else {
      launch_extended_width<false>(exec, pass, image, weight);
    }
  }
}

}  // namespace moho::fwi::detail

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi::detail {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, add_extended)
}  // namespace moho::fwi::detail
#endif
/// \endcond
