// SPDX-License-Identifier: BSD-3-Clause
#include "invert_waves/options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/wave_options.hpp"
#include "ranks/stream_ranks.hpp"

#include <moho/core/error.hpp>

#include <algorithm>

namespace moho::examples::invert_waves {

namespace {

constexpr const char* intro =
    R"(invert_waves: full-waveform inversion: changes a model until modelled shots look like recorded ones.

  invert_waves --vp start.npy --data line.sgy [options]
  invert_waves --vp start.npy --data FOLDER_OF_model_waves [options]
  invert_waves --vp start.npy --data modelled --true-vp vp.npy --source 500,20:8500,20:17 [options]
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
same bits. Images of --lags then stream as well, with a plan of their own. --devices 2 gives each of two
devices of this process, or threads of a host, a slab of each shot in core. With --source-field random and
--block or --updates, or where slabs do not fit, they form a chain through which planes stream. --device-memory
is that of each. Under mpirun, --ranks-per-shot 2 gives each of two ranks a slab. Slabs are as wide as --lags.

Results, in the folder of --out:
  vp.npy, rho.npy, epsilon.npy, delta.npy         the unknowns as they were found; vp_start.npy ...: before
  vp_true.npy ...                                 those of --true-vp
  gradient_vp.npy ...                             the last gradient, by logarithms or differences
  illumination.npy                                of the last evaluation
  history.csv                                     a row for each evaluation
  lags.npy, angles.npy                            with --lags: the extended image of the result, lag after lag, and
                                                  angle gathers (60 degrees to each side) at 7 columns
  lags_0004.npy ...                               with --lags-every: of these evaluations
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

void check_unknowns(const Options& o) {
  const wave::Medium medium = medium_of(o.model);
  for (const std::string& name : o.unknowns) {
    if (name == "vp") continue;
    fwi::check_parameter("--parameters", name, medium);
    if (name != "rho" && o.model.parameters.count(name) == 0) {
      throw InputError(concat("--parameters: ", name, " needs --", name, " to begin with"));
    }
  }
  if (o.equations == wave::Equations::fletcher &&
      wave::info(medium).fletcher != wave::info(medium).self_adjoint) {
    throw InputError(
        "--equations fletcher: these are not self-adjoint, so that steps have no adjoint among "
        "steps (allowed: self_adjoint): leave it out");
  }
}

Json bounds_json(const fwi::NamedBounds& bounds) {
  Json json = Json::object();
  for (const auto& [name, range] : bounds) json[name] = Json::array({range.first, range.second});
  return json;
}

void read_mask(const Arguments& given, Options& o) {
  if (!given.given("mask")) return;
  if (o.mask_text.rfind("depth:", 0) != 0) {
    o.inputs.push_back({"mask", o.mask_text});
    return;
  }
  o.mask_depth = parse_number("--mask", o.mask_text.substr(6), "depth:m or a file");
  if (o.mask_depth < 0.0) {
    throw InputError(concat("--mask ", o.mask_text, " (allowed: depths of 0 or more metres)"));
  }
}

void bind_misfit(Description& d, Options& o) {
  d.group("Misfit");
  d.bind(o.misfit.kind, "misfit", "NAME",
         "least-squares, correlation, huber or envelope (default: least-squares)",
         parsed(fwi::parse_misfit, [](auto kind) { return fwi::to_string(kind); }));
  d.bind(o.misfit.huber, "huber", "n",
         "for huber: residuals above so many times the root mean square of the data are large "
         "(default: 1)",
         positive("positive numbers"));
  d.check([&o](const Arguments& given) {
    if (given.given("huber") && o.misfit.kind != fwi::MisfitKind::huber) {
      throw InputError("--huber needs --misfit huber");
    }
  });
  d.bind(o.offset_weights_text, "offset-weights", "LIST",
         "m:WEIGHT,m:WEIGHT,... of residuals, linear between");
  d.bind(o.mute_text, "mute", "none | velocity:V",
         "residuals before the straight way at V m/s do not count; with [:DELAY[:TAPER]] in s "
         "(default: none)");
  d.check([&o](const Arguments& given) {
    if (given.given("offset-weights")) {
      o.offset_weights = fwi::parse_offset_weights(o.offset_weights_text);
    }
    o.mute = survey::parse_mute(o.mute_text);
    if (o.mute.kind == survey::MuteOptions::Kind::arrivals) {
      throw InputError(
          "--mute arrivals is not for inversion (allowed: none, velocity:V): what is muted must "
          "not move with the model");
    }
  });
}

void bind_search(Description& d, Options& o) {
  d.group("Inversion");
  d.bind(o.unknowns, "parameters", "LIST", "unknowns, see below (default: vp)",
         Rule<std::vector<std::string>>{fwi::parse_parameters});
  d.bind(o.logarithms, "variables", "log | linear", "of vp and rho (default: log)",
         Rule<bool>{[](const std::string& option, const std::string& text) {
                      return parse_name(option, text, {"log", "linear"}) == 0;
                    },
                    [](bool logarithms) { return Json(logarithms ? "log" : "linear"); }});
  d.bind(o.bands, "bands", "Hz,Hz,...",
         "low-passes, from low to high (default: all frequencies at once)",
         Rule<std::vector<double>>{fwi::parse_bands});
  d.bind(o.iterations, "iterations", "n", "most in each band (default: 10)", count(1, 100000),
         {.local = true});
  d.bind(o.memory_pairs, "memory-pairs", "n", "of L-BFGS, 1 to 64 (default: 5)", count(1, 64));
  d.bind(o.bounds, "bounds", "LIST",
         "PARAMETER:LEAST:GREATEST, ... (default: a fifth beyond the model's values as far as "
         "grid and --dt allow, epsilon and delta 0.1 beyond)",
         Rule<fwi::NamedBounds>{[&o](const std::string& option, const std::string& text) {
                                  return fwi::parse_bounds(option, text, o.unknowns);
                                },
                                bounds_json});
  d.bind(o.mask_text, "mask", "depth:m | FILE", "what does not change, see below");
  d.check([&o](const Arguments& given) { read_mask(given, o); });
  d.bind(o.first_change, "first-change", "part",
         "largest relative change in the first trial; steps may be longer (default: 0.01)",
         positive("positive, a part of the model"));
  d.bind(o.precondition, "precondition", "none | illumination", "of the gradient (default: none)",
         one_of({"none", "illumination"}));
}

void bind_gradient(Description& d, Options& o) {
  d.bind(o.source_field, "source-field", "NAME",
         "auto, shell, random, stored or replay, see below (default: auto)",
         one_of({"auto", "shell", "random", "stored", "replay"}), {.local = true});
  d.bind(o.every, "gradient-steps", "n",
         "steps from one product of the wavefields to the next (default: by the wavelet)",
         count(1, 1000000), {.unset = "auto"});
  const auto extended = [&o] { return o.extended; };
  d.bind(o.lags, "lags", "n[,n]",
         "extended image of the result: half offsets of up to n nodes along x (and y)",
         Rule<fwi::Lags>{fwi::parse_lags}, {.local = true})
      .shown = [&o] {
    return o.extended ? Json::array({o.lags.x, o.lags.y}) : Json("none");
  };
  d.bind(o.lags_every, "lags-every", "n",
         "extended images of every n-th evaluation as well (default: 0, of the result alone)",
         count(0, 1000000), {.local = true})
      .show_if(extended);
  d.bind(o.lags_sum, "lags-sum", "exact | plain",
         "of shots: exact, the same for any number of processes, or plain, with less memory",
         name_of({"exact", "plain"}), {.local = true})
      .show_if(extended);
  d.move_in_summary("source_field", {"lags", "lags_every", "lags_sum"});
  d.bind(o.device_memory, "device-memory", "BYTES", "most of the device (default: what is free)",
         bytes(), {.hidden = true});
  bind_stream_shape(d, "gradient", o.block, o.updates);
  bind_devices(d, o.devices, "compute each shot in slabs, see below. auto: as few as suffice");
  bind_ranks_per_shot(d, o.ranks_per_shot, o.devices);
  d.check([&o](const Arguments& given) {
    o.extended = given.given("lags");
    if (!o.extended && (given.given("lags-every") || given.given("lags-sum"))) {
      throw InputError("--lags-every and --lags-sum need --lags (allowed: with it)");
    }
    if (o.lags_every > 0 && given.given("only-shot")) {
      throw InputError("--lags-every has no effect with --only-shot (allowed: --lags): omit it");
    }
    o.other_layers = o.source_field == fwi::SourceField::random;
    if ((o.block > 0 || o.updates > 0) && o.source_field != fwi::SourceField::random) {
      throw InputError(concat(o.block > 0 ? "--block" : "--updates",
                              " streams the gradient, which ",
                              "needs --source-field random (allowed: with it)"));
    }
  });
}

void bind_own_scheme(Description& d, Options& o) {
  bind_scheme(d, o, o, false);
  d.option("expand").shown = {};
  d.option("expand").text = "none: every step computes all nodes";
  d.option("width").text += "; also of the layers of --source-field random (default: 60)";
  d.option("equations").shown = {};
  d.option("sigma").shown = {};
  d.check([&o](const Arguments&) {
    check_unknowns(o);
    if (o.expand == domain::ExpansionMethod::none) return;
    throw InputError(
        "--expand is not for inversion (allowed: none): the adjoint of a box that follows the "
        "waves is not that of the misfit");
  });
}

void bind_evaluation(Description& d, Options& o) {
  const auto one_shot = [&o] { return o.only_shot.has_value(); };
  d.check([&o](const Arguments& given) {
    if (given.given("keep-shots") && o.distribute.sites.empty())
      throw InputError("--keep-shots requires --sites FILE");
    if (o.distribute.options.max_missing > 0) {
      throw InputError(concat("--may-miss is ", o.distribute.options.max_missing,
                              " (allowed: 0): an evaluation needs all shots: leave it out"));
    }
    for (const char* name : {"evaluate", "band", "data-size"}) {
      if (!given.given(name) || o.only_shot) continue;
      throw InputError(concat("--", name, " is for one shot: give --only-shot, too"));
    }
  });
  d.bind(o.evaluate, "evaluate", "FILE",
         "with --only-shot: .npy of the model to evaluate, parameters x nodes of --vp (vp in m/s, "
         "rho in kg/m3) in the order of --parameters (default: the start)",
         {.hidden = true, .file = true, .local = true});
  const auto parse_band = [&o](const std::string& option, const std::string& text) {
    const auto max = static_cast<std::int64_t>(std::max<std::size_t>(o.bands.size(), 1));
    return parse_count(option, text, 1, max);
  };
  d.bind(o.band, "band", "n", "with --only-shot: of --bands, from 1 (default: 1)",
         Rule<std::int64_t>{parse_band}, {.local = true})
      .show_if(one_shot);
  d.bind(o.data_size, "data-size", "x",
         "with --only-shot: what misfits are divided by, the misfit of no model (default: that of "
         "the shot)",
         positive("positive numbers"), {.local = true})
      .show_if(one_shot);
  d.flag(o.keep_shots, "keep-shots", "remote sites send each shot in place of their sum",
         {.hidden = true, .local = true});
  d.option("only-shot").shown = [&o] { return o.only_shot ? Json(*o.only_shot) : Json(); };
  d.move_in_summary("plot", {"only_shot"});
}

}  // namespace

fwi::Parameter parameter_of(const std::string& option) {
  for (const wave::ParameterInfo& row : wave::parameters) {
    if (option == row.option) return row.parameter;
  }
  return fwi::Parameter::vp;
}

std::string option_of(fwi::Parameter parameter) { return wave::info(parameter).option; }

Description describe(Options& o) {
  Description d;
  d.program = "invert_waves";
  d.intro = intro + wave_units_help();
  d.outro = outro;
  bind_earth_model(d, o.model);
  bind_config(d, o);
  bind_data(d, "data", "model", o);
  bind_true_model(d, "data", o.model, o, o);
  bind_misfit(d, o);
  bind_search(d, o);
  bind_gradient(d, o);
  bind_own_scheme(d, o);
  bind_running(d, "evaluation", o, o);
  bind_evaluation(d, o);
  d.check([&o](const Arguments& given) { add_data_inputs("data", given.given("wavelet"), o, o); });
  return d;
}

}  // namespace moho::examples::invert_waves
