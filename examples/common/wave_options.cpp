// SPDX-License-Identifier: BSD-3-Clause
#include "common/wave_options.hpp"

#include "common/scheme_json.hpp"
#include "common/summary.hpp"

#include <moho/core/error.hpp>

namespace moho::examples {

std::string wave_units_help() {
  return R"(
Units are metres, seconds, Hz, m/s. x points right, y into the page, z is DEPTH and points down. On the
command line coordinates are written x,z in 2D and x,y,z in 3D. Model files hold nodes in the order (x, z)
or (x, y, z) with z running fastest; .npy, .rsf, .sgy and .segy are read.
)";
}

std::string wave_scheme_help() {
  return R"(
Boundaries. A kind for all faces, then exceptions by face: --boundary cpml:20,top=free,left=sponge:40. Kinds:
cpml (absorbs best; not for TTI), sponge, random (keeps the energy and scatters it), free (the free surface),
rigid. Faces: left, right (x), front, back (y), top, bottom (z). Layers lie OUTSIDE of the model.

Time. A sample of the wavelet at time t acts at time t; a Ricker wavelet has its peak 1.5 / frequency after
zero, and arrivals are that much later than the traveltime. --dt auto takes a step below the largest stable
one, such that samples of the gather are whole microseconds apart.
)";
}

void add_wave_options(Description& d, const std::vector<OptionText>& of_shots,
                      const std::vector<OptionText>& of_running) {
  const std::vector<OptionText> shots = {
      {"shots", "FILE",
       "a table shot,kind,x,z (3D: x,y,z) of sources and receivers, instead of both"},
      {"wavelet", "WAVELET",
       concat("ricker:FREQUENCY[:DELAY], ormsby:F1,F2,F3,F4[:DELAY], or file:PATH[:INTERVAL] with "
              "times and amplitudes (default: ",
              default_wavelet, ")")},
      {"time", "s", "seconds to model (default: 1)"},
      {"interval", "s", "between samples of the gather, whole microseconds (default: dt)"}};
  const std::vector<OptionText> ends = {out_option(d.program), resume_option("shot"),
                                        only_shot_option(), flag("no-plot", "draw no pictures"),
                                        flag("quiet", "print nothing but errors")};
  d.groups.push_back(earth_model_options());
  d.groups.push_back({"Shots", joined(joined(shot_options(), shots), of_shots)});
  d.groups.push_back({"Scheme", scheme_options()});
  d.groups.push_back(
      {"Running", joined(joined({precision_option(), space_option()}, of_running), ends)});
  d.groups.push_back({"Several places", distribute_options()});
  d.config_note = ". Sources and receivers chosen there replace the file's";
  d.aliases = wave_aliases();
  d.alternatives = {{{"source", "shots"}, {}}, {{"receivers", "shots"}, {"moving"}}};
}

void read_wave_options(const Arguments& arguments, const std::string& program, WaveOptions& o) {
  const auto given = [&](const char* name) { return arguments.given(name); };
  const auto text = [&](const char* name) { return arguments.text(name); };

  read_earth_model_options(arguments, program, o.model);

  // The shots.
  read_shot_options(arguments, o);
  if (given("shots")) o.shots_file = text("shots");
  if (given("shots") && (given("source") || given("receivers") || o.moving)) {
    throw InputError(
        concat("--shots and --",
               given("source")      ? "source"
               : given("receivers") ? "receivers"
                                    : "moving",
               " were both given (allowed: one of them): the table holds sources and receivers"));
  }
  o.wavelet_given = given("wavelet");
  if (o.wavelet_given) o.wavelet = text("wavelet");
  if (given("time")) o.time = arguments.number("time", "positive, in seconds", 0.0, false);
  if (given("interval"))
    o.interval = arguments.number("interval", "positive, in seconds", 0.0, false);

  read_face_options(arguments, o);
  read_scheme_options(arguments, o);
  read_common(arguments, program, o);
  read_shot_choice(arguments, o);
  add_inputs(arguments,
             {"vp", "rho", "epsilon", "delta", "theta", "phi", "source", "receivers", "shots"},
             o.wavelet, o);
}

Json asked_json(const WaveOptions& o, const Json& times) {
  Json json;
  for (const auto& [option, text] : o.model.parameters) json[option] = text;
  json["degrees"] = o.model.degrees;
  if (o.model.velocity_unit != VelocityUnit::unsaid) {
    json["velocity_unit"] = to_string(o.model.velocity_unit);
  }
  if (!o.config.empty()) json["config"] = o.config;
  if (!o.shots_file.empty()) {
    json["shots"] = o.shots_file;
  } else {
    json["source"] = o.sources.empty() ? Json("the middle") : Json(o.sources);
    json["receivers"] = o.receivers.empty() ? Json("a line along the surface") : Json(o.receivers);
    json["moving"] = o.moving;
  }
  json["wavelet"] = o.wavelet;
  json["time"] = o.time;
  json["dt"] = o.dt > 0.0 ? Json(o.dt) : Json("auto");
  json["interval"] = o.interval > 0.0 ? Json(o.interval) : Json("auto");
  if (!times.null()) json.merge(times);
  describe_scheme(o, json);
  json["precision"] = o.double_precision ? "double" : "float";
  json["space"] = o.space;
  json["memory"] = memory_json(o);
  json["out"] = o.out;
  json["plot"] = o.plot;
  return json;
}

}  // namespace moho::examples
