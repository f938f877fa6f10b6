// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arguments that fields of prisms and their inversion have in common.

#include <moho/gravity/types.hpp>

#include <cstdint>
#include <vector>

namespace moho::python {

/// Returns a mesh of prisms from nx, ny, nz, x1, x2, y1, y2, z1, z2.
inline gravity::RegularMesh mesh_of(const std::vector<double>& box) {
  gravity::RegularMesh mesh;
  for (std::size_t d = 0; d < 3; ++d) {
    mesh.cells[d] = static_cast<std::int64_t>(box.at(d));
    mesh.lower[d] = box.at(3 + 2 * d);
    mesh.upper[d] = box.at(4 + 2 * d);
  }
  return mesh;
}

}  // namespace moho::python
