// SPDX-License-Identifier: BSD-3-Clause
//
// model_waves: shots over a model of the ground by finite differences, acoustic, VTI or TTI.

#include "common/format.hpp"
#include "common/memory.hpp"
#include "common/program.hpp"
#include "common/summary.hpp"
#include "common/survey.hpp"
#include "model_waves/compute.hpp"
#include "model_waves/options.hpp"

#include <moho/core/positions.hpp>
#include <moho/core/space.hpp>
#include <moho/io/array.hpp>
#include <moho/io/npy.hpp>
#include <moho/wave/layout.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

namespace moho::examples::model_waves {

namespace {

namespace fs = std::filesystem;

Json asked_json(const Options& o) {
  Json json;
  for (const auto& [option, text] : o.model.parameters) json[option] = text;
  json["degrees"] = o.model.degrees;
  if (!o.config.empty()) json["config"] = o.config;
  if (!o.shots_file.empty()) {
    json["shots"] = o.shots_file;
  } else {
    json["source"] = o.sources.empty() ? Json("the middle") : Json(o.sources);
    json["receivers"] = o.receivers.empty() ? Json("a line along the surface") : Json(o.receivers);
    json["moving"] = o.moving;
  }
  json["wavelet"] = o.wavelet;
  json["time"] = o.time;
  json["dt"] = o.dt > 0.0 ? Json(o.dt) : Json("auto");
  json["interval"] = o.interval > 0.0 ? Json(o.interval) : Json("auto");
  json["snapshot_every"] = o.snapshots ? Json(*o.snapshots) : Json("auto");
  json["order"] = o.order;
  json["boundary"] = o.boundary.empty() ? Json("auto") : Json(o.boundary);
  json["free_surface"] = o.free_surface;
  json["seed"] = o.seed;
  json["equations"] = o.equations == wave::Equations::fletcher ? "fletcher" : "self_adjoint";
  if (o.equations == wave::Equations::fletcher) json["sigma"] = o.sigma;
  json["source_taper"] = o.source_taper ? Json(*o.source_taper) : Json("auto");
  json["expand"] = rtm::to_string(o.expand);
  json["precision"] = o.double_precision ? "double" : "float";
  json["space"] = o.space;
  json["memory"] = memory_json(o);
  json["out"] = o.out;
  json["plot"] = o.plot;
  return json;
}

Json scheme_json(const Options& o, const Report& report) {
  Json json;
  json["dt"] = report.time.dt;
  json["largest_dt"] = report.limits.largest_dt;
  json["steps"] = report.time.steps;
  json["order"] = o.order;
  json["slowest_wave"] = report.limits.least_velocity;
  json["fastest_wave"] = report.limits.greatest_velocity;
  json["highest_frequency"] = report.frequency;
  json["nodes_per_shortest_wave"] = report.nodes_per_wave;
  json["nodes_per_shortest_wave_wanted"] = report.nodes_per_wave_wanted;
  json["lowered_deltas"] = report.limits.lowered_deltas;
  json["source_taper"] = report.source_taper;
  return json;
}

Json run_json(const Options& o, const Report& report) {
  Json json;
  json["device"] = report.device;
  json["threads"] = report.threads;
  json["bytes_estimated"] = report.bytes;
  json["expand"] = Json::object({{"method", rtm::to_string(o.expand)},
                                 {"points", report.points},
                                 {"points_of_whole_grid", report.whole_points},
                                 {"part_stepped", report.points / report.whole_points},
                                 {"seconds", report.domain_seconds}});
  return json;
}

std::string numbered(const char* stem, std::int64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return concat(stem, "_", digits, ".npy");
}

// Throws for shots that cannot be, before the space is used.
template <class T, int Dim>
void check_survey(const Job<T, Dim>& job) {
  constexpr double farthest = 2e9;
  const auto check = [&](const std::string& option, const Points<Dim>& points,
                         const std::string& what) {
    try {
      check_positions<Dim>(job.grid, points, what);
    } catch (const InputError& error) {
      throw InputError(concat(option, ": ", error.what()));
    }
  };
  for (const wave::Shot<Dim>& shot : job.shots) {
    const std::string of = job.shots.size() > 1 ? concat("shot ", shot.number, ": ") : "";
    check(job.sources_name, shot.sources, of + "source");
    check(job.receivers_name, shot.receivers, of + "receiver");
    for (const Points<Dim>* points : {&shot.sources, &shot.receivers}) {
      for (const Point<Dim>& p : *points) {
        for (int d = 0; d < Dim; ++d) {
          if (std::fabs(p[d]) <= farthest) continue;
          throw InputError(concat("--origin: a position is ", p[d], " m along ", axis_name<Dim>(d),
                                  " (allowed: up to ", farthest,
                                  " m from zero, what SEG-Y can hold): move the origin"));
        }
      }
    }
    if (shot.number > std::numeric_limits<std::int32_t>::max()) {
      throw InputError(concat(job.sources_name, ": the number of shot ", shot.number,
                              " is too large (allowed: up to 2147483647, as SEG-Y counts shots)"));
    }
  }
}

// What a survey is, without its dimensions.
struct Survey {
  std::size_t shots = 0;
  std::size_t receivers = 0;        // of all shots
  std::size_t first_receivers = 0;  // of the first
  std::string first_source;         // its position
  std::string boundaries;
};

// What the run is going to do.
void print_plan(const Options& o, const ModelGrid& model, double slowest, double fastest,
                const Survey& survey, const Report& report, const Session& session) {
  constexpr const char* media[] = {"isotropic", "isotropic with variable density", "VTI", "TTI"};
  const wave::TimePlan& plan = report.time;
  session.print("model     ", model.name, ": ", describe_grid(model));
  session.print("          ", media[static_cast<int>(report.medium)], ", vp ",
                significant(slowest, 6), " to ", significant(fastest, 6), " m/s; boundaries ",
                survey.boundaries);
  for (const std::string& note : model.notes) session.print("          note: ", note);
  if (report.limits.lowered_deltas > 0 && o.equations == wave::Equations::self_adjoint) {
    session.print("          note: delta is larger than epsilon at ", report.limits.lowered_deltas,
                  " nodes and lowered to it there, which the self-adjoint equations need");
  }
  if (report.source_taper > 0.0) {
    session.print("          note: delta goes over into epsilon within ",
                  significant(report.source_taper, 3),
                  " m of the sources, which sends out no waves of shear (--source-taper 0: leave "
                  "it)");
  }
  const std::size_t traces = survey.first_receivers;
  const bool one = survey.shots == 1;
  session.print("shots     ", survey.shots, one ? " shot, " : " shots, ",
                one ? concat(traces) : concat(survey.receivers, " traces in all"),
                one ? (traces == 1 ? " receiver, " : " receivers, ") : ", ", o.wavelet, ", up to ",
                significant(report.frequency, 3), " Hz, peak at ", significant(report.peak_time, 4),
                " s");
  if (o.sources.empty() && o.shots_file.empty()) {
    session.print("          note: no --source was given: ", survey.first_source, " is taken");
  }
  if (o.receivers.empty() && o.shots_file.empty()) {
    session.print("          note: no --receivers were given: a line of ", traces,
                  " below the surface is taken");
  }
  session.print("scheme    order ", o.order, ", dt ", significant(plan.dt, 6), " s (stable up to ",
                significant(report.limits.largest_dt, 4), "), ", plan.steps, " steps, ",
                significant(report.nodes_per_wave, 3), " nodes per shortest wave (needed ",
                significant(report.nodes_per_wave_wanted, 3), ")");
  session.print("          samples every ", significant(plan.interval * 1e3, 6), " ms, ",
                plan.samples, " of them; takes ", format_bytes(static_cast<double>(report.bytes)),
                " on ", o.space);
  std::fflush(stdout);
}

Json model_json(const ModelGrid& model, const Survey& survey, const Report& report, Json ranges) {
  Json json;
  json["name"] = model.name;
  json["medium"] = wave::to_string(report.medium);
  add_grid(model, json);
  json["boundaries"] = survey.boundaries;
  json["shape_with_layers"] = report.extended;
  json["units"] =
      Json::object({{"length", "m"}, {"velocity", "m/s"}, {"time", "s"}, {"angle", "rad"}});
  json["ranges"] = std::move(ranges);
  return json;
}

Json snapshots_json(const std::vector<double>& times) {
  Json snapshots = Json::array();
  for (std::size_t k = 0; k < times.size(); ++k) {
    snapshots.push_back(Json::object(
        {{"file", numbered("snapshot", static_cast<std::int64_t>(k) + 1)}, {"time", times[k]}}));
  }
  return snapshots;
}

// What holds before the first step as after the last.
void describe_run(const Options& o, const Report& report, Session& session) {
  session.summary["scheme"] = scheme_json(o, report);
  session.summary["gather"] = Json::object({{"samples", report.time.samples},
                                            {"interval", report.time.interval},
                                            {"wavelet_peak", report.peak_time}});
}

// What a run takes of the host, from options and headers alone, but for its gathers.
template <class T, int Dim>
MemoryEstimate estimate_memory(const Options& o, const EarthModelNeed& need,
                               const MemoryLimit& limit) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] = need.shape[static_cast<std::size_t>(d)];
    grid.spacing[d] = 1.0;
  }
  const bool on_host = o.space != "cuda";
  const wave::Medium medium = medium_of(o.model);
  const bool anisotropic = medium == wave::Medium::vti || medium == wave::Medium::tti;
  const wave::Boundaries<Dim> boundaries = make_boundaries<Dim>(o, medium);
  const Grid<Dim> extended = wave::extended_grid(grid, boundaries);
  double whole = 1.0;
  for (int d = 0; d < Dim; ++d) whole *= static_cast<double>(extended.extents[d]);
  const auto padded = static_cast<double>(wave::make_layout<T>(extended, o.order / 2).size);
  // delta is changed around sources in a copy
  const bool tapered = anisotropic && o.equations == wave::Equations::self_adjoint;
  const double parameters = static_cast<double>(o.model.parameters.size()) + (tapered ? 1.0 : 0.0);
  // what a step reads of the medium, and slopes that TTI keeps
  double media = 1.0;
  if (medium == wave::Medium::variable_density) media += 1.0;
  if (medium == wave::Medium::vti) media += 3.0;
  if (medium == wave::Medium::tti) media += 3.0 + Dim + 2.0;
  const double fields = wave::fields_of(medium);
  // absorbing layers remember three numbers a node and field
  double layers = 0.0;
  for (int d = 0; d < Dim; ++d) {
    for (const wave::Face& face : {boundaries.lower[d], boundaries.upper[d]}) {
      if (face.kind != wave::FaceKind::cpml) continue;
      layers += 3.0 * fields * (face.width + 0.5 * o.order) * padded /
                static_cast<double>(extended.extents[d]);
    }
  }
  MemoryEstimate estimate;
  estimate.take(need.values);
  estimate.pass(need.passing);
  if (on_host) {
    estimate.pass(sizeof(T) *
                  ((tapered ? need.nodes() : 0.0) + parameters * whole + media * padded));
    estimate.take(sizeof(T) * ((media + 2.0 * fields) * padded + layers));
    // domains that expand by arrivals find them first, in an array with its copy for the solver
    const bool arrivals = o.expand == rtm::Expansion::eikonal;
    if (arrivals || o.expand == rtm::Expansion::layers) {
      estimate.take(sizeof(T) * parameters * whole);
    }
    if (arrivals) estimate.take(sizeof(T) * 2.5 * whole);
  }
  // two snapshots, one is written while the next one comes
  if (!o.snapshots || *o.snapshots > 0.0) estimate.take(2.0 * sizeof(T) * need.nodes());
  // layers, tables and lists
  estimate.take(0.05 * (estimate.now() - MemoryEstimate::process));
  if (o.plot) estimate.pass(plotting_bytes + 2.0 * sizeof(T) * need.nodes());
  const double each = (estimate.most() - MemoryEstimate::process) / need.nodes();
  check_memory(concat("a model of ", io::shape_string(need.shape), " nodes, ",
                      shape_string(extended), " with its layers,"),
               estimate, limit,
               fitting_shape(need.shape, each, limit.bytes - MemoryEstimate::process) +
                   ", or thinner layers" + (o.double_precision ? ", or --precision float" : ""));
  return estimate;
}

void finish(const Options& o, const Report& report, const std::vector<double>& snapshot_times,
            Session& session) {
  const double rate = report.seconds > 0.0 ? report.points / report.seconds : 0.0;
  Json& summary = session.summary;
  describe_run(o, report, session);
  summary["snapshots"] = snapshots_json(snapshot_times);
  summary["run"] = run_json(o, report);
  summary["rates"] = Json::object({{"points_per_second", rate}});

  Ending ending;
  ending.script = "plot_waves.py";
  ending.pictures = {"gather.png"};
  if (!snapshot_times.empty()) ending.pictures.emplace_back("snapshots.png");
  ending.picture_name = "drawn";
  ending.word = "pictures";
  ending.lines = {concat("modelled  ", format_count(report.points), "points on ", o.space, ": ",
                         report.device)};
  if (o.expand != rtm::Expansion::none) {
    ending.lines.push_back(concat("          --expand ", rtm::to_string(o.expand), ": ",
                                  fixed(100.0 * report.points / report.whole_points, 1),
                                  " % of the nodes were stepped; finding them took ",
                                  fixed(report.domain_seconds, 3), " s"));
  }
  ending.rate = concat("rate      ", format_count(rate), "points/s");
  ending.most_files = 12;
  session.finish(ending);
}

template <class T, int Dim>
class Program {
 public:
  Program(const Options& o, EarthModel<T>&& model, const MemoryEstimate& memory,
          const MemoryLimit& limit, Session& session)
      : m_o(o), m_model(std::move(model)), m_session(session), m_memory(memory), m_limit(limit) {}

  void run() {
    {
      const HostPhase phase(m_session.phases, "check");
      prepare();
    }
    m_job.progress = m_session.progress();
    m_job.begins = [&](const Report& report) { begin(report); };
    m_job.gather = [&](std::size_t shot, const Gather<T>& traces) { keep(shot, traces); };
    m_job.is_there = [&](std::size_t shot) { return m_there[shot] || m_left_out[shot]; };
    m_job.snapshot = [&](std::int64_t step, const T* values) {
      const std::string name = numbered("snapshot", static_cast<std::int64_t>(m_times.size()) + 1);
      io::write_npy(m_session.folder() / name, values, m_model.shape);
      m_times.push_back(static_cast<double>(step) * m_report.time.dt);
      m_session.summary["snapshots"] = snapshots_json(m_times);
      m_session.wrote(name);
      m_snapshots.push_back(name);
    };
    with_space(m_o.space, [&](const auto& exec) { m_report = compute_on<T, Dim>(exec, m_job); });
    m_session.computed(m_report.phases);
    write();
  }

 private:
  void prepare() {
    m_job.grid = grid_of<Dim>(m_model);
    m_job.values = &m_model.values;
    for (const auto& [option, text] : m_o.model.parameters) {
      m_job.names[option] = concat("--", option, " ", text);
    }
    m_job.boundaries = make_boundaries<Dim>(m_o, medium_of(m_o.model));
    m_job.modelling.order = m_o.order;
    m_job.modelling.equations = m_o.equations;
    m_job.modelling.sigma = m_o.sigma;
    m_job.modelling.source_taper = m_o.source_taper;
    m_job.modelling.seed = m_o.seed;
    m_job.modelling.time = {m_o.time, m_o.dt, m_o.interval, m_o.snapshots};
    // these look at the model while the wavefield steps
    m_job.modelling.keep_model =
        m_o.expand == rtm::Expansion::layers || m_o.expand == rtm::Expansion::eikonal;
    m_job.expand = m_o.expand;
    if (m_o.space == "cuda") m_job.modelling.memory = m_o.memory;
    m_job.sources_name = m_o.shots_file.empty() ? "--source" : "--shots " + m_o.shots_file;
    m_job.receivers_name = m_o.shots_file.empty() ? "--receivers" : m_job.sources_name;
    m_job.wavelet_name = "--wavelet " + m_o.wavelet;
    const wave::WaveletText wavelet = wave::parse_wavelet(m_o.wavelet);
    m_job.wavelet = [wavelet](double dt) { return read_wavelet(wavelet, dt); };
    m_job.shots = make_shots<Dim>(m_o, m_job.grid);
    check_survey(m_job);
    m_survey.shots = m_job.shots.size();
    for (const auto& shot : m_job.shots) m_survey.receivers += shot.receivers.size();
    m_survey.first_receivers = m_job.shots.front().receivers.size();
    m_survey.first_source = format_point(m_job.shots.front().sources.front());
    m_survey.boundaries = boundaries_string<Dim>(m_job.boundaries);
    std::vector<std::string> names;
    for (std::size_t k = 0; k < m_job.shots.size(); ++k) names.push_back(gather_name(k));
    m_session.will_write(names);
    m_gathers.resize(m_job.shots.size());
    take_over();
  }

  std::string gather_name(std::size_t k) const {
    return m_job.shots.size() == 1 ? std::string("gather.npy")
                                   : numbered("gather", m_job.shots[k].number);
  }

  // A shot that another run has computed.
  void take(std::size_t k, const Json& more) {
    if (const Json* const times = more.find("snapshot_times")) {
      for (std::size_t i = 0; i < times->size(); ++i) m_times.push_back(times->at(i).number(0.0));
    }
    m_there[k] = true;
  }

  // With --resume, shots of an earlier run, and with --sites, of other places.
  void take_over() {
    m_session.resumable(asked_json(m_o));
    m_there.assign(m_job.shots.size(), false);
    std::size_t count = 0;
    for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
      Json more;
      if (!m_session.take_over(m_job.shots[k].number, more)) continue;
      take(k, more);
      ++count;
    }
    if (m_o.resume) {
      m_session.print("resumed   ", count, " of ", m_job.shots.size(), " shots are there");
    }
    m_left_out.assign(m_job.shots.size(), false);
    if (m_o.only_shot) {
      bool known = false;
      for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
        m_left_out[k] = m_job.shots[k].number != *m_o.only_shot;
        known = known || !m_left_out[k];
      }
      if (!known) {
        throw InputError(concat("--only-shot is ", *m_o.only_shot, ", and there are the shots ",
                                m_job.shots.front().number, " to ", m_job.shots.back().number,
                                ": give one of their numbers"));
      }
      if (m_left_out.front()) m_job.modelling.time.snapshot_every = 0.0;  // they are of the first
    }
    if (!m_o.distribute.sites.empty()) {
      std::vector<std::int64_t> left;
      std::map<std::int64_t, std::size_t> places;
      for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
        places[m_job.shots[k].number] = k;
        if (!m_there[k]) left.push_back(m_job.shots[k].number);
      }
      compute_at_sites(m_o.distribute, m_o, "model_waves", left, m_session,
                       [&](std::int64_t shot, const Json& more) { take(places.at(shot), more); });
    }
  }

  // All is checked.
  void begin(const Report& report) {
    m_report.time = report.time;
    // of all shots for the SEG-Y file, of one twice more while it is recorded and written
    const double samples = sizeof(T) * static_cast<double>(report.time.samples);
    double longest = 0.0;
    for (const auto& shot : m_job.shots) {
      longest = std::max(longest, static_cast<double>(shot.receivers.size()));
    }
    m_memory.take(samples * static_cast<double>(m_survey.receivers));
    m_memory.pass(2.0 * samples * longest);
    check_memory(
        concat(m_survey.receivers, " traces of ", report.time.samples, " samples beside the model"),
        m_memory, m_limit, "take fewer shots or a longer --interval");
    std::vector<std::string> snapshots;
    if (report.time.snapshot_every > 0 && !m_there.front()) {
      for (std::int64_t k = 1; k <= report.time.steps / report.time.snapshot_every; ++k) {
        snapshots.push_back(numbered("snapshot", k));
      }
    }
    if (m_o.plot && (!snapshots.empty() || !m_times.empty())) {
      snapshots.emplace_back("snapshots.png");
    }
    m_session.will_write(snapshots);
    Json& summary = m_session.summary;
    summary["asked"] = asked_json(m_o);
    summary["model"] = model_json(m_model, m_survey, report, ranges_json());
    summary["memory"] = memory_json(m_memory, m_limit);
    describe_run(m_o, report, m_session);
    summary["snapshots"] = snapshots_json(m_times);
    summary["shots"] = shots_json();
    m_session.begin_output();
    io::write_npy(m_session.folder() / "vp.npy", m_model.values["vp"].data(), m_model.shape);
    m_session.wrote("vp.npy");
    const auto [low, high] = range_of(m_model.values["vp"]);
    print_plan(m_o, m_model, static_cast<double>(low), static_cast<double>(high), m_survey, report,
               m_session);
  }

  // Keeps a gather for the SEG-Y file, and writes the NumPy file.
  void keep(std::size_t k, const Gather<T>& traces) {
    const HostPhase phase(m_session.phases, "write");
    const wave::Shot<Dim>& shot = m_job.shots[k];
    const std::string name = gather_name(k);
    io::write_npy(m_session.folder() / name, traces.samples, {traces.receivers, traces.count});
    m_gathers[k] = segy_gather<T, Dim>(shot, m_report.time.interval, traces.samples, traces.count);
    m_there[k] = true;
    m_session.summary["shots"] = shots_json();
    m_session.wrote(name);
    std::vector<std::string> names{name};
    Json more;
    if (k == 0) {
      names.insert(names.end(), m_snapshots.begin(), m_snapshots.end());
      more = Json::object({{"snapshot_times", m_times}});
    }
    m_session.part_is_whole(shot.number, names, more);
  }

  Json ranges_json() const {
    Json ranges;
    for (const auto& [option, values] : m_model.values) {
      const auto [low, high] = range_of(values);
      ranges[option] = Json::array({low, high});
    }
    return ranges;
  }

  // Those that are there.
  Json shots_json() const {
    Json list = Json::array();
    for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
      if (!m_there[k]) continue;
      const wave::Shot<Dim>& shot = m_job.shots[k];
      // receivers once where all shots share them
      const bool told = k == 0 || shot.receivers.size() != m_survey.first_receivers || m_o.moving ||
                        !m_o.shots_file.empty();
      Json entry = Json::object();
      entry["number"] = shot.number;
      entry["gather"] = gather_name(k);
      entry["sources"] = points_json(shot.sources);
      entry["receivers"] =
          told && !shot.receivers.empty() ? points_json(shot.receivers) : Json("as the first shot");
      list.push_back(entry);
    }
    return list;
  }

  void write() {
    if (!m_o.only_shot) {
      const HostPhase phase(m_session.phases, "write");
      const fs::path& folder = m_session.folder();
      for (std::size_t k = 0; k < m_gathers.size(); ++k) {
        if (!m_gathers[k].samples.data.empty()) continue;
        // of an earlier run
        const io::Array<T> traces = io::read_npy<T>(folder / gather_name(k));
        m_gathers[k] = segy_gather<T, Dim>(m_job.shots[k], m_report.time.interval,
                                           traces.data.data(), traces.shape.back());
      }
      io::write_gathers<T>(folder / "gather.sgy", m_gathers);
      m_gathers.clear();
      m_session.wrote("gather.sgy");
    }
    finish(m_o, m_report, m_times, m_session);
  }

  const Options& m_o;
  EarthModel<T> m_model;
  Session& m_session;
  Survey m_survey;
  Job<T, Dim> m_job;
  Report m_report;
  std::vector<io::Gather<T>> m_gathers;
  std::vector<bool> m_there;             // shots
  std::vector<bool> m_left_out;          // with --only-shot
  std::vector<std::string> m_snapshots;  // written by this run
  std::vector<double> m_times;           // of snapshots
  MemoryEstimate m_memory;
  MemoryLimit m_limit;
};

template <class T>
void run_with(const Options& o, Session& session) {
  std::vector<std::string> names{"vp.npy", "gather.sgy"};
  if (o.plot) names.emplace_back("gather.png");
  session.will_write(names);
  const MemoryLimit limit = memory_limit(o, o.space != "cuda");
  const EarthModelNeed need = need_of_earth_model<T>(o.model);
  MemoryEstimate memory;
  if (need.shape.size() == 2) memory = estimate_memory<T, 2>(o, need, limit);
  if (need.shape.size() == 3) memory = estimate_memory<T, 3>(o, need, limit);
  EarthModel<T> model;
  {
    const HostPhase phase(session.phases, "read");
    model = load_earth_model<T>(o.model);
  }
  if (model.shape.size() == 2) {
    Program<T, 2>(o, std::move(model), memory, limit, session).run();
  } else {
    Program<T, 3>(o, std::move(model), memory, limit, session).run();
  }
}

void run(const Options& options, Session& session) {
  if (options.double_precision) {
    run_with<double>(options, session);
  } else {
    run_with<float>(options, session);
  }
}

}  // namespace

}  // namespace moho::examples::model_waves

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<model_waves::Options>(argc, argv, model_waves::describe(),
                                           model_waves::read_options, model_waves::run);
}
