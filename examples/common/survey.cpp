// SPDX-License-Identifier: BSD-3-Clause
#include "common/survey.hpp"

#include "common/arguments.hpp"
#include "common/format.hpp"

#include <moho/core/text.hpp>
#include <moho/wave/wavelet.hpp>

#include <limits>

namespace moho::examples {

std::vector<OptionText> shot_options() {
  return {
      repeated("source", "POINTS",
               "each point is a shot: x,z, in 3D x,y,z, or x=..,z=..; a line x,z:x,z:count; a grid "
               "x,z:x,z:nxm; several joined by ;  or a table .csv or .npy. May be repeated "
               "(default: the middle, two nodes below the surface)"),
      {"receivers", "POINTS",
       "written like sources; --receiver-line is the same (default: a line two nodes below the "
       "surface)"},
      flag("moving", "receivers move with the source: horizontal distances from it; depths stay")};
}

std::map<std::string, std::string> wave_aliases() {
  return {{"model", "vp"}, {"true-model", "true-vp"}, {"receiver-line", "receivers"}};
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
  return {{"boundary", "LIST", "see below (default: cpml:20; for TTI a sponge by the wavelength)"},
          {"width", "n",
           "nodes of layers whose width --boundary does not say (default: 20 for cpml, 40 for "
           "random; for a sponge 30 to 60, such that 1 % of a wave comes back)"},
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
  if (texts.free_surface) {
    for (const std::string& piece : split(texts.boundary)) {
      const auto equals = piece.find('=');
      if (equals == std::string::npos || split(piece.substr(0, equals)).front() != "top") continue;
      if (split(piece.substr(equals + 1)).front() == "free") continue;
      throw InputError(concat("--boundary ", texts.boundary, " and --free-surface were both given ",
                              "(allowed: one kind for the top): leave one of them out"));
    }
  }
}

std::vector<OptionText> scheme_options() {
  std::vector<OptionText> first = {
      {"dt", "s | auto", "time step (default: auto)"},
      {"order", "n", "of differences in space: 2, 4, ..., 16 (default: 8)"}};
  return joined(
      joined(std::move(first), face_options()),
      {{"seed", "n", "of random layers (default: 2011)"},
       {"equations", "NAME",
        "of VTI and TTI: self_adjoint (keeps energy in rough models) or fletcher (default: "
        "self_adjoint)"},
       {"sigma", "s",
        "for fletcher: shear velocity^2 = vp^2 |epsilon - delta| / sigma (default: 0.75)"},
       {"source-taper", "m | auto",
        "for self_adjoint: delta becomes epsilon up to half so far from sources and goes over into "
        "its own value up to there, so that no slow waves of shear come out of them; 0: nowhere "
        "(default: auto, twice the shortest wave)"},
       {"expand", "NAME",
        "step only where waves have come to, by: none, layers, eikonal, or amplitude (default: "
        "none)"}});
}

namespace {

// Throws for options that would be ignored, because they belong to other media or schemes.
void check_scheme_belongs(const Arguments& arguments) {
  const auto given = [&](const std::string& name) { return arguments.given(name); };
  bool anisotropic = false;
  for (const char* name : {"epsilon", "delta", "theta", "phi"}) {
    anisotropic = anisotropic || given(name) || given(std::string("true-") + name);
  }
  const bool fletcher = arguments.text("equations") == "fletcher";
  for (const char* name : {"equations", "sigma", "source-taper"}) {
    if (anisotropic || !given(name)) continue;
    throw InputError(concat("--", name, " was given and the medium is isotropic (it belongs to ",
                            "--epsilon, --delta, --theta and --phi): leave it out"));
  }
  if (given("sigma") && !fletcher) {
    throw InputError(
        "--sigma was given without --equations fletcher (it belongs to them): leave "
        "it out, or take those equations");
  }
  if (given("source-taper") && fletcher && arguments.text("source-taper") != "auto") {
    throw InputError(
        "--source-taper was given with --equations fletcher (it belongs to self_adjoint): leave it "
        "out");
  }
  if (given("seed") && arguments.text("boundary").find("random") == std::string::npos &&
      !(given("source-field") && arguments.text("source-field") == "random")) {
    throw InputError(
        "--seed was given without random layers (it belongs to --boundary random, or to "
        "--source-field random of an inversion): leave it out");
  }
}

}  // namespace

void read_scheme_options(const Arguments& arguments, SchemeTexts& texts) {
  const auto given = [&](const char* name) { return arguments.given(name); };
  check_scheme_belongs(arguments);
  if (given("dt") && arguments.text("dt") != "auto") {
    texts.dt = arguments.number("dt", "auto, or positive, in seconds", 0.0, false);
  }
  if (given("order")) {
    texts.order = static_cast<int>(parse_count("--order", arguments.text("order"), 2, 16));
    if (texts.order % 2 != 0) {
      throw InputError(
          concat("--order is ", texts.order, " (allowed: 2, 4, 6, 8, 10, 12, 14, 16)"));
    }
  }
  if (given("seed")) {
    texts.seed = static_cast<std::uint64_t>(
        parse_count("--seed", arguments.text("seed"), 0, std::numeric_limits<std::int64_t>::max()));
  }
  if (arguments.choice("equations", {"self_adjoint", "fletcher"}, 0) == 1) {
    texts.equations = wave::Equations::fletcher;
  }
  if (given("sigma")) texts.sigma = arguments.number("sigma", "positive numbers", 0.0, false);
  if (given("source-taper") && arguments.text("source-taper") != "auto") {
    texts.source_taper = arguments.number("source-taper", "auto, or 0 or more metres", 0.0, true);
  }
  texts.expand = static_cast<domain::Expansion>(
      arguments.choice("expand", {"none", "layers", "eikonal", "amplitude"}, 0));
}

void add_inputs(const Arguments& arguments, const std::vector<std::string>& names,
                const std::string& wavelet, CommonOptions& options) {
  for (const std::string& name : names) {
    for (const std::string& value : arguments.texts(name)) options.inputs.push_back({name, value});
  }
  try {
    const std::string path = wave::parse_wavelet(wavelet).path;
    if (!path.empty()) options.inputs.push_back({"wavelet", path});
  } catch (const InputError&) {
    // it is refused where it is used
  }
}

int usual_sponge(const EarthModelOptions& model, const std::string& wavelet) {
  const auto vp = model.parameters.find("vp");
  const auto velocity =
      vp != model.parameters.end() ? text::to_number(vp->second) : std::optional<double>();
  const bool metres = model.velocity_unit == VelocityUnit::unsaid ||
                      model.velocity_unit == VelocityUnit::metres_per_second;
  if (!velocity || !(*velocity > 0.0) || !metres || model.spacing.empty()) {
    return wave::max_sponge_width;
  }
  const double spacing = *std::min_element(model.spacing.begin(), model.spacing.end());
  return wave::recommended_sponge_width(*velocity / (peak_frequency(wavelet) * spacing));
}

std::string describe_sponge(int width, double velocity, double frequency, double spacing) {
  const double wavelength = velocity / (frequency * spacing);  // nodes
  return concat("a sponge of ", width, " nodes is ", significant(width / wavelength, 2),
                " wavelengths of ", std::llround(velocity), " m/s at ", significant(frequency, 4),
                " Hz: of the amplitude of a wave that meets it head on about ",
                significant(100.0 * wave::sponge_reflection(width, wavelength), 2),
                " % comes back, at 45 degrees ",
                significant(100.0 * wave::sponge_reflection(width, wavelength, 45.0), 2), " %");
}

wave::Medium medium_of(const EarthModelOptions& model) {
  wave::ParameterSet given;
  for (const wave::ParameterInfo& row : wave::parameters) {
    if (model.parameters.count(row.option) > 0) given.insert(row.parameter);
  }
  return wave::medium_of(given);
}

}  // namespace moho::examples
