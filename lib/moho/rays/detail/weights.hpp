// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The kernels that fill the model's slowness and the table of edge weights.

#include <moho/core/launch.hpp>
#include <moho/core/simd.hpp>
#include <moho/rays/detail/graph_data.hpp>
#include <moho/rays/detail/thread_buffer.hpp>
#include <moho/rays/star.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace moho::rays::detail {

/// Stencil of one edge on the host: node offsets and coefficients. A coefficient is length times
/// quadrature weight.
template <int Dim>
struct EdgeStencil {
  std::vector<std::array<int, Dim>> nodes;
  std::vector<double> coefficients;
};

/// Returns the exact integral of the (bi/tri)linear slowness along an edge as weights of nodes.
template <int Dim>
EdgeStencil<Dim> edge_stencil(const std::array<int, Dim>& offset, double length) {
  // in a box with a margin around the edge, so that no cell lies beyond a border
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

/// Computes a row of one edge's weights from a row of slownesses. destination[i] = sum over terms
/// of coefficient * source[term.index + i], 0 <= i < count. `count` is a multiple of
/// simd::lanes<T>.
template <int count, class T>
inline void stencil_row(T* destination, const T* source, const StencilTerm<T>* terms,
                        int term_count) {
  constexpr int lanes = simd::lanes<T>;
  simd::Vector<T> sum[count / lanes] = {};
  for (int k = 0; k < term_count; ++k) {
    const T* const from = source + terms[k].index;
    const simd::Vector<T> coefficient = simd::broadcast(terms[k].coefficient);
    for (int v = 0; v < count / lanes; ++v) sum[v] += coefficient * simd::load(from + v * lanes);
  }
  for (int v = 0; v < count / lanes; ++v) simd::store(destination + v * lanes, sum[v]);
}

/// Predicate: a velocity is not a positive finite number, or its reciprocal is not.
template <class T>
struct BadVelocity {
  const T* velocity;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    const T v = velocity[i];
    return !(v > T(0)) || !(T(1) / v < infinity<T>()) || !(v < infinity<T>());
  }
};

/// Slowness or velocity at every vertex, infinite at dummies.
template <class T, int Dim>
struct FillMedium {
  PaddedGrid<Dim> padded;
  Grid<Dim> grid;
  const T* velocity;  ///< of the rows that are stored
  T* medium;
  bool slowness;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t index) const {
    const Index<Dim> node = padded.node(index);
    if (!padded.in_model(node)) {
      medium[index] = infinity<T>();
      return;
    }
    const T v = velocity[grid.flat(node) - padded.stored_begin() * padded.plane()];
    medium[index] = slowness ? T(1) / v : v;
  }
};

/// Fills the table for rules other than slowness: integrates every edge.
template <class T, int Dim, class Memory>
struct IntegrateWeights {
  ComputedWeights<T, Dim, Memory> weights;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t index) const {
    for (int e = 0; e < weights.graph.half; ++e) {
      weights.graph.table(e, index) = weights.integrated(e, index);
    }
  }
};

/// Algorithm 1 of the paper, PrecalculateWeights: the weights of the half star of every vertex. The
/// slowness of a tile and its overlap is in scratch. Tiles include dummies, whose weights are
/// infinite because their slowness is.
template <class T, int Dim, class Memory>
struct WeightTiles {
  static constexpr int width = tile_extent<Memory, Dim>(Dim - 1);
  static constexpr int rows = tile_volume<Memory, Dim>() / width;

  GraphData<T, Dim, Memory> graph;
  Kokkos::View<StencilTerm<T>*, Memory> tile_terms;  ///< offsets within the tile
  TileBox<Dim> box;
  int tiles[Dim];  ///< tiles along each axis, with a ring of dummy tiles

  /// Returns the first node of a tile.
  KOKKOS_INLINE_FUNCTION Index<Dim> origin(std::int64_t tile) const {
    Index<Dim> result{};
    for (int d = Dim - 1; d >= 0; --d) {
      result[d] = (tile % tiles[d] - 1) * tile_extent<Memory, Dim>(d);
      tile /= tiles[d];
    }
    result[0] += graph.grid.first;
    return result;
  }

  /// Locates a row of the tile; false if no part of it is allocated. Sets the index of its first
  /// vertex in the padded grid and in the scratch tile. The allocated part of the row is begin <= i
  /// < end.
  KOKKOS_INLINE_FUNCTION bool find_row(const Index<Dim>& first_node, int row, std::int64_t& index,
                                       int& in_tile, int& begin, int& end) const {
    const auto& padded = graph.grid;
    const std::int64_t first = first_node[Dim - 1] + padded.low[Dim - 1];
    const std::int64_t beyond = padded.padded[Dim - 1] - first;
    begin = static_cast<int>(first < 0 ? -first : 0);
    end = static_cast<int>(beyond < width ? beyond : width);
    index = first;
    in_tile = graph.radius;
    bool allocated = begin < end;
    for (int d = Dim - 2; d >= 0; --d) {
      const int i = row % tile_extent<Memory, Dim>(d);
      row /= tile_extent<Memory, Dim>(d);
      in_tile += (i + graph.radius) * box.stride(d);
      const std::int64_t j = first_node[d] + i + padded.low[d];
      allocated = allocated && j >= 0 && j < padded.padded[d];
      index += j * padded.strides[d];
    }
    return allocated;
  }
};

/// Fills the table on a host: one thread per tile.
template <class T, int Dim>
struct PrecalculateWeightsOnHost {
  using Tiles = WeightTiles<T, Dim, Kokkos::HostSpace>;
  const Tiles* tiles;

  void operator()(const std::int64_t tile) const {
    const Index<Dim> origin = tiles->origin(tile);
    T* const slowness =
        static_cast<T*>(thread_buffer(sizeof(T) * static_cast<std::size_t>(tiles->box.size())));
    load(origin, slowness);
    const auto& graph = tiles->graph;
    const int* const first_term = graph.first_term.data();
    const StencilTerm<T>* const terms = tiles->tile_terms.data();
    for (int e = 0; e < graph.half; ++e) {
      T* const table = &graph.table(e, 0);
      const int count = first_term[e + 1] - first_term[e];
      for (int row = 0; row < Tiles::rows; ++row) {
        std::int64_t index = 0;
        int in_tile = 0, begin = 0, end = 0;
        if (!tiles->find_row(origin, row, index, in_tile, begin, end)) continue;
        if (begin == 0 && end == Tiles::width) {
          stencil_row<Tiles::width>(table + index, slowness + in_tile, terms + first_term[e],
                                    count);
        } else {
          T row_weights[Tiles::width];
          stencil_row<Tiles::width>(row_weights, slowness + in_tile, terms + first_term[e], count);
          for (int i = begin; i < end; ++i) table[index + i] = row_weights[i];
        }
      }
    }
  }

 private:
  /// Copies the slowness of the box around a tile to a buffer; infinite outside the allocated grid.
  void load(const Index<Dim>& origin, T* slowness) const {
    const auto& graph = tiles->graph;
    const auto& padded = graph.grid;
    const int length = tiles->box.extents[Dim - 1];
    const int rows = tiles->box.size() / length;
    const std::int64_t first = origin[Dim - 1] - graph.radius + padded.low[Dim - 1];
    const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, length);
    const std::int64_t end =
        std::clamp<std::int64_t>(padded.padded[Dim - 1] - first, begin, length);
    for (int row = 0; row < rows; ++row, slowness += length) {
      std::int64_t index = first;
      bool allocated = true;
      int rest = row;
      for (int d = Dim - 2; d >= 0; --d) {
        const std::int64_t i =
            origin[d] + rest % tiles->box.extents[d] - graph.radius + padded.low[d];
        rest /= tiles->box.extents[d];
        allocated = allocated && i >= 0 && i < padded.padded[d];
        index += i * padded.strides[d];
      }
      if (!allocated) {
        std::fill_n(slowness, length, infinity<T>());
        continue;
      }
      std::fill(slowness, slowness + begin, infinity<T>());
      std::copy(graph.medium.data() + index + begin, graph.medium.data() + index + end,
                slowness + begin);
      std::fill(slowness + end, slowness + length, infinity<T>());
    }
  }
};

/// Fills the table on a device: one team per tile; each thread computes four vertices of a column.
template <class T, int Dim, class Memory>
struct PrecalculateWeightsOnDevice {
  using Exec = DeviceOf<Memory>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  using Tiles = WeightTiles<T, Dim, Memory>;
  static constexpr int per_thread = 4;  ///< vertices per thread
  static constexpr int team_size = tile_volume<Memory, Dim>() / per_thread;

  Tiles tiles;

  std::size_t scratch_bytes() const {
    return ScratchView<T, Exec>::shmem_size(static_cast<std::size_t>(tiles.box.size()));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const auto& graph = tiles.graph;
    const ScratchView<T, Exec> scratch(member.team_scratch(0),
                                       static_cast<std::size_t>(tiles.box.size()));
    T* const slowness = scratch.data();
    const Index<Dim> origin = tiles.origin(member.league_rank());
    load_tile<Exec, Dim>(member, tiles.box, slowness, [&](const Kokkos::Array<int, Dim>& offset) {
      return slowness_at(origin, offset);
    });
    member.team_barrier();
    constexpr int row_step = Tiles::rows / per_thread;
    const int column = member.team_rank() % Tiles::width;
    const int row0 = member.team_rank() / Tiles::width;
    std::int64_t indices[per_thread];  // -1: not allocated
    int in_tile[per_thread];
    for (int v = 0; v < per_thread; ++v) {
      int begin = 0, end = 0;
      const bool found =
          tiles.find_row(origin, row0 + v * row_step, indices[v], in_tile[v], begin, end);
      indices[v] = found && column >= begin && column < end ? indices[v] + column : -1;
      in_tile[v] += column;
    }
    for (int e = 0; e < graph.half; ++e) {
      T sum[per_thread] = {};
      for (int k = graph.first_term(e); k < graph.first_term(e + 1); ++k) {
        const StencilTerm<T> term = tiles.tile_terms(k);
        for (int v = 0; v < per_thread; ++v) {
          sum[v] += term.coefficient * slowness[in_tile[v] + term.index];
        }
      }
      for (int v = 0; v < per_thread; ++v) {
        if (indices[v] >= 0) graph.table(e, indices[v]) = sum[v];
      }
    }
  }

 private:
  /// Returns the slowness at a position of the box around a tile.
  KOKKOS_INLINE_FUNCTION T slowness_at(const Index<Dim>& first,
                                       const Kokkos::Array<int, Dim>& offset) const {
    const auto& padded = tiles.graph.grid;
    std::int64_t index = 0;
    bool allocated = true;
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t i = first[d] + offset[d] - tiles.graph.radius + padded.low[d];
      allocated = allocated && i >= 0 && i < padded.padded[d];
      index += i * padded.strides[d];
    }
    return allocated ? tiles.graph.medium(index) : infinity<T>();
  }
};

}  // namespace moho::rays::detail
