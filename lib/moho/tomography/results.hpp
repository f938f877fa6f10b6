// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Results of an inversion as files: tables, rays, and formats of other programs.

#include <moho/tomography/checkerboard.hpp>
#include <moho/tomography/damping.hpp>
#include <moho/tomography/state.hpp>
#include <moho/tomography/types.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace moho::tomography {

/// Writes a row for each pick: positions, times, residual, weights, flag.
/// The flag is 1 for picks more than four standard deviations away.
/// \throws FileError, as all functions of this header that write
template <int Dim>
void write_picks(const std::filesystem::path& path, const PickSet<Dim>& picks,
                 const std::vector<PickFit>& fits);

/// Writes a row for each station with a delay.
template <int Dim>
void write_statics(const std::filesystem::path& path, const PickSet<Dim>& picks,
                   const Delays& delays);

/// Writes a row for each source: number, position, its change, origin time.
template <int Dim>
void write_sources(const std::filesystem::path& path, const Points<Dim>& sources,
                   const Delays& delays);

/// Writes rays as polylines, with source, receiver and residual; of more than 20,000 picks every
/// n-th ray.
template <int Dim>
void write_rays(const std::filesystem::path& path, const PickSet<Dim>& picks,
                const InversionResult<Dim>& result);

/// Returns the name of the file that write_export() writes: model.vtk for the format "vtk",
/// velocity.rsf for "rsf", picks.sgt for "sgt".
std::string export_name(const std::string& format);

/// \brief Writes a result for other programs, in the folder, as export_name() says.
///
/// vtk: velocity, coverage, deviation, resolution and ground (1, air 0) as structured points; rsf:
/// the velocity with its axes; sgt: the picks with the errors that were used, in the unified data
/// format. The axes of vtk and rsf have z down, points of sgt z up.
/// \throws FileError
template <int Dim>
void write_export(const std::filesystem::path& folder, const std::string& format,
                  const InversionJob<Dim>& job, const InversionResult<Dim>& result);

/// Returns lines on picks more than four standard deviations away, and on stations the median of
/// whose picks is more than three away.
template <int Dim>
std::vector<std::string> bad_picks(const PickSet<Dim>& picks, const std::vector<PickFit>& fits);

/// Returns the largest move and origin time of located sources in words.
template <int Dim>
std::string describe_moves(const PickSet<Dim>& picks, const InversionResult<Dim>& result);
/// \brief Returns a remark if the start model fits the picks within their errors, or "".
/// \param result of an inversion \param target chi^2 to reach
template <int Dim>
std::string describe_start(const InversionResult<Dim>& result, double target);

/// Returns remarks on a result: its start model, the lambda of gcv, and rays along faces of the
/// grid.
template <int Dim>
std::vector<std::string> remarks_on_result(const InversionJob<Dim>& job,
                                           const InversionResult<Dim>& result);

/// Returns the line that describes an iteration: chi^2, lambda, degrees of freedom, seconds.
std::string describe_iteration(const IterationReport& report);

/// Writes a row for each iteration.
void write_history(const std::filesystem::path& path, const std::vector<IterationReport>& reports);

/// Writes chi^2, norm, degrees of freedom and gcv over lambda.
void write_lambda(const std::filesystem::path& path, const std::vector<DampingPoint>& curve);

/// Writes depth, correlation, recovered part, part of the nodes with rays, and z of the layers of a
/// checkerboard.
void write_layers(const std::filesystem::path& path, const std::vector<CheckLayer>& layers);

}  // namespace moho::tomography
