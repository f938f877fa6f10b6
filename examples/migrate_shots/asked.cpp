// SPDX-License-Identifier: BSD-3-Clause
#include "migrate_shots/asked.hpp"

#include "common/scheme_json.hpp"
#include "common/summary.hpp"

namespace moho::examples::migrate_shots {

Json asked_json(const Options& o) {
  Json json;
  for (const auto& [option, text] : o.model.parameters) json[option] = text;
  json["degrees"] = o.model.degrees;
  if (!o.config.empty()) json["config"] = o.config;
  o.describe("shots", o, json);
  json["wavelet"] = o.wavelet;
  json["wavelet_zero"] = survey::to_string(o.zero);
  json["mute"] = o.mute_text;
  json["spreading"] = o.spreading_text;
  json["normalise"] = o.normalise;
  json["time"] = o.time > 0.0 ? Json(o.time) : Json("auto");
  json["dt"] = o.dt > 0.0 ? Json(o.dt) : Json("auto");
  describe_scheme(o, json);
  json["aperture"] = o.aperture_text;
  Json conditions = Json::array();
  for (const Condition condition : o.conditions) conditions.push_back(to_string(condition));
  json["condition"] = conditions;
  json["columns"] = o.columns;
  json["offset"] = o.offset;
  json["angles"] = o.angles;
  json["snapshots"] = o.snapshots;
  json["error"] = o.error;
  json["snapshot_steps"] = o.every > 0 ? Json(o.every) : Json("auto");
  json["precision"] = o.double_precision ? "double" : "float";
  json["space"] = o.space;
  json["memory"] = memory_json(o);
  json["out"] = o.out;
  json["plot"] = o.plot;
  return json;
}

}  // namespace moho::examples::migrate_shots
