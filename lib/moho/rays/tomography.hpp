// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The traveltime tomography matrix as a sparse matrix of Kokkos Kernels.
///
/// The only header of the module that needs Kokkos Kernels: link moho::rays_tomography.

#include <moho/core/copy.hpp>
#include <moho/rays/rows.hpp>

#include <KokkosSparse_CrsMatrix.hpp>

namespace moho::rays {

namespace detail {
/// The execution space of a matrix that an instance builds.
template <class Exec>
struct MatrixSpace {
  using type = Exec;
};
/// \cond
template <>
struct MatrixSpace<Instance<Kokkos::HostSpace>> {
  using type = Kokkos::DefaultHostExecutionSpace;
};
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct MatrixSpace<Instance<Kokkos::CudaSpace>> {
  using type = Kokkos::Cuda;
};
#endif
/// \endcond
}  // namespace detail

/// The matrix type of ray_matrix(): double entries, 64-bit row offsets, 32-bit columns. `Exec` is
/// an execution space of Kokkos. For an Instance it is the default one with that memory.
template <class Exec>
using RayMatrix = KokkosSparse::CrsMatrix<
    double, int, Kokkos::Device<typename detail::MatrixSpace<Exec>::type, MemoryOf<Exec>>, void,
    std::int64_t>;

/// Returns the traveltime tomography matrix G, one row per ray in the order of `paths`.
///
/// With Basis::cells, G times the slowness of the cells is the traveltime of a graph with
/// WeightRule::cells. With Basis::nodes, G times the slowness at the nodes is the traveltime of a
/// graph with WeightRule::slowness, exact up to rounding. G is then also the derivative, because by
/// Fermat's principle the first arrival does not change to first order when the ray moves.
///
/// \param exec the matrix is in the memory of this space
/// \param grid the model's grid
/// \param paths rays
/// \param basis meaning of the columns: flat cells (Grid::flat_cell) or flat nodes (Grid::flat)
/// \throws InputError the model has no cells (an axis with one node), or more than 2^31 - 1 columns
template <int Dim, class Exec>
RayMatrix<Exec> ray_matrix(const Exec& exec, const Grid<Dim>& grid, const RayPaths<Dim>& paths,
                           Basis basis = Basis::cells) {
  const RayRows rows = ray_rows(grid, paths, basis);
  using Matrix = RayMatrix<Exec>;
  const Instance<MemoryOf<Exec>> instance = exec;
  const auto row_map = allocate<typename Matrix::row_map_type::non_const_type>(
      instance, "moho::rays::row_map", rows.first.size());
  const auto columns = allocate<typename Matrix::index_type::non_const_type>(
      instance, "moho::rays::columns", rows.column.size());
  const auto values = allocate<typename Matrix::values_type::non_const_type>(
      instance, "moho::rays::values", rows.value.size());
  copy(instance, row_map, HostElements<const std::int64_t>(rows.first.data(), rows.first.size()));
  copy(instance, columns, HostElements<const int>(rows.column.data(), rows.column.size()));
  copy(instance, values, HostElements<const double>(rows.value.data(), rows.value.size()));
  instance.fence();
  return Matrix("moho::rays::matrix", static_cast<int>(rows.first.size()) - 1,
                static_cast<int>(rows.columns), static_cast<std::int64_t>(rows.value.size()),
                values, row_map, columns);
}

}  // namespace moho::rays
