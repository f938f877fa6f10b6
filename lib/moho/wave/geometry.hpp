// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Where shots have their sources and receivers: generated, written as short texts, or read
/// from a table.

#include <moho/core/positions.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace moho::wave {

/// \brief One experiment: sources that act together, and receivers.
template <int Dim>
struct Shot {
  std::int64_t number = 0;  ///< by which results call it, 0 or more
  Points<Dim> sources;      ///< usually one
  Points<Dim> receivers;    ///< in the order of the gather's traces
};

/// \brief `count` points at equal distances from the first to the last.
/// \throws InputError if count is less than 1, or 1 with two different ends, or a coordinate is not
/// finite
template <int Dim>
Points<Dim> point_line(const Point<Dim>& first, const Point<Dim>& last, std::int64_t count);

/// \brief The corners and the points between them of a box of counts[0] x counts[1] (x counts[2])
/// points, the last axis running fastest. \throws InputError as point_line() does, along each axis
template <int Dim>
Points<Dim> point_grid(const Point<Dim>& first, const Point<Dim>& last, const Index<Dim>& counts);

/// \brief The order of axes in a text, in three dimensions; in two it is always x, z.
enum class TextOrder {
  xyz,  ///< that of the grid
  xzy   ///< that of the command line of moho's programs
};

/// \brief Reads points from a text: "x,z" is one (in 3D "x,y,z"), "x,z:x,z:n" a line of n from the
/// first to the last, "x,y,z:x,y,z:nxmxk" (2D: "nxm") a grid between two corners; several of these
/// are joined by ";".
/// \param what what to call it in messages: "--receivers"
/// \param text the points
/// \param order in which coordinates and counts are written; the last axis of the grid, z, is in
/// any case the one along which the points of a grid run fastest
/// \throws InputError with the piece that cannot be read and the forms that are allowed
template <int Dim>
Points<Dim> parse_points(const std::string& what, const std::string& text,
                         TextOrder order = TextOrder::xyz);

/// \brief A shot for each source, numbered from 0, all with the same receivers.
template <int Dim>
std::vector<Shot<Dim>> fixed_spread(const Points<Dim>& sources, const Points<Dim>& receivers);

/// \brief A shot for each source, numbered from 0, with receivers that move with the source.
/// \param sources one a shot
/// \param offsets of the receivers: horizontal distances from the source; the last coordinate is a
/// depth
/// \param grid receivers outside of it are left out, as at the ends of a streamer line
/// \throws InputError if no receiver of a shot is left
template <int Dim>
std::vector<Shot<Dim>> moving_spread(const Points<Dim>& sources, const Points<Dim>& offsets,
                                     const Grid<Dim>& grid);

/// \brief Reads shots from a table, a row for each source and receiver:
///
///     # shot, kind, x, z          (in 3D: shot, kind, x, y, z)
///     1, source, 1000, 10
///     1, receiver, 0, 20
///     *, receiver, 25, 20
///
/// The shot is a number from 0 up, or * for all shots; kinds may be shortened to s and r. Fields
/// are separated by commas, semicolons or blanks; text after #, empty lines and a first row of
/// names are skipped. Rows may come in any order: shots are in the order in which their numbers
/// first appear, receivers in that of their rows, those of all shots after the others.
/// \param text the content of the table
/// \param name what messages call it: the file's path
/// \throws FileError "NAME:LINE: ..." for a row that cannot be read, or naming a shot without
/// source or receiver
template <int Dim>
std::vector<Shot<Dim>> parse_shots(std::string_view text, const std::string& name);

/// \brief The table that parse_shots() reads to the same shots, bit by bit. Receivers that all
/// shots have in common are written once.
template <int Dim>
std::string format_shots(const std::vector<Shot<Dim>>& shots);

/// \brief Throws InputError unless there is a shot, their numbers differ, and each has a source and
/// a receiver, all of them inside as check_positions() demands.
template <int Dim>
void check_shots(const Grid<Dim>& grid, const std::vector<Shot<Dim>>& shots,
                 const Box<Dim>& interior);

}  // namespace moho::wave
