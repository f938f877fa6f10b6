// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Tables and rays of the results of an inversion, as files.

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

/// Returns lines on picks more than four standard deviations away, and on stations the median of
/// whose picks is more than three away.
template <int Dim>
std::vector<std::string> bad_picks(const PickSet<Dim>& picks, const std::vector<PickFit>& fits);

/// Returns the largest move and origin time of located sources in words.
template <int Dim>
std::string describe_moves(const PickSet<Dim>& picks, const InversionResult<Dim>& result);

/// Writes a row for each iteration.
void write_history(const std::filesystem::path& path, const std::vector<IterationReport>& reports);

/// Writes chi^2, norm, degrees of freedom and gcv over lambda.
void write_lambda(const std::filesystem::path& path, const std::vector<DampingPoint>& curve);

/// Writes depth, correlation and recovered part of the layers of a checkerboard.
void write_layers(const std::filesystem::path& path, const std::vector<CheckLayer>& layers);

}  // namespace moho::tomography
