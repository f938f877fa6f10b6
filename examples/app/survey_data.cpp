// SPDX-License-Identifier: BSD-3-Clause
#include "app/survey_data.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/recorded_wavelet.hpp"

#include <filesystem>

namespace moho::examples {

namespace {

// Chooses the wavelet: the given one, that of the data, or the default.
void choose_wavelet(const Arguments& arguments, const std::string& option, DataTexts& texts) {
  const bool given = arguments.given("wavelet"), replace = arguments.given("replace-wavelet");
  if (replace && !given && !arguments.given("wavelet-zero")) {
    throw InputError("--replace-wavelet needs --wavelet, or --wavelet-zero: give the wavelet");
  }
  texts.wavelet = given ? arguments.text("wavelet") : default_wavelet;
  if (!given) texts.wavelet_note = " (default)";
  if (texts.modelled()) return;
  std::optional<RecordedWavelet> recorded;
  try {
    recorded = recorded_wavelet(texts.data);
  } catch (const InputError& error) {
    if (replace) return;
    throw InputError(concat("--", option, ": ", error.what()));
  }
  if (!recorded) {
    if (!given) texts.wavelet_note = " (default: the data name none)";
    return;
  }
  const std::string advice =
      ", or add --replace-wavelet for data that were filtered or shifted since";
  if (texts.zero == survey::WaveletZero::peak && !replace) {
    throw InputError(concat("--wavelet-zero is peak, and by ", recorded->where,
                            " time zero of the data is the start of their wavelet, ",
                            recorded->text, " (allowed: start): leave it out", advice));
  }
  if (!given) {
    if (recorded->missing) {
      throw InputError(concat("--wavelet is missing: ", recorded->where, " names ", recorded->text,
                              ", and this file was not found or has changed since (allowed: the "
                              "wavelet of the data): give it with --wavelet file:PATH",
                              advice));
    }
    texts.wavelet = recorded->text;
    texts.wavelet_note = concat(" (by ", recorded->where, ")");
    return;
  }
  if (same_wavelet(*recorded, texts.wavelet)) return;
  if (replace) {
    texts.wavelet_note = concat(" (", recorded->where, " names ", recorded->text, ")");
    return;
  }
  throw InputError(concat("--wavelet is ", texts.wavelet, ", and ", recorded->where, " names ",
                          recorded->text, " (allowed: the wavelet of the data): leave it out",
                          advice));
}

// In all programs that read data --data and --shots are aliases.
std::string other_name(const std::string& option) { return option == "shots" ? "data" : "shots"; }
}  // namespace

void bind_data(Description& d, const std::string& option, const std::string& verb, DataTexts& o) {
  d.aliases[other_name(option)] = option;
  d.group("Data");
  d.check([option, program = d.program](const Arguments& given) {
    if (given.given(option)) return;
    throw InputError(concat("--", option,
                            " is missing (needed: a SEG-Y file, a folder of gathers, or modelled): "
                            "see ",
                            program, " --help"));
  });
  d.bind(o.data, option, "FILE | FOLDER | modelled",
         concat("SEG-Y, gathers of model_waves, or modelled; needed; --", other_name(option),
                " is the same"));
  d.bind(o.survey.elevations, "elevations", "NAME",
         "of trace headers: standard or depth (default: standard)",
         parsed(survey::parse_elevations, [](auto kind) { return survey::to_string(kind); }))
      .show_if([&o] { return !o.modelled(); });
  d.bind(o.survey.unit, "length-unit", "auto | m | ft",
         "of trace headers (default: as the file says)", parsed(survey::parse_length_unit),
         {.hidden = true});
  d.bind(o.survey.line, "line", "auto | DEGREES | x,y:x,y",
         "on which 2D models see places (default: auto)", parsed(survey::parse_survey_line),
         {.hidden = true});
  o.survey.names = {{"interval", "--data-interval"}};
  d.bind(o.survey.interval, "data-interval", "s", "between samples, whatever the file says",
         positive("positive, in seconds"), {.hidden = true});
  d.bind(o.wavelet, "wavelet", "WAVELET",
         concat("ricker:FREQUENCY[:DELAY], ormsby:F1,F2,F3,F4[:DELAY], or file:PATH[:INTERVAL] "
                "(default: the one that the data name, else ",
                default_wavelet, ")"));
  d.flag(o.allow_left_out, "allow-left-out",
         "go on although more than a tenth of shots or traces is outside of the model",
         {.hidden = true});
  d.add("replace-wavelet", {},
        "take --wavelet, and --wavelet-zero, although the data name another wavelet: for data "
        "that were filtered or shifted since",
        {}, Option::Kind::flag);
  d.bind(o.zero, "wavelet-zero", "start | peak",
         "time zero of the data in the wavelet (default: start)",
         parsed(survey::parse_wavelet_zero, [](auto zero) { return survey::to_string(zero); }));
  d.check([&o, option](const Arguments& given) { choose_wavelet(given, option, o); });
  d.bind(o.time, "time", "s",
         concat("seconds to ", verb, " (default: to the last sample of the data; modelled: 1)"),
         positive("positive, in seconds"), {.unset = "auto"});
}

void bind_true_model(Description& d, const std::string& option, const EarthModelOptions& model,
                     DataTexts& o, ShotTexts& shots) {
  d.group(concat("Modelled data (--", option, " modelled)"));
  d.check([&o, &model](const Arguments&) {
    o.true_model = model;
    o.true_model.parameters.clear();
  });
  o.true_model.prefix = "true-";
  for (const wave::ParameterInfo& row : wave::parameters) {
    const bool vp = row.parameter == wave::Parameter::vp;
    bind_parameter(d, o.true_model, row.option, "FILE | value",
                   vp ? "the model that data come from (default: that of --vp)" : "");
  }
  d.move_in_summary("config", {"true_delta", "true_epsilon", "true_phi", "true_rho", "true_theta",
                               "true_vp", "velocity_unit"});
  bind_shots(d, shots);
  const std::vector<std::string> names{"source", "receivers", "moving"};
  d.move_in_summary(option, names);
  for (const std::string& name : names) d.option(name).show_if([&o] { return o.modelled(); });
  d.check([&o, option, names](const Arguments& given) {
    std::vector<std::string> others = names;  // options that this kind of data does not have
    for (const auto& [name, value] : o.true_model.parameters) others.push_back("true-" + name);
    if (o.modelled()) {
      if (others.size() > names.size() && o.true_model.parameters.count("vp") == 0)
        throw InputError("--true-vp is missing (needed with the other parameters of that model)");
      others = {"elevations", "length-unit", "line", "data-interval", "allow-left-out"};
      others.emplace_back(o.zero == survey::WaveletZero::peak ? "wavelet-zero" : "replace-wavelet");
    }
    for (const std::string& name : others) {
      if (given.given(name))
        throw InputError(concat("--", name, " and --", option, " ", o.data,
                                " were both given (allowed: --", name, " with --", option,
                                o.modelled() ? " FILE)" : " modelled)"));
    }
  });
}

void bind_stream_shape(Description& d, const std::string& what, std::int64_t& block,
                       std::int64_t& updates) {
  const auto numbers = count(1, 1000000);
  d.bind(block, "block", "n",
         concat("stream the ", what, ", so many planes at a time (default: chosen)"), numbers,
         {.unset = Json()});
  d.bind(updates, "updates", "n",
         concat("stream the ", what,
                ", with so many steps of a plane on the device (default: chosen)"),
         numbers, {.unset = Json()});
}

void bind_devices(Description& d, int& devices, const std::string& use) {
  d.bind(devices, "devices", "N|auto",
         concat("devices of this process that ", use, " (default: 1)"), count(1, 64),
         {.word = "auto", .free = true});
  d.check([&devices](const Arguments& given) {
    if (given.given("devices") && given.text("devices") == "auto") devices = 0;
  });
}

void bind_running(Description& d, const std::string& part, CommonOptions& o, ShotChoice& choice) {
  d.group("Running");
  bind_precision(d, o);
  bind_space(d, o);
  bind_memory(d, o, "for all arrays together, or beside a device");
  bind_out(d, o);
  bind_resume(d, o, part);
  bind_only_shot(d, choice);
  bind_plan(d, o);
  bind_no_plot(d, o, "pictures");
  bind_quiet(d, o.quiet);
  d.group("Several places");
  bind_at_once(d, choice);
  bind_distribute(d, choice.distribute);
}

void add_data_inputs(const std::string& option, bool wavelet_given, const DataTexts& texts,
                     CommonOptions& options) {
  add_wavelet_input(texts.wavelet, options);
  if (!wavelet_given && texts.wavelet != default_wavelet) {
    options.words.push_back("--wavelet=" + texts.wavelet);
  }
  if (texts.modelled()) return;
  std::error_code ignored;
  if (!std::filesystem::is_directory(texts.data, ignored)) {
    options.inputs.push_back({option, texts.data});
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(texts.data, ignored)) {
    const std::string kind = entry.path().extension().string();
    if (entry.is_regular_file(ignored) &&
        (kind == ".npy" || kind == ".sgy" || kind == ".segy" || kind == ".json")) {
      options.inputs.push_back({option, entry.path().string()});
    }
  }
}

}  // namespace moho::examples
