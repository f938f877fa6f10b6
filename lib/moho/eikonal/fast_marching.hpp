// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The sequential reference: fast marching with a priority queue.

#include <moho/core/instances.hpp>
#include <moho/eikonal/solve.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace moho::eikonal {

namespace detail {

/// Functions of fast marching for one order of differences and kind of model.
template <class T, int Dim>
struct MarchEquation {
  /// Returns the squared time of a node whose value is u.
  T (*square)(const Problem<T, Dim>& problem, const std::int64_t (&node)[Dim], T u);
  /// Returns the value of a node computed from known neighbours.
  T (*solution)(const Problem<T, Dim>& problem, const std::int64_t (&node)[Dim]);
  /// Returns the neighbours of second-order differences, selected by the values of first order.
  Upwinds (*upwinds)(const Problem<T, Dim>& problem, const std::int64_t (&node)[Dim]);
};

/// Returns the functions for an order of differences and a kind of model.
template <class T, int Dim>
MarchEquation<T, Dim> march_equation(int order, bool anelliptic) {
  MarchEquation<T, Dim> equation{};
  with_order_and_model(order, anelliptic, [&](auto o, auto a) {
    constexpr int Order = decltype(o)::value;
    constexpr bool Anelliptic = decltype(a)::value;
    equation.square = [](const Problem<T, Dim>& problem, const std::int64_t(&node)[Dim], T u) {
      const auto factor = problem.template factor<Anelliptic>(0, problem.grid.at(node), node);
      return factor.square(0, 0) * (u * u);
    };
    equation.solution = [](const Problem<T, Dim>& problem, const std::int64_t(&node)[Dim]) {
      const std::int64_t index = problem.grid.at(node);
      const auto factor = problem.template factor<Anelliptic>(0, index, node);
      return host_solution<Order, Anelliptic>(problem, problem.values(0, index), factor,
                                              problem.dense(node));
    };
    equation.upwinds = [](const Problem<T, Dim>& problem, const std::int64_t(&node)[Dim]) {
      return choose_upwinds<Anelliptic>(problem, 0, node);
    };
  });
  return equation;
}

/// Sets the node of an index in the padded grid.
template <int Dim>
void node_at(const TiledGrid<Dim>& grid, std::int64_t index, std::int64_t (&node)[Dim]) {
  for (int d = 0; d < Dim; ++d) {
    node[d] = index / grid.stride[d] - halo;
    index %= grid.stride[d];
  }
}

/// Fast marching for one source on the host, at first order.
///
/// The node with the earliest trial time becomes known. The trial times of its neighbours are then
/// recomputed from known nodes alone. Entries of the queue are skipped if their time is no longer
/// the node's.
template <class T, int Dim>
void march(const Problem<T, Dim>& problem, const SourceBox<Dim>& box,
           const MarchEquation<T, Dim>& equation, const Progress& progress, Report& report) {
  const TiledGrid<Dim>& grid = problem.grid;
  const std::size_t size = static_cast<std::size_t>(grid.size);
  T* const known = problem.u;
  std::vector<T> trial(known, known + size);  // the source's nodes are the first trial nodes
  std::fill(known, known + size, infinity<T>());
  using Entry = std::pair<T, std::int64_t>;  // squared time and padded index
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;

  std::int64_t total = 1, done = 0;
  for (int d = 0; d < Dim; ++d) total *= grid.extents[d];
  for (int corner = 0; corner < (1 << Dim); ++corner) {
    std::int64_t node[Dim];
    for (int d = 0; d < Dim; ++d) node[d] = (corner >> d) & 1 ? box.last[d] : box.first[d];
    const std::int64_t index = grid.at(node);
    queue.push({equation.square(problem, node, trial[static_cast<std::size_t>(index)]), index});
  }
  const std::int64_t step = std::max<std::int64_t>(total / 100, 1);
  while (!queue.empty()) {
    const auto [square, index] = queue.top();
    queue.pop();
    const std::size_t at = static_cast<std::size_t>(index);
    if (known[at] < infinity<T>()) continue;
    std::int64_t node[Dim];
    node_at(grid, index, node);
    if (square != equation.square(problem, node, trial[at])) continue;
    known[at] = trial[at];
    if (progress && ++done % step == 0) {
      progress(static_cast<double>(done) / static_cast<double>(total), "times");
    }
    for (int d = 0; d < Dim; ++d) {
      for (int side = -1; side <= 1; side += 2) {
        std::int64_t other[Dim];
        for (int e = 0; e < Dim; ++e) other[e] = node[e] + (e == d ? side : 0);
        if (other[d] < 0 || other[d] >= grid.extents[d] || box.contains(other)) continue;
        const std::int64_t neighbour = grid.at(other);
        if (known[neighbour] < infinity<T>()) continue;
        const T u = equation.solution(problem, other);
        ++report.updates;
        if (u == trial[static_cast<std::size_t>(neighbour)]) continue;
        trial[static_cast<std::size_t>(neighbour)] = u;
        queue.push({equation.square(problem, other, u), neighbour});
      }
    }
  }
}

/// Computes second order from known times. Every node is solved once, in the order of those times,
/// from its selected neighbours.
template <class T, int Dim>
void correct(const Problem<T, Dim>& problem, const SourceBox<Dim>& box,
             const MarchEquation<T, Dim>& equation, Report& report) {
  const TiledGrid<Dim>& grid = problem.grid;
  std::vector<std::pair<T, std::int64_t>> order;  // squared time and padded index
  std::int64_t count = 1;
  for (int d = 0; d < Dim; ++d) count *= grid.extents[d];
  order.reserve(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t node[Dim], tile[Dim];
    node_and_tile(grid, k, node, tile);
    if (box.contains(node)) continue;
    const std::int64_t index = grid.at(node);
    problem.upwinds[index] = equation.upwinds(problem, node).bits();
    order.push_back({equation.square(problem, node, problem.u[index]), index});
  }
  std::sort(order.begin(), order.end());
  for (const auto& [square, index] : order) {
    std::int64_t node[Dim];
    node_at(grid, index, node);
    const T u = equation.solution(problem, node);
    if (u < infinity<T>()) problem.u[index] = u;
    ++report.updates;
  }
}

/// Host execution space of fast_marching(), independent of the instance that its fields belong to.
#ifdef KOKKOS_ENABLE_SERIAL
using MarchSpace = Kokkos::Serial;
#else
using MarchSpace = Kokkos::DefaultHostExecutionSpace;
#endif

/// Solves for all sources, one after the other.
template <class T, int Dim>
Report march_all(const Grid<Dim>& grid, const ModelData<T>& model, const Points<Dim>& points,
                 T* times, const Options& options) {
  using Memory = Kokkos::HostSpace;
  const Instance<Memory> exec{MarchSpace()};
  Report report;
  const TiledGrid<Dim> tiled(grid, true);
  const bool anelliptic = model.anelliptic();
  // throws if memory is short; the queue needs as much memory as the marks of tiles
  sources_per_batch<T>(exec, tiled, anelliptic, 1, options,
                       sizeof(T) + (options.order == 2 ? sizeof(std::pair<T, std::int64_t>) : 0));
  const MarchEquation<T, Dim> first = march_equation<T, Dim>(1, anelliptic);
  const MarchEquation<T, Dim> second = march_equation<T, Dim>(2, anelliptic);
  const std::vector<Source<Dim>> sources =
      make_sources(exec, grid, model, points, options.factored);
  const double count = static_cast<double>(sources.size());
  for (std::size_t s = 0; s < sources.size(); ++s) {
    ProblemStorage<T, Dim, Memory> storage;
    const Problem<T, Dim> problem = make_problem(exec, grid, tiled, model, {sources[s]},
                                                 options.factored, options.order, storage);
    march(problem, sources[s].box, first,
          part_of_progress(options.progress, static_cast<double>(s) / count, 1.0 / count), report);
    for (int pass = 0; options.order == 2 && pass < corrections; ++pass) {
      correct(problem, sources[s].box, second, report);
    }
    write_times(exec, problem, times, grid.size(), true, s > 0);
  }
  report.batches = static_cast<std::int64_t>(sources.size());
  if (options.progress) options.progress(1.0, "done");
  return report;
}

}  // namespace detail

/// Computes first-arrival traveltimes sequentially by fast marching (Sethian, 1996). It is the
/// reference for solve(), with the same arguments and results, on a host space.
///
/// Every node is accepted once, in the order of times, from nodes accepted before it. At second
/// order each node is then solved once more in that order. The function waits for the instance;
/// then it works in Kokkos::Serial if available. Options::method and Options::tiles_ahead have no
/// effect.
///
/// \throws InputError, MemoryError under the conditions of solve()
template <class T, int Dim>
Report fast_marching(const Instance<Kokkos::HostSpace>& exec, const Grid<Dim>& grid,
                     const Model<T, Dim, Kokkos::HostSpace>& model, const Points<Dim>& sources,
                     const Field<T, Dim, Kokkos::HostSpace>& times, const Options& options = {}) {
  detail::check_input(exec, grid, model, sources, options);
  check_shape(grid, times, "times");
  exec.fence();
  return detail::march_all<T, Dim>(grid, detail::addresses(model), sources, times.data(), options);
}

/// fast_marching() for an isotropic medium: `velocity` is a Field<T, Dim, Kokkos::HostSpace>.
template <int Dim, class Velocity>
std::enable_if_t<Kokkos::is_view<Velocity>::value, Report> fast_marching(
    const Instance<Kokkos::HostSpace>& exec, const Grid<Dim>& grid, const Velocity& velocity,
    const Points<Dim>& sources, const Velocity& times, const Options& options = {}) {
  using T = typename Velocity::non_const_value_type;
  return fast_marching(exec, grid, Model<T, Dim, Kokkos::HostSpace>{velocity, {}, {}}, sources,
                       times, options);
}

#ifdef MOHO_EIKONAL_KERNELS
MOHO_FOR_TYPES(MOHO_FUNCTION, extern template, detail::march_all)
#endif

}  // namespace moho::eikonal
