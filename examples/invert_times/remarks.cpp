// SPDX-License-Identifier: BSD-3-Clause
#include "invert_times/remarks.hpp"

#include <moho/core/text.hpp>

#include <algorithm>

namespace moho::examples::invert_times {

ArgumentNames names_of(const Options& o) {
  const bool shape = !o.shape.empty();
  return {{"an empty ground", "--topography none"},
          {"an error of all picks", "--error"},
          {"bounds", "--bounds"},
          {"coarsening", "--coarsening"},
          {"delays of sources", "--statics source"},
          {"delta", "--delta"},
          {"depth", shape ? "--shape" : "--depth"},
          {"deviation_max", "--deviation-max"},
          {"epsilon", "--epsilon"},
          {"jackknife", "--jackknife"},
          {"lengths", "--lengths"},
          {"location", "--location-deviation and --origin-deviation"},
          {"margin", shape ? "--shape, with --origin" : "--margin"},
          {"receivers", "--receivers"},
          {"reference", "--reference"},
          {"shots", "--shots"},
          {"spacing", "--spacing"},
          {"start", "--start"},
          {"the unit of times", "--time-unit ms (or us)"},
          {"times", "--times"}};
}

std::vector<std::string> option_notes(const Options& o) {
  std::vector<std::string> notes;
  if (o.lambda > 0.0 && o.deviation_given) {
    notes.emplace_back("--deviation-max has no effect on the damping: --lambda fixes it");
  }
  const bool delays =
      o.statics == tomography::Statics::source || o.statics == tomography::Statics::both;
  if (o.locate && delays && o.origin_deviation > 0.0) {
    notes.emplace_back(
        "origin times of --locate and delays of sources of --statics are the same to the picks: "
        "leave the latter out, or give --origin-deviation 0");
  }
  return notes;
}

void limit_start(std::vector<double>& start, double vmin, double vmax,
                 std::vector<std::string>& notes) {
  std::size_t changed = 0;
  for (double& v : start) {
    const double inside = std::clamp(v, vmin, vmax);
    changed += inside != v ? 1 : 0;
    v = inside;
  }
  if (changed == 0) return;
  notes.push_back(
      concat("the start model is cut to --bounds at ", changed, " of ", start.size(), " nodes"));
}

}  // namespace moho::examples::invert_times
