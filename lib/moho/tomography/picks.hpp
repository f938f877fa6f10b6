// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Files of picks: tables and the unified data format .sgt, and checks of their values.

#include <moho/tomography/types.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace moho::tomography {

/// How a file of picks is read.
struct PickFormat {
  std::string format = {};               ///< "csv", "sgt", or empty: by the ending of the name
  double time_unit = 1.0;                ///< seconds of a unit of times and errors
  bool elevations = false;               ///< z of a table points up; it does in .sgt in any case
  std::filesystem::path shots = {};      ///< table of sources for picks with ids
  std::filesystem::path receivers = {};  ///< table of receivers for picks with ids
  ArgumentNames names = {};  ///< of "shots", "receivers" and "an error of all picks" in messages
};

/// Returns 2 or 3, the dimensions of the positions of a file of picks.
/// \throws FileError for a file that cannot be read or has no header of picks
int dimensions_of_picks(const std::filesystem::path& path, const PickFormat& format = {});

/// \brief Reads picks.
///
/// A table has the columns sx,sz,rx,rz,time (3D with sy and ry), or shot,receiver,time with the
/// tables PickFormat::shots and receivers (id,x[,y],z). Columns error, weight and use are optional.
/// A file .sgt has the number of points, their coordinates (z up), the number of picks, and rows
/// with the names s g t and optional err and valid; points count from 1.
/// \throws FileError with file and line for numbers, columns and ids that are not allowed
template <int Dim>
PickSet<Dim> read_picks(const std::filesystem::path& path, const PickFormat& format = {});

/// \brief Writes picks as .sgt, with errors where all picks have one.
/// \throws FileError
template <int Dim>
void write_sgt(const std::filesystem::path& path, const PickSet<Dim>& picks);

/// What check_picks() found besides errors.
struct PickCheck {
  double longest_offset = 0.0;        ///< m
  double receiver_spacing = 0.0;      ///< median distance of neighbouring points, m
  std::int64_t reciprocal_pairs = 0;  ///< pairs of picks with source and receiver exchanged
  double reciprocal_rms = 0.0;        ///< of their differences over sqrt(2), s
  std::int64_t repeated = 0;          ///< picks of a pair that has an earlier pick
  double largest_repeated = 0.0;      ///< largest difference of repeated picks, s
  std::vector<std::string> warnings;  ///< sentences for the user
};

/// \brief Checks the values of picks.
/// \param picks the picks
/// \param name of the file, for messages
/// \param names of "the unit of times" in messages
/// \throws InputError for times or errors that are not positive and finite, times in another unit,
///         fewer than 10 picks, a single source, or apparent velocities that are impossible
template <int Dim>
PickCheck check_picks(const PickSet<Dim>& picks, const std::string& name,
                      const ArgumentNames& names = {});

}  // namespace moho::tomography
