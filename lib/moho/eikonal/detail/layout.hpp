// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The padded grid of the solvers, the sources on it, and the analytic factor.

#include <moho/core/copy.hpp>
#include <moho/core/grid.hpp>
#include <moho/eikonal/detail/update.hpp>
#include <moho/eikonal/homogeneous.hpp>
#include <moho/eikonal/types.hpp>

#include <vector>

namespace moho::eikonal::detail {

/// Width in nodes of the halo on every side of the grid, where times stay infinite.
inline constexpr int halo = 2;

/// Shape of a tile in nodes: along the last axis, and along the others.
template <int Dim, bool Host>
struct TileShape {
  static constexpr int last = Host ? (Dim == 2 ? 32 : 16) : Dim == 2 ? 16 : 8;
  static constexpr int others = Host ? (Dim == 2 ? 32 : 8) : last;
  /// Returns the number of nodes along an axis.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int along(int axis) {
    return axis == Dim - 1 ? last : others;
  }
};

/// The grid divided into tiles; the allocation has complete tiles and the halo.
template <int Dim>
struct TiledGrid {
  std::int64_t extents[Dim];  ///< nodes of the grid along each axis
  std::int64_t stride[Dim];   ///< strides of the padded array
  std::int64_t offset = 0;    ///< index of node 0 in the padded array
  std::int64_t size = 0;      ///< elements of the padded array
  int tile[Dim];              ///< nodes of a tile along each axis
  std::int64_t tiles[Dim];    ///< tiles along each axis
  std::int64_t tile_count = 1;
  std::int64_t table_offset[Dim];  ///< index of node 0 in the table of each axis
  std::int64_t table_size = 0;     ///< elements of the tables of all axes

  TiledGrid() = default;
  /// Lays out the grid for visits on a host or on a device.
  TiledGrid(const Grid<Dim>& grid, bool host) {
    std::int64_t padded[Dim];
    for (int d = 0; d < Dim; ++d) {
      extents[d] = grid.extents[d];
      tile[d] = host ? TileShape<Dim, true>::along(d) : TileShape<Dim, false>::along(d);
      tiles[d] = (extents[d] + tile[d] - 1) / tile[d];
      tile_count *= tiles[d];
      padded[d] = tiles[d] * tile[d] + 2 * halo;
      table_offset[d] = table_size + halo;
      table_size += padded[d];
    }
    std::int64_t n = 1;
    for (int d = Dim - 1; d >= 0; --d) {
      stride[d] = n;
      offset += n * halo;
      n *= padded[d];
    }
    size = n;
  }

  /// Returns the index of a node in the padded array.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(const std::int64_t (&node)[Dim]) const {
    std::int64_t i = offset;
    for (int d = 0; d < Dim; ++d) i += node[d] * stride[d];
    return i;
  }
  /// Sets the coordinates of a tile.
  KOKKOS_FORCEINLINE_FUNCTION void tile_at(std::int64_t number, std::int64_t (&at)[Dim]) const {
    for (int d = Dim - 1; d >= 0; --d) {
      at[d] = number % tiles[d];
      number /= tiles[d];
    }
  }
  /// Returns the index of a tile.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t tile_number(const std::int64_t (&at)[Dim]) const {
    std::int64_t number = at[0];
    for (int d = 1; d < Dim; ++d) number = number * tiles[d] + at[d];
    return number;
  }
};

/// The nodes around a source, whose times are initial values. They are the corners of its cell, the
/// ends of its edge, or the node that it lies on.
template <int Dim>
struct SourceBox {
  std::int64_t first[Dim], last[Dim];

  KOKKOS_FORCEINLINE_FUNCTION bool contains(const std::int64_t (&node)[Dim]) const {
    for (int d = 0; d < Dim; ++d) {
      if (node[d] < first[d] || node[d] > last[d]) return false;
    }
    return true;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool meets(const std::int64_t (&begin)[Dim],
                                         const std::int64_t (&end)[Dim]) const {
    for (int d = 0; d < Dim; ++d) {
      if (last[d] < begin[d] || first[d] >= end[d]) return false;
    }
    return true;
  }
};

/// A source, its medium, and the initial times around it.
template <int Dim>
struct Source {
  Kokkos::Array<double, Dim> position;  ///< position of the source, in nodes
  SourceBox<Dim> box;
  Constants medium;
  double tilt[Dim];         ///< derivatives of u at the source, per node
  double factor[1 << Dim];  ///< u of the box's corners; bit d of the index: upper corner along d
};

/// Addresses of a model's dense fields.
template <class T>
struct ModelData {
  const T* velocity;
  const T* epsilon;  ///< null if zero
  const T* delta;    ///< null if zero

  /// Returns false for an isotropic or elliptical model. In such a model delta is the same field as
  /// epsilon, or both are absent.
  bool anelliptic() const { return epsilon != delta; }
  /// Returns the medium at a node. \tparam Anelliptic result of anelliptic()
  template <bool Anelliptic>
  KOKKOS_FORCEINLINE_FUNCTION LocalMedium<T> at(std::int64_t node) const {
    using std::sqrt;
    LocalMedium<T> local;
    local.vertical = local.horizontal = velocity[node];
    local.anellipticity = T(0);
    if constexpr (Anelliptic) {
      const T e = epsilon ? epsilon[node] : T(0), d = delta ? delta[node] : T(0);
      const T square = T(1) + T(2) * e;
      local.horizontal *= sqrt(square);
      local.anellipticity = T(2) * (e - d) / square;
    } else if (epsilon) {
      local.horizontal *= sqrt(T(1) + T(2) * epsilon[node]);
    }
    return local;
  }
};

/// Terms of the local equation along one axis, except M. The last three are zero except in the
/// columns next to the source.
template <class T>
struct Column {
  T slope;  ///< q in the upwind equation
  T flat;   ///< q where no neighbour is upwind
  T tilt;   ///< du/dx at the source
  T limit;  ///< bound of M du/dx: the value of q at a distance of one spacing

  /// Returns M du/dx, clamped to the limit.
  KOKKOS_FORCEINLINE_FUNCTION T lean(T m) const {
    const T value = m * tilt;
    return value > limit ? limit : value < -limit ? -limit : value;
  }
};

/// Returns the column of index i along an axis; `slope` is q.
template <class T, int Dim>
KOKKOS_FORCEINLINE_FUNCTION Column<T> make_column(const Source<Dim>& source, int axis,
                                                  std::int64_t i, double slope, double spacing) {
  Column<T> column{static_cast<T>(slope), T(0), T(0), T(0)};
  if (i < source.box.first[axis] || i > source.box.last[axis]) return column;
  const double velocity = axis == Dim - 1 ? source.medium.vertical : source.medium.horizontal;
  column.flat = column.slope;
  column.tilt = static_cast<T>(source.tilt[axis] / spacing);
  column.limit = static_cast<T>(spacing / (velocity * velocity));
  return column;
}

/// M and q at a node from tables, for isotropic and elliptical models.
template <class T, int Dim>
struct TableBaseAt {
  const T* squares[Dim];
  const Column<T>* columns[Dim];
  /// Returns M at a distance of `step` nodes along an axis. Sums have the same order at every node,
  /// so that all neighbours obtain the same number.
  KOKKOS_FORCEINLINE_FUNCTION T square(int axis, int step) const {
    T sum = squares[0][axis == 0 ? step : 0];
    for (int d = 1; d < Dim; ++d) sum += squares[d][axis == d ? step : 0];
    return sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION const Column<T>& column(int axis) const { return *columns[axis]; }
};

/// M and q at a node from fields, for models whose factor has no closed form.
template <class T, int Dim>
struct FieldBaseAt {
  const T* squares;
  const std::int64_t* stride;
  Column<T> columns[Dim];
  KOKKOS_FORCEINLINE_FUNCTION T square(int axis, int step) const {
    return squares[step * stride[axis]];
  }
  KOKKOS_FORCEINLINE_FUNCTION const Column<T>& column(int axis) const { return columns[axis]; }
};

/// M and q at a node for one kind of model.
template <class T, int Dim, bool Anelliptic>
using FactorAt = std::conditional_t<Anelliptic, FieldBaseAt<T, Dim>, TableBaseAt<T, Dim>>;

/// Values of u around a node of an array.
template <class T, int Dim>
struct ValuesAt {
  const T* center;
  const std::int64_t* stride;
  KOKKOS_FORCEINLINE_FUNCTION T value(int axis, int step) const {
    return relaxed_load(center + step * stride[axis]);
  }
};

/// A problem on the padded grid: a batch of sources in one model. It holds addresses into
/// ProblemStorage, so that kernels can copy it. Host code of it is compiled once.
template <class T, int Dim>
struct Problem {
  TiledGrid<Dim> grid;
  ModelData<T> model;
  const T* squares;             ///< M: tables for isotropic and elliptical models, otherwise fields
  const Column<T>* columns;     ///< columns of the tables
  const T* across;              ///< q divided by the offset, fields of anelliptic models
  const T* along;               ///< q along the vertical axis, fields of anelliptic models
  const Source<Dim>* from;      ///< sources of anelliptic models
  const SourceBox<Dim>* boxes;  ///< box of each source
  T* u;                         ///< u of each source, grid.size elements per source
  std::uint16_t* upwinds;       ///< Upwinds, indexed like u; second order only
  double spacing[Dim];
  T inverse_spacing[Dim];
  T tolerance;
  int sources;
  bool factored;

  /// Returns the address of u of a source at a padded index.
  KOKKOS_FORCEINLINE_FUNCTION T* values(int source, std::int64_t index) const {
    return u + source * grid.size + index;
  }
  /// Returns M and q of a source at a node.
  template <bool Anelliptic>
  KOKKOS_FORCEINLINE_FUNCTION FactorAt<T, Dim, Anelliptic> factor(
      int source, std::int64_t index, const std::int64_t (&node)[Dim]) const {
    FactorAt<T, Dim, Anelliptic> at;
    if constexpr (Anelliptic) {
      const std::int64_t here = source * grid.size + index;
      at.squares = squares + here;
      at.stride = grid.stride;
      const double over_offset = static_cast<double>(across[here]);
      const Source<Dim>& own = from[source];
      for (int d = 0; d < Dim; ++d) {
        const double x = (static_cast<double>(node[d]) - own.position[d]) * spacing[d];
        const double slope = d == Dim - 1 ? static_cast<double>(along[here]) : over_offset * x;
        at.columns[d] = factored ? make_column<T>(own, d, node[d], slope, spacing[d]) : Column<T>{};
      }
    } else {
      for (int d = 0; d < Dim; ++d) {
        const std::int64_t i = source * grid.table_size + grid.table_offset[d] + node[d];
        at.squares[d] = squares + i;
        at.columns[d] = columns + i;
      }
    }
    return at;
  }
  /// Returns the neighbours of second-order differences at an address in u.
  KOKKOS_FORCEINLINE_FUNCTION Upwinds upwinds_at(const T* node) const {
    return Upwinds(upwinds[node - u]);
  }
  /// Returns the flat index of a node in the model's fields.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t dense(const std::int64_t (&node)[Dim]) const {
    std::int64_t i = node[0];
    for (int d = 1; d < Dim; ++d) i = i * grid.extents[d] + node[d];
    return i;
  }
};

/// Returns the solution of the local equation at a node.
template <int Order, bool Anelliptic, class T, int Dim>
KOKKOS_FORCEINLINE_FUNCTION T solution_at(const Problem<T, Dim>& problem, const T* center,
                                          const FactorAt<T, Dim, Anelliptic>& factor,
                                          std::int64_t dense) {
  return local_solution<Order, Anelliptic, Dim, T>(
      ValuesAt<T, Dim>{center, problem.grid.stride}, factor,
      problem.model.template at<Anelliptic>(dense), problem.inverse_spacing,
      Order == 2 ? problem.upwinds_at(center) : Upwinds());
}

/// local_solution() as one host function, called by sweeps, their final check and fast marching.
template <int Order, bool Anelliptic, class T, int Dim>
MOHO_NOINLINE T host_solution(const Problem<T, Dim>& problem, const T* center,
                              const FactorAt<T, Dim, Anelliptic>& factor, std::int64_t dense) {
  return solution_at<Order, Anelliptic>(problem, center, factor, dense);
}

/// Fills the fields of the analytic factor.
template <class T, int Dim>
struct FillFactor {
  TiledGrid<Dim> tiled;
  const Source<Dim>* from;
  double spacing[Dim];
  T *squares, *across, *along;
  std::int64_t nodes;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    using std::sqrt;
    const std::int64_t s = i / nodes;
    const Source<Dim>& source = from[s];
    std::int64_t rest = i % nodes, node[Dim];
    for (int d = Dim - 1; d >= 0; --d) {
      node[d] = rest % tiled.extents[d];
      rest /= tiled.extents[d];
    }
    double offset[Dim], square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      offset[d] = (static_cast<double>(node[d]) - source.position[d]) * spacing[d];
      if (d + 1 < Dim) square += offset[d] * offset[d];
    }
    const double distance = sqrt(square);
    const TimeAndSlowness t = homogeneous(source.medium, distance, offset[Dim - 1]);
    const std::int64_t index = s * tiled.size + tiled.at(node);
    squares[index] = static_cast<T>(t.time * t.time);
    across[index] = distance > 0.0 ? static_cast<T>(t.time * t.horizontal / distance) : T(0);
    along[index] = static_cast<T>(t.time * t.vertical);
  }
};

/// A node with an initial value.
template <class T>
struct Given {
  std::int64_t at;  ///< index in Problem::u
  T value;
};

/// Sets the initial values.
template <class T>
struct SetGiven {
  const Given<T>* list;
  T* u;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    u[list[i].at] = list[i].value;
  }
};

/// Arrays that a Problem points to.
template <class T, int Dim, class Memory>
struct ProblemStorage {
  Kokkos::View<T*, Memory> squares, across, along, u;
  Kokkos::View<Column<T>*, Memory> columns;
  Kokkos::View<Source<Dim>*, Memory> from;
  Kokkos::View<SourceBox<Dim>*, Memory> boxes;
  Kokkos::View<std::uint16_t*, Memory> upwinds;  ///< empty at first order
};

/// Returns the bytes of storage per source.
template <class T, int Dim>
std::size_t storage_bytes(const TiledGrid<Dim>& grid, bool anelliptic, int order) {
  const std::size_t nodes = static_cast<std::size_t>(grid.size);
  const std::size_t tables =
      static_cast<std::size_t>(grid.table_size) * (sizeof(T) + sizeof(Column<T>));
  return nodes * sizeof(T) * (anelliptic ? 4 : 1) + (anelliptic ? 0 : tables) +
         (order == 2 ? nodes * sizeof(std::uint16_t) : 0);
}

/// Fills the tables of M and of the columns for all sources.
template <class T, int Dim>
void make_tables(const Grid<Dim>& grid, const TiledGrid<Dim>& tiled,
                 const std::vector<Source<Dim>>& sources, bool factored, std::vector<T>& squares,
                 std::vector<Column<T>>& columns) {
  const std::size_t each = static_cast<std::size_t>(tiled.table_size);
  squares.resize(sources.size() * each);
  columns.resize(sources.size() * each);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (int d = 0; d < Dim; ++d) {
      const double velocity =
          d == Dim - 1 ? sources[s].medium.vertical : sources[s].medium.horizontal;
      const double k = 1.0 / (velocity * velocity);
      const std::int64_t length = tiled.tiles[d] * tiled.tile[d] + halo;
      for (std::int64_t i = -halo; i < length; ++i) {
        const double x = (static_cast<double>(i) - sources[s].position[d]) * grid.spacing[d];
        const std::size_t at = s * each + static_cast<std::size_t>(tiled.table_offset[d] + i);
        squares[at] = factored ? static_cast<T>(k * x * x) : T(d == 0 ? 1 : 0);
        columns[at] =
            factored ? make_column<T>(sources[s], d, i, k * x, grid.spacing[d]) : Column<T>{};
      }
    }
  }
}

/// Returns the padded problem of a batch of sources. Values are infinite except around the sources;
/// at second order no neighbours are selected yet.
template <class T, int Dim, class Memory>
Problem<T, Dim> make_problem(const Instance<Memory>& exec, const Grid<Dim>& grid,
                             const TiledGrid<Dim>& tiled, const ModelData<T>& model,
                             const std::vector<Source<Dim>>& sources, bool factored, int order,
                             ProblemStorage<T, Dim, Memory>& storage) {
  using Values = Kokkos::View<T*, Memory>;
  const std::size_t all = sources.size() * static_cast<std::size_t>(tiled.size);
  Problem<T, Dim> problem{};
  problem.grid = tiled;
  problem.model = model;
  problem.sources = static_cast<int>(sources.size());
  problem.tolerance = T(4) * std::numeric_limits<T>::epsilon();
  problem.factored = factored;
  for (int d = 0; d < Dim; ++d) {
    problem.spacing[d] = grid.spacing[d];
    problem.inverse_spacing[d] = static_cast<T>(1.0 / grid.spacing[d]);
  }
  if (model.anelliptic()) {
    storage.squares = allocate<Values>(exec, "moho::eikonal::squares", all);
    storage.across = allocate<Values>(exec, "moho::eikonal::across", all);
    storage.along = allocate<Values>(exec, "moho::eikonal::along", all);
    storage.from = upload(exec, sources, "moho::eikonal::sources");
    fill(exec, storage.squares, T(1));
    fill(exec, storage.across, T(0));
    fill(exec, storage.along, T(0));
    if (factored) {
      FillFactor<T, Dim> kernel{tiled, storage.from.data(), {}, {}, {}, {}, grid.size()};
      for (int d = 0; d < Dim; ++d) kernel.spacing[d] = grid.spacing[d];
      kernel.squares = storage.squares.data();
      kernel.across = storage.across.data();
      kernel.along = storage.along.data();
      launch("moho::eikonal::fill_factor", exec, grid.size() * problem.sources, kernel);
    }
  } else {
    std::vector<T> squares;
    std::vector<Column<T>> columns;
    make_tables(grid, tiled, sources, factored, squares, columns);
    storage.squares = upload(exec, squares, "moho::eikonal::squares");
    storage.columns = upload(exec, columns, "moho::eikonal::columns");
  }
  storage.u = allocate<Values>(exec, "moho::eikonal::u", all);
  fill(exec, storage.u, infinity<T>());
  if (order == 2) {
    using Choices = Kokkos::View<std::uint16_t*, Memory>;
    storage.upwinds = allocate<Choices>(exec, "moho::eikonal::upwinds", all);
    fill(exec, storage.upwinds, std::uint16_t(0));
  }
  constexpr int corners = 1 << Dim;
  std::vector<Given<T>> given;
  std::vector<SourceBox<Dim>> boxes;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    boxes.push_back(sources[s].box);
    for (int corner = 0; corner < corners; ++corner) {
      std::int64_t node[Dim];
      for (int d = 0; d < Dim; ++d) {
        node[d] = (corner >> d) & 1 ? sources[s].box.last[d] : sources[s].box.first[d];
      }
      given.push_back({static_cast<std::int64_t>(s) * tiled.size + tiled.at(node),
                       static_cast<T>(sources[s].factor[corner])});
    }
  }
  storage.boxes = upload(exec, boxes, "moho::eikonal::boxes");
  const auto list = upload(exec, given, "moho::eikonal::given");
  launch("moho::eikonal::set_given", exec, static_cast<std::int64_t>(given.size()),
         SetGiven<T>{list.data(), storage.u.data()});
  exec.fence();
  problem.squares = storage.squares.data();
  problem.columns = storage.columns.data();
  problem.across = storage.across.data();
  problem.along = storage.along.data();
  problem.from = storage.from.data();
  problem.boxes = storage.boxes.data();
  problem.u = storage.u.data();
  problem.upwinds = storage.upwinds.data();
  return problem;
}

}  // namespace moho::eikonal::detail
