// SPDX-License-Identifier: BSD-3-Clause
#include "invert_waves/asked.hpp"

#include "common/format.hpp"
#include "common/summary.hpp"

#include <algorithm>
#include <string>

namespace moho::examples::invert_waves {

Json asked_json(const Options& o) {
  Json json;
  for (const auto& [option, text] : o.model.parameters) json[option] = text;
  json["degrees"] = o.model.degrees;
  if (!o.config.empty()) json["config"] = o.config;
  o.describe("data", o, json);
  json["wavelet"] = o.wavelet;
  json["wavelet_zero"] = survey::to_string(o.zero);
  json["time"] = o.time > 0.0 ? Json(o.time) : Json("auto");
  json["misfit"] = fwi::to_string(o.misfit.kind);
  json["huber"] = o.misfit.huber;
  json["offset_weights"] = o.offset_weights_text;
  json["mute"] = o.mute_text;
  json["parameters"] = Json(o.unknowns);
  json["variables"] = o.logarithms ? "log" : "linear";
  json["bands"] = Json(o.bands);
  json["iterations"] = o.iterations;
  json["memory_pairs"] = o.memory_pairs;
  Json bounds = Json::object();
  for (const auto& [name, range] : o.bounds) {
    bounds[name] = Json::array({range.first, range.second});
  }
  json["bounds"] = bounds;
  json["mask"] = o.mask_text;
  json["first_change"] = o.first_change;
  json["precondition"] = o.precondition ? "illumination" : "none";
  json["source_field"] = fwi::to_string(o.source_field);
  json["lags"] = o.extended ? Json::array({o.lags.x, o.lags.y}) : Json("none");
  json["gradient_steps"] = o.every > 0 ? Json(o.every) : Json("auto");
  if (o.block > 0) json["block"] = o.block;
  if (o.updates > 0) json["updates"] = o.updates;
  json["dt"] = o.dt > 0.0 ? Json(o.dt) : Json("auto");
  json["order"] = o.order;
  json["boundary"] = o.boundary.empty() ? Json("auto") : Json(o.boundary);
  json["width"] = o.width ? Json(*o.width) : Json("auto");
  json["free_surface"] = o.free_surface;
  json["seed"] = o.seed;
  json["source_taper"] = o.source_taper ? Json(*o.source_taper) : Json("auto");
  json["precision"] = o.double_precision ? "double" : "float";
  json["space"] = o.space;
  json["memory"] = memory_json(o);
  json["out"] = o.out;
  json["plot"] = o.plot;
  if (o.only_shot) {
    json["only_shot"] = *o.only_shot;
    json["band"] = o.band;
    json["data_size"] = o.data_size;
  }
  return json;
}

void print_scheme(Session& session, const Options& o, const fwi::ObjectivePlan& p,
                  std::size_t shots) {
  std::string unknowns;
  for (std::size_t u = 0; u < o.unknowns.size(); ++u) {
    unknowns += concat(u > 0 ? ", " : "", o.unknowns[u], " from ", significant(p.bounds[u].low, 5),
                       " to ", significant(p.bounds[u].high, 5));
  }
  session.print("unknowns  ", unknowns, "; ", format_count(p.variables),
                p.variables < 1000.0 ? "" : " ", "of them, misfit ", fwi::to_string(o.misfit.kind));
  session.print("scheme    order ", o.order, ", dt ", significant(p.time.dt, 6),
                " s (stable up to ", significant(p.max_dt, 4), " within the bounds), ",
                p.time.steps, " steps, ", significant(p.nodes_per_wave, 3),
                " nodes per shortest wave");
  if (p.stream.empty()) {
    session.print("gradient  ", every(p.product_interval, "step"), ", source's wavefield by ",
                  fwi::to_string(p.source_field), ": ", format_bytes(p.source_bytes), " besides ",
                  format_bytes(p.fixed_bytes), " of ", format_bytes(p.budget));
  } else {
    session.print("gradient  ", every(p.product_interval, "step"),
                  ", source's wavefield by random, beside the adjoint field in a stream");
    for (const std::string& line : p.stream) session.print("stream    ", line);
  }
  if (p.stream.empty() && shots > 1) {
    session.print("          ", p.concurrent_shots, p.concurrent_shots == 1 ? " shot" : " shots",
                  " at once", o.at_once == 0 ? " (auto)" : "");
  }
  if (o.extended) {
    session.print("lags      ", o.lags.count(), " of the result: ", format_bytes(p.lags_bytes),
                  " of that");
  }
  const auto most = static_cast<double>(o.iterations) *
                    static_cast<double>(std::max<std::size_t>(o.bands.size(), 1));
  session.print("time      about ", significant(p.seconds, 2), " s an evaluation, ",
                significant(1.15 * p.seconds * most, 2), " s for ", most, " iterations");
}

}  // namespace moho::examples::invert_waves
