// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How a box is cut where perfectly matched layers reach, for the step of devices in one
/// launch. Where it is cut depends on the grid alone, so that a node gets the same bits in any box.

#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/kernel/arguments.hpp>

#include <algorithm>
#include <cstdint>

namespace moho::wave::detail {

/// A part of a box whose nodes are reached by the layers of the same axes.
struct LayerPiece {
  int end;                 ///< number of the first team behind it
  int lower[3], upper[3];  ///< its nodes
  int first_z;             ///< lower[2] rounded down to a vector
  int lanes, rows;         ///< threads of a tile along z and y
  int tiles_z, tiles_y;    ///< tiles along z and y
  int planes;              ///< planes that a team marches through
  int axes;                ///< bit d: layers across axis d reach it
  int side[3];             ///< which of the two across each axis: 0 the lower, 1 the upper
};

/// How pieces are made; the numbers are those of the fastest trial.
struct LayerCut {
  int lanes = 16;     ///< threads along z where no layer across y or z reaches
  int rim_lanes = 8;  ///< the same where one does
  int planes = 32;    ///< of a march, at most
  int rim_planes = 64;
  int flat_planes = 4;  ///< in 2D, where teams are few: short marches are more of them
  int flat_rim_planes = 4;
  int flat_planes_of_several = 16;  ///< in 2D, in a launch for several wavefields
  int flat_rim_planes_of_several = 8;
  int unit_y = 32;         ///< rows that a rim across y is a multiple of
  int unit_z = 32;         ///< 4-byte words that a rim across z is a multiple of
  bool rims_first = true;  ///< pieces that layers reach come first: they take longer a plane
};

/// What pieces depend on in a kernel.
struct PieceShape {
  int dims;                     ///< of the grid
  int scalar;                   ///< bytes of a value
  int march_width, width;       ///< nodes of a thread where no layer reaches, and where one does
  int threads;                  ///< of a team
  int reach;                    ///< of slopes, nodes
  int around;                   ///< the same along z, in vectors
  int most_lanes, least_lanes;  ///< threads of a tile along z
};

/// The tiles of a piece. Returns their number.
inline std::int64_t place_piece(const PieceShape& shape, const LayerCut& cut, int shots,
                                LayerPiece& piece) {
  const auto ceiling = [](int n, int by) { return (n + by - 1) / by; };
  const int nodes = piece.axes == 0 ? shape.march_width : shape.width;
  piece.first_z = piece.lower[2] / nodes * nodes;
  const int vectors = ceiling(piece.upper[2] - piece.first_z, nodes);
  const bool rim = (piece.axes & 6) != 0;
  piece.lanes = shape.most_lanes;
  if (shape.dims == 3)
    piece.lanes = (rim ? cut.rim_lanes * 16 : cut.lanes * 16) / (nodes * shape.scalar);
  if (shape.dims == 2 || (piece.axes & 4) != 0) {
    // a tile as wide as the piece, if it can be
    const int tiles = ceiling(vectors, shape.most_lanes);
    piece.lanes = ceiling(vectors, tiles);
  }
  // threads of the tile compute what is around it: so many lanes along z and rows along y
  if (piece.axes != 0) {
    const int most = (piece.axes & 2) != 0 ? shape.threads / (2 * shape.reach) : shape.most_lanes;
    piece.lanes = std::clamp(piece.lanes, std::max(shape.least_lanes, 2 * shape.around),
                             std::min(most, shape.most_lanes));
  }
  piece.rows = shape.threads / piece.lanes;
  piece.tiles_z = ceiling(vectors, piece.lanes);
  piece.tiles_y = shape.dims == 3 ? ceiling(piece.upper[1] - piece.lower[1], piece.rows) : 1;
  const int planes = piece.upper[0] - piece.lower[0];
  int most = piece.axes == 0 ? cut.planes : cut.rim_planes;
  if (shape.dims == 2 && shots == 1) most = piece.axes == 0 ? cut.flat_planes : cut.flat_rim_planes;
  if (shape.dims == 2 && shots > 1) {
    most = piece.axes == 0 ? cut.flat_planes_of_several : cut.flat_rim_planes_of_several;
  }
  piece.planes = ceiling(planes, ceiling(planes, most));
  const int marches = ceiling(planes, piece.planes);
  return static_cast<std::int64_t>(piece.tiles_z) * piece.tiles_y *
         (shape.dims == 3 ? marches : ceiling(marches, piece.rows));
}

/// \brief Cuts the box of a step into pieces, at most 27. Returns the teams of a wavefield.
/// \param shape of the kernel
/// \param cut how pieces are made
/// \param s the box
/// \param layers across each axis
/// \param pieces are written
/// \param count of the pieces, is written
template <class T>
std::int64_t cut_pieces(const PieceShape& shape, const LayerCut& cut, const StepArguments<T>& s,
                        const LayerPair<T> (&layers)[3], LayerPiece (&pieces)[27], int& count) {
  int bounds[3][4], reached[3][3];
  for (int d = 0; d < 3; ++d) {
    const LayerPair<T>& l = layers[d];
    const bool below = l.lower_end > 0, above = l.upper_begin < l.extent;
    const int wide = d == 2 ? cut.unit_z * 4 / shape.scalar : cut.unit_y;
    const int least = d == 2 ? shape.march_width : 1;  // not less than that of rims
    int low = 0, high = l.extent;
    for (const int unit : {d == 0 ? 1 : wide, least}) {
      if (below) low = (l.lower_end + shape.reach + unit - 1) / unit * unit;
      if (above) {
        high = l.upper_begin - shape.reach;
        // vectors are not cut
        high = d == 2 ? high / unit * unit : l.extent - (l.extent - high + unit - 1) / unit * unit;
      }
      if (low <= high && high >= 0) break;
    }
    const int all[4] = {0, low, high, l.extent};
    for (int k = 0; k < 4; ++k) {
      bounds[d][k] = static_cast<int>(std::clamp<std::int64_t>(all[k], s.lower[d], s.upper[d]));
    }
    reached[d][0] = below;
    reached[d][1] = 0;
    reached[d][2] = above;
  }
  count = 0;
  std::int64_t teams = 0;
  for (int turn = 0; turn < 2; ++turn) {
    for (int k = 0; k < 27; ++k) {
      const int part[3] = {k / 9, k / 3 % 3, k % 3};
      LayerPiece piece{};
      for (int d = 0; d < 3; ++d) {
        piece.lower[d] = bounds[d][part[d]];
        piece.upper[d] = bounds[d][part[d] + 1];
        piece.axes |= reached[d][part[d]] << d;
        piece.side[d] = part[d] == 2 ? 1 : 0;
      }
      bool empty = (piece.axes != 0) != ((turn == 1) != cut.rims_first);
      for (int d = 0; d < 3; ++d) empty = empty || piece.lower[d] >= piece.upper[d];
      if (empty) continue;
      teams += place_piece(shape, cut, s.shots, piece);
      piece.end = static_cast<int>(teams);
      pieces[count++] = piece;
    }
  }
  return teams;
}

}  // namespace moho::wave::detail
