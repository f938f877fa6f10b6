// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Products that an imaging condition sums over time, node by node.
///
/// Stores of snapshots decompress a snapshot and add its products in one kernel. These functors
/// therefore belong to this module; the processing of the sums belongs to moho::rtm.

#include <moho/core/box.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/kokkos.hpp>
#include <moho/wave/layout.hpp>
#include <moho/wave/wavefield.hpp>

#include <cstdint>

namespace moho::snapshot {

/// \brief Operands of one imaging step: the receiver wavefield at a snapshot's time, and the sums.
///
/// The sums are arrays on `grid`, the last axis fastest, in the same memory space.
template <class T, int Dim, class Memory>
struct Correlation {
  wave::Layout<Dim> layout;              ///< layout of the receiver wavefield
  wave::Storage<const T, Memory> field;  ///< receiver wavefield R
  Box<Dim> interior;                     ///< nodes of the model in the grid of the wavefield
  double weight = 1.0;                   ///< factor of the products: time between snapshots, s
  Grid<Dim> grid;                        ///< grid of the sums: the model's
  T* image = nullptr;                    ///< sum of S R
  T* source = nullptr;                   ///< sum of S S
  T* receiver = nullptr;                 ///< sum of R R
};

}  // namespace moho::snapshot

namespace moho::snapshot::kernel {

/// Four numbers along the last axis, which a device thread reads or writes in one access.
template <class T>
struct alignas(16) Pack4 {
  T at[4];
};

/// Returns true if a pack at this address is read and written by one instruction.
KOKKOS_FORCEINLINE_FUNCTION bool on_16_bytes(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

/// Loads four numbers from any alignment.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Pack4<T> load_pack(const T* from) {
  if (on_16_bytes(from)) return *reinterpret_cast<const Pack4<T>*>(from);
  return {{from[0], from[1], from[2], from[3]}};
}

/// Stores four numbers at any alignment.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void store_pack(T* to, const Pack4<T>& values) {
  if (on_16_bytes(to)) {
    *reinterpret_cast<Pack4<T>*>(to) = values;
  } else {
    for (int k = 0; k < 4; ++k) to[k] = values.at[k];
  }
}

/// Functor that adds S R, S S and R R at nodes, for values S of a source wavefield.
template <class T, int Dim>
struct PointProducts {
  const T* field;
  wave::Layout<Dim> layout;
  Index<Dim> shift;  ///< node of the model's first node in the wavefield
  Grid<Dim> grid;
  T weight;
  T *image, *source, *receiver;

  template <class Memory>
  static PointProducts of(const Correlation<T, Dim, Memory>& correlation) {
    PointProducts result{};
    result.field = correlation.field.data();
    result.layout = correlation.layout;
    result.shift = correlation.interior.lower;
    result.grid = correlation.grid;
    result.weight = static_cast<T>(correlation.weight);
    result.image = correlation.image;
    result.source = correlation.source;
    result.receiver = correlation.receiver;
    return result;
  }

  /// Returns the element of a node in the sums.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(const Index<Dim>& node) const {
    std::int64_t to = 0;
    for (int d = 0; d < Dim; ++d) to = to * grid.extents[d] + (node[d] - shift[d]);
    return to;
  }
  /// Adds the products of the value at a node.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Index<Dim>& node, T s) const {
    const std::int64_t to = at(node);
    const T r = field[layout.flat(node)];
    image[to] += weight * s * r;
    source[to] += weight * s * s;
    receiver[to] += weight * r * r;
  }
  /// Operands at four nodes, loaded before values are added.
  struct Loaded {
    Pack4<T> r, image, source, receiver;
  };
  KOKKOS_FORCEINLINE_FUNCTION Loaded before(const Index<Dim>& node) const {
    const std::int64_t to = at(node);
    return {load_pack(field + layout.flat(node)), load_pack(image + to), load_pack(source + to),
            load_pack(receiver + to)};
  }
  /// Adds the products of values at four consecutive nodes along the last axis.
  KOKKOS_FORCEINLINE_FUNCTION void four(const Index<Dim>& node, Loaded sums,
                                        const Pack4<T>& values) const {
    const std::int64_t to = at(node);
    MOHO_UNROLL
    for (int k = 0; k < 4; ++k) {
      const T s = values.at[k], r = sums.r.at[k];
      sums.image.at[k] += weight * s * r;
      sums.source.at[k] += weight * s * s;
      sums.receiver.at[k] += weight * r * r;
    }
    store_pack(image + to, sums.image);
    store_pack(source + to, sums.source);
    store_pack(receiver + to, sums.receiver);
  }
  /// Adds the products of values times `down` at consecutive nodes along the last axis.
  KOKKOS_FORCEINLINE_FUNCTION void row(const Index<Dim>& first, int count,
                                       const float* KOKKOS_RESTRICT values, T down) const {
    const std::int64_t to = at(first);
    const T* KOKKOS_RESTRICT const r = field + layout.flat(first);
    T* KOKKOS_RESTRICT const i = image + to;
    T* KOKKOS_RESTRICT const si = source + to;
    T* KOKKOS_RESTRICT const ri = receiver + to;
    for (int k = 0; k < count; ++k) {
      const T s = static_cast<T>(values[k]) * down;
      i[k] += weight * s * r[k];
      si[k] += weight * s * s;
      ri[k] += weight * r[k] * r[k];
    }
  }
};

}  // namespace moho::snapshot::kernel
