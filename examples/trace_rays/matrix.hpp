// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The traveltime tomography matrix as files for SciPy, MATLAB and Julia.

#include <moho/core/grid.hpp>
#include <moho/rays/rows.hpp>
#include <moho/rays/types.hpp>

#include <filesystem>

namespace moho::examples::trace_rays {

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
