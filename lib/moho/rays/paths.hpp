// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Rays from predecessors, as polylines.

#include <moho/core/instances.hpp>
#include <moho/rays/sources.hpp>

#include <functional>

namespace moho::rays {

namespace detail {

/// Points in the memory of a space, one per row. Entries are double, because in Kokkos 3.4 views of
/// Kokkos::Array are a special case.
template <int Dim, class Memory>
using PointView = Kokkos::View<double* [Dim], Kokkos::LayoutRight, Memory>;

/// Returns one row of a view of points.
template <int Dim, class Memory>
KOKKOS_INLINE_FUNCTION Point<Dim> get_point(const PointView<Dim, Memory>& view, std::int64_t row) {
  Point<Dim> p{};
  for (int d = 0; d < Dim; ++d) p[d] = view(row, d);
  return p;
}

/// Follows predecessors from a receiver to its source; called twice. Without space for points it
/// finds the last vertex, the traveltime and the number of points. With space it writes the points,
/// source first.
template <class T, int Dim, class Memory>
struct FollowRay {
  GraphData<T, Dim, Memory> graph;
  Grid<Dim> grid;
  const T* times;                    ///< sources x shape
  const std::int16_t* predecessors;  ///< sources x shape
  PointView<Dim, Memory> sources, receivers;
  Kokkos::View<std::int64_t*, Memory>
      last_vertex;  ///< last vertex of each ray; -1: straight, -2: no path, -3: broken
  Kokkos::View<double*, Memory> traveltime;
  Kokkos::View<std::int64_t*, Memory> first;  ///< counts in the first call, offsets in the second
  PointView<Dim, Memory> points;              ///< empty in the first call

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t ray) const {
    const std::int64_t source = ray / receivers.extent(0);
    const std::int64_t receiver = ray % receivers.extent(0);
    if (points.extent(0) == 0) {
      find_end(ray, source, receiver);
    } else if (last_vertex(ray) != -2) {
      write(ray, source, receiver);
    }
  }

  KOKKOS_INLINE_FUNCTION void find_end(std::int64_t ray, std::int64_t source,
                                       std::int64_t receiver) const {
    const Kokkos::Array<double, Dim> from =
        snap<Dim>(grid, get_point<Dim, Memory>(sources, source));
    const Kokkos::Array<double, Dim> to =
        snap<Dim>(grid, get_point<Dim, Memory>(receivers, receiver));
    double best = infinity<double>();
    std::int64_t vertex = find_last_node(times + source * grid.size(), to, best);
    // if source or receiver is between nodes and both are within the radius, also try the straight
    // ray
    if (!on_node<Dim>(from) || !on_node<Dim>(to)) {
      bool near = true;
      for (int d = 0; d < Dim; ++d) {
        const double distance = from[d] < to[d] ? to[d] - from[d] : from[d] - to[d];
        near = near && distance <= static_cast<double>(graph.radius);
      }
      if (near) {
        const double straight = straight_time<T, Dim, Memory>(graph, grid.spacing, from, to);
        if (straight <= best) {
          best = straight;
          vertex = -1;
        }
      }
    }
    last_vertex(ray) = vertex;
    traveltime(ray) = best;
    std::int64_t count = 0;
    if (vertex >= 0) {
      const std::int16_t* const predecessor = predecessors + source * grid.size();
      std::int64_t at = vertex;
      for (count = 1; predecessor[at] >= 0 && count <= grid.size(); ++count) {
        at = at_predecessor(at, predecessor[at]);
      }
      if (predecessor[at] != from_source) {
        last_vertex(ray) = -3;
        count = 0;
      } else {
        count += at_node(from, at) ? 0 : 1;
        count += at_node(to, vertex) ? 0 : 1;
      }
    } else if (vertex == -1) {
      count = 2;
    }
    first(ray) = count;
  }

  KOKKOS_INLINE_FUNCTION void write(std::int64_t ray, std::int64_t source,
                                    std::int64_t receiver) const {
    const Kokkos::Array<double, Dim> from =
        snap<Dim>(grid, get_point<Dim, Memory>(sources, source));
    const Kokkos::Array<double, Dim> to =
        snap<Dim>(grid, get_point<Dim, Memory>(receivers, receiver));
    std::int64_t index = first(ray + 1);  // backwards from the receiver
    if (last_vertex(ray) == -1) {
      put_point(--index, position(to));
      put_point(--index, position(from));
      return;
    }
    const std::int16_t* const predecessor = predecessors + source * grid.size();
    std::int64_t at = last_vertex(ray);
    if (!at_node(to, at)) put_point(--index, position(to));
    put_point(--index, grid.position(grid.node(at)));
    while (predecessor[at] >= 0) {
      at = at_predecessor(at, predecessor[at]);
      put_point(--index, grid.position(grid.node(at)));
    }
    if (!at_node(from, at)) put_point(--index, position(from));
  }

 private:
  // Returns the node from which a straight segment ends a ray the earliest, and its time; -2
  // without one. Segments of nodes whose time over the shortest way through the least slowness
  // around the end is later than a known one are left out.
  KOKKOS_INLINE_FUNCTION std::int64_t find_last_node(const T* time,
                                                     const Kokkos::Array<double, Dim>& to,
                                                     double& best) const {
    const NodeBox<Dim> box(to, graph.radius, grid.extents);
    const double min = min_slowness(box);
    double limit = infinity<double>();
    std::int64_t earliest = -1;
    for (std::int64_t i = 0; i < box.size() && min > 0.0; ++i) {
      const Index<Dim> node = box.node(i);
      const double bound =
          static_cast<double>(time[grid.flat(node)]) + min * length_between(node, to);
      if (!(bound < limit)) continue;
      limit = bound;
      earliest = i;
    }
    limit = earliest < 0 ? infinity<double>() : time_through(time, box.node(earliest), to);
    std::int64_t vertex = -2;
    for (std::int64_t i = 0; i < box.size(); ++i) {
      const Index<Dim> node = box.node(i);
      const double own = static_cast<double>(time[grid.flat(node)]);
      if (!(own < best) || own + min * length_between(node, to) > limit) continue;
      const double candidate = time_through(time, node, to);
      if (!(candidate < best)) continue;
      best = candidate;
      vertex = grid.flat(node);
    }
    return vertex;
  }
  // Returns the time of a node and of the straight segment from it.
  KOKKOS_INLINE_FUNCTION double time_through(const T* time, const Index<Dim>& node,
                                             const Kokkos::Array<double, Dim>& to) const {
    Kokkos::Array<double, Dim> position;
    for (int d = 0; d < Dim; ++d) position[d] = static_cast<double>(node[d]);
    return static_cast<double>(time[grid.flat(node)]) +
           straight_time<T, Dim, Memory>(graph, grid.spacing, position, to);
  }
  // Returns the least slowness of the nodes of a box, less a margin for rounding; 0 with weights
  // that are not linear between slownesses.
  KOKKOS_INLINE_FUNCTION double min_slowness(const NodeBox<Dim>& box) const {
    if (graph.rule != WeightRule::slowness) return 0.0;
    T min = infinity<T>();
    for (std::int64_t i = 0; i < box.size(); ++i) {
      const T value = graph.medium(graph.grid.at(box.node(i)));
      min = value < min ? value : min;
    }
    return 0.9999 * static_cast<double>(min);
  }
  // Returns the distance from a node to a position in index space, in the units of the grid.
  KOKKOS_INLINE_FUNCTION double length_between(const Index<Dim>& node,
                                               const Kokkos::Array<double, Dim>& to) const {
    using std::sqrt;
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      const double delta = (to[d] - static_cast<double>(node[d])) * grid.spacing[d];
      square += delta * delta;
    }
    return sqrt(square);
  }
  KOKKOS_INLINE_FUNCTION void put_point(std::int64_t row, const Point<Dim>& p) const {
    for (int d = 0; d < Dim; ++d) points(row, d) = p[d];
  }
  KOKKOS_INLINE_FUNCTION std::int64_t at_predecessor(std::int64_t flat, int direction) const {
    const int e = direction < graph.half ? direction : direction - graph.half;
    const int sign = direction < graph.half ? 1 : -1;
    std::int64_t step = 0;
    for (int d = 0; d < Dim; ++d) step = step * grid.extents[d] + graph.step(e, d);
    return flat + sign * step;
  }
  KOKKOS_INLINE_FUNCTION bool at_node(const Kokkos::Array<double, Dim>& q,
                                      std::int64_t flat) const {
    const Index<Dim> node = grid.node(flat);
    for (int d = 0; d < Dim; ++d) {
      if (q[d] != static_cast<double>(node[d])) return false;
    }
    return true;
  }
  KOKKOS_INLINE_FUNCTION Point<Dim> position(const Kokkos::Array<double, Dim>& q) const {
    Point<Dim> p{};
    for (int d = 0; d < Dim; ++d) p[d] = grid.origin[d] + grid.spacing[d] * q[d];
    return p;
  }
};

template <int Dim, class Memory>
PointView<Dim, Memory> upload_points(const Instance<Memory>& exec, const Points<Dim>& points) {
  const auto view = allocate<PointView<Dim, Memory>>(exec, "moho::rays::points", points.size());
  using Host = Kokkos::View<const double* [Dim], Kokkos::LayoutRight, Kokkos::HostSpace,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  copy(exec, view, Host(points.front().data(), points.size()));
  exec.fence();
  return view;
}

}  // namespace detail

/// Traces the ray from every source to every receiver by following predecessors.
///
/// A receiver between nodes is joined to the nodes within the radius by straight segments; the
/// earliest one is taken. A receiver within the radius of the source is also joined to it directly.
///
/// \param exec all work is submitted to this instance; the function returns host data and therefore
///         fences
/// \param graph the model that was traced
/// \param sources the sources given to trace()
/// \param times,predecessors outputs of trace()
/// \param receivers positions in the grid's units; may be empty
/// \param points called with the number of points of all rays before they are allocated; it may
/// throw. Empty: no call
/// \throws InputError a receiver outside the model, or arrays of the wrong shape
template <class T, int Dim, class Memory>
RayPaths<Dim> ray_paths(const InstanceOf<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
                        const Points<Dim>& sources, const FieldPerSource<T, Dim, Memory>& times,
                        const FieldPerSource<std::int16_t, Dim, Memory>& predecessors,
                        const Points<Dim>& receivers,
                        const std::function<void(std::int64_t)>& points = {}) {
  const std::int64_t source_count = static_cast<std::int64_t>(sources.size());
  check_positions(graph.grid(), sources, "source");
  check_positions(graph.grid(), receivers, "receiver");
  check_shape(graph.grid(), times, "times", source_count);
  check_shape(graph.grid(), predecessors, "predecessors", source_count);

  RayPaths<Dim> paths;
  paths.sources = source_count;
  paths.receivers = static_cast<std::int64_t>(receivers.size());
  const std::int64_t rays = paths.sources * paths.receivers;
  paths.first.assign(static_cast<std::size_t>(rays) + 1, 0);
  paths.traveltime.assign(static_cast<std::size_t>(rays), 0.0);
  if (rays == 0) return paths;

  detail::FollowRay<T, Dim, Memory> follow;
  follow.graph = graph.data();
  follow.grid = graph.grid();
  follow.times = times.data();
  follow.predecessors = predecessors.data();
  follow.sources = detail::upload_points<Dim>(exec, sources);
  follow.receivers = detail::upload_points<Dim>(exec, receivers);
  using Integers = Kokkos::View<std::int64_t*, Memory>;
  follow.last_vertex = allocate<Integers>(exec, "moho::rays::last", rays);
  follow.traveltime = allocate<Kokkos::View<double*, Memory>>(exec, "moho::rays::traveltime", rays);
  follow.first = allocate<Integers>(exec, "moho::rays::first", rays + 1);
  fill(exec, follow.first, std::int64_t(0));
  launch("moho::rays::find_ray_ends", exec, rays, follow);

  std::vector<std::int64_t> first = download(exec, follow.first);
  const std::vector<std::int64_t> last = download(exec, follow.last_vertex);
  paths.traveltime = download(exec, follow.traveltime);
  std::int64_t total = 0;
  for (std::int64_t ray = 0; ray < rays; ++ray) {
    const std::size_t k = static_cast<std::size_t>(ray);
    if (last[k] == -3) {
      throw Error(concat("rays: the predecessors of source ", ray / paths.receivers + 1,
                         " do not lead back to it: they are not those that trace() wrote for these "
                         "sources and this graph"));
    }
    const std::int64_t count = first[k];
    first[k] = total;
    total += count;
  }
  if (points) points(total);
  first.back() = total;
  paths.first = first;
  paths.points.resize(static_cast<std::size_t>(total));
  if (total == 0) return paths;
  copy(exec, follow.first, HostElements<const std::int64_t>(first.data(), first.size()));
  follow.points = allocate<detail::PointView<Dim, Memory>>(exec, "moho::rays::points", total);
  launch("moho::rays::follow_rays", exec, rays, follow);
  Kokkos::View<double* [Dim], Kokkos::LayoutRight, Kokkos::HostSpace,
               Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      host(paths.points.front().data(), paths.points.size());
  copy(exec, host, follow.points);
  exec.fence();
  return paths;
}

/// \cond
#ifdef MOHO_RAYS_KERNELS
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, ray_paths)
#endif
/// \endcond

}  // namespace moho::rays
