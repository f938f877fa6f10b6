// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The visit of one tile by a team of a device: scratch memory, and a thread for each node.

#include <moho/eikonal/detail/visit.hpp>

#include <type_traits>

namespace moho::eikonal::detail {

/// The shape of a tile and of its copy in scratch, with a halo of `Order` nodes.
template <int Dim, int Order>
struct ScratchTile {
  using Shape = TileShape<Dim, false>;
  static_assert(Shape::others == Shape::last);
  static constexpr int along = Shape::last;  ///< nodes of the tile along each axis
  static constexpr int face = Dim == 2 ? along : along * along;  ///< nodes of a face
  static constexpr int nodes = face * along;                     ///< nodes of the tile
  static constexpr int padded = along + 2 * Order;               ///< nodes with the halo
  /// Elements of a row in scratch: the rows that a warp reads lie in different banks.
  static constexpr int row = 3 * along;
  static constexpr int size = (Dim == 2 ? padded : padded * padded) * row;
  static_assert(padded <= row);

  /// Returns the distance in scratch between neighbours along an axis.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int stride(int axis) {
    return axis == Dim - 1 ? 1 : axis == Dim - 2 ? row : padded * row;
  }
};

/// Values of u around a node in scratch.
template <class T, int Dim, int Order>
struct ScratchValuesAt {
  const T* center;
  KOKKOS_FORCEINLINE_FUNCTION T value(int axis, int step) const {
    return relaxed_load(center + step * ScratchTile<Dim, Order>::stride(axis));
  }
};

/// M of a node and of the neighbours that its local equation reads, in registers.
template <class T, int Dim, int Order>
struct KeptSquares {
  T own = T(1);
  /// First order: of the lower and the upper neighbour. Second order: of the nearest and the
  /// farther one that are used.
  T adjacent[Dim][2] = {};

  template <class Base>
  KOKKOS_FORCEINLINE_FUNCTION void keep(const Base& base, [[maybe_unused]] const Upwinds& upwinds) {
    own = base.square(0, 0);
    for (int d = 0; d < Dim; ++d) {
      if constexpr (Order == 2) {
        const int side = upwinds.side(d);
        if (side != 0) adjacent[d][0] = base.square(d, side);
        if (upwinds.two(d)) adjacent[d][1] = base.square(d, 2 * side);
      } else {
        adjacent[d][0] = base.square(d, -1);
        adjacent[d][1] = base.square(d, 1);
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION T square(int axis, int step) const {
    if (step == 0) return own;
    const bool second = Order == 2 ? step == 2 || step == -2 : step > 0;
    return second ? adjacent[axis][1] : adjacent[axis][0];
  }
};

/// M and q of a node of a tile: columns in registers (anelliptic models) or in scratch.
template <class T, int Dim, int Order, bool Anelliptic>
struct KeptBase : KeptSquares<T, Dim, Order> {
  Column<T> columns[Dim];
  KOKKOS_FORCEINLINE_FUNCTION const Column<T>& column(int axis) const { return columns[axis]; }
};
template <class T, int Dim, int Order>
struct KeptBase<T, Dim, Order, false> : KeptSquares<T, Dim, Order> {
  const Column<T>* columns;  ///< ScratchTile::along columns of each axis
  int at[Dim];
  KOKKOS_FORCEINLINE_FUNCTION const Column<T>& column(int axis) const {
    return columns[axis * ScratchTile<Dim, Order>::along + at[axis]];
  }
};

/// \brief The visit of a tile by a team of a device.
///
/// The tile and the halo of its faces are loaded into scratch. A thread solves one node, whose
/// factor and medium stay in registers, in every round in which a neighbour that it uses has
/// changed. Rounds continue while any node changes, at most `max` of them. At the end the changes
/// are written back, and the tiles marked that they reach.
template <int Order, bool Anelliptic, class T, int Dim, class Exec>
struct TeamVisit {
  using Tile = ScratchTile<Dim, Order>;
  static constexpr int threads = Tile::nodes;
  /// Teams of a multiprocessor that the compiler leaves registers for. With two, the first order of
  /// 3D in single precision spills a few and is faster by a fifth; the others are slower.
  static constexpr int teams = Dim == 3 && Order == 1 && sizeof(T) == 4 ? 2 : 1;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, teams>>;
  using Member = typename Policy::member_type;

  Problem<T, Dim> problem;
  Marks<T> marks;
  const int* list;
  bool sweep;  ///< the list also holds tiles without a mark; skip them
  int max;

  static std::size_t scratch_bytes() {
    return ScratchView<T, Exec>::shmem_size(Tile::size) +
           ScratchView<Column<T>, Exec>::shmem_size(Dim * Tile::along) +
           ScratchView<T, Exec>::shmem_size(2 * Dim) + ScratchView<int, Exec>::shmem_size(3);
  }

  /// Loads the halo of the faces.
  KOKKOS_FORCEINLINE_FUNCTION void load_faces(const Member& member, const T* first,
                                              T* values) const {
    constexpr int each = Order * Tile::face;
    for (int k = member.team_rank(); k < 2 * Dim * each; k += threads) {
      const int axis = k / each / 2, depth = k % each / Tile::face;
      const bool upper = ((k / each) & 1) != 0;
      int rest = k % Tile::face, index = 0;
      std::int64_t from = 0;
      for (int d = Dim - 1; d >= 0; --d) {
        int offset;
        if (d == axis) {
          offset = upper ? Tile::along + depth : -1 - depth;
        } else {
          offset = rest % Tile::along;
          rest /= Tile::along;
        }
        index += (offset + Order) * Tile::stride(d);
        from += offset * problem.grid.stride[d];
      }
      values[index] = relaxed_load(first + from);
    }
  }

  /// Lowers the squared times of the faces through which a changed node reaches other tiles.
  /// \param at node in the tile
  /// \param before value of the node before the visit
  template <class Base>
  KOKKOS_FORCEINLINE_FUNCTION void tell(const TileRange<Dim>& tile, const int (&at)[Dim],
                                        const T* center, const Base& base, T before,
                                        T* faces) const {
    for (int d = 0; d < Dim; ++d) {
      for (int side = -1; side <= 1; side += 2) {
        const int depth = side < 0 ? at[d] : Tile::along - 1 - at[d];
        if (depth >= Order) continue;
        if (side < 0 ? tile.begin[d] == 0 : tile.end[d] == problem.grid.extents[d]) continue;
        const int to_face = side * depth;
        T inner = center[to_face * Tile::stride(d)];
        if (depth == 0 && before < inner) inner = before;
        bool reached;
        T square;
        if constexpr (Order == 2) {
          std::int64_t node[Dim];
          for (int e = 0; e < Dim; ++e) node[e] = tile.begin[e] + at[e] + (e == d ? to_face : 0);
          const std::int64_t index = problem.grid.at(node);
          const T* const here = problem.values(tile.source, index);
          reached = problem.upwinds_at(here + side * problem.grid.stride[d]).side(d) == -side;
          const T m =
              depth == 0
                  ? base.square(0, 0)
                  : problem.template factor<Anelliptic>(tile.source, index, node).square(0, 0);
          square = m * (inner * inner);
        } else {
          const T outer = center[side * Tile::stride(d)];
          square = base.square(0, 0) * (inner * inner);
          reached = square < base.square(d, side) * (outer * outer);
        }
        if (reached) atomic_minimum(faces + 2 * d + (side < 0 ? 0 : 1), square);
      }
    }
  }

  /// The node of a thread.
  struct Node {
    int at[Dim];  ///< in the tile
    std::int64_t node[Dim];
    T* out;             ///< u in global memory
    T *values, before;  ///< u in scratch, and its value before the visit
    bool inside, open;  ///< in the grid; it is solved
    LocalMedium<T> medium{};
    KeptBase<T, Dim, Order, Anelliptic> base;
    Upwinds upwinds;
  };

  /// Loads the node of a thread, its medium, and M and q.
  /// \param values,columns in scratch
  KOKKOS_FORCEINLINE_FUNCTION Node load_node(int rank, const TileRange<Dim>& tile, T* values,
                                             Column<T>* columns) const {
    Node own;
    int index = 0;
    own.inside = true;
    for (int d = Dim - 1, rest = rank; d >= 0; --d) {
      own.at[d] = rest % Tile::along;
      rest /= Tile::along;
      index += (own.at[d] + Order) * Tile::stride(d);
      own.node[d] = tile.begin[d] + own.at[d];
      own.inside = own.inside && own.node[d] < problem.grid.extents[d];
    }
    own.out = problem.values(tile.source, problem.grid.at(own.node));
    own.values = values + index;
    own.before = relaxed_load(own.out);
    *own.values = own.before;
    if constexpr (!Anelliptic) {
      own.base.columns = columns;
      for (int d = 0; d < Dim; ++d) own.base.at[d] = own.at[d];
      if (rank < Dim * Tile::along) {
        const int axis = rank / Tile::along;
        columns[rank] =
            problem
                .columns[tile.source * problem.grid.table_size + problem.grid.table_offset[axis] +
                         tile.begin[axis] + rank % Tile::along];
      }
    }
    own.open = own.inside && !problem.boxes[tile.source].contains(own.node);
    if (!own.inside) return own;
    own.medium = problem.model.template at<Anelliptic>(problem.dense(own.node));
    if constexpr (Order == 2) own.upwinds = problem.upwinds_at(own.out);
    const auto whole =
        problem.template factor<Anelliptic>(tile.source, problem.grid.at(own.node), own.node);
    own.base.keep(whole, own.upwinds);
    if constexpr (Anelliptic) {
      for (int d = 0; d < Dim; ++d) own.base.columns[d] = whole.column(d);
    }
    return own;
  }

  /// Solves the nodes of the team until no value changes.
  /// \param flags zeros of three rounds, which take them in turn: a node has changed
  /// \param now value of the node of this thread, in and out
  /// \param rounds their number, out
  /// \return true if the last allowed round has changed a node
  KOKKOS_FORCEINLINE_FUNCTION bool settle(const Member& member, const Node& own, int* flags, T& now,
                                          int& rounds) const {
    const ScratchValuesAt<T, Dim, Order> u{own.values};
    Neighbours<T, Dim> last;
    for (int d = 0; d < Dim; ++d) last.nearest[d] = last.farther[d] = T(-1);
    bool more = true;
    int flag = 0;
    for (rounds = 0; more && rounds < max; ++rounds) {
      if (own.open) {
        const Neighbours<T, Dim> found = find_neighbours<Order, Dim, T>(u, own.base, own.upwinds);
        if (!found.same(last)) {
          last = found;
          const T value = solve_neighbours<Order, Anelliptic, Dim, T>(found, own.base, own.medium,
                                                                      problem.inverse_spacing);
          if (value != now && value < infinity<T>()) {
            relaxed_store(own.values, value);
            if (differs(value, now, problem.tolerance)) relaxed_store(flags + flag, 1);
            now = value;
          }
        }
      }
      member.team_barrier();
      more = relaxed_load(flags + flag) != 0;
      const int previous = flag == 0 ? 2 : flag - 1;  // all threads have read it
      if (member.team_rank() == 0) relaxed_store(flags + previous, 0);
      flag = flag == 2 ? 0 : flag + 1;
    }
    return more;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t item = list[member.league_rank()];
    if (sweep && !(relaxed_load(marks.priority + item) < infinity<T>())) return;
    const TileRange<Dim> tile(problem.grid, item);
    const ScratchView<T, Exec> values(member.team_scratch(0), Tile::size);
    const ScratchView<Column<T>, Exec> columns(member.team_scratch(0), Dim * Tile::along);
    const ScratchView<T, Exec> face_scratch(member.team_scratch(0), 2 * Dim);
    const ScratchView<int, Exec> flags(member.team_scratch(0), 3);
    T* const faces = face_scratch.data();
    const int rank = member.team_rank();

    const Node own = load_node(rank, tile, values.data(), columns.data());
    load_faces(member, problem.values(tile.source, problem.grid.at(tile.begin)), values.data());
    if (rank < 2 * Dim) faces[rank] = infinity<T>();
    if (rank < 3) flags[rank] = 0;
    member.team_barrier();
    if (sweep && rank == 0) relaxed_store(marks.priority + item, infinity<T>());

    T now = own.before;
    int rounds = 0;
    const bool more = settle(member, own, flags.data(), now, rounds);
    if (own.inside && now != own.before) {
      relaxed_store(own.out, now);
      if (differs(now, own.before, problem.tolerance)) {
        tell(tile, own.at, own.values, own.base, own.before, faces);
      }
    }
    member.team_barrier();
    if (rank < 2 * Dim && faces[rank] < infinity<T>()) {
      atomic_minimum(
          marks.priority + beyond(problem.grid, item, rank / 2, (rank & 1) != 0 ? 1 : -1),
          faces[rank]);
    }
    if (rank == 0) {
      if (more) atomic_minimum(marks.priority + item, T(0));
      count_visit(marks, item, static_cast<std::int64_t>(Tile::nodes) * rounds);
    }
  }
};

}  // namespace moho::eikonal::detail
