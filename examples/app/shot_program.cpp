// SPDX-License-Identifier: BSD-3-Clause
#include "app/shot_program.hpp"

#include "app/distribute.hpp"
#include "app/format.hpp"
#include "app/plan_text.hpp"
#include "app/summary.hpp"
#include "app/wave_fields.hpp"

#include <moho/core/positions.hpp>
#include <moho/io/array.hpp>
#include <moho/io/npy.hpp>
#include <moho/survey/left_out.hpp>
#include <moho/survey/segy_gather.hpp>
#include <moho/survey/trace_memory.hpp>
#include <moho/wave/boundary_text.hpp>
#include <moho/wave/delta_note.hpp>
#include <moho/wave/layout.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

namespace moho::examples {

namespace {

namespace fs = std::filesystem;

Json scheme_json(const WaveOptions& o, const WaveReport& report) {
  Json json;
  json["dt"] = report.time.dt;
  json["largest_dt"] = report.limits.largest_dt;
  json["steps"] = report.time.steps;
  json["order"] = o.order;
  json["slowest_wave"] = report.limits.min_velocity;
  json["fastest_wave"] = report.limits.max_velocity;
  json["highest_frequency"] = report.frequency;
  json["nodes_per_shortest_wave"] = report.nodes_per_wave;
  json["nodes_per_shortest_wave_wanted"] = report.nodes_per_wave_wanted;
  json["lowered_deltas"] = report.limits.clamped_delta_nodes;
  json["source_taper"] = report.source_taper;
  json["parameter_bits"] = report.parameter_bits;
  return json;
}

Json run_json(const WaveOptions& o, const WaveReport& report) {
  Json json;
  json["device"] = report.device;
  json["threads"] = report.threads;
  json["at_once"] = report.at_once;
  json["bytes_estimated"] = report.bytes;
  json["expand"] = Json::object({{"method", domain::to_string(o.expand)},
                                 {"points", report.work.points},
                                 {"points_of_whole_grid", report.work.whole_points},
                                 {"part_stepped", report.work.points / report.work.whole_points},
                                 {"seconds", report.work.domain_seconds}});
  return json;
}

// Description of the run for the textual header of SEG-Y. \param gather names the wavelet
template <int Dim>
std::vector<std::string> segy_lines(const std::string& program, const std::string& model,
                                    const wave::Boundaries<Dim>& boundaries, const WaveOptions& o,
                                    const WaveReport& report, const Json& gather) {
  std::vector<std::string> lines{
      "",
      concat("PROGRAM: ", program),
      concat("MODEL: ", model),
      concat("MEDIUM: ", wave::to_string(report.medium),
             "  BOUNDARIES: ", wave::boundaries_string(boundaries)),
  };
  for (const std::string& line : wavelet_lines(gather)) lines.push_back(line);
  lines.insert(lines.end(),
               {concat("ORDER ", o.order, ", STEPS OF ", significant(report.time.dt, 6), " S"),
                "DELAY 0: THE FIRST SAMPLE IS AT THE BEGINNING OF THE WAVELET,",
                concat("WHOSE LARGEST SAMPLE IS AT ", significant(report.peak_time, 6), " S"),
                "METRES, X RIGHT, Y INTO THE PAGE, Z DOWN; ELEVATION OF A GROUP IS -Z",
                "OFFSET (37-40) IS NEGATIVE WHERE THE GROUP HAS THE SMALLER X (OR Y)"});
  return lines;
}

template <class T, int Dim>
WaveArrays arrays_of(const WaveOptions& o, const EarthModelNeed& need) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] = need.shape[static_cast<std::size_t>(d)];
    grid.spacing[d] = 1.0;
  }
  const wave::Medium medium = medium_of(o.model);
  const wave::Boundaries<Dim> boundaries =
      make_boundaries<Dim>(o, medium, std::max(need.sponge, wave::min_sponge_width));
  const Grid<Dim> extended = wave::extended_grid(grid, boundaries);
  WaveArrays arrays;
  arrays.shape_with_layers = shape_string(extended);
  arrays.whole = 1.0;
  for (int d = 0; d < Dim; ++d) arrays.whole *= static_cast<double>(extended.extents[d]);
  arrays.padded = static_cast<double>(wave::make_layout<T>(extended, o.order / 2).size);
  arrays.tapered = wave::info(medium).allowed.has(wave::Parameter::delta) &&
                   o.equations == wave::Equations::self_adjoint;
  arrays.parameters = static_cast<double>(o.model.parameters.size()) + (arrays.tapered ? 1.0 : 0.0);
  const wave::StencilInfo& stencil = wave::info(wave::info(medium).self_adjoint);
  arrays.slopes = static_cast<double>(stencil.work_fields);
  arrays.media =
      static_cast<double>(wave::coefficients_of(stencil.stencil, Dim).size()) + arrays.slopes;
  arrays.fields = wave::fields_of(medium);
  // absorbing layers store three numbers a node and field
  for (int d = 0; d < Dim; ++d) {
    for (const wave::Face& face : {boundaries.lower[d], boundaries.upper[d]}) {
      if (face.kind != wave::FaceKind::cpml) continue;
      arrays.layers += 3.0 * arrays.fields * (face.width + 0.5 * o.order) * arrays.padded /
                       static_cast<double>(extended.extents[d]);
    }
  }
  return arrays;
}

}  // namespace

template <class T>
WaveArrays wave_arrays(const WaveOptions& options, const EarthModelNeed& need) {
  return need.shape.size() == 2 ? arrays_of<T, 2>(options, need) : arrays_of<T, 3>(options, need);
}

void check_wave_memory(const WaveOptions& o, const EarthModelNeed& need, const WaveArrays& arrays,
                       const MemoryEstimate& estimate, const MemoryLimit& limit,
                       const std::string& more) {
  const double each = (estimate.max() - MemoryEstimate::process) / need.nodes();
  check_memory(concat("a model of ", io::shape_string(need.shape), " nodes, ",
                      arrays.shape_with_layers, " with its layers,"),
               estimate, limit,
               fitting_shape(need.shape, each, limit.bytes - MemoryEstimate::process) +
                   ", or thinner layers" + (o.double_precision ? ", or --precision float" : "") +
                   (o.at_once > 1 ? ", or fewer shots --at-once" : "") + more,
               false);
}

template <class T, int Dim>
std::string WaveJob<T, Dim>::in_options(const std::string& text,
                                        const std::map<std::string, std::string>& more) const {
  std::map<std::string, std::string> others{
      {"sources", sources_name}, {"receivers", receivers_name}, {"wavelet", wavelet_name}};
  others.insert(more.begin(), more.end());
  return examples::in_options(text, names, others);
}

template <class T, int Dim>
wave::ModellingOptions<Dim> WaveJob<T, Dim>::modelling_of_shots() const {
  wave::ModellingOptions<Dim> options = modelling;
  for (const wave::Shot<Dim>& shot : shots) {
    options.sources.insert(options.sources.end(), shot.sources.begin(), shot.sources.end());
    options.receivers =
        std::max(options.receivers, static_cast<std::int64_t>(shot.receivers.size()));
  }
  // domains of shots differ: each shot is stepped separately
  if (expand != domain::ExpansionMethod::none) options.batch_size = 1;
  return options;
}

template <class T, int Dim>
void WaveJob<T, Dim>::tell(std::size_t shot, double part, double seconds, double seconds_left,
                           double points_per_second) const {
  const auto count = static_cast<double>(shots.size());
  const double left =
      seconds_left + (seconds + seconds_left) * static_cast<double>(shots.size() - 1 - shot);
  progress((static_cast<double>(shot) + part) / count,
           concat(shots.size() > 1 ? concat("shot ", shot + 1, " of ", shots.size(), ", ")
                                   : std::string(),
                  format_count(points_per_second), "points/s, ", std::llround(left), " s left"));
}

template <class T, int Dim>
void WaveJob<T, Dim>::tell_all(int at_once, double done, double points_per_second,
                               double seconds) const {
  const auto count = static_cast<double>(shots.size());
  const double left = done > 0.0 ? seconds * (count - done) / done : 0.0;
  progress(done / count, concat(at_once, " shots at once, ", static_cast<std::int64_t>(done),
                                " of ", shots.size(), ", ", format_count(points_per_second),
                                "points/s, ", std::llround(left), " s left"));
}

template <class T, int Dim>
ShotProgram<T, Dim>::ShotProgram(const WaveOptions& options, EarthModel<T>&& model,
                                 const MemoryEstimate& memory, const MemoryLimit& limit,
                                 Session& session)
    : m_o(options),
      m_model(std::move(model)),
      m_session(session),
      m_list(session),
      m_memory(memory),
      m_limit(limit) {}

template <class T, int Dim>
void ShotProgram<T, Dim>::run() {
  Processes& processes = m_session.processes();
  processes.collectively([&] { prepare(); });
  m_list.share();
  m_job.progress = m_list.progress();
  m_job.ranks = m_list.ranks();
  m_job.collectively = [&](const std::function<void()>& function) {
    processes.collectively(function);
  };
  m_job.begins = [&](const WaveReport& report) {
    bool goes_on = false;
    processes.collectively([&] { goes_on = begin(report); });
    return goes_on;
  };
  m_job.gather = [&](std::size_t shot, const wave::Traces<T>& traces,
                     const survey::ShotWork& work) { keep(shot, traces, work); };
  m_job.drop_values = [&] {
    has_velocity();
    m_model.values.clear();
  };
  m_job.is_present = [&](std::size_t shot) { return m_list.settled(shot); };
  m_job.takes = [&](std::size_t shot) { return m_list.takes(shot); };
  WaveReport report;
  try {
    report = compute(m_job);
  } catch (...) {
    try {
      has_velocity();  // the summary of the failed run names it
    } catch (...) {
      // report the first failure only
    }
    throw;
  }
  m_session.computed(report.phases);
  has_velocity();
  if (!m_begun || !m_list.finish()) return;
  m_report.at_once = report.at_once;
  const survey::ShotWork all = survey::work_of_all(processes, report.work);
  report.work = m_others;
  report.work.add(all.numbers());
  m_session.summary["ranks"] = processes.size();
  processes.finish();
  if (processes.root()) write(report);
}

template <class T, int Dim>
void ShotProgram<T, Dim>::prepare() {
  std::optional<HostPhase> checks(std::in_place, m_session.phases, "check");
  prepare_waves<Dim>(m_job, m_o, m_model);
  record_wavelet(m_o.wavelet, m_wavelet);
  m_job.modelling.time = {m_o.time, m_o.dt, m_o.interval, 0.0};
  m_job.expand = m_o.expand;
  m_job.domain = m_o.domain;
  m_job.sources_name = m_o.shots_file.empty() ? "--source" : "--shots " + m_o.shots_file;
  m_job.receivers_name = m_o.shots_file.empty() ? "--receivers" : m_job.sources_name;
  m_job.shots = make_shots<Dim>(m_o, m_job.grid, m_job.boundaries);
  prepare_job(m_job);
  check_survey();
  for (const auto& shot : m_job.shots) m_receivers += shot.receivers.size();
  std::vector<std::string> names;
  for (std::size_t k = 0; k < m_job.shots.size(); ++k) names.push_back(gather_name(k));
  m_session.will_write(names);
  m_gathers.resize(m_job.shots.size());
  checks.reset();
  m_list.open(numbers_of(m_job.shots), m_o, m_o,
              [&](std::size_t shot, const Json& more, ShotList::From from) {
                took_over(shot, more);
                if (from == ShotList::From::rank) m_session.add("shots", shot_json(shot));
                const Json* const work = more.find("work");
                if (from != ShotList::From::rank && work) m_others.add(work->numbers());
              });
  // snapshots are of the first shot
  if (m_o.only_shot && m_list.settled(0)) m_job.modelling.time.snapshot_every = 0.0;
}

// Throws for invalid shots, before the space is used.
template <class T, int Dim>
void ShotProgram<T, Dim>::check_survey() const {
  constexpr double farthest = 2e9;
  const auto check = [&](const std::string& option, const Points<Dim>& points,
                         const std::string& what) {
    try {
      check_positions<Dim>(m_job.grid, points, what);
      check_free_surfaces<Dim>(m_job.grid, m_job.boundaries, points, what);
    } catch (const InputError& error) {
      throw InputError(concat(option, ": ", error.what()));
    }
  };
  for (const wave::Shot<Dim>& shot : m_job.shots) {
    const std::string of = m_job.shots.size() > 1 ? concat("shot ", shot.number, ": ") : "";
    check(m_job.sources_name, shot.sources, of + "source");
    check(m_job.receivers_name, shot.receivers, of + "receiver");
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
      throw InputError(concat(m_job.sources_name, ": the number of shot ", shot.number,
                              " is too large (allowed: up to 2147483647, as SEG-Y counts shots)"));
    }
  }
}

template <class T, int Dim>
std::string ShotProgram<T, Dim>::gather_name(std::size_t k) const {
  return m_job.shots.size() == 1 ? std::string("gather.npy")
                                 : numbered("gather", m_job.shots[k].number);
}

// Begins the output once all checks have passed.
template <class T, int Dim>
bool ShotProgram<T, Dim>::begin(const WaveReport& report) {
  m_report = report;
  const double samples = sizeof(T) * static_cast<double>(report.time.samples);
  m_memory.take(samples * static_cast<double>(m_receivers), "traces for SEG-Y");
  const int concurrent = std::max(report.at_once, report.chains);
  const survey::PositionBytes positions = survey::position_bytes<T, Dim>(m_job.shots, concurrent);
  m_memory.take(positions.held, "positions of traces");
  // its text has no memory of its own; lists are replaced by their copies at the end
  const double listed = listed_bytes();
  m_memory.take(2.0 * listed, "the summary");
  m_memory.pass(positions.prepared, "weights of receivers");
  m_memory.pass(std::max(m_o.only_shot ? 0.0 : positions.written, listed), "writing");
  m_memory.pass(survey::pending_trace_bytes<T, Dim>(m_job.shots, report.time, concurrent,
                                                    report.batch_size, report.recorders),
                "gathers");
  take_more(m_memory);
  check_memory(concat("the model with ", counted(m_receivers, "trace"), " of ",
                      counted(report.time.samples, "sample")),
               m_memory, m_limit,
               "take fewer shots or receivers, fewer shots --at-once or a longer --interval");
  Json& summary = m_session.summary;
  summary["asked"] = m_session.requested();
  summary["model"] = model_json(report);
  summary["memory"] = memory_json(m_memory, m_limit);
  describe_run(report);
  begins(report);
  summary["shots"] = shots_json();
  const auto [low, high] = m_model.range("vp");
  if (m_o.plan) {
    print(report, static_cast<double>(low), static_cast<double>(high));
    return false;
  }
  m_begun = true;
  m_session.begin_output();
  if (!m_session.processes().root()) return true;
  // concurrently with the first steps
  m_velocity = std::async(std::launch::async, [this] {
    io::write_npy(m_session.folder() / "vp.npy", m_model.values.at("vp").data(), m_model.shape);
  });
  print(report, static_cast<double>(low), static_cast<double>(high));
  return true;
}

// Waits for vp.npy.
template <class T, int Dim>
void ShotProgram<T, Dim>::has_velocity() {
  if (!m_velocity.valid()) return;
  m_velocity.get();
  m_session.wrote("vp.npy");
}

// Prints the plan of the run.
template <class T, int Dim>
void ShotProgram<T, Dim>::print(const WaveReport& report, double slowest, double fastest) const {
  const wave::TimePlan& plan = report.time;
  const Session& session = m_session;
  print_model(session, m_model, report.medium, plan.dt, wave::boundaries_string(m_job.boundaries),
              concat(", vp ", significant(slowest, 6), " to ", significant(fastest, 6), " m/s"));
  if (report.limits.clamped_delta_nodes > 0 && m_o.equations == wave::Equations::self_adjoint) {
    session.print("          note: ",
                  wave::note_of_clamped_deltas(report.limits.clamped_delta_nodes));
  }
  if (report.source_taper > 0.0) {
    session.print("          note: delta goes over into epsilon within ",
                  significant(report.source_taper, 3),
                  " m of the sources, which sends out no waves of shear (--source-taper 0: leave "
                  "it)");
  } else if (m_o.source_taper.value_or(0.0) > 0.0) {
    session.print(
        "          note: --source-taper has no effect: epsilon equals delta at the sources");
  }
  const std::size_t traces = m_job.shots.front().receivers.size();
  const bool one = m_job.shots.size() == 1;
  session.print("shots     ", counted(m_job.shots.size(), "shot"), ", ",
                one ? counted(traces, "receiver") : counted(m_receivers, "trace") + " in all", ", ",
                m_o.wavelet, m_o.wavelet_given ? "" : " (default)", ", up to ",
                significant(report.frequency, 4), " Hz, peak at ", significant(report.peak_time, 4),
                " s");
  if (m_o.sources.empty() && m_o.shots_file.empty()) {
    session.print("          note: no --source was given: ",
                  format_point(m_job.shots.front().sources.front()), " is taken");
  }
  if (m_o.receivers.empty() && m_o.shots_file.empty()) {
    session.print("          note: no --receivers were given: a line of ", traces,
                  " below the surface is taken");
  }
  const std::string notes[] = {note_of_moving<Dim>(m_o, m_job.shots, m_job.grid),
                               survey::note_of_sources<Dim>(m_job.shots),
                               survey::note_of_repeated_receivers<Dim>(m_job.shots)};
  for (const std::string& note : notes) {
    if (!note.empty()) session.print("          note: ", note);
  }
  print_late_wavelet(session, m_job.wavelet, plan);
  session.print(
      scheme_text(m_o.order, plan.dt, report.limits.largest_dt, plan.steps, report.nodes_per_wave),
      " (needed ", significant(report.nodes_per_wave_wanted, 3), ")");
  if (report.parameter_bits == 16) {
    session.print("          parameters in 16 bits (--parameters 32: in single precision)");
  }
  session.print("          samples every ", significant(plan.interval * 1e3, 6), " ms, ",
                plan.samples, " of them; takes ", takes(report));
  if (!one) print_concurrent_shots(session, report.at_once, m_o.at_once);
  print_plan();
  std::fflush(stdout);
}

// Keeps a gather for the SEG-Y file, and writes the NumPy file.
template <class T, int Dim>
void ShotProgram<T, Dim>::keep(std::size_t k, const wave::Traces<T>& traces,
                               const survey::ShotWork& work) {
  const HostPhase phase(m_session.phases, "write");
  has_velocity();
  const wave::Shot<Dim>& shot = m_job.shots[k];
  const std::string name = gather_name(k);
  m_gathers[k] = survey::segy_gather<T, Dim>(shot, m_report.time.interval, traces);
  io::write_npy(m_session.folder() / name, traces.data(), m_gathers[k].samples.shape);
  m_session.wrote(name);
  std::vector<std::string> names{name};
  Json more;
  part(k, names, more);
  more["work"] = work.numbers();
  m_list.put(k);
  m_session.add("shots", shot_json(k));
  m_list.done(k, names, more);
}

template <class T, int Dim>
Json ShotProgram<T, Dim>::model_json(const WaveReport& report) const {
  Json ranges;
  for (const auto& [option, values] : m_model.values) {
    const auto [low, high] = m_model.range(option);
    ranges[option] = Json::array({low, high});
  }
  Json json = examples::model_json(m_model, report.medium, m_job.boundaries);
  json["shape_with_layers"] = report.extended;
  json["units"] =
      Json::object({{"length", "m"}, {"velocity", "m/s"}, {"time", "s"}, {"angle", "rad"}});
  json["ranges"] = std::move(ranges);
  return json;
}

// True if the summary lists the receivers of a shot: once if all shots share them.
template <class T, int Dim>
bool ShotProgram<T, Dim>::lists_receivers(std::size_t k) const {
  return k == 0 || m_job.shots[k].receivers.size() != m_job.shots.front().receivers.size() ||
         m_o.moving || !m_o.shots_file.empty();
}

// Bytes of the shots in the summary, which has a copy for signals.
template <class T, int Dim>
double ShotProgram<T, Dim>::listed_bytes() const {
  constexpr double each = 4.0 * 1024;  // values of a shot and of its part
  double bytes = each * static_cast<double>(m_job.shots.size());
  for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
    if (!lists_receivers(k)) continue;
    bytes += sizeof(Point<Dim>) * static_cast<double>(m_job.shots[k].receivers.size());
  }
  return bytes;
}

// A shot in the summary.
template <class T, int Dim>
Json ShotProgram<T, Dim>::shot_json(std::size_t k) const {
  const wave::Shot<Dim>& shot = m_job.shots[k];
  Json entry = Json::object();
  entry["number"] = shot.number;
  entry["gather"] = gather_name(k);
  entry["sources"] = points_json(shot.sources);
  entry["receivers"] = lists_receivers(k) && !shot.receivers.empty() ? points_json(shot.receivers)
                                                                     : Json("as the first shot");
  if (m_o.moving) {
    const auto offsets = survey::points_from_text<Dim>(m_o.receivers, "--receivers");
    entry["left_out"] = survey::spread_left_out<Dim>(offsets, shot.sources.front(), m_job.grid);
  }
  return entry;
}

// Complete shots.
template <class T, int Dim>
Json ShotProgram<T, Dim>::shots_json() const {
  Json list = Json::array();
  for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
    if (m_list.is_present(k)) list.push_back(shot_json(k));
  }
  return list;
}

// Members of the summary that hold before the first step and after the last.
template <class T, int Dim>
void ShotProgram<T, Dim>::describe_run(const WaveReport& report) {
  m_session.summary["shots"] = shots_json();
  m_session.summary["scheme"] = scheme_json(m_o, report);
  m_session.summary["gather"] = Json::object({{"samples", report.time.samples},
                                              {"interval", report.time.interval},
                                              {"delay", 0.0},
                                              {"time_zero", "the beginning of the wavelet"},
                                              {"wavelet_peak", report.peak_time}});
  m_session.summary["gather"].merge(m_wavelet);
}

template <class T, int Dim>
void ShotProgram<T, Dim>::write(const WaveReport& report) {
  if (!m_o.only_shot) {
    const HostPhase phase(m_session.phases, "write");
    const fs::path& folder = m_session.folder();
    for (std::size_t k = 0; k < m_gathers.size(); ++k) {
      if (!m_gathers[k].samples.data.empty()) continue;
      // of an earlier run
      const io::Array<T> traces = io::read_npy<T>(folder / gather_name(k));
      m_gathers[k] = survey::segy_gather<T, Dim>(m_job.shots[k], report.time.interval,
                                                 traces.data.data(), traces.shape.back());
    }
    io::write_gathers<T>(folder / "gather.sgy", m_gathers,
                         segy_lines<Dim>(m_session.summary["program"].text(),
                                         concat(m_model.name, ": ", describe_grid(m_model)),
                                         m_job.boundaries, m_o, report, m_wavelet));
    m_gathers.clear();
    m_session.wrote("gather.sgy");
  }
  const survey::ShotWork& work = report.work;
  describe_run(report);
  m_session.summary["run"] = run_json(m_o, report);
  m_session.summary["rates"] = Json::object({{"points_per_second", work.points_per_second()}});

  Ending ending;
  ending.script = "plot_waves.py";
  ending.pictures = {"gather.png"};
  ending.picture_name = "drawn";
  ending.word = "pictures";
  ending.lines = {concat("modelled  ", format_count(work.points), "points on ", m_o.space, ": ",
                         report.device)};
  if (m_o.expand != domain::ExpansionMethod::none) {
    ending.lines.push_back(concat("          --expand ", domain::to_string(m_o.expand), ": ",
                                  fixed(100.0 * work.points / work.whole_points, 1),
                                  " % of the nodes were stepped; finding them took ",
                                  fixed(work.domain_seconds, 3), " s"));
  }
  ending.rate = concat("rate      ", format_count(work.points_per_second()), "points/s");
  finish(report, ending);
  m_session.finish(ending);
}

template WaveArrays wave_arrays<float>(const WaveOptions&, const EarthModelNeed&);
template WaveArrays wave_arrays<double>(const WaveOptions&, const EarthModelNeed&);
template struct WaveJob<float, 2>;
template struct WaveJob<float, 3>;
template struct WaveJob<double, 2>;
template struct WaveJob<double, 3>;
template class ShotProgram<float, 2>;
template class ShotProgram<float, 3>;
template class ShotProgram<double, 2>;
template class ShotProgram<double, 3>;

}  // namespace moho::examples
