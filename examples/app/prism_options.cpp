// SPDX-License-Identifier: BSD-3-Clause
#include "app/prism_options.hpp"

#include "app/arguments.hpp"

#include <moho/core/error.hpp>

#include <cstddef>
#include <cstdint>

namespace moho::examples {

namespace {

constexpr std::int64_t max_per_axis = std::int64_t(1) << 31;

}  // namespace

gravity::RegularMesh parse_prism_mesh(const std::string& text) {
  const std::string form = "nx,ny,nz,x1,x2,y1,y2,z1,z2 with metres, z down";
  const auto numbers = parse_numbers("--mesh", text, {9}, form, true);
  const auto pieces = split(text);
  gravity::RegularMesh mesh;
  double size = 1.0;
  for (int d = 0; d < 3; ++d) {
    const auto at = static_cast<std::size_t>(d);
    mesh.cells[d] =
        parse_count("--mesh " + text + ": a number of prisms", pieces[at], 1, max_per_axis);
    size *= static_cast<double>(mesh.cells[d]);
    mesh.lower[d] = numbers[3 + 2 * at];
    mesh.upper[d] = numbers[4 + 2 * at];
    if (mesh.lower[d] < mesh.upper[d]) continue;
    throw InputError(
        concat("--mesh ", text, ": ", "xyz"[d], " runs from ", mesh.lower[d], " to ", mesh.upper[d],
               d == 2 ? " (allowed: z1 below z2, the top before the bottom, z points down)"
                      : concat(" (allowed: ", "xyz"[d], "1 below ", "xyz"[d], "2)"),
               mesh.lower[d] == mesh.upper[d] ? ": give the box some extent" : ": exchange them"));
  }
  if (size > 1e15) {
    throw InputError(concat("--mesh ", text, ": the box has ", size,
                            " prisms (allowed: up to 1e15): take fewer"));
  }
  return mesh;
}

Json prism_mesh_json(const gravity::RegularMesh& mesh) {
  return Json::array({mesh.cells[0], mesh.cells[1], mesh.cells[2], mesh.lower[0], mesh.upper[0],
                      mesh.lower[1], mesh.upper[1], mesh.lower[2], mesh.upper[2]});
}

gravity::Components parse_prism_components(const std::string& text) {
  try {
    return gravity::parse_components(text);
  } catch (const InputError& error) {
    throw InputError(concat("--", error.what()));  // "components: ..."
  }
}

Json prism_components_json(const gravity::Components& components) {
  Json list = Json::array();
  for (const gravity::Component c : components) list.push_back(gravity::to_string(c));
  return list;
}

double parse_fmm_tolerance(const std::string& text) {
  const std::string form = "an error from 1e-10 to 0.01 of the largest value";
  const double value = parse_number("--tolerance", text, form);
  if (value >= gravity::min_fmm_tolerance && value <= 0.01) return value;
  throw InputError(concat("--tolerance is ", value, " (allowed: ", form, ")"));
}

}  // namespace moho::examples
