// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Ensembles of prisms and lists of stations: making them on the host, and checking them on
/// the space where they are used.

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>
#include <moho/gravity/types.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace moho::gravity {

/// \brief The prisms of a regular mesh that have mass, as rows x1, x2, y1, y2, z1, z2, density.
/// \param mesh the box and its division
/// \param densities kg/m^3, numbered along x, then y, then z
/// \throws InputError if there are not as many densities as prisms
inline std::vector<double> mesh_prisms(const RegularMesh& mesh,
                                       const std::vector<double>& densities) {
  if (static_cast<std::int64_t>(densities.size()) != mesh.size()) {
    throw InputError(concat("densities: there are ", densities.size(), " (allowed: ", mesh.size(),
                            ", one a prism of the mesh ", mesh.cells[0], " x ", mesh.cells[1],
                            " x ", mesh.cells[2], ")"));
  }
  std::vector<double> rows;
  std::int64_t at = 0;
  for (std::int64_t k = 0; k < mesh.cells[2]; ++k) {
    for (std::int64_t j = 0; j < mesh.cells[1]; ++j) {
      for (std::int64_t i = 0; i < mesh.cells[0]; ++i, ++at) {
        const double density = densities[static_cast<std::size_t>(at)];
        if (density == 0.0) continue;
        rows.insert(rows.end(),
                    {mesh.face(0, i), mesh.face(0, i + 1), mesh.face(1, j), mesh.face(1, j + 1),
                     mesh.face(2, k), mesh.face(2, k + 1), density});
      }
    }
  }
  return rows;
}

/// \brief Stations on a grid, x first: rows x, y, z with z = -elevation.
/// \param nx,ny stations along x and y
/// \param dx,dy distances between them, metres
/// \param x0,y0 the first one
/// \param elevation metres above z = 0: one for all, or one a station
/// \throws InputError if there are as many elevations as neither
inline std::vector<double> station_grid(std::int64_t nx, std::int64_t ny, double dx, double dy,
                                        double x0, double y0,
                                        const std::vector<double>& elevation) {
  if (nx < 1 || ny < 1) {
    throw InputError(concat("station_grid: ", nx, " x ", ny, " stations (allowed: 1 x 1 or more)"));
  }
  const std::size_t count = static_cast<std::size_t>(nx * ny);
  if (elevation.size() != 1 && elevation.size() != count) {
    throw InputError(concat("elevation: there are ", elevation.size(), " values (allowed: 1, or ",
                            count, " for a grid of ", nx, " x ", ny, " stations)"));
  }
  std::vector<double> rows;
  rows.reserve(3 * count);
  for (std::int64_t j = 0; j < ny; ++j) {
    for (std::int64_t i = 0; i < nx; ++i) {
      const std::size_t at = static_cast<std::size_t>(j * nx + i);
      rows.insert(rows.end(), {x0 + dx * static_cast<double>(i), y0 + dy * static_cast<double>(j),
                               0.0 - elevation[elevation.size() == 1 ? 0 : at]});
    }
  }
  return rows;
}

/// Largest coordinate, metres: a thousand million kilometres. Its sixth power has to stay a number.
inline constexpr double largest_coordinate = 1e12;
/// Largest density, kg/m^3.
inline constexpr double largest_density = 1e30;

namespace detail {

/// Prisms from rows.
template <class Exec>
struct RowSource {
  PrismView<Exec> rows;
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    return static_cast<std::int64_t>(rows.extent(0));
  }
  KOKKOS_INLINE_FUNCTION double density(std::int64_t i) const { return rows(i, 6); }
  KOKKOS_INLINE_FUNCTION void prism(std::int64_t i, double (&p)[7]) const {
    for (int c = 0; c < 7; ++c) p[c] = rows(i, c);
  }
};

/// Prisms of a regular mesh.
template <class Exec>
struct MeshSource {
  RegularMesh mesh;
  DensityView<Exec> densities;
  KOKKOS_INLINE_FUNCTION std::int64_t size() const { return mesh.size(); }
  KOKKOS_INLINE_FUNCTION double density(std::int64_t i) const { return densities(i); }
  KOKKOS_INLINE_FUNCTION void prism(std::int64_t i, double (&p)[7]) const {
    p[6] = densities(i);
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t k = i % mesh.cells[axis];
      i /= mesh.cells[axis];
      p[2 * axis] = mesh.face(axis, k);
      p[2 * axis + 1] = mesh.face(axis, k + 1);
    }
  }
};

/// The first row that cannot be used: row * 16 + what is wrong.
template <class Exec>
struct FindBadPrism {
  RowSource<Exec> source;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& first) const {
    double p[7];
    source.prism(i, p);
    int wrong = 15;
    for (int axis = 2; axis >= 0; --axis) {
      if (p[2 * axis] == p[2 * axis + 1]) wrong = 10 + axis;
      if (p[2 * axis] > p[2 * axis + 1]) wrong = 7 + axis;
    }
    for (int c = 6; c >= 0; --c) {
      const double limit = c == 6 ? largest_density : largest_coordinate;
      if (!(p[c] >= -limit && p[c] <= limit)) wrong = c;  // or NaN
    }
    if (wrong != 15 && i * 16 + wrong < first) first = i * 16 + wrong;
  }
};

/// The first density of a mesh that is not finite.
template <class Exec>
struct FindBadDensity {
  DensityView<Exec> densities;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& first) const {
    const double value = densities(i);
    if (!(value >= -largest_density && value <= largest_density) && i < first) first = i;
  }
};

/// The first station that is not finite: row * 4 + axis.
template <class Exec>
struct FindBadStation {
  StationView<Exec> stations;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& first) const {
    for (int axis = 2; axis >= 0; --axis) {
      const double value = stations(i, axis);
      const bool good = value >= -largest_coordinate && value <= largest_coordinate;
      if (!good && i * 4 + axis < first) first = i * 4 + axis;
    }
  }
};

inline constexpr std::int64_t nothing_bad = std::int64_t(1) << 62;

template <class Exec, class Functor>
std::int64_t find_first(const Exec& exec, const char* label, std::int64_t count,
                        const Functor& functor) {
  std::int64_t first = nothing_bad;
  Kokkos::parallel_reduce(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), functor,
      Kokkos::Min<std::int64_t>(first));
  exec.fence();
  return first < nothing_bad ? first : nothing_bad;
}

/// Copies one row of a view to the host.
template <class Exec, class ViewType>
std::vector<double> host_row(const Exec& exec, const ViewType& view, std::int64_t row) {
  const auto on_space = Kokkos::subview(view, static_cast<std::size_t>(row), Kokkos::ALL());
  std::vector<double> values(on_space.extent(0));
  Kokkos::deep_copy(
      exec,
      Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          values.data(), values.size()),
      on_space);
  exec.fence();
  return values;
}

/// Throws InputError if a prism cannot be used.
template <class Exec>
void check_prisms(const Exec& exec, const PrismView<Exec>& prisms) {
  if (prisms.extent(0) == 0) {
    throw InputError("prisms: there are none (allowed: 1 or more): give an ensemble");
  }
  const std::int64_t bad =
      find_first(exec, "moho::gravity::check_prisms", static_cast<std::int64_t>(prisms.extent(0)),
                 FindBadPrism<Exec>{{prisms}});
  if (bad == nothing_bad) return;
  const std::int64_t row = bad / 16;
  const int wrong = static_cast<int>(bad % 16);
  const std::vector<double> p = host_row(exec, prisms, row);
  constexpr const char* columns[] = {"x1", "x2", "y1", "y2", "z1", "z2", "density"};
  if (wrong < 7) {
    throw InputError(concat("prisms: row ", row, " (counted from 0): ", columns[wrong], " is ",
                            p[static_cast<std::size_t>(wrong)],
                            " (allowed: finite numbers, at most ",
                            wrong == 6 ? largest_density : largest_coordinate, ")"));
  }
  const std::size_t axis = static_cast<std::size_t>((wrong - 7) % 3);
  if (wrong >= 10) {
    throw InputError(concat("prisms: row ", row, " (counted from 0): zero thickness along ",
                            "xyz"[axis], ", ", columns[2 * axis], " and ", columns[2 * axis + 1],
                            " are both ", p[2 * axis], " (allowed: ", columns[2 * axis], " < ",
                            columns[2 * axis + 1], "): leave the prism out"));
  }
  throw InputError(concat(
      "prisms: row ", row,
      " (counted from 0): ", axis == 2 ? "bottom above top, " : "lower face behind the upper, ",
      columns[2 * axis], " = ", p[2 * axis], " > ", columns[2 * axis + 1], " = ", p[2 * axis + 1],
      " (allowed: ", columns[2 * axis], " < ", columns[2 * axis + 1],
      axis == 2 ? ", z is positive down" : "", "): exchange the two"));
}

/// Throws InputError if a regular ensemble cannot be used.
template <class Exec>
void check_mesh(const Exec& exec, const RegularMesh& mesh, const DensityView<Exec>& densities) {
  double prisms = 1.0;
  for (int axis = 0; axis < 3; ++axis) {
    const char name = "xyz"[axis];
    if (mesh.cells[axis] < 1) {
      throw InputError(
          concat("mesh: ", mesh.cells[axis], " prisms along ", name, " (allowed: 1 or more)"));
    }
    if (!std::isfinite(mesh.lower[axis]) || !std::isfinite(mesh.upper[axis]) ||
        !(mesh.lower[axis] < mesh.upper[axis])) {
      throw InputError(concat("mesh: along ", name, " from ", mesh.lower[axis], " to ",
                              mesh.upper[axis], " (allowed: finite, the lower before the upper",
                              axis == 2 ? "; z is positive down, so that the top comes first" : "",
                              ")"));
    }
    const double spacing =
        (mesh.upper[axis] - mesh.lower[axis]) / static_cast<double>(mesh.cells[axis]);
    const double largest = std::max(std::abs(mesh.lower[axis]), std::abs(mesh.upper[axis]));
    if (!(largest <= largest_coordinate) || !(spacing > 1e-15 * largest)) {
      throw InputError(concat("mesh: ", mesh.cells[axis], " prisms along ", name, " from ",
                              mesh.lower[axis], " to ", mesh.upper[axis],
                              " (allowed: coordinates of at most ", largest_coordinate,
                              " with faces that differ): take fewer prisms or a larger box"));
    }
    prisms *= static_cast<double>(mesh.cells[axis]);
  }
  if (prisms > 4.0e18) throw InputError("mesh: the number of prisms overflows 64-bit indices");
  if (static_cast<std::int64_t>(densities.extent(0)) != mesh.size()) {
    throw InputError(concat("densities: there are ", densities.extent(0),
                            " (allowed: ", mesh.size(), ", one a prism of the mesh ", mesh.cells[0],
                            " x ", mesh.cells[1], " x ", mesh.cells[2], ")"));
  }
  const std::int64_t bad = find_first(exec, "moho::gravity::check_densities", mesh.size(),
                                      FindBadDensity<Exec>{densities});
  if (bad == nothing_bad) return;
  throw InputError(concat("densities: prism ", bad, " (counted from 0; i = ", bad % mesh.cells[0],
                          ", j = ", bad / mesh.cells[0] % mesh.cells[1], ", k = ",
                          bad / mesh.cells[0] / mesh.cells[1], ") is NaN, infinite or above ",
                          largest_density, " (allowed: finite numbers; 0 for no prism)"));
}

/// Throws InputError if a station cannot be used.
template <class Exec>
void check_stations(const Exec& exec, const StationView<Exec>& stations) {
  if (stations.extent(0) == 0) {
    throw InputError("stations: there are none (allowed: 1 or more): say where to compute");
  }
  const std::int64_t bad =
      find_first(exec, "moho::gravity::check_stations",
                 static_cast<std::int64_t>(stations.extent(0)), FindBadStation<Exec>{stations});
  if (bad == nothing_bad) return;
  const std::vector<double> row = host_row(exec, stations, bad / 4);
  throw InputError(concat("stations: row ", bad / 4, " (counted from 0): ", "xyz"[bad % 4], " is ",
                          row[static_cast<std::size_t>(bad % 4)],
                          " (allowed: finite numbers, at most ", largest_coordinate, ")"));
}

}  // namespace detail

}  // namespace moho::gravity
