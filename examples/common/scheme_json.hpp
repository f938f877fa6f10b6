// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What was asked of the steps, for summary.json and for the comparison by which a run is
/// gone on with.

#include "common/json.hpp"

#include <moho/domain/types.hpp>
#include <moho/wave/types.hpp>

namespace moho::examples {

/// Writes the options of order, faces, equations and boxes.
/// \param o options of a program that steps waves
/// \param json gets "order" to "expand"
template <class Options>
void describe_scheme(const Options& o, Json& json) {
  json["order"] = o.order;
  json["boundary"] = o.boundary.empty() ? Json("auto") : Json(o.boundary);
  json["width"] = o.width ? Json(*o.width) : Json("auto");
  json["free_surface"] = o.free_surface;
  json["seed"] = o.seed;
  json["equations"] = o.equations == wave::Equations::fletcher ? "fletcher" : "self_adjoint";
  if (o.equations == wave::Equations::fletcher) json["sigma"] = o.sigma;
  json["source_taper"] = o.source_taper ? Json(*o.source_taper) : Json("auto");
  json["expand"] = domain::to_string(o.expand);
}

}  // namespace moho::examples
