// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Passes over extended images (internal): each adds several pairs of wavefields.

#include <moho/core/box.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/fwi/detail/gradient_kernels.hpp>
#include <moho/wave/kernel/march_device.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace moho::fwi::detail {

/// Several pairs of wavefields at nodes of one box, one after the other.
inline constexpr int slices_at_once = 8;

/// Operands of a pass over an extended image.
template <class T, int Dim>
struct ExtendedPass {
  const T* source[slices_at_once];
  const T* adjoint[slices_at_once];
  int slices;
  DenseBox<Dim> nodes;
  std::int64_t x, y;  ///< largest lags
  std::int64_t size;  ///< nodes

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
  Box<Dim> rows;  ///< the first nodes of rows
  void operator()(const std::int64_t i) const {
    const std::int64_t lag = i / rows.size(), wide = 2 * pass.x + 1;
    const std::int64_t hx = lag % wide - pass.x, hy = lag / wide - pass.y;
    const Index<Dim> node = rows.node(i % rows.size());
    std::int64_t up = 0, down = 0;
    if (!pass.moved(node, hx, hy, up) || !pass.moved(node, -hx, -hy, down)) return;
    T* const to = image + lag * pass.size + pass.nodes.at(node);
    const std::int64_t count = pass.nodes.box.extent(Dim - 1);
    for (int k = 0; k < pass.slices; ++k) {
      const T* const a = pass.adjoint[k] + up;
      const T* const s = pass.source[k] + down;
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
/// slices_at_once pairs, a constant number of loads.
template <class T, int Dim, int width, bool whole_pass>
struct AddExtendedTiles {
  using Vector = wave::kernel::Lanes<T, width>;
  static constexpr int side = 4;    ///< values of each wavefield
  static constexpr int lanes = 32;  ///< threads along z

  ExtendedPass<T, Dim> pass;
  T* image;  ///< of lag 0 along x
  T weight;
  std::int64_t count, depth;    ///< nodes along x and z
  std::int64_t plane, row;      ///< elements from one x, or y, to the next
  std::int64_t up_row, middle;  ///< rows of the first adjoint values and of their image
  std::int64_t down_row;        ///< that of the source
  int tiles, chunks;            ///< along x, of both parities, and along z

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t lane = n % lanes;
    std::int64_t rest = n / lanes;
    const auto tile = static_cast<int>(rest % tiles);
    rest /= tiles;
    const std::int64_t z = (rest % chunks * lanes + lane) * width;
    if (z >= depth) return;
    const std::int64_t y = rest / chunks * row + z;
    const int parity = tile & 1, mine = tile >> 1;
    const auto far = static_cast<int>((pass.x + side - 1) / side);
    const int last = tiles / 2 - 1;
    for (int other = mine > far ? mine - far : 0; other <= last && other <= mine + far; ++other) {
      const std::int64_t from_up = 2 * side * mine + parity, from_down = 2 * side * other + parity;
      const std::int64_t h = side * (mine - other);
      const bool whole = from_up + 2 * (side - 1) < count && from_down + 2 * (side - 1) < count &&
                         h + side - 1 <= pass.x && h - side + 1 >= -pass.x;
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
      return from_up + 2 * i < count && from_down + 2 * j < count && h <= pass.x && h >= -pass.x;
    };
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
    const std::int64_t at_up = up_row + y + from_up * plane;
    const std::int64_t at_down = down_row + y + from_down * plane;
    const auto add_slice = [&](int k) {
      Vector up[side] = {}, down[side] = {};
      const T* const a = pass.adjoint[k] + at_up;
      const T* const s = pass.source[k] + at_down;
      MOHO_UNROLL
      for (int i = 0; i < side; ++i) {
        if (whole || from_up + 2 * i < count) {
          up[i] = wave::kernel::load_lanes<width>(a + 2 * i * plane);
        }
        if (whole || from_down + 2 * i < count) {
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

template <int width, bool whole_pass, class T, int Dim, class Memory>
void launch_extended_tiles(const Instance<Memory>& exec, const ExtendedPass<T, Dim>& pass, T* image,
                           T weight) {
  using Kernel = AddExtendedTiles<T, Dim, width, whole_pass>;
  using Policy = Kokkos::RangePolicy<typename Instance<Memory>::Space, Kokkos::LaunchBounds<256, 2>,
                                     Kokkos::IndexType<std::int64_t>>;
  Kernel add{};
  add.pass = pass;
  add.weight = weight;
  add.count = pass.nodes.box.extent(0);
  add.depth = pass.nodes.box.extent(Dim - 1);
  add.plane = pass.nodes.strides[0];
  add.row = Dim == 3 ? pass.nodes.strides[1] : 0;
  add.tiles = static_cast<int>(2 * ((add.count + 2 * Kernel::side - 1) / (2 * Kernel::side)));
  add.chunks = static_cast<int>((add.depth + Kernel::lanes * width - 1) / (Kernel::lanes * width));
  const std::int64_t wide = 2 * pass.x + 1, high = Dim == 3 ? pass.nodes.box.extent(1) : 1;
  for (std::int64_t hy = -pass.y; hy <= pass.y; ++hy) {
    const std::int64_t rows = high - 2 * std::abs(hy);
    if (rows <= 0) continue;
    add.image = image + ((hy + pass.y) * wide + pass.x) * pass.size;
    add.middle = std::abs(hy) * add.row;
    add.up_row = add.middle + hy * add.row;
    add.down_row = add.middle - hy * add.row;
    Kokkos::parallel_for(
        "moho::fwi::extended_image",
        light_weight(Policy(exec.space(), 0, rows * add.chunks * add.tiles * Kernel::lanes)), add);
  }
}

/// Adds the pairs of a pass to an image, for all lags.
template <class T, int Dim, class Memory>
void add_extended(const Instance<Memory>& exec, const ExtendedPass<T, Dim>& pass, T* image,
                  T weight) {
  if constexpr (is_host_memory<Memory>) {
    Box<Dim> rows = pass.nodes.box;
    rows.upper[Dim - 1] = rows.lower[Dim - 1] + 1;
    launch("moho::fwi::extended_image", exec, (2 * pass.x + 1) * (2 * pass.y + 1) * rows.size(),
           AddExtendedRows<T, Dim>{pass, image, weight, rows});
  } else {
    constexpr int width = static_cast<int>(8 / sizeof(T));
    const bool even = pass.nodes.box.extent(Dim - 1) % width == 0;
    if (even && pass.slices == slices_at_once) {
      launch_extended_tiles<width, true>(exec, pass, image, weight);
    } else if (even) {
      launch_extended_tiles<width, false>(exec, pass, image, weight);
    } else {
      launch_extended_tiles<1, false>(exec, pass, image, weight);
    }
  }
}

}  // namespace moho::fwi::detail
