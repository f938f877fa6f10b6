// SPDX-License-Identifier: BSD-3-Clause
#include "trace_rays/run.hpp"

#include "common/format.hpp"
#include "common/stopwatch.hpp"
#include "common/summary.hpp"
#include "trace_rays/input.hpp"
#include "trace_rays/output.hpp"
#include "trace_rays/trace_on.hpp"

#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace moho::examples::trace_rays {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

template <int Dim>
Json to_json(const std::vector<Point<Dim>>& points) {
  Json list = Json::array();
  for (const Point<Dim>& p : points) {
    Json one = Json::array();
    for (int d = 0; d < Dim; ++d) one.push_back(p[d]);
    list.push_back(one);
  }
  return list;
}

template <class T, int Dim>
Json asked_json(const Options& o, const Job<T, Dim>& job) {
  Json json;
  switch (o.model) {
    case ModelKind::file:
      json["model"] = o.model_file;
      break;
    case ModelKind::gradient:
      json["gradient"] = {o.v0, o.gradient};
      break;
    case ModelKind::salt:
      json["builtin"] = "salt";
      break;
  }
  if (!o.config.empty()) json["config"] = o.config;
  if (!o.receivers_file.empty()) json["receivers"] = o.receivers_file;
  json["radius"] = job.graph.radius;
  json["star"] = to_string(job.graph.star);
  json["weights"] = to_string(job.graph.rule);
  json["method"] = to_string(job.method);
  json["precision"] = std::is_same_v<T, float> ? "float" : "double";
  json["storage"] = to_string(job.graph.storage);
  json["space"] = o.space;
  json["memory"] = o.memory > 0 ? Json(o.memory) : Json("what is free");
  json["out"] = o.out;
  json["plot"] = o.plot;
  return json;
}

template <class T, int Dim>
Json model_json(const Model<T>& model, const Grid<Dim>& grid, T slowest, T quickest) {
  Json json;
  json["name"] = model.name;
  Json axes = Json::array(), shape = Json::array(), spacing = Json::array(), origin = Json::array();
  for (int d = 0; d < Dim; ++d) {
    axes.push_back(axis_name<Dim>(d));
    shape.push_back(grid.extents[d]);
    spacing.push_back(grid.spacing[d]);
    origin.push_back(grid.origin[d]);
  }
  json["axes"] = axes;
  json["shape"] = shape;
  json["spacing"] = spacing;
  json["origin"] = origin;
  json["units"] = {{"length", "m"}, {"velocity", "m/s"}, {"time", "s"}};
  json["velocity_min"] = slowest;
  json["velocity_max"] = quickest;
  if (!model.note.empty()) json["note"] = model.note;
  return json;
}

template <class T, int Dim>
Json run_json(const Outcome<T, Dim>& outcome) {
  Json json;
  json["device"] = outcome.device;
  json["threads"] = outcome.threads;
  json["neighbours"] = outcome.neighbours;
  json["weights"] = {{"storage", to_string(outcome.storage)},
                     {"why", outcome.storage_reason},
                     {"bytes", outcome.weight_bytes}};
  json["memory"] = {{"budget_bytes", outcome.budget},
                    {"field_bytes", outcome.field_bytes},
                    {"weight_bytes", outcome.weight_bytes},
                    {"groups_of_sources", outcome.groups}};
  json["rounds"] = outcome.report.rounds;
  json["tile_visits"] = outcome.report.tile_visits;
  json["relaxations"] = outcome.report.relaxations;
  json["batches"] = outcome.report.batches;
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

template <class T, int Dim>
void run_in(const Options& o, Model<T>&& model, PhaseTimes& phases, Stage& stage) {
  Job<T, Dim> job;
  T slowest{}, quickest{};
  {
    const Stopwatch watch(phases, "check");
    for (int d = 0; d < Dim; ++d) {
      const auto k = static_cast<std::size_t>(d);
      job.grid.extents[d] = model.shape[k];
      job.grid.spacing[d] = model.spacing[k];
      job.grid.origin[d] = model.origin[k];
    }
    job.grid.check();
    job.graph.radius = check_radius<Dim>(o);
    job.graph.star = o.star;
    job.graph.rule = o.rule;
    job.graph.storage = o.storage;
    job.method = o.method;
    job.memory = o.memory;
    job.sources = make_sources<Dim>(o, job.grid);
    job.receivers = make_receivers<Dim>(o, job.grid);
    check_velocity(model, job.grid);
    const auto [low, high] = std::minmax_element(model.velocity.begin(), model.velocity.end());
    slowest = *low;
    quickest = *high;
    job.velocity = std::move(model.velocity);
  }

  say("model     ", model.name, ": ", describe_grid(job.grid));
  say("          velocity ", significant(slowest, 6), " to ", significant(quickest, 6), " m/s");
  if (!model.note.empty()) say("          note: ", model.note);
  if (o.sources.empty()) {
    say("          note: no --source was given: one in the middle of the surface is taken");
  }
  if (o.receivers_file.empty() && o.line_begin.empty()) {
    say("          note: no receivers were given: ", o.line_count, " along the surface are taken");
  }
  std::fflush(stdout);

  TerminalProgress bar;
  job.progress = bar.callback();
  Outcome<T, Dim> outcome;
  with_space(o.space, [&](const auto& exec) { outcome = trace_on<T, Dim>(exec, job); });
  bar.clear();
  for (const auto& [phase, seconds] : outcome.phases.phases()) phases.add(phase, seconds);
  std::int64_t unreached = 0;
  for (const double time : outcome.paths.traveltime) unreached += std::isfinite(time) ? 0 : 1;

  stage = Stage::output;
  const fs::path folder = o.out;
  const auto sources = static_cast<std::int64_t>(job.sources.size());
  const auto receivers = static_cast<std::int64_t>(job.receivers.size());
  std::vector<std::string> files{"traveltime.npy", "velocity.npy",  "rays.csv",
                                 "rays.vtk",       "receivers.csv", "summary.json"};
  {
    const Stopwatch watch(phases, "write");
    // A picture of an earlier run would not belong to these results.
    std::error_code ignored;
    fs::remove(folder / "rays.png", ignored);
    std::vector<std::int64_t> shape(model.shape);
    io::write_npy(folder / "velocity.npy", job.velocity.data(), shape);
    shape.insert(shape.begin(), sources);
    io::write_npy(folder / "traveltime.npy", outcome.times.data(), shape);
    write_rays_csv<Dim>(folder / "rays.csv", outcome.paths);
    write_rays_vtk<Dim>(folder / "rays.vtk", outcome.paths);
    write_receivers_csv<Dim>(folder / "receivers.csv", outcome.paths, job.receivers);
  }

  const double work = phases.seconds("trace");
  const double nodes = static_cast<double>(job.grid.size()) * static_cast<double>(sources);
  const double relaxations = static_cast<double>(outcome.report.relaxations);
  Json summary;
  summary["program"] = "trace_rays";
  summary["asked"] = asked_json(o, job);
  summary["model"] = model_json(model, job.grid, slowest, quickest);
  summary["sources"] = to_json<Dim>(job.sources);
  summary["receivers"] = to_json<Dim>(job.receivers);
  summary["rays"] = {{"count", sources * receivers},
                     {"vertices", outcome.paths.points.size()},
                     {"unreached_receivers", unreached}};
  summary["run"] = run_json(outcome);
  summary["versions"] = versions();
  summary["machine"] = machine();
  summary["rates"] = {{"relaxations_per_second", work > 0.0 ? relaxations / work : 0.0},
                      {"vertices_per_second", work > 0.0 ? nodes / work : 0.0}};
  summary["files"] = files;
  summary["seconds"] = seconds(phases);
  const auto write_summary = [&] {
    io::write_text(folder / "summary.json", summary.dump(2) + "\n");
  };
  write_summary();

  Picture picture{false, "--no-plot was given"};
  if (o.plot) {
    {
      const Stopwatch watch(phases, "picture");
      picture = draw_picture("plot_rays.py", {folder.string()});
    }
    if (picture.drawn) files.push_back("rays.png");
  }
  summary["picture"] = picture.drawn ? Json("rays.png") : Json("not drawn: " + picture.why);
  summary["files"] = files;
  summary["seconds"] = seconds(phases);
  write_summary();

  say("traced    ", sources, sources == 1 ? " source to " : " sources to ", receivers,
      receivers == 1 ? " receiver, " : " receivers, ", to_string(job.method), " with radius ",
      job.graph.radius, " (", outcome.neighbours, " neighbours), ",
      std::is_same_v<T, float> ? "float" : "double");
  say("          on ", o.space, ": ", outcome.device);
  say("          ", outcome.storage_reason);
  if (unreached > 0) say("          ", unreached, " receivers were not reached by any ray");
  std::string list;
  for (const auto& [phase, value] : phases.phases())
    list += concat(" ", phase, " ", fixed(value, 3), ",");
  say("seconds  ", list, " total ", fixed(phases.total(), 3));
  say("rates     ", format_count(work > 0.0 ? relaxations / work : 0.0), "relaxations/s, ",
      format_count(work > 0.0 ? nodes / work : 0.0), "vertices/s");
  list.clear();
  for (const std::string& file : files) list += " " + file;
  say("written   ", folder.string(), ":", list);
  if (o.plot && !picture.drawn) say("picture not drawn: ", picture.why);
}

template <class T>
void run_with(const Options& o, Stage& stage) {
  PhaseTimes phases;
  Model<T> model;
  {
    const Stopwatch watch(phases, "read");
    model = load_model<T>(o);
  }
  if (model.shape.size() == 2) {
    run_in<T, 2>(o, std::move(model), phases, stage);
  } else if (model.shape.size() == 3) {
    run_in<T, 3>(o, std::move(model), phases, stage);
  } else {
    throw InputError(
        concat(model.name, ": the model has ", model.shape.size(),
               " dimensions (allowed: 2, x and z, or 3, x, y and z): cut a section or a "
               "volume out of it"));
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

}  // namespace moho::examples::trace_rays
