// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shared parts of programs that migrate or invert: they read models and data, and check
/// both.

#include "app/memory.hpp"
#include "app/program.hpp"
#include "app/survey_data.hpp"
#include "app/wave_fields.hpp"

#include <moho/io/npy.hpp>
#include <moho/rtm/image.hpp>
#include <moho/survey/onset_check.hpp>
#include <moho/wave/delta_note.hpp>
#include <moho/wave/modelling.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// Common part of jobs on data: input that is read but not yet checked against the model.
template <class T, int Dim>
struct SurveyJob {
  Grid<Dim> grid;                         ///< of the model
  ModelValues<T>* values = nullptr;       ///< of the model
  ModelValues<T>* true_values = nullptr;  ///< of the model of modelled data; null: data are read
  std::map<std::string, std::string> names, true_names;    ///< of parameters, for messages
  std::vector<wave::Shot<Dim>> shots;                      ///< positions in m
  std::string sources_name, receivers_name, wavelet_name;  ///< for messages
  wave::Boundaries<Dim> boundaries;                        ///< faces of the model
  wave::ModellingOptions<Dim> modelling;                   ///< time stepping
  wave::WaveletAt wavelet;                                 ///< of all sources
};

/// \brief Reads numbers without unit on the nodes of a model.
/// \param option,path of the file \param options of the model
/// \throws InputError that begins with the option; MemoryError
template <class T>
std::vector<T> load_on_nodes(const std::string& option, const std::string& path,
                             const EarthModelOptions& options, const EarthModel<T>& model) {
  EarthModelOptions file;
  file.parameters["vp"] = path;
  file.velocity_unit = VelocityUnit::metres_per_second;  // no conversion
  file.spacing = options.spacing;
  file.origin = options.origin;
  file.nodes = &model;
  try {
    return std::move(load_earth_model<T>(file).values.at("vp"));
  } catch (const MemoryError&) {
    throw;
  } catch (const Error& error) {
    const std::string text = error.what();
    throw InputError(text.rfind("--vp", 0) == 0 ? option + text.substr(4) : option + ": " + text);
  }
}

/// \brief Sets the common part of jobs on data: the waves, the true model, the shots.
/// \param option "shots" or "data" \param data gets the shots \throws InputError, FileError
template <int Dim, class Job, class Options, class T>
void prepare_survey(Job& job, const Options& o, const std::string& option, EarthModel<T>& model,
                    std::optional<EarthModel<T>>& truth, SurveyData<Dim>& data) {
  prepare_waves<Dim>(job, o, model);
  const std::string note = wave::note_of_clamped_deltas(model.values, o.equations);
  if (!note.empty()) model.notes.push_back(note);
  job.options = &o;
  job.true_names = job.names;  // of a model that is its own truth
  if (truth) {
    job.true_values = &truth->values;
    for (const auto& [name, text] : o.true_model.parameters) {
      job.true_names[name] = concat("--true-", name, " ", text);
    }
  }
  data = open_data<Dim>(option, o, o, job.grid, job.boundaries, job.wavelet, o.time);
  if (!data.survey && !truth) job.true_values = &model.values;
  job.sources_name = data.sources_name;
  job.receivers_name = data.receivers_name;
  job.shots = data.shots;
  job.modelling.time = {data.time, o.dt, 0.0, 0.0};
}

/// \brief Compares the start times of data with first arrivals, and notes a difference.
/// \param read gather of a shot, by its position \param arrivals s, of the receivers of a shot
template <int Dim, class Read, class Arrivals>
void check_onsets(SurveyData<Dim>& data, survey::OnsetCheck check, const Read& read,
                  const Arrivals& arrivals) {
  for (const std::size_t k : survey::shots_to_check<Dim>(data.shots.size())) {
    const survey::ShotGather<Dim> gather = read(k);
    if (!gather.shot.receivers.empty()) check.add(gather, arrivals(gather.shot));
  }
  const auto found = check.difference();
  if (found) data.notes.push_back("note: " + describe(*found));
}

/// \brief Writes angles.npy: slant stacks of offset gathers, columns x angles x depths.
/// \param gathers columns x offsets x depths \param distance of half offsets, m
/// \param spacing of depths, m \return degrees
inline std::vector<double> write_angle_gathers(Session& session, const std::vector<double>& gathers,
                                               std::int64_t columns, std::int64_t offsets,
                                               std::int64_t depths, double distance,
                                               double spacing) {
  std::vector<double> angles;
  for (int a = -60; a <= 60; a += 2) angles.push_back(a);
  const std::vector<double> all =
      rtm::angle_gathers(gathers, columns, offsets, depths, distance, spacing, angles);
  io::write_npy(session.folder() / "angles.npy", all.data(),
                {columns, static_cast<std::int64_t>(angles.size()), depths});
  session.wrote("angles.npy");
  return angles;
}

/// \brief Completes the memory of the summary, which has that of the model and of results.
/// \param plan rtm::MigrationPlan, or fwi::ObjectivePlan \param host its bytes on the host
template <class Plan>
void record_memory(Session& session, const std::string& space, const Plan& plan, double host) {
  Json& memory = session.summary["memory"];
  const auto slabs = static_cast<int>(plan.slabs.ranks ? 1 : plan.slabs.planes.size());
  const int devices = std::max(plan.stream.empty() ? 1 : plan.stream_plan.shape.devices, slabs);
  if (space == "cuda") memory["device_bytes"] = std::ceil(plan.device_bytes());
  if (space != "cuda") host += plan.device_bytes() * devices;
  memory["estimate_bytes"] = std::ceil(memory.find("estimate_bytes")->number(0.0) + host);
}

/// Ends the run of --only-shot, which draws nothing. \param script of the program's pictures
inline void finish_shot(Session& session, const char* script) {
  session.finish({script, {}, {}, "pictures", {}, {}});
}

namespace detail {
template <template <class, int> class Program, class T, class Options>
void run_survey_with(const Options& o, Session& session, double arrays, const std::string& what) {
  EarthModel<T> model;
  std::optional<EarthModel<T>> truth;
  session.processes().collectively([&] {
    const MemoryLimit limit =
        memory_limit(o, o.space != "cuda", session.processes().size_of_host());
    const EarthModelNeed need = need_of_earth_model<T>(o.model);
    MemoryEstimate memory;
    memory.take((o.true_model.parameters.empty() ? 1.0 : 2.0) * need.values, "the model");
    memory.pass(need.passing, "reading the model");
    memory.take(arrays * sizeof(T) * need.nodes(), "results on its nodes");
    check_memory(concat("a model of ", io::shape_string(need.shape), " nodes", what), memory, limit,
                 "take fewer nodes", false);
    session.summary["memory"] = memory_json(memory, limit);
    const HostPhase phase(session.phases, "read");
    model = load_earth_model<T>(o.model);
    truth = load_true_model(o, o.model, model);
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
