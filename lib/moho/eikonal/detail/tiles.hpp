// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The two orders of tile visits: earliest active tiles first, and fast sweeping.

#include <moho/eikonal/detail/team_visit.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

namespace moho::eikonal::detail {

/// Calls function(order, anelliptic) with both as types std::integral_constant.
template <class Function>
void with_order_and_model(int order, bool anelliptic, const Function& function) {
  using One = std::integral_constant<int, 1>;
  using Two = std::integral_constant<int, 2>;
  if (anelliptic) {
    order == 1 ? function(One(), std::true_type()) : function(Two(), std::true_type());
  } else {
    order == 1 ? function(One(), std::false_type()) : function(Two(), std::false_type());
  }
}

/// Finds the smallest priority.
template <class T>
struct FindEarliest {
  const T* priority;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item, T& min) const {
    if (priority[item] < min) min = priority[item];
  }
};

/// Lists the marked tiles within a time window after the earliest one, and clears their marks.
template <class T>
struct ListTiles {
  Marks<T> marks;
  T ahead;  ///< width of the time window, seconds
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    using std::sqrt;
    const T mark = marks.priority[item];
    if (!(mark < infinity<T>())) return;
    const T limit = sqrt(*marks.earliest) + ahead;
    if (mark > limit * limit) return;
    marks.priority[item] = infinity<T>();
    marks.list[Kokkos::atomic_fetch_add(marks.counts + listed, std::int64_t(1))] =
        static_cast<int>(item);
  }
};

/// Sets the node of a flat index and the coordinates of its tile.
template <int Dim>
KOKKOS_FORCEINLINE_FUNCTION void node_and_tile(const TiledGrid<Dim>& grid, std::int64_t number,
                                               std::int64_t (&node)[Dim],
                                               std::int64_t (&tile)[Dim]) {
  for (int d = Dim - 1; d >= 0; --d) {
    node[d] = number % grid.extents[d];
    number /= grid.extents[d];
    tile[d] = node[d] / grid.tile[d];
  }
}

/// Returns the neighbours of second-order differences at a node, selected by the times in u.
template <bool Anelliptic, class T, int Dim>
KOKKOS_FORCEINLINE_FUNCTION Upwinds choose_upwinds(const Problem<T, Dim>& problem, int source,
                                                   const std::int64_t (&node)[Dim]) {
  const std::int64_t index = problem.grid.at(node);
  const T* const center = problem.values(source, index);
  const auto base = problem.template factor<Anelliptic>(source, index, node);
  const T own = base.square(0, 0) * (*center * *center);
  Upwinds result;
  for (int d = 0; d < Dim; ++d) {
    const auto square = [&](int step) {
      const T u = center[step * problem.grid.stride[d]];
      return base.square(d, step) * (u * u);
    };
    const T low = square(-1), high = square(1);
    const int side = high < low ? 1 : -1;
    const T nearest = side < 0 ? low : high;
    if (nearest < own) result.take(d, side, square(2 * side) < nearest);
  }
  return result;
}

/// Selects the neighbours of second-order differences by the times in u. Marks the tiles of nodes
/// whose selection changes, with their earliest time.
template <bool Anelliptic, class T, int Dim>
struct ChooseUpwinds {
  Problem<T, Dim> problem;
  Marks<T> marks;
  std::int64_t nodes;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    if (i == 0) marks.counts[seen_tiles] = 0;
    const int source = static_cast<int>(i / nodes);
    std::int64_t node[Dim], tile[Dim];
    node_and_tile(problem.grid, i % nodes, node, tile);
    if (problem.boxes[source].contains(node)) return;
    const std::int64_t index = problem.grid.at(node);
    const T u = *problem.values(source, index);
    const T m = problem.template factor<Anelliptic>(source, index, node).square(0, 0);
    std::uint16_t& upwinds = problem.upwinds[source * problem.grid.size + index];
    upwinds = choose_upwinds<Anelliptic>(problem, source, node).bits_after(upwinds);
    const std::int64_t item = source * problem.grid.tile_count + problem.grid.tile_number(tile);
    marks.seen[item] = 0;  // all nodes of the tile write the same value
    if (Upwinds::is_fresh(upwinds)) mark(marks, item, m * (u * u), fresh_nodes);
  }
};

/// Marks the tiles of nodes whose value is not their local solution.
///
/// Two neighbouring tiles visited concurrently may each assume that the other is settled. This pass
/// finds the nodes left unsettled.
template <int Order, bool Anelliptic, class T, int Dim>
struct MarkUnsettled {
  Problem<T, Dim> problem;
  Marks<T> marks;
  std::int64_t nodes;
  T allowed;  ///< relative difference within rounding
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const int source = static_cast<int>(i / nodes);
    std::int64_t node[Dim], tile[Dim];
    node_and_tile(problem.grid, i % nodes, node, tile);
    if (problem.boxes[source].contains(node)) return;
    const std::int64_t index = problem.grid.at(node);
    const T* const center = problem.values(source, index);
    const auto factor = problem.template factor<Anelliptic>(source, index, node);
#if defined(__CUDA_ARCH__)
    const T now = solution_at<Order, Anelliptic>(problem, center, factor, i % nodes);
#else
    const T now = host_solution<Order, Anelliptic>(problem, center, factor, i % nodes);
#endif
    if (now == *center || !(now < infinity<T>()) || !differs(now, *center, allowed)) return;
    mark(marks, source * problem.grid.tile_count + problem.grid.tile_number(tile),
         factor.square(0, 0) * (now * now), all_faces);
  }
};

/// Arrays that Marks points to.
template <class T, class Memory>
struct MarkStorage {
  Kokkos::View<T*, Memory> priority, earliest;
  Kokkos::View<int*, Memory> seen, faces, list;
  Kokkos::View<std::int64_t*, Memory> counts;
};

/// Returns marks for all tiles of a problem, with the tiles around the sources marked.
template <class T, int Dim, class Memory>
Marks<T> make_marks(const Instance<Memory>& exec, const TiledGrid<Dim>& grid,
                    const std::vector<Source<Dim>>& sources, MarkStorage<T, Memory>& storage) {
  const std::size_t items = static_cast<std::size_t>(grid.tile_count) * sources.size();
  using Numbers = Kokkos::View<int*, Memory>;
  std::vector<T> priority(items, infinity<T>());
  std::vector<int> faces(is_host_memory<Memory> ? items : 0);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const SourceBox<Dim>& box = sources[s].box;
    std::int64_t first[Dim], count[Dim], all = 1;
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t low = std::max<std::int64_t>(box.first[d] - halo, 0);
      const std::int64_t high = std::min(box.last[d] + halo, grid.extents[d] - 1);
      first[d] = low / grid.tile[d];
      count[d] = high / grid.tile[d] - first[d] + 1;
      all *= count[d];
    }
    for (std::int64_t k = 0; k < all; ++k) {
      std::int64_t at[Dim], rest = k;
      for (int d = Dim - 1; d >= 0; --d) {
        at[d] = first[d] + rest % count[d];
        rest /= count[d];
      }
      const std::size_t item = s * static_cast<std::size_t>(grid.tile_count) +
                               static_cast<std::size_t>(grid.tile_number(at));
      priority[item] = T(0);
      if (is_host_memory<Memory>) faces[item] = all_faces;
    }
  }
  storage.priority = upload(exec, priority, "moho::eikonal::priority");
  if (is_host_memory<Memory>) storage.faces = upload(exec, faces, "moho::eikonal::faces");
  storage.seen = allocate<Numbers>(exec, "moho::eikonal::seen", items);
  fill(exec, storage.seen, 0);
  storage.list = allocate<Numbers>(exec, "moho::eikonal::list", items);
  storage.counts = upload(exec, std::vector<std::int64_t>(count_indices), "moho::eikonal::counts");
  storage.earliest = upload(exec, std::vector<T>(1), "moho::eikonal::earliest");
  return {storage.priority.data(),
          storage.seen.data(),
          storage.faces.data(),
          storage.list.data(),
          storage.counts.data(),
          storage.earliest.data(),
          static_cast<std::int64_t>(items)};
}

/// Visits the tiles of a list, for a compile-time order of differences and kind of model.
template <int Order, bool Anelliptic, class T, int Dim, class Memory>
void visit_list(const Instance<Memory>& exec, const Problem<T, Dim>& problem, const Marks<T>& marks,
                const int* list, std::int64_t count, int direction) {
  if constexpr (is_host_memory<Memory>) {
    launch_dynamic("moho::eikonal::visit", exec, count,
                   HostVisit<Order, Anelliptic, T, Dim>{problem, marks, list, direction});
  } else {
    using Visit = TeamVisit<Order, Anelliptic, T, Dim, DeviceOf<Memory>>;
    typename Visit::Policy policy(exec.space(), static_cast<int>(count), Visit::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(Visit::scratch_bytes()));
    Kokkos::parallel_for("moho::eikonal::visit", policy,
                         Visit{problem, marks, list, direction >= 0, 32 * Dim});
  }
}

/// Visits the tiles of a list, for an order of differences known at run time.
template <class T, int Dim, class Memory>
void visit_list(const Instance<Memory>& exec, int order, const Problem<T, Dim>& problem,
                const Marks<T>& marks, const int* list, std::int64_t count, int direction) {
  with_order_and_model(order, problem.model.anelliptic(), [&](auto o, auto anelliptic) {
    visit_list<decltype(o)::value, decltype(anelliptic)::value>(exec, problem, marks, list, count,
                                                                direction);
  });
}

/// Copies the counts to the host.
template <class T, class Memory>
std::array<std::int64_t, count_indices> fetch_counts(const Instance<Memory>& exec,
                                                     const Marks<T>& marks) {
  std::array<std::int64_t, count_indices> result{};
  copy(exec, HostElements<std::int64_t>(result.data(), count_indices),
       Kokkos::View<const std::int64_t*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
           marks.counts, count_indices));
  exec.fence();
  return result;
}

/// Returns true if a tile is marked.
template <class T, class Memory>
bool any_marked(const Instance<Memory>& exec, const Marks<T>& marks) {
  return min_of<T>("moho::eikonal::earliest", exec, marks.items, infinity<T>(),
                   FindEarliest<T>{marks.priority}) < infinity<T>();
}

/// Lists the tiles of the next round and returns the counts.
template <class T, class Memory>
std::array<std::int64_t, count_indices> list_tiles(const Instance<Memory>& exec,
                                                   const Marks<T>& marks, T ahead) {
  const FindEarliest<T> find{marks.priority};
  if constexpr (is_host_memory<Memory>) {
    *marks.earliest = min_of<T>("moho::eikonal::earliest", exec, marks.items, infinity<T>(), find);
    marks.counts[listed] = 0;
  } else {
    // the result stays on the device, so the host does not wait
    using Exec = DeviceOf<Memory>;
    using Wide = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    using Place = Kokkos::View<T, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    using Number = Kokkos::View<std::int64_t, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    Kokkos::parallel_reduce("moho::eikonal::earliest", Wide(exec.space(), 0, marks.items), find,
                            Kokkos::Min<T, Memory>(Place(marks.earliest)));
    Kokkos::deep_copy(exec.space(), Number(marks.counts + listed), std::int64_t(0));
  }
  launch("moho::eikonal::list", exec, marks.items, ListTiles<T>{marks, ahead});
  return fetch_counts(exec, marks);
}

/// \brief Tolerance for rounding, which increases with the number of rounds.
///
/// Because of the factors and of rounding a few nodes may alternate between two states that differ
/// slightly. After a number of rounds the tolerance doubles, and once more after each further such
/// number. Alternations below the tolerance do not count as changes.
template <class T>
class Tolerance {
 public:
  /// \param exact initially every change counts, also one within rounding
  /// \param rounds more rounds than a solution needs that converges without a larger tolerance
  Tolerance(T min, bool exact, std::int64_t rounds)
      : m_tolerance(min), m_exact(exact), m_rounds(rounds) {}
  /// Returns the tolerance at a round.
  T at(std::int64_t round) {
    if (round > m_patience + m_rounds) {
      m_patience += m_patience == 0 ? m_rounds : m_rounds / 8 + 1;
      m_tolerance *= m_exact ? T(1) : T(2);
      m_exact = false;
    }
    return m_exact ? T(0) : m_tolerance;
  }
  /// Returns the tolerance of the final check over all nodes.
  /// \param same the check computes bit for bit as the visits do
  T settled(bool same) const { return same && m_exact ? T(0) : T(8) * m_tolerance; }

 private:
  T m_tolerance;
  bool m_exact;
  std::int64_t m_rounds, m_patience = 0;
};

/// Runs rounds over the marked tiles, the earliest first, until no tile is marked.
/// \param order order of the differences: 1, or 2 after the neighbours are selected
/// \param exact every change counts, also one within rounding
template <class T, int Dim, class Memory>
void solve_active_tiles(const Instance<Memory>& exec, int order, bool exact,
                        Problem<T, Dim> problem, const Marks<T>& marks, T ahead,
                        const Progress& progress, Report& report) {
  std::int64_t nodes = 1, tiles_across = 8;
  for (int d = 0; d < Dim; ++d) {
    nodes *= problem.grid.extents[d];
    tiles_across += problem.grid.tiles[d];
  }
  const bool alone = is_host_memory<Memory> && exec.concurrency() == 1;
  Tolerance<T> tolerance(problem.tolerance, exact, 16 * tiles_across);
  std::int64_t rounds = 0;
  for (;;) {
    problem.tolerance = tolerance.at(rounds);
    const auto counts = list_tiles(exec, marks, ahead);
    if (counts[listed] > 0) {
      ++rounds;
      ++report.rounds;
      visit_list(exec, order, problem, marks, marks.list, counts[listed], -1);
      if (progress) {
        progress(static_cast<double>(counts[seen_tiles]) / static_cast<double>(marks.items),
                 "times");
      }
      continue;
    }
    if (alone) break;
    with_order_and_model(order, problem.model.anelliptic(), [&](auto o, auto anelliptic) {
      launch("moho::eikonal::mark_unsettled", exec, nodes * problem.sources,
             MarkUnsettled<decltype(o)::value, decltype(anelliptic)::value, T, Dim>{
                 problem, marks, nodes, tolerance.settled(is_host_memory<Memory>)});
    });
    if (!any_marked(exec, marks)) break;
  }
}

/// Sorts the tiles of all sources by diagonals of a direction, and sets the start of each diagonal.
template <int Dim>
void sort_diagonals(const TiledGrid<Dim>& grid, int sources, int direction, std::vector<int>& items,
                    std::vector<std::int64_t>& begin) {
  std::int64_t levels = 1;
  for (int d = 0; d < Dim; ++d) levels += grid.tiles[d] - 1;
  const std::int64_t count = grid.tile_count * sources;
  const auto level_of = [&](std::int64_t item) {
    std::int64_t at[Dim], level = 0;
    grid.tile_at(item % grid.tile_count, at);
    for (int d = 0; d < Dim; ++d) {
      level += (direction >> d) & 1 ? grid.tiles[d] - 1 - at[d] : at[d];
    }
    return static_cast<std::size_t>(level);
  };
  begin.assign(static_cast<std::size_t>(levels) + 1, 0);
  for (std::int64_t item = 0; item < count; ++item) ++begin[level_of(item) + 1];
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  items.resize(static_cast<std::size_t>(count));
  for (std::int64_t item = 0; item < count; ++item) {
    items[static_cast<std::size_t>(next[level_of(item)]++)] = static_cast<int>(item);
  }
}

/// Sweeps in every direction in turn, over the diagonals of tiles, until no tile is marked.
/// \param order order of the differences: 1, or 2 after the neighbours are selected
/// \param exact every change counts, also one within rounding
template <class T, int Dim, class Memory>
void solve_sweeping(const Instance<Memory>& exec, int order, bool exact, Problem<T, Dim> problem,
                    const Marks<T>& marks, const Progress& progress, Report& report) {
  std::vector<int> items;
  std::vector<std::int64_t> begin;
  Tolerance<T> tolerance(problem.tolerance, exact, 16 * (std::int64_t(1) << Dim));
  for (int sweep = 0;; ++sweep) {
    problem.tolerance = tolerance.at(sweep);
    const int direction = sweep % (1 << Dim);
    sort_diagonals(problem.grid, problem.sources, direction, items, begin);
    const auto list = upload(exec, items, "moho::eikonal::order");
    for (std::size_t level = 0; level + 1 < begin.size(); ++level) {
      visit_list(exec, order, problem, marks, list.data() + begin[level],
                 begin[level + 1] - begin[level], direction);
    }
    ++report.rounds;
    if (!any_marked(exec, marks)) break;
    if (progress) {
      progress(static_cast<double>(fetch_counts(exec, marks)[seen_tiles]) /
                   static_cast<double>(marks.items),
               "times");
    }
  }
}

}  // namespace moho::eikonal::detail
