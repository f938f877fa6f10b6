// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Rows of the traveltime tomography matrix: what each cell or node adds to each ray's time.

#include <moho/rays/paths.hpp>

#include <KokkosSparse_CrsMatrix.hpp>

#include <algorithm>
#include <utility>

namespace moho::rays {

/// What the columns of a ray matrix are.
enum class Basis {
  cells,  ///< entry = length of the ray in the cell; the row sums to the length of the ray
  nodes   ///< entry = derivative of the traveltime by the node's slowness, for slowness linear in
          ///< cells
};

/// The matrix type of ray_matrix(): double entries, 64-bit row offsets, 32-bit columns.
template <class Exec>
using RayMatrix =
    KokkosSparse::CrsMatrix<double, int, Kokkos::Device<Exec, typename Exec::memory_space>, void,
                            std::int64_t>;

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
    // Along a face the length is shared by the cells on both sides, as the rule `cells` has it.
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

}  // namespace detail

/// Rows of the traveltime tomography matrix G, one a ray in the order of `paths`.
///
/// With Basis::cells, G times the slowness of the cells is the traveltime of a graph whose weights
/// follow WeightRule::cells. With Basis::nodes, G times the slowness at the nodes is the traveltime
/// of a graph with WeightRule::slowness, exactly up to rounding; G is then also the derivative,
/// because the first arrival does not change to first order when the ray moves.
///
/// \param exec the matrix lives in the memory of this space
/// \param grid the model's grid
/// \param paths rays
/// \param basis what the columns are: flat cells (Grid::flat_cell) or flat nodes (Grid::flat)
/// \throws InputError the model has no cells (an axis with one node), or more than 2^31 - 1 columns
template <int Dim, class Exec>
RayMatrix<Exec> ray_matrix(const Exec& exec, const Grid<Dim>& grid, const RayPaths<Dim>& paths,
                           Basis basis = Basis::cells) {
  grid.check();
  const std::int64_t columns = basis == Basis::cells ? grid.cells() : grid.size();
  if (columns < 1) {
    throw InputError(concat("ray_matrix: a grid of ", shape_string(grid),
                            " nodes has no cells (allowed: two nodes or more along each axis): use "
                            "Basis::nodes"));
  }
  if (columns > 2147483647) {
    throw InputError(concat("ray_matrix: ", columns, " columns (allowed: up to 2147483647)"));
  }
  const std::int64_t rows = paths.sources * paths.receivers;
  std::vector<std::vector<std::pair<int, double>>> entries(static_cast<std::size_t>(rows));
  const auto make_row = [&](const std::int64_t ray) {
    std::vector<std::pair<int, double>> row;
    const std::size_t k = static_cast<std::size_t>(ray);
    for (std::int64_t i = paths.first[k]; i + 1 < paths.first[k + 1]; ++i) {
      detail::add_segment<Dim>(grid, paths.points[static_cast<std::size_t>(i)],
                               paths.points[static_cast<std::size_t>(i) + 1], basis, row);
    }
    std::sort(row.begin(), row.end());
    std::vector<std::pair<int, double>>& merged = entries[k];
    for (const auto& [column, value] : row) {
      if (!merged.empty() && merged.back().first == column) {
        merged.back().second += value;
      } else {
        merged.emplace_back(column, value);
      }
    }
  };
  using Host = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for("moho::rays::matrix_rows",
                       Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, rows),
                       make_row);
  Host().fence();

  std::int64_t nonzeros = 0;
  for (const auto& row : entries) nonzeros += static_cast<std::int64_t>(row.size());
  using Matrix = RayMatrix<Exec>;
  using RowMap = typename Matrix::row_map_type::non_const_type;
  using Columns = typename Matrix::index_type::non_const_type;
  using Values = typename Matrix::values_type::non_const_type;
  const auto row_map = allocate<RowMap>(exec, "moho::rays::row_map", rows + 1);
  const auto indices = allocate<Columns>(exec, "moho::rays::columns", nonzeros);
  const auto values = allocate<Values>(exec, "moho::rays::values", nonzeros);
  auto host_row_map = Kokkos::create_mirror_view(row_map);
  auto host_indices = Kokkos::create_mirror_view(indices);
  auto host_values = Kokkos::create_mirror_view(values);
  std::int64_t next = 0;
  for (std::int64_t ray = 0; ray < rows; ++ray) {
    host_row_map(ray) = next;
    for (const auto& [column, value] : entries[static_cast<std::size_t>(ray)]) {
      host_indices(next) = column;
      host_values(next) = value;
      ++next;
    }
  }
  host_row_map(rows) = next;
  Kokkos::deep_copy(exec, row_map, host_row_map);
  Kokkos::deep_copy(exec, indices, host_indices);
  Kokkos::deep_copy(exec, values, host_values);
  exec.fence();
  return Matrix("moho::rays::matrix", static_cast<int>(rows), static_cast<int>(columns), nonzeros,
                values, row_map, indices);
}

}  // namespace moho::rays
