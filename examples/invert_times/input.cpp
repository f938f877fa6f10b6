// SPDX-License-Identifier: BSD-3-Clause
#include "invert_times/input.hpp"

#include "invert_times/remarks.hpp"

#include <moho/tomography/picks.hpp>

namespace moho::examples::invert_times {

namespace {

// Returns the format of the file of picks.
tomography::PickFormat format_of(const Options& o) {
  const double units[] = {1.0, 1e-3, 1e-6};
  return {o.format, units[o.time_unit], o.elevations, o.shots, o.receivers, names_of(o)};
}

}  // namespace

int dimensions_of_picks(const Options& o) {
  return tomography::dimensions_of_picks(o.picks, format_of(o));
}

template <int Dim>
tomography::PickSet<Dim> read_picks(const Options& o) {
  return tomography::read_picks<Dim>(o.picks, format_of(o));
}

template tomography::PickSet<2> read_picks<2>(const Options&);
template tomography::PickSet<3> read_picks<3>(const Options&);

}  // namespace moho::examples::invert_times
