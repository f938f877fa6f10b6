// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Ensembles of prisms and lists of stations: construction on the host, and checks.
///
/// The checks run on the space where the data are used.

#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/gravity/types.hpp>

#include <cstdint>
#include <vector>

namespace moho::gravity {

/// \brief Returns a regular mesh's prisms with mass: rows x1, x2, y1, y2, z1, z2, density.
/// \param mesh the box and its division
/// \param densities kg/m^3, x fastest, then y, then z
/// \throws InputError the number of densities is not the number of prisms
std::vector<double> mesh_prisms(const RegularMesh& mesh, const std::vector<double>& densities);

/// \brief Returns the stations of a grid, x fastest, as rows x, y, z with z = -elevation.
/// \param nx,ny number of stations along x and y
/// \param dx,dy distances between stations, metres
/// \param x0,y0 position of the first station, metres
/// \param elevation metres above z = 0: one for all stations, or one per station
/// \throws InputError another number of elevations
std::vector<double> station_grid(std::int64_t nx, std::int64_t ny, double dx, double dy, double x0,
                                 double y0, const std::vector<double>& elevation);

/// Largest coordinate, metres; its sixth power must be finite.
inline constexpr double largest_coordinate = 1e12;
/// Largest density, kg/m^3.
inline constexpr double largest_density = 1e30;

namespace detail {

/// Prisms from rows.
struct RowSource {
  const double* rows;
  std::int64_t count;
  KOKKOS_INLINE_FUNCTION std::int64_t size() const { return count; }
  KOKKOS_INLINE_FUNCTION double density(std::int64_t i) const { return rows[7 * i + 6]; }
  /// Sets the faces of a prism.
  KOKKOS_INLINE_FUNCTION void box(std::int64_t i, double (&p)[7]) const {
    for (int c = 0; c < 6; ++c) p[c] = rows[7 * i + c];
  }
  KOKKOS_INLINE_FUNCTION void prism(std::int64_t i, double (&p)[7]) const {
    box(i, p);
    p[6] = rows[7 * i + 6];
  }
};

/// Prisms of a regular mesh.
struct MeshSource {
  RegularMesh mesh;
  const double* densities;
  KOKKOS_INLINE_FUNCTION std::int64_t size() const { return mesh.size(); }
  KOKKOS_INLINE_FUNCTION double density(std::int64_t i) const { return densities[i]; }
  /// Sets the faces of a prism.
  KOKKOS_INLINE_FUNCTION void box(std::int64_t i, double (&p)[7]) const {
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t k = i % mesh.cells[axis];
      i /= mesh.cells[axis];
      p[2 * axis] = mesh.face(axis, k);
      p[2 * axis + 1] = mesh.face(axis, k + 1);
    }
  }
  KOKKOS_INLINE_FUNCTION void prism(std::int64_t i, double (&p)[7]) const {
    box(i, p);
    p[6] = densities[i];
  }
};

/// Codes of a prism's faults. 0 to 6: that number is not finite or too large. 7 to 9: the faces
/// across x, y or z are in the wrong order. 10 to 12: no thickness along x, y or z. good_prism: no
/// fault.
inline constexpr int good_prism = 15;
KOKKOS_INLINE_FUNCTION int fault_of(const double (&p)[7]) {
  int wrong = good_prism;
  for (int axis = 2; axis >= 0; --axis) {
    if (p[2 * axis] == p[2 * axis + 1]) wrong = 10 + axis;
    if (p[2 * axis] > p[2 * axis + 1]) wrong = 7 + axis;
  }
  for (int c = 6; c >= 0; --c) {
    const double limit = c == 6 ? largest_density : largest_coordinate;
    if (!(p[c] >= -limit && p[c] <= limit)) wrong = c;  // or NaN
  }
  return wrong;
}

/// Predicate: a prism is invalid.
struct IsBadPrism {
  RowSource source;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    double p[7];
    source.prism(i, p);
    return fault_of(p) != good_prism;
  }
};

/// Predicate: a density of a mesh is not finite.
struct IsBadDensity {
  const double* densities;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    return !(densities[i] >= -largest_density && densities[i] <= largest_density);
  }
};

/// Predicate: a coordinate of a station, index row * 3 + axis, is not finite.
struct IsBadCoordinate {
  const double* stations;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    return !(stations[i] >= -largest_coordinate && stations[i] <= largest_coordinate);
  }
};

/// Throws InputError for prism `row`, whose numbers are invalid.
[[noreturn]] void refuse_prism(std::int64_t row, const double (&prism)[7]);
/// Throws InputError unless a mesh is valid and the number of densities equals that of its prisms.
void check_mesh(const RegularMesh& mesh, std::int64_t densities);
/// Throws InputError for an invalid density of a mesh.
[[noreturn]] void refuse_density(const RegularMesh& mesh, std::int64_t prism);
/// Throws InputError for a view that is a part of a larger one.
[[noreturn]] void refuse_gaps(const char* argument);

/// Throws InputError for a view with gaps between its rows; kernels read contiguous rows.
template <class ViewType>
void check_contiguous(const ViewType& view, const char* argument) {
  if (!view.span_is_contiguous()) refuse_gaps(argument);
}

/// Throws InputError if a prism is invalid.
template <class Memory>
void check_prisms(const Instance<Memory>& exec, const PrismView<Memory>& prisms) {
  check_contiguous(prisms, "prisms");
  if (prisms.extent(0) == 0) {
    throw InputError("prisms: there are none (allowed: 1 or more): give an ensemble");
  }
  const RowSource source{prisms.data(), static_cast<std::int64_t>(prisms.extent(0))};
  const std::int64_t bad =
      find_first("moho::gravity::check_prisms", exec, source.count, IsBadPrism{source});
  if (bad == none_found) return;
  double prism[7];
  for (int c = 0; c < 7; ++c) prism[c] = value_at(exec, source.rows + 7 * bad + c);
  refuse_prism(bad, prism);
}

/// Throws InputError if a regular ensemble is invalid.
template <class Memory>
void check_mesh(const Instance<Memory>& exec, const RegularMesh& mesh,
                const DensityView<Memory>& densities) {
  check_contiguous(densities, "densities");
  check_mesh(mesh, static_cast<std::int64_t>(densities.extent(0)));
  const std::int64_t bad = find_first("moho::gravity::check_densities", exec, mesh.size(),
                                      IsBadDensity{densities.data()});
  if (bad != none_found) refuse_density(mesh, bad);
}

/// Throws InputError if a station is invalid.
template <class Memory>
void check_stations(const Instance<Memory>& exec, const StationView<Memory>& stations) {
  check_contiguous(stations, "stations");
  if (stations.extent(0) == 0) {
    throw InputError("stations: there are none (allowed: 1 or more): say where to compute");
  }
  const std::int64_t bad = find_first("moho::gravity::check_stations", exec,
                                      static_cast<std::int64_t>(3 * stations.extent(0)),
                                      IsBadCoordinate{stations.data()});
  if (bad == none_found) return;
  throw InputError(concat("stations: row ", bad / 3, " (counted from 0): ", "xyz"[bad % 3], " is ",
                          value_at(exec, stations.data() + bad),
                          " (allowed: finite numbers, at most ", largest_coordinate, ")"));
}

}  // namespace detail

}  // namespace moho::gravity
