// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The traveltime tomography matrix as files for SciPy, MATLAB and Julia.

#include <moho/core/grid.hpp>
#include <moho/rays/rows.hpp>
#include <moho/rays/types.hpp>

#include <cstddef>
#include <filesystem>
#include <string>

namespace moho::examples::trace_rays {

/// Checks that the archive of a matrix is smaller than 4 GiB, the limit of its format.
/// \throws InputError for a larger archive
void check_matrix_size(std::size_t rows, std::size_t entries);

/// Writes compressed rows as SciPy's save_npz() does. The file is an uncompressed archive of
/// data.npy, indices.npy, indptr.npy, shape.npy and format.npy ("csr").
/// \throws InputError as check_matrix_size() does
void write_matrix_npz(const std::filesystem::path& path, const rays::RayRows& rows);

/// \brief Writes compressed rows in the coordinate format of Matrix Market, counted from 1.
/// \param about text of a comment line
void write_matrix_mtx(const std::filesystem::path& path, const rays::RayRows& rows,
                      const std::string& about);

/// \brief Returns the matrix of rays: one row for each ray, in the order of receivers.csv.
/// \throws InputError also for matrices that write_matrix() could not write
template <int Dim>
rays::RayRows make_matrix(const Grid<Dim>& grid, const rays::RayPaths<Dim>& paths,
                          rays::Basis basis);

/// \brief Writes matrix.npz and matrix.mtx into a folder.
/// \return bytes of the matrix in memory
double write_matrix(const std::filesystem::path& folder, const rays::RayRows& rows,
                    rays::Basis basis);

}  // namespace moho::examples::trace_rays
