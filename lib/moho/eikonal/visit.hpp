// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What is done to one tile: sweeps on a host, scratch and a team on a device.

#include <moho/core/tile.hpp>
#include <moho/eikonal/layout.hpp>

#include <algorithm>
#include <cstring>

namespace moho::eikonal::detail {

/// Nodes of a tile that lie in the grid.
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

/// The box of nodes that changed.
template <int Dim>
struct ChangedBox {
  std::int64_t first[Dim], last[Dim];
  bool any = false;
  int raised = 0;  ///< as Marks::faces: a node on the face has become later, one beyond was later
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

/// True if new and old value differ by more than rounding.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool differs(T now, T before, T tolerance) {
  const T difference = now < before ? before - now : now - before;
  return !(difference <= tolerance * now);  // infinite less infinite is no number
}

/// The square of a time on a face of a tile if it is earlier than its neighbour beyond the face,
/// or was (`raised`); infinite if not. Later neighbours are the only ones that a change can reach.
template <bool Anelliptic, class T, int Dim>
T outflow(const Problem<T, Dim>& problem, int source, const std::int64_t (&node)[Dim], int axis,
          int side, bool raised) {
  const std::int64_t place = problem.grid.at(node);
  const T* const u = problem.values(source, place);
  const auto base = problem.template factor<Anelliptic>(source, place, node);
  const T inner = relaxed_load(u), outer = relaxed_load(u + side * problem.grid.stride[axis]);
  const T square = base.square(0, 0) * (inner * inner);
  return raised || square < base.square(axis, side) * (outer * outer) ? square : infinity<T>();
}

/// All faces of a tile, in Marks::faces: solve all of its nodes.
inline constexpr int all_faces = 1 << 6;

/// \brief Which nodes of a tile may not hold their solution, on a host.
///
/// What is solved again is what a change can reach: the later nodes within `Order` of it along the
/// axes (no other has it in its local equation).
template <int Order, int Dim>
struct OpenNodes {
  static constexpr int most = [] {
    int nodes = 1;
    for (int d = 0; d < Dim; ++d) nodes *= TileShape<Dim, true>::along(d);
    return nodes;
  }();
  unsigned char open[most] = {};  ///< by node of the tile, the last axis the quickest
  std::int64_t count = 0;         ///< of them
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
  /// What a change beyond a face reaches.
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
  /// What changes beyond the faces of Marks::faces reach.
  void add_faces(int faces) {
    if (faces == 0 || (faces & all_faces) != 0) return add_all();
    for (int d = 0; d < Dim; ++d) {
      if ((faces >> (2 * d)) & 1) add_face(d, false);
      if ((faces >> (2 * d + 1)) & 1) add_face(d, true);
    }
  }
  /// True if a row has any.
  bool any(std::int64_t row) const {
    return std::memchr(open + row, 1, static_cast<std::size_t>(length[Dim - 1])) != nullptr;
  }
};

/// Opens the nodes of a tile that a change of a node reaches.
/// \param place of the node in the tile, from 0 to length along each axis
/// \param center u there
/// \param base the factor there
/// \param earliest square of the time there, the earlier of before and after
template <class T, int Order, int Dim, class At>
void open_later(OpenNodes<Order, Dim>& nodes, const int (&place)[Dim], const T* center,
                const std::int64_t* stride, const At& base, T earliest) {
  int at = 0;
  for (int d = 0; d < Dim; ++d) at += place[d] * nodes.stride[d];
  for (int d = 0; d < Dim; ++d) {
    for (int step = -Order; step <= Order; ++step) {
      const int there = place[d] + step;
      if (step == 0 || there < 0 || there >= nodes.length[d]) continue;
      const T other = center[step * stride[d]];
      if (base.square(d, step) * (other * other) > earliest) nodes.add(at + step * nodes.stride[d]);
    }
  }
}

/// One sweep of Gauss and Seidel over a tile, on a host: over all of its nodes, or the open ones.
/// Bit d of `direction`: downwards along d.
/// \param open nodes to solve, those opened by the sweep itself too; null: all
/// \return nodes solved
template <bool Anelliptic, class T, int Dim>
std::int64_t sweep_tile(const Problem<T, Dim>& problem, const TileRange<Dim>& tile, int direction,
                        ChangedBox<Dim>& changed, OpenNodes<1, Dim>* open) {
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
    int place_in_tile[Dim];
    for (int d = z - 1; d >= 0; --d) {
      const std::int64_t i = rest % length[d];
      rest /= length[d];
      place_in_tile[d] = static_cast<int>((direction >> d) & 1 ? length[d] - 1 - i : i);
      node[d] = tile.begin[d] + place_in_tile[d];
      if (open) row_in_tile += place_in_tile[d] * open->stride[d];
    }
    if (open && !open->any(row_in_tile)) continue;
    std::int64_t first = std::int64_t(1) << 60, last = -1;
    node[z] = 0;
    const std::int64_t dense = problem.dense(node);
    const std::int64_t place = problem.grid.at(node);
    T* const u = problem.values(tile.source, place);
    for (std::int64_t i = 0; i < length[z]; ++i) {
      place_in_tile[z] = static_cast<int>(down ? length[z] - 1 - i : i);
      node[z] = tile.begin[z] + place_in_tile[z];
      if (open) {
        const std::int64_t here = row_in_tile + place_in_tile[z];
        if (open->open[here] == 0) continue;
        open->remove(here);
      }
      if (has_source && box.contains(node)) continue;
      T* const center = u + node[z];
      const auto base = problem.template factor<Anelliptic>(tile.source, place + node[z], node);
      ++solved;
      const T now = host_solution<Anelliptic>(problem, center, base, dense + node[z]);
      if (now == infinity<T>()) continue;
      const T before = *center;
      if (now == before) continue;
      relaxed_store(center, now);
      if (open && differs(now, before, T(0.25) * problem.tolerance)) {
        const T earlier = now < before ? now : before;
        open_later<T>(*open, place_in_tile, center, stride, base,
                      base.square(0, 0) * (earlier * earlier));
      }
      if (!differs(now, before, problem.tolerance)) continue;
      if (now > before) {  // later nodes beyond a face may hold what they found with the old value
        const T earlier = base.square(0, 0) * (before * before);
        for (int d = 0; d < Dim; ++d) {
          for (int side = -1; side <= 1; side += 2) {
            if (place_in_tile[d] != (side < 0 ? 0 : length[d] - 1)) continue;
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

/// Calls tell(axis, side, square) for every face of a tile beyond which a change matters, on a
/// host.
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
      // the nodes of the face whose line was changed
      std::int64_t length[Dim], count = 1;
      for (int e = 0; e < Dim; ++e) {
        length[e] = e == d ? 1 : changed.last[e] - changed.first[e] + 1;
        count *= length[e];
      }
      T least = infinity<T>();
      for (std::int64_t k = 0; k < count; ++k) {
        std::int64_t node[Dim], rest = k;
        for (int e = Dim - 1; e >= 0; --e) {
          node[e] = changed.first[e] + rest % length[e];
          rest /= length[e];
        }
        node[d] = lower ? tile.begin[d] : tile.end[d] - 1;
        const T square = outflow<Anelliptic>(problem, tile.source, node, d, side, raised);
        least = square < least ? square : least;
      }
      if (least < infinity<T>()) tell(d, side, least);
    }
  }
}

/// u around a node in scratch.
template <class T, int Dim>
struct ScratchValuesAt {
  const T* center;
  int stride[Dim];
  KOKKOS_FORCEINLINE_FUNCTION T value(int axis, int step) const {
    return relaxed_load(center + step * stride[axis]);
  }
};

/// Where tiles are marked, and what is counted: addresses of what MarkStorage keeps.
template <class T>
struct Marks {
  T* priority;  ///< by tile: the square of the earliest time that came in; infinite: nothing
                ///< did
  int* seen;    ///< by tile: it was visited
  int* faces;   ///< by tile of a host: bit 2 d: something came in through the lower face
                ///< along d, 2 d + 1: the upper; null on devices
  int* list;    ///< tiles to visit
  std::int64_t* counts;  ///< see Count
  T* earliest;           ///< the smallest priority
  std::int64_t items;    ///< tiles
};

/// Places in Marks::counts.
enum Count { listed, seen_tiles, visits, updates, count_places };

/// The tile beyond a face.
template <int Dim>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t beyond(const TiledGrid<Dim>& grid, std::int64_t item,
                                                int axis, int side) {
  std::int64_t stride = 1;
  for (int d = axis + 1; d < Dim; ++d) stride *= grid.tiles[d];
  return item + side * stride;
}

/// Takes the mark off a tile of a sweep; false if there is none.
template <class T>
bool claim(const Marks<T>& marks, std::int64_t item) {
  if (!(relaxed_load(marks.priority + item) < infinity<T>())) return false;
  relaxed_store(marks.priority + item, infinity<T>());
  return true;
}

/// Marks a tile: something came in through some of its faces.
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

/// The visit of a tile on a host: sweeps over the nodes that what came in reaches until none is
/// left, the first away from the source; or a single sweep in a given direction over all nodes.
template <bool Anelliptic, class T, int Dim>
struct HostVisit {
  Problem<T, Dim> problem;
  Marks<T> marks;
  const int* list;
  int direction;  ///< of the single sweep; negative: sweep until the tile is settled

  void operator()(const std::int64_t i) const {
    const std::int64_t item = list[i];
    if (direction >= 0 && !claim(marks, item)) return;
    const TileRange<Dim> tile(problem.grid, item);
    ChangedBox<Dim> changed;
    std::int64_t nodes = 0;
    bool settled = false;
    if (direction >= 0) {
      nodes = sweep_tile<Anelliptic>(problem, tile, direction, changed,
                                     static_cast<OpenNodes<1, Dim>*>(nullptr));
      settled = !changed.any;
    } else {
      OpenNodes<1, Dim> open(tile);
      open.add_faces(Kokkos::atomic_exchange(marks.faces + item, 0));
      settled = open.count == 0;
      constexpr int most = 64 << Dim;
      const SourceBox<Dim>& box = problem.boxes[tile.source];
      int away = 0;
      for (int d = 0; d < Dim; ++d) {
        away |= (box.first[d] > (tile.begin[d] + tile.end[d]) / 2 ? 1 : 0) << d;
      }
      for (int k = 0; k < most && !settled; ++k) {
        nodes +=
            sweep_tile<Anelliptic>(problem, tile, away ^ (k & ((1 << Dim) - 1)), changed, &open);
        settled = open.count == 0;
      }
    }
    tell_neighbours<1, Anelliptic>(problem, tile, changed, [&](int axis, int side, T square) {
      mark(marks, beyond(problem.grid, item, axis, side), square,
           1 << (2 * axis + (side < 0 ? 1 : 0)));
    });
    if (!settled) mark(marks, item, T(0), all_faces);
    count_visit(marks, item, nodes);
  }
};

/// A tile of a device in scratch, with its halo.
template <int Dim>
struct TeamTile {
  KOKKOS_INLINE_FUNCTION static TileBox<Dim> box() {
    TileBox<Dim> result{};
    for (int d = 0; d < Dim; ++d) {
      result.extents[d] = TileShape<Dim, false>::along(d) + 2 * halo;
    }
    return result;
  }
  /// Nodes of a tile.
  KOKKOS_FORCEINLINE_FUNCTION static int nodes() {
    int result = 1;
    for (int d = 0; d < Dim; ++d) result *= TileShape<Dim, false>::along(d);
    return result;
  }
  /// The k-th node of a tile; its place in scratch.
  KOKKOS_FORCEINLINE_FUNCTION static int locate(const TileRange<Dim>& tile, int k,
                                                std::int64_t (&node)[Dim], int (&stride)[Dim]) {
    const TileBox<Dim> around = box();
    int place = 0;
    for (int d = Dim - 1; d >= 0; --d) {
      const int i = k % TileShape<Dim, false>::along(d);
      k /= TileShape<Dim, false>::along(d);
      stride[d] = around.stride(d);
      place += (i + halo) * stride[d];
      node[d] = tile.begin[d] + i;
    }
    return place;
  }
  /// True if a node is one of the grid.
  KOKKOS_FORCEINLINE_FUNCTION static bool inside(const TiledGrid<Dim>& grid,
                                                 const std::int64_t (&node)[Dim]) {
    bool result = true;
    for (int d = 0; d < Dim; ++d) result = result && node[d] < grid.extents[d];
    return result;
  }
  /// Copies the values of a source into scratch.
  template <class Exec, class Member, class T>
  KOKKOS_FORCEINLINE_FUNCTION static void load(const Member& member, const TiledGrid<Dim>& grid,
                                               const TileRange<Dim>& tile, const T* from,
                                               T* scratch) {
    load_tile<Exec, Dim>(member, box(), scratch, [&](const Kokkos::Array<int, Dim>& offset) {
      std::int64_t node[Dim];
      for (int d = 0; d < Dim; ++d) node[d] = tile.begin[d] + offset[d] - halo;
      return relaxed_load(from + grid.at(node));
    });
  }
};

/// Marks the tiles that a changed node reaches, which lie no more than `reach` nodes from it.
/// \param center values of first order in scratch
/// \param before what the node held, if that is earlier
template <bool Anelliptic, class T, int Dim>
KOKKOS_FORCEINLINE_FUNCTION void tell_beyond(const Problem<T, Dim>& problem, const Marks<T>& marks,
                                             std::int64_t item, const TileRange<Dim>& tile,
                                             int reach, const T* center, const int (&stride)[Dim],
                                             std::int64_t (&node)[Dim], T before) {
  for (int d = 0; d < Dim; ++d) {
    for (int side = -1; side <= 1; side += 2) {
      const std::int64_t depth = side < 0 ? node[d] - tile.begin[d] : tile.end[d] - 1 - node[d];
      if (depth >= reach) continue;
      if (side < 0 ? tile.begin[d] == 0 : tile.end[d] == problem.grid.extents[d]) continue;
      const std::int64_t own = node[d];
      node[d] = own + side * depth;  // on the face
      const auto base =
          problem.template factor<Anelliptic>(tile.source, problem.grid.at(node), node);
      const int to_face = side * static_cast<int>(depth);
      T inner = center[to_face * stride[d]];
      const T outer = center[(to_face + side) * stride[d]];
      if (depth == 0 && before < inner) inner = before;
      const T square = base.square(0, 0) * (inner * inner);
      if (square < base.square(d, side) * (outer * outer)) {
        atomic_minimum(marks.priority + beyond(problem.grid, item, d, side), square);
      }
      node[d] = own;
    }
  }
}

/// The visit of a tile by a team of a device: the tile and its halo come into scratch, the team
/// solves all nodes over and over until none changes or `most` times, and what changed goes back.
template <bool Anelliptic, class T, int Dim, class Exec>
struct TeamVisit {
  static constexpr int threads = 256;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, 1>>;
  using Member = typename Policy::member_type;
  using Tile = TeamTile<Dim>;

  Problem<T, Dim> problem;
  Marks<T> marks;
  const int* list;
  bool sweep;  ///< the list holds tiles without a mark, too: leave them out
  int most;

  static std::size_t scratch_bytes() {
    return ScratchView<T, Exec>::shmem_size(static_cast<std::size_t>(Tile::box().size()));
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t item = list[member.league_rank()];
    if (sweep && !(relaxed_load(marks.priority + item) < infinity<T>())) return;
    const TileRange<Dim> tile(problem.grid, item);
    const ScratchView<T, Exec> scratch(member.team_scratch(0),
                                       static_cast<std::size_t>(Tile::box().size()));
    T* const values = scratch.data();
    T* const u = problem.values(tile.source, 0);
    Tile::template load<Exec>(member, problem.grid, tile, static_cast<const T*>(u), values);
    member.team_barrier();
    if (sweep && member.team_rank() == 0) {
      relaxed_store(marks.priority + item, infinity<T>());
    }

    const int nodes = Tile::nodes();
    const SourceBox<Dim> given = problem.boxes[tile.source];
    int rounds = 0, changed = 1;
    while (changed != 0 && rounds < most) {
      changed = 0;
      for (int k = member.team_rank(); k < nodes; k += member.team_size()) {
        std::int64_t node[Dim];
        ScratchValuesAt<T, Dim> at;
        at.center = values + Tile::locate(tile, k, node, at.stride);
        if (!Tile::inside(problem.grid, node) || given.contains(node)) continue;
        const T now = first_order<Anelliptic, Dim, T>(
            at, problem.template factor<Anelliptic>(tile.source, problem.grid.at(node), node),
            problem.model.template at<Anelliptic>(problem.dense(node)), problem.inverse_spacing);
        const T before = at.value(0, 0);
        if (now == before || !(now < infinity<T>())) continue;
        relaxed_store(const_cast<T*>(at.center), now);
        if (differs(now, before, problem.tolerance)) changed = 1;
      }
      member.team_reduce(Kokkos::Max<int>(changed));
      member.team_barrier();
      ++rounds;
    }

    for (int k = member.team_rank(); k < nodes; k += member.team_size()) {
      std::int64_t node[Dim];
      ScratchValuesAt<T, Dim> at;
      at.center = values + Tile::locate(tile, k, node, at.stride);
      if (!Tile::inside(problem.grid, node)) continue;
      T* const out = u + problem.grid.at(node);
      const T before = relaxed_load(out), now = at.value(0, 0);
      if (now == before) continue;
      relaxed_store(out, now);
      if (differs(now, before, problem.tolerance)) {
        tell_beyond<Anelliptic>(problem, marks, item, tile, 1, at.center, at.stride, node, before);
      }
    }
    if (member.team_rank() == 0) {
      if (changed != 0) atomic_minimum(marks.priority + item, T(0));
      count_visit(marks, item, static_cast<std::int64_t>(nodes) * rounds);
    }
  }
};

/// Solves the nodes of a tile at second order that can be, on a host, and tells the tiles beyond
/// its faces. Every node is solved once, when those that it is made from have been.
template <bool Anelliptic, class T, int Dim>
struct HostSecond {
  Problem<T, Dim> problem;
  Marks<T> marks;
  const int* list;

  void operator()(const std::int64_t i) const {
    const std::int64_t item = list[i];
    const TileRange<Dim> tile(problem.grid, item);
    OpenNodes<2, Dim> open(tile);
    open.add_faces(Kokkos::atomic_exchange(marks.faces + item, 0));
    const SourceBox<Dim>& box = problem.boxes[tile.source];
    int away = 0;
    for (int d = 0; d < Dim; ++d) {
      away |= (box.first[d] > (tile.begin[d] + tile.end[d]) / 2 ? 1 : 0) << d;
    }
    ChangedBox<Dim> changed;
    std::int64_t solved = 0;
    for (int k = 0; open.count > 0; ++k) {
      solved += sweep(tile, away ^ (k & ((1 << Dim) - 1)), changed, open);
    }
    tell_neighbours<2, Anelliptic>(problem, tile, changed, [&](int axis, int side, T square) {
      mark(marks, beyond(problem.grid, item, axis, side), square,
           1 << (2 * axis + (side < 0 ? 1 : 0)));
    });
    count_visit(marks, item, solved);
  }

  /// A sweep over the open nodes, those opened by itself too. Bit d of `direction`: downwards
  /// along d.
  std::int64_t sweep(const TileRange<Dim>& tile, int direction, ChangedBox<Dim>& changed,
                     OpenNodes<2, Dim>& open) const {
    constexpr int z = Dim - 1;
    const std::int64_t rows =
        static_cast<std::int64_t>(open.length[0]) * open.stride[0] / open.length[z];
    std::int64_t solved = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t node[Dim], rest = row, row_in_tile = 0;
      int place_in_tile[Dim];
      for (int d = z - 1; d >= 0; --d) {
        const int at = static_cast<int>(rest % open.length[d]);
        rest /= open.length[d];
        place_in_tile[d] = (direction >> d) & 1 ? open.length[d] - 1 - at : at;
        node[d] = tile.begin[d] + place_in_tile[d];
        row_in_tile += place_in_tile[d] * open.stride[d];
      }
      if (!open.any(row_in_tile)) continue;
      node[z] = 0;
      const std::int64_t dense = problem.dense(node), place = problem.grid.at(node);
      for (int i = 0; i < open.length[z]; ++i) {
        place_in_tile[z] = (direction >> z) & 1 ? open.length[z] - 1 - i : i;
        node[z] = tile.begin[z] + place_in_tile[z];
        const std::int64_t here = row_in_tile + place_in_tile[z];
        if (open.open[here] == 0) continue;
        open.remove(here);
        T* const out = problem.second_values(tile.source, place + node[z]);
        bool given = false;
        if (*out < infinity<T>()) {
          given = problem.boxes[tile.source].contains(node);
          if (!given) continue;
        }
        const auto base = problem.template factor<Anelliptic>(tile.source, place + node[z], node);
        if (!given) {
          const T now =
              host_second<Anelliptic>(problem, tile.source, place + node[z], base, dense + node[z]);
          if (!(now < infinity<T>())) continue;  // opened again when a neighbour is known
          relaxed_store(out, now);
          ++solved;
        }
        const T* const first = problem.values(tile.source, place + node[z]);
        open_later<T>(open, place_in_tile, first, problem.grid.stride, base,
                      base.square(0, 0) * (*first * *first));
        for (int d = 0; d < Dim; ++d) changed.add(d, node[d], node[d]);
      }
    }
    return solved;
  }
};

/// The same by a team of a device, with the tile, its halo and the values of first order in
/// scratch.
template <bool Anelliptic, class T, int Dim, class Exec>
struct TeamSecond {
  static constexpr int threads = 256;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, 1>>;
  using Member = typename Policy::member_type;
  using Tile = TeamTile<Dim>;

  Problem<T, Dim> problem;
  Marks<T> marks;
  const int* list;

  static std::size_t scratch_bytes() {
    return 2 * ScratchView<T, Exec>::shmem_size(static_cast<std::size_t>(Tile::box().size()));
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t item = list[member.league_rank()];
    const TileRange<Dim> tile(problem.grid, item);
    const std::size_t size = static_cast<std::size_t>(Tile::box().size());
    const ScratchView<T, Exec> scratch(member.team_scratch(0), size);
    const ScratchView<T, Exec> second_scratch(member.team_scratch(0), size);
    T *const first = scratch.data(), *const second = second_scratch.data();
    T* const u = problem.second_values(tile.source, 0);
    Tile::template load<Exec>(member, problem.grid, tile,
                              static_cast<const T*>(problem.values(tile.source, 0)), first);
    Tile::template load<Exec>(member, problem.grid, tile, static_cast<const T*>(u), second);
    member.team_barrier();

    const int nodes = Tile::nodes();
    const SourceBox<Dim> given = problem.boxes[tile.source];
    int solved = 1;
    std::int64_t all = 0;
    while (solved != 0) {
      solved = 0;
      for (int k = member.team_rank(); k < nodes; k += member.team_size()) {
        std::int64_t node[Dim];
        ScratchValuesAt<T, Dim> at, known;
        const int place = Tile::locate(tile, k, node, at.stride);
        at.center = first + place;
        known.center = second + place;
        for (int d = 0; d < Dim; ++d) known.stride[d] = at.stride[d];
        if (!Tile::inside(problem.grid, node) || known.value(0, 0) < infinity<T>()) continue;
        const T now = second_order<Anelliptic, Dim, T>(
            at, known,
            problem.template factor<Anelliptic>(tile.source, problem.grid.at(node), node),
            problem.model.template at<Anelliptic>(problem.dense(node)), problem.inverse_spacing);
        if (!(now < infinity<T>())) continue;
        relaxed_store(second + place, now);
        ++solved;
      }
      member.team_reduce(Kokkos::Sum<int>(solved));
      member.team_barrier();
      all += solved;
    }

    for (int k = member.team_rank(); k < nodes; k += member.team_size()) {
      std::int64_t node[Dim];
      int stride[Dim];
      const int place = Tile::locate(tile, k, node, stride);
      if (!Tile::inside(problem.grid, node) || !(second[place] < infinity<T>())) continue;
      T* const out = u + problem.grid.at(node);
      if (relaxed_load(out) < infinity<T>() && !given.contains(node)) continue;
      relaxed_store(out, second[place]);
      tell_beyond<Anelliptic>(problem, marks, item, tile, 2, first + place, stride, node,
                              first[place]);
    }
    if (member.team_rank() == 0) count_visit(marks, item, all);
  }
};

}  // namespace moho::eikonal::detail
