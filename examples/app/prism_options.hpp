// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values of options of programs of gravity: a mesh of prisms, components of the field.

#include "app/json.hpp"

#include <moho/gravity/types.hpp>

#include <string>

namespace moho::examples {

/// Reads --mesh: "nx,ny,nz,x1,x2,y1,y2,z1,z2" with metres, z down. \throws InputError
gravity::RegularMesh parse_prism_mesh(const std::string& text);
/// Returns the mesh as the numbers of parse_prism_mesh().
Json prism_mesh_json(const gravity::RegularMesh& mesh);

/// Reads --components: names separated by commas, or "all". \throws InputError
gravity::Components parse_prism_components(const std::string& text);
/// Returns the names of components.
Json prism_components_json(const gravity::Components& components);

/// Reads --tolerance of the fast multipole method. \throws InputError
double parse_fmm_tolerance(const std::string& text);

}  // namespace moho::examples
