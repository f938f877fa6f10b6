// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Marks of tiles, and the visit of one tile by sweeps on a host.

#include <moho/eikonal/detail/layout.hpp>

#include <algorithm>
#include <cstring>

namespace moho::eikonal::detail {

/// The nodes of a tile that lie in the grid.
template <int Dim>
struct TileRange {
  std::int64_t begin[Dim], end[Dim];
  int source;
  KOKKOS_FORCEINLINE_FUNCTION TileRange(const TiledGrid<Dim>& grid, std::int64_t item) {
    source = static_cast<int>(item / grid.tile_count);
    std::int64_t at[Dim];
    grid.tile_at(item % grid.tile_count, at);
    for (int d = 0; d < Dim; ++d) {
      begin[d] = at[d] * grid.tile[d];
      const std::int64_t last = begin[d] + grid.tile[d];
      end[d] = last < grid.extents[d] ? last : grid.extents[d];
    }
  }
};

/// The bounding box of changed nodes.
template <int Dim>
struct ChangedBox {
  std::int64_t first[Dim], last[Dim];
  bool any = false;
  /// Bits as in Marks::faces: set if a node on the face became later and the one beyond may use it.
  int raised = 0;
  KOKKOS_FORCEINLINE_FUNCTION ChangedBox() {
    for (int d = 0; d < Dim; ++d) {
      first[d] = std::int64_t(1) << 60;
      last[d] = -1;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(int axis, std::int64_t low, std::int64_t high) {
    first[axis] = low < first[axis] ? low : first[axis];
    last[axis] = high > last[axis] ? high : last[axis];
  }
};

/// Returns true if the new and the old value differ by more than rounding.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool differs(T now, T before, T tolerance) {
  const T difference = now < before ? before - now : now - before;
  return !(difference <= tolerance * now);  // inf - inf is NaN
}

/// Returns a node's squared time if its change can reach the node beyond a tile's face. Otherwise
/// it returns infinity.
///
/// At first order a change reaches neighbours that are later than the new or the old time
/// (`raised`). At second order it reaches neighbours whose selection points to the node.
template <int Order, bool Anelliptic, class T, int Dim>
T outflow(const Problem<T, Dim>& problem, int source, const std::int64_t (&node)[Dim], int axis,
          int side, bool raised) {
  const std::int64_t index = problem.grid.at(node);
  const T* const u = problem.values(source, index);
  const auto base = problem.template factor<Anelliptic>(source, index, node);
  const T inner = relaxed_load(u);
  const T square = base.square(0, 0) * (inner * inner);
  const T* const beyond = u + side * problem.grid.stride[axis];
  if constexpr (Order == 2) {
    return problem.upwinds_at(beyond).side(axis) == -side ? square : infinity<T>();
  }
  const T outer = relaxed_load(beyond);
  return raised || square < base.square(axis, side) * (outer * outer) ? square : infinity<T>();
}

/// \brief Nodes of a tile that may not hold their solution, on a host.
///
/// These are the nodes that a change can reach along the axes. At first order they are the later
/// neighbours; at second order the nodes within two steps that have selected the changed node. No
/// other local equation contains the change.
template <int Order, int Dim>
struct OpenNodes {
  static constexpr int max = [] {
    int nodes = 1;
    for (int d = 0; d < Dim; ++d) nodes *= TileShape<Dim, true>::along(d);
    return nodes;
  }();
  unsigned char open[max] = {};  ///< flag of each node of the tile, the last axis fastest
  std::int64_t count = 0;        ///< number of open nodes
  int length[Dim], stride[Dim];

  explicit OpenNodes(const TileRange<Dim>& tile) {
    int n = 1;
    for (int d = Dim - 1; d >= 0; --d) {
      length[d] = static_cast<int>(tile.end[d] - tile.begin[d]);
      stride[d] = n;
      n *= length[d];
    }
  }
  void add(std::int64_t node) {
    count += open[node] == 0;
    open[node] = 1;
  }
  void remove(std::int64_t node) {
    open[node] = 0;
    --count;
  }
  void add_all() {
    count = static_cast<std::int64_t>(length[0]) * stride[0];
    std::fill(open, open + count, static_cast<unsigned char>(1));
  }
  /// Opens the nodes that a change beyond a face can reach.
  void add_face(int axis, bool upper) {
    const int depth = length[axis] < Order ? length[axis] : Order;
    const int outer = length[0] * stride[0] / (length[axis] * stride[axis]);
    for (int i = 0; i < outer; ++i) {
      for (int k = 0; k < depth; ++k) {
        const int at = i * length[axis] + (upper ? length[axis] - 1 - k : k);
        for (int j = 0; j < stride[axis]; ++j) add(at * stride[axis] + j);
      }
    }
  }
  /// Opens the nodes whose selection of neighbours has changed.
  template <class T>
  void add_fresh(const Problem<T, Dim>& problem, const TileRange<Dim>& tile) {
    const std::int64_t nodes = static_cast<std::int64_t>(length[0]) * stride[0];
    std::int64_t node[Dim];
    for (std::int64_t k = 0; k < nodes; ++k) {
      std::int64_t rest = k;
      for (int d = Dim - 1; d >= 0; --d) {
        node[d] = tile.begin[d] + rest % length[d];
        rest /= length[d];
      }
      const std::int64_t index = tile.source * problem.grid.size + problem.grid.at(node);
      if (Upwinds::is_fresh(problem.upwinds[index])) add(k);
    }
  }
  /// Returns true if a row has an open node.
  bool any(std::int64_t row) const {
    return std::memchr(open + row, 1, static_cast<std::size_t>(length[Dim - 1])) != nullptr;
  }
};

/// Opens the nodes of a tile that a node's change can reach.
/// \param index node in the tile, from 0 to length along each axis
/// \param center address of u at the node
/// \param base factor at the node
/// \param earliest smaller of the squared times before and after the change
template <class T, int Order, int Dim, class At>
void open_later(const Problem<T, Dim>& problem, OpenNodes<Order, Dim>& nodes,
                const int (&index)[Dim], const T* center, const At& base, T earliest) {
  const std::int64_t* const stride = problem.grid.stride;
  int at = 0;
  for (int d = 0; d < Dim; ++d) at += index[d] * nodes.stride[d];
  for (int d = 0; d < Dim; ++d) {
    for (int step = -Order; step <= Order; ++step) {
      const int neighbour = index[d] + step;
      if (step == 0 || neighbour < 0 || neighbour >= nodes.length[d]) continue;
      const T* const other = center + step * stride[d];
      bool reached;
      if constexpr (Order == 2) {
        const Upwinds upwinds = problem.upwinds_at(other);
        reached = upwinds.side(d) * step < 0 && (step == 1 || step == -1 || upwinds.two(d));
      } else {
        reached = base.square(d, step) * (*other * *other) > earliest;
      }
      if (reached) nodes.add(at + step * nodes.stride[d]);
    }
  }
}

/// One Gauss-Seidel sweep over a tile on a host: over all its nodes, or over the open ones. Bit d
/// of `direction`: decreasing index along d.
/// \param open nodes to solve, including those that the sweep opens; null: all nodes
/// \return number of solved nodes
template <int Order, bool Anelliptic, class T, int Dim>
std::int64_t sweep_tile(const Problem<T, Dim>& problem, const TileRange<Dim>& tile, int direction,
                        ChangedBox<Dim>& changed, OpenNodes<Order, Dim>* open) {
  constexpr int z = Dim - 1;
  const SourceBox<Dim>& box = problem.boxes[tile.source];
  const bool has_source = box.meets(tile.begin, tile.end);
  const std::int64_t* const stride = problem.grid.stride;
  std::int64_t length[Dim], nodes = 1;
  for (int d = 0; d < Dim; ++d) {
    length[d] = tile.end[d] - tile.begin[d];
    nodes *= length[d];
  }
  const std::int64_t rows = nodes / length[z];
  const bool down = (direction >> z) & 1;
  std::int64_t solved = 0;
  changed.any = false;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t node[Dim], rest = row, row_in_tile = 0;
    int index_in_tile[Dim];
    for (int d = z - 1; d >= 0; --d) {
      const std::int64_t i = rest % length[d];
      rest /= length[d];
      index_in_tile[d] = static_cast<int>((direction >> d) & 1 ? length[d] - 1 - i : i);
      node[d] = tile.begin[d] + index_in_tile[d];
      if (open) row_in_tile += index_in_tile[d] * open->stride[d];
    }
    if (open && !open->any(row_in_tile)) continue;
    std::int64_t first = std::int64_t(1) << 60, last = -1;
    node[z] = 0;
    const std::int64_t dense = problem.dense(node);
    const std::int64_t index = problem.grid.at(node);
    T* const u = problem.values(tile.source, index);
    for (std::int64_t i = 0; i < length[z]; ++i) {
      index_in_tile[z] = static_cast<int>(down ? length[z] - 1 - i : i);
      node[z] = tile.begin[z] + index_in_tile[z];
      if (open) {
        const std::int64_t here = row_in_tile + index_in_tile[z];
        if (open->open[here] == 0) continue;
        open->remove(here);
      }
      if (has_source && box.contains(node)) continue;
      T* const center = u + node[z];
      const auto base = problem.template factor<Anelliptic>(tile.source, index + node[z], node);
      ++solved;
      const T now = host_solution<Order, Anelliptic>(problem, center, base, dense + node[z]);
      if (now == infinity<T>()) continue;
      const T before = *center;
      if (now == before) continue;
      relaxed_store(center, now);
      if (open && differs(now, before, T(0.25) * problem.tolerance)) {
        const T earlier = now < before ? now : before;
        open_later<T>(problem, *open, index_in_tile, center, base,
                      base.square(0, 0) * (earlier * earlier));
      }
      if (!differs(now, before, problem.tolerance)) continue;
      if (Order == 1 && now > before) {  // later nodes beyond a face may depend on the old value
        const T earlier = base.square(0, 0) * (before * before);
        for (int d = 0; d < Dim; ++d) {
          for (int side = -1; side <= 1; side += 2) {
            if (index_in_tile[d] != (side < 0 ? 0 : length[d] - 1)) continue;
            const T outer = relaxed_load(center + side * stride[d]);
            if (outer < infinity<T>() && base.square(d, side) * (outer * outer) > earlier) {
              changed.raised |= 1 << (2 * d + (side < 0 ? 0 : 1));
            }
          }
        }
      }
      first = node[z] < first ? node[z] : first;
      last = node[z] > last ? node[z] : last;
    }
    if (last < 0) continue;
    changed.any = true;
    for (int d = 0; d < z; ++d) changed.add(d, node[d], node[d]);
    changed.add(z, first, last);
  }
  return solved;
}

/// Calls tell(axis, side, square) for every face of a tile that a change leaves, on a host.
template <int Order, bool Anelliptic, class T, int Dim, class Tell>
void tell_neighbours(const Problem<T, Dim>& problem, const TileRange<Dim>& tile,
                     const ChangedBox<Dim>& changed, const Tell& tell) {
  if (changed.first[0] > changed.last[0]) return;
  for (int d = 0; d < Dim; ++d) {
    for (int side = -1; side <= 1; side += 2) {
      const bool lower = side < 0;
      if (lower ? tile.begin[d] == 0 : tile.end[d] == problem.grid.extents[d]) continue;
      if (lower ? changed.first[d] >= tile.begin[d] + Order : changed.last[d] < tile.end[d] - Order)
        continue;
      const bool raised = (changed.raised >> (2 * d + (lower ? 0 : 1))) & 1;
      // nodes of the face whose lines along d contain a change
      std::int64_t length[Dim], count = 1;
      for (int e = 0; e < Dim; ++e) {
        length[e] = e == d ? 1 : changed.last[e] - changed.first[e] + 1;
        count *= length[e];
      }
      T min = infinity<T>();
      for (std::int64_t k = 0; k < count; ++k) {
        std::int64_t node[Dim], rest = k;
        for (int e = Dim - 1; e >= 0; --e) {
          node[e] = changed.first[e] + rest % length[e];
          rest /= length[e];
        }
        node[d] = lower ? tile.begin[d] : tile.end[d] - 1;
        const T square = outflow<Order, Anelliptic>(problem, tile.source, node, d, side, raised);
        min = square < min ? square : min;
      }
      if (min < infinity<T>()) tell(d, side, min);
    }
  }
}

/// Marks and counters of tiles: addresses into MarkStorage.
template <class T>
struct Marks {
  T* priority;  ///< (tile) square of the earliest incoming time; infinite without a change
  int* seen;    ///< (tile) the tile was visited
  /// (tile, host) bit 2 d: change through the lower face along d, 2 d + 1: the upper. Null on
  /// devices.
  int* faces;
  int* list;             ///< tiles to visit
  std::int64_t* counts;  ///< see Count
  T* earliest;           ///< the smallest priority
  std::int64_t items;    ///< number of tiles
};

/// Indices into Marks::counts.
enum Count { listed, seen_tiles, visits, updates, count_indices };

/// Returns the tile beyond a face.
template <int Dim>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t beyond(const TiledGrid<Dim>& grid, std::int64_t item,
                                                int axis, int side) {
  std::int64_t stride = 1;
  for (int d = axis + 1; d < Dim; ++d) stride *= grid.tiles[d];
  return item + side * stride;
}

/// Clears the mark of a tile in a sweep; false if the tile has no mark.
template <class T>
bool claim(const Marks<T>& marks, std::int64_t item) {
  if (!(relaxed_load(marks.priority + item) < infinity<T>())) return false;
  relaxed_store(marks.priority + item, infinity<T>());
  return true;
}

/// Bit of Marks::faces: solve all nodes of the tile.
inline constexpr int all_faces = 1 << 6;
/// Bit of Marks::faces: solve the nodes whose selection of neighbours has changed.
inline constexpr int fresh_nodes = 1 << 7;

/// Marks a tile: a change arrived through some of its faces.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void mark(const Marks<T>& marks, std::int64_t item, T square,
                                      int faces) {
  if (marks.faces) Kokkos::atomic_fetch_or(marks.faces + item, faces);
  atomic_minimum(marks.priority + item, square);
}

/// Counts a visit.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void count_visit(const Marks<T>& marks, std::int64_t item,
                                             std::int64_t nodes) {
  if (marks.seen[item] == 0) {
    marks.seen[item] = 1;
    Kokkos::atomic_add(marks.counts + seen_tiles, std::int64_t(1));
  }
  Kokkos::atomic_add(marks.counts + visits, std::int64_t(1));
  Kokkos::atomic_add(marks.counts + updates, nodes);
}

/// The visit of a tile on a host: sweeps over the open nodes, or one sweep over all nodes. Sweeps
/// over open nodes continue while any is left, the first away from the source. The single sweep
/// has a given direction.
template <int Order, bool Anelliptic, class T, int Dim>
struct HostVisit {
  Problem<T, Dim> problem;
  Marks<T> marks;
  const int* list;
  int direction;  ///< direction of the single sweep; negative: sweep until the tile is settled

  void operator()(const std::int64_t i) const {
    const std::int64_t item = list[i];
    if (direction >= 0 && !claim(marks, item)) return;
    const TileRange<Dim> tile(problem.grid, item);
    ChangedBox<Dim> changed;
    std::int64_t nodes = 0;
    bool settled = false;
    if (direction >= 0) {
      nodes = sweep_tile<Order, Anelliptic>(problem, tile, direction, changed,
                                            static_cast<OpenNodes<Order, Dim>*>(nullptr));
      settled = !changed.any;
    } else {
      OpenNodes<Order, Dim> open(tile);
      const int faces = Kokkos::atomic_exchange(marks.faces + item, 0);
      if (faces & all_faces) {
        open.add_all();
      } else {
        if (Order == 2 && (faces & fresh_nodes)) open.add_fresh(problem, tile);
        for (int d = 0; d < Dim; ++d) {
          if ((faces >> (2 * d)) & 1) open.add_face(d, false);
          if ((faces >> (2 * d + 1)) & 1) open.add_face(d, true);
        }
      }
      settled = open.count == 0;
      constexpr int max = 64 << Dim;
      const SourceBox<Dim>& box = problem.boxes[tile.source];
      int away = 0;
      for (int d = 0; d < Dim; ++d) {
        if (box.first[d] > (tile.begin[d] + tile.end[d]) / 2) away |= 1 << d;
      }
      for (int k = 0; k < max && !settled; ++k) {
        nodes += sweep_tile<Order, Anelliptic>(problem, tile, away ^ (k & ((1 << Dim) - 1)),
                                               changed, &open);
        settled = open.count == 0;
      }
    }
    tell_neighbours<Order, Anelliptic>(problem, tile, changed, [&](int axis, int side, T square) {
      mark(marks, beyond(problem.grid, item, axis, side), square,
           1 << (2 * axis + (side < 0 ? 1 : 0)));
    });
    if (!settled) mark(marks, item, T(0), all_faces);
    count_visit(marks, item, nodes);
  }
};

}  // namespace moho::eikonal::detail
