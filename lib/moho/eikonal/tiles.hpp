// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The two orders in which tiles are visited: the earliest of those marked, and sweeps.

#include <moho/eikonal/visit.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace moho::eikonal::detail {

template <class Exec>
using Wide = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// The smallest priority.
template <class T, class Exec>
struct FindEarliest {
  Marks<T, Exec> marks;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item, T& least) const {
    const T mark = marks.priority(item);
    if (mark < least) least = mark;
  }
};

/// Lists the tiles that are marked and not much later than the earliest, and takes their marks off.
template <class T, class Exec>
struct ListTiles {
  Marks<T, Exec> marks;
  T ahead;  ///< seconds
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    using std::sqrt;
    const T mark = marks.priority(item);
    if (!(mark < infinity<T>())) return;
    const T limit = sqrt(marks.earliest()) + ahead;
    if (mark > limit * limit) return;
    marks.priority(item) = infinity<T>();
    marks.list(Kokkos::atomic_fetch_add(&marks.counts(listed), std::int64_t(1))) =
        static_cast<int>(item);
  }
};

/// Marks the tiles of nodes that do not hold their local solution.
///
/// Two neighbouring tiles that are visited at once may each take the other for settled; this pass
/// finds what they leave.
template <int Order, class T, int Dim, class Exec, bool Anelliptic>
struct MarkUnsettled {
  Problem<T, Dim, Exec, Anelliptic> problem;
  Marks<T, Exec> marks;
  std::int64_t nodes;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const int source = static_cast<int>(i / nodes);
    std::int64_t node[Dim], tile[Dim], rest = i % nodes;
    for (int d = Dim - 1; d >= 0; --d) {
      node[d] = rest % problem.grid.extents[d];
      rest /= problem.grid.extents[d];
      tile[d] = node[d] / problem.grid.tile[d];
    }
    if (problem.boxes(source).contains(node)) return;
    const std::int64_t place = problem.grid.at(node);
    const T* const center = &problem.u(source, place);
    const auto base = problem.base.at(source, place, node);
    const T now = local_solution<Order, Anelliptic, Dim, T>(
        ValuesAt<T, Dim>{center, problem.grid.stride}, base,
        problem.medium.template at<Anelliptic>(i % nodes), problem.inverse_spacing);
    if (now == *center || !differs(now, *center, T(8) * problem.tolerance)) return;
    mark(marks, source * problem.grid.tile_count + problem.grid.tile_number(tile),
         base.square(0, 0) * (now * now), all_faces);
  }
};

/// Views of marks for all tiles of a problem, the tiles around the sources marked.
template <class T, int Dim, class Exec, bool Anelliptic>
Marks<T, Exec> make_marks(const Exec& exec, const Problem<T, Dim, Exec, Anelliptic>& problem) {
  Marks<T, Exec> marks;
  const std::size_t items =
      static_cast<std::size_t>(problem.grid.tile_count) * static_cast<std::size_t>(problem.sources);
  marks.priority = allocate<decltype(marks.priority)>(exec, "moho::eikonal::priority", items);
  marks.seen = allocate<decltype(marks.seen)>(exec, "moho::eikonal::seen", items);
  if constexpr (is_host_space<Exec>) {
    marks.faces = Kokkos::View<int*, typename Exec::memory_space>("moho::eikonal::faces", items);
  }
  marks.list = allocate<decltype(marks.list)>(exec, "moho::eikonal::list", items);
  marks.counts = allocate<decltype(marks.counts)>(exec, "moho::eikonal::counts", count_places);
  marks.earliest = Kokkos::View<T, typename Exec::memory_space>("moho::eikonal::earliest");
  Kokkos::deep_copy(exec, marks.seen, 0);
  Kokkos::deep_copy(exec, marks.counts, std::int64_t(0));
  const auto boxes = Kokkos::create_mirror_view(problem.boxes);
  const auto priority = Kokkos::create_mirror_view(marks.priority);
  Kokkos::deep_copy(exec, boxes, problem.boxes);
  exec.fence();
  Kokkos::deep_copy(priority, infinity<T>());
  for (int s = 0; s < problem.sources; ++s) {
    const SourceBox<Dim> box = boxes(s);
    std::int64_t first[Dim], count[Dim], all = 1;
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t low = std::max<std::int64_t>(box.first[d] - halo, 0);
      const std::int64_t high = std::min(box.last[d] + halo, problem.grid.extents[d] - 1);
      first[d] = low / problem.grid.tile[d];
      count[d] = high / problem.grid.tile[d] - first[d] + 1;
      all *= count[d];
    }
    for (std::int64_t k = 0; k < all; ++k) {
      std::int64_t at[Dim], rest = k;
      for (int d = Dim - 1; d >= 0; --d) {
        at[d] = first[d] + rest % count[d];
        rest /= count[d];
      }
      const std::size_t item =
          static_cast<std::size_t>(s * problem.grid.tile_count + problem.grid.tile_number(at));
      priority(item) = T(0);
      if constexpr (is_host_space<Exec>) marks.faces(item) = all_faces;
    }
  }
  Kokkos::deep_copy(exec, marks.priority, priority);
  exec.fence();
  return marks;
}

/// Visits the tiles of a list.
template <int Order, class T, int Dim, class Exec, bool Anelliptic>
void visit_list(const Exec& exec, const Problem<T, Dim, Exec, Anelliptic>& problem,
                const Marks<T, Exec>& marks, const int* list, std::int64_t count, int direction) {
  if constexpr (is_host_space<Exec>) {
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;
    Kokkos::parallel_for(
        "moho::eikonal::visit", Policy(exec, 0, static_cast<int>(count), Kokkos::ChunkSize(1)),
        HostVisit<Order, T, Dim, Exec, Anelliptic>{problem, marks, list, direction});
  } else {
    using Visit = TeamVisit<Order, T, Dim, Exec, Anelliptic>;
    typename Visit::Policy policy(exec, static_cast<int>(count), Visit::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(Visit::scratch_bytes()));
    Kokkos::parallel_for("moho::eikonal::visit", policy,
                         Visit{problem, marks, list, direction >= 0, 32 * Dim});
  }
}

/// Brings the counts to the host.
template <class T, class Exec>
Kokkos::Array<std::int64_t, count_places> fetch_counts(const Exec& exec,
                                                       const Marks<T, Exec>& marks) {
  const auto host = Kokkos::create_mirror_view(marks.counts);
  Kokkos::deep_copy(exec, host, marks.counts);
  exec.fence();
  Kokkos::Array<std::int64_t, count_places> result{};
  for (int k = 0; k < count_places; ++k) result[k] = host(k);
  return result;
}

/// True if a tile is marked.
template <class T, class Exec>
bool any_marked(const Exec& exec, const Marks<T, Exec>& marks) {
  T least = infinity<T>();
  Kokkos::parallel_reduce("moho::eikonal::earliest",
                          Wide<Exec>(exec, 0, static_cast<std::int64_t>(marks.priority.extent(0))),
                          FindEarliest<T, Exec>{marks}, Kokkos::Min<T>(least));
  exec.fence();
  // of nothing the reduction makes the largest finite number
  return least < std::numeric_limits<T>::max();
}

/// \brief What counts as rounding, wider the longer a solution takes.
///
/// Differences of second order choose their neighbours by the values there, so that a few nodes may
/// go round in circles between two states that are a little apart. After `patience` rounds the
/// tolerance doubles, and again every so many rounds: circles that small no longer count.
template <class T>
class Tolerance {
 public:
  /// \param rounds more than any solution takes that settles by itself
  Tolerance(T least, std::int64_t rounds) : m_tolerance(least), m_rounds(rounds) {}
  /// After so many rounds.
  T at(std::int64_t round) {
    if (round > m_patience + m_rounds) {
      m_patience += m_patience == 0 ? m_rounds : m_rounds / 8 + 1;
      m_tolerance *= T(2);
    }
    return m_tolerance;
  }

 private:
  T m_tolerance;
  std::int64_t m_rounds, m_patience = 0;
};

/// Rounds over the marked tiles, the earliest first, until no tile is marked.
template <int Order, class T, int Dim, class Exec, bool Anelliptic>
void solve_active_tiles(const Exec& exec, Problem<T, Dim, Exec, Anelliptic> problem,
                        const Marks<T, Exec>& marks, T ahead, const Progress& progress,
                        Report& report) {
  const std::int64_t items = static_cast<std::int64_t>(marks.priority.extent(0));
  std::int64_t nodes = 1;
  for (int d = 0; d < Dim; ++d) nodes *= problem.grid.extents[d];
  const bool alone = is_host_space<Exec> && exec.concurrency() == 1;
  std::int64_t tiles_across = 8;
  for (int d = 0; d < Dim; ++d) tiles_across += problem.grid.tiles[d];
  Tolerance<T> tolerance(problem.tolerance, 16 * tiles_across);
  std::int64_t rounds = 0;
  for (;;) {
    problem.tolerance = tolerance.at(rounds);
    Kokkos::parallel_reduce("moho::eikonal::earliest", Wide<Exec>(exec, 0, items),
                            FindEarliest<T, Exec>{marks},
                            Kokkos::Min<T, typename Exec::memory_space>(marks.earliest));
    Kokkos::deep_copy(exec, Kokkos::subview(marks.counts, static_cast<int>(listed)),
                      std::int64_t(0));
    Kokkos::parallel_for("moho::eikonal::list", Wide<Exec>(exec, 0, items),
                         ListTiles<T, Exec>{marks, ahead});
    const auto counts = fetch_counts(exec, marks);
    if (counts[listed] > 0) {
      ++rounds;
      ++report.rounds;
      visit_list<Order>(exec, problem, marks, marks.list.data(), counts[listed], -1);
      if (progress) {
        progress(static_cast<double>(counts[seen_tiles]) / static_cast<double>(items), "times");
      }
      continue;
    }
    if (alone) break;
    Kokkos::parallel_for("moho::eikonal::mark_unsettled",
                         Wide<Exec>(exec, 0, nodes * problem.sources),
                         MarkUnsettled<Order, T, Dim, Exec, Anelliptic>{problem, marks, nodes});
    if (!any_marked(exec, marks)) break;
  }
}

/// Sweeps in every direction in turn, over the diagonals of tiles, until no tile is marked.
template <int Order, class T, int Dim, class Exec, bool Anelliptic>
void solve_sweeping(const Exec& exec, Problem<T, Dim, Exec, Anelliptic> problem,
                    const Marks<T, Exec>& marks, const Progress& progress, Report& report) {
  const TiledGrid<Dim> grid = problem.grid;
  std::int64_t levels = 1;
  for (int d = 0; d < Dim; ++d) levels += grid.tiles[d] - 1;
  const std::int64_t items = grid.tile_count * problem.sources;
  std::vector<std::int64_t> start(static_cast<std::size_t>(levels) + 1);
  const Kokkos::View<int*, typename Exec::memory_space> order("moho::eikonal::order",
                                                              static_cast<std::size_t>(items));
  const auto host_order = Kokkos::create_mirror_view(order);
  Tolerance<T> tolerance(problem.tolerance, 16 * (std::int64_t(1) << Dim));
  for (int sweep = 0;; ++sweep) {
    problem.tolerance = tolerance.at(sweep);
    const int direction = sweep % (1 << Dim);
    const auto level_of = [&](std::int64_t item) {
      std::int64_t at[Dim], level = 0;
      grid.tile_at(item % grid.tile_count, at);
      for (int d = 0; d < Dim; ++d) {
        level += (direction >> d) & 1 ? grid.tiles[d] - 1 - at[d] : at[d];
      }
      return static_cast<std::size_t>(level);
    };
    std::fill(start.begin(), start.end(), 0);
    for (std::int64_t item = 0; item < items; ++item) ++start[level_of(item) + 1];
    for (std::size_t k = 1; k < start.size(); ++k) start[k] += start[k - 1];
    std::vector<std::int64_t> next(start.begin(), start.end() - 1);
    for (std::int64_t item = 0; item < items; ++item) {
      host_order(static_cast<std::size_t>(next[level_of(item)]++)) = static_cast<int>(item);
    }
    Kokkos::deep_copy(exec, order, host_order);
    for (std::size_t level = 0; level + 1 < start.size(); ++level) {
      visit_list<Order>(exec, problem, marks, order.data() + start[level],
                        start[level + 1] - start[level], direction);
    }
    ++report.rounds;
    if (!any_marked(exec, marks)) break;
    if (progress) {
      progress(
          static_cast<double>(fetch_counts(exec, marks)[seen_tiles]) / static_cast<double>(items),
          "times");
    }
  }
}

}  // namespace moho::eikonal::detail
