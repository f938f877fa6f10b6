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

/// \brief Reads points from a text: "x,z" is one (in 3D "x,y,z"), "x,z:x,z:n" a line of n from the
/// first to the last, "x,y,z:x,y,z:nxmxk" (2D: "nxm") a grid between two corners; several of these
/// are joined by ";".
///
/// Coordinates may be named, "z=20,x=100", in any order; the counts of a grid then stand in that of
/// its first corner. A line may be written "x,z,x,z,n", too. The last axis, z, is the one along
/// which the points of a grid run fastest.
/// \param what what to call it in messages: "--receivers"
/// \param text the points
/// \throws InputError with the piece that cannot be read and the forms that are allowed
template <int Dim>
Points<Dim> parse_points(const std::string& what, const std::string& text);

/// \brief Reads shots from a table, a row for each source and receiver:
///
///     # shot, kind, x, z          (in 3D: shot, kind, x, y, z)
///     1, source, 1000, 10
///     1, receiver, 0, 20
///     *, receiver, 25, 20
///
/// The shot is a number from 0 up, or * for all shots; kinds may be shortened to s and r. Fields
/// are separated by commas, semicolons or blanks; text after # and empty lines are skipped. A first
/// row of names says where shot, kind, x, y and z stand, if it has them all. Rows may come in any
/// order: shots are in the order in which their numbers first appear, receivers in that of their
/// rows, with those of all shots behind the others. \param text what the table holds \param name
/// what messages call it: the file's path \throws FileError "NAME:LINE: ..." for a row that cannot
/// be read, or naming a shot without source or receiver
template <int Dim>
std::vector<wave::Shot<Dim>> parse_shots(std::string_view text, const std::string& name);

/// \brief The table that parse_shots() reads to the same shots, bit by bit. Receivers that all
/// shots have in common are written once.
template <int Dim>
std::string format_shots(const std::vector<wave::Shot<Dim>>& shots);

}  // namespace moho::examples
