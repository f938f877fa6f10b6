// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernels of the derivative of first-arrival times, and of its transpose.
///
/// Let u_i be the solution at a node. Its local equation gives du_i = sum_j w_ij du_j + c_i dv_i;
/// the sum is over the neighbours that the node uses. The nodes and these neighbours form a graph
/// without cycles. Levels of the graph are processed one after the other: a node belongs to the
/// first level after all nodes that use it.

#include <moho/eikonal/detail/dual.hpp>

namespace moho::eikonal::detail {

/// Derivatives of u at the nodes of a batch of sources: addresses. Arrays are indexed like
/// Problem::u; weights have 2 Dim numbers for each node, all first ones before all second ones.
template <class T, int Dim>
struct Derivatives {
  T* weights;           ///< w of the nearest and of the farther neighbour, for each axis
  T* by_velocity;       ///< c; 0 at the nodes around a source
  T* roots;             ///< derivative of the time by u
  std::uint16_t* uses;  ///< Upwinds with weights other than 0; 0 in the halo
  std::int64_t size;    ///< elements of an array
  std::int64_t stride[Dim];

  /// Returns w of a node by the neighbour one or two nodes along an axis.
  KOKKOS_FORCEINLINE_FUNCTION T& weight(std::int64_t at, int axis, bool farther) const {
    return weights[(2 * axis + (farther ? 1 : 0)) * size + at];
  }
  /// Calls take(neighbour, w) for the neighbours that a node uses.
  template <class Take>
  KOKKOS_FORCEINLINE_FUNCTION void for_used(std::int64_t at, const Take& take) const {
    const Upwinds used(uses[at]);
    for (int d = 0; d < Dim; ++d) {
      const int side = used.side(d);
      if (side == 0) continue;
      take(at + side * stride[d], weight(at, d, false));
      if (used.two(d)) take(at + 2 * side * stride[d], weight(at, d, true));
    }
  }
  /// Calls take(neighbour, w) for the neighbours that use a node.
  template <class Take>
  KOKKOS_FORCEINLINE_FUNCTION void for_users(std::int64_t at, const Take& take) const {
    for (int d = 0; d < Dim; ++d) {
      for (int step = -halo; step <= halo; ++step) {
        if (step == 0) continue;
        const std::int64_t other = at + step * stride[d];
        const Upwinds used(uses[other]);
        const bool farther = step != 1 && step != -1;
        if (used.side(d) * step < 0 && (!farther || used.two(d))) {
          take(other, weight(other, d, farther));
        }
      }
    }
  }
};

/// Sets the coordinates of node i of a grid in memory order.
template <int Dim>
KOKKOS_FORCEINLINE_FUNCTION void set_node(const TiledGrid<Dim>& grid, std::int64_t i,
                                          std::int64_t (&node)[Dim]) {
  for (int d = Dim - 1; d >= 0; --d) {
    node[d] = i % grid.extents[d];
    i /= grid.extents[d];
  }
}

/// Fills the derivatives of a solved problem; `uses` is 0 before.
template <int Order, bool Anelliptic, class T, int Dim>
struct Differentiate {
  Problem<T, Dim> problem;
  Derivatives<T, Dim> out;
  std::int64_t nodes;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    using std::sqrt;
    const int source = static_cast<int>(i / nodes);
    std::int64_t node[Dim];
    set_node(problem.grid, i % nodes, node);
    const std::int64_t index = problem.grid.at(node);
    const std::int64_t at = source * problem.grid.size + index;
    const auto base = problem.template factor<Anelliptic>(source, index, node);
    const T square = base.square(0, 0);
    out.roots[at] = sqrt(square);
    out.by_velocity[at] = T(0);
    if (problem.boxes[source].contains(node)) return;
    const auto u = differentiate<Order, Anelliptic, false>(problem, source, node);
    out.by_velocity[at] = u.by[2 * Dim];
    const T* const center = problem.values(source, index);
    const T own = square * (*center * *center);
    Upwinds used;
    for (int d = 0; d < Dim; ++d) {
      T nearest, farther = T(0);
      int side;
      if constexpr (Order == 2) {
        side = problem.upwinds_at(center).side(d);
        nearest = u.by[2 * d];
        farther = u.by[2 * d + 1];
      } else {
        side = u.by[2 * d] != T(0) ? -1 : 1;
        nearest = side < 0 ? u.by[2 * d] : u.by[2 * d + 1];
        // of two nodes whose times are equal within rounding neither uses the other
        const T other = center[side * problem.grid.stride[d]];
        if (!(base.square(d, side) * (other * other) < own)) nearest = T(0);
      }
      out.weight(at, d, false) = nearest;
      out.weight(at, d, true) = farther;
      if (nearest != T(0) || farther != T(0)) used.take(d, side, farther != T(0));
    }
    out.uses[at] = used.bits();
  }
};

/// Derivatives of u by the lean terms at a node next to a source, times those of the lean terms.
template <class T, int Dim>
struct LeanTerms {
  T by_tilt[Dim];   ///< by Column::tilt
  T by_limit[Dim];  ///< by Column::limit
};

/// Computes LeanTerms for a list of nodes.
template <int Order, bool Anelliptic, class T, int Dim>
struct DifferentiateLean {
  Problem<T, Dim> problem;
  const std::int64_t* list;  ///< indices into Problem::u
  LeanTerms<T, Dim>* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const int source = static_cast<int>(list[i] / problem.grid.size);
    const std::int64_t index = list[i] % problem.grid.size;
    std::int64_t node[Dim], rest = index;
    for (int d = 0; d < Dim; ++d) {
      node[d] = rest / problem.grid.stride[d] - halo;
      rest %= problem.grid.stride[d];
    }
    const auto base = problem.template factor<Anelliptic>(source, index, node);
    const T square = base.square(0, 0);
    const auto u = differentiate<Order, Anelliptic, true>(problem, source, node);
    for (int d = 0; d < Dim; ++d) {
      const auto& column = base.column(d);
      const T lean = square * column.tilt;
      const bool above = lean > column.limit, below = lean < -column.limit;
      out[i].by_tilt[d] = above || below ? T(0) : square * u.by[d];
      out[i].by_limit[d] = above ? u.by[d] : below ? -u.by[d] : T(0);
    }
  }
};

/// Counts the neighbours that use each node, and lists the nodes without users.
template <class T, int Dim>
struct CountUsers {
  TiledGrid<Dim> grid;
  Derivatives<T, Dim> derivatives;
  std::int64_t nodes;
  int* users;
  std::int64_t* list;
  std::int64_t* listed;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    std::int64_t node[Dim];
    set_node(grid, i % nodes, node);
    const std::int64_t at = i / nodes * grid.size + grid.at(node);
    int count = 0;
    derivatives.for_users(at, [&](std::int64_t, T) { ++count; });
    users[at] = count;
    if (count == 0) list[Kokkos::atomic_fetch_add(listed, std::int64_t(1))] = at;
  }
};

/// Appends to the list the nodes whose last user is in a level.
template <class T, int Dim>
struct NextLevel {
  Derivatives<T, Dim> derivatives;
  const std::int64_t* level;
  int* users;
  std::int64_t* list;
  std::int64_t* listed;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const NextLevel& self = *this;
    derivatives.for_used(level[i], [&self](std::int64_t other, T) {
      if (Kokkos::atomic_fetch_add(self.users + other, -1) != 1) return;
      self.list[Kokkos::atomic_fetch_add(self.listed, std::int64_t(1))] = other;
    });
  }
};

/// Sets the derivatives of a sum of times by u, from those by the times.
template <class T, int Dim>
struct SetWeights {
  TiledGrid<Dim> grid;
  Derivatives<T, Dim> derivatives;
  std::int64_t nodes;
  const T* by_time;
  T* by_u;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    std::int64_t node[Dim];
    set_node(grid, i % nodes, node);
    const std::int64_t at = i / nodes * grid.size + grid.at(node);
    by_u[at] = derivatives.roots[at] * by_time[i];
  }
};

/// Adds to the nodes of a level what the nodes that use them pass on.
template <class T, int Dim>
struct TransposeLevel {
  Derivatives<T, Dim> derivatives;
  const std::int64_t* level;
  T* by_u;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t at = level[i];
    T sum = by_u[at];
    const T* const from = by_u;
    derivatives.for_users(at, [&sum, from](std::int64_t other, T w) { sum += w * from[other]; });
    by_u[at] = sum;
  }
};

/// Adds the derivatives by the velocities at the nodes, over all sources in their order.
template <class T, int Dim>
struct AddByVelocity {
  TiledGrid<Dim> grid;
  Derivatives<T, Dim> derivatives;
  const T* by_u;
  int sources;
  bool first;  ///< overwrite
  T* gradient;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    std::int64_t node[Dim];
    set_node(grid, i, node);
    std::int64_t at = grid.at(node);
    T sum = first ? T(0) : gradient[i];
    for (int s = 0; s < sources; ++s, at += grid.size) {
      sum += derivatives.by_velocity[at] * by_u[at];
    }
    gradient[i] = sum;
  }
};

/// Sets the changes of u by the changes of velocity at the nodes.
template <class T, int Dim>
struct SetChanges {
  TiledGrid<Dim> grid;
  Derivatives<T, Dim> derivatives;
  std::int64_t nodes;
  const T* of_velocity;
  T* of_u;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    std::int64_t node[Dim];
    set_node(grid, i % nodes, node);
    const std::int64_t at = i / nodes * grid.size + grid.at(node);
    of_u[at] = derivatives.by_velocity[at] * of_velocity[i % nodes];
  }
};

/// Adds to the nodes of a level the changes of the neighbours that they use.
template <class T, int Dim>
struct ApplyLevel {
  Derivatives<T, Dim> derivatives;
  const std::int64_t* level;
  T* of_u;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t at = level[i];
    T sum = of_u[at];
    const T* const from = of_u;
    derivatives.for_used(at, [&sum, from](std::int64_t other, T w) { sum += w * from[other]; });
    of_u[at] = sum;
  }
};

/// Writes changes of times from those of u.
template <class T, int Dim>
struct WriteChanges {
  TiledGrid<Dim> grid;
  Derivatives<T, Dim> derivatives;
  std::int64_t nodes;
  const T* of_u;
  T* of_times;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    std::int64_t node[Dim];
    set_node(grid, i % nodes, node);
    const std::int64_t at = i / nodes * grid.size + grid.at(node);
    of_times[i] = derivatives.roots[at] * of_u[at];
  }
};

/// Copies listed elements.
template <class T>
struct GatherElements {
  const std::int64_t* list;
  const T* from;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { to[i] = from[list[i]]; }
};

/// Adds values to listed elements; no element is listed twice.
template <class T>
struct AddElements {
  const std::int64_t* list;
  const T* values;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { to[list[i]] += values[i]; }
};

}  // namespace moho::eikonal::detail
