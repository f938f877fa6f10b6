// SPDX-License-Identifier: BSD-3-Clause
//
// first_arrivals: traveltimes of first arrivals by the eikonal equation.

#include "app/builtin_models.hpp"
#include "app/earth_model.hpp"
#include "app/format.hpp"
#include "app/memory.hpp"
#include "app/program.hpp"
#include "app/summary.hpp"
#include "first_arrivals/options.hpp"
#include "ranks/ranks.hpp"

#include <moho/core/positions.hpp>
#include <moho/core/ranks.hpp>
#include <moho/core/space.hpp>
#include <moho/eikonal/traveltimes.hpp>
#include <moho/io/array.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>
#include <moho/survey/points_text.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

namespace moho::examples::first_arrivals {

namespace {

namespace fs = std::filesystem;

EarthModelOptions model_options(const Options& o) {
  EarthModelOptions requested;
  requested.shape = o.shape;
  requested.spacing = o.spacing;
  requested.origin = o.origin;
  requested.velocity_unit = o.model.empty() ? VelocityUnit::metres_per_second : o.velocity_unit;
  // a model by formula is first made with one number; its values are set afterwards
  requested.parameters["vp"] = o.model.empty() ? "1000" : o.model;
  if (!o.epsilon.empty()) requested.parameters["epsilon"] = o.epsilon;
  if (!o.delta.empty()) requested.parameters["delta"] = o.delta;
  return requested;
}

// Memory of a run, and the part that its solver may use.
struct Memory {
  MemoryEstimate estimate;
  MemoryLimit limit;
  double solver = 0.0;  ///< bytes
};

// Estimates it from options and headers; throws unless one source at a time fits.
// \param sharing ranks of this machine, each with separate sources
template <class T, int Dim>
Memory estimate_memory(const Options& o, const EarthModelNeed& need, int sharing) {
  const bool on_host = o.space != "cuda";
  Memory memory;
  memory.limit = memory_limit(o, on_host, sharing);
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) grid.extents[d] = need.shape[static_cast<std::size_t>(d)];
  const auto sources = static_cast<double>(survey::count_points<Dim>(o.sources));
  const double field = need.nodes() * sizeof(T);
  const double times = field * (o.each ? sources : 1.0);
  MemoryEstimate& estimate = memory.estimate;
  estimate.take(need.values, "the model");
  // a model by formula needs a second array
  estimate.pass(o.model.empty() ? field : need.passing, "reading the model");
  estimate.take(times, "traveltimes");
  std::string advice = fitting_shape(need.shape, (need.values + times) / need.nodes(),
                                     memory.limit.bytes - MemoryEstimate::process);
  if (on_host) {
    const bool anelliptic = !o.delta.empty();
    const double each = eikonal::bytes_per_source<T, Dim>(
        grid, anelliptic, o.order, o.solver == Solver::fast_marching, on_host);
    advice = fitting_shape(need.shape, (need.values + times + each) / need.nodes(),
                           memory.limit.bytes - MemoryEstimate::process);
    const double room = memory.limit.bytes - estimate.now();
    const double at_once =
        o.solver == Solver::fast_marching ? 1.0 : std::floor(std::min(sources, room / each));
    memory.solver = std::max(room, 0.0);
    estimate.pass(each * std::max(at_once, 1.0), "the solver");
  }
  if (o.plot) estimate.picture(field + times, memory.limit.bytes);
  check_memory(concat("a model of ", io::shape_string(need.shape), " nodes"), estimate,
               memory.limit, advice + (o.double_precision ? ", or --precision float" : ""));
  return memory;
}

template <class T>
EarthModel<T> load_model(const Options& o) {
  const EarthModelOptions requested = model_options(o);
  EarthModel<T> model;
  model = load_earth_model<T>(requested);
  if (!o.builtin.empty()) {
    model.name = "--builtin salt";
    model.values["vp"] = salt_model<T>(model);
  } else if (o.model.empty()) {
    model.name = concat("--gradient ", o.v0, ",", o.gradient);
    std::vector<double> v0{o.v0};
    to_metres_per_second(model.name, o.velocity_unit, "", "", v0, model.notes);
    model.values["vp"] = gradient_model<T>(model, v0.front(), o.gradient);
  }
  return model;
}

template <int Dim>
Points<Dim> make_sources(const Options& o, const Grid<Dim>& grid) {
  Points<Dim> sources = survey::points_from_texts<Dim>(o.sources, "--source");
  if (o.sources.empty()) {
    Point<Dim> middle = grid.origin;
    for (int d = 0; d + 1 < Dim; ++d) middle[d] = 0.5 * (grid.origin[d] + grid.upper(d));
    sources.push_back(middle);
  }
  return sources;
}

// Traveltime between nodes, interpolated linearly along every axis.
template <class T, int Dim>
double time_at(const Grid<Dim>& grid, const T* times,
               const std::type_identity_t<Point<Dim>>& position) {
  const Point<Dim> q = grid.to_index_space(position);
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

// Writes times at the receivers. The source's number is the first column if it is known; the
// earliest of several sources has no number.
template <class T, int Dim>
void write_receivers(const fs::path& path, const Grid<Dim>& grid, const std::vector<T>& times,
                     bool source_known, const Points<Dim>& receivers,
                     const std::vector<io::TextColumn>& texts) {
  io::AtomicFile file(path);
  file.write(concat(
      source_known ? "source,receiver," : "receiver,", Dim == 2 ? "x,z" : "x,y,z", ",traveltime",
      io::header_of(texts, {"source", "receiver", "x", "y", "z", "traveltime"}), '\n'));
  const auto nodes = static_cast<std::size_t>(grid.size());
  std::string text;
  for (std::size_t s = 0; s * nodes < times.size(); ++s) {
    for (std::size_t k = 0; k < receivers.size(); ++k) {
      text = source_known ? std::to_string(s) + ',' : std::string();
      text += std::to_string(k);
      for (int d = 0; d < Dim; ++d) {
        text += ',';
        io::append_number(text, receivers[k][d]);
      }
      text += ',';
      io::append_number(text, time_at(grid, times.data() + s * nodes, receivers[k]));
      text += io::fields_of(texts, k);
      text += '\n';
      file.write(text);
    }
  }
  file.commit();
}

// Description of a run, independent of its number type.
struct Done {
  const char* medium = "";
  double slowest = 0.0, quickest = 0.0, latest = 0.0;
  Json sources, receivers;
  std::size_t source_count = 0;
  double nodes = 0.0;  ///< summed over sources
  std::string device;
  eikonal::Report report;
};

void finish(const Options& o, const ModelGrid& model, const Done& done, Session& session) {
  const double solved = session.phases.seconds("solve");
  const double rate = solved > 0.0 ? done.nodes / solved : 0.0;
  const std::string& solver = solver_names[static_cast<std::size_t>(o.solver)];
  const char* const precision = o.double_precision ? "double" : "float";
  Json& summary = session.summary;
  summary["asked"] = session.requested();
  summary["asked"]["model"] = model.name;
  Json& described = summary["model"];
  described["name"] = model.name;
  described["medium"] = done.medium;
  add_grid(model, described);
  described["units"] = Json::object({{"length", "m"}, {"velocity", "m/s"}, {"time", "s"}});
  described["velocity_min"] = done.slowest;
  described["velocity_max"] = done.quickest;
  summary["sources"] = done.sources;
  summary["receivers"] = done.receivers;
  summary["run"] =
      Json::object({{"device", done.device},
                    {"rounds", done.report.rounds},
                    {"tile_visits", done.report.tile_visits},
                    {"updates_per_node", static_cast<double>(done.report.updates) / done.nodes},
                    {"batches", done.report.batches},
                    {"nodes_per_second", rate}});
  summary["time_max"] = done.latest;

  Ending ending;
  ending.script = "plot_times.py";
  ending.pictures = {"times.png"};
  ending.picture_name = "times.png";
  ending.lines = {concat("solved    ", counted(done.source_count, "source"), ", ", solver,
                         " of order ", o.order, o.factored ? "" : ", unfactored", ", ", precision,
                         ", on ", o.space, ": ", done.device)};
  ending.rate = concat("rate      ", format_count(rate), "nodes/s");
  session.finish(ending);
}

// Assigns each rank its part of the sources, by equations 7 to 10 of Couder-Castaneda et al.
// (2013). The earliest of several sources makes one field, which the root computes.
template <class T, int Dim>
void share_sources(const Ranks& ranks, eikonal::TraveltimeJob<T, Dim>& job) {
  if (ranks.alone()) return;
  if (job.each) {
    const mpi::Part part =
        mpi::part_of(static_cast<std::int64_t>(job.sources.size()), ranks.size(), ranks.rank());
    job.sources = {job.sources.begin() + part.first, job.sources.begin() + part.last};
  } else if (!ranks.root()) {
    job.sources.clear();
  }
}

// Collects the times of all ranks on the root, in the order of the sources.
template <class T>
void collect(Ranks& ranks, eikonal::Traveltimes<T>& outcome) {
  if (ranks.alone()) return;
  const auto* const bytes = reinterpret_cast<const char*>(outcome.times.data());
  const auto all =
      ranks.gather_bytes(std::vector<char>(bytes, bytes + outcome.times.size() * sizeof(T)));
  eikonal::Report& report = outcome.report;
  std::vector<double> sums{static_cast<double>(report.rounds),
                           static_cast<double>(report.tile_visits),
                           static_cast<double>(report.updates),
                           outcome.times.empty() ? 0.0 : static_cast<double>(report.batches)};
  ranks.sum_to_root(sums);
  if (!ranks.root()) return;
  report.rounds = std::llround(sums[0]);
  report.tile_visits = std::llround(sums[1]);
  report.updates = std::llround(sums[2]);
  report.batches = std::llround(sums[3]);
  outcome.times.clear();
  for (const std::vector<char>& theirs : all) {
    const auto* const values = reinterpret_cast<const T*>(theirs.data());
    outcome.times.insert(outcome.times.end(), values, values + theirs.size() / sizeof(T));
  }
}

// Makes the job from options and model, and reads the receivers; the model's values are moved.
template <class T, int Dim>
eikonal::TraveltimeJob<T, Dim> make_job(const Options& o, const Memory& memory,
                                        EarthModel<T>& model, Points<Dim>& receivers,
                                        std::vector<io::TextColumn>& texts) {
  eikonal::TraveltimeJob<T, Dim> job;
  job.grid = grid_of<Dim>(model);
  job.sources = make_sources<Dim>(o, job.grid);
  try {
    // before ranks share them, so that numbers are those of the options
    check_positions<Dim>(job.grid, job.sources, "source");
  } catch (const InputError& error) {
    throw InputError(concat("--source: ", error.what()));
  }
  if (!o.receivers.empty()) {
    receivers = survey::points_from_text<Dim>(o.receivers, "--receivers", &texts);
  }
  try {
    check_positions<Dim>(job.grid, receivers, "receiver");
  } catch (const InputError& error) {
    throw InputError(concat("--receivers: ", error.what()));
  }
  job.velocity = std::move(model.values["vp"]);
  job.epsilon = std::move(model.values["epsilon"]);
  job.delta = std::move(model.values["delta"]);
  job.each = o.each;
  job.fast_marching = o.solver == Solver::fast_marching;
  job.options.order = o.order;
  job.options.factored = o.factored;
  job.options.memory_budget =
      o.space == "cuda" ? o.memory
                        : std::max<std::size_t>(static_cast<std::size_t>(memory.solver), 1);
  job.options.method =
      o.solver == Solver::sweeping ? eikonal::Method::sweeping : eikonal::Method::active_tiles;
  return job;
}

template <class T, int Dim>
void run_in(const Options& o, const Memory& memory, EarthModel<T>&& model, Session& session) {
  auto& ranks = static_cast<Ranks&>(session.processes());
  eikonal::TraveltimeJob<T, Dim> job;
  Points<Dim> receivers;
  std::vector<io::TextColumn> texts;  // text columns of receivers
  ranks.collectively([&] {
    const HostPhase phase(session.phases, "check");
    job = make_job<T, Dim>(o, memory, model, receivers, texts);
    session.summary["memory"] = memory_json(memory.estimate, memory.limit);
  });
  Done done;
  std::tie(done.slowest, done.quickest) = range_of(job.velocity);
  done.medium = job.delta.empty() ? job.epsilon.empty() ? "isotropic" : "elliptical" : "VTI";
  session.print("model     ", model.name, ": ", describe_grid(model));
  session.print("          ", done.medium, ", velocity ", significant(done.slowest, 6), " to ",
                significant(done.quickest, 6), " m/s");
  for (const std::string& note : model.notes) session.print("          note: " + note);
  if (o.sources.empty()) {
    session.print(
        "          note: no --source was given: one in the middle of the surface is taken");
  }

  job.options.progress = session.progress();
  eikonal::Traveltimes<T> outcome;
  const Points<Dim> sources = job.sources;
  share_sources(ranks, job);
  ranks.collectively([&] {
    if (job.sources.empty()) return;
    try {
      with_space(o.space,
                 [&](const auto& exec) { outcome = eikonal::compute_traveltimes(exec, job); });
    } catch (const InputError& error) {  // of the model
      const std::string text = error.what();
      const bool fraction = text.starts_with("epsilon") || text.starts_with("delta");
      throw InputError(concat(text.starts_with("velocity") ? concat(model.name, ": ") : "",
                              fraction ? "--" : "", text));
    }
  });
  session.computed(outcome.phases);
  collect(ranks, outcome);
  session.summary["ranks"] = ranks.size();
  ranks.finish();
  if (!ranks.root()) return;
  job.sources = sources;

  session.begin_output();
  const fs::path& folder = session.folder();
  {
    const HostPhase phase(session.phases, "write");
    std::vector<std::int64_t> shape(model.shape);
    io::write_npy(folder / "velocity.npy", job.velocity.data(), shape);
    if (o.each) shape.insert(shape.begin(), static_cast<std::int64_t>(job.sources.size()));
    session.wrote("velocity.npy");
    io::write_npy(folder / "times.npy", outcome.times.data(), shape);
    session.wrote("times.npy");
    if (!receivers.empty()) {
      write_receivers<T, Dim>(folder / "receivers.csv", job.grid, outcome.times,
                              o.each || job.sources.size() == 1, receivers, texts);
      session.wrote("receivers.csv");
    }
  }
  done.latest = range_of(outcome.times).second;
  done.sources = points_json(job.sources);
  done.receivers = points_json(receivers);
  done.source_count = job.sources.size();
  done.nodes = static_cast<double>(job.grid.size()) * static_cast<double>(done.source_count);
  done.device = outcome.device;
  done.report = outcome.report;
  finish(o, model, done, session);
}

template <class T>
void run_with(const Options& o, Session& session) {
  Memory memory;
  EarthModel<T> model;
  session.processes().collectively([&] {
    std::vector<std::string> names{"velocity.npy", "times.npy"};
    if (!o.receivers.empty()) names.emplace_back("receivers.csv");
    if (o.plot) names.emplace_back("times.png");
    session.will_write(names);
    const EarthModelNeed need = need_of_earth_model<T>(model_options(o));
    const int sharing = session.processes().size_of_host();
    if (need.shape.size() == 2) memory = estimate_memory<T, 2>(o, need, sharing);
    if (need.shape.size() == 3) memory = estimate_memory<T, 3>(o, need, sharing);
    session.leave_out_picture(why_no_picture(memory.estimate, memory.limit));
    const HostPhase phase(session.phases, "read");
    model = load_model<T>(o);
  });
  if (model.shape.size() == 2) {
    run_in<T, 2>(o, memory, std::move(model), session);
  } else {
    run_in<T, 3>(o, memory, std::move(model), session);
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

}  // namespace moho::examples::first_arrivals

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<first_arrivals::Options>(
      argc, argv, first_arrivals::describe, first_arrivals::run,
      [](int& count, char**& words) { return std::make_unique<Ranks>(count, words, true); });
}
