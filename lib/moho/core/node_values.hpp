// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of lists of values at the nodes of a grid.

#include <moho/core/grid.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace moho {

/// Refuses a list that has not one value for each node.
/// \param name name of the list, for messages
/// \param count number of values
/// \param grid the nodes
/// \throws InputError
template <int Dim>
void check_node_values(const std::string& name, std::size_t count, const Grid<Dim>& grid) {
  if (static_cast<std::int64_t>(count) == grid.size()) return;
  throw InputError(
      concat(name, ": it has ", count, " values (allowed: ", grid.size(), ", those of the grid)"));
}

}  // namespace moho
