// SPDX-License-Identifier: BSD-3-Clause
#include "first_arrivals/run.hpp"

#include "common/acquisition.hpp"
#include "common/builtin_models.hpp"
#include "common/earth_model.hpp"
#include "common/format.hpp"
#include "common/stopwatch.hpp"
#include "common/summary.hpp"
#include "first_arrivals/solve_on.hpp"

#include <moho/core/progress.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace moho::examples::first_arrivals {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The message of an error about the velocity, which this program calls --model.
std::string renamed(std::string text) {
  for (std::size_t at = 0; (at = text.find("--vp ", at)) != std::string::npos;) {
    text.replace(at, 5, "--model ");
  }
  return text;
}

template <class T>
EarthModel<T> load_model(const Options& o) {
  EarthModelOptions asked;
  asked.shape = o.shape;
  asked.spacing = o.spacing;
  asked.origin = o.origin;
  // a model by formula is one of a number first, whose values are put in afterwards
  asked.parameters["vp"] = o.model.empty() ? "1000" : o.model;
  if (!o.epsilon.empty()) asked.parameters["epsilon"] = o.epsilon;
  if (!o.delta.empty()) asked.parameters["delta"] = o.delta;
  EarthModel<T> model;
  try {
    model = load_earth_model<T>(asked);
  } catch (const InputError& error) {
    throw InputError(renamed(error.what()));
  } catch (const FileError& error) {
    throw FileError(renamed(error.what()));
  }
  model.name = renamed(model.name);
  if (o.salt) {
    model.name = "--builtin salt";
    model.values["vp"] = sample_model<T>(model.shape, salt_velocity);
  } else if (o.model.empty()) {
    model.name = concat("--gradient ", o.v0, ",", o.gradient);
    const double top = model.origin.back();
    const double depth = model.spacing.back() * static_cast<double>(model.shape.back() - 1);
    model.values["vp"] = sample_model<T>(model.shape, [&](double, double, double z) {
      return o.v0 + o.gradient * (top + depth * z);
    });
  }
  return model;
}

template <int Dim>
Points<Dim> make_sources(const Options& o, const Grid<Dim>& grid) {
  Points<Dim> sources;
  for (const std::string& text : o.sources) {
    const Points<Dim> some = read_points<Dim>("--source", text);
    sources.insert(sources.end(), some.begin(), some.end());
  }
  if (o.sources.empty()) {
    Point<Dim> middle = grid.origin;
    for (int d = 0; d + 1 < Dim; ++d) middle[d] = 0.5 * (grid.origin[d] + grid.upper(d));
    sources.push_back(middle);
  }
  return sources;
}

template <int Dim>
void check_receivers(const Points<Dim>& receivers, const Grid<Dim>& grid) {
  for (std::size_t k = 0; k < receivers.size(); ++k) {
    if (grid.contains(receivers[k])) continue;
    std::string allowed;
    for (int d = 0; d < Dim; ++d) {
      allowed +=
          concat(d ? ", " : "", axis_name<Dim>(d), " ", grid.origin[d], " to ", grid.upper(d));
    }
    throw InputError(concat("--receivers: receiver ", k, " at ", format_point(receivers[k]),
                            " is outside of the model (allowed: ", allowed,
                            "): move it inside, or check the order of the coordinates"));
  }
}

// The time between nodes, linear along every axis.
template <class T, int Dim>
double time_at(const Grid<Dim>& grid, const T* times,
               const std::type_identity_t<Point<Dim>>& place) {
  const Point<Dim> q = grid.to_index_space(place);
  double sum = 0.0;
  for (int corner = 0; corner < (1 << Dim); ++corner) {
    Index<Dim> node{};
    double weight = 1.0;
    for (int d = 0; d < Dim; ++d) {
      const double last = static_cast<double>(std::max<std::int64_t>(grid.extents[d] - 2, 0));
      const double first = std::clamp(std::floor(q[d]), 0.0, last);
      const double upper = std::clamp(q[d] - first, 0.0, 1.0);
      const bool high = (corner >> d) & 1;
      weight *= high ? upper : 1.0 - upper;
      node[d] = std::min(static_cast<std::int64_t>(first) + (high ? 1 : 0), grid.extents[d] - 1);
    }
    if (weight > 0.0) sum += weight * static_cast<double>(times[grid.flat(node)]);
  }
  return sum;
}

template <class T, int Dim>
void write_receivers(const fs::path& path, const Grid<Dim>& grid, const std::vector<T>& times,
                     const Points<Dim>& receivers) {
  io::AtomicFile file(path);
  file.write(concat("source,receiver,", Dim == 2 ? "x,z" : "x,y,z", ",traveltime\n"));
  const auto nodes = static_cast<std::size_t>(grid.size());
  std::string text;
  for (std::size_t s = 0; s * nodes < times.size(); ++s) {
    for (std::size_t k = 0; k < receivers.size(); ++k) {
      text = std::to_string(s) + ',' + std::to_string(k);
      for (int d = 0; d < Dim; ++d) {
        text += ',';
        io::append_number(text, receivers[k][d]);
      }
      text += ',';
      io::append_number(text, time_at(grid, times.data() + s * nodes, receivers[k]));
      text += '\n';
      file.write(text);
    }
  }
  file.commit();
}

template <int Dim>
Json to_json(const Points<Dim>& points) {
  Json list = Json::array();
  for (const Point<Dim>& p : points) {
    Json one = Json::array();
    for (int d = 0; d < Dim; ++d) one.push_back(p[d]);
    list.push_back(one);
  }
  return list;
}

template <class T, int Dim>
void run_in(const Options& o, EarthModel<T>&& model, PhaseTimes& phases, Stage& stage) {
  Job<T, Dim> job;
  Points<Dim> receivers;
  {
    const Stopwatch watch(phases, "check");
    for (int d = 0; d < Dim; ++d) {
      const auto k = static_cast<std::size_t>(d);
      job.grid.extents[d] = model.shape[k];
      job.grid.spacing[d] = model.spacing[k];
      job.grid.origin[d] = model.origin[k];
    }
    job.grid.check();
    job.sources = make_sources<Dim>(o, job.grid);
    if (!o.receivers.empty()) receivers = read_points<Dim>("--receivers", o.receivers);
    check_receivers(receivers, job.grid);
    job.velocity = std::move(model.values["vp"]);
    job.epsilon = std::move(model.values["epsilon"]);
    job.delta = std::move(model.values["delta"]);
    job.each = o.each;
    job.solver = o.solver;
    job.options.order = o.order;
    job.options.factored = o.factored;
    job.options.memory_budget = o.memory;
    job.options.method =
        o.solver == Solver::sweeping ? eikonal::Method::sweeping : eikonal::Method::active_tiles;
  }
  const auto [low, high] = std::minmax_element(job.velocity.begin(), job.velocity.end());
  const T slowest = *low, quickest = *high;
  const char* const medium =
      job.delta.empty() ? job.epsilon.empty() ? "isotropic" : "elliptical" : "VTI";
  say("model     ", model.name, ": ", shape_string(job.grid), " nodes, ", medium, ", velocity ",
      significant(slowest, 6), " to ", significant(quickest, 6), " m/s");
  for (const std::string& note : model.notes) say("          note: ", note);
  std::fflush(stdout);

  TerminalProgress bar;
  job.options.progress = bar.callback();
  Outcome<T> outcome;
  with_space(o.space, [&](const auto& exec) { outcome = solve_on<T, Dim>(exec, job); });
  bar.clear();
  for (const auto& [phase, seconds] : outcome.phases.phases()) phases.add(phase, seconds);

  stage = Stage::output;
  const fs::path folder = o.out;
  std::vector<std::string> files{"times.npy", "velocity.npy"};
  std::vector<std::int64_t> shape(model.shape);
  {
    const Stopwatch watch(phases, "write");
    // Files of an earlier run would not belong to these results.
    std::error_code ignored;
    fs::remove(folder / "times.png", ignored);
    fs::remove(folder / "receivers.csv", ignored);
    io::write_npy(folder / "velocity.npy", job.velocity.data(), shape);
    if (o.each) shape.insert(shape.begin(), static_cast<std::int64_t>(job.sources.size()));
    io::write_npy(folder / "times.npy", outcome.times.data(), shape);
    if (!receivers.empty()) {
      write_receivers<T, Dim>(folder / "receivers.csv", job.grid, outcome.times, receivers);
      files.push_back("receivers.csv");
    }
  }
  files.push_back("summary.json");

  const double solved = phases.seconds("solve");
  const double nodes =
      static_cast<double>(job.grid.size()) * static_cast<double>(job.sources.size());
  const char* const solver = solver_names[static_cast<int>(o.solver)];
  Json summary;
  summary["program"] = "first_arrivals";
  summary["asked"] = {{"model", model.name},
                      {"epsilon", o.epsilon},
                      {"delta", o.delta},
                      {"order", o.order},
                      {"factored", o.factored},
                      {"method", solver},
                      {"each", o.each},
                      {"precision", std::is_same_v<T, float> ? "float" : "double"},
                      {"space", o.space},
                      {"memory", o.memory > 0 ? Json(o.memory) : Json("what is free")},
                      {"out", o.out}};
  Json axes = Json::array();
  for (int d = 0; d < Dim; ++d) axes.push_back(axis_name<Dim>(d));
  summary["model"] = {{"name", model.name},
                      {"medium", medium},
                      {"axes", axes},
                      {"shape", model.shape},
                      {"spacing", model.spacing},
                      {"origin", model.origin},
                      {"units", {{"length", "m"}, {"velocity", "m/s"}, {"time", "s"}}},
                      {"velocity_min", slowest},
                      {"velocity_max", quickest}};
  summary["sources"] = to_json<Dim>(job.sources);
  summary["receivers"] = to_json<Dim>(receivers);
  summary["run"] = {{"device", outcome.device},
                    {"rounds", outcome.report.rounds},
                    {"tile_visits", outcome.report.tile_visits},
                    {"updates_per_node", static_cast<double>(outcome.report.updates) / nodes},
                    {"batches", outcome.report.batches},
                    {"nodes_per_second", solved > 0.0 ? nodes / solved : 0.0}};
  summary["time_max"] = *std::max_element(outcome.times.begin(), outcome.times.end());
  summary["versions"] = versions();
  summary["machine"] = machine();
  const auto write_summary = [&] {
    summary["files"] = files;
    summary["seconds"] = seconds(phases);
    io::write_text(folder / "summary.json", summary.dump(2) + "\n");
  };
  write_summary();
  Picture picture{false, "--no-plot was given"};
  if (o.plot) {
    {
      const Stopwatch watch(phases, "picture");
      picture = draw_picture("plot_times.py", {folder.string()});
    }
    if (picture.drawn) files.push_back("times.png");
  }
  summary["picture"] = picture.drawn ? Json("times.png") : Json("not drawn: " + picture.why);
  write_summary();

  say("solved    ", job.sources.size(), job.sources.size() == 1 ? " source, " : " sources, ",
      solver, " of order ", o.order, o.factored ? "" : ", unfactored", ", ",
      std::is_same_v<T, float> ? "float" : "double", ", on ", o.space, ": ", outcome.device);
  std::string list;
  for (const auto& [phase, value] : phases.phases()) {
    list += concat(" ", phase, " ", fixed(value, 3), ",");
  }
  say("seconds  ", list, " total ", fixed(phases.total(), 3));
  say("rate      ", format_count(solved > 0.0 ? nodes / solved : 0.0), "nodes/s");
  list.clear();
  for (const std::string& file : files) list += " " + file;
  say("written   ", folder.string(), ":", list);
  if (o.plot && !picture.drawn) say("picture not drawn: ", picture.why);
}

template <class T>
void run_with(const Options& o, Stage& stage) {
  PhaseTimes phases;
  EarthModel<T> model;
  {
    const Stopwatch watch(phases, "read");
    model = load_model<T>(o);
  }
  if (model.shape.size() == 2) {
    run_in<T, 2>(o, std::move(model), phases, stage);
  } else {
    run_in<T, 3>(o, std::move(model), phases, stage);
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

}  // namespace moho::examples::first_arrivals
