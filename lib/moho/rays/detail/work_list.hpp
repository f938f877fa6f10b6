// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Work list of active tiles: tiles whose overlap has changed, and the sides of the changes.

#include <moho/rays/sources.hpp>

namespace moho::rays::detail {

/// Number of directions from a tile to its neighbours, including the tile itself.
template <int Dim>
inline constexpr int side_count = Dim == 2 ? 9 : 27;

/// The direction from a tile to itself.
template <int Dim>
inline constexpr int side_self = side_count<Dim> / 2;

/// List of items to visit in each round; an item is a (source, tile) pair. During round k teams
/// read the list of round k and append to that of round k + 1. `news` holds, for each item and
/// parity of the round, a bit for each side that has changed. The first bit set in a round appends
/// the item, so that the list holds it once.
///
/// `keys` holds the earliest of the changed times. An item waits if its key is more than `delta`
/// later than the earliest key of the round. Most of its results would soon be replaced by earlier
/// times. Three rounds share the counters cyclically. Atomic operations act on this list only, not
/// on traveltimes.
template <class T, int Dim, class Memory>
struct WorkList {
  PaddedGrid<Dim> grid;
  std::int64_t tile_count = 0;
  Kokkos::View<int**, Kokkos::LayoutRight, Memory> items;      ///< (2, capacity) items
  Kokkos::View<unsigned**, Kokkos::LayoutRight, Memory> news;  ///< (2, capacity) changed sides
  Kokkos::View<int*, Memory> counts;                           ///< (3) lengths of the lists
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> keys;         ///< (2, capacity) earliest times
  Kokkos::View<T*, Memory> earliest;                           ///< (3) earliest key of each round
  T delta = T(0);                                              ///< time window of a round, seconds
  Kokkos::View<unsigned char*, Memory> seen;  ///< (capacity) true if the item was visited before
  Kokkos::View<unsigned*, Memory>
      statistics;  ///< visits, first visits, relaxations of rows or tiles

  /// Removes an item from this round's list and clears its changed sides and key. Returns true if
  /// the item must wait; it is then on the next round's list. Called by one thread.
  KOKKOS_INLINE_FUNCTION bool take(int round, int item, unsigned& its_news) const {
    const int now = round & 1;
    its_news = news(now, item);
    const T key = keys(now, item);
    news(now, item) = 0u;
    keys(now, item) = infinity<T>();
    if (!(key > earliest(round % 3) + delta)) return false;
    append(round, item, its_news, key);
    return true;
  }

  /// Counts a visit, and whether it is the item's first one. Called by one thread.
  KOKKOS_INLINE_FUNCTION void count_visit(int item) const {
    Kokkos::atomic_fetch_add(&statistics(0), 1u);
    if (seen(item)) return;
    seen(item) = 1;
    Kokkos::atomic_fetch_add(&statistics(1), 1u);
  }

  /// Notifies the tile on a side of `item` of a change near that side. `key` is the earliest
  /// changed time.
  KOKKOS_INLINE_FUNCTION void tell(int round, int item, int side, T key) const {
    const std::int64_t tile = item % tile_count;
    std::int64_t other = 0;
    std::int64_t rest = tile;
    int where[Dim];
    for (int d = Dim - 1; d >= 0; --d) {
      where[d] = static_cast<int>(rest % grid.tiles[d]);
      rest /= grid.tiles[d];
    }
    int index = 1;
    for (int d = 0; d < Dim - 1; ++d) index *= 3;
    int left = side;
    for (int d = 0; d < Dim; ++d) {
      const int neighbour = where[d] + left / index - 1;
      left %= index;
      index /= 3;
      if (neighbour < 0 || neighbour >= grid.tiles[d]) return;
      other = other * grid.tiles[d] + neighbour;
    }
    append(round, static_cast<int>(item - tile + other), 1u << (side_count<Dim> - 1 - side), key);
  }

  /// Appends an item to the next round's list with changes from the sides in `bits`.
  KOKKOS_INLINE_FUNCTION void append(int round, int item, unsigned bits, T key) const {
    const int next = (round + 1) & 1;
    atomic_minimum(&keys(next, item), key);
    atomic_minimum(&earliest((round + 1) % 3), key);
    if (Kokkos::atomic_fetch_or(&news(next, item), bits) == 0u) {
      items(next, Kokkos::atomic_fetch_add(&counts((round + 1) % 3), 1)) = item;
    }
  }

  /// Clears the counter and the earliest key of the round after next. Called once a round by one
  /// thread.
  KOKKOS_INLINE_FUNCTION void turn_over(int round) const {
    counts((round + 2) % 3) = 0;
    earliest((round + 2) % 3) = infinity<T>();
  }
};

/// Returns the sides within `radius` of the vertex at `local`, as a bit mask (bit = side).
template <class Memory, int Dim>
KOKKOS_INLINE_FUNCTION unsigned sides_near(const int (&local)[Dim], int radius) {
  unsigned mask = 1u;
  for (int d = 0; d < Dim; ++d) {
    // each axis multiplies the sides by three: lower, same, upper
    const bool low = local[d] < radius;
    const bool high = local[d] >= tile_extent<Memory, Dim>(d) - radius;
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

/// Puts the first `count` items on the list of round 0, changed by themselves.
template <class T, int Dim, class Memory>
struct FirstNews {
  WorkList<T, Dim, Memory> list;
  int count;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    list.news(0, list.items(0, i)) = 1u << side_self<Dim>;
    list.keys(0, list.items(0, i)) = T(0);
    if (i > 0) return;
    list.earliest(0) = T(0);
    list.counts(0) = count;
  }
};

/// Returns a work list whose first round holds every tile within reach of a seed.
/// \param delta time window of a round, seconds
template <class T, int Dim, class Memory>
WorkList<T, Dim, Memory> start_work_list(const Instance<Memory>& exec,
                                         const GraphData<T, Dim, Memory>& graph,
                                         const Batch<T, Dim, Memory>& batch, T delta) {
  WorkList<T, Dim, Memory> list;
  list.delta = delta;
  list.grid = graph.grid;
  list.tile_count = graph.grid.tile_count();
  const std::size_t capacity = static_cast<std::size_t>(list.tile_count * batch.sources);
  list.items = allocate<decltype(list.items)>(exec, "moho::rays::items", 2, capacity);
  list.news = allocate<decltype(list.news)>(exec, "moho::rays::news", 2, capacity);
  list.counts = allocate<decltype(list.counts)>(exec, "moho::rays::counts", 3);
  list.seen = allocate<decltype(list.seen)>(exec, "moho::rays::seen", capacity);
  list.statistics = allocate<decltype(list.statistics)>(exec, "moho::rays::statistics", 3);
  list.keys = allocate<decltype(list.keys)>(exec, "moho::rays::keys", 2, capacity);
  list.earliest = allocate<decltype(list.earliest)>(exec, "moho::rays::earliest", 3);
  fill(exec, list.news, 0u);
  fill(exec, list.keys, infinity<T>());
  fill(exec, list.earliest, infinity<T>());
  fill(exec, list.seen, static_cast<unsigned char>(0));
  fill(exec, list.statistics, 0u);
  fill(exec, list.counts, 0);

  std::vector<int> first;
  for (int s = 0; s < batch.sources; ++s) {
    Index<Dim> low, high;
    std::int64_t n = 1;
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t tile = tile_extent<Memory, Dim>(d);
      const std::int64_t begin = d == 0 ? graph.grid.first : 0;
      const std::int64_t end = d == 0 ? graph.grid.template last<Memory>() : graph.grid.extents[d];
      const std::int64_t from = std::max(begin, batch.boxes[s].first[d] - graph.radius);
      const std::int64_t to = std::min(end - 1, batch.boxes[s].last[d] + graph.radius);
      low[d] = (from - begin) / tile;
      high[d] = (to - begin) / tile;
      n *= from > to ? 0 : high[d] - low[d] + 1;  // none in this slab
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
  if (first.empty()) return list;
  using Items = Kokkos::View<int*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  copy(exec, Items(list.items.data(), first.size()),
       HostElements<const int>(first.data(), first.size()));
  exec.fence();
  launch("moho::rays::first_news", exec, static_cast<std::int64_t>(first.size()),
         FirstNews<T, Dim, Memory>{list, static_cast<int>(first.size())});
  return list;
}

}  // namespace moho::rays::detail
