// SPDX-License-Identifier: BSD-3-Clause
#include "invert_times/remarks.hpp"

namespace moho::examples::invert_times {

ArgumentNames names_of(const Options& o) {
  const bool shape = !o.shape.empty();
  return {{"an empty ground", "--topography none"},
          {"an error of all picks", "--error"},
          {"bounds", "--bounds"},
          {"coarsening", "--coarsening"},
          {"delays of sources", "--statics source"},
          {"origin_deviation", "--origin-deviation"},
          {"delta", "--delta"},
          {"depth", shape ? "--shape" : "--depth"},
          {"deviation_max", "--deviation-max"},
          {"epsilon", "--epsilon"},
          {"jackknife", "--jackknife"},
          {"krylov", "--krylov"},
          {"lambda", "--lambda"},
          {"lengths", "--lengths"},
          {"location", "--location-deviation and --origin-deviation"},
          {"margin", shape ? "--shape, with --origin" : "--margin"},
          {"receivers", "--receivers"},
          {"reference", "--reference"},
          {"shots", "--shots"},
          {"spacing", "--spacing"},
          {"start", "--start"},
          {"target", "--target"},
          {"the unit of times", "--time-unit ms (or us)"},
          {"times", "--times"},
          {"tolerance", "--tolerance"}};
}

}  // namespace moho::examples::invert_times
