// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/tomography/check.hpp>
#include <moho/tomography/interpolation.hpp>

#include <algorithm>
#include <cmath>

namespace moho::tomography {

template <int Dim>
void check_input(const Grid<Dim>& grid, const PickSet<Dim>& picks, const std::vector<double>& start,
                 const std::vector<unsigned char>& mask, const Options<Dim>& o) {
  const Grid<Dim> unknowns = Interpolation<Dim>(grid, o.coarsening).grid();
  if (static_cast<std::int64_t>(start.size()) != grid.size()) {
    throw InputError(concat("the start model has ", start.size(), " nodes (allowed: ", grid.size(),
                            ", those of the grid)"));
  }
  if (o.times == Times::eikonal && std::count(mask.begin(), mask.end(), 0) > 0) {
    throw InputError(
        "eikonal times were asked for a grid with air above the ground (allowed: grids "
        "without air): take times of the graph, or no topography");
  }
  const bool errors = o.error_absolute > 0.0 || o.error_relative > 0.0;
  for (const Pick& pick : picks.picks) {
    if (pick.error > 0.0 || errors) continue;
    throw InputError(
        "the picks have no errors, and none were given: give an absolute error in "
        "seconds and a relative one, for example 0.0005 and 0.02");
  }
  for (int d = 0; d < Dim; ++d) {
    if (o.prior.lengths[d] >= unknowns.spacing[d] || unknowns.extents[d] < 2) continue;
    throw InputError(concat("the prior's length along ", axis_name<Dim>(d), " is ",
                            o.prior.lengths[d], " m (allowed: ", unknowns.spacing[d],
                            " m, the distance of unknowns, or more)"));
  }
  if (o.velocity_max > 0.0 && !(o.velocity_min > 0.0 && o.velocity_min < o.velocity_max)) {
    throw InputError(concat("bounds of velocity: ", o.velocity_min, " to ", o.velocity_max,
                            " m/s (allowed: 0 < lower < upper)"));
  }
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (mask[i] == 0) continue;
    const double v = start[i];
    const bool outside = o.velocity_max > 0.0 && (v < o.velocity_min || v > o.velocity_max);
    if (v > 0.0 && std::isfinite(v) && !outside) continue;
    throw InputError(concat("the start model has ", v, " m/s at ",
                            format_point(grid.position(grid.node(static_cast<std::int64_t>(i)))),
                            " m (allowed: ", outside ? "the bounds" : "positive and finite",
                            "): correct the start model", outside ? " or the bounds" : ""));
  }
}

template <int Dim>
bool uses_eikonal(const Options<Dim>& options, const std::vector<unsigned char>& mask) {
  if (options.times != Times::automatic) return options.times == Times::eikonal;
  return Dim == 3 && std::count(mask.begin(), mask.end(), 0) == 0;
}

template bool uses_eikonal<2>(const Options<2>&, const std::vector<unsigned char>&);
template bool uses_eikonal<3>(const Options<3>&, const std::vector<unsigned char>&);
template void check_input<2>(const Grid<2>&, const PickSet<2>&, const std::vector<double>&,
                             const std::vector<unsigned char>&, const Options<2>&);
template void check_input<3>(const Grid<3>&, const PickSet<3>&, const std::vector<double>&,
                             const std::vector<unsigned char>&, const Options<3>&);

}  // namespace moho::tomography
