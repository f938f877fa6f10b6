// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The data of a graph for kernels, and edge weights: stored or computed at every use.
///
/// Under WeightRule::slowness an edge's weight is a fixed linear combination of the slownesses at
/// the nodes around it, because the interpolant is linear in them. The coefficients (an "edge
/// stencil") depend on the offset alone. They are computed once, on the host, in double precision.
/// A weight is then a short dot product. The other rules integrate each edge.

#include <moho/rays/detail/layout.hpp>
#include <moho/rays/detail/weight_blocks.hpp>
#include <moho/rays/segment.hpp>

namespace moho::rays::detail {

/// One term of an edge stencil: a node relative to the edge's first vertex, and its coefficient.
template <class T>
struct StencilTerm {
  int index;
  T coefficient;
};

/// The graph as kernels read it; functors hold copies.
template <class T, int Dim, class Memory>
struct GraphData {
  PaddedGrid<Dim> grid;
  int half = 0;    ///< number of edges of the half star
  int radius = 0;  ///< radius of the neighbourhood
  WeightRule rule = WeightRule::slowness;

  Kokkos::View<T*, Memory> medium;  ///< slowness or velocity, by rule; infinite at dummies
  /// (edge, index in the padded grid); empty if computed on the fly.
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> table;
  /// (edge) index of the far end minus index of the near end.
  Kokkos::View<std::int64_t*, Memory> offset;
  Kokkos::View<int**, Kokkos::LayoutRight, Memory> step;  ///< (edge, axis) offset in nodes
  Kokkos::View<double*, Memory> length;                   ///< (edge) length in grid units
  Kokkos::View<int*, Memory> first_term;                  ///< half + 1 offsets into terms
  Kokkos::View<StencilTerm<T>*, Memory> terms;            ///< edge stencils, rule slowness

  /// Returns the offset of the neighbour in direction k within the padded grid.
  KOKKOS_INLINE_FUNCTION std::int64_t direction(int k) const {
    return k < half ? offset(k) : -offset(k - half);
  }
};

/// Weights read from a table. operator()(e, p) is the weight of half-star edge e from vertex p.
template <class T, int Dim, class Memory>
struct StoredWeights {
  static constexpr bool stored = true;
  GraphData<T, Dim, Memory> graph;
  KOKKOS_INLINE_FUNCTION T operator()(int e, std::int64_t p) const { return graph.table(e, p); }
};

/// Weights computed at every use. The active-tile method keeps those of tiles in blocks, if any.
template <class T, int Dim, class Memory>
struct ComputedWeights {
  static constexpr bool stored = false;
  GraphData<T, Dim, Memory> graph;
  WeightBlocks<T, Memory> blocks = {};

  KOKKOS_INLINE_FUNCTION T operator()(int e, std::int64_t p) const {
    return graph.rule == WeightRule::slowness ? by_stencil(e, p) : integrated(e, p);
  }

  /// Returns the weight as a dot product with the slownesses around the edge (rule slowness).
  KOKKOS_FUNCTION MOHO_NOINLINE T by_stencil(int e, std::int64_t p) const {
    T sum = T(0);
    for (int k = graph.first_term(e); k < graph.first_term(e + 1); ++k) {
      const StencilTerm<T> term = graph.terms(k);
      sum += term.coefficient * graph.medium(p + term.index);
    }
    return sum;
  }

  /// Returns the weight by quadrature along the edge, any rule; infinite if an end is a dummy.
  KOKKOS_FUNCTION MOHO_NOINLINE T integrated(int e, std::int64_t p) const {
    const Index<Dim> near = graph.grid.node(p);
    Index<Dim> far = near;
    Kokkos::Array<double, Dim> from, to;
    for (int d = 0; d < Dim; ++d) {
      far[d] += graph.step(e, d);
      from[d] = static_cast<double>(near[d]);
      to[d] = static_cast<double>(far[d]);
    }
    if (!graph.grid.inside(near) || !graph.grid.inside(far)) {
      return infinity<T>();
    }
    const double mean = mean_slowness<Dim>(
        graph.rule, graph.radius, from, to, graph.grid.extents,
        [&](const Index<Dim>& node) { return graph.medium(graph.grid.at(node)); });
    return static_cast<T>(graph.length(e) * mean);
  }
};

/// Returns the traveltime along the straight segment between two positions in index space.
template <class T, int Dim, class Memory>
KOKKOS_FUNCTION MOHO_NOINLINE double straight_time(const GraphData<T, Dim, Memory>& graph,
                                                   const Point<Dim>& spacing,
                                                   const Kokkos::Array<double, Dim>& p,
                                                   const Kokkos::Array<double, Dim>& q) {
  using std::sqrt;
  double square = 0.0;
  for (int d = 0; d < Dim; ++d) {
    const double delta = (q[d] - p[d]) * spacing[d];
    square += delta * delta;
  }
  if (square == 0.0) return 0.0;
  return sqrt(square) *
         mean_slowness<Dim>(graph.rule, graph.radius, p, q, graph.grid.extents,
                            [&](const Index<Dim>& node) {
                              return static_cast<double>(graph.medium(graph.grid.at(node)));
                            });
}

}  // namespace moho::rays::detail
