// SPDX-License-Identifier: BSD-3-Clause
//
// trace_rays: first-arrival traveltimes and rays by shortest paths on a grid graph.

#include "app/format.hpp"
#include "app/memory.hpp"
#include "app/program.hpp"
#include "app/summary.hpp"
#include "ranks/ranks.hpp"
#include "trace_rays/input.hpp"
#include "trace_rays/matrix.hpp"
#include "trace_rays/options.hpp"
#include "trace_rays/output.hpp"

#include <moho/core/space.hpp>
#include <moho/io/array.hpp>
#include <moho/io/model.hpp>
#include <moho/io/npy.hpp>
#include <moho/rays/share_sources.hpp>
#include <moho/survey/points_text.hpp>

#include <cmath>
#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

namespace moho::examples::trace_rays {

namespace {

namespace fs = std::filesystem;

// Description of a run, independent of its number type.
struct Done {
  double slowest = 0.0, quickest = 0.0;
  Json sources, receivers;
  MemoryEstimate memory;
  MemoryLimit limit;
  std::int64_t source_count = 0, receiver_count = 0, unreached = 0;
  std::size_t vertices = 0;
  double nodes = 0.0;  ///< summed over sources
  rays::GraphOptions graph;
  rays::TraceSummary results;
};

Json model_json(const ModelGrid& model, const Done& done) {
  Json json;
  json["name"] = model.name;
  add_grid(model, json);
  json["units"] = Json::object({{"length", "m"}, {"velocity", "m/s"}, {"time", "s"}});
  json["velocity_min"] = done.slowest;
  json["velocity_max"] = done.quickest;
  if (!model.notes.empty()) json["note"] = model.notes.front();
  return json;
}

Json run_json(const rays::TraceSummary& r) {
  Json json;
  json["device"] = r.device;
  json["threads"] = r.threads;
  json["neighbours"] = r.neighbours;
  json["weights"] = Json::object(
      {{"storage", to_string(r.storage)}, {"why", r.storage_reason}, {"bytes", r.weight_bytes}});
  json["memory"] = Json::object({{"budget_bytes", r.budget},
                                 {"field_bytes", r.field_bytes},
                                 {"weight_bytes", r.weight_bytes},
                                 {"groups_of_sources", r.groups}});
  json["rounds"] = r.report.rounds;
  json["tile_visits"] = r.report.tile_visits;
  json["relaxations"] = r.report.relaxations;
  json["batches"] = r.report.batches;
  json["weights"]["fragments"] = r.fragments;
  json["weights"]["fragments_computed"] = r.report.fragments;
  json["devices"] = r.devices;
  json["slabs"] = r.slabs;
  json["exchanges"] = r.report.exchanges;
  return json;
}

void finish(const Options& o, const ModelGrid& model, const Done& done, Session& session) {
  const rays::TraceSummary& r = done.results;
  const double work = session.phases.seconds("trace");
  const double relaxations = work > 0.0 ? static_cast<double>(r.report.relaxations) / work : 0.0;
  const double vertices = work > 0.0 ? done.nodes / work : 0.0;
  Json& summary = session.summary;
  summary["asked"] = session.requested();
  summary["asked"]["radius"] = done.graph.radius;
  summary["model"] = model_json(model, done);
  summary["sources"] = done.sources;
  summary["receivers"] = done.receivers;
  summary["rays"] = Json::object({{"count", done.source_count * done.receiver_count},
                                  {"vertices", done.vertices},
                                  {"unreached_receivers", done.unreached}});
  summary["run"] = run_json(r);
  summary["memory"] = memory_json(done.memory, done.limit);
  summary["rates"] =
      Json::object({{"relaxations_per_second", relaxations}, {"vertices_per_second", vertices}});

  Ending ending;
  ending.script = "plot_rays.py";
  ending.pictures = {"rays.png"};
  ending.picture_name = "rays.png";
  ending.lines = {concat("traced    ", counted(done.source_count, "source"), " to ",
                         counted(done.receiver_count, "receiver"), ", ", to_string(o.method),
                         " with radius ", done.graph.radius, " (", r.neighbours, " neighbours), ",
                         o.double_precision ? "double" : "float"),
                  concat("          on ", o.space, ": ", r.device),
                  "          " + r.storage_reason};
  if (done.unreached > 0) {
    ending.lines.push_back(concat("          ",
                                  counted(done.unreached, "receiver was", "receivers were"),
                                  " not reached by any ray"));
  }
  ending.rate = concat("rates     ", format_count(relaxations), "relaxations/s, ",
                       format_count(vertices), "vertices/s");
  session.finish(ending);
}

// Memory of the model and the traveltimes, estimated from options and headers. Throws unless one
// source at a time fits in addition. The memory of the graph is added when it is known.
template <class T>
MemoryEstimate estimate_memory(const Options& o, const MemoryLimit& limit) {
  MemoryEstimate estimate;
  std::vector<std::int64_t> shape = o.shape;
  double reading = 0.0;
  if (o.model == ModelKind::file) {
    try {
      const io::ModelHeader header = io::peek_model<T>(o.model_file);
      shape = header.shape;
      reading = header.reading_bytes;
    } catch (const Error&) {
      return estimate;  // the reader reports the error
    }
  }
  if ((shape.size() != 2 && shape.size() != 3) || io::shape_size(shape) < 1) return estimate;
  const auto nodes = static_cast<double>(io::shape_size(shape));
  const double field = nodes * sizeof(T);
  const double sources = static_cast<double>(
      shape.size() == 2 ? survey::count_points<2>(o.sources) : survey::count_points<3>(o.sources));
  estimate.take(field, "the model");
  estimate.pass(reading, "reading the model");
  estimate.take(field * sources, "traveltimes");
  // predecessors of a source, slowness and times with margins, reserve of the graph
  const double source = o.space == "cuda" ? 0.0 : 4.0 * nodes + 3.2 * field;
  estimate.pass(source, "one source");
  check_memory(concat(o.model == ModelKind::file ? "the model of " : "--shape: a model of ",
                      io::shape_string(shape), " nodes with ", counted(sources, "source")),
               estimate, limit,
               fitting_shape(shape, (field * (1.0 + sources) + source) / nodes,
                             limit.bytes - MemoryEstimate::process) +
                   (sources > 1.0 ? ", or fewer sources" : "") +
                   (o.double_precision ? ", or --precision float" : ""));
  if (o.plot) estimate.picture(field * (1.0 + sources), limit.bytes);
  return estimate;
}

// Prints the input that was read.
void print_job(const Options& o, const ModelGrid& model, const Done& done, const Session& session) {
  session.print("model     ", model.name, ": ", describe_grid(model));
  session.print("          velocity ", significant(done.slowest, 6), " to ",
                significant(done.quickest, 6), " m/s");
  for (const std::string& note : model.notes) session.print("          note: " + note);
  const int radius = done.graph.radius;
  const double late = model.shape.size() != 2
                          ? 0.0
                          : rays::angular_error_bound(radius, model.spacing[0] / model.spacing[1]);
  if (late > 1.5 * rays::angular_error_bound(radius)) {
    session.print("          note: the spacing is not equal: times are up to ",
                  significant(100.0 * late, 2), " % late");
  }
  if (o.sources.empty()) {
    session.print(
        "          note: no --source was given: one in the middle of the surface is taken");
  }
  if (o.receivers.empty()) {
    session.print("          note: no receivers were given: ", default_receivers,
                  " along the surface are taken");
  }
}

// Makes the job of the root from options and model; the velocity is moved.
// \param sharing ranks of this machine, which share its memory
template <class T, int Dim>
rays::TraceJob<T, Dim> make_job(const Options& o, const MemoryLimit& limit, int sharing,
                                Model<T>& model, std::vector<io::TextColumn>& texts) {
  rays::TraceJob<T, Dim> job;
  job.names = {"--memory", "--precision float", "--devices"};
  job.grid = grid_of<Dim>(model);
  job.graph.radius = check_radius<Dim>(o);
  job.graph.star = o.star;
  job.graph.rule = o.rule;
  job.graph.storage = o.storage;
  job.devices = o.devices;
  job.slabs = o.slabs;
  job.method = o.method;
  job.sources = make_sources<Dim>(o, job.grid);
  job.receivers = make_receivers<Dim>(o, job.grid, texts);
  check_velocity(model, job.grid);
  job.velocity = std::move(model.velocity);
  const bool on_host = o.space != "cuda";
  job.memory = o.memory;
  if (on_host && o.memory > 0) {
    job.ray_memory = rays::ray_bytes(job);
    const double room = limit.bytes - MemoryEstimate::process;
    if (job.ray_memory >= room) {
      throw MemoryError(concat("memory: rays from ", counted(job.sources.size(), "source"), " to ",
                               counted(job.receivers.size(), "receiver"), " take about ",
                               format_bytes(job.ray_memory), " (allowed: ", format_bytes(room),
                               ", the --memory given): raise --memory, or take fewer of them"));
    }
    job.memory = static_cast<std::size_t>(room - job.ray_memory);
  }
  if (on_host && sharing > 1) {
    const double whole = job.memory > 0 ? static_cast<double>(job.memory) : limit.bytes;
    job.memory = static_cast<std::size_t>(whole / sharing);
  }
  return job;
}

template <class T, int Dim>
void write_results(std::vector<std::int64_t> shape, const rays::TraceJob<T, Dim>& job,
                   const rays::TraceResult<T, Dim>& outcome,
                   const std::vector<io::TextColumn>& texts, Session& session) {
  const HostPhase phase(session.phases, "write");
  const fs::path& folder = session.folder();
  io::write_npy(folder / "velocity.npy", job.velocity.data(), shape);
  session.wrote("velocity.npy");
  shape.insert(shape.begin(), job.all_sources);
  io::write_npy(folder / "traveltime.npy", outcome.times.data(), shape);
  session.wrote("traveltime.npy");
  write_rays_csv<Dim>(folder / "rays.csv", outcome.paths);
  session.wrote("rays.csv");
  write_rays_vtk<Dim>(folder / "rays.vtk", outcome.paths);
  session.wrote("rays.vtk");
  write_receivers_csv<Dim>(folder / "receivers.csv", outcome.paths, job.receivers, texts);
  session.wrote("receivers.csv");
}

template <class T, int Dim>
void run_in(const Options& o, const MemoryEstimate& memory, const MemoryLimit& limit,
            Model<T>&& model, Session& session) {
  auto& ranks = static_cast<Ranks&>(session.processes());
  rays::TraceJob<T, Dim> job;
  job.names = {"--memory", "--precision float", "--devices"};
  Done done;
  std::vector<io::TextColumn> texts;  // text columns of receivers
  ranks.collectively([&] {
    if (!ranks.root()) return;
    const HostPhase phase(session.phases, "check");
    done.limit = limit;
    job = make_job<T, Dim>(o, limit, ranks.size_of_host(), model, texts);
    std::tie(done.slowest, done.quickest) = range_of(job.velocity);
    print_job(o, model, done, session);
  });
  std::string space = o.space;
  const std::vector<Point<Dim>> sources = job.sources;
  {
    const HostPhase phase(session.phases, "share");
    std::vector<char> name(space.begin(), space.end());
    broadcast_list(ranks, name);
    space.assign(name.begin(), name.end());
    rays::share_sources(ranks, job);
  }
  job.progress = session.progress();
  rays::TraceResult<T, Dim> outcome;
  ranks.collectively([&] {
    if (job.sources.empty()) return;
    with_space(space, [&](const auto& exec) { outcome = rays::trace_sources(exec, job); });
  });
  session.computed(outcome.phases);
  rays::collect_sources(ranks, job, outcome);
  session.summary["ranks"] = ranks.size();
  session.more_versions["mpi"] = Ranks::with_mpi() ? Json(Ranks::version()) : Json();
  ranks.finish();
  if (!ranks.root()) return;
  done.memory = memory;
  if (o.space != "cuda") {
    const double room = limit.bytes - memory.now();  // the run kept to it
    done.memory.pass(std::min(static_cast<double>(outcome.min_bytes), room), "one source");
  }
  done.memory.take(rays::ray_bytes<Dim>(static_cast<double>(outcome.paths.traveltime.size()),
                                        static_cast<double>(outcome.paths.points.size())),
                   "rays");
  if (o.space != "cuda") {
    done.memory.take(static_cast<double>(outcome.field_bytes + outcome.weight_bytes) -
                         static_cast<double>(job.grid.size()) * sizeof(T) *
                             static_cast<double>(1 + job.sources.size()),
                     "the graph");
    done.memory.pass(static_cast<double>(outcome.solver_bytes), "the solver");
  }
  for (const double time : outcome.paths.traveltime) done.unreached += std::isfinite(time) ? 0 : 1;
  done.source_count = job.all_sources;
  done.receiver_count = static_cast<std::int64_t>(job.receivers.size());

  rays::RayRows matrix;
  if (o.matrix) {
    const HostPhase phase(session.phases, "write");
    matrix = make_matrix<Dim>(job.grid, outcome.paths, *o.matrix);
  }
  session.begin_output();
  write_results(model.shape, job, outcome, texts, session);
  if (o.matrix) {
    const HostPhase phase(session.phases, "write");
    done.memory.pass(write_matrix(session.folder(), matrix, *o.matrix), "the matrix");
    session.wrote("matrix.npz");
    session.wrote("matrix.mtx");
  }
  done.sources = points_json(sources);
  done.receivers = points_json(job.receivers);
  done.vertices = outcome.paths.points.size();
  done.nodes = static_cast<double>(job.grid.size()) * static_cast<double>(done.source_count);
  done.graph = job.graph;
  done.results = outcome;
  finish(o, model, done, session);
}

template <class T>
void run_with(const Options& o, Session& session) {
  auto& ranks = static_cast<Ranks&>(session.processes());
  MemoryLimit limit;
  MemoryEstimate memory;
  Model<T> model;
  ranks.collectively([&] {
    if (!ranks.root()) return;
    std::vector<std::string> names{"velocity.npy", "traveltime.npy", "rays.csv", "rays.vtk",
                                   "receivers.csv"};
    if (o.matrix) names.insert(names.end(), {"matrix.npz", "matrix.mtx"});
    if (o.plot) names.emplace_back("rays.png");
    session.will_write(names);
    if (ranks.size() > 1 && (o.devices > 1 || o.slabs > 1)) {
      throw InputError(concat("--devices or --slabs was given to ", ranks.size(),
                              " ranks (allowed: one process, ranks share the sources): leave "
                              "mpirun or these options out"));
    }
    limit = memory_limit(o, o.space != "cuda");
    memory = estimate_memory<T>(o, limit);
    session.leave_out_picture(why_no_picture(memory, limit));
    {
      const HostPhase phase(session.phases, "read");
      model = load_model<T>(o);
    }
  });
  std::size_t dimensions = model.shape.size();
  ranks.broadcast(&dimensions, sizeof(dimensions));
  if (dimensions == 2) {
    run_in<T, 2>(o, memory, limit, std::move(model), session);
  } else if (dimensions == 3) {
    run_in<T, 3>(o, memory, limit, std::move(model), session);
  } else {
    throw InputError(
        concat(model.name, ": the model has ", model.shape.size(),
               " dimensions (allowed: 2, x and z, or 3, x, y and z): cut a section or a "
               "volume out of it"));
  }
}

void run(const Options& options, Session& session) {
  auto& ranks = static_cast<Ranks&>(session.processes());
  bool double_precision = options.double_precision;
  ranks.broadcast(&double_precision, sizeof(double_precision));
  if (double_precision) {
    run_with<double>(options, session);
  } else {
    run_with<float>(options, session);
  }
}

}  // namespace

}  // namespace moho::examples::trace_rays

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<trace_rays::Options>(
      argc, argv, trace_rays::describe, trace_rays::run,
      [](int& count, char**& words) { return std::make_unique<Ranks>(count, words); });
}
