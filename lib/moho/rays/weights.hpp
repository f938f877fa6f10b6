// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Edge weights: as a table, or computed wherever they are needed.
///
/// For the rule WeightRule::slowness the weight of an edge is a fixed linear combination of the
/// slownesses at the nodes around it, because the interpolant is linear in them: the coefficients
/// (an "edge stencil") depend on the offset alone and are made once, on the host, in double
/// precision. A weight is then a short dot product. The other rules integrate each edge.

#include <moho/core/simd.hpp>
#include <moho/rays/layout.hpp>
#include <moho/rays/segment.hpp>

#include <map>
#include <vector>

namespace moho::rays::detail {

/// One term of an edge stencil, with the node's place relative to the edge's first vertex.
template <class T>
struct StencilTerm {
  int place;
  T coefficient;
};

/// The stencil of one edge on the host: node offsets and coefficients (length times quadrature
/// weight).
template <int Dim>
struct EdgeStencil {
  std::vector<std::array<int, Dim>> nodes;
  std::vector<double> coefficients;
};

/// The exact integral of the (bi/tri)linear slowness along an edge, as a linear form in the nodes.
template <int Dim>
EdgeStencil<Dim> edge_stencil(const std::array<int, Dim>& offset, double length) {
  // Work in a box that the edge does not touch the border of, so that no cell is moved.
  Kokkos::Array<double, Dim> p, q;
  Index<Dim> extents;
  constexpr int margin = 16;
  for (int d = 0; d < Dim; ++d) {
    p[d] = margin;
    q[d] = margin + offset[d];
    extents[d] = 2 * margin + 1;
  }
  std::map<std::array<int, Dim>, double> sum;
  for_each_piece<Dim>(p, q, extents, [&](double t0, double t1, const Index<Dim>& cell) {
    const double at[3] = {t0, 0.5 * (t0 + t1), t1};
    const double simpson[3] = {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0};
    for (int k = 0; k < 3; ++k) {
      for (int corner = 0; corner < (1 << Dim); ++corner) {
        double weight = simpson[k] * (t1 - t0);
        std::array<int, Dim> node;
        for (int d = 0; d < Dim; ++d) {
          const double fraction = p[d] + at[k] * (q[d] - p[d]) - static_cast<double>(cell[d]);
          const int upper = (corner >> d) & 1;
          weight *= upper ? fraction : 1.0 - fraction;
          node[d] = static_cast<int>(cell[d]) + upper - margin;
        }
        sum[node] += weight;
      }
    }
  });
  EdgeStencil<Dim> stencil;
  for (const auto& [node, weight] : sum) {
    if (std::abs(weight) < 1e-13) continue;
    stencil.nodes.push_back(node);
    stencil.coefficients.push_back(weight * length);
  }
  return stencil;
}

/// All that kernels need to know of the graph; copied into functors.
template <class T, int Dim, class Exec>
struct GraphData {
  using memory = typename Exec::memory_space;

  PaddedGrid<Dim> grid;
  int half = 0;    ///< edges of the half star
  int radius = 0;  ///< of the neighbourhood
  WeightRule rule = WeightRule::slowness;

  Kokkos::View<T*, memory> medium;  ///< slowness or velocity by rule, dummies infinite
  Kokkos::View<T**, Kokkos::LayoutRight, memory> table;  ///< (edge, place), empty if on the fly
  Kokkos::View<std::int64_t*, memory> offset;  ///< place of the edge's far end relative to the near
  Kokkos::View<int**, Kokkos::LayoutRight, memory> step;  ///< the same by axis
  Kokkos::View<double*, memory> length;                   ///< of the edge
  Kokkos::View<int*, memory> first_term;                  ///< half + 1 offsets into terms
  Kokkos::View<StencilTerm<T>*, memory> terms;            ///< edge stencils, rule slowness

  /// Relative place of the neighbour in direction k.
  KOKKOS_INLINE_FUNCTION std::int64_t direction(int k) const {
    return k < half ? offset(k) : -offset(k - half);
  }
};

/// Weights read from the table. operator()(e, p) is the weight of half-star edge e that starts at
/// p.
template <class T, int Dim, class Exec>
struct StoredWeights {
  static constexpr bool stored = true;
  GraphData<T, Dim, Exec> graph;
  KOKKOS_INLINE_FUNCTION T operator()(int e, std::int64_t p) const { return graph.table(e, p); }
};

/// Weights computed when asked for.
template <class T, int Dim, class Exec>
struct ComputedWeights {
  static constexpr bool stored = false;
  GraphData<T, Dim, Exec> graph;

  KOKKOS_INLINE_FUNCTION T operator()(int e, std::int64_t p) const {
    return graph.rule == WeightRule::slowness ? by_stencil(e, p) : integrated(e, p);
  }

  /// The weight as a dot product with the slownesses around the edge, rule slowness.
  KOKKOS_FUNCTION MOHO_NOINLINE T by_stencil(int e, std::int64_t p) const {
    T sum = T(0);
    for (int k = graph.first_term(e); k < graph.first_term(e + 1); ++k) {
      const StencilTerm<T> term = graph.terms(k);
      sum += term.coefficient * graph.medium(p + term.place);
    }
    return sum;
  }

  /// The weight by quadrature along the edge, any rule; infinite if an end is a dummy.
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

/// destination[i] = sum over terms of coefficient * source[term.place + i], 0 <= i < count: a row
/// of weights of one edge. `count` is a multiple of simd::lanes<T>.
template <int count, class T>
inline void stencil_row(T* destination, const T* source, const StencilTerm<T>* terms,
                        int term_count) {
  constexpr int lanes = simd::lanes<T>;
  simd::Vector<T> sum[count / lanes] = {};
  for (int k = 0; k < term_count; ++k) {
    const T* const from = source + terms[k].place;
    const simd::Vector<T> coefficient = simd::broadcast(terms[k].coefficient);
    for (int v = 0; v < count / lanes; ++v) sum[v] += coefficient * simd::load(from + v * lanes);
  }
  for (int v = 0; v < count / lanes; ++v) simd::store(destination + v * lanes, sum[v]);
}

/// Algorithm 1 of the paper, PrecalculateWeights: a team takes a tile, loads the slowness with its
/// overlap into scratch, and writes the weights of the half star of every vertex. Tiles reach over
/// the border into the dummies, whose weights come out infinite because their slowness is.
template <class T, int Dim, class Exec>
struct PrecalculateWeights {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  static constexpr int per_thread = 4;  ///< vertices a thread has in flight, device

  GraphData<T, Dim, Exec> graph;
  Kokkos::View<StencilTerm<T>*, typename Exec::memory_space>
      tile_terms;  ///< places within the tile
  TileBox<Dim> box;
  int league_extents[Dim];

  static int team_size() { return is_host_space<Exec> ? 1 : tile_volume<Exec, Dim>() / per_thread; }
  std::size_t scratch_bytes() const {
    return ScratchView<T, Exec>::shmem_size(static_cast<std::size_t>(box.size()));
  }

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const ScratchView<T, Exec> slowness(member.team_scratch(is_host_space<Exec> ? 1 : 0),
                                        static_cast<std::size_t>(box.size()));
    Index<Dim> origin{};
    std::int64_t rest = member.league_rank();
    for (int d = Dim - 1; d >= 0; --d) {
      origin[d] = (rest % league_extents[d] - 1) * tile_extent<Exec, Dim>(d);
      rest /= league_extents[d];
    }
    const auto& padded = graph.grid;
    load_tile<Exec, Dim>(member, box, slowness.data(), [&](const Kokkos::Array<int, Dim>& offset) {
      std::int64_t place = 0;
      bool allocated = true;
      for (int d = 0; d < Dim; ++d) {
        const std::int64_t i = origin[d] + offset[d] - graph.radius + padded.low[d];
        allocated = allocated && i >= 0 && i < padded.padded[d];
        place += i * padded.strides[d];
      }
      return allocated ? graph.medium(place) : infinity<T>();
    });
    member.team_barrier();
    if constexpr (is_host_space<Exec>) {
      on_host(origin, slowness.data());
    } else {
      on_device(member, origin, slowness.data());
    }
  }

  /// Where a row of the tile lies: the place of its first vertex, the index of that vertex in the
  /// scratch tile, and the part begin <= i < end of the row that is allocated. False if none of it
  /// is.
  KOKKOS_INLINE_FUNCTION bool find_row(const Index<Dim>& origin, int row, std::int64_t& place,
                                       int& in_tile, int& begin, int& end) const {
    const auto& padded = graph.grid;
    const std::int64_t first = origin[Dim - 1] + padded.low[Dim - 1];
    const std::int64_t beyond = padded.padded[Dim - 1] - first;
    constexpr int width = tile_extent<Exec, Dim>(Dim - 1);
    begin = static_cast<int>(first < 0 ? -first : 0);
    end = static_cast<int>(beyond < width ? beyond : width);
    place = first;
    in_tile = graph.radius;
    bool allocated = begin < end;
    for (int d = Dim - 2; d >= 0; --d) {
      const int i = row % tile_extent<Exec, Dim>(d);
      row /= tile_extent<Exec, Dim>(d);
      in_tile += (i + graph.radius) * box.stride(d);
      const std::int64_t j = origin[d] + i + padded.low[d];
      allocated = allocated && j >= 0 && j < padded.padded[d];
      place += j * padded.strides[d];
    }
    return allocated;
  }

  void on_host(const Index<Dim>& origin, const T* slowness) const {
    const int rows = tile_volume<Exec, Dim>() / tile_extent<Exec, Dim>(Dim - 1);
    for (int e = 0; e < graph.half; ++e) {
      for (int row = 0; row < rows; ++row) {
        std::int64_t place = 0;
        int in_tile = 0, begin = 0, end = 0;
        if (!find_row(origin, row, place, in_tile, begin, end)) continue;
        constexpr int width = tile_extent<Exec, Dim>(Dim - 1);
        T row_weights[width];
        stencil_row<width>(row_weights, slowness + in_tile, &tile_terms(graph.first_term(e)),
                           graph.first_term(e + 1) - graph.first_term(e));
        for (int i = begin; i < end; ++i) graph.table(e, place + i) = row_weights[i];
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void on_device(const Member& member, const Index<Dim>& origin,
                                        const T* slowness) const {
    constexpr int width = tile_extent<Exec, Dim>(Dim - 1);
    constexpr int rows = tile_volume<Exec, Dim>() / width;
    constexpr int row_step = rows / per_thread;
    const int column = member.team_rank() % width;
    const int row0 = member.team_rank() / width;
    std::int64_t places[per_thread];  // -1: not allocated
    int in_tile[per_thread];
    for (int v = 0; v < per_thread; ++v) {
      int begin = 0, end = 0;
      const bool found = find_row(origin, row0 + v * row_step, places[v], in_tile[v], begin, end);
      places[v] = found && column >= begin && column < end ? places[v] + column : -1;
      in_tile[v] += column;
    }
    for (int e = 0; e < graph.half; ++e) {
      T sum[per_thread] = {};
      for (int k = graph.first_term(e); k < graph.first_term(e + 1); ++k) {
        const StencilTerm<T> term = tile_terms(k);
        for (int v = 0; v < per_thread; ++v) {
          sum[v] += term.coefficient * slowness[in_tile[v] + term.place];
        }
      }
      for (int v = 0; v < per_thread; ++v) {
        if (places[v] >= 0) graph.table(e, places[v]) = sum[v];
      }
    }
  }
};

}  // namespace moho::rays::detail
