// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The sequential reference: fast marching with a priority queue.

#include <moho/eikonal/solve.hpp>

#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace moho::eikonal {

namespace detail {

/// Fast marching for one source on the host.
///
/// The node with the earliest trial time becomes known, and the trial times of its neighbours are
/// found again from known nodes alone. Entries of the queue whose time is no longer the node's are
/// skipped when they come up.
template <int Order, class T, int Dim, class Exec, bool Anelliptic>
void march(const Problem<T, Dim, Exec, Anelliptic>& problem, const Progress& progress,
           Report& report) {
  const TiledGrid<Dim>& grid = problem.grid;
  const std::size_t size = static_cast<std::size_t>(grid.size);
  T* const known = problem.u.data();
  std::vector<T> trial(known, known + size);  // the source's nodes are on trial first
  std::fill(known, known + size, infinity<T>());
  using Entry = std::pair<T, std::int64_t>;  // square of the time, place
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;

  const auto node_at = [&](std::int64_t place, std::int64_t(&node)[Dim]) {
    for (int d = 0; d < Dim; ++d) {
      node[d] = place / grid.stride[d] - halo;
      place %= grid.stride[d];
    }
  };
  const SourceBox<Dim>& box = problem.boxes(0);
  std::int64_t total = 1, done = 0;
  for (int d = 0; d < Dim; ++d) total *= grid.extents[d];
  for (int corner = 0; corner < (1 << Dim); ++corner) {
    std::int64_t node[Dim];
    for (int d = 0; d < Dim; ++d) node[d] = (corner >> d) & 1 ? box.last[d] : box.first[d];
    const std::int64_t place = grid.at(node);
    const T u = trial[static_cast<std::size_t>(place)];
    queue.push({problem.base.at(0, place, node).square(0, 0) * (u * u), place});
  }
  const std::int64_t step = std::max<std::int64_t>(total / 100, 1);
  while (!queue.empty()) {
    const auto [square, place] = queue.top();
    queue.pop();
    std::int64_t node[Dim];
    node_at(place, node);
    const std::size_t at = static_cast<std::size_t>(place);
    if (known[at] < infinity<T>()) continue;
    const auto base = problem.base.at(0, place, node);
    if (square != base.square(0, 0) * (trial[at] * trial[at])) continue;
    known[at] = trial[at];
    if (progress && ++done % step == 0) {
      progress(static_cast<double>(done) / static_cast<double>(total), "times");
    }
    for (int d = 0; d < Dim; ++d) {
      for (int side = -1; side <= 1; side += 2) {
        std::int64_t other[Dim];
        for (int e = 0; e < Dim; ++e) other[e] = node[e] + (e == d ? side : 0);
        if (other[d] < 0 || other[d] >= grid.extents[d] || box.contains(other)) continue;
        const std::int64_t there = grid.at(other);
        if (known[there] < infinity<T>()) continue;
        const auto other_base = problem.base.at(0, there, other);
        const T u = local_solution<Order, Anelliptic, Dim, T>(
            ValuesAt<T, Dim>{known + there, grid.stride}, other_base,
            problem.medium.template at<Anelliptic>(problem.dense(other)), problem.inverse_spacing);
        ++report.updates;
        if (u == trial[static_cast<std::size_t>(there)]) continue;
        trial[static_cast<std::size_t>(there)] = u;
        queue.push({other_base.square(0, 0) * (u * u), there});
      }
    }
  }
}

/// Where fast_marching() works, whatever host space its fields belong to.
#ifdef KOKKOS_ENABLE_SERIAL
using MarchSpace = Kokkos::Serial;
#else
using MarchSpace = Kokkos::DefaultHostExecutionSpace;
#endif

/// All sources, one after the other.
template <int Order, bool Anelliptic, class T, int Dim>
void march_all(const Grid<Dim>& grid, const MediumData<T>& medium, const Points<Dim>& points,
               T* times, const Options& options, Report& report) {
  using Exec = MarchSpace;
  const Exec exec;
  const TiledGrid<Dim> tiled(grid, true);
  // u, trial times, and a queue of about two entries a node at worst
  const std::size_t room = options.memory_budget;
  sources_per_batch<T, Dim, Exec, Anelliptic>(exec, tiled, 1, room);
  const std::vector<Source<Dim>> sources =
      make_sources(exec, grid, medium, points, options.factored);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto problem = make_problem<T, Dim, Exec, Anelliptic>(exec, grid, tiled, medium,
                                                                {sources[s]}, options.factored);
    Progress progress;
    if (options.progress) {
      const double count = static_cast<double>(sources.size()), before = static_cast<double>(s);
      progress = [&options, count, before](double fraction, const std::string& what) {
        options.progress((before + fraction) / count, what);
      };
    }
    march<Order>(problem, progress, report);
    Kokkos::parallel_for(
        "moho::eikonal::write_times", Wide<Exec>(exec, 0, grid.size()),
        WriteTimes<T, Dim, Exec, Anelliptic>{problem, times, grid.size(), true, s > 0});
    exec.fence();
  }
  report.batches = static_cast<std::int64_t>(sources.size());
  if (options.progress) options.progress(1.0, "done");
}

/// Chooses the differences by order and medium.
template <class T, int Dim>
Report march_any(const Grid<Dim>& grid, const MediumData<T>& medium, const Points<Dim>& points,
                 T* times, const Options& options) {
  Report report;
  with_order_and_medium(options.order, medium.delta != nullptr, [&](auto order, auto anelliptic) {
    march_all<decltype(order)::value, decltype(anelliptic)::value>(grid, medium, points, times,
                                                                   options, report);
  });
  return report;
}

}  // namespace detail

/// First-arrival traveltimes by the fast-marching method (Sethian, 1996), sequentially: the
/// reference for solve(), with the same arguments and results, but on a host space.
///
/// Every node is accepted once, in the order of times, from nodes accepted before it. The instance
/// is waited for, and the work then done in Kokkos::Serial if there is one.
/// Options::method and Options::tiles_ahead have no meaning here.
///
/// \throws InputError, MemoryError as solve() does
template <class T, int Dim, class Exec>
Report fast_marching(const Exec& exec, const Grid<Dim>& grid, const Medium<T, Dim, Exec>& medium,
                     const Points<Dim>& sources, const Field<T, Dim, Exec>& times,
                     const Options& options = {}) {
  static_assert(is_host_space<Exec>, "fast_marching() is sequential and runs on the host");
  detail::check_input(exec, grid, medium, sources, options);
  check_shape(grid, times, "times");
  exec.fence();
  return detail::march_any<T, Dim>(grid, detail::addresses<T, Dim, Exec>(medium), sources,
                                   times.data(), options);
}

/// The same for an isotropic medium: `velocity` is a Field<T, Dim, Exec>.
template <int Dim, class Exec, class Velocity>
std::enable_if_t<Kokkos::is_view<Velocity>::value, Report> fast_marching(
    const Exec& exec, const Grid<Dim>& grid, const Velocity& velocity, const Points<Dim>& sources,
    const Velocity& times, const Options& options = {}) {
  using T = typename Velocity::non_const_value_type;
  return fast_marching<T, Dim, Exec>(exec, grid, Medium<T, Dim, Exec>{velocity, {}, {}}, sources,
                                     times, options);
}

}  // namespace moho::eikonal
