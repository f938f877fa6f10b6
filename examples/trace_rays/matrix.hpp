// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The traveltime tomography matrix as files that SciPy, MATLAB and Julia read.

#include <moho/core/grid.hpp>
#include <moho/rays/rows.hpp>
#include <moho/rays/types.hpp>

#include <cstddef>
#include <filesystem>
#include <string>

namespace moho::examples::trace_rays {

/// \throws InputError if the archive of a matrix would have 4 GiB or more, which its format does
/// not hold
void check_matrix_size(std::size_t rows, std::size_t entries);

/// \brief Writes compressed rows as SciPy's save_npz() does: an archive, not compressed, of
/// data.npy, indices.npy, indptr.npy, shape.npy and format.npy ("csr").
/// \throws InputError as check_matrix_size() does
void write_matrix_npz(const std::filesystem::path& path, const rays::RayRows& rows);

/// \brief Writes compressed rows in the coordinate format of Matrix Market, counted from 1.
/// \param about a line of comment
void write_matrix_mtx(const std::filesystem::path& path, const rays::RayRows& rows,
                      const std::string& about);

/// \brief The matrix of rays: a row a ray, in the order of receivers.csv.
/// \throws InputError for matrices that write_matrix() could not write, too
template <int Dim>
rays::RayRows make_matrix(const Grid<Dim>& grid, const rays::RayPaths<Dim>& paths,
                          rays::Basis basis);

/// \brief Writes matrix.npz and matrix.mtx into a folder.
/// \return bytes that the matrix took in memory
double write_matrix(const std::filesystem::path& folder, const rays::RayRows& rows,
                    rays::Basis basis);

}  // namespace moho::examples::trace_rays
