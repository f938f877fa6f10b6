// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One round over the active tiles on a host: one thread per tile, rows as vector loops.
///
/// A thread copies the traveltimes of its tile and their overlap into scratch (L1). Without a table
/// it also computes the tile's edge weights from the slowness into scratch (L2). Rows then relax in
/// place, with increasing and decreasing index in turn. A row is skipped if nothing within its
/// reach has changed.

#include <moho/rays/detail/thread_buffer.hpp>
#include <moho/rays/detail/work_list.hpp>

#include <array>
#include <limits>
#include <vector>

namespace moho::rays::detail {

/// Layout of a tile, its weights and its traveltimes, for host kernels.
template <class T, int Dim, class Weights>
struct HostTile {
  using Memory = Kokkos::HostSpace;
  static constexpr int width = tile_extent<Memory, Dim>(Dim - 1);
  static constexpr int rows = tile_volume<Memory, Dim>() / width;
  static constexpr int weight_row = detail::weight_row<Dim>;

  /// Sets the members that depend on the star.
  HostTile(const Instance<Memory>& exec, const GridGraph<T, Dim, Memory>& graph,
           const Weights& weights);

  Weights weights;
  TileBox<Dim> box;
  Kokkos::View<StencilTerm<T>*, Memory> tile_terms;
  std::vector<int> tile_step;  ///< (2 half) offsets within the box

  // Locations of the weights of a row: base + row + direction[k] for direction k.
  std::vector<std::int64_t> direction;  ///< (2 half) offsets of directions
  std::int64_t strides[Dim] = {};       ///< distance between rows
  std::int64_t size = 0;                ///< elements of scratch; 0: weights come from a table
  std::vector<std::int64_t> edge;       ///< (half) start of each edge
  std::vector<std::array<int, Dim>> low, count;  ///< (half) first row of an edge, number of rows

  /// Scratch memory of one thread.
  struct Scratch {
    T* near;      ///< traveltimes of the tile and its overlap
    T* slowness;  ///< slowness of the tile and its overlap
    T* weights;
    int* changed;  ///< (rows of the box) stamp of the last change
    int* relaxed;  ///< (rows of the tile) stamp of the last relaxation
  };

  int box_rows() const { return box.size() / box.extents[Dim - 1]; }
  bool needs_slowness() const {
    return !Weights::stored && weights.graph.rule == WeightRule::slowness;
  }
  Scratch scratch() const {
    const std::size_t tile = buffer_bytes<T>(static_cast<std::size_t>(box.size()));
    const std::size_t slowness =
        needs_slowness() ? buffer_bytes<T>(static_cast<std::size_t>(box.size() + weight_row)) : 0;
    const std::size_t table = buffer_bytes<T>(static_cast<std::size_t>(size));
    const std::size_t stamps = buffer_bytes<int>(static_cast<std::size_t>(box_rows() + rows));
    unsigned char* const memory =
        static_cast<unsigned char*>(thread_buffer(tile + slowness + table + stamps));
    Scratch result;
    result.near = reinterpret_cast<T*>(memory);
    result.slowness = reinterpret_cast<T*>(memory + tile);
    result.weights = reinterpret_cast<T*>(memory + tile + slowness);
    result.changed = reinterpret_cast<int*>(memory + tile + slowness + table);
    result.relaxed = result.changed + box_rows();
    return result;
  }

  /// Sets a row's indices along all axes but the last; returns its first vertex in the box.
  int row_in_box(int row, int (&local)[Dim]) const {
    int in_box = weights.graph.radius;
    for (int d = Dim - 2; d >= 0; --d) {
      local[d] = row % tile_extent<Memory, Dim>(d);
      row /= tile_extent<Memory, Dim>(d);
      in_box += (local[d] + weights.graph.radius) * box.stride(d);
    }
    local[Dim - 1] = 0;
    return in_box;
  }

  /// Returns the index of the box's first vertex in the padded grid.
  std::int64_t box_index(const Index<Dim>& origin) const {
    const auto& padded = weights.graph.grid;
    std::int64_t index = 0;
    for (int d = 0; d < Dim; ++d) {
      index += (origin[d] - weights.graph.radius + padded.low[d]) * padded.strides[d];
    }
    return index;
  }

  /// Returns the base address of a tile's weights, to which row offsets and directions are added.
  /// They are read from the table or from the tile's block, or computed.
  const T* tile_weights(std::int64_t number, const Index<Dim>& origin, const Scratch& s,
                        int round) const {
    if constexpr (Weights::stored) {
      return &weights.graph.table(0, weights.graph.grid.at(origin));
    } else {
      if (const T* const known = weights.blocks.find(number, round)) return known;
      T* const block = weights.blocks.claim(number);
      if (block == nullptr) return compute_weights(origin, s, s.weights);
      compute_weights(origin, s, block);
      weights.blocks.publish(number, block, round);
      return block;
    }
  }

  /// Computes the weights of a tile and returns their address.
  const T* compute_weights(const Index<Dim>& origin, const Scratch& s, T* destination) const {
    const auto& graph = weights.graph;
    const bool by_stencil = needs_slowness();
    if (by_stencil) {
      load_box<false>(box, graph.grid.strides, graph.medium.data() + box_index(origin), s.slowness);
    }
    for (int e = 0; e < graph.half; ++e) {
      const auto first = low[static_cast<std::size_t>(e)];
      const auto extent = count[static_cast<std::size_t>(e)];
      T* const out = destination + edge[static_cast<std::size_t>(e)];
      const int n = extent[Dim - 1];
      int edge_rows = 1;
      for (int d = 0; d < Dim - 1; ++d) edge_rows *= extent[d];
      for (int row = 0; row < edge_rows; ++row) {
        int rest = row;
        int in_box = graph.radius + first[Dim - 1];
        std::int64_t to = 0;
        Index<Dim> node = origin;
        node[Dim - 1] += first[Dim - 1];
        for (int d = Dim - 2; d >= 0; --d) {
          const int i = rest % extent[d];
          rest /= extent[d];
          to += i * strides[d];
          in_box += (i + first[d] + graph.radius) * box.stride(d);
          node[d] += i + first[d];
        }
        if (by_stencil) {
          stencil_row<weight_row>(out + to, s.slowness + in_box, &tile_terms(graph.first_term(e)),
                                  graph.first_term(e + 1) - graph.first_term(e));
        } else {
          const std::int64_t index = graph.grid.at(node);
          for (int i = 0; i < n; ++i) out[to + i] = weights(e, index + i);
        }
      }
    }
    return destination;
  }

  /// Returns the distance from the tile's base address to a row's weights, without the direction.
  std::int64_t row_offset(const int (&local)[Dim]) const {
    std::int64_t offset = 0;
    for (int d = 0; d < Dim - 1; ++d) offset += local[d] * strides[d];
    return offset;
  }
};

template <class T, int Dim, class Weights>
HostTile<T, Dim, Weights>::HostTile(const Instance<Memory>& exec,
                                    const GridGraph<T, Dim, Memory>& graph, const Weights& which)
    : weights(which) {
  const auto& data = graph.data();
  for (int d = 0; d < Dim; ++d) {
    box.extents[d] = tile_extent<Memory, Dim>(d) + 2 * data.radius;
  }
  tile_terms = graph.tile_terms(exec, box);
  const std::size_t half = static_cast<std::size_t>(data.half);
  tile_step.resize(2 * half);
  direction.resize(2 * half);
  edge.resize(half);
  low.resize(half);
  count.resize(half);
  if (Weights::stored) {
    for (int d = 0; d < Dim; ++d) strides[d] = data.grid.strides[d];
  } else {
    // capacity for the widest edge along each axis; rows padded to complete cache lines
    std::int64_t stride = 1;
    for (int d = Dim - 1; d >= 0; --d) {
      strides[d] = stride;
      stride *= d == Dim - 1 ? weight_row : tile_extent<Memory, Dim>(d) + data.radius;
    }
  }
  for (std::size_t e = 0; e < half; ++e) {
    int step = 0;
    std::int64_t start = size, far = 0;
    edge[e] = size;
    for (int d = 0; d < Dim; ++d) {
      const int o = graph.star()[e][d];
      step += o * box.stride(d);
      low[e][d] = o > 0 ? -o : 0;
      count[e][d] = tile_extent<Memory, Dim>(d) + (o > 0 ? o : -o);
      start -= low[e][d] * strides[d];
      far += o * strides[d];
    }
    if (Weights::stored) {
      start = static_cast<std::int64_t>(e) * data.grid.size;
    } else {
      size += count[e][0] * strides[0];
    }
    tile_step[e] = step;
    tile_step[half + e] = -step;
    direction[e] = start;
    direction[half + e] = start - far;
  }
}

/// Relaxes one row of a tile in place from its neighbours' current times; true if it changed.
/// \param row first vertex of the row
/// \param weights weights of the row's first vertex, without the direction
/// \param step offset of the neighbour in each direction
/// \param direction offset of the weights of each direction, relative to `weights`
template <int width, class T>
inline bool relax_row(T* row, const T* weights, const int* step, const std::int64_t* direction,
                      int directions) {
  constexpr int lanes = simd::lanes<T>;
  constexpr int count = width / lanes;
  simd::Vector<T> best[count];
  for (int v = 0; v < count; ++v) best[v] = simd::load(row + v * lanes);
  for (int k = 0; k < directions; ++k) {
    const T* const t = row + step[k];
    const T* const w = weights + direction[k];
    for (int v = 0; v < count; ++v) {
      best[v] = simd::smaller(simd::load(t + v * lanes) + simd::load(w + v * lanes), best[v]);
    }
  }
  bool changed = false;
  for (int v = 0; v < count; ++v) {
    const auto earlier = best[v] < simd::load(row + v * lanes);
    for (int i = 0; i < lanes; ++i) changed |= earlier[i] != 0;
    simd::store(row + v * lanes, best[v]);
  }
  return changed;
}

/// Finds the direction of the best strictly earlier neighbour of every vertex of a row. Without an
/// earlier neighbour the direction is `unreached`.
template <int width, class T>
inline void best_directions(const T* row, const T* weights, const int* step,
                            const std::int64_t* direction, int directions, T* best) {
  constexpr int lanes = simd::lanes<T>;
  constexpr int count = width / lanes;
  simd::Vector<T> own[count], time[count], chosen[count];
  const simd::Vector<T> never = simd::broadcast(infinity<T>());
  for (int v = 0; v < count; ++v) {
    own[v] = simd::load(row + v * lanes);
    time[v] = never;
    chosen[v] = simd::broadcast(static_cast<T>(unreached));
  }
  for (int k = 0; k < directions; ++k) {
    const T* const t = row + step[k];
    const T* const w = weights + direction[k];
    for (int v = 0; v < count; ++v) {
      const simd::Vector<T> other = simd::load(t + v * lanes);
      const simd::Vector<T> sum = other + simd::load(w + v * lanes);
      const simd::Vector<T> candidate = other < own[v] ? sum : never;
      chosen[v] = candidate < time[v] ? simd::broadcast(static_cast<T>(k)) : chosen[v];
      time[v] = simd::smaller(candidate, time[v]);
    }
  }
  for (int v = 0; v < count; ++v) simd::store(best + v * lanes, chosen[v]);
}

/// Relaxes the tiles of one round.
template <class T, int Dim, class Weights>
struct RelaxTilesOnHost {
  using Memory = Kokkos::HostSpace;
  using Tile = HostTile<T, Dim, Weights>;
  static constexpr int width = Tile::width;
  static constexpr int rows = Tile::rows;

  Tile tile;
  WorkList<T, Dim, Memory> list;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> times;
  int sweeps;
  int round = 0;

  /// Relaxes the tile at index `number` of the round's list.
  void relax(const std::int64_t number) const {
    const int item = list.items(round & 1, number);
    if (number == 0) list.turn_over(round);
    unsigned news = 0u;
    if (list.take(round, item, news)) return;
    list.count_visit(item);
    const auto& graph = tile.weights.graph;
    const int source = static_cast<int>(item / list.tile_count);
    const Index<Dim> origin = graph.grid.template tile_origin<Memory>(item % list.tile_count);
    const auto scratch = tile.scratch();
    const T* const global = &times(source, 0) + tile.box_index(origin);
    load_box<true>(tile.box, graph.grid.strides, global, scratch.near);
    mark_news(news, scratch.changed, scratch.relaxed);
    const T* const weights = tile.tile_weights(item % list.tile_count, origin, scratch, round);

    int stamp = 1;
    int done = 0;
    bool unfinished = false;
    for (int sweep = 0;; ++sweep) {
      bool any = false;
      for (int k = 0; k < rows; ++k) {
        const int row = sweep & 1 ? rows - 1 - k : k;
        int local[Dim];
        const int in_box = tile.row_in_box(row, local);
        if (!stale(local, scratch.changed, scratch.relaxed[row])) continue;
        any = true;
        if (sweep == sweeps) break;
        ++stamp;
        scratch.relaxed[row] = stamp;
        ++done;
        if (relax_row<width>(scratch.near + in_box, weights + tile.row_offset(local),
                             tile.tile_step.data(), tile.direction.data(), 2 * graph.half)) {
          // the row itself is then stale, too
          scratch.changed[in_box / tile.box.extents[Dim - 1]] = stamp;
        }
      }
      if (!any) break;
      if (sweep == sweeps) {
        unfinished = true;
        break;
      }
    }
    Kokkos::atomic_fetch_add(&list.statistics(2), static_cast<unsigned>(done));

    T keys[side_count<Dim>];
    for (T& key : keys) key = infinity<T>();
    for (int row = 0; row < rows; ++row) {
      int local[Dim];
      const int in_box = tile.row_in_box(row, local);
      if (scratch.changed[in_box / tile.box.extents[Dim - 1]] < 2) continue;
      T* to = &times(source, graph.grid.at(origin)) + row_index(local);
      const T* from = scratch.near + in_box;
      for (int i = 0; i < width; ++i) {
        if (!(from[i] < to[i])) continue;
        relaxed_store(to + i, from[i]);
        local[Dim - 1] = i;
        if (unfinished) keys[side_self<Dim>] = std::min(keys[side_self<Dim>], from[i]);
        if (i >= graph.radius && i < width - graph.radius && !on_border(local)) continue;
        const unsigned sides = sides_near<Memory, Dim>(local, graph.radius);
        for (int side = 0; side < side_count<Dim>; ++side) {
          if ((sides >> side) & 1u) keys[side] = std::min(keys[side], from[i]);
        }
      }
    }
    for (int side = 0; side < side_count<Dim>; ++side) {
      if (keys[side] < infinity<T>()) list.tell(round, item, side, keys[side]);
    }
  }

 private:
  bool on_border(const int (&local)[Dim]) const {
    const int radius = tile.weights.graph.radius;
    for (int d = 0; d < Dim - 1; ++d) {
      if (local[d] < radius || local[d] >= tile_extent<Memory, Dim>(d) - radius) return true;
    }
    return false;
  }

  std::int64_t row_index(const int (&local)[Dim]) const {
    std::int64_t index = 0;
    for (int d = 0; d < Dim - 1; ++d) index += local[d] * tile.weights.graph.grid.strides[d];
    return index;
  }

  /// Stamps rows of the box with 1 if a neighbouring tile has changed, otherwise with 0. If the
  /// tile is unfinished, or an adjacent tile along the rows has changed, all its rows count as
  /// changed.
  void mark_news(unsigned news, int* changed, int* relaxed) const {
    const int radius = tile.weights.graph.radius;
    for (int i = 0; i < rows; ++i) relaxed[i] = 1;
    const int box_rows = tile.box_rows();
    for (int i = 0; i < box_rows; ++i) {
      // side of the tile that the row belongs to, along all axes but the last
      int side = 0;
      int rest = i;
      int power = 3;
      for (int d = Dim - 2; d >= 0; --d) {
        const int j = rest % tile.box.extents[d] - radius;
        rest /= tile.box.extents[d];
        side += power * (j < 0 ? 0 : j >= tile_extent<Memory, Dim>(d) ? 2 : 1);
        power *= 3;
      }
      const bool fresh = ((news >> side) & 7u) != 0u || ((news >> side_self<Dim>)&1u);
      changed[i] = fresh ? 1 : 0;
    }
  }

  /// Returns true if a row within reach of the row at `local` has changed since the stamp.
  bool stale(const int (&local)[Dim], const int* changed, int relaxed) const {
    const int radius = tile.weights.graph.radius;
    if constexpr (Dim == 2) {
      int newest = 0;
      for (int i = local[0]; i <= local[0] + 2 * radius; ++i) {
        newest = changed[i] > newest ? changed[i] : newest;
      }
      return newest >= relaxed;
    } else {
      int newest = 0;
      for (int i = local[0]; i <= local[0] + 2 * radius; ++i) {
        for (int j = local[1]; j <= local[1] + 2 * radius; ++j) {
          const int c = changed[i * tile.box.extents[1] + j];
          newest = c > newest ? c : newest;
        }
      }
      return newest >= relaxed;
    }
  }
};

/// Loop body over the list of a round; holds a pointer to the functor to avoid a copy per tile.
template <class Kernel>
struct RelaxEach {
  const Kernel* kernel;
  void operator()(const std::int64_t number) const { kernel->relax(number); }
};

/// A round after all others.
inline constexpr int after_rounds = std::numeric_limits<int>::max();

/// Predecessors of every vertex, tile by tile: directions of the best strictly earlier neighbours.
/// Times decrease strictly along a chain of predecessors, so every chain ends.
template <class T, int Dim, class Weights>
struct FindPredecessorsOnHost {
  using Tile = HostTile<T, Dim, Weights>;
  static constexpr int width = Tile::width;

  const Tile* shared;
  const T* times;  ///< sources x padded grid
  int sources;
  std::int16_t* predecessors;  ///< sources x nodes of the graph

  void operator()(const std::int64_t number) const {
    const Tile& tile = *shared;
    const auto& graph = tile.weights.graph;
    const Index<Dim> origin = graph.grid.template tile_origin<Kokkos::HostSpace>(number);
    const auto scratch = tile.scratch();
    const T* const weights = tile.tile_weights(number, origin, scratch, after_rounds);
    const std::int64_t nodes = graph.grid.template nodes<Kokkos::HostSpace>();
    for (int source = 0; source < sources; ++source) {
      load_box<false>(tile.box, graph.grid.strides,
                      times + source * graph.grid.size + tile.box_index(origin), scratch.near);
      for (int row = 0; row < Tile::rows; ++row) {
        int local[Dim];
        const int in_box = tile.row_in_box(row, local);
        std::int64_t to = 0;
        bool inside = true;
        for (int d = 0; d < Dim; ++d) {
          const std::int64_t node = origin[d] + local[d];
          to = to * graph.grid.extents[d] + node;
          inside = inside && node < graph.grid.extents[d];
        }
        if (!inside) continue;
        to += source * nodes - graph.grid.first * graph.grid.plane();
        T best[width];  // directions, exact in floating point
        best_directions<width>(scratch.near + in_box, weights + tile.row_offset(local),
                               tile.tile_step.data(), tile.direction.data(), 2 * graph.half, best);
        const std::int64_t left = graph.grid.extents[Dim - 1] - origin[Dim - 1];
        const int n = left < width ? static_cast<int>(left) : width;
        for (int i = 0; i < n; ++i) predecessors[to + i] = static_cast<std::int16_t>(best[i]);
      }
    }
  }
};

}  // namespace moho::rays::detail
