// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shared start of programs that migrate or invert: reads models and data, makes a job.

#include "app/memory.hpp"
#include "app/program.hpp"
#include "app/survey_data.hpp"

#include <optional>
#include <string>
#include <utility>

namespace moho::examples {

/// \brief Sets the common part of jobs on data: the waves, the true model, the shots.
/// \param option "shots" or "data" \param data gets the shots \throws InputError, FileError
template <int Dim, class Job, class Options, class T>
void prepare_survey(Job& job, const Options& o, const std::string& option, EarthModel<T>& model,
                    std::optional<EarthModel<T>>& truth, SurveyData<Dim>& data) {
  prepare_waves<Dim>(job, o, model);
  job.options = &o;
  if (truth) {
    job.true_values = &truth->values;
    for (const auto& [name, text] : o.true_model.parameters) {
      job.true_names[name] = concat("--true-", name, " ", text);
    }
  }
  data = open_data<Dim>(option, o, o, job.grid, job.boundaries, o.time);
  if (!data.survey && !truth) job.true_values = &model.values;
  job.sources_name = data.sources_name;
  job.receivers_name = data.receivers_name;
  job.shots = data.shots;
  job.modelling.time = {data.time, o.dt, 0.0, 0.0};
}

namespace detail {
template <template <class, int> class Program, class T, class Options>
void run_survey_with(const Options& o, Session& session, double arrays, const std::string& what) {
  EarthModel<T> model;
  std::optional<EarthModel<T>> truth;
  session.processes().together([&] {
    const MemoryLimit limit =
        memory_limit(o, o.space != "cuda", session.processes().size_of_host());
    const EarthModelNeed need = need_of_earth_model<T>(o.model);
    MemoryEstimate memory;
    memory.take((o.true_model.parameters.empty() ? 1.0 : 2.0) * need.values, "the model");
    memory.pass(need.passing, "reading the model");
    memory.take(arrays * sizeof(T) * need.nodes(), "results on its nodes");
    check_memory(concat("a model of ", io::shape_string(need.shape), " nodes", what), memory, limit,
                 "take fewer nodes");
    const HostPhase phase(session.phases, "read");
    model = load_earth_model<T>(o.model);
    truth = load_true_model(o, model);
  });
  if (model.shape.size() == 2) {
    Program<T, 2>(o, std::move(model), std::move(truth), session).run();
  } else {
    Program<T, 3>(o, std::move(model), std::move(truth), session).run();
  }
}
}  // namespace detail

/// \brief Runs a program on data in the requested precision and dimension.
/// \param arrays number of arrays on the model's nodes that the program keeps on the host
/// \param what further contents of that memory, for the message of too little: " and its image"
template <template <class, int> class Program, class Options>
void run_survey(const Options& options, Session& session, double arrays, const std::string& what) {
  if (options.double_precision) {
    detail::run_survey_with<Program, double>(options, session, arrays, what);
  } else {
    detail::run_survey_with<Program, float>(options, session, arrays, what);
  }
}

}  // namespace moho::examples
