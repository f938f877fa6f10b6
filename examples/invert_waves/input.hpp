// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Models, shots and options of an inversion for the library, and messages in options'
/// words.

#include "app/shot_list.hpp"
#include "app/survey_program.hpp"
#include "app/wave_fields.hpp"
#include "invert_waves/options.hpp"

#include <moho/fwi/objective.hpp>
#include <moho/io/array.hpp>
#include <moho/io/npy.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::invert_waves {

/// Input that is read, and checked without an execution space.
template <class T, int Dim>
struct Input : SurveyJob<T, Dim> {
  std::string data_name;             ///< for messages
  const Options* options = nullptr;  ///< must outlive the job

  std::vector<unsigned char> mask;       ///< by node, 0: constant; empty: all nodes may change
  std::optional<std::size_t> only;       ///< with --only-shot: its position among the shots
  fwi::EvaluationRequest<T> evaluation;  ///< of that shot

  /// Reads the mask. \throws InputError for an invalid mask
  void prepare_mask(const EarthModel<T>& model) {
    const Options& o = *options;
    if (o.mask_text.empty()) return;
    mask = o.mask_depth >= 0.0 ? fwi::mask_above(this->grid, o.mask_depth) : read_mask(model);
    if (std::find(mask.begin(), mask.end(), 1) == mask.end()) {
      throw InputError(concat("--mask ", o.mask_text,
                              " keeps all nodes (allowed: masks that leave some to be changed)"));
    }
  }

  /// \brief Reads the model of --evaluate for the shot that is evaluated for another run.
  /// \throws InputError for an invalid model
  void prepare_only(const EarthModel<T>& model, const std::vector<std::int64_t>& numbers) {
    const Options& o = *options;
    only = find_only_shot(numbers, *o.only_shot);
    evaluation.corner = o.bands.empty() ? 0.0 : o.bands[static_cast<std::size_t>(o.band - 1)];
    evaluation.data_size = o.data_size;
    for (const std::string& name : o.unknowns) {
      const std::vector<T>& start = model.values.at(name);
      evaluation.values.insert(evaluation.values.end(), start.begin(), start.end());
    }
    if (o.evaluate.empty()) return;
    io::Array<T> array;
    try {
      array = io::read_npy<T>(o.evaluate);
    } catch (const InputError& error) {
      throw InputError(concat("--evaluate ", o.evaluate, ": ", error.what()));
    }
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(o.unknowns.size())};
    shape.insert(shape.end(), model.shape.begin(), model.shape.end());
    if (array.shape != shape) {
      throw InputError(concat("--evaluate ", o.evaluate, ": its shape is ",
                              io::shape_string(array.shape), " (allowed: ", io::shape_string(shape),
                              ", the unknowns on the nodes of --vp)"));
    }
    evaluation.values = std::move(array.data);
    fwi::check_values<T, Dim>("--evaluate " + o.evaluate, objective_options().parameters,
                              this->grid, evaluation.values);
  }

  /// Returns the options of the objective, without progress and notes.
  fwi::ObjectiveOptions<Dim> objective_options() const {
    const Options& o = *options;
    fwi::ObjectiveOptions<Dim> result;
    result.modelling = this->modelling;
    result.misfit = o.misfit;
    result.offset_weights = o.offset_weights;
    result.mute = o.mute;
    result.zero = o.zero;
    result.complete_records = o.time > 0.0;
    result.parameters.clear();
    for (const std::string& name : o.unknowns) {
      result.parameters.push_back(parameter_of(name));
      const auto given = o.bounds.find(name);
      result.bounds.push_back(given == o.bounds.end()
                                  ? fwi::Range()
                                  : fwi::Range{given->second.first, given->second.second});
    }
    result.variables = o.logarithms ? fwi::Variables::logarithmic : fwi::Variables::linear;
    result.mask = mask;
    result.bands = o.bands;
    result.source_field = o.source_field;
    result.product_interval = o.every;
    if (o.width) result.random_width = *o.width;
    result.concurrent_shots = o.at_once;
    result.only = only;
    if (o.extended) result.lags = o.lags;
    result.exact_lags = o.lags_sum == "exact";
    result.memory_pairs = o.memory_pairs;
    result.memory = o.memory;
    result.device_memory = o.device_memory;
    result.block = o.block;
    result.updates = o.updates;
    result.devices = o.devices;
    result.names = argument_names();
    return result;
  }

  /// Returns the value of a function, whose errors name options.
  template <class Function>
  auto in_words(const Function& function) const {
    try {
      return function();
    } catch (const InputError& error) {
      throw InputError(in_options(
          error.what(), this->names,
          option_names(
              {{"block", "--block"}, {"devices", devices_option()}, {"updates", "--updates"}})));
    }
  }
  /// Returns the value of a function of the model of modelled data; its errors name options.
  template <class Function>
  auto in_true_words(const Function& function) const {
    try {
      return function();
    } catch (const InputError& error) {
      throw InputError(in_options(error.what(), this->true_names, option_names({})));
    }
  }

 private:
  std::string devices_option() const {
    return options->ranks_per_shot == 1 ? "--devices" : "--ranks-per-shot";
  }
  ArgumentNames argument_names() const {
    return {{"dt", "--dt"},
            {"time", "--time"},
            {"data", data_name},
            {"bands", "--bands"},
            {"bounds", "--bounds"},
            {"misfit correlation", "--misfit correlation"},
            {"bounds of density", "--bounds rho:LEAST:GREATEST"},
            {"density", "rho"},
            {"lags", "--lags"},
            {"exact_lags false", "--lags-sum plain"},
            {"source_field", "--source-field"},
            {"source_field random", "--source-field random"},
            {"(concurrent_shots)", "--at-once"},
            {"memory_pairs", "--memory-pairs"},
            {"product_interval", "--gradient-steps"},
            {"memory", "--memory"},
            {"device_memory", "--device-memory"},
            {"block", "--block"},
            {"updates", "--updates"},
            {"devices", devices_option()},
            {wave::overflow_advice, overflow_advice}};
  }
  // Options by the names of the library. With --bands these limit the frequency.
  std::map<std::string, std::string> option_names(std::map<std::string, std::string> all) const {
    all["sources"] = this->sources_name;
    all["receivers"] = this->receivers_name;
    all["wavelet"] = this->wavelet_name;
    if (!options->bands.empty()) all["bands"] = "--bands";
    return all;
  }
  std::vector<unsigned char> read_mask(const EarthModel<T>& model) const {
    return fwi::mask_of(this->grid,
                        load_on_nodes("--mask", options->mask_text, options->model, model),
                        "--mask " + options->mask_text);
  }
};

}  // namespace moho::examples::invert_waves
