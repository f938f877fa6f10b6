// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tables of trace_rays.

#include <moho/io/text_columns.hpp>
#include <moho/rays/types.hpp>

#include <filesystem>
#include <vector>

namespace moho::examples::trace_rays {

/// Writes rays.csv: ray,source,receiver,vertex,x,(y,)z.
/// It has every vertex of every ray, from source to receiver.
template <int Dim>
void write_rays_csv(const std::filesystem::path& path, const rays::RayPaths<Dim>& paths);

/// Writes receivers.csv: source,receiver,x,(y,)z,traveltime and the receivers' text columns.
template <int Dim>
void write_receivers_csv(const std::filesystem::path& path, const rays::RayPaths<Dim>& paths,
                         const std::vector<Point<Dim>>& receivers,
                         const std::vector<io::TextColumn>& texts);

/// Writes rays.vtk: the rays as polylines, with source, receiver and traveltime of each.
template <int Dim>
void write_rays_vtk(const std::filesystem::path& path, const rays::RayPaths<Dim>& paths);

}  // namespace moho::examples::trace_rays
