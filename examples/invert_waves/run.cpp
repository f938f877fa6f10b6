// SPDX-License-Identifier: BSD-3-Clause
//
// invert_waves: full-waveform inversion of shots.

#include "common/boundary.hpp"
#include "common/format.hpp"
#include "common/shot_list.hpp"
#include "common/summary.hpp"
#include "common/survey_program.hpp"
#include "invert_waves/asked.hpp"
#include "invert_waves/bands.hpp"
#include "invert_waves/compute.hpp"
#include "invert_waves/options.hpp"
#include "invert_waves/sharing.hpp"
#include "ranks/ranks.hpp"

#include <moho/core/space.hpp>
#include <moho/io/array.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>
#include <moho/rtm/image.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

namespace moho::examples::invert_waves {

namespace {

namespace fs = std::filesystem;

constexpr const char* history_header =
    "band,frequency,evaluation,iteration,taken,misfit,relative_misfit,gradient,step,vp_error,"
    "seconds,points\n";

Json numbers_of(const Evaluation& row) {
  return Json::array({row.band, row.frequency, row.evaluation, row.iteration, row.taken ? 1 : 0,
                      row.misfit, row.relative, row.gradient, row.step, row.vp_error, row.seconds,
                      row.points});
}

template <class T, int Dim>
class Program {
 public:
  Program(const Options& o, EarthModel<T>&& model, std::optional<EarthModel<T>>&& truth,
          Session& session)
      : m_o(o), m_model(std::move(model)), m_truth(std::move(truth)), m_session(session) {}

  void run() {
    Processes& processes = m_session.processes();
    processes.together([&] {
      const HostPhase phase(m_session.phases, "check");
      prepare();
    });
    m_job.progress = m_session.progress();
    m_job.note = [&](const std::string& note) {
      if (++m_notes <= 10) m_session.print("          note: ", note);
      if (m_notes == 11) m_session.print("          note: more like these are not printed");
    };
    m_sharing->attach(m_job);
    m_job.stop = [&] {
      m_why = m_time.why();
      m_time.begin();
      return !m_why.empty();
    };
    m_job.begins = [&](const Plan& plan) {
      bool goes_on = false;
      processes.together([&] { goes_on = begin(plan); });
      return goes_on;
    };
    m_job.told = [&](const Evaluation& row, std::int64_t in_band, const Found<T>& found) {
      keep(row, in_band, found);
    };
    m_job.band_over = [&](int band, const std::string& why, const Found<T>& found) {
      end_band(band, why, found);
    };
    m_job.extended = [&](const Extension<T>& extension) { write_lags(extension); };
    m_job.gathered = [&](const Gather& gather) { m_gather = gather; };
    with_space(m_o.space, [&](const auto& exec) {
      const PhaseTimes times = compute_on(exec, m_job);
      m_session.computed(times);
    });
    processes.finish();
    if (m_o.plan || !processes.root()) return;
    if (!m_why.empty()) {
      m_session.out_of_time(concat(m_evaluations, " evaluations are there: ", m_why));
      return;
    }
    m_session.summary["ranks"] = processes.size();
    if (m_o.only_shot) {
      Ending ending;
      ending.script = "plot_inversion.py";
      ending.word = "pictures";
      m_session.finish(ending);
      return;
    }
    finish();
    m_sharing->over();
  }

 private:
  void prepare() {
    m_job.options = &m_o;
    prepare_survey<Dim>(m_job, m_o, "data", m_model, m_truth, m_data);
    m_job.truth_known = m_truth.has_value();
    m_job.data_name = concat("--data ", m_o.data);
    if (m_data.survey) m_job.gather = [&](std::size_t k) { return m_data.survey->read(k); };
    check_bands(m_o.bands, m_job.modelling.time.time);
    prepare_bounds();
    prepare_mask();
    check_start();
    std::vector<std::int64_t> numbers;
    for (const auto& shot : m_job.shots) numbers.push_back(shot.number);
    if (m_o.only_shot) prepare_only(numbers);
    m_job.check_onsets = m_data.survey && m_session.processes().root() && !m_o.only_shot;
    if (m_data.survey && !m_o.plan) check_data();
    if (!m_o.distribute.sites.empty()) {
      refuse_ranks(m_session.processes());
      check_shots_per_job(m_o.distribute, numbers.size());
    }
    m_session.will_write(names());
    m_session.resumable(asked_json(m_o));
    m_sharing.emplace(m_o, m_session, std::move(numbers), m_model.shape);
    resume();
  }

  // Refuses traces that cannot be inverted, before the first result.
  void check_data() {
    BandCheck bands(m_o.bands);
    check_traces<Dim>(m_data.sources_name, *m_data.survey, m_job.only, m_session.processes().rank(),
                      m_session.processes().size(), [&](const survey::ShotGather<Dim>& gather) {
                        bands.add(gather.samples, gather.count, gather.dt);
                      });
    for (const std::string& note : bands.notes()) m_data.notes.push_back(note);
  }

  // One shot of an evaluation, for the run that has the others computed, too.
  void prepare_only(const std::vector<std::int64_t>& numbers) {
    m_job.only = find_only_shot(numbers, *m_o.only_shot);
    m_job.order.evaluation = 1;
    m_job.order.band = m_o.band - 1;
    m_job.order.size = m_o.data_size;
    for (const std::string& name : m_o.unknowns) {
      const std::vector<T>& values = m_model.values.at(name);
      m_job.order.model.insert(m_job.order.model.end(), values.begin(), values.end());
    }
    if (m_o.evaluate.empty()) return;
    io::Array<T> array;
    try {
      array = io::read_npy<T>(m_o.evaluate);
    } catch (const Error& error) {
      throw InputError(concat("--evaluate ", m_o.evaluate, ": ", error.what()));
    }
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(m_o.unknowns.size())};
    shape.insert(shape.end(), m_model.shape.begin(), m_model.shape.end());
    if (array.shape != shape) {
      throw InputError(concat("--evaluate ", m_o.evaluate, ": its shape is ",
                              io::shape_string(array.shape), " (allowed: ", io::shape_string(shape),
                              ", the unknowns on the nodes of --vp)"));
    }
    m_job.order.model = std::move(array.data);
  }

  void prepare_bounds() {
    for (const std::string& name : m_o.unknowns) {
      const auto given = m_o.bounds.find(name);
      if (given != m_o.bounds.end()) {
        m_job.bounds.push_back(given->second);
        continue;
      }
      const std::vector<T>& values = m_model.values.at(name);
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      const double least = static_cast<double>(*low), greatest = static_cast<double>(*high);
      const bool positive = name == "vp" || name == "rho";
      m_job.bounds.emplace_back(positive ? 0.8 * least : std::max(least - 0.1, -0.45),
                                positive ? 1.2 * greatest : greatest + 0.1);
    }
  }

  void prepare_mask() {
    if (m_o.mask_text.empty()) return;
    const auto nodes = static_cast<std::size_t>(m_job.grid.size());
    m_job.mask.assign(nodes, 1);
    if (m_o.mask_depth >= 0.0) {
      for (std::size_t i = 0; i < nodes; ++i) {
        const auto node = m_job.grid.node(static_cast<std::int64_t>(i));
        const double depth = m_job.grid.position(node)[Dim - 1];
        if (depth <= m_o.mask_depth + 1e-6 * m_job.grid.spacing[Dim - 1]) m_job.mask[i] = 0;
      }
    } else {
      EarthModelOptions options;
      options.parameters["vp"] = m_o.mask_text;
      options.velocity_unit = VelocityUnit::metres_per_second;  // ones and zeros
      options.spacing = m_model.spacing;
      options.shape = m_model.shape;
      EarthModel<T> mask;
      try {
        mask = load_earth_model<T>(options);
      } catch (const InputError& error) {
        throw InputError(concat("--mask: ", error.what()));
      }
      if (mask.shape != m_model.shape) {
        throw InputError(concat("--mask: its shape is ", io::shape_string(mask.shape),
                                " (allowed: ", io::shape_string(m_model.shape), ", that of --vp)"));
      }
      const std::vector<T>& values = mask.values.at("vp");
      for (std::size_t i = 0; i < nodes; ++i) m_job.mask[i] = values[i] == T(0) ? 0 : 1;
    }
    if (std::find(m_job.mask.begin(), m_job.mask.end(), 1) == m_job.mask.end()) {
      throw InputError(concat("--mask ", m_o.mask_text,
                              " keeps all nodes (allowed: masks that leave some to be changed)"));
    }
  }

  // What may change has to begin within its bounds.
  void check_start() const {
    for (std::size_t u = 0; u < m_o.unknowns.size(); ++u) {
      const std::string& name = m_o.unknowns[u];
      const auto [least, greatest] = m_job.bounds[u];
      const std::vector<T>& values = m_model.values.at(name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = static_cast<double>(values[i]);
        const double slack = 1e-6 * std::max(1.0, std::fabs(value));
        const bool positive = name == "vp" || name == "rho";
        // what no model may have is refused by the name of its file
        if (!std::isfinite(value) || (positive && !(value > 0.0))) continue;
        const bool held = !m_job.mask.empty() && m_job.mask[i] == 0;
        if (held || (value >= least - slack && value <= greatest + slack)) continue;
        throw InputError(concat("--bounds: ", name, " is ", value, " at node ",
                                format_index(m_job.grid.node(static_cast<std::int64_t>(i))),
                                " of the start (allowed: ", least, " to ", greatest,
                                "): widen the bounds"));
      }
    }
  }

  void resume() {
    if (!m_o.resume || m_o.only_shot) return;  // one shot begins anew
    const std::int64_t last = m_session.last_part();
    Json more;
    if (last < 0 || !m_session.take_over(last, more)) {
      m_session.print("resumed   nothing is there, it begins anew");
      return;
    }
    for (const char* name : {"band", "in_band", "history", "stops"}) {
      if (more.find(name) != nullptr) continue;
      throw InputError(concat("--resume: the run in ", m_session.folder().string(),
                              " does not say its ", name,
                              " (allowed: runs that were ended between evaluations): leave "
                              "--resume out to begin again"));
    }
    m_job.state = m_session.folder() / state_name(last);
    m_job.band = static_cast<int>(more.find("band")->number(0.0));
    m_job.in_band = static_cast<std::int64_t>(more.find("in_band")->number(0.0));
    m_history = *more.find("history");
    m_stops = *more.find("stops");
    m_evaluations = last;
    m_session.print("resumed   ", last, " evaluations are there, in band ", m_job.band + 1);
  }

  static std::string state_name(std::int64_t evaluation) {
    return numbered("search", evaluation, ".state");
  }
  static std::string light_name(std::int64_t evaluation) {
    return numbered("search", evaluation, "_illumination.npy");
  }

  // Of all results.
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
      if (m_truth && m_truth->values.count(name) > 0) list.push_back(name + "_true.npy");
      for (std::size_t b = 1; b <= m_o.bands.size(); ++b) {
        list.push_back(numbered((name + "_band").c_str(), static_cast<std::int64_t>(b)));
      }
    }
    return list;
  }

  bool begin(const Plan& plan) {
    m_plan = plan;
    if (!plan.onset_note.empty()) m_data.notes.push_back("note: " + plan.onset_note);
    m_sharing->take_way(plan.source_field);
    print_plan();
    Json& summary = m_session.summary;
    summary["asked"] = asked_json(m_o);
    Json model;
    model["name"] = m_model.name;
    model["medium"] = wave::to_string(plan.medium);
    add_grid(m_model, model);
    model["boundaries"] = boundaries_string<Dim>(m_job.boundaries);
    summary["model"] = model;
    summary["scheme"] = Json::object({{"dt", plan.time.dt},
                                      {"largest_dt", plan.largest_dt},
                                      {"steps", plan.time.steps},
                                      {"order", m_o.order},
                                      {"highest_frequency", plan.frequency},
                                      {"gradient_steps", plan.every},
                                      {"source_field", to_string(plan.source_field)},
                                      {"source_field_bytes", plan.source_bytes},
                                      {"at_once", plan.at_once}});
    if (!plan.stream.empty()) {
      const stream::StreamPlan& s = plan.stream_plan;
      summary["stream"] = Json::object({{"block", s.shape.block},
                                        {"updates", s.shape.updates},
                                        {"lag", s.shape.lag},
                                        {"ring_planes", s.ring_planes},
                                        {"parameters_resident", s.resident},
                                        {"sums_resident", s.sums_held},
                                        {"device_bytes", s.device_bytes},
                                        {"host_bytes", s.host_bytes},
                                        {"points_per_second", s.forecast.points_per_second}});
    }
    Json bounds = Json::object();
    for (std::size_t u = 0; u < m_o.unknowns.size(); ++u) {
      bounds[m_o.unknowns[u]] = Json::array({plan.bounds[u].first, plan.bounds[u].second});
    }
    summary["bounds"] = bounds;
    summary["unknowns"] = Json(m_o.unknowns);
    summary["shots"] = m_job.shots.size();
    if (m_o.plan) return false;
    if (!m_session.processes().root()) return true;
    m_session.begin_output();
    m_sharing->begin();
    if (m_o.only_shot) return true;
    for (const std::string& name : m_o.unknowns) {
      write(name + "_start.npy", m_model.values.at(name));
      if (m_truth && m_truth->values.count(name) > 0) {
        write(name + "_true.npy", m_truth->values.at(name));
      }
    }
    // those of bands that an earlier run has done
    for (int b = 0; b < m_job.band; ++b) {
      for (const std::string& name : m_o.unknowns) {
        const std::string file = numbered((name + "_band").c_str(), b + 1);
        if (fs::exists(m_session.folder() / file)) m_session.wrote(file);
      }
    }
    return true;
  }

  void print_plan() const {
    constexpr const char* media[] = {"isotropic", "isotropic with variable density", "VTI", "TTI"};
    const Plan& p = m_plan;
    m_session.print("model     ", m_model.name, ": ", describe_grid(m_model));
    m_session.print("          ", media[static_cast<int>(p.medium)], "; boundaries ",
                    boundaries_string<Dim>(m_job.boundaries));
    for (const std::string& note : m_model.notes) m_session.print("          note: ", note);
    m_session.print("data      ", m_o.data, ": ", counted(m_job.shots.size(), "shot"), ", ",
                    counted(m_data.traces, "trace"), ", ", format_bytes(p.data_bytes));
    for (const std::string& note : m_data.notes) m_session.print("          ", note);
    std::string bands;
    for (const double band : m_o.bands)
      bands += concat(bands.empty() ? "" : ", ", significant(band, 4));
    m_session.print("          wavelet ", m_o.wavelet, m_o.wavelet_note,
                    bands.empty() ? "" : concat(", bands up to ", bands, " Hz"), ", up to ",
                    significant(p.frequency, 4), " Hz in the last");
    print_scheme(m_session, m_o, p, m_job.shots.size());
    std::fflush(stdout);
  }

  void write(const std::string& name, const std::vector<T>& values) {
    io::write_npy(m_session.folder() / name, values.data(), m_model.shape);
    m_session.wrote(name);
  }

  void write_history() {
    std::string text = history_header;
    for (std::size_t r = 0; r < m_history.size(); ++r) {
      const Json& row = m_history.at(r);
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (c > 0) text += ',';
        io::append_number(text, row.at(c).number(0.0));
      }
      text += '\n';
    }
    io::write_text(m_session.folder() / "history.csv", text);
    if (std::find(m_session.files.begin(), m_session.files.end(), "history.csv") ==
        m_session.files.end()) {
      m_session.wrote("history.csv");
    }
  }

  // The state after an evaluation: what a later run goes on from.
  void keep(const Evaluation& row, std::int64_t in_band, const Found<T>& found) {
    m_time.done();
    m_history.push_back(numbers_of(row));
    m_evaluations = row.evaluation;
    m_points += row.points;
    m_seconds += row.seconds;
    m_modelling += row.modelling;
    m_gradients += row.gradients;
    const std::string state = state_name(row.evaluation), light = light_name(row.evaluation);
    m_session.part_begins({state, light});
    found.save(m_session.folder() / state);
    const std::vector<T> illumination = found.illumination();
    io::write_npy(m_session.folder() / light, illumination.data(), m_model.shape);
    m_session.files.push_back(state);
    m_session.files.push_back(light);
    m_session.part_replaces(row.evaluation, {state, light},
                            Json::object({{"band", row.band - 1},
                                          {"in_band", in_band},
                                          {"history", m_history},
                                          {"stops", m_stops}}));
    write_history();
    if (m_o.quiet) return;
    m_session.print(
        "evaluated ", row.evaluation, ": ",
        m_o.bands.empty() ? "" : concat("up to ", significant(row.frequency, 4), " Hz, "),
        "iteration ", row.iteration, row.taken ? "" : " (a trial)", ", misfit ",
        significant(row.misfit, 5), " (", significant(row.relative, 4), " of the first)",
        row.vp_error >= 0.0 ? concat(", error of vp ", fixed(100.0 * row.vp_error, 2), " %") : "",
        ", ", significant(row.seconds, 3), " s");
    std::fflush(stdout);
  }

  void end_band(int band, const std::string& why, const Found<T>& found) {
    m_stops.push_back(Json::object({{"band", band + 1}, {"why", why}}));
    m_session.print("          stopped: ", why);
    const ModelValues<T> values = found.model();
    if (!m_o.bands.empty()) {
      for (const std::string& name : m_o.unknowns) {
        write(numbered((name + "_band").c_str(), band + 1), values.at(name));
      }
    }
    m_found = values;
    m_gradient = found.gradient();
  }

  // The extended image, and angle gathers at some columns: slant stacks over lags along x.
  void write_lags(const Extension<T>& extension) {
    const fwi::Lags& lags = m_o.lags;
    std::vector<std::int64_t> shape{lags.count()};
    shape.insert(shape.end(), m_model.shape.begin(), m_model.shape.end());
    io::write_npy(m_session.folder() / "lags.npy", extension.values.data(), shape);
    m_session.wrote("lags.npy");
    std::vector<double> angles, all, columns;
    for (int a = -60; a <= 60; a += 2) angles.push_back(a);
    const std::int64_t depths = m_job.grid.extents[Dim - 1], wide = 2 * lags.x + 1;
    constexpr std::int64_t count = 7;
    for (std::int64_t c = 1; c <= count; ++c) {
      Index<Dim> node{};
      node[0] = (m_job.grid.extents[0] - 1) * c / (count + 1);
      if (Dim == 3) node[1] = m_job.grid.extents[1] / 2;
      columns.push_back(m_job.grid.position(node)[0]);
      std::vector<double> gather;
      for (std::int64_t h = 0; h < wide; ++h) {
        const std::int64_t begin = (lags.y * wide + h) * m_job.grid.size() + m_job.grid.flat(node);
        for (std::int64_t z = 0; z < depths; ++z) {
          gather.push_back(
              static_cast<double>(extension.values[static_cast<std::size_t>(begin + z)]));
        }
      }
      const auto stack = rtm::angle_gather(gather, wide, depths, m_job.grid.spacing[0],
                                           m_job.grid.spacing[Dim - 1], angles);
      all.insert(all.end(), stack.begin(), stack.end());
    }
    io::write_npy(m_session.folder() / "angles.npy", all.data(),
                  {count, static_cast<std::int64_t>(angles.size()), depths});
    m_session.wrote("angles.npy");
    m_session.summary["lags"] = Json::object({{"x", lags.x},
                                              {"y", lags.y},
                                              {"spacing", m_job.grid.spacing[0]},
                                              {"columns", Json(columns)},
                                              {"first_angle", angles.front()},
                                              {"angle_spacing", 2.0},
                                              {"spread", std::sqrt(extension.focus)}});
    m_session.print("extended  ", lags.count(), " lags, root mean square half offset ",
                    significant(std::sqrt(extension.focus), 4), " m");
  }

  void finish() {
    {
      const HostPhase phase(m_session.phases, "write");
      for (const std::string& name : m_o.unknowns) {
        write(name + ".npy", m_found.at(name));
        write("gradient_" + name + ".npy", m_gradient.at(name));
      }
      const fs::path light = m_session.folder() / light_name(m_evaluations);
      write("illumination.npy", io::read_npy<T>(light).data);
      const auto write_gather = [&](const char* name, const std::vector<float>& samples) {
        io::write_npy(m_session.folder() / name, samples.data(),
                      {m_gather.receivers, m_gather.samples});
        m_session.wrote(name);
      };
      write_gather("gather_observed.npy", m_gather.observed);
      write_gather("gather_start.npy", m_gather.start);
      write_gather("gather_modelled.npy", m_gather.modelled);
      write_history();
      remove_state();
    }
    Json& summary = m_session.summary;
    summary["gather"] = Json::object({{"shot", m_gather.shot}, {"interval", m_gather.dt}});
    auto sources = m_job.shots.front().sources;
    sources.clear();
    for (const auto& shot : m_job.shots) {
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
    const double rate = m_seconds > 0.0 ? m_points / m_seconds : 0.0;
    summary["run"] = Json::object({{"device", m_plan.device},
                                   {"threads", m_plan.threads},
                                   {"points", m_points},
                                   {"seconds_of_evaluations", m_seconds},
                                   {"seconds_of_modelling", m_modelling},
                                   {"seconds_of_gradients_besides", m_gradients}});
    summary["rates"] = Json::object({{"points_per_second", rate}});
    Ending ending;
    ending.script = "plot_inversion.py";
    ending.pictures = {"models.png", "misfit.png", "gather.png"};
    if (m_o.extended) ending.pictures.emplace_back("lags.png");
    ending.picture_name = "drawn";
    ending.word = "pictures";
    ending.lines = {concat("inverted  ", counted(m_job.shots.size(), "shot"), ", ",
                           counted(m_evaluations, "evaluation"), ", misfit ",
                           significant(best_relative(), 4), " of the first",
                           m_o.bands.size() > 1 ? " of the last band" : "", ", on ", m_o.space,
                           ": ", m_plan.device)};
    ending.rate = concat("rate      ", format_count(rate), "points/s");
    m_session.finish(ending);
  }

  // The misfit of the best point over the first one of the last band.
  double best_relative() const {
    double relative = 1.0;
    for (std::size_t r = 0; r < m_history.size(); ++r) {
      if (m_history.at(r).at(4).number(0.0) > 0.0) relative = m_history.at(r).at(6).number(1.0);
    }
    return relative;
  }

  // The results are whole: nobody goes on from it.
  void remove_state() {
    for (const std::string& name : {state_name(m_evaluations), light_name(m_evaluations)}) {
      std::error_code ignored;
      fs::remove(m_session.folder() / name, ignored);
      auto& files = m_session.files;
      files.erase(std::remove(files.begin(), files.end(), name), files.end());
    }
    m_session.summary.remove("parts");
  }

  const Options& m_o;
  EarthModel<T> m_model;
  std::optional<EarthModel<T>> m_truth;
  Session& m_session;
  Job<T, Dim> m_job;
  Plan m_plan;
  SurveyData<Dim> m_data;
  std::optional<Sharing<T>> m_sharing;
  EndOfTime m_time;
  std::string m_why;  // why it ended before the last evaluation
  Json m_history = Json::array(), m_stops = Json::array();
  std::int64_t m_evaluations = 0;
  int m_notes = 0;  ///< about shots of the data
  ModelValues<T> m_found, m_gradient;
  Gather m_gather;
  double m_points = 0.0, m_seconds = 0.0, m_modelling = 0.0, m_gradients = 0.0;
};

void run(const Options& options, Session& session) {
  // unknowns, bounds and results
  run_survey<Program>(options, session, 6.0, "");
}

}  // namespace

}  // namespace moho::examples::invert_waves

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<invert_waves::Options>(argc, argv, invert_waves::describe(),
                                            invert_waves::read_options, invert_waves::run,
                                            shot_ranks);
}
