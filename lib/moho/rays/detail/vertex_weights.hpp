// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief All weights of a vertex in registers, from the slowness around it in scratch (2D).
///
/// The edge stencils of a star that is known at compile time are unrolled by node: each slowness of
/// the box around the vertex is read once and added, times a coefficient, to the weights of all
/// edges that pass it. The terms of an edge keep the order of edge_stencil(), so the weights have
/// the bits of a table.

#include <moho/core/kokkos.hpp>
#include <moho/rays/detail/layout.hpp>
#include <moho/rays/star.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace moho::rays::detail {

/// Returns true if the stencil of the edge from (0, 0) to `offset` has a term at node (i, k): the
/// edge passes through the cells around the node. Components of the offset: the first is >= 0.
constexpr bool has_term(const std::array<int, 2>& offset, int i, int k) {
  const int a = offset[0];
  const int b = absolute(offset[1]);
  if (offset[1] < 0) k = -k;
  if ((a == 0 && i != 0) || (b == 0 && k != 0)) return false;
  // parameters t of the edge, times the lengths along both axes: |t a - i| < 1 and |t b - k| < 1
  const int along_0 = a > 0 ? a : 1;
  const int along_1 = b > 0 ? b : 1;
  int low = 0, high = along_0 * along_1;
  if (a > 0) {
    if ((i - 1) * along_1 > low) low = (i - 1) * along_1;
    if ((i + 1) * along_1 < high) high = (i + 1) * along_1;
  }
  if (b > 0) {
    if ((k - 1) * along_0 > low) low = (k - 1) * along_0;
    if ((k + 1) * along_0 < high) high = (k + 1) * along_0;
  }
  return low < high;
}

/// Calls visit(edge, i, k) for every term of the half star's stencils, in the order of
/// edge_stencil().
template <class FixedStar, class Visit>
constexpr void visit_terms(Visit&& visit) {
  for (int e = 0; e < FixedStar::half; ++e) {
    const std::array<int, 2> offset = FixedStar::offsets[e];
    const int low = offset[1] < 0 ? offset[1] : 0;
    const int high = offset[1] < 0 ? 0 : offset[1];
    for (int i = 0; i <= offset[0]; ++i) {
      for (int k = low; k <= high; ++k) {
        if (has_term(offset, i, k)) visit(e, i, k);
      }
    }
  }
}

/// Terms of all directions of a star, sorted by node.
template <class FixedStar>
struct TermsByNode {
  static constexpr int radius = FixedStar::radius;
  static constexpr int width = 2 * radius + 1;
  static constexpr int nodes = width * width;
  static constexpr int count_terms() {
    int n = 0;
    visit_terms<FixedStar>([&](int, int, int) { ++n; });
    return n;
  }
  /// Terms of the half star.
  static constexpr int terms = count_terms();

  /// Lists of all nodes, one after the other.
  struct Lists {
    std::array<int, nodes + 1> first{};      ///< (node) start of its list
    std::array<int, 2 * terms> direction{};  ///< direction of the edge
    std::array<int, 2 * terms> term{};       ///< index of the coefficient
  };

  static constexpr int node_at(int i, int k) { return (i + radius) * width + k + radius; }

  static constexpr Lists make() {
    Lists lists{};
    std::array<int, nodes + 1> next{};
    visit_terms<FixedStar>([&](int e, int i, int k) {
      ++next[node_at(i, k) + 1];
      ++next[node_at(i - FixedStar::offsets[e][0], k - FixedStar::offsets[e][1]) + 1];
    });
    for (int n = 0; n < nodes; ++n) next[n + 1] += next[n];
    lists.first = next;
    int term = 0;
    visit_terms<FixedStar>([&](int e, int i, int k) {
      const int forward = next[node_at(i, k)]++;
      lists.direction[forward] = e;
      lists.term[forward] = term;
      // the edge that ends at the vertex
      const int backward =
          next[node_at(i - FixedStar::offsets[e][0], k - FixedStar::offsets[e][1])]++;
      lists.direction[backward] = FixedStar::half + e;
      lists.term[backward] = term;
      ++term;
    });
    return lists;
  }
  static constexpr Lists lists = make();
};

/// Computes the weights of all directions of a vertex; a member of kernels, which keep the
/// coefficients with their arguments. \tparam width vertices along a row of a tile
template <class T, class FixedStar, int width>
struct VertexWeights {
  using Terms = TermsByNode<FixedStar>;
  static constexpr int directions = 2 * FixedStar::half;
  static constexpr int row = width + 2 * FixedStar::radius;  ///< length of a row of the box

  T coefficients[Terms::terms];

  /// Sets the coefficients of all edge stencils; false if their number is another one.
  bool set(const std::vector<T>& values) {
    if (values.size() != static_cast<std::size_t>(Terms::terms)) return false;
    for (std::size_t k = 0; k < values.size(); ++k) coefficients[k] = values[k];
    return true;
  }

  /// Computes the weights. \param w out, (directions) \param slowness that of the vertex, within a
  /// box of rows of `row` elements that extends `radius` nodes beyond the vertex
  KOKKOS_FORCEINLINE_FUNCTION void compute(T (&w)[directions], const T* slowness) const {
    clear(w, std::make_index_sequence<static_cast<std::size_t>(directions)>());
    add_nodes(w, slowness, std::make_index_sequence<Terms::nodes>());
  }

 private:
  // separate constants become immediate operands
  template <std::size_t N>
  static constexpr int first_of = Terms::lists.first[N];
  template <std::size_t N>
  static constexpr std::size_t count_of = static_cast<std::size_t>(Terms::lists.first[N + 1] -
                                                                   Terms::lists.first[N]);
  template <std::size_t K>
  static constexpr int direction_of = Terms::lists.direction[K];
  template <std::size_t K>
  static constexpr int term_of = Terms::lists.term[K];
  template <std::size_t N>
  static constexpr int step_of = (static_cast<int>(N) / Terms::width - FixedStar::radius) * row +
                                 static_cast<int>(N) % Terms::width - FixedStar::radius;

  template <std::size_t... K>
  KOKKOS_FORCEINLINE_FUNCTION void clear(T (&w)[directions], std::index_sequence<K...>) const {
    ((w[K] = T(0)), ...);
  }

  template <std::size_t... N>
  KOKKOS_FORCEINLINE_FUNCTION void add_nodes(T (&w)[directions], const T* slowness,
                                             std::index_sequence<N...>) const {
    (add_node<N>(w, slowness, std::make_index_sequence<count_of<N>>()), ...);
  }

  template <std::size_t N, std::size_t... K>
  KOKKOS_FORCEINLINE_FUNCTION void add_node(T (&w)[directions], const T* slowness,
                                            std::index_sequence<K...>) const {
    if constexpr (sizeof...(K) > 0) {
      const T s = slowness[step_of<N>];
      ((w[direction_of<first_of<N> + K>] += coefficients[term_of<first_of<N> + K>] * s), ...);
    }
  }
};

/// True if a kernel with this number of directions keeps all weights of a vertex in registers.
template <class T>
constexpr bool fits_registers(int directions) {
  return static_cast<std::size_t>(directions) * sizeof(T) <= 96 * 4;
}

/// Calls visit(FixedStar()) with the star known at compile time, if kernels exist for it (devices,
/// 2D, at most 96 words of weights); returns whether it was called.
template <class T, class Visit>
bool with_fixed_star(int radius, Star star, const Visit& visit) {
  bool done = false;
  const auto attempt = [&](auto fixed_radius, auto full) {
    using Fixed = StaticStar<2, decltype(fixed_radius)::value, decltype(full)::value>;
    if constexpr (fits_registers<T>(2 * Fixed::half)) {
      if (radius != Fixed::radius || (star == Star::full) != Fixed::full) return;
      visit(Fixed());
      done = true;
    }
  };
  const auto attempt_both = [&](auto fixed_radius) {
    attempt(fixed_radius, std::false_type());
    attempt(fixed_radius, std::true_type());
  };
  attempt_both(std::integral_constant<int, 1>());
  attempt_both(std::integral_constant<int, 2>());
  attempt_both(std::integral_constant<int, 3>());
  attempt_both(std::integral_constant<int, 4>());
  attempt(std::integral_constant<int, 5>(), std::false_type());
  attempt(std::integral_constant<int, 6>(), std::false_type());
  return done;
}

/// True if kernels on the device compute the weights of a vertex at once from scratch.
template <class T, int Dim, class Memory>
bool has_vertex_weights(int radius, Star star, WeightRule rule) {
  if constexpr (Dim == 2 && !is_host_memory<Memory>) {
    return rule == WeightRule::slowness && with_fixed_star<T>(radius, star, [](auto) {});
  } else {
    (void)radius, (void)star, (void)rule;
    return false;
  }
}

}  // namespace moho::rays::detail
