// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The list of active tiles: which tiles have news in their halo, and from which sides.

#include <moho/rays/sources.hpp>

namespace moho::rays::detail {

/// Number of directions between a tile and those around it, itself included.
template <int Dim>
inline constexpr int side_count = Dim == 2 ? 9 : 27;

/// The direction "itself" among the sides of a tile.
template <int Dim>
inline constexpr int side_self = side_count<Dim> / 2;

/// Items are (source, tile) pairs. During round k teams read the list of round k and append to that of
/// round k + 1. `news` holds, for every item and parity of the round, a bit for every side that the news
/// came from; the first bit set in a round appends the item, so that it is in the list once. The counters
/// turn over three rounds. All of it is bookkeeping: traveltimes are never touched atomically.
template <int Dim, class Exec>
struct WorkList {
  using memory = typename Exec::memory_space;
  PaddedGrid<Dim> grid;
  std::int64_t tile_count = 0;
  Kokkos::View<int**, Kokkos::LayoutRight, memory> items;      ///< (2, capacity)
  Kokkos::View<unsigned**, Kokkos::LayoutRight, memory> news;  ///< (2, capacity)
  Kokkos::View<int*, memory> counts;                           ///< (3)
  Kokkos::View<unsigned char*, memory> seen;                   ///< (capacity): item was visited before
  Kokkos::View<unsigned long long*, memory> statistics;        ///< visits, first visits, sweeps

  /// Tells the tiles around `item` whose bit is set in `sides` that this tile has changed near them.
  KOKKOS_INLINE_FUNCTION void tell(int round, int item, int side) const {
    const std::int64_t tile = item % tile_count;
    std::int64_t other = 0;
    std::int64_t rest = tile;
    int where[Dim];
    for (int d = Dim - 1; d >= 0; --d) {
      where[d] = static_cast<int>(rest % grid.tiles[d]);
      rest /= grid.tiles[d];
    }
    int place = 1;
    for (int d = 0; d < Dim - 1; ++d) place *= 3;
    int left = side;
    for (int d = 0; d < Dim; ++d) {
      const int neighbour = where[d] + left / place - 1;
      left %= place;
      place /= 3;
      if (neighbour < 0 || neighbour >= grid.tiles[d]) return;
      other = other * grid.tiles[d] + neighbour;
    }
    append(round, static_cast<int>(item - tile + other), 1u << (side_count<Dim> - 1 - side));
  }

  /// Puts an item on the next round's list with news from the sides in `bits`.
  KOKKOS_INLINE_FUNCTION void append(int round, int item, unsigned bits) const {
    const int next = (round + 1) & 1;
    if (Kokkos::atomic_fetch_or(&news(next, item), bits) == 0u) {
      items(next, Kokkos::atomic_fetch_add(&counts((round + 1) % 3), 1)) = item;
    }
  }

  /// Called once a round by one thread: the counter of the round after next starts at zero.
  KOKKOS_INLINE_FUNCTION void turn_over(int round) const { counts((round + 2) % 3) = 0; }
};

/// Sides of a tile that a vertex at `local` is within `radius` of, as a bit mask (bit = side).
template <class Exec, int Dim>
KOKKOS_INLINE_FUNCTION unsigned sides_near(const int (&local)[Dim], int radius) {
  unsigned mask = 1u;
  for (int d = 0; d < Dim; ++d) {
    // each axis multiplies the sides by three: below, beside, above
    const bool low = local[d] < radius;
    const bool high = local[d] >= tile_extent<Exec, Dim>(d) - radius;
    unsigned next = 0u;
    for (int bit = 0; bit < side_count<Dim> / 3; ++bit) {
      if (!((mask >> bit) & 1u)) continue;
      next |= (low ? 1u : 0u) << (3 * bit);
      next |= 1u << (3 * bit + 1);
      next |= (high ? 1u : 0u) << (3 * bit + 2);
    }
    mask = next;
  }
  return mask & ~(1u << side_self<Dim>);
}

/// A work list whose first round holds every tile within reach of a seed.
template <class T, int Dim, class Exec>
WorkList<Dim, Exec> start_work_list(const Exec& exec, const GraphData<T, Dim, Exec>& graph,
                                    const Batch<T, Dim, Exec>& batch) {
  WorkList<Dim, Exec> list;
  list.grid = graph.grid;
  list.tile_count = graph.grid.tile_count();
  const std::size_t capacity = static_cast<std::size_t>(list.tile_count * batch.sources);
  list.items = allocate<decltype(list.items)>(exec, "moho::rays::items", 2, capacity);
  list.news = allocate<decltype(list.news)>(exec, "moho::rays::news", 2, capacity);
  list.counts = allocate<decltype(list.counts)>(exec, "moho::rays::counts", 3);
  list.seen = allocate<decltype(list.seen)>(exec, "moho::rays::seen", capacity);
  list.statistics = allocate<decltype(list.statistics)>(exec, "moho::rays::statistics", 3);
  Kokkos::deep_copy(exec, list.news, 0u);
  Kokkos::deep_copy(exec, list.seen, static_cast<unsigned char>(0));
  Kokkos::deep_copy(exec, list.statistics, 0ull);

  std::vector<int> first;
  for (int s = 0; s < batch.sources; ++s) {
    Index<Dim> low, high;
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t tile = tile_extent<Exec, Dim>(d);
      low[d] = std::max<std::int64_t>(0, batch.boxes[s].first[d] - graph.radius) / tile;
      high[d] = std::min<std::int64_t>(graph.grid.extents[d] - 1,
                                       batch.boxes[s].last[d] + graph.radius) / tile;
      n *= high[d] - low[d] + 1;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      Index<Dim> tile{};
      std::int64_t rest = i;
      for (int d = Dim - 1; d >= 0; --d) {
        tile[d] = low[d] + rest % (high[d] - low[d] + 1);
        rest /= high[d] - low[d] + 1;
      }
      std::int64_t flat = 0;
      for (int d = 0; d < Dim; ++d) flat = flat * graph.grid.tiles[d] + tile[d];
      first.push_back(static_cast<int>(s * list.tile_count + flat));
    }
  }
  using HostInts = Kokkos::View<const int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const std::pair<std::size_t, std::size_t> range(0, first.size());
  Kokkos::deep_copy(exec, Kokkos::subview(list.items, 0, range), HostInts(first.data(), first.size()));
  const int counts[3] = {static_cast<int>(first.size()), 0, 0};
  Kokkos::deep_copy(exec, list.counts, HostInts(counts, 3));
  exec.fence();
  const auto news = Kokkos::subview(list.news, 0, Kokkos::ALL());
  const auto items = Kokkos::subview(list.items, 0, range);
  Kokkos::parallel_for(
      "moho::rays::first_news", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(first.size())),
      KOKKOS_LAMBDA(const int i) { news(items(i)) = 1u << side_self<Dim>; });
  return list;
}

}  // namespace moho::rays::detail
