// SPDX-License-Identifier: BSD-3-Clause
#include "common/survey_data.hpp"

#include "common/arguments.hpp"
#include "common/distribute_options.hpp"
#include "common/recorded_wavelet.hpp"

#include <filesystem>

namespace moho::examples {

namespace {
constexpr const char* parameter_names[] = {"vp", "rho", "epsilon", "delta", "theta", "phi"};

// The wavelet that was given, that of the data, or the default.
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

// --data is --shots in all programs that read data.
std::string other_name(const std::string& option) { return option == "shots" ? "data" : "shots"; }
}  // namespace

void DataTexts::describe(const std::string& option, const ShotTexts& shots, Json& json) const {
  for (const auto& [name, text] : true_model.parameters) json["true_" + name] = text;
  if (true_model.velocity_unit != VelocityUnit::unsaid) {
    json["velocity_unit"] = to_string(true_model.velocity_unit);
  }
  json[option] = data;
  if (modelled()) {
    json["source"] = shots.sources.empty() ? Json("the middle") : Json(shots.sources);
    json["receivers"] =
        shots.receivers.empty() ? Json("a line along the surface") : Json(shots.receivers);
    json["moving"] = shots.moving;
  } else {
    json["elevations"] = survey::to_string(survey.elevations);
  }
}

std::vector<OptionText> data_options(const std::string& option, const std::string& verb) {
  return {
      {option, "FILE | FOLDER | modelled",
       concat("SEG-Y, gathers of model_waves, or modelled; needed; --", other_name(option),
              " is the same")},
      {"elevations", "NAME", "of trace headers: standard or depth (default: standard)"},
      {"length-unit", "auto | m | ft", "of trace headers (default: as the file says)"},
      {"line", "auto | DEGREES | x,y:x,y", "on which 2D models see places (default: auto)"},
      {"data-interval", "s", "between samples, whatever the file says"},
      {"wavelet", "WAVELET",
       concat("ricker:FREQUENCY[:DELAY], ormsby:F1,F2,F3,F4[:DELAY], or file:PATH[:INTERVAL] "
              "(default: the one that the data name, else ",
              default_wavelet, ")")},
      flag("allow-left-out",
           "go on although more than a tenth of shots or traces is outside of the model"),
      flag("replace-wavelet",
           "take --wavelet, and --wavelet-zero, although the data name another wavelet: for data "
           "that were filtered or shifted since"),
      {"wavelet-zero", "start | peak", "time zero of the data in the wavelet (default: start)"},
      {"time", "s", concat("seconds to ", verb, " (default: as long as the data; modelled: 1)")}};
}

std::map<std::string, std::string> data_aliases(const std::string& option) {
  std::map<std::string, std::string> aliases{{other_name(option), option}};
  aliases.merge(wave_aliases());
  return aliases;
}

OptionGroup running_options(const std::string& program, const std::string& part) {
  return {
      "Running",
      {precision_option(), space_option(),
       memory_option("for all arrays together, or beside a device"), out_option(program),
       resume_option(part), only_shot_option(), flag("plan", "print what would be done, and stop"),
       flag("no-plot", "draw no pictures"), flag("quiet", "print nothing but errors")}};
}

OptionGroup true_model_options(const std::string& option) {
  OptionGroup truth{concat("Modelled data (--", option, " modelled)"), {}};
  for (const char* name : parameter_names) {
    truth.options.push_back(
        {std::string("true-") + name, "FILE | value",
         name == std::string("vp") ? "the model that data come from (default: that of --vp)" : ""});
  }
  truth.options = joined(truth.options, shot_options());
  return truth;
}

void read_data_options(const Arguments& arguments, const std::string& program,
                       const std::string& option, const EarthModelOptions& model, DataTexts& texts,
                       ShotTexts& shots) {
  const auto given = [&](const std::string& name) { return arguments.given(name); };
  const auto text = [&](const char* name) { return arguments.text(name); };
  if (!given(option)) {
    throw InputError(concat("--", option,
                            " is missing (needed: a SEG-Y file, a folder of gathers, or modelled): "
                            "see ",
                            program, " --help"));
  }
  texts.data = arguments.text(option);
  if (given("wavelet-zero")) texts.zero = survey::parse_wavelet_zero(text("wavelet-zero"));
  choose_wavelet(arguments, option, texts);
  texts.allow_left_out = given("allow-left-out");
  if (given("time")) texts.time = arguments.number("time", "positive, in seconds", 0.0, false);
  texts.true_model = model;
  texts.true_model.parameters.clear();
  for (const char* name : parameter_names) {
    const std::string name_of_true = std::string("true-") + name;
    if (given(name_of_true)) texts.true_model.parameters[name] = arguments.text(name_of_true);
  }
  read_shot_options(arguments, shots);
  if (!texts.modelled()) {
    for (const char* name : {"source", "receivers", "moving"}) {
      if (!given(name)) continue;
      throw InputError(concat("--", name, " and --", option, " ", texts.data,
                              " were both given (allowed: --", name, " with --", option,
                              " modelled): the data say where they were taken"));
    }
    if (!texts.true_model.parameters.empty()) {
      throw InputError(concat("--true-", texts.true_model.parameters.begin()->first, " and --",
                              option, " ", texts.data, " were both given (allowed: with --", option,
                              " modelled)"));
    }
  } else if (!texts.true_model.parameters.empty() && texts.true_model.parameters.count("vp") == 0) {
    throw InputError("--true-vp is missing (needed with the other parameters of that model)");
  }
  if (given("elevations")) texts.survey.elevations = survey::parse_elevations(text("elevations"));
  if (given("length-unit")) texts.survey.unit = survey::parse_length_unit(text("length-unit"));
  if (given("line")) texts.survey.line = survey::parse_survey_line(text("line"));
  if (given("data-interval")) {
    texts.survey.interval = arguments.number("data-interval", "positive, in seconds", 0.0, false);
  }
}

void add_data_inputs(const Arguments& arguments, const std::string& option, const DataTexts& texts,
                     CommonOptions& options) {
  std::vector<std::string> names{"source", "receivers"};
  for (const char* name : parameter_names) {
    names.emplace_back(name);
    names.push_back(std::string("true-") + name);
  }
  add_inputs(arguments, names, texts.wavelet, options);
  if (!arguments.given("wavelet") && texts.wavelet != default_wavelet) {
    options.words.push_back("--wavelet=" + texts.wavelet);
  }
  namespace fs = std::filesystem;
  if (texts.modelled()) return;
  std::error_code ignored;
  if (!fs::is_directory(texts.data, ignored)) {
    options.inputs.push_back({option, texts.data});
    return;
  }
  for (const auto& entry : fs::directory_iterator(texts.data, ignored)) {
    const std::string kind = entry.path().extension().string();
    if (entry.is_regular_file(ignored) &&
        (kind == ".npy" || kind == ".sgy" || kind == ".segy" || kind == ".json")) {
      options.inputs.push_back({option, entry.path().string()});
    }
  }
}

}  // namespace moho::examples
