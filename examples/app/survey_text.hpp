// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Points and shots as texts: the grammar of options and of tables of shots.

#include <moho/core/grid.hpp>
#include <moho/wave/geometry.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace moho::examples {

/// \brief Reads points from a text.
///
/// "x,z" is one point (in 3D "x,y,z"). "x,z:x,z:n" is a line of n points from the first to the
/// last. "x,y,z:x,y,z:nxmxk" (2D: "nxm") is a grid between two corners. Several of these are joined
/// by ";".
///
/// Coordinates may be named in any order, "z=20,x=100"; the counts of a grid then have the order of
/// its first corner. A line may also be written "x,z,x,z,n". Points of a grid run fastest along the
/// last axis, z.
/// \param what name of the option in messages: "--receivers"
/// \param text the points
/// \throws InputError with the unreadable piece and the allowed forms
template <int Dim>
Points<Dim> parse_points(const std::string& what, const std::string& text);

/// \brief Reads shots from a table with a row for each source and receiver.
///
///     # shot, kind, x, z          (in 3D: shot, kind, x, y, z)
///     1, source, 1000, 10
///     1, receiver, 0, 20
///     *, receiver, 25, 20
///
/// The shot is a number from 0, or * for all shots; kinds may be shortened to s and r. Commas,
/// semicolons or blanks separate fields. Text after # and empty lines are skipped. A first row of
/// names gives the columns of shot, kind, x, y and z, if it has them all.
///
/// Rows may have any order. Shots keep the order in which their numbers first appear. Receivers
/// keep that of their rows; those of all shots follow the others.
/// \param text contents of the table \param name its path, for messages
/// \throws FileError "NAME:LINE: ..." for an unreadable row, or for the row of a shot without
/// source or receiver
template <int Dim>
std::vector<wave::Shot<Dim>> parse_shots(std::string_view text, const std::string& name);

/// Returns a table from which parse_shots() reads the same shots, bit by bit.
/// Receivers that all shots have in common are written once.
template <int Dim>
std::string format_shots(const std::vector<wave::Shot<Dim>>& shots);

}  // namespace moho::examples
