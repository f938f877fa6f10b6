// SPDX-License-Identifier: BSD-3-Clause
#include "invert_waves/options.hpp"

#include "common/arguments.hpp"

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>

#include <algorithm>
#include <filesystem>

namespace moho::examples::invert_waves {

namespace {

constexpr const char* intro =
    R"(invert_waves: full-waveform inversion: changes a model until modelled shots look like recorded ones.

  invert_waves --vp start.npy --data line.sgy [options]
  invert_waves --vp start.npy --data FOLDER_OF_model_waves [options]
  invert_waves --vp start.npy --data modelled --true-vp vp.npy --source 500,20:8500,20:17 [options]

Units are metres, seconds, Hz, m/s. x points right, y into the page, z is DEPTH and points down. On the
command line coordinates are written x,z in 2D and x,y,z in 3D. Model files hold nodes in the order (x, z)
or (x, y, z) with z running fastest; .npy, .rsf, .sgy and .segy are read.
)";

constexpr const char* outro =
    R"(
Unknowns (--parameters): vp; vp,rho; vp,epsilon,delta of VTI and TTI (any choice with vp). L-BFGS looks for
the least misfit, in logarithms of vp and rho. Before the first shot bounds are compared with what the time
step and the grid allow. --mask depth:40 keeps nodes down to 40 m as they are; a file on the nodes of the model
keeps those where it is zero.

Bands, from low to high: data and wavelet go through a low-pass of eighth order at each frequency, and the
inversion goes on with the model of the band before.

Source's wavefield. The gradient wants it backwards in time: run back from values kept inside the faces
(shell), from behind random layers of its own (random, nothing is kept), kept as it is (stored), or computed
again from some states (replay). auto takes shell if it fits, else replay.

Streaming. With --source-field random, a gradient that does not fit --device-memory streams: models and
wavefields are on the host, planes of both wavefields go through the device together. Gradients have the
same bits. Not for epsilon, delta and --lags.

Results, in the folder of --out:
  vp.npy, rho.npy, epsilon.npy, delta.npy         the unknowns as they were found; vp_start.npy ...: before
  vp_true.npy ...                                 those of --true-vp
  gradient_vp.npy ...                             the last gradient, by logarithms or differences
  illumination.npy                                of the last evaluation
  history.csv                                     a row for each evaluation
  lags.npy, angles.npy                            with --lags: the extended image of the result, lag after lag, and
                                                  angle gathers (60 degrees to each side) at 7 columns
  gather_observed.npy, gather_start.npy, gather_modelled.npy      the middle shot, in the last band
  summary.json      models.png, misfit.png, gather.png, lags.png  pictures

Examples
  invert_waves --vp smooth.npy --spacing 20 --data modelled --true-vp vp.npy --source 0,20:9200,20:24
               --receivers 0,20:9200,20:231 --wavelet ricker:5 --time 4 --bands 3,5,8 --mask depth:40
      A model found again from its own data.
  invert_waves --vp start.sgy --data line.sgy --misfit correlation --plan
      What it would take, and nothing else.

The number of CPU threads is that of OMP_NUM_THREADS. mpirun -n RANKS invert_waves ...: ranks share the shots of
each evaluation, a device each, with the same bits; --sites FILE: so do places. A run that was ended goes on with
--resume, to the same bits. Exit status: 0 done, 2 the input is not usable (the message says what and why),
75 time was over before the last evaluation, 130 interrupted, 1 anything else.
)";

constexpr const char* source_field_names[] = {"auto", "shell", "random", "stored", "replay"};
constexpr const char* unknown_names[] = {"vp", "rho", "epsilon", "delta"};

void read_unknowns(const std::string& text, Options& o) {
  o.unknowns.clear();
  for (const std::string& name : split(text)) {
    if (name == "theta" || name == "phi") {
      throw InputError(concat("--parameters: ", name,
                              " is no unknown: derivatives by the axis are not known at free "
                              "surfaces and in layers (allowed: vp, rho, epsilon, delta): give "
                              "the axis with --theta and leave it as it is"));
    }
    const std::vector<std::string> names(std::begin(unknown_names), std::end(unknown_names));
    parse_name("--parameters", name, names);
    if (std::find(o.unknowns.begin(), o.unknowns.end(), name) != o.unknowns.end()) {
      throw InputError(concat("--parameters: ", name, " stands there twice (allowed: once)"));
    }
    o.unknowns.push_back(name);
  }
  if (std::find(o.unknowns.begin(), o.unknowns.end(), "vp") == o.unknowns.end()) {
    throw InputError(concat("--parameters ", text, ": vp is missing (allowed: vp and others)"));
  }
}

void check_unknowns(const Options& o) {
  const wave::Medium medium = medium_of(o.model);
  for (const std::string& name : o.unknowns) {
    if (name == "vp") continue;
    if (name == "rho" && medium != wave::Medium::variable_density) {
      throw InputError("--parameters: rho needs a model with --rho, without anisotropy");
    }
    if (name != "rho" && wave::fields_of(medium) != 2) {
      throw InputError(concat("--parameters: ", name,
                              " needs a model with --epsilon or --delta (VTI, or TTI with --theta, "
                              "whose angles are not unknowns)"));
    }
    if (name != "rho" && o.model.parameters.count(name) == 0) {
      throw InputError(concat("--parameters: ", name, " needs --", name, " to begin with"));
    }
  }
  if (o.equations == wave::Equations::fletcher &&
      (medium == wave::Medium::vti || medium == wave::Medium::tti)) {
    throw InputError(
        "--equations fletcher: these are not self-adjoint, so that steps have no adjoint among "
        "steps (allowed: self_adjoint): leave it out");
  }
}

void read_bounds(const std::string& text, Options& o) {
  for (const std::string& piece : split(text)) {
    const std::vector<std::string> parts = split(piece, ':');
    const auto number = [&](std::size_t k) {
      return parts.size() == 3 ? text::to_number(parts[k]) : std::optional<double>();
    };
    const auto low = number(1), high = number(2);
    if (!low || !high) {
      throw InputError(concat("--bounds '", piece,
                              "' is none (allowed: PARAMETER:LEAST:GREATEST, "
                              "several joined by commas: vp:1500:5500,rho:1000:3000)"));
    }
    if (std::find(o.unknowns.begin(), o.unknowns.end(), parts[0]) == o.unknowns.end()) {
      throw InputError(concat("--bounds: ", parts[0], " is not among the unknowns (--parameters)"));
    }
    const bool positive = parts[0] == "vp" || parts[0] == "rho";
    if (!(*low < *high) || (positive && !(*low > 0.0)) || (!positive && !(*low > -0.5))) {
      throw InputError(concat("--bounds: ", parts[0], " from ", *low, " to ", *high,
                              " (allowed: a least value below the greatest one, ",
                              positive ? "positive" : "above -0.5", ")"));
    }
    o.bounds[parts[0]] = {*low, *high};
  }
}

void read_bands(const std::string& text, Options& o) {
  for (const std::string& piece : split(text)) {
    const auto value = text::to_number(piece);
    if (!value || *value <= 0.0 || (!o.bands.empty() && *value <= o.bands.back())) {
      throw InputError(concat("--bands ", text, ": '", piece,
                              "' (allowed: positive frequencies in Hz that ascend: 3,5,8)"));
    }
    o.bands.push_back(*value);
  }
}

void read_evaluation(const Arguments& arguments, Options& o) {
  for (const char* name : {"evaluate", "band", "data-size"}) {
    if (!arguments.given(name) || o.only_shot) continue;
    throw InputError(concat("--", name, " is for one shot: give --only-shot, too"));
  }
  if (arguments.given("evaluate")) {
    o.evaluate = arguments.text("evaluate");
    o.inputs.push_back({"evaluate", o.evaluate});
  }
  if (arguments.given("band")) {
    const auto most = static_cast<std::int64_t>(std::max<std::size_t>(o.bands.size(), 1));
    o.band = static_cast<int>(parse_count("--band", arguments.text("band"), 1, most));
  }
  if (arguments.given("data-size")) {
    o.data_size = arguments.number("data-size", "positive numbers", 0.0, false);
  }
}

}  // namespace

fwi::Parameter parameter_of(const std::string& option) {
  if (option == "rho") return fwi::Parameter::density;
  if (option == "epsilon") return fwi::Parameter::epsilon;
  return option == "delta" ? fwi::Parameter::delta : fwi::Parameter::vp;
}

std::string option_of(fwi::Parameter parameter) {
  return parameter == fwi::Parameter::density ? "rho" : wave::to_string(parameter);
}

Description describe() {
  Description d;
  std::vector<OptionText> scheme = scheme_options();
  for (OptionText& option : scheme) {
    if (option.name == "expand") option.text = "none: every step computes all nodes";
    if (option.name == "width") {
      option.text += "; also of the layers of --source-field random (default: 60)";
    }
  }
  d.program = "invert_waves";
  d.intro = intro;
  d.outro = outro;
  d.aliases = data_aliases("data");
  d.groups = {
      earth_model_options(),
      {"Data", data_options("data", "model")},
      true_model_options("data"),
      {"Misfit",
       {{"misfit", "NAME",
         "least-squares, correlation, huber or envelope (default: least-squares)"},
        {"huber", "n",
         "for huber: residuals above so many times the root mean square of the data are large "
         "(default: 1)"},
        {"offset-weights", "LIST", "m:WEIGHT,m:WEIGHT,... of residuals, linear between"},
        {"mute", "none | velocity:V",
         "residuals before the straight way at V m/s do not count; with [:DELAY[:TAPER]] in s "
         "(default: none)"}}},
      {"Inversion",
       {{"parameters", "LIST", "unknowns, see below (default: vp)"},
        {"variables", "log | linear", "of vp and rho (default: log)"},
        {"bands", "Hz,Hz,...", "low-passes, from low to high (default: all frequencies at once)"},
        {"iterations", "n", "most in each band (default: 10)"},
        {"memory-pairs", "n", "of L-BFGS, 1 to 64 (default: 5)"},
        {"bounds", "LIST",
         "PARAMETER:LEAST:GREATEST, ... (default: a fifth beyond the model's values as far as grid "
         "and --dt allow, epsilon and delta 0.1 beyond)"},
        {"mask", "depth:m | FILE", "what does not change, see below"},
        {"first-change", "part", "largest relative change in the first step (default: 0.01)"},
        {"precondition", "none | illumination", "of the gradient (default: none)"},
        {"source-field", "NAME",
         "auto, shell, random, stored or replay, see below (default: auto)"},
        {"gradient-steps", "n",
         "steps from one product of the wavefields to the next (default: by the wavelet)"},
        {"lags", "n[,n]",
         "extended image of the result: half offsets of up to n nodes along x (and y)"},
        {"device-memory", "BYTES", "most of the device (default: what is free)"},
        {"block", "n", "stream the gradient, so many planes at a time (default: chosen)"},
        {"updates", "n",
         "stream the gradient, with so many steps of a plane on the device (default: chosen)"}}},
      {"Scheme", scheme},
      running_options(d.program, "evaluation"),
      {"Several places", joined(joined({at_once_option()}, distribute_options()),
                                {{"evaluate", "FILE",
                                  "with --only-shot: .npy of the model to evaluate, parameters x "
                                  "nodes of --vp (vp in m/s, rho in kg/m3) in the order of "
                                  "--parameters (default: the start)"},
                                 {"band", "n", "with --only-shot: of --bands, from 1 (default: 1)"},
                                 {"data-size", "x",
                                  "with --only-shot: what misfits are divided by, the misfit of no "
                                  "model (default: that of the shot)"}})}};
  return d;
}

Options read_options(const Arguments& arguments) {
  Options o;
  const auto given = [&](const char* name) { return arguments.given(name); };
  const auto text = [&](const char* name) { return arguments.text(name); };
  read_earth_model_options(arguments, "invert_waves", o.model);
  read_data_options(arguments, "invert_waves", "data", o.model, o, o);

  // misfit
  if (given("misfit")) o.misfit.kind = fwi::parse_misfit(text("misfit"));
  if (given("huber")) o.misfit.huber = arguments.number("huber", "positive numbers", 0.0, false);
  if (given("huber") && o.misfit.kind != fwi::MisfitKind::huber) {
    throw InputError("--huber needs --misfit huber");
  }
  if (given("offset-weights")) {
    o.offset_weights_text = text("offset-weights");
    o.offset_weights = fwi::parse_offset_weights(o.offset_weights_text);
  }
  if (given("mute")) o.mute_text = text("mute");
  o.mute = survey::parse_mute(o.mute_text);
  if (o.mute.kind == survey::MuteOptions::Kind::arrivals) {
    throw InputError(
        "--mute arrivals is not for inversion (allowed: none, velocity:V): what is muted must not "
        "move with the model");
  }

  // inversion
  if (given("parameters")) read_unknowns(text("parameters"), o);
  read_face_options(arguments, o);
  read_scheme_options(arguments, o);
  check_unknowns(o);
  if (o.expand != domain::Expansion::none) {
    throw InputError(
        "--expand is not for inversion (allowed: none): the adjoint of a box that follows the "
        "waves is not that of the misfit");
  }
  o.logarithms = arguments.choice("variables", {"log", "linear"}, 0) == 0;
  if (given("bands")) read_bands(text("bands"), o);
  if (given("iterations"))
    o.iterations = parse_count("--iterations", text("iterations"), 1, 100000);
  if (given("memory-pairs")) {
    o.memory_pairs = static_cast<int>(parse_count("--memory-pairs", text("memory-pairs"), 1, 64));
  }
  if (given("bounds")) read_bounds(text("bounds"), o);
  if (given("mask")) {
    o.mask_text = text("mask");
    if (o.mask_text.rfind("depth:", 0) == 0) {
      o.mask_depth = parse_number("--mask", o.mask_text.substr(6), "depth:m or a file");
      if (o.mask_depth < 0.0) {
        throw InputError(concat("--mask ", o.mask_text, " (allowed: depths of 0 or more metres)"));
      }
    } else {
      o.inputs.push_back({"mask", o.mask_text});
    }
  }
  if (given("first-change")) {
    o.first_change = arguments.number("first-change", "positive, a part of the model", 0.0, false);
  }
  o.precondition = arguments.choice("precondition", {"none", "illumination"}, 0) == 1;
  const std::vector<std::string> fields(std::begin(source_field_names),
                                        std::end(source_field_names));
  o.source_field = static_cast<fwi::SourceField>(arguments.choice("source-field", fields, 0));
  if (given("gradient-steps")) {
    o.every = parse_count("--gradient-steps", text("gradient-steps"), 1, 1000000);
  }
  if (given("lags")) {
    const std::vector<std::string> pieces = split(text("lags"));
    if (pieces.size() > 2) {
      throw InputError(
          concat("--lags ", text("lags"), " (allowed: n, or n,n in three dimensions)"));
    }
    o.lags.x = parse_count("--lags", pieces[0], 0, 1000);
    if (pieces.size() == 2) o.lags.y = parse_count("--lags", pieces[1], 0, 1000);
    o.extended = true;
  }
  if (given("device-memory")) {
    o.device_memory = parse_bytes("--device-memory", text("device-memory"));
  }
  if (given("block")) o.block = parse_count("--block", text("block"), 1, 1000000);
  if (given("updates")) o.updates = parse_count("--updates", text("updates"), 1, 1000000);
  if ((o.block > 0 || o.updates > 0) && o.source_field != fwi::SourceField::random) {
    throw InputError(concat(o.block > 0 ? "--block" : "--updates",
                            " streams the gradient, which needs --source-field random (allowed: "
                            "with it): nothing else is had back without being kept"));
  }
  o.plan = given("plan");
  read_common(arguments, "invert_waves", o);
  read_shot_choice(arguments, o);
  if (o.distribute.options.max_missing > 0) {
    throw InputError(concat("--may-miss is ", o.distribute.options.max_missing,
                            " (allowed: 0): an evaluation needs all shots: leave it out"));
  }
  read_evaluation(arguments, o);
  add_data_inputs(arguments, "data", o, o);
  return o;
}

}  // namespace moho::examples::invert_waves
