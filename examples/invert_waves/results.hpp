// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Files, messages and summary of an inversion.

#include "app/format.hpp"
#include "app/shot_list.hpp"
#include "app/summary.hpp"
#include "app/survey_program.hpp"
#include "invert_waves/input.hpp"

#include <moho/fwi/band_search.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::invert_waves {

/// A row of history.csv.
struct Evaluation : fwi::BandEvaluation {
  double vp_error = -1.0;        ///< relative error of vp at the best point; negative: unknown
  double seconds = 0.0;          ///< of this evaluation
  fwi::EvaluationReport report;  ///< work of this evaluation
};

/// Traces of the middle shot.
struct Gather {
  std::int64_t shot = 0;               ///< number of the shot
  std::vector<float> start, modelled;  ///< receivers x samples
  fwi::ObservedShot observed;          ///< data in the last band
};

/// State of an interrupted run.
struct ResumedRun : fwi::BandProgress {
  std::filesystem::path state;  ///< of the search; empty: a new run
  bool complete = false;        ///< the earlier run has all results
};

/// Files and messages of an inversion.
template <class T, int Dim>
class Results {
 public:
  using HostField = Field<T, Dim, Kokkos::HostSpace>;  ///< values on the nodes of the model

  Results(const Options& o, const Input<T, Dim>& input, const EarthModel<T>& model,
          const EarthModel<T>* truth, Session& session)
      : m_o(o), m_input(input), m_model(model), m_truth(truth), m_session(session) {}

  /// Returns the names of all results.
  std::vector<std::string> names() const {
    if (m_o.only_shot) return {numbered("shot", *m_o.only_shot)};
    std::vector<std::string> list{"illumination.npy", "history.csv", "gather_observed.npy",
                                  "gather_start.npy", "gather_modelled.npy"};
    if (m_o.extended) list.insert(list.end(), {"lags.npy", "angles.npy"});
    if (m_o.plot) {
      list.insert(list.end(), {"models.png", "misfit.png", "gather.png"});
      if (m_o.extended) list.emplace_back("lags.png");
    }
    for (const std::string& name : m_o.unknowns) {
      list.push_back(name + ".npy");
      list.push_back(name + "_start.npy");
      list.push_back("gradient_" + name + ".npy");
      if (has_true(name)) list.push_back(name + "_true.npy");
      for (std::size_t b = 1; b <= m_o.bands.size(); ++b) {
        list.push_back(numbered((name + "_band").c_str(), static_cast<std::int64_t>(b)));
      }
    }
    return list;
  }

  /// Returns the number of finished evaluations.
  std::int64_t evaluations() const { return m_evaluations; }

  /// Restores the state of an earlier run. \throws InputError for another run's state
  ResumedRun resume() {
    ResumedRun run;
    if (!m_o.resume || m_o.only_shot) return run;  // a single shot is never resumed
    const std::int64_t last = m_session.last_part();
    Json more;
    if (last < 0 || !m_session.take_over(last, more)) {
      m_session.print("resumed   ", last < 0 ? "nothing is there" : "files have changed",
                      ", it begins anew");
      return run;
    }
    run.complete = more.find("complete") != nullptr;
    if (run.complete) {
      m_session.print("resumed   the inversion in ", m_session.folder().string(),
                      " is complete: ", counted(last, "evaluation"), ", nothing is computed");
      if (!m_o.plan) m_session.keep_earlier();
      return run;
    }
    for (const char* name : {"band", "in_band", "history", "stops"}) {
      if (more.find(name) != nullptr) continue;
      throw InputError(concat("--resume: the run in ", m_session.folder().string(),
                              " does not say its ", name,
                              " (allowed: runs ended between evaluations): omit --resume"));
    }
    run.state = m_session.folder() / state_name(last);
    run.band = static_cast<int>(more.find("band")->number(0.0));
    run.in_band = static_cast<std::int64_t>(more.find("in_band")->number(0.0));
    m_history = *more.find("history");
    m_stops = *more.find("stops");
    if (const Json* const images = more.find("images")) m_images = *images;
    m_evaluations = last;
    m_session.print("resumed   ", counted(last, "evaluation is", "evaluations are"),
                    " complete, in band ", run.band + 1);
    return run;
  }

  /// Writes the starting models. \param bands that an earlier run has finished
  void write_start(int bands) {
    for (const std::string& name : m_o.unknowns) {
      write(name + "_start.npy", m_model.values.at(name).data());
      if (has_true(name)) write(name + "_true.npy", m_truth->values.at(name).data());
    }
    const auto take_over = [this](const std::string& file) {
      if (!std::filesystem::exists(m_session.folder() / file)) return;
      m_session.will_write({file});
      m_session.wrote(file);
    };
    for (std::int64_t e = 1; e <= m_evaluations; ++e) take_over(numbered("lags", e));
    for (int b = 0; b < bands; ++b) {
      for (const std::string& name : m_o.unknowns) {
        take_over(numbered((name + "_band").c_str(), b + 1));
      }
    }
  }

  /// \brief Writes the state after an evaluation, from which a later run resumes.
  /// \param search writes its state to a file
  template <class Search>
  void keep(const Evaluation& row, const HostField& illumination, const Search& search) {
    m_history.push_back(Json::array({row.band, row.frequency, row.evaluation, row.iteration,
                                     row.taken ? 1 : 0, row.misfit, row.relative, row.gradient,
                                     row.step, row.vp_error, row.seconds, row.report.points}));
    m_evaluations = row.evaluation;
    m_seconds += row.seconds;
    m_sums.add(row.report);
    const std::string state = state_name(row.evaluation),
                      illumination_file = illumination_name(row.evaluation);
    m_session.part_begins({state, illumination_file});
    search.save(m_session.folder() / state);
    if (row.report.failure.empty()) {
      io::write_npy(m_session.folder() / illumination_file, illumination.data(), m_model.shape);
    } else {  // without illumination, which a resumed run also lacks in memory
      std::filesystem::copy_file(m_session.folder() / illumination_name(row.evaluation - 1),
                                 m_session.folder() / illumination_file,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    m_session.files.insert(m_session.files.end(), {state, illumination_file});
    m_session.part_replaces(row.evaluation, {state, illumination_file},
                            Json::object({{"band", row.band - 1},
                                          {"in_band", row.in_band},
                                          {"history", m_history},
                                          {"stops", m_stops},
                                          {"images", m_images}}));
    write_history();
    if (m_o.quiet) return;
    m_session.print(
        "evaluated ", row.evaluation, ": ",
        m_o.bands.empty() ? "" : concat("up to ", significant(row.frequency, 4), " Hz, "),
        "iteration ", row.iteration, row.taken ? "" : " (a trial)",
        row.report.failure.empty() ? concat(", misfit ", significant(row.misfit, 5), " (",
                                            significant(row.relative, 4), " of the first)")
                                   : concat(", the step is shortened: ", row.report.failure),
        row.vp_error >= 0.0 ? concat(", error of vp ", fixed(100.0 * row.vp_error, 2), " %") : "",
        ", ", significant(row.seconds, 3), " s");
    std::fflush(stdout);
  }

  /// \brief Records the end of a band. \param why reason of the end
  /// \param models,gradients of each of --parameters, at the best point
  void end_band(int band, const std::string& why, std::vector<HostField> models,
                std::vector<HostField> gradients) {
    m_stops.push_back(Json::object({{"band", band + 1}, {"why", why}}));
    m_session.print("          stopped: ", why);
    m_models = std::move(models);
    m_gradients = std::move(gradients);
    for (std::size_t u = 0; u < m_o.unknowns.size() && !m_o.bands.empty(); ++u) {
      write(numbered((m_o.unknowns[u] + "_band").c_str(), band + 1), m_models[u].data());
    }
  }

  /// Sets the traces of the middle shot.
  void set_gather(Gather gather) { m_gather = std::move(gather); }

  /// Writes the extended image of an evaluation. keep() has to follow.
  void write_lags(const fwi::ExtendedResult<T>& extended, std::int64_t evaluation) {
    m_session.will_write({numbered("lags", evaluation)});
    write_image(numbered("lags", evaluation), extended);
    m_images.push_back(Json::array({evaluation, std::sqrt(extended.focus)}));
  }

  /// Writes the extended image of the result, and angle gathers at some columns.
  /// The gathers are slant stacks over lags along x.
  void write_lags(const fwi::ExtendedResult<T>& extended) {
    const fwi::Lags& lags = m_o.lags;
    const Grid<Dim>& grid = m_input.grid;
    write_image("lags.npy", extended);
    const std::int64_t depths = grid.extents[Dim - 1], wide = 2 * lags.x + 1;
    constexpr std::int64_t count = 7;
    const std::vector<Index<Dim>> positions = fwi::even_columns(grid, count);
    std::vector<double> columns;
    for (const Index<Dim>& position : positions) columns.push_back(grid.position(position)[0]);
    const std::vector<double> angles = write_angle_gathers(
        m_session, fwi::offset_gathers<T, Dim>(grid, lags, extended.values, positions), count, wide,
        depths, grid.spacing[0], grid.spacing[Dim - 1]);
    m_session.summary["lags"] = Json::object({{"x", lags.x},
                                              {"y", lags.y},
                                              {"spacing", grid.spacing[0]},
                                              {"columns", Json(columns)},
                                              {"first_angle", angles.front()},
                                              {"angle_spacing", 2.0},
                                              {"spread", std::sqrt(extended.focus)}});
    if (m_o.lags_every > 0) m_session.summary["lags"]["spreads"] = m_images;
    m_session.print("extended  ", counted(lags.count(), "lag"), ", root mean square half offset ",
                    significant(std::sqrt(extended.focus), 4), " m");
  }

  /// Writes the results. \param device,threads of the run
  void finish(const std::string& device, int threads) {
    {
      const HostPhase phase(m_session.phases, "write");
      write_models();
      write_history();
    }
    add_results(device, threads);
    replace_state();
    Ending ending;
    ending.script = "plot_inversion.py";
    ending.pictures = {"models.png", "misfit.png", "gather.png"};
    if (m_o.extended) ending.pictures.emplace_back("lags.png");
    ending.picture_name = "drawn";
    ending.word = "pictures";
    ending.lines = {concat("inverted  ", counted(m_input.shots.size(), "shot"), ", ",
                           counted(m_evaluations, "evaluation"), ", misfit ",
                           significant(best_relative(), 4), " of the first",
                           m_o.bands.size() > 1 ? " of the last band" : "", ", on ", m_o.space,
                           ": ", device)};
    ending.rate = concat("rate      ", format_count(rate()), "points/s");
    m_session.finish(ending);
  }

 private:
  static constexpr const char* history_header =
      "band,frequency,evaluation,iteration,taken,misfit,relative_misfit,gradient,step,vp_error,"
      "seconds,points\n";

  static std::string state_name(std::int64_t evaluation) {
    return numbered("search", evaluation, ".state");
  }
  static std::string illumination_name(std::int64_t evaluation) {
    return numbered("search", evaluation, "_illumination.npy");
  }
  bool has_true(const std::string& name) const {
    return m_truth != nullptr && m_truth->values.count(name) > 0;
  }
  void write(const std::string& name, const T* values) {
    io::write_npy(m_session.folder() / name, values, m_model.shape);
    m_session.wrote(name);
  }

  void write_image(const std::string& name, const fwi::ExtendedResult<T>& extended) {
    std::vector<std::int64_t> shape{m_o.lags.count()};
    shape.insert(shape.end(), m_model.shape.begin(), m_model.shape.end());
    io::write_npy(m_session.folder() / name, extended.values.data(), shape);
    m_session.wrote(name);
  }

  void write_history() {
    std::string text = history_header;
    for (std::size_t r = 0; r < m_history.size(); ++r) {
      const Json& row = m_history.at(r);
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (c > 0) text += ',';
        io::append_number(text, row.at(c).number(HUGE_VAL));  // JSON has no infinity
      }
      text += '\n';
    }
    io::write_text(m_session.folder() / "history.csv", text);
    const auto& files = m_session.files;
    if (std::count(files.begin(), files.end(), "history.csv") == 0) m_session.wrote("history.csv");
  }

  void write_models() {
    for (std::size_t u = 0; u < m_o.unknowns.size(); ++u) {
      write(m_o.unknowns[u] + ".npy", m_models[u].data());
      write("gradient_" + m_o.unknowns[u] + ".npy", m_gradients[u].data());
    }
    const std::string illumination_file = illumination_name(m_evaluations);
    write("illumination.npy", io::read_npy<T>(m_session.folder() / illumination_file).data.data());
    const auto write_gather = [&](const char* name, const std::vector<float>& samples) {
      io::write_npy(m_session.folder() / name, samples.data(),
                    {m_gather.observed.receivers, m_gather.observed.count});
      m_session.wrote(name);
    };
    write_gather("gather_observed.npy", m_gather.observed.samples);
    write_gather("gather_start.npy", m_gather.start);
    write_gather("gather_modelled.npy", m_gather.modelled);
  }

  void add_results(const std::string& device, int threads) {
    Json& summary = m_session.summary;
    const fwi::ObservedShot& data = m_gather.observed;
    const double end = std::min(data.data_end, data.dt * static_cast<double>(data.count - 1));
    summary["gather"] = Json::object(
        {{"shot", m_gather.shot}, {"interval", data.dt}, {"begin", data.data_begin}, {"end", end}});
    Points<Dim> sources;
    for (const auto& shot : m_input.shots) {
      sources.insert(sources.end(), shot.sources.begin(), shot.sources.end());
      if (shot.number != m_gather.shot) continue;
      summary["gather"]["sources"] = points_json(shot.sources);
      summary["gather"]["receivers"] = points_json(shot.receivers);
    }
    summary["sources"] = points_json(sources);
    summary["stops"] = m_stops;
    const Json& last = m_history.at(m_history.size() - 1);
    summary["result"] = Json::object({{"evaluations", m_evaluations},
                                      {"iterations", last.at(3)},
                                      {"relative_misfit", best_relative()},
                                      {"vp_error", last.at(9)}});
    summary["run"] = Json::object({{"device", device},
                                   {"threads", threads},
                                   {"points", m_sums.points},
                                   {"seconds_of_evaluations", m_seconds},
                                   {"seconds_of_modelling", m_sums.forward_seconds},
                                   {"seconds_of_gradients_besides", m_sums.backward_seconds}});
    summary["rates"] = Json::object({{"points_per_second", rate()}});
  }

  double rate() const { return m_seconds > 0.0 ? m_sums.points / m_seconds : 0.0; }

  // Misfit of the best point divided by the first one of the last band.
  double best_relative() const {
    double relative = 1.0;
    for (std::size_t r = 0; r < m_history.size(); ++r) {
      if (m_history.at(r).at(4).number(0.0) > 0.0) relative = m_history.at(r).at(6).number(1.0);
    }
    return relative;
  }

  // Replaces the state of the search by the results, which are complete.
  void replace_state() {
    std::vector<std::string> results = m_session.files;
    for (const std::string& name : {state_name(m_evaluations), illumination_name(m_evaluations)}) {
      std::erase(results, name);
    }
    m_session.complete();  // from here on --resume computes nothing
    m_session.part_replaces(m_evaluations, results, Json::object({{"complete", true}}));
  }

  const Options& m_o;
  const Input<T, Dim>& m_input;
  const EarthModel<T>& m_model;
  const EarthModel<T>* m_truth;  ///< null: unknown
  Session& m_session;
  Json m_history = Json::array(), m_stops = Json::array();
  Json m_images = Json::array();  ///< of --lags-every
  std::int64_t m_evaluations = 0;
  std::vector<HostField> m_models, m_gradients;  ///< of each of --parameters
  Gather m_gather;
  double m_seconds = 0.0;
  fwi::EvaluationReport m_sums;
};

}  // namespace moho::examples::invert_waves
