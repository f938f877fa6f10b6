// SPDX-License-Identifier: BSD-3-Clause
#include "common/survey.hpp"

#include "common/arguments.hpp"

namespace moho::examples {

std::vector<OptionText> shot_options() {
  return {
      repeated("source", "POINTS",
               "each point is a shot: x,z[,y]; a line x,z:x,z:count; several joined by ;  or a "
               "table .csv or .npy. May be repeated (default: the middle, two nodes below the "
               "surface)"),
      {"receivers", "POINTS", "written like sources (default: a line two nodes below the surface)"},
      flag("moving", "receivers move with the source: horizontal distances from it; depths stay")};
}

void read_shot_options(const Arguments& arguments, ShotTexts& texts) {
  const auto given = [&](const char* name) { return arguments.given(name); };
  texts.sources = arguments.texts("source");
  if (given("receivers")) texts.receivers = arguments.text("receivers");
  if (given("receivers") && texts.receivers.empty()) {
    throw InputError("--receivers is empty (allowed: points): leave it out for a line of them");
  }
  texts.moving = given("moving");
  if (texts.moving && !given("receivers")) {
    throw InputError("--moving needs --receivers: give distances from the source and depths");
  }
}

std::vector<OptionText> face_options() {
  return {{"boundary", "LIST", "see below (default: cpml:20; for TTI sponge:30)"},
          {"width", "n",
           "nodes of layers whose width --boundary does not say (default: 20 for cpml, 30 for "
           "sponge, 40 for random)"},
          flag("free-surface", "the same as top=free")};
}

void read_face_options(const Arguments& arguments, FaceTexts& texts) {
  if (arguments.given("boundary")) {
    texts.boundary = arguments.text("boundary");
    if (texts.boundary.empty()) {
      throw InputError(
          "--boundary is empty (allowed: kinds of boundaries): leave it out for layers");
    }
  }
  if (arguments.given("width")) {
    texts.width = static_cast<int>(parse_count("--width", arguments.text("width"), 1, 1000));
  }
  texts.free_surface = arguments.given("free-surface");
}

wave::Medium medium_of(const EarthModelOptions& model) {
  const auto given = [&](const char* name) { return model.parameters.count(name) > 0; };
  if (given("theta") || given("phi")) return wave::Medium::tti;
  if (given("epsilon") || given("delta")) return wave::Medium::vti;
  return given("rho") ? wave::Medium::variable_density : wave::Medium::isotropic;
}

}  // namespace moho::examples
