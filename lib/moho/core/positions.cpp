// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/positions.hpp>

#include <cmath>

namespace moho {

template <int Dim>
void check_positions(const Grid<Dim>& grid, const Points<Dim>& points, const std::string& name,
                     const Box<Dim>& interior) {
  const bool layers = !interior.empty();
  const Box<Dim> box = layers ? intersection(interior, whole_box(grid)) : whole_box(grid);
  Grid<Dim> allowed = grid;
  allowed.origin = grid.position(box.lower);
  for (int d = 0; d < Dim; ++d) allowed.extents[d] = box.extent(d);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (allowed.contains(points[i])) continue;
    std::string range;
    bool finite = true;
    for (int d = 0; d < Dim; ++d) {
      range += concat(d ? ", " : "", axis_name<Dim>(d), " ", allowed.origin[d], " to ",
                      allowed.upper(d));
      finite = finite && std::isfinite(points[i][d]);
    }
    const char* const where = !finite                              ? " is no position"
                              : layers && grid.contains(points[i]) ? " is in the boundary layer"
                                                                   : " is outside the model";
    const bool outside = finite && !grid.contains(points[i]);
    throw InputError(concat(name, " ", i + 1, ": ", format_point(points[i]), where,
                            " (allowed: ", range, "): ",
                            outside ? "move it, or check --spacing and the order of coordinates"
                                    : "move it or extend the model"));
  }
}

template void check_positions<2>(const Grid<2>&, const Points<2>&, const std::string&,
                                 const Box<2>&);
template void check_positions<3>(const Grid<3>&, const Points<3>&, const std::string&,
                                 const Box<3>&);

}  // namespace moho
