// SPDX-License-Identifier: BSD-3-Clause
#include "app/survey.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/format.hpp"

#include <moho/core/text.hpp>
#include <moho/wave/wavelet.hpp>

#include <limits>

namespace moho::examples {

namespace {

// Throws for options of other media, schemes or domains, which would be ignored.
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
  const std::string boundary = arguments.text("boundary");
  const std::string field = arguments.text("snapshots") + arguments.text("source-field");
  const bool random =
      boundary.find("random") != std::string::npos || given("block") || field == "random";
  if (given("seed") && !random) {
    throw InputError(
        "--seed was given without random layers (they belong to --boundary, --source-field and "
        "--snapshots random, and to --block): leave it out");
  }
  for (const char* name : {"expand-threshold", "expand-interval", "expand-coarsening"}) {
    const std::string method = name == std::string("expand-coarsening") ? "eikonal" : "amplitude";
    if (!given(name) || arguments.text("expand") == method) continue;
    throw InputError(concat("--", name, " was given without --expand ", method,
                            " (it belongs to it): leave it out"));
  }
}

// Throws for two different kinds of the top face.
void check_top(const FaceTexts& o) {
  for (const std::string& piece : split(o.free_surface ? o.boundary : "")) {
    const auto equals = piece.find('=');
    if (equals == std::string::npos || split(piece.substr(0, equals)).front() != "top") continue;
    if (split(piece.substr(equals + 1)).front() == "free") continue;
    throw InputError(concat("--boundary ", o.boundary, " and --free-surface were both given ",
                            "(allowed: one kind for the top): leave one of them out"));
  }
}

}  // namespace

void bind_shots(Description& d, ShotTexts& o) {
  d.bind(o.sources, "source", "POINTS",
         "each point is a shot: x,z, in 3D x,y,z, or x=..,z=..; a line x,z:x,z:count; a grid "
         "x,z:x,z:nxm (3D: nxmxk); several joined by ;  or a table .csv or .npy. May be repeated "
         "(default: the middle, two nodes below the surface)",
         {.unset = "the middle", .file = true});
  d.bind(o.receivers, "receivers", "POINTS",
         "written like sources; --receiver-line is the same (default: a line two nodes below the "
         "surface)",
         nonempty("points", "a line of them"), {.unset = "a line along the surface", .file = true});
  d.flag(o.moving, "moving",
         "receivers move with the source: horizontal distances from it; depths stay");
  d.check([&o](const Arguments&) {
    if (o.moving && o.receivers.empty()) {
      throw InputError("--moving needs --receivers: give distances from the source and depths");
    }
  });
}

void bind_scheme(Description& d, FaceTexts& faces, SchemeTexts& o, bool expands, bool amplitude) {
  d.group("Scheme");
  d.check(check_scheme_belongs);
  d.bind(o.dt, "dt", "s | auto", "time step (default: auto)",
         positive("auto, or positive, in seconds"), {.word = "auto"});
  d.bind(o.order, "order", "n", "of differences in space: 2, 4, ..., 16 (default: 8)", even(16));
  d.bind(faces.boundary, "boundary", "LIST",
         concat("see below (default: cpml:", wave::default_cpml_width,
                "; for TTI a sponge by the wavelength)"),
         nonempty("kinds of boundaries", "layers"), {.unset = "auto"});
  d.bind(faces.width, "width", "n",
         concat("nodes of layers whose width --boundary does not say (default: cpml ",
                wave::default_cpml_width, ", random 40, sponge 30 to 60: 1 % of a wave returns)"),
         count(1, 1000), {.unset = "auto"});
  d.flag(faces.free_surface, "free-surface", "the same as top=free");
  d.check([&faces](const Arguments&) { check_top(faces); });
  d.bind(o.seed, "seed", "n", "of random layers (default: 2011)",
         count(0, std::numeric_limits<std::int64_t>::max()));
  d.bind(o.equations, "equations", "NAME",
         "of VTI and TTI: self_adjoint (keeps energy in rough models) or fletcher (default: "
         "self_adjoint)",
         one_of({"self_adjoint", "fletcher"}));
  d.bind(o.sigma, "sigma", "s",
         "for fletcher: shear velocity^2 = vp^2 |epsilon - delta| / sigma (default: 0.75)",
         positive("positive numbers"))
      .show_if([&o] { return o.equations == wave::Equations::fletcher; });
  d.bind(o.source_taper, "source-taper", "m | auto",
         "for self_adjoint: delta becomes epsilon up to half so far from sources and goes over "
         "into its own value up to there, so that no slow waves of shear come out of them; 0: "
         "nowhere (default: auto, twice the shortest wave)",
         number("auto, or 0 or more metres", 0.0, true), {.word = "auto"});
  d.bind(o.expand, "expand", "NAME",
         concat("step only where waves have come to, by: none, layers",
                amplitude ? ", eikonal, or amplitude" : ", or eikonal", " (default: none)"),
         one_of({"none", "layers", "eikonal", "amplitude"}));
  if (!expands) return;
  // members of the summary where they differ from the defaults
  const auto changed = [&o](auto member) {
    return [&o, member] { return o.domain.*member != domain::DomainOptions().*member; };
  };
  d.bind(o.domain.coarsening, "expand-coarsening", "n",
         "eikonal: first arrivals on every n-th node (default: 4)", count(1, 64))
      .show_if(changed(&domain::DomainOptions::coarsening));
  if (!amplitude) return;
  d.bind(o.domain.threshold, "expand-threshold", "a",
         "amplitude: of the largest, below which waves may be cut (default: 1/1024)",
         number("above 0 and below 1", 0.0, false, 1.0))
      .show_if(changed(&domain::DomainOptions::threshold));
  d.bind(o.domain.interval, "expand-interval", "n",
         "amplitude: steps between inspections of the wavefield (default: 8)", count(1, 64))
      .show_if(changed(&domain::DomainOptions::interval));
}

void add_wavelet_input(const std::string& wavelet, CommonOptions& options) {
  try {
    const std::string path = wave::parse_wavelet(wavelet).path;
    if (!path.empty()) options.inputs.push_back({"wavelet", path});
  } catch (const InputError&) {
    // reading it later reports the error
  }
}

int recommended_sponge_width(const ModelGrid& model, double mean, const std::string& wavelet) {
  const double frequency = survey::peak_frequency(wavelet, "--wavelet");
  if (!std::isfinite(mean) || !(mean > 0.0)) return wave::min_sponge_width;  // refused later
  const double spacing = *std::min_element(model.spacing.begin(), model.spacing.end());
  return wave::recommended_sponge_width(mean / (frequency * spacing));
}

wave::Medium medium_of(const EarthModelOptions& model) {
  wave::ParameterSet given;
  for (const wave::ParameterInfo& row : wave::parameters) {
    if (model.parameters.count(row.option) > 0) given.insert(row.parameter);
  }
  return wave::medium_of(given);
}

}  // namespace moho::examples
