// SPDX-License-Identifier: BSD-3-Clause
#include "trace_rays/matrix.hpp"

#include <moho/core/error.hpp>
#include <moho/io/sparse.hpp>

namespace moho::examples::trace_rays {

template <int Dim>
rays::RayRows make_matrix(const Grid<Dim>& grid, const rays::RayPaths<Dim>& paths,
                          rays::Basis basis) {
  rays::RayRows rows;
  try {
    rows = rays::ray_rows<Dim>(grid, paths, basis);
    io::check_npz_size(rows.first.size() - 1, rows.value.size(), "matrix.npz",
                       "trace fewer rays at once");
  } catch (const InputError& error) {
    throw InputError(concat("--matrix: ", error.what()));
  }
  return rows;
}

double write_matrix(const std::filesystem::path& folder, const rays::RayRows& rows,
                    rays::Basis basis) {
  const io::SparseRows matrix{rows.columns, rows.first, rows.column, rows.value};
  io::write_sparse_npz(folder / "matrix.npz", matrix);
  io::write_matrix_market(
      folder / "matrix.mtx", matrix,
      basis == rays::Basis::cells
          ? "a row a ray, a column a cell, z fastest: metres of the ray in the cell"
          : "a row a ray, a column a node, z fastest: derivative of the traveltime by "
            "the slowness there, metres");
  return 12.0 * static_cast<double>(rows.value.size()) +
         8.0 * static_cast<double>(rows.first.size());
}

template rays::RayRows make_matrix<2>(const Grid<2>&, const rays::RayPaths<2>&, rays::Basis);
template rays::RayRows make_matrix<3>(const Grid<3>&, const rays::RayPaths<3>&, rays::Basis);

}  // namespace moho::examples::trace_rays
