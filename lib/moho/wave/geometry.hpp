// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Where shots have their sources and receivers.

#include <moho/core/positions.hpp>

#include <cstdint>
#include <string>
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

/// \brief Throws InputError unless there is a shot, their numbers differ, and each has a source and
/// a receiver, all of them inside as check_positions() demands.
template <int Dim>
void check_shots(const Grid<Dim>& grid, const std::vector<Shot<Dim>>& shots,
                 const Box<Dim>& interior);

}  // namespace moho::wave
