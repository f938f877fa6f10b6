// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Data of programs that migrate or invert: gathers in files, or modelled data.
///
/// Modelled data have a separate model.

#include "app/common_options.hpp"
#include "app/data_check.hpp"
#include "app/distribute_options.hpp"
#include "app/survey.hpp"

#include <moho/core/text.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/survey/record_times.hpp>

#include <optional>
#include <string>
#include <vector>

namespace moho::examples {

/// Options of the origin of data.
struct DataTexts {
  std::string data;              ///< SEG-Y file, folder, or "modelled"
  EarthModelOptions true_model;  ///< model of modelled data; its parameters may be empty
  survey::SurveyOptions survey;  ///< of files
  std::string wavelet;           ///< of the source
  std::string wavelet_note;      ///< origin of the wavelet: "(default)"; empty: --wavelet
  survey::WaveletZero zero = survey::WaveletZero::start;  ///< time zero of the data
  /// accept more than a tenth of shots or traces outside of the model
  bool allow_left_out = false;
  double time = 0.0;  ///< s; 0: to the last sample of the data, 1 s for modelled data

  /// Returns true for modelled data.
  bool modelled() const { return data == "modelled"; }
};

/// \brief Binds the option that names the data, those of their headers, the wavelet, the time.
/// \param d gets the heading "Data" \param option "shots" or "data"
/// \param verb describes the use of the data
void bind_data(Description& d, const std::string& option, const std::string& verb, DataTexts& o);
/// Binds --true-vp ..., --source, --receivers and --moving.
/// \param model has the unit and the spacing of the true model
void bind_true_model(Description& d, const std::string& option, const EarthModelOptions& model,
                     DataTexts& o, ShotTexts& shots);
/// Binds the heading "Running" of a program on data.
/// \param part after which a run is resumed
void bind_running(Description& d, const std::string& part, CommonOptions& o, ShotChoice& choice);
/// Binds --block and --updates of a stream. \param what streams: "gradient"
void bind_stream_shape(Description& d, const std::string& what, std::int64_t& block,
                       std::int64_t& updates);
/// Binds --devices N|auto. \param devices 0: auto \param use what they do: "step each shot"
void bind_devices(Description& d, int& devices, const std::string& use);
/// Adds the files of the data and of the wavelet to the inputs, which no result replaces.
///
/// A wavelet that the data name becomes one of the words of the options, because other sites may
/// not find its file.
void add_data_inputs(const std::string& option, bool wavelet_given, const DataTexts& texts,
                     CommonOptions& options);

/// Shots of the data, and their files.
template <int Dim>
struct SurveyData {
  std::vector<wave::Shot<Dim>> shots;         ///< positions in m
  std::string sources_name, receivers_name;   ///< of options, for messages
  std::optional<survey::Survey<Dim>> survey;  ///< empty: the data are modelled
  double time = 0.0;                          ///< seconds
  std::vector<std::string> notes;             ///< lines for the user
  std::size_t traces = 0;                     ///< of all shots
};

/// \brief Finds the shots.
/// \param wavelet of the sources
/// \param time requested seconds; 0: as long as the data, 1 s for modelled data
/// \throws InputError, FileError with the option's name
template <int Dim>
SurveyData<Dim> open_data(const std::string& option, const DataTexts& texts, const ShotTexts& shots,
                          const Grid<Dim>& grid, const wave::Boundaries<Dim>& faces,
                          const wave::WaveletAt& wavelet, double time) {
  SurveyData<Dim> data;
  data.time = time;
  if (texts.modelled()) {
    data.sources_name = "--source";
    data.receivers_name = "--receivers";
    data.shots = make_shots<Dim>(shots, grid, faces);
    const std::string note = note_of_moving<Dim>(shots, data.shots, grid);
    if (!note.empty()) data.notes.push_back("note: " + note);
    if (time == 0.0) data.time = 1.0;
  } else {
    data.sources_name = data.receivers_name = concat("--", option, " ", texts.data);
    try {
      data.survey.emplace(texts.data, texts.survey);
      check_left_out(data.sources_name, survey::left_out_of<Dim>(grid, data.survey->shots()),
                     texts.survey.elevations, texts.allow_left_out);
      data.survey->keep_inside(grid);
      if (time == 0.0) data.time = survey::run_length(*data.survey, texts.zero, wavelet);
    } catch (const Error& error) {
      const std::string said = error.what();
      const std::string text =
          said.rfind(data.sources_name, 0) == 0 ? said : concat(data.sources_name, ": ", said);
      if (dynamic_cast<const FileError*>(&error) != nullptr) throw FileError(text);
      throw InputError(text);
    }
    data.shots = data.survey->shots();
    data.notes = data.survey->notes();
  }
  for (const auto& shot : data.shots) {
    const std::string of = data.shots.size() > 1 ? concat("shot ", shot.number, ": ") : "";
    for (const bool sources : {true, false}) {
      try {
        const auto& points = sources ? shot.sources : shot.receivers;
        const std::string name = of + (sources ? "source" : "receiver");
        check_positions<Dim>(grid, points, name);
        check_free_surfaces<Dim>(grid, faces, points, name);
      } catch (const InputError& error) {
        throw InputError(
            concat(sources ? data.sources_name : data.receivers_name, ": ", error.what()));
      }
    }
    data.traces += shot.receivers.size();
  }
  return data;
}

/// \brief Returns the model of modelled data, if given.
/// \param start options of the model \param model its values; notes receives what its data lack
/// \throws InputError, FileError, MemoryError with the option's name
template <class T>
std::optional<EarthModel<T>> load_true_model(const DataTexts& texts, const EarthModelOptions& start,
                                             EarthModel<T>& model) {
  if (texts.true_model.parameters.empty()) return std::nullopt;
  std::string missing;
  for (const auto& [name, text] : start.parameters) {
    if (texts.true_model.parameters.count(name) > 0) continue;
    missing += concat(missing.empty() ? "without --true-" : ", --true-", name);
  }
  if (!missing.empty()) model.notes.push_back("the data are modelled " + missing);
  EarthModelOptions options = texts.true_model;
  options.prefix = "true-";
  options.nodes = &model;
  return load_earth_model<T>(options);
}

}  // namespace moho::examples
