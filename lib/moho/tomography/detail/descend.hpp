// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Rays that descend through fields of traveltimes, and slownesses at sources (internal).

#include <moho/core/field.hpp>
#include <moho/eikonal/homogeneous.hpp>
#include <moho/rays/paths.hpp>

#include <cstdint>

namespace moho::tomography::detail {

/// Velocity and Thomsen's parameters at the model nodes; a null pointer counts as 0.
template <class T, int Dim>
struct Medium {
  Grid<Dim> grid;
  const T* velocity = nullptr;  ///< along the vertical axis, m/s
  const T* epsilon = nullptr;
  const T* delta = nullptr;

  /// The cell around a position, and the fractions of its upper nodes.
  struct Cell {
    Index<Dim> node{};
    double fraction[Dim];
  };
  KOKKOS_INLINE_FUNCTION static Cell cell_at(const Grid<Dim>& grid, const Point<Dim>& position) {
    using std::floor;
    const Point<Dim> q = grid.to_index_space(position);
    Cell cell;
    for (int d = 0; d < Dim; ++d) {
      const double last = static_cast<double>(grid.extents[d] - 1);
      const double at = q[d] < 0.0 ? 0.0 : q[d] > last ? last : q[d];
      const double top = last > 1.0 ? last - 1.0 : 0.0;
      const double lower = floor(at) < top ? floor(at) : top;
      cell.node[d] = static_cast<std::int64_t>(lower);
      cell.fraction[d] = at - lower;
    }
    return cell;
  }
  /// Returns the value of a field in a cell, linear between its corners.
  KOKKOS_INLINE_FUNCTION static double interpolate(const Grid<Dim>& grid, const Cell& cell,
                                                   const T* field) {
    std::int64_t step[Dim], stride = 1;
    double part[Dim][2];  // weights of the lower and of the upper nodes along an axis
    for (int d = Dim - 1; d >= 0; --d) {
      step[d] = cell.node[d] + 1 < grid.extents[d] ? stride : 0;
      stride *= grid.extents[d];
      part[d][0] = 1.0 - cell.fraction[d];
      part[d][1] = cell.fraction[d];
    }
    const T* const first = field + grid.flat(cell.node);
    double sum = 0.0;
    for (int corner = 0; corner < (1 << Dim); ++corner) {
      std::int64_t at = 0;
      double weight = 1.0;
      for (int d = 0; d < Dim; ++d) {
        const int upper = (corner >> d) & 1;
        weight *= part[d][upper];
        at += upper * step[d];
      }
      sum += weight * static_cast<double>(first[at]);
    }
    return sum;
  }
  /// Returns the linearly interpolated value of a field.
  KOKKOS_INLINE_FUNCTION double value(const T* field, const Point<Dim>& position) const {
    return field == nullptr ? 0.0 : interpolate(grid, cell_at(grid, position), field);
  }
  /// Returns the constants of the medium at a position.
  KOKKOS_INLINE_FUNCTION eikonal::Constants constants(const Point<Dim>& position) const {
    return eikonal::make_constants(value(velocity, position), value(epsilon, position),
                                   value(delta, position));
  }
};

/// Returns time and slowness of a homogeneous medium from a point to another one; the components
/// of the slowness are in `slowness`.
template <int Dim>
KOKKOS_INLINE_FUNCTION double homogeneous_time(const eikonal::Constants& medium,
                                               const Point<Dim>& from, const Point<Dim>& to,
                                               Point<Dim>* slowness = nullptr) {
  using std::sqrt;
  double square = 0.0;
  for (int d = 0; d + 1 < Dim; ++d) square += (to[d] - from[d]) * (to[d] - from[d]);
  const double across = sqrt(square);
  const eikonal::TimeAndSlowness found =
      eikonal::homogeneous(medium, across, to[Dim - 1] - from[Dim - 1]);
  if (slowness != nullptr) {
    for (int d = 0; d + 1 < Dim; ++d) {
      (*slowness)[d] = across > 0.0 ? found.horizontal * (to[d] - from[d]) / across : 0.0;
    }
    (*slowness)[Dim - 1] = found.vertical;
  }
  return found.time;
}

/// Replaces the times of sources at the nodes by their ratios to those of a homogeneous medium
/// around the source, whose limit there is 1.
template <class T, int Dim, class Memory>
struct TimesToRatios {
  Medium<T, Dim> medium;
  rays::detail::PointView<Dim, Memory> sources;
  T* times;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t nodes = medium.grid.size();
    const Point<Dim> from = rays::detail::get_point<Dim, Memory>(sources, i / nodes);
    const Point<Dim> to = medium.grid.position(medium.grid.node(i % nodes));
    const double own = homogeneous_time<Dim>(medium.constants(from), from, to);
    times[i] = own > 0.0 ? static_cast<T>(static_cast<double>(times[i]) / own) : T(1);
  }
};

/// The time of a source at any position: its ratio to the time of a homogeneous medium is
/// interpolated linearly, which has no singularity at the source.
template <class T, int Dim>
struct TimeField {
  Grid<Dim> grid;
  const T* ratios = nullptr;
  Point<Dim> source{};
  eikonal::Constants medium;  ///< at the source

  KOKKOS_INLINE_FUNCTION double operator()(const Point<Dim>& position) const {
    using std::sqrt;
    double own = 0.0;
    if (medium.horizontal == medium.vertical && medium.anellipticity == 0.0) {
      for (int d = 0; d < Dim; ++d) own += (position[d] - source[d]) * (position[d] - source[d]);
      own = sqrt(own) / medium.vertical;
    } else {
      own = homogeneous_time<Dim>(medium, source, position);
    }
    return own * Medium<T, Dim>::interpolate(grid, Medium<T, Dim>::cell_at(grid, position), ratios);
  }
};

/// Times of pairs from fields of sources.
template <class T, int Dim, class Memory>
struct TimeOfPair {
  Medium<T, Dim> medium;
  const T* ratios = nullptr;             ///< sources x nodes, of TimesToRatios
  const std::int64_t* source = nullptr;  ///< place in the batch, for each pair
  rays::detail::PointView<Dim, Memory> sources, receivers;
  double* result = nullptr;

  KOKKOS_INLINE_FUNCTION TimeField<T, Dim> field_of(const std::int64_t pair) const {
    const Point<Dim> from = rays::detail::get_point<Dim, Memory>(sources, source[pair]);
    return {medium.grid, ratios + source[pair] * medium.grid.size(), from, medium.constants(from)};
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t pair) const {
    result[pair] = field_of(pair)(rays::detail::get_point<Dim, Memory>(receivers, pair));
  }
};

/// Rays of pairs from the receiver along -dH/dp, p = grad T, by the midpoint rule in steps of half
/// a cell. Called twice: without points they are counted.
///
/// A ray that does not reach its source in 10 (nx + ny + nz) steps has no points, or those of the
/// ray of the graph.
template <class T, int Dim, class Memory>
struct DescendPair {
  TimeOfPair<T, Dim, Memory> times;
  Kokkos::View<std::int64_t*, Memory> first;        ///< counts, then offsets
  Kokkos::View<std::int64_t*, Memory> last_vertex;  ///< of the graph's ray; -4: it is not used
  rays::detail::PointView<Dim, Memory> points;      ///< empty in the first call

  static constexpr std::int64_t descended = -4;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t pair) const {
    if (points.extent(0) == 0) {
      const std::int64_t count = descend(pair, -1);
      if (count == 0) return;
      first(pair) = count;
      last_vertex(pair) = descended;
    } else if (last_vertex(pair) == descended) {
      descend(pair, first(pair + 1));
    }
  }

 private:
  // Returns the number of points; 0 if the ray does not reach its source. They are written
  // backwards from `end` unless it is negative.
  KOKKOS_INLINE_FUNCTION std::int64_t descend(const std::int64_t pair, std::int64_t end) const {
    using std::sqrt;
    const TimeField<T, Dim> field = times.field_of(pair);
    const Grid<Dim>& grid = field.grid;
    double step = grid.spacing[0];
    std::int64_t max = 0;
    for (int d = 0; d < Dim; ++d) {
      step = grid.spacing[d] < step ? grid.spacing[d] : step;
      max += 10 * grid.extents[d];
    }
    const double near = 1.5 * step;
    step *= 0.5;
    Point<Dim> at = rays::detail::get_point<Dim, Memory>(times.receivers, pair);
    std::int64_t count = 1;
    put(--end, at);
    while (distance(at, field.source) > near) {
      if (count > max) return 0;
      Point<Dim> tangent{}, middle{};
      if (!direction(field, at, tangent)) return 0;
      for (int d = 0; d < Dim; ++d) middle[d] = at[d] - 0.5 * step * tangent[d];
      clamp(grid, middle);
      if (!direction(field, middle, tangent)) return 0;
      for (int d = 0; d < Dim; ++d) at[d] -= step * tangent[d];
      clamp(grid, at);
      ++count;
      put(--end, at);
    }
    if (distance(at, field.source) > 0.0 || count == 1) {
      ++count;
      put(--end, field.source);
    }
    return count;
  }
  KOKKOS_INLINE_FUNCTION void put(std::int64_t row, const Point<Dim>& p) const {
    if (row < 0) return;
    for (int d = 0; d < Dim; ++d) points(row, d) = p[d];
  }
  KOKKOS_INLINE_FUNCTION static double distance(const Point<Dim>& a, const Point<Dim>& b) {
    using std::sqrt;
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) square += (a[d] - b[d]) * (a[d] - b[d]);
    return sqrt(square);
  }
  KOKKOS_INLINE_FUNCTION static void clamp(const Grid<Dim>& grid, Point<Dim>& p) {
    for (int d = 0; d < Dim; ++d) {
      const double low = grid.origin[d], high = grid.upper(d);
      p[d] = p[d] < low ? low : p[d] > high ? high : p[d];
    }
  }
  // The unit vector of dH/dp. Returns false where the time has no gradient.
  KOKKOS_INLINE_FUNCTION bool direction(const TimeField<T, Dim>& field, const Point<Dim>& at,
                                        Point<Dim>& tangent) const {
    using std::sqrt;
    const Grid<Dim>& grid = field.grid;
    Point<Dim> p{};
    double across = 0.0;
    for (int d = 0; d < Dim; ++d) {
      Point<Dim> low = at, high = at;
      low[d] -= 0.5 * grid.spacing[d];
      high[d] += 0.5 * grid.spacing[d];
      clamp(grid, low);
      clamp(grid, high);
      if (!(high[d] > low[d])) continue;
      p[d] = (field(high) - field(low)) / (high[d] - low[d]);
      if (d + 1 < Dim) across += p[d] * p[d];
    }
    const Medium<T, Dim>& m = times.medium;
    if (m.epsilon == nullptr && m.delta == nullptr) {
      double norm = 0.0;
      for (int d = 0; d < Dim; ++d) norm += p[d] * p[d];
      norm = sqrt(norm);
      if (!(norm > 0.0 && norm < 1e300)) return false;
      for (int d = 0; d < Dim; ++d) tangent[d] = p[d] / norm;
      return true;
    }
    const double v = m.value(m.velocity, at), e = m.value(m.epsilon, at),
                 delta = m.value(m.delta, at);
    const double square = v * v, along = p[Dim - 1] * p[Dim - 1];
    const double mixed = 2.0 * (e - delta) * square * square;
    double norm = 0.0;
    for (int d = 0; d + 1 < Dim; ++d)
      tangent[d] = p[d] * (square * (1.0 + 2.0 * e) - mixed * along);
    tangent[Dim - 1] = p[Dim - 1] * (square - mixed * across);
    for (int d = 0; d < Dim; ++d) norm += tangent[d] * tangent[d];
    norm = sqrt(norm);
    if (!(norm > 0.0 && norm < 1e300)) return false;
    for (int d = 0; d < Dim; ++d) tangent[d] /= norm;
    return true;
  }
};

/// Times at the points of rays.
template <class T, int Dim, class Memory>
struct ArrivalAtPoints {
  TimeOfPair<T, Dim, Memory> times;
  rays::detail::PointView<Dim, Memory> points;
  const std::int64_t* first = nullptr;
  double* result = nullptr;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t pair) const {
    const TimeField<T, Dim> field = times.field_of(pair);
    for (std::int64_t i = first[pair]; i < first[pair + 1]; ++i) {
      result[i] = field(rays::detail::get_point<Dim, Memory>(points, i));
    }
  }
};

/// Derivative of the times of pairs by the position of the source, -p: p is the slowness of a
/// homogeneous medium in the direction in which the ray leaves, over a chord of some cells.
template <class T, int Dim, class Memory>
struct DepartureOfRay {
  Medium<T, Dim> medium;
  rays::detail::PointView<Dim, Memory> points;
  const std::int64_t* first = nullptr;
  double reach = 0.0;        ///< length of the chord, m
  double* result = nullptr;  ///< pairs x Dim, s/m
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t pair) const {
    using std::sqrt;
    const std::int64_t begin = first[pair], end = first[pair + 1];
    for (int d = 0; d < Dim; ++d) result[pair * Dim + d] = 0.0;
    if (end - begin < 2) return;
    const Point<Dim> from = rays::detail::get_point<Dim, Memory>(points, begin);
    Point<Dim> to = from;
    for (std::int64_t i = begin + 1; i < end; ++i) {
      to = rays::detail::get_point<Dim, Memory>(points, i);
      double square = 0.0;
      for (int d = 0; d < Dim; ++d) square += (to[d] - from[d]) * (to[d] - from[d]);
      if (square >= reach * reach) break;
    }
    Point<Dim> slowness{};
    homogeneous_time<Dim>(medium.constants(from), from, to, &slowness);
    for (int d = 0; d < Dim; ++d) result[pair * Dim + d] = -slowness[d];
  }
};

}  // namespace moho::tomography::detail
