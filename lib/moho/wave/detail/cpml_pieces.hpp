// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Division of a box at the reach of perfectly matched layers, for device steps.
///
/// A step of the box is one launch. The division depends on the grid alone, so that a node gets the
/// same bits in any box.

#include <moho/wave/detail/cpml.hpp>
#include <moho/wave/kernel/arguments.hpp>

#include <algorithm>
#include <cstdint>

namespace moho::wave::detail {

/// Part of a box whose nodes are reached by the layers of the same axes.
struct LayerPiece {
  int end;                 ///< number of the first team after the piece
  int lower[3], upper[3];  ///< nodes of the piece
  int first_z;             ///< lower[2] rounded down to a vector
  int lanes, rows;         ///< threads of a tile along z and y
  int tiles_z, tiles_y;    ///< tiles along z and y
  int planes;              ///< planes that a team marches through
  int axes;                ///< bit d: layers across axis d reach it
  int side[3];             ///< layer across each axis: 0 the lower, 1 the upper
};

/// Parameters of the division; the defaults were the fastest in trials.
struct LayerCut {
  int lanes = 16;     ///< threads along z outside the reach of layers across y or z
  int rim_lanes = 8;  ///< threads along z within that reach
  int planes = 16;    ///< largest number of planes of a march
  int rim_planes = 32;
  int section_planes = 4;  ///< planes in 2D: short marches give more teams
  int section_rim_planes = 4;
  int section_planes_of_several = 16;  ///< planes in 2D, in a launch for several wavefields
  int section_rim_planes_of_several = 8;
  int unit_y = 32;         ///< rows of a rim across y are a multiple of this
  int unit_z = 32;         ///< 4-byte words of a rim across z are a multiple of this
  bool rims_first = true;  ///< pieces within reach of layers come first: their planes take longer
};

/// Properties of a kernel that determine its pieces.
struct PieceShape {
  int dims;                  ///< axes of the grid
  int scalar;                ///< bytes of a value
  int march_width, width;    ///< nodes of a thread outside and within the reach of layers
  int threads;               ///< threads of a team
  int reach;                 ///< radius of first derivatives, nodes
  int around;                ///< vectors that `reach` covers along z
  int max_lanes, min_lanes;  ///< threads of a tile along z
};

/// Sets the tiles of a piece. Returns their number.
inline std::int64_t place_piece(const PieceShape& shape, const LayerCut& cut, int shots,
                                LayerPiece& piece) {
  const auto ceiling = [](int n, int by) { return (n + by - 1) / by; };
  const int nodes = piece.axes == 0 ? shape.march_width : shape.width;
  piece.first_z = piece.lower[2] / nodes * nodes;
  const int vectors = ceiling(piece.upper[2] - piece.first_z, nodes);
  const bool rim = (piece.axes & 6) != 0;
  piece.lanes = shape.max_lanes;
  if (shape.dims == 3)
    piece.lanes = (rim ? cut.rim_lanes * 16 : cut.lanes * 16) / (nodes * shape.scalar);
  if (shape.dims == 2 || (piece.axes & 4) != 0) {
    // a tile as wide as the piece, if possible
    const int tiles = ceiling(vectors, shape.max_lanes);
    piece.lanes = ceiling(vectors, tiles);
  }
  // threads of the tile also compute the surrounding nodes: `around` lanes along z and `reach` rows
  // along y
  if (piece.axes != 0) {
    const int max = (piece.axes & 2) != 0 ? shape.threads / (2 * shape.reach) : shape.max_lanes;
    piece.lanes = std::clamp(piece.lanes, std::max(shape.min_lanes, 2 * shape.around),
                             std::min(max, shape.max_lanes));
  }
  piece.rows = shape.threads / piece.lanes;
  piece.tiles_z = ceiling(vectors, piece.lanes);
  piece.tiles_y = shape.dims == 3 ? ceiling(piece.upper[1] - piece.lower[1], piece.rows) : 1;
  const int planes = piece.upper[0] - piece.lower[0];
  int max = piece.axes == 0 ? cut.planes : cut.rim_planes;
  if (shape.dims == 2 && shots == 1)
    max = piece.axes == 0 ? cut.section_planes : cut.section_rim_planes;
  if (shape.dims == 2 && shots > 1) {
    max = piece.axes == 0 ? cut.section_planes_of_several : cut.section_rim_planes_of_several;
  }
  piece.planes = ceiling(planes, ceiling(planes, max));
  const int marches = ceiling(planes, piece.planes);
  return static_cast<std::int64_t>(piece.tiles_z) * piece.tiles_y *
         (shape.dims == 3 ? marches : ceiling(marches, piece.rows));
}

/// \brief Cuts the box of a step into pieces, at most 27. Returns the teams of a wavefield.
/// \param shape properties of the kernel
/// \param cut parameters of the division
/// \param s the box
/// \param layers across each axis
/// \param pieces receives the pieces
/// \param count receives the number of pieces
template <class T>
std::int64_t cut_pieces(const PieceShape& shape, const LayerCut& cut, const StepArguments<T>& s,
                        const LayerPair<T> (&layers)[3], LayerPiece (&pieces)[27], int& count) {
  int bounds[3][4], reached[3][3];
  for (int d = 0; d < 3; ++d) {
    const LayerPair<T>& l = layers[d];
    const bool below = l.lower_end > 0, above = l.upper_begin < l.extent;
    const int wide = d == 2 ? cut.unit_z * 4 / shape.scalar : cut.unit_y;
    const int min = d == 2 ? shape.march_width : 1;  // at least that of rims
    int low = 0, high = l.extent;
    for (const int unit : {d == 0 ? 1 : wide, min}) {
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

/// \brief Divides a box among more teams, with shorter marches, where too few fill a device.
/// \param cut of grids with many teams
/// \param dims axes of the grid; sections keep their cut
/// \param multiprocessors of the device
/// \param cover returns the teams of a cut, which it applies
template <class Cover>
std::int64_t filling_cut(LayerCut cut, int dims, int multiprocessors, const Cover& cover) {
  std::int64_t teams = cover(cut);
  while (dims == 3 && teams < 5 * std::int64_t(multiprocessors) && cut.rim_planes > 8) {
    cut.rim_planes /= 2;
    cut.planes = std::min(cut.planes, std::max(cut.rim_planes / 2, 8));
    teams = cover(cut);
  }
  return teams;
}

}  // namespace moho::wave::detail
