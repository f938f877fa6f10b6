// SPDX-License-Identifier: BSD-3-Clause
#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/format.hpp"
#include "model_gravity/input.hpp"

#include <moho/gravity/magnetic_job.hpp>
#include <moho/io/point_tables.hpp>

#include <algorithm>

namespace moho::examples::model_gravity {

namespace {

// Calls the library, whose messages begin with the name of an option without dashes.
template <class F>
auto named(const F& call) {
  try {
    return call();
  } catch (const InputError& error) {
    throw InputError(concat("--", error.what()));
  }
}

void read_remanence(const std::string& text, Options& o) {
  if (text.empty()) {
    throw InputError("--remanence: nothing is named (needed: M,I,D, or a file): leave it out");
  }
  if (text.find(',') == std::string::npos) {
    o.remanence_file = text;
    return;
  }
  o.remanence = parse_numbers("--remanence", text, {3}, "A/m and two angles, or a file");
  gravity::check_direction("--remanence", o.remanence[1], o.remanence[2]);
}

void check_magnetic(const Arguments& given, Options& o) {
  const bool by_field = given.given("field"), on_mesh = o.ensemble == Ensemble::mesh;
  const auto refuse = [](const char* name, const char* why) {
    throw InputError(concat("--", name, " was given ", why));
  };
  for (const char* name : {"field", "remanence", "susceptibilities"}) {
    if (!o.magnetic && given.given(name)) {
      refuse(name, "without --magnetic (allowed: with it): add it, or leave the option out");
    }
  }
  if (!o.magnetic) return;
  if (given.given("densities")) {
    refuse("densities", "with --magnetic (allowed: --susceptibilities): name the file there");
  }
  if (given.given("constant")) {
    refuse("constant", "with --magnetic (allowed: for gravity): leave it out");
  }
  if (on_mesh && !given.given("susceptibilities")) {
    refuse("mesh", "with --magnetic without --susceptibilities (needed: their file): name it");
  }
  if (!on_mesh && given.given("susceptibilities")) {
    refuse("susceptibilities", "without --mesh (allowed: for its cells): leave it out");
  }
  if (!by_field && o.ensemble != Ensemble::spheres) {
    refuse("magnetic", "without --field (needed: F,I,D in nT and degrees, as 50000,60,2): add it");
  }
  if (!by_field) o.ambient = {50000.0, 60.0, 0.0};
  using gravity::Strategy;
  if (o.strategy == Strategy::by_prisms || o.strategy == Strategy::by_corners ||
      o.strategy == Strategy::fmm) {
    refuse("strategy",
           "as by_prisms, by_corners or fmm with --magnetic (allowed: automatic, tiles, "
           "by_stations, lattice): take automatic");
  }
}

}  // namespace

std::vector<Quantity> quantities(const Options& o) {
  std::vector<Quantity> list;
  for (const auto c : o.magnetic_components) {
    if (o.magnetic) list.push_back({gravity::to_string(c), "nT"});
  }
  for (const auto c : o.components) {
    if (!o.magnetic) list.push_back({gravity::to_string(c), gravity::unit_of(c)});
  }
  return list;
}

void read_components(const Arguments& given, Options& o) {
  if (!given.given("components")) return;
  const std::string text = given.text("components");
  named([&] {
    if (given.given("magnetic")) {
      o.magnetic_components = gravity::parse_magnetic_components(text);
    } else {
      o.components = gravity::parse_components(text);
    }
    return 0;
  });
}

void bind_magnetic(Description& d, Options& o) {
  d.group("Magnetic fields");
  d.flag(o.magnetic, "magnetic",
         "the magnetic anomaly in nT instead of gravity: total (its projection on the ambient "
         "field), bx, by, bz. The column density of --prisms is then named susceptibility (SI)",
         {.unset = Json()});
  Rule<gravity::AmbientField> field;
  field.read = [](const std::string&, const std::string& text) {
    return named([&] { return gravity::parse_ambient_field(text); });
  };
  field.show = [](const gravity::AmbientField& f) {
    return Json::array({f.intensity, f.inclination, f.declination});
  };
  d.bind(o.ambient, "field", "F,I,D",
         "the ambient field: intensity in nT, inclination (positive down) and declination (from "
         "north to east) in degrees (default for --spheres: 50000,60,0)",
         field)
      .show_if([&o] { return o.magnetic; });
  d.bind(o.susceptibilities_file, "susceptibilities", "FILE",
         "for --mesh: as --densities, SI units", {.unset = Json(), .file = true});
  Option& row = d.add("remanence", "M,I,D | FILE",
                      "remanent magnetisation: A/m, inclination and declination of all prisms (of "
                      "a mesh: of cells with a susceptibility other than 0), or a row mx,my,mz a "
                      "prism or cell in A/m, .csv or .npy (default: zero)",
                      {.file = true});
  row.read = [&o](const Arguments& given) {
    if (given.given("remanence")) read_remanence(given.text("remanence"), o);
  };
  row.shown = [&o] {
    if (!o.remanence_file.empty()) return Json(o.remanence_file);
    return o.remanence.empty() ? Json() : Json(o.remanence);
  };
  d.check([&o](const Arguments& given) { check_magnetic(given, o); });
}

std::vector<double> load_remanence(const Options& o, Input& input) {
  if (!o.remanence.empty()) {
    return gravity::uniform_remanence(input.ensemble(), o.remanence[0], o.remanence[1],
                                      o.remanence[2]);
  }
  if (o.remanence_file.empty()) return {};
  std::vector<double> rows =
      io::read_rows("--remanence", o.remanence_file, {"mx", "my", "mz"}, input.notes);
  gravity::check_remanence("--remanence " + o.remanence_file, rows);
  if (rows.size() == static_cast<std::size_t>(3 * input.ensemble().size())) return rows;
  throw InputError(concat("--remanence ", o.remanence_file, ": has ", rows.size() / 3,
                          " rows (allowed: ", input.ensemble().size(),
                          ", one a prism or cell): mend the file"));
}

std::string magnetic_text(const Options& o, const Input& input) {
  const auto [min, largest] = std::minmax_element(input.strengths.begin(), input.strengths.end());
  std::string text =
      concat("field     ", o.ambient.intensity, " nT, inclination ", o.ambient.inclination,
             ", declination ", o.ambient.declination, " degrees; magnetisation ",
             significant(*min, 6), " to ", significant(*largest, 6), " A/m");
  for (const auto& note : gravity::magnetic_remarks(o.ambient, input.ensemble()))
    text += "\n          note: " + note;
  return text;
}

}  // namespace moho::examples::model_gravity
