// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Linear interpolation from a coarse grid of unknowns to the nodes of the model.

#include <moho/core/grid.hpp>

#include <cstdint>
#include <vector>

namespace moho::tomography {

/// \brief Interpolation between nodes that are a whole number of model nodes apart.
///
/// The last unknown of an axis may lie beyond the model.
template <int Dim>
class Interpolation {
 public:
  /// \param grid nodes of the model \param coarsening model nodes between unknowns, 1 or more
  /// \throws InputError for another coarsening
  Interpolation(const Grid<Dim>& grid, int coarsening);

  /// Returns the grid of the unknowns.
  const Grid<Dim>& grid() const { return m_coarse; }
  /// Returns the values at all model nodes.
  std::vector<double> interpolate(const std::vector<double>& unknowns) const;
  /// Returns the values of model nodes at the unknowns; beyond the model that of the last node.
  std::vector<double> sample(const std::vector<double>& values) const;

 private:
  template <class Function>
  void for_each_corner(std::int64_t node, const Function& function) const;

  Grid<Dim> m_grid, m_coarse;
  int m_step = 1;
};

}  // namespace moho::tomography
