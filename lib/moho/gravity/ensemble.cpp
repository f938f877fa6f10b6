// SPDX-License-Identifier: BSD-3-Clause

#include <moho/gravity/ensemble.hpp>

#include <algorithm>
#include <cmath>

namespace moho::gravity {

std::vector<double> mesh_prisms(const RegularMesh& mesh, const std::vector<double>& densities) {
  if (static_cast<std::int64_t>(densities.size()) != mesh.size()) {
    throw InputError(concat("densities: there are ", densities.size(), " (allowed: ", mesh.size(),
                            ", one a prism of the mesh ", mesh.cells[0], " x ", mesh.cells[1],
                            " x ", mesh.cells[2], ")"));
  }
  std::vector<double> rows;
  rows.reserve(
      7 * static_cast<std::size_t>(std::count_if(densities.begin(), densities.end(),
                                                 [](double density) { return density != 0.0; })));
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

std::vector<double> station_grid(std::int64_t nx, std::int64_t ny, double dx, double dy, double x0,
                                 double y0, const std::vector<double>& elevation) {
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

namespace detail {

void refuse_gaps(const char* argument) {
  throw InputError(concat(argument,
                          ": it is a part of a larger view, with gaps between its rows (allowed: "
                          "views whose elements lie one after the other): copy it into a view of "
                          "its own with Kokkos::deep_copy"));
}

void refuse_prism(std::int64_t row, const double (&p)[7]) {
  const int wrong = fault_of(p);
  constexpr const char* columns[] = {"x1", "x2", "y1", "y2", "z1", "z2", "density"};
  if (wrong < 7) {
    throw InputError(concat("prisms: row ", row, " (counted from 0): ", columns[wrong], " is ",
                            p[wrong], " (allowed: finite numbers, at most ",
                            wrong == 6 ? largest_density : largest_coordinate, ")"));
  }
  const int axis = (wrong - 7) % 3;
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

void check_mesh(const RegularMesh& mesh, std::int64_t densities) {
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
  if (densities != mesh.size()) {
    throw InputError(concat("densities: there are ", densities, " (allowed: ", mesh.size(),
                            ", one a prism of the mesh ", mesh.cells[0], " x ", mesh.cells[1],
                            " x ", mesh.cells[2], ")"));
  }
}

void refuse_density(const RegularMesh& mesh, std::int64_t prism) {
  throw InputError(
      concat("densities: prism ", prism, " (counted from 0; i = ", prism % mesh.cells[0],
             ", j = ", prism / mesh.cells[0] % mesh.cells[1],
             ", k = ", prism / mesh.cells[0] / mesh.cells[1], ") is NaN, infinite or above ",
             largest_density, " (allowed: finite numbers; 0 for no prism)"));
}

}  // namespace detail

}  // namespace moho::gravity
