// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The traveltime tomography matrix as files that SciPy, MATLAB and Julia read.

#include <moho/core/grid.hpp>
#include <moho/rays/rows.hpp>
#include <moho/rays/types.hpp>

#include <filesystem>
#include <string>

namespace moho::examples::trace_rays {

/// \brief Writes compressed rows as SciPy's save_npz() does: an archive, not compressed, of
/// data.npy, indices.npy, indptr.npy, shape.npy and format.npy ("csr").
/// \throws InputError if an array is 4 GiB or more, which the archive's format does not hold
void write_matrix_npz(const std::filesystem::path& path, const rays::RayRows& rows);

/// \brief Writes compressed rows in the coordinate format of Matrix Market, counted from 1.
/// \param about a line of comment
void write_matrix_mtx(const std::filesystem::path& path, const rays::RayRows& rows,
                      const std::string& about);

/// \brief matrix.npz and matrix.mtx in a folder: a row a ray, in the order of receivers.csv.
/// \return bytes that the matrix took in memory
template <int Dim>
double write_matrix(const std::filesystem::path& folder, const Grid<Dim>& grid,
                    const rays::RayPaths<Dim>& paths, rays::Basis basis);

}  // namespace moho::examples::trace_rays
