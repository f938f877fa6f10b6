// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Acquisition geometry: positions of sources and receivers.

#include <moho/core/positions.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::wave {

/// \brief Shot: sources that act together, and receivers.
template <int Dim>
struct Shot {
  std::int64_t number = 0;  ///< number in results, 0 or more
  Points<Dim> sources;      ///< positions of sources, m; usually one
  Points<Dim> receivers;    ///< positions of receivers, m, in the order of the gather's traces
};

/// \brief Returns `count` equidistant points from the first to the last.
/// \throws InputError if count is less than 1, or 1 with two different ends, or a coordinate is not
///   finite
template <int Dim>
Points<Dim> point_line(const Point<Dim>& first, const Point<Dim>& last, std::int64_t count);

/// \brief Returns the points of a regular lattice between two corners; the last axis runs fastest.
///
/// The lattice has counts[0] x counts[1] (x counts[2]) points. \throws InputError as point_line()
/// does, along each axis
template <int Dim>
Points<Dim> point_grid(const Point<Dim>& first, const Point<Dim>& last, const Index<Dim>& counts);

/// \brief Returns a shot for each source, numbered from 0, all with the same receivers.
template <int Dim>
std::vector<Shot<Dim>> fixed_spread(const Points<Dim>& sources, const Points<Dim>& receivers);

/// \brief Returns a shot for each source, numbered from 0; receivers move with the source.
/// \param sources one source for each shot, m
/// \param offsets of the receivers, m: horizontal distances from the source; the last coordinate is
///   a depth
/// \param grid receivers outside the grid are omitted, as at the ends of a streamer line
/// \throws InputError if a shot keeps no receiver
template <int Dim>
std::vector<Shot<Dim>> moving_spread(const Points<Dim>& sources, const Points<Dim>& offsets,
                                     const Grid<Dim>& grid);

}  // namespace moho::wave
