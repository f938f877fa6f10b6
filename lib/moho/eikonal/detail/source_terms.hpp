// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How the values around a source depend on the velocities next to it.

#include <moho/eikonal/check.hpp>

#include <vector>

namespace moho::eikonal::detail {

/// \brief A derivative of a value around a source by the velocity at a node.
///
/// M and q are constants of these derivatives, although both contain the velocity at the source. A
/// change of that velocity alone scales u, 1 / M and 1 / q, and does not change the times.
template <int Dim>
struct SourceTerm {
  /// What is differentiated: 0 to 2^Dim - 1 u at a corner of the box, then for each axis
  /// Column::tilt, then for each axis Column::limit.
  int value;
  std::int64_t node;  ///< flat index
  double derivative;

  static constexpr int corners = 1 << Dim;          ///< first index of the tilts
  static constexpr int limits = corners + Dim;      ///< first index of the limits
  static constexpr int values = corners + 2 * Dim;  ///< number of indices
};

/// Returns the derivatives of each source.
/// \param grid nodes
/// \param nodes of locate_sources()
/// \param values of the nodes
/// \param factored as in complete_sources()
/// \param sources from complete_sources()
template <int Dim>
std::vector<std::vector<SourceTerm<Dim>>> source_terms(const Grid<Dim>& grid,
                                                       const std::vector<std::int64_t>& nodes,
                                                       const std::vector<NodeValues>& values,
                                                       bool factored,
                                                       const std::vector<Source<Dim>>& sources);

/// Returns the flat indices into Problem::u of the nodes around the sources that have lean terms:
/// those in a column of a box, outside of the box. Sources are in their order.
template <int Dim>
std::vector<std::int64_t> nodes_in_columns(const TiledGrid<Dim>& grid,
                                           const std::vector<Source<Dim>>& sources);

}  // namespace moho::eikonal::detail
