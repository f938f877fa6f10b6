// SPDX-License-Identifier: BSD-3-Clause
#include "model_waves/run.hpp"

#include "common/format.hpp"
#include "common/stopwatch.hpp"
#include "common/summary.hpp"
#include "model_waves/compute_on.hpp"
#include "model_waves/survey.hpp"

#include <moho/core/space.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <utility>

namespace moho::examples::model_waves {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

template <int Dim>
Json to_json(const Point<Dim>& p) {
  Json one = Json::array();
  for (int d = 0; d < Dim; ++d) one.push_back(p[d]);
  return one;
}

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
  json["out"] = o.out;
  json["plot"] = o.plot;
  return json;
}

template <class T>
std::pair<double, double> range_of(const std::vector<T>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {static_cast<double>(*low), static_cast<double>(*high)};
}

template <class T, int Dim>
Json model_json(const EarthModel<T>& model, const Grid<Dim>& grid,
                const wave::Boundaries<Dim>& boundaries, const Report<Dim>& report) {
  Json json;
  json["name"] = model.name;
  json["medium"] = wave::to_string(report.medium);
  Json axes = Json::array(), shape = Json::array(), spacing = Json::array(),
       extended = Json::array();
  for (int d = 0; d < Dim; ++d) {
    axes.push_back(axis_name<Dim>(d));
    shape.push_back(grid.extents[d]);
    spacing.push_back(grid.spacing[d]);
    extended.push_back(report.extended.extents[d]);
  }
  json["axes"] = axes;
  json["shape"] = shape;
  json["spacing"] = spacing;
  json["origin"] = to_json<Dim>(grid.origin);
  json["boundaries"] = boundaries_string<Dim>(boundaries);
  json["shape_with_layers"] = extended;
  json["units"] = {{"length", "m"}, {"velocity", "m/s"}, {"time", "s"}, {"angle", "rad"}};
  Json ranges;
  for (const auto& [option, values] : model.values) {
    const auto [low, high] = range_of(values);
    ranges[option] = {low, high};
  }
  json["ranges"] = ranges;
  return json;
}

template <int Dim>
Json scheme_json(const Options& o, const Report<Dim>& report) {
  Json json;
  json["dt"] = report.plan.dt;
  json["largest_dt"] = report.limits.largest_dt;
  json["steps"] = report.plan.steps;
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

template <int Dim>
Json run_json(const Options& o, const Report<Dim>& report) {
  Json json;
  json["device"] = report.device;
  json["threads"] = report.threads;
  json["bytes_estimated"] = report.bytes;
  json["expand"] = {{"method", rtm::to_string(o.expand)},
                    {"points", report.points},
                    {"points_of_whole_grid", report.whole_points},
                    {"part_stepped", report.points / report.whole_points},
                    {"seconds", report.domain_seconds}};
  return json;
}

template <int Dim>
std::string describe_grid(const Grid<Dim>& grid) {
  bool same = true;
  for (int d = 1; d < Dim; ++d) same = same && grid.spacing[d] == grid.spacing[0];
  std::string spacing;
  for (int d = 0; d < (same ? 1 : Dim); ++d) spacing += concat(d ? " x " : "", grid.spacing[d]);
  std::string extent;
  for (int d = 0; d < Dim; ++d) {
    extent += concat(d ? ", " : "", axis_name<Dim>(d), " ", grid.origin[d], " to ", grid.upper(d));
  }
  return concat(shape_string(grid), " nodes, ", spacing, " m apart (", extent, " m)");
}

std::string numbered(const char* stem, std::int64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return concat(stem, "_", digits, ".npy");
}

// What an earlier run left would not belong to these results.
void remove_results(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name :
       {"summary.json", "gather.npy", "gather.sgy", "vp.npy", "gather.png", "snapshots.png"}) {
    fs::remove(folder / name, ignored);
  }
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    for (const std::string stem : {"gather_", "snapshot_"}) {
      if (name.rfind(stem, 0) != 0 || entry.path().extension() != ".npy") continue;
      const std::string number = entry.path().stem().string().substr(stem.size());
      if (number.find_first_not_of("0123456789") == std::string::npos) old.push_back(entry.path());
    }
  }
  for (const fs::path& path : old) fs::remove(path, ignored);
}

// The medium that the options make, before any file is read.
wave::Medium medium_of(const Options& o) {
  const auto given = [&](const char* name) { return o.model.parameters.count(name) > 0; };
  if (given("theta") || given("phi")) return wave::Medium::tti;
  if (given("epsilon") || given("delta")) return wave::Medium::vti;
  return given("rho") ? wave::Medium::variable_density : wave::Medium::isotropic;
}

// Throws for shots that cannot be, before the space is used.
template <class T, int Dim>
void check_survey(const Job<T, Dim>& job) {
  constexpr double farthest = 2e9;
  const auto check = [&](const std::string& option, const Points<Dim>& points,
                         const std::string& what) {
    try {
      wave::check_positions<Dim>(job.grid, points, {}, what);
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

template <class T, int Dim>
class Program {
 public:
  Program(const Options& o, EarthModel<T>&& model, PhaseTimes& phases, Stage& stage)
      : m_o(o), m_model(std::move(model)), m_phases(phases), m_stage(stage), m_folder(o.out) {}

  void run() {
    check();
    TerminalProgress bar;
    if (!m_o.quiet && ::isatty(STDERR_FILENO) == 1) m_job.progress = bar.callback();
    m_job.begins = [&](const Report<Dim>& report) { begin(report); };
    m_job.gather = [&](std::size_t shot, const wave::Traces<T>& traces) { keep(shot, traces); };
    m_job.snapshot = [&](std::int64_t step, const std::vector<T>& values) {
      const std::string name = numbered("snapshot", static_cast<std::int64_t>(m_times.size()) + 1);
      io::write_npy(m_folder / name, values.data(), m_model.shape);
      m_files.push_back(name);
      m_times.push_back(static_cast<double>(step) * m_report.plan.dt);
    };
    with_space(m_o.space, [&](const auto& exec) { m_report = compute_on<T, Dim>(exec, m_job); });
    bar.clear();
    for (const auto& [phase, seconds] : m_report.phases.phases()) {
      // files of shots were written in between
      m_phases.add(phase, seconds);
    }
    write();
  }

 private:
  void check() {
    const Stopwatch watch(m_phases, "check");
    for (int d = 0; d < Dim; ++d) {
      const auto k = static_cast<std::size_t>(d);
      m_job.grid.extents[d] = m_model.shape[k];
      m_job.grid.spacing[d] = m_model.spacing[k];
      m_job.grid.origin[d] = m_model.origin[k];
    }
    m_job.grid.check();
    m_job.values = &m_model.values;
    for (const auto& [option, text] : m_o.model.parameters) {
      m_job.names[option] = concat("--", option, " ", text);
    }
    m_job.boundaries = make_boundaries<Dim>(m_o, medium_of(m_o));
    m_job.order = m_o.order;
    m_job.equations = m_o.equations;
    m_job.sigma = m_o.sigma;
    m_job.source_taper = m_o.source_taper;
    m_job.seed = m_o.seed;
    m_job.expand = m_o.expand;
    m_job.time = {m_o.time, m_o.dt, m_o.interval, m_o.snapshots};
    m_job.sources_name = m_o.shots_file.empty() ? "--source" : "--shots " + m_o.shots_file;
    m_job.receivers_name = m_o.shots_file.empty() ? "--receivers" : m_job.sources_name;
    m_job.wavelet_name = "--wavelet " + m_o.wavelet;
    const wave::WaveletText wavelet = wave::parse_wavelet(m_o.wavelet);
    m_job.wavelet = [wavelet](double dt) { return read_wavelet(wavelet, dt); };
    m_job.shots = make_shots<Dim>(m_o, m_job.grid);
    check_survey(m_job);
  }

  // All is checked.
  void begin(const Report<Dim>& report) {
    m_report.plan = report.plan;
    m_stage = Stage::output;
    remove_results(m_folder);
    std::size_t receivers = 0;
    for (const auto& shot : m_job.shots) receivers += shot.receivers.size();
    const double bytes =
        2.0 * sizeof(T) * static_cast<double>(receivers) * static_cast<double>(report.plan.samples);
    const auto there = static_cast<double>(available_memory(Kokkos::DefaultHostExecutionSpace()));
    if (bytes > there) {
      throw MemoryError(concat("memory: the gathers of ", m_job.shots.size(), " shots take ",
                               format_bytes(bytes),
                               " of the host's memory (allowed: ", format_bytes(there),
                               ", what is free): take fewer shots or a longer --interval"));
    }
    if (m_o.quiet) return;
    const Plan& plan = report.plan;
    const auto [low, high] = range_of(m_model.values["vp"]);
    say("model     ", m_model.name, ": ", describe_grid(m_job.grid));
    say("          ", medium_name(report.medium), ", vp ", significant(low, 6), " to ",
        significant(high, 6), " m/s; boundaries ", boundaries_string<Dim>(m_job.boundaries));
    for (const std::string& note : m_model.notes) say("          note: ", note);
    if (report.limits.lowered_deltas > 0 && m_o.equations == wave::Equations::self_adjoint) {
      say("          note: delta is larger than epsilon at ", report.limits.lowered_deltas,
          " nodes and lowered to it there, which the self-adjoint equations need");
    }
    if (report.source_taper > 0.0) {
      say("          note: delta goes over into epsilon within ",
          significant(report.source_taper, 3),
          " m of the sources, which sends out no waves of shear (--source-taper 0: leave it)");
    }
    const std::size_t traces = m_job.shots.front().receivers.size();
    say("shots     ", m_job.shots.size(), m_job.shots.size() == 1 ? " shot, " : " shots, ",
        m_job.shots.size() == 1 ? concat(traces) : concat(receivers, " traces in all"),
        m_job.shots.size() == 1 ? (traces == 1 ? " receiver, " : " receivers, ") : ", ",
        m_o.wavelet, ", up to ", significant(report.frequency, 3), " Hz, peak at ",
        significant(report.peak_time, 4), " s");
    if (m_o.sources.empty() && m_o.shots_file.empty()) {
      say("          note: no --source was given: ",
          format_point(m_job.shots.front().sources.front()), " is taken");
    }
    if (m_o.receivers.empty() && m_o.shots_file.empty()) {
      say("          note: no --receivers were given: a line of ", traces,
          " below the surface is taken");
    }
    say("scheme    order ", m_o.order, ", dt ", significant(plan.dt, 6), " s (stable up to ",
        significant(report.limits.largest_dt, 4), "), ", plan.steps, " steps, ",
        significant(report.nodes_per_wave, 3), " nodes per shortest wave (needed ",
        significant(report.nodes_per_wave_wanted, 3), ")");
    say("          samples every ", significant(plan.interval * 1e3, 6), " ms, ", plan.samples,
        " of them; takes ", format_bytes(static_cast<double>(report.bytes)), " on ", m_o.space);
    std::fflush(stdout);
  }

  static const char* medium_name(wave::Medium medium) {
    constexpr const char* names[] = {"isotropic", "isotropic with variable density", "VTI", "TTI"};
    return names[static_cast<int>(medium)];
  }

  // Keeps a gather for the SEG-Y file, and writes the NumPy file.
  void keep(std::size_t k, const wave::Traces<T>& traces) {
    const Stopwatch watch(m_phases, "write");
    const wave::Shot<Dim>& shot = m_job.shots[k];
    const auto samples = static_cast<std::int64_t>(traces.extent(1));
    const std::string name =
        m_job.shots.size() == 1 ? std::string("gather.npy") : numbered("gather", shot.number);
    io::write_npy(m_folder / name, traces.data(),
                  {static_cast<std::int64_t>(traces.extent(0)), samples});
    m_files.push_back(name);
    m_names.push_back(name);
    m_gathers.push_back(segy_gather<T, Dim>(shot, m_report.plan.interval, traces.data(), samples));
  }

  Json shots_json() const {
    Json list = Json::array();
    for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
      const wave::Shot<Dim>& shot = m_job.shots[k];
      Json sources = Json::array(), receivers = Json::array();
      for (const auto& p : shot.sources) sources.push_back(to_json<Dim>(p));
      // once where all shots share them
      if (k == 0 || shot.receivers.size() != m_job.shots.front().receivers.size() || m_o.moving ||
          !m_o.shots_file.empty()) {
        for (const auto& p : shot.receivers) receivers.push_back(to_json<Dim>(p));
      }
      list.push_back({{"number", shot.number},
                      {"gather", m_names[k]},
                      {"sources", sources},
                      {"receivers", receivers.empty() ? Json("as the first shot") : receivers}});
    }
    return list;
  }

  void write() {
    {
      const Stopwatch watch(m_phases, "write");
      io::write_gathers<T>(m_folder / "gather.sgy", m_gathers);
      m_gathers.clear();
      io::write_npy(m_folder / "vp.npy", m_model.values["vp"].data(), m_model.shape);
      m_files.insert(m_files.end(), {"gather.sgy", "vp.npy", "summary.json"});
    }
    const double rate = m_report.seconds > 0.0 ? m_report.points / m_report.seconds : 0.0;
    Json summary;
    summary["program"] = "model_waves";
    summary["asked"] = asked_json(m_o);
    summary["model"] = model_json(m_model, m_job.grid, m_job.boundaries, m_report);
    summary["scheme"] = scheme_json(m_o, m_report);
    summary["gather"] = {{"samples", m_report.plan.samples},
                         {"interval", m_report.plan.interval},
                         {"wavelet_peak", m_report.peak_time}};
    summary["shots"] = shots_json();
    Json snapshots = Json::array();
    for (std::size_t k = 0; k < m_times.size(); ++k) {
      snapshots.push_back(
          {{"file", numbered("snapshot", static_cast<std::int64_t>(k) + 1)}, {"time", m_times[k]}});
    }
    summary["snapshots"] = snapshots;
    summary["run"] = run_json(m_o, m_report);
    summary["versions"] = versions();
    summary["machine"] = machine();
    summary["rates"] = {{"points_per_second", rate}};
    summary["files"] = m_files;
    summary["seconds"] = seconds(m_phases);
    const auto write_summary = [&] {
      io::write_text(m_folder / "summary.json", summary.dump(2) + "\n");
    };
    write_summary();

    Picture picture{false, "--no-plot was given"};
    if (m_o.plot) {
      {
        const Stopwatch watch(m_phases, "picture");
        picture = draw_picture("plot_waves.py", {m_folder.string()});
      }
      if (picture.drawn) {
        m_files.push_back("gather.png");
        if (!m_times.empty()) m_files.push_back("snapshots.png");
      }
    }
    summary["picture"] = picture.drawn ? "drawn" : "not drawn: " + picture.why;
    summary["files"] = m_files;
    summary["seconds"] = seconds(m_phases);
    write_summary();

    if (m_o.quiet) return;
    say("modelled  ", format_count(m_report.points), "points on ", m_o.space, ": ",
        m_report.device);
    if (m_o.expand != rtm::Expansion::none) {
      say("          --expand ", rtm::to_string(m_o.expand), ": ",
          fixed(100.0 * m_report.points / m_report.whole_points, 1),
          " % of the nodes were stepped; finding them took ", fixed(m_report.domain_seconds, 3),
          " s");
    }
    std::string list;
    for (const auto& [phase, value] : m_phases.phases()) {
      list += concat(" ", phase, " ", fixed(value, 3), ",");
    }
    say("seconds  ", list, " total ", fixed(m_phases.total(), 3));
    say("rate      ", format_count(rate), "points/s");
    list.clear();
    constexpr std::size_t most = 12;
    for (std::size_t k = 0; k < m_files.size(); ++k) {
      if (m_files.size() <= most || k < 3 || k + 6 >= m_files.size()) list += " " + m_files[k];
      if (m_files.size() > most && k == 3) list += " ...";
    }
    say("written   ", m_folder.string(), ":", list);
    if (m_o.plot && !picture.drawn) say("pictures not drawn: ", picture.why);
  }

  const Options& m_o;
  EarthModel<T> m_model;
  PhaseTimes& m_phases;
  Stage& m_stage;
  fs::path m_folder;
  Job<T, Dim> m_job;
  Report<Dim> m_report;
  std::vector<io::Gather<T>> m_gathers;
  std::vector<std::string> m_names, m_files;
  std::vector<double> m_times;  // of snapshots
};

template <class T>
void run_with(const Options& o, Stage& stage) {
  PhaseTimes phases;
  EarthModel<T> model;
  {
    const Stopwatch watch(phases, "read");
    model = load_earth_model<T>(o.model);
  }
  if (model.shape.size() == 2) {
    Program<T, 2>(o, std::move(model), phases, stage).run();
  } else {
    Program<T, 3>(o, std::move(model), phases, stage).run();
  }
}

}  // namespace

void run(const Options& options, Stage& stage) {
  if (options.double_precision) {
    run_with<double>(options, stage);
  } else {
    run_with<float>(options, stage);
  }
}

}  // namespace moho::examples::model_waves
