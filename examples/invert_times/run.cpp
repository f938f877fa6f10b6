// SPDX-License-Identifier: BSD-3-Clause
//
// invert_times: velocity from picked first arrivals.

#include "app/format.hpp"
#include "app/memory.hpp"
#include "app/model_file.hpp"
#include "app/model_grid.hpp"
#include "app/program.hpp"
#include "app/summary.hpp"
#include "invert_times/options.hpp"
#include "invert_times/remarks.hpp"
#include "ranks/ranks.hpp"

#include <moho/core/parse.hpp>
#include <moho/core/space.hpp>
#include <moho/core/text.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/numbered.hpp>
#include <moho/tomography/tomography.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::invert_times {

namespace {

namespace fs = std::filesystem;

// Returns the format of the file of picks.
tomography::PickFormat format_of(const Options& o) {
  const double units[] = {1.0, 1e-3, 1e-6};
  return {o.format, units[o.time_unit], o.elevations, o.shots, o.receivers, names_of(o)};
}

// One run in 2D or 3D.
template <int Dim>
class Run {
 public:
  Run(const Options& options, Session& session) : m_o(options), m_session(session) {}

  void run() {
    Processes& processes = m_session.processes();
    processes.collectively([&] { prepare(); });
    if (m_o.plan) return processes.finish();
    std::int64_t last = -1;
    processes.collectively([&] {
      if (processes.root()) last = begin();
    });
    processes.broadcast(&last, sizeof last);
    processes.collectively([&] { resume(last); });
    invert();
    processes.finish();
    if (!processes.root()) return;
    write();
    finish();
  }

 private:
  inline static const std::vector<std::string> results = {
      "velocity.npy",  "slowness.npy",   "start.npy", "picks.csv",   "coverage.npy",
      "deviation.npy", "resolution.npy", "rays.vtk",  "history.csv", "lambda.csv"};
  inline static const std::vector<std::string> pictures = {"model.png", "fit.png", "history.png"};

  // Reads and checks everything, on each process.
  void prepare() {
    {
      const HostPhase phase(m_session.phases, "read");
      m_job.picks = tomography::read_picks<Dim>(m_o.picks, format_of(m_o));
      m_check =
          tomography::check_picks<Dim>(m_job.picks, concat("--picks ", m_o.picks), names_of(m_o));
      check_errors();
      make_grid();
      make_ground();
      make_options();
      make_medium();
      make_start();
      if (m_o.reference != "start") {
        m_job.options.reference = velocity_of_file("--reference", m_o.reference);
      }
      if (!m_o.checks.empty()) checks_of();
      if (m_o.jackknife > 0) {
        tomography::check_jackknife<Dim>(m_job.picks, m_o.jackknife, m_job.options.names);
      }
      tomography::check_input<Dim>(
          m_job.grid, m_job.picks, m_job.start,
          tomography::ground_mask<Dim>(m_job.grid, m_job.ground, m_job.picks), m_job.options);
    }
    estimate_memory();
    print_plan();
    if (m_session.processes().alone()) return;
    auto& ranks = static_cast<Ranks&>(m_session.processes());  // all have the rows of all sources
    m_job.options.exchange = {ranks.rank(), ranks.size(),
                              [&ranks](const auto& local) { return ranks.gather_to_all(local); }};
  }

  // Announces the results; returns the last iteration of an interrupted run, or -1.
  std::int64_t begin() {
    std::vector<std::string> names(results);
    if (m_o.statics != tomography::Statics::none) names.emplace_back("statics.csv");
    if (m_o.locate) names.emplace_back("sources.csv");
    if (!m_o.checks.empty()) {
      names.insert(names.end(), {"check_true.npy", "check_found.npy", "checkerboard.csv"});
    }
    for (const std::string& format : m_o.exports) names.push_back(tomography::export_name(format));
    if (m_o.jackknife > 0) names.insert(names.end(), {"jackknife.npy", "jackknife.csv"});
    if (m_o.plot) names.insert(names.end(), pictures.begin(), pictures.end());
    m_session.will_write(names);
    m_session.leave_out_picture(why_no_picture(m_estimate, m_limit));
    m_session.resumable();
    std::int64_t last = m_session.last_part();
    Json more;
    if (last >= 0 && !m_session.take_over(last, more)) last = -1;
    m_session.begin_output();
    return last;
  }

  // Refuses picks without errors, with what the file suggests.
  void check_errors() const {
    if (!m_o.error.empty()) return;
    for (const tomography::Pick& pick : m_job.picks.picks) {
      if (pick.error > 0.0) continue;
      std::string advice = "write --error 0.0005,0.02 for 0.5 ms and 2 % of the time";
      if (m_check.reciprocal_pairs > 10) {
        advice =
            concat("reciprocal pairs differ by ", significant(1e3 * m_check.reciprocal_rms, 2),
                   " ms, so that --error ", significant(m_check.reciprocal_rms, 2), ",0.01 may do");
      }
      throw InputError(concat("--error is missing (--picks ", m_o.picks,
                              " has no errors, and chi^2 has no meaning without them): ", advice));
    }
  }

  void make_grid() {
    tomography::GridRequest<Dim> request;
    request.spacing = m_o.spacing.empty() ? 0.0 : m_o.spacing[0];
    request.depth = m_o.depth;
    if (m_o.margin >= 0.0) request.margin = m_o.margin;
    if (!m_o.origin.empty()) request.origin = to_axes<Point<Dim>>("--origin", m_o.origin);
    if (!m_o.shape.empty()) request.shape = to_axes<Index<Dim>>("--shape", m_o.shape);
    m_job.grid = tomography::plan_grid<Dim>(m_job.picks, m_check.longest_offset,
                                            m_check.receiver_spacing, request);
    m_model.name = m_o.picks;
    for (int d = 0; d < Dim; ++d) {
      m_model.shape.push_back(m_job.grid.extents[d]);
      m_model.spacing.push_back(m_job.grid.spacing[d]);
      m_model.origin.push_back(m_job.grid.origin[d]);
    }
  }

  void add_notes(const std::vector<std::string>& notes) {
    m_model.notes.insert(m_model.notes.end(), notes.begin(), notes.end());
  }

  template <class Axes, class Value>
  static Axes to_axes(const char* option, const std::vector<Value>& values) {
    if (values.size() != static_cast<std::size_t>(Dim)) {
      throw InputError(concat(option, " has ", counted(values.size(), "value"), " (allowed: ", Dim,
                              ", one for each axis of the picks)"));
    }
    Axes axes{};
    for (int d = 0; d < Dim; ++d) axes[d] = values[static_cast<std::size_t>(d)];
    return axes;
  }

  void make_ground() {
    if ((m_o.topography != "auto" || Dim == 3) && m_o.given.count("--buried-below") > 0)
      add_notes({"--buried-below has no effect but with --topography auto in 2D"});
    if (m_o.topography == "none") return;
    if (m_o.topography == "auto") {
      if constexpr (Dim == 2) {
        m_job.ground = tomography::ground_of_points(m_job.picks, m_job.grid, m_o.buried_below);
        add_notes(tomography::odd_heights(m_job.picks));
      }
      return;
    }
    const auto table = tomography::read_ground_table<Dim>(m_o.topography, m_o.elevations);
    m_job.ground = tomography::ground_of_table<Dim>(table, m_job.grid);
    add_notes(tomography::remarks_on_ground<Dim>(table, m_job.grid, m_job.picks));
  }

  void make_options() {
    tomography::Options<Dim>& options = m_job.options;
    options.names = names_of(m_o);
    if (!m_o.error.empty()) {
      options.error_absolute = m_o.error[0];
      options.error_relative = m_o.error[1];
    }
    if (m_o.lengths.empty()) {
      for (int d = 0; d < Dim; ++d) options.prior.lengths[d] = 8.0 * m_check.receiver_spacing;
    } else {
      std::vector<double> lengths(m_o.lengths);
      if (Dim == 3 && lengths.size() == 2) lengths.insert(lengths.begin(), lengths[0]);
      options.prior.lengths = to_axes<Point<Dim>>("--lengths", lengths);
    }
    options.prior.deviation_max = m_o.deviation_max;
    options.coarsening = m_o.coarsening > 0 ? m_o.coarsening : Dim - 1;
    if (m_o.radius > 0) options.radius = m_o.radius;
    if (Dim == 3 && m_o.radius > 4) {
      throw InputError(concat("--radius is ", m_o.radius, " (allowed in 3D: 1 to 4)"));
    }
    options.times = m_o.times;
    options.krylov = m_o.krylov;
    options.iterations = m_o.iterations;
    options.target = m_o.target;
    options.tolerance = m_o.tolerance;
    options.rule = m_o.lambda > 0.0 ? tomography::DampingRule::fixed : m_o.rule;
    options.lambda = m_o.lambda;
    if (!m_o.bounds.empty()) {
      const std::vector<double> bounds =
          metres_per_second("--bounds", m_o.velocity_unit, m_o.bounds, m_model.notes);
      options.velocity_min = bounds[0];
      options.velocity_max = bounds[1];
    }
    options.robust = m_o.robust;
    options.statics = m_o.statics;
    options.static_deviation = m_o.static_deviation;
    options.memory = m_o.memory;
    options.location.unknown = m_o.locate;
    options.location.origin_deviation = m_o.origin_deviation;
    for (int d = 0; d < Dim; ++d) options.location.deviation[d] = 2.0 * m_job.grid.spacing[d];
    if (!m_o.location_deviation.empty()) {
      options.location.deviation =
          to_axes<Point<Dim>>("--location-deviation", m_o.location_deviation);
    }
    add_notes(tomography::remarks_on_unused<Dim>(options, m_o.given));
    add_notes(tomography::remarks_on_options<Dim>(m_job.picks, options));
    if (const Progress bar = m_session.progress()) {
      // of all iterations that may follow; evaluations of a step that is halved do not go back
      options.progress = [this, bar](double fraction, const std::string& what) {
        const double all = static_cast<double>(m_o.iterations) + 1.0;
        m_fraction = std::max(m_fraction, std::min((m_done + fraction) / all, 1.0));
        bar(m_fraction, what);
      };
    }
  }

  // Thomsen's parameters of --epsilon and --delta.
  void make_medium() {
    if (m_o.epsilon.empty()) return;
    m_job.options.epsilon = parameter("--epsilon", m_o.epsilon);
    m_job.options.delta =
        m_o.delta.empty() ? m_job.options.epsilon : parameter("--delta", m_o.delta);
  }

  std::vector<double> parameter(const char* option, const std::string& text) {
    if (const auto number = text::to_number(text)) {
      return std::vector<double>(static_cast<std::size_t>(m_job.grid.size()), *number);
    }
    return values_of_file(option, text).values.data;
  }

  // Reads a file with the shape of the grid.
  io::LoadedModel<double> values_of_file(const char* option, const std::string& name) {
    io::LoadedModel<double> file = read_model_file<double>(option, name, m_model.notes);
    io::check_nodes(concat(option, " ", name), file,
                    {m_model.shape, m_model.spacing, m_model.origin}, "the grid",
                    "give --shape, --origin and --spacing of the file");
    return file;
  }

  std::vector<double> velocity_of_file(const char* option, const std::string& name) {
    io::LoadedModel<double> file = values_of_file(option, name);
    to_metres_per_second(concat(option, " ", name), m_o.velocity_unit, file.value_unit,
                         file.length_unit, file.values.data, m_model.notes);
    return std::move(file.values.data);
  }

  // The start model of --start, and its description.
  void make_start() {
    const auto linear = [&](const tomography::LinearVelocity& v, const std::string& how) {
      m_job.start = tomography::linear_model<Dim>(m_job.grid, m_job.ground, v);
      m_start = concat(how, "v = ", significant(v.v0, 4), " m/s + ", significant(v.gradient, 4),
                       " 1/s times the depth below the ground");
    };
    if (m_o.start == "auto") {
      const auto v = tomography::fit_linear_velocity<Dim>(m_job.picks, m_job.grid, m_job.ground);
      linear(v, "fitted to the picks: ");
      m_start += concat(", rms ", significant(1e3 * v.rms, 3), " ms");
    } else if (m_o.start == "layers") {
      with_space(m_o.space, [&](const auto& exec) {
        const auto v = m_o.double_precision ? tomography::fit_layers<double>(exec, m_job)
                                            : tomography::fit_layers<float>(exec, m_job);
        m_job.start = tomography::layered_model<Dim>(m_job.grid, m_job.ground, v);
        m_start = concat("layers fitted to ", counted(v.medians, "median"),
                         " of the picks: ", tomography::describe_layers(v), ", chi^2 ",
                         significant(v.chi2, 3));
      });
    } else if (m_o.start.find_first_not_of("0123456789.,eE+- ") == std::string::npos) {
      const auto v = text::split(m_o.start, ',');
      const double v0 = text::parse_number("--start", v[0], "v0,g: m/s and 1/s");
      const double g =
          v.size() > 1 ? text::parse_number("--start", v[1], "v0,g: m/s and 1/s") : 0.0;
      if (v.size() > 2 || !(v0 > 0.0) || !(g >= 0.0)) {
        throw InputError(
            concat("--start is '", m_o.start,
                   "' (allowed: auto, layers, v0,g with v0 above 0 and g from 0, or a file)"));
      }
      linear({metres_per_second("--start", m_o.velocity_unit, {v0}, m_model.notes)[0], g, 0.0}, "");
    } else {
      m_job.start = velocity_of_file("--start", m_o.start);
      m_start = m_o.start;
    }
    if (m_o.start != "auto" && m_o.start != "layers") return;
    m_start += tomography::to_vertical(m_job.start, m_job.options.epsilon);
    if (m_o.bounds.empty()) return;
    add_notes(tomography::cut_to_bounds<Dim>(m_job.start, m_job.options));
  }

  // Rows, Krylov vectors and the traced times, from counts.
  void estimate_memory() {
    m_limit = memory_limit(m_o, m_o.space != "cuda", m_session.processes().size_of_host());
    const tomography::InversionBytes bytes = tomography::estimate_bytes<Dim>(
        m_job.grid, m_job.picks, m_job.options, m_o.double_precision);
    m_estimate.take(bytes.model, "model arrays");
    m_estimate.take(bytes.rows, "rows of the derivative");
    m_estimate.take(bytes.vectors, "vectors of the bidiagonalisation");
    m_estimate.pass(bytes.times, "traveltimes");
    if (m_o.plot) m_estimate.picture(static_cast<double>(m_job.grid.size()) * 40.0, m_limit.bytes);
    check_memory(concat("an inversion on ", io::shape_string(m_model.shape), " nodes"), m_estimate,
                 m_limit, "take a larger --spacing or --coarsening, or fewer --krylov steps");
    m_session.summary["memory"] = memory_json(m_estimate, m_limit);
  }

  void print_plan() {
    const auto& picks = m_job.picks;
    m_session.print("picks     ", m_o.picks, ": ", counted(picks.picks.size(), "pick"), " of ",
                    counted(picks.sources.size(), "source"), " at ",
                    counted(picks.receivers.size(), "receiver"),
                    picks.left_out > 0 ? concat(", ", picks.left_out, " left out") : "",
                    ", offsets to ", significant(m_check.longest_offset, 4), " m");
    const auto [min, max] = tomography::error_range<Dim>(picks, m_job.options);
    m_session.print("          errors ", significant(1e3 * min, 3), " to ",
                    significant(1e3 * max, 3), " ms",
                    m_check.reciprocal_pairs > 0
                        ? concat("; ", counted(m_check.reciprocal_pairs, "reciprocal pair"),
                                 " differ by ", significant(1e3 * m_check.reciprocal_rms, 3), " ms")
                        : "");
    if (m_check.repeated > 0) {
      m_session.print("          note: ", counted(m_check.repeated, "pick"),
                      " of a pair that occurs twice; they differ by up to ",
                      significant(1e3 * m_check.largest_repeated, 3), " ms");
    }
    for (const std::string& warning : m_check.warnings) {
      m_session.print("          warning: " + warning);
    }
    if (m_job.grid.spacing[0] > 0.5001 * m_check.receiver_spacing) {
      m_session.print("          warning: nodes are ", m_job.grid.spacing[0],
                      " m apart and receivers ", significant(m_check.receiver_spacing, 4),
                      " m: --spacing ", significant(0.5 * m_check.receiver_spacing, 3),
                      " resolves them");
    }
    m_session.print("grid      ", describe_grid(m_model), ", ",
                    m_job.ground.depth.empty() ? "without air" : "ground by topography");
    m_session.print("start     ", m_start);
    for (const std::string& note : m_model.notes) m_session.print("          note: " + note);
    const Point<Dim>& l = m_job.options.prior.lengths;
    m_session.print("prior     correlation lengths ", format_point(l),
                    " m, deviation of ln v up to ", m_o.deviation_max,
                    m_o.reference == "start" ? "" : concat(", around ", m_o.reference));
    if (!m_o.plan) return;
    m_session.print("memory    ", format_bytes(m_estimate.max()), ": ", m_estimate.largest(false));
    with_space(m_o.space, [&, ranks = m_session.processes().size()](const auto& exec) {
      const auto time = m_o.double_precision ? tomography::forecast<double>(exec, m_job, ranks)
                                             : tomography::forecast<float>(exec, m_job, ranks);
      m_session.print("time      ", time.text());
    });
  }

  // Takes the last iteration of an earlier run over.
  void resume(std::int64_t last) {
    if (last < 0) return;
    m_job.state = tomography::read_state(fs::path(m_o.out) / state_name(last));
    m_session.print("resumed   after iteration ", m_job.state.reports.back().iteration);
  }

  static std::string state_name(std::int64_t iteration) {
    return io::numbered("state", iteration, ".npy");
  }

  void invert() {
    m_job.each = [this](const tomography::IterationReport& report,
                        const tomography::InversionState& state) {
      m_session.computed({});  // removes the bar
      m_session.print(tomography::describe_iteration(report));
      m_done = report.iteration + 1.0;
      if (!m_session.processes().root()) return;
      const std::string name = state_name(report.iteration);
      m_session.part_begins({name});
      tomography::write_state(m_session.folder() / name, state);
      m_session.wrote(name);
      m_session.part_replaces(report.iteration, {name}, Json::object());
    };
    with_space(m_o.space, [&](const auto& exec) {
      m_result = m_o.double_precision ? tomography::invert<double>(exec, m_job)
                                      : tomography::invert<float>(exec, m_job);
      if (!m_o.checks.empty()) {
        const HostPhase phase(m_result.phases, "checkerboard");
        const auto checks = checks_of();
        m_test = m_o.double_precision
                     ? tomography::test_checkerboard<double>(exec, m_job, m_result, checks)
                     : tomography::test_checkerboard<float>(exec, m_job, m_result, checks);
      }
      if (m_o.jackknife == 0) return;
      const HostPhase phase(m_result.phases, "jackknife");
      const auto each = [this](const tomography::JackknifeRun& run) {
        m_session.computed({});
        m_session.print(tomography::describe_run(run));
      };
      m_jackknife =
          m_o.double_precision
              ? tomography::test_jackknife<double>(exec, m_job, m_result, m_o.jackknife, each)
              : tomography::test_jackknife<float>(exec, m_job, m_result, m_o.jackknife, each);
    });
    m_session.computed(m_result.phases);
  }

  tomography::Checkerboard<Dim> checks_of() const {
    std::vector<double> values(m_o.checks);
    tomography::Checkerboard<Dim> checks;
    if (values.size() != static_cast<std::size_t>(Dim) + 1) {
      throw InputError(concat("--checkerboard has ", values.size(), " numbers (allowed: ", Dim + 1,
                              ", a size along each axis and percent)"));
    }
    checks.percent = values.back();
    values.pop_back();
    checks.size = to_axes<Point<Dim>>("--checkerboard", values);
    tomography::checkerboard<Dim>(m_job.grid, checks);
    return checks;
  }

  void write_field(const std::string& name, const std::vector<double>& values) {
    if (m_o.double_precision) {
      io::write_npy(m_session.folder() / name, values.data(), m_model.shape);
    } else {
      const std::vector<float> single(values.begin(), values.end());
      io::write_npy(m_session.folder() / name, single.data(), m_model.shape);
    }
    m_session.wrote(name);
  }

  void write() {
    const HostPhase phase(m_session.phases, "write");
    const fs::path& folder = m_session.folder();
    std::vector<double> slowness(m_result.velocity);
    for (double& s : slowness) s = 1.0 / s;
    write_field("velocity.npy", m_result.velocity);
    write_field("slowness.npy", slowness);
    write_field("start.npy", m_job.start);
    write_field("coverage.npy", m_result.coverage);
    write_field("deviation.npy", m_result.appraisal.deviation);
    write_field("resolution.npy", m_result.appraisal.resolution);
    tomography::write_picks<Dim>(folder / "picks.csv", m_job.picks, m_result.fits);
    m_session.wrote("picks.csv");
    if (m_o.statics != tomography::Statics::none) {
      tomography::write_statics<Dim>(folder / "statics.csv", m_job.picks, m_result.delays);
      m_session.wrote("statics.csv");
    }
    if (m_o.locate) {
      tomography::write_sources<Dim>(folder / "sources.csv", m_result.sources, m_result.delays);
      m_session.wrote("sources.csv");
    }
    if (!m_o.checks.empty()) {
      write_field("check_true.npy", m_test.truth);
      write_field("check_found.npy", m_test.found);
      tomography::write_layers(folder / "checkerboard.csv", m_test.layers);
      m_session.wrote("checkerboard.csv");
    }
    if (m_o.jackknife > 0) {
      write_field("jackknife.npy", m_jackknife.deviation);
      tomography::write_jackknife(folder / "jackknife.csv", m_jackknife);
      m_session.wrote("jackknife.csv");
    }
    tomography::write_history(folder / "history.csv", m_result.reports);
    m_session.wrote("history.csv");
    tomography::write_lambda(folder / "lambda.csv", m_result.appraisal.curve);
    m_session.wrote("lambda.csv");
    tomography::write_rays<Dim>(folder / "rays.vtk", m_job.picks, m_result);
    m_session.wrote("rays.vtk");
    for (const std::string& format : m_o.exports) {
      tomography::write_export<Dim>(folder, format, m_job, m_result);
      m_session.wrote(tomography::export_name(format));
    }
  }

  void finish() {
    const tomography::IterationReport& last = m_result.reports.back();
    Json& summary = m_session.summary;
    summary["asked"] = m_session.requested();
    Json& picks = summary["picks"];
    picks["file"] = m_o.picks;
    picks["count"] = m_job.picks.picks.size();
    picks["left_out"] = m_job.picks.left_out;
    picks["reciprocal_pairs"] = m_check.reciprocal_pairs;
    picks["reciprocal_rms"] = m_check.reciprocal_rms;
    Json& model = summary["model"];
    model["name"] = m_model.name;
    add_grid(m_model, model);
    Json& units = model["units"];
    units["length"] = "m";
    units["velocity"] = "m/s";
    units["time"] = "s";
    const auto [slow, quick] = range_of(m_result.velocity);
    model["velocity_min"] = slow;
    model["velocity_max"] = quick;
    model["ground"] = m_job.ground.depth;
    model["start"] = m_start;
    model["reference"] = m_o.reference;
    summary["sources"] = points_json(m_result.sources);
    summary["receivers"] = points_json(m_job.picks.receivers);
    summary["ranks"] = m_session.processes().size();
    Json& run = summary["run"];
    run["device"] = m_result.device;
    run["threads"] = m_result.threads;
    run["iterations"] = last.iteration;
    run["stop"] = tomography::to_string(m_result.stop);
    run["chi2"] = last.chi2;
    const auto fit = tomography::summarise_fits<Dim>(m_job.picks, m_result.fits);
    run["flagged"] = fit.flagged;
    run["chi2_unweighted"] = fit.chi2;
    run["chi2_unflagged"] = fit.chi2_unflagged;
    run["rms"] = last.rms;
    run["lambda"] = last.lambda;
    run["degrees_of_freedom"] = m_result.appraisal.dof;
    run["matrix_entries"] = m_result.entries;
    run["rejected"] = last.rejected;
    Ending ending;
    ending.script = "plot_tomography.py";
    ending.pictures = pictures;
    ending.picture_name = "drawn";
    ending.word = "pictures";
    ending.lines = {concat("ended     ", tomography::to_string(m_result.stop, names_of(m_o)),
                           ": chi^2 ", significant(last.chi2, 4), " after ",
                           counted(last.iteration, "iteration"), ", ",
                           significant(m_result.appraisal.dof, 3), " degrees of freedom")};
    if (fit.flagged > 0 || m_o.robust != tomography::Robust::none) {
      ending.lines.push_back("          " + tomography::describe_fit(fit));
    }
    const std::vector<std::string> notes = tomography::remarks_on_result<Dim>(m_job, m_result);
    for (const std::string& note : notes) ending.lines.push_back("          note: " + note);
    add_notes(notes);
    if (!m_model.notes.empty()) summary["notes"] = Json(m_model.notes);
    for (const std::string& line : tomography::bad_picks<Dim>(m_job.picks, m_result.fits)) {
      ending.lines.push_back("          " + line);
    }
    if (m_o.locate) {
      ending.lines.push_back(concat(
          "located   ", tomography::describe_moves<Dim>(m_job.picks, m_result), " (sources.csv)"));
    }
    if (m_o.jackknife > 0) {
      ending.lines.push_back("jackknife " +
                             tomography::describe_jackknife<Dim>(m_result, m_jackknife));
    }
    for (const tomography::CheckLayer& layer : m_test.layers) {
      ending.lines.push_back("checks    " + tomography::describe_layer(layer));
    }
    m_session.finish(ending);
  }

  const Options& m_o;
  Session& m_session;
  tomography::InversionJob<Dim> m_job;
  tomography::PickCheck m_check;
  ModelGrid m_model;
  std::string m_start;
  MemoryEstimate m_estimate;
  MemoryLimit m_limit;
  tomography::InversionResult<Dim> m_result;
  tomography::CheckerboardResult<Dim> m_test;
  tomography::JackknifeResult m_jackknife;
  double m_done = 0.0, m_fraction = 0.0;  // iterations; part of the largest number of them
};

void run(const Options& options, Session& session) {
  int dimensions = 0;
  session.processes().collectively(
      [&] { dimensions = tomography::dimensions_of_picks(options.picks, format_of(options)); });
  if (dimensions == 2) {
    Run<2>(options, session).run();
  } else {
    Run<3>(options, session).run();
  }
}

}  // namespace

}  // namespace moho::examples::invert_times

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<invert_times::Options>(argc, argv, invert_times::describe, invert_times::run,
                                            shot_ranks);
}
