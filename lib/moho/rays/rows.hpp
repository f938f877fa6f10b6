// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Rows of the traveltime tomography matrix on the host.
///
/// <moho/rays/tomography.hpp> converts them into a matrix of Kokkos Kernels.

#include <moho/core/instances.hpp>
#include <moho/core/launch.hpp>
#include <moho/rays/sources.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace moho::rays {

/// Meaning of the columns of a ray matrix.
enum class Basis {
  cells,  ///< entry = length of the ray in the cell; the sum of a row is the length of the ray
  /// Entry = derivative of the traveltime with respect to the node's slowness. The slowness is
  /// linear in cells.
  nodes
};

/// A sparse matrix in compressed rows, on the host. Row r has the entries first[r] ... first[r + 1]
/// - 1, sorted by column.
struct RayRows {
  std::int64_t columns = 0;            ///< number of columns
  std::vector<std::int64_t> first{0};  ///< offsets into column and value, one more than rows
  std::vector<int> column;             ///< column of each entry
  std::vector<double> value;           ///< value of each entry
};

namespace detail {

/// Adds one straight segment to a row.
template <int Dim>
void add_segment(const Grid<Dim>& grid, const Point<Dim>& from, const Point<Dim>& to, Basis basis,
                 std::vector<std::pair<int, double>>& row) {
  const Kokkos::Array<double, Dim> p = snap<Dim>(grid, from), q = snap<Dim>(grid, to);
  double square = 0.0;
  for (int d = 0; d < Dim; ++d) {
    const double delta = (q[d] - p[d]) * grid.spacing[d];
    square += delta * delta;
  }
  const double length = std::sqrt(square);
  for_each_piece<Dim>(p, q, grid.extents, [&](double t0, double t1, const Index<Dim>& cell) {
    auto at = [&](double t, int d) { return p[d] + t * (q[d] - p[d]); };
    if (basis == Basis::nodes) {
      const double times[3] = {t0, 0.5 * (t0 + t1), t1};
      const double simpson[3] = {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0};
      for (int corner = 0; corner < (1 << Dim); ++corner) {
        double sum = 0.0;
        Index<Dim> node = cell;
        bool exists = true;
        for (int d = 0; d < Dim; ++d) {
          node[d] += (corner >> d) & 1;
          exists = exists && node[d] < grid.extents[d];
        }
        if (!exists) continue;
        for (int k = 0; k < 3; ++k) {
          double weight = simpson[k];
          for (int d = 0; d < Dim; ++d) {
            const double fraction = at(times[k], d) - static_cast<double>(cell[d]);
            weight *= (corner >> d) & 1 ? fraction : 1.0 - fraction;
          }
          sum += weight;
        }
        const double entry = sum * (t1 - t0) * length;
        if (std::abs(entry) > 1e-13 * length)
          row.emplace_back(static_cast<int>(grid.flat(node)), entry);
      }
      return;
    }
    // along a face the cells on both sides share the length, as with rule `cells`
    std::vector<int> cells;
    for (int side = 0; side < (1 << Dim); ++side) {
      Index<Dim> c = cell;
      bool valid = true;
      for (int d = 0; d < Dim; ++d) {
        if (!((side >> d) & 1)) continue;
        const double middle = at(0.5 * (t0 + t1), d);
        c[d] = middle == static_cast<double>(cell[d]) ? cell[d] - 1 : cell[d] + 1;
        valid = valid && middle == std::floor(middle) && c[d] >= 0 && c[d] <= grid.extents[d] - 2;
      }
      if (valid) cells.push_back(static_cast<int>(grid.flat_cell(c)));
    }
    for (const int c : cells) {
      row.emplace_back(c, (t1 - t0) * length / static_cast<double>(cells.size()));
    }
  });
}

/// Builds the entries of one ray, sorted by column, each column once.
template <int Dim>
struct MakeRow {
  Grid<Dim> grid;
  const RayPaths<Dim>* paths;
  Basis basis;
  std::vector<std::pair<int, double>>* rows;

  void operator()(const std::int64_t ray) const {
    const std::size_t k = static_cast<std::size_t>(ray);
    std::vector<std::pair<int, double>> row;
    for (std::int64_t i = paths->first[k]; i + 1 < paths->first[k + 1]; ++i) {
      add_segment<Dim>(grid, paths->points[static_cast<std::size_t>(i)],
                       paths->points[static_cast<std::size_t>(i) + 1], basis, row);
    }
    std::sort(row.begin(), row.end());
    std::vector<std::pair<int, double>>& merged = rows[k];
    for (const auto& [column, value] : row) {
      if (!merged.empty() && merged.back().first == column) {
        merged.back().second += value;
      } else {
        merged.emplace_back(column, value);
      }
    }
  }
};

/// Returns rows of a grid; `make(rows, maker)` calls maker(ray) for each ray.
template <int Dim, class Make>
RayRows assemble_rows(const Grid<Dim>& grid, const RayPaths<Dim>& paths, Basis basis,
                      const Make& make) {
  grid.check();
  RayRows result;
  result.columns = basis == Basis::cells ? grid.cells() : grid.size();
  if (result.columns < 1) {
    throw InputError(concat("ray_matrix: a grid of ", shape_string(grid),
                            " nodes has no cells (allowed: two nodes or more along each axis): use "
                            "Basis::nodes"));
  }
  if (result.columns > 2147483647) {
    throw InputError(
        concat("ray_matrix: ", result.columns, " columns (allowed: up to 2147483647)"));
  }
  const std::int64_t rows = paths.sources * paths.receivers;
  std::vector<std::vector<std::pair<int, double>>> entries(static_cast<std::size_t>(rows));
  make(rows, MakeRow<Dim>{grid, &paths, basis, entries.data()});
  for (const auto& row : entries) {
    for (const auto& [column, value] : row) {
      result.column.push_back(column);
      result.value.push_back(value);
    }
    result.first.push_back(static_cast<std::int64_t>(result.column.size()));
  }
  return result;
}

}  // namespace detail

/// Returns the rows of the traveltime tomography matrix G, one per ray in the order of `paths`.
///
/// With Basis::cells, G times the slowness of the cells is the traveltime of a graph with
/// WeightRule::cells. With Basis::nodes, G times the slowness at the nodes is the traveltime of a
/// graph with WeightRule::slowness, exact up to rounding. G is then also the derivative, because by
/// Fermat's principle the first arrival does not change to first order when the ray moves.
///
/// \param host all work is submitted to this instance; the function returns when it is complete
/// \param grid the model's grid
/// \param paths rays
/// \param basis meaning of the columns: flat cells (Grid::flat_cell) or flat nodes (Grid::flat)
/// \throws InputError the model has no cells (an axis with one node), or more than 2^31 - 1 columns
template <int Dim>
RayRows ray_rows_on(const Instance<Kokkos::HostSpace>& host, const Grid<Dim>& grid,
                    const RayPaths<Dim>& paths, Basis basis = Basis::cells) {
  return detail::assemble_rows<Dim>(grid, paths, basis,
                                    [&host](std::int64_t rows, const detail::MakeRow<Dim>& maker) {
                                      launch("moho::rays::matrix_rows", host, rows, maker);
                                      host.fence();
                                    });
}

/// Returns the rows of ray_rows_on(), made one after the other by the calling thread.
template <int Dim>
RayRows ray_rows_in_turn(const Grid<Dim>& grid, const RayPaths<Dim>& paths,
                         Basis basis = Basis::cells) {
  return detail::assemble_rows<Dim>(grid, paths, basis,
                                    [](std::int64_t rows, const detail::MakeRow<Dim>& maker) {
                                      for (std::int64_t ray = 0; ray < rows; ++ray) maker(ray);
                                    });
}

/// Returns ray_rows_on() of the default instance of the host.
template <int Dim>
RayRows ray_rows(const Grid<Dim>& grid, const RayPaths<Dim>& paths, Basis basis = Basis::cells) {
  return ray_rows_on<Dim>(Kokkos::DefaultHostExecutionSpace(), grid, paths, basis);
}

/// \cond
#ifdef MOHO_RAYS_KERNELS
MOHO_FOR_DIMENSIONS(MOHO_FUNCTION, extern template, ray_rows_on)
#endif
/// \endcond

}  // namespace moho::rays
