// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The padded grid that the solvers work on, the sources on it, and the analytic factor.

#include <moho/core/space.hpp>
#include <moho/eikonal/homogeneous.hpp>
#include <moho/eikonal/types.hpp>
#include <moho/eikonal/update.hpp>

#include <vector>

namespace moho::eikonal::detail {

/// Nodes beyond the grid on every side, where times stay infinite.
inline constexpr int halo = 2;

/// Nodes of a tile: along the last axis, and along the others.
template <int Dim, bool Host>
struct TileShape {
  static constexpr int last = Host ? (Dim == 2 ? 32 : 16) : Dim == 2 ? 16 : 8;
  static constexpr int others = Host ? (Dim == 2 ? 32 : 8) : last;
  /// Nodes along an axis.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int along(int axis) {
    return axis == Dim - 1 ? last : others;
  }
};

/// The grid cut into tiles, with whole tiles and the halo allocated.
template <int Dim>
struct TiledGrid {
  std::int64_t extents[Dim];  ///< nodes of the grid
  std::int64_t stride[Dim];   ///< of the padded array
  std::int64_t offset = 0;    ///< of node 0
  std::int64_t size = 0;      ///< elements of the padded array
  int tile[Dim];              ///< nodes of a tile
  std::int64_t tiles[Dim];    ///< along each axis
  std::int64_t tile_count = 1;
  std::int64_t table_offset[Dim];  ///< where the table of an axis has the value of node 0
  std::int64_t table_size = 0;     ///< of all axes together

  TiledGrid() = default;
  /// For visits on a host, or on a device.
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

  /// Place of a node in the padded array.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(const std::int64_t (&node)[Dim]) const {
    std::int64_t i = offset;
    for (int d = 0; d < Dim; ++d) i += node[d] * stride[d];
    return i;
  }
  /// Coordinates of a tile.
  KOKKOS_FORCEINLINE_FUNCTION void tile_at(std::int64_t number, std::int64_t (&at)[Dim]) const {
    for (int d = Dim - 1; d >= 0; --d) {
      at[d] = number % tiles[d];
      number /= tiles[d];
    }
  }
  /// Number of a tile.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t tile_number(const std::int64_t (&at)[Dim]) const {
    std::int64_t number = at[0];
    for (int d = 1; d < Dim; ++d) number = number * tiles[d] + at[d];
    return number;
  }
};

/// The nodes around a source, whose times are given: the corners of its cell, or the node or the
/// ends of the edge that it lies on.
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

/// A source, its medium, and the given times.
template <int Dim>
struct Source {
  Kokkos::Array<double, Dim> position;  ///< in nodes
  SourceBox<Dim> box;
  Constants medium;
  double tilt[Dim];         ///< derivatives of u at the source, per node
  double factor[1 << Dim];  ///< u of the corners of the box, bit d of the number: upper along d
};

/// Addresses of a medium's dense fields.
template <class T>
struct MediumData {
  const T* velocity;
  const T* epsilon;  ///< null: zero
  const T* delta;    ///< null: that of epsilon

  template <bool Anelliptic>
  KOKKOS_FORCEINLINE_FUNCTION LocalMedium<T> at(std::int64_t node) const {
    using std::sqrt;
    LocalMedium<T> local;
    local.vertical = local.horizontal = velocity[node];
    local.anellipticity = T(0);
    if (epsilon) {
      const T square = T(1) + T(2) * epsilon[node];
      local.horizontal *= sqrt(square);
      if constexpr (Anelliptic) {
        local.anellipticity = T(2) * (epsilon[node] - delta[node]) / square;
      }
    }
    return local;
  }
  KOKKOS_INLINE_FUNCTION Constants constants(std::int64_t node) const {
    const double e = epsilon ? static_cast<double>(epsilon[node]) : 0.0;
    return make_constants(static_cast<double>(velocity[node]), e,
                          delta ? static_cast<double>(delta[node]) : e);
  }
};

/// What the local equation needs at a place along an axis beside M. The last three are zero but in
/// the columns next to the source.
template <class T>
struct Column {
  T slope;  ///< q
  T flat;   ///< q
  T tilt;   ///< du/dx at the source
  T limit;  ///< the most that M du/dx may be: what q is at the distance of a spacing

  /// M du/dx, kept within the limit.
  KOKKOS_FORCEINLINE_FUNCTION T lean(T m) const {
    const T value = m * tilt;
    return value > limit ? limit : value < -limit ? -limit : value;
  }
};

/// The column of index i along an axis, where q is `slope`.
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

/// M and q at a node, by tables: for media without a factor, isotropic and elliptical ones.
template <class T, int Dim>
struct TableBaseAt {
  const T* squares[Dim];
  const Column<T>* columns[Dim];
  /// M `step` nodes along an axis. Every node's sum is made in the same order, so that all
  /// neighbours see the same number.
  KOKKOS_FORCEINLINE_FUNCTION T square(int axis, int step) const {
    T sum = squares[0][axis == 0 ? step : 0];
    for (int d = 1; d < Dim; ++d) sum += squares[d][axis == d ? step : 0];
    return sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION const Column<T>& column(int axis) const { return *columns[axis]; }
};

/// The tables of all sources of a batch.
template <class T, int Dim, class Exec>
struct TableBase {
  using At = TableBaseAt<T, Dim>;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> squares;
  Kokkos::View<Column<T>**, Kokkos::LayoutRight, typename Exec::memory_space> columns;
  std::int64_t table_offset[Dim];

  static std::size_t bytes(const TiledGrid<Dim>& grid) {
    return static_cast<std::size_t>(grid.table_size) * (sizeof(T) + sizeof(Column<T>));
  }
  KOKKOS_FORCEINLINE_FUNCTION At at(int source, std::int64_t,
                                    const std::int64_t (&node)[Dim]) const {
    At at;
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t i = table_offset[d] + node[d];
      at.squares[d] = &squares(source, i);
      at.columns[d] = &columns(source, i);
    }
    return at;
  }
};

template <class T, int Dim, class Exec>
TableBase<T, Dim, Exec> make_base(const Exec& exec, const Grid<Dim>& grid,
                                  const TiledGrid<Dim>& tiled,
                                  const std::vector<Source<Dim>>& sources, bool factored,
                                  const TableBase<T, Dim, Exec>*) {
  TableBase<T, Dim, Exec> base;
  const std::size_t n = static_cast<std::size_t>(tiled.table_size);
  base.squares =
      allocate<decltype(base.squares)>(exec, "moho::eikonal::squares", sources.size(), n);
  base.columns =
      allocate<decltype(base.columns)>(exec, "moho::eikonal::columns", sources.size(), n);
  const auto squares = Kokkos::create_mirror_view(base.squares);
  const auto columns = Kokkos::create_mirror_view(base.columns);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (int d = 0; d < Dim; ++d) {
      base.table_offset[d] = tiled.table_offset[d];
      const double velocity =
          d == Dim - 1 ? sources[s].medium.vertical : sources[s].medium.horizontal;
      const double k = 1.0 / (velocity * velocity);
      const std::int64_t length = tiled.tiles[d] * tiled.tile[d] + halo;
      for (std::int64_t i = -halo; i < length; ++i) {
        const double x = (static_cast<double>(i) - sources[s].position[d]) * grid.spacing[d];
        const std::size_t at = static_cast<std::size_t>(tiled.table_offset[d] + i);
        squares(s, at) = factored ? static_cast<T>(k * x * x) : T(d == 0 ? 1 : 0);
        columns(s, at) =
            factored ? make_column<T>(sources[s], d, i, k * x, grid.spacing[d]) : Column<T>{};
      }
    }
  }
  Kokkos::deep_copy(exec, base.squares, squares);
  Kokkos::deep_copy(exec, base.columns, columns);
  exec.fence();
  return base;
}

/// M and q at a node, by fields: for media whose factor has no closed form.
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

/// The fields of all sources of a batch, on the padded grid.
template <class T, int Dim, class Exec>
struct FieldBase {
  using At = FieldBaseAt<T, Dim>;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> squares;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> across;  ///< q over offset
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> along;
  Kokkos::View<Source<Dim>*, typename Exec::memory_space> sources;
  std::int64_t stride[Dim];
  double spacing[Dim];
  bool factored;

  static std::size_t bytes(const TiledGrid<Dim>& grid) {
    return static_cast<std::size_t>(3 * grid.size) * sizeof(T);
  }
  KOKKOS_FORCEINLINE_FUNCTION At at(int source, std::int64_t place,
                                    const std::int64_t (&node)[Dim]) const {
    At at;
    at.squares = &squares(source, place);
    at.stride = stride;
    const double over_offset = static_cast<double>(across(source, place));
    const Source<Dim>& from = sources(source);
    for (int d = 0; d < Dim; ++d) {
      const double x = (static_cast<double>(node[d]) - from.position[d]) * spacing[d];
      const double slope =
          d == Dim - 1 ? static_cast<double>(along(source, place)) : over_offset * x;
      at.columns[d] = factored ? make_column<T>(from, d, node[d], slope, spacing[d]) : Column<T>{};
    }
    return at;
  }
};

/// Fills the fields of the factor.
template <class T, int Dim, class Exec>
struct FillFieldBase {
  FieldBase<T, Dim, Exec> base;
  TiledGrid<Dim> tiled;
  std::int64_t nodes;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    using std::sqrt;
    const int s = static_cast<int>(i / nodes);
    const Source<Dim>& source = base.sources(s);
    std::int64_t rest = i % nodes, node[Dim];
    for (int d = Dim - 1; d >= 0; --d) {
      node[d] = rest % tiled.extents[d];
      rest /= tiled.extents[d];
    }
    double offset[Dim], square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      offset[d] = (static_cast<double>(node[d]) - source.position[d]) * base.spacing[d];
      if (d + 1 < Dim) square += offset[d] * offset[d];
    }
    const double distance = sqrt(square);
    const TimeAndSlowness t = homogeneous(source.medium, distance, offset[Dim - 1]);
    const std::int64_t place = tiled.at(node);
    base.squares(s, place) = static_cast<T>(t.time * t.time);
    base.across(s, place) =
        distance > 0.0 ? static_cast<T>(t.time * t.horizontal / distance) : T(0);
    base.along(s, place) = static_cast<T>(t.time * t.vertical);
  }
};

template <class T, int Dim, class Exec>
FieldBase<T, Dim, Exec> make_base(const Exec& exec, const Grid<Dim>& grid,
                                  const TiledGrid<Dim>& tiled,
                                  const std::vector<Source<Dim>>& sources, bool factored,
                                  const FieldBase<T, Dim, Exec>*) {
  FieldBase<T, Dim, Exec> base;
  const std::size_t n = static_cast<std::size_t>(tiled.size);
  const std::size_t count = sources.size();
  base.squares = allocate<decltype(base.squares)>(exec, "moho::eikonal::squares", count, n);
  base.across = allocate<decltype(base.across)>(exec, "moho::eikonal::across", count, n);
  base.along = allocate<decltype(base.along)>(exec, "moho::eikonal::along", count, n);
  base.sources = allocate<decltype(base.sources)>(exec, "moho::eikonal::sources", count);
  const auto list = Kokkos::create_mirror_view(base.sources);
  for (std::size_t s = 0; s < count; ++s) list(s) = sources[s];
  Kokkos::deep_copy(exec, base.sources, list);
  for (int d = 0; d < Dim; ++d) {
    base.stride[d] = tiled.stride[d];
    base.spacing[d] = grid.spacing[d];
  }
  base.factored = factored;
  Kokkos::deep_copy(exec, base.squares, T(1));
  Kokkos::deep_copy(exec, base.across, T(0));
  Kokkos::deep_copy(exec, base.along, T(0));
  exec.fence();
  if (!factored) return base;
  const std::int64_t nodes = grid.size();
  Kokkos::parallel_for("moho::eikonal::fill_base",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                           exec, 0, nodes * static_cast<std::int64_t>(count)),
                       FillFieldBase<T, Dim, Exec>{base, tiled, nodes});
  exec.fence();
  return base;
}

/// u around a node of an array.
template <class T, int Dim>
struct ValuesAt {
  const T* center;
  const std::int64_t* stride;
  KOKKOS_FORCEINLINE_FUNCTION T value(int axis, int step) const {
    return relaxed_load(center + step * stride[axis]);
  }
};

/// The factor for one kind of medium.
template <class T, int Dim, class Exec, bool Anelliptic>
using Base = std::conditional_t<Anelliptic, FieldBase<T, Dim, Exec>, TableBase<T, Dim, Exec>>;

/// A problem on the padded grid: a batch of sources in one medium.
template <class T, int Dim, class Exec, bool Anelliptic>
struct Problem {
  TiledGrid<Dim> grid;
  MediumData<T> medium;
  Base<T, Dim, Exec, Anelliptic> base;
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> u;  ///< source, place
  Kokkos::View<SourceBox<Dim>*, typename Exec::memory_space> boxes;
  T inverse_spacing[Dim];
  T tolerance;
  int sources;

  /// Flat index of a node in the medium's fields.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t dense(const std::int64_t (&node)[Dim]) const {
    std::int64_t i = node[0];
    for (int d = 1; d < Dim; ++d) i = i * grid.extents[d] + node[d];
    return i;
  }
};

}  // namespace moho::eikonal::detail
