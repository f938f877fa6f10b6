// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Exchange of traveltimes between the slabs of a split graph.

#include <moho/core/copy.hpp>
#include <moho/rays/detail/work_list.hpp>

#include <cstdint>

namespace moho::rays::detail {

/// Takes the times of rows beyond a cut where they became earlier, and notifies the tiles within
/// reach, as the tiles there would.
template <class T, int Dim, class Memory>
struct TakeRows {
  WorkList<T, Dim, Memory> list;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  Kokkos::View<T*, Memory> received;  ///< (sources, rows of the padded grid)
  std::int64_t count;                 ///< elements of a source
  std::int64_t index;                 ///< of the first row in the padded grid
  bool above;                         ///< the rows are before the first tiles, not after the last
  int radius;
  int round;  ///< number of the next round

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t source = i / count;
    const std::int64_t at = index + i % count;
    const T time = received(i);
    if (!(time < times(source, at))) return;
    times(source, at) = time;
    const Index<Dim> node = list.grid.node(at);
    int neighbours = 1;
    for (int d = 1; d < Dim; ++d) neighbours *= 3;
    for (int k = 0; k < neighbours; ++k) notify(source, node, k, time);
  }

 private:
  /// Notifies the k-th of the tiles adjacent to the node's column of tiles, if the node is within
  /// its reach.
  KOKKOS_INLINE_FUNCTION void notify(std::int64_t source, const Index<Dim>& node, int k,
                                     T time) const {
    std::int64_t tile = above ? 0 : list.grid.tiles[0] - 1;
    int side = above ? 0 : 2;
    int power = 1;
    for (int d = 1; d < Dim - 1; ++d) power *= 3;
    for (int d = 1; d < Dim; ++d) {
      const int extent = tile_extent<Memory, Dim>(d);
      const int step = k / power % 3 - 1;  // from the node's tile to the notified one
      power /= 3;
      const std::int64_t own = node[d] / extent;
      const int local = static_cast<int>(node[d] - own * extent);
      if (step < 0 && local >= radius) return;
      if (step > 0 && local < extent - radius) return;
      if (own + step < 0 || own + step >= list.grid.tiles[d]) return;
      tile = tile * list.grid.tiles[d] + own + step;
      side = 3 * side + 1 - step;
    }
    list.append(round - 1, static_cast<int>(source * list.tile_count + tile), 1u << side, time);
  }
};

/// One slab during a batch.
template <class T, int Dim, class Memory>
struct SlabSide {
  Instance<Memory> exec;
  PaddedGrid<Dim> grid;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  WorkList<T, Dim, Memory> list;
  int round;                        ///< number of the next round
  Kokkos::View<T*, Memory> buffer;  ///< for the rows from one side
};

/// Copies rows of a slab beside a cut to the adjacent slab, which takes those that became earlier.
/// \param first first of `radius` rows, as a node of the model
/// \param above the receiver is after the cut
template <class T, int Dim, class Memory>
void exchange_rows(const SlabSide<T, Dim, Memory>& from, const SlabSide<T, Dim, Memory>& to,
                   std::int64_t first, int radius, bool above) {
  using Elements = Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const std::int64_t count = radius * to.grid.strides[0];
  const auto sources = static_cast<std::int64_t>(to.times.extent(0));
  const std::int64_t index = (first + from.grid.low[0]) * from.grid.strides[0];
  const auto length = static_cast<std::size_t>(count);
  const auto of_source = static_cast<std::int64_t>(from.times.stride(0));
  for (std::int64_t s = 0; s < sources; ++s) {
    copy(to.exec, Elements(to.buffer.data() + s * count, length),
         Elements(from.times.data() + s * of_source + index, length));
  }
  launch("moho::rays::take_rows", to.exec, sources * count,
         TakeRows<T, Dim, Memory>{to.list, to.times, to.buffer, count,
                                  (first + to.grid.low[0]) * to.grid.strides[0], above, radius,
                                  to.round});
}

}  // namespace moho::rays::detail
