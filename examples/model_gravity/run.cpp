// SPDX-License-Identifier: BSD-3-Clause
//
// model_gravity: gravity, its gradient and the potential of an ensemble of prisms at stations.
// It runs on one processor, or on several through MPI.

#include "app/format.hpp"
#include "app/memory.hpp"
#include "app/program.hpp"
#include "app/summary.hpp"
#include "model_gravity/input.hpp"
#include "model_gravity/options.hpp"
#include "model_gravity/output.hpp"
#include "ranks/ranks.hpp"

#include <moho/core/space.hpp>
#include <moho/gravity/share.hpp>
#include <moho/io/npy.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace moho::examples::model_gravity {

namespace {

// Where all ranks compute.
struct Where {
  bool double_precision = true;
  char space[16] = "";
};

// The job of all ranks; arrays of the input are moved, except the stations.
gravity::MagneticJob make_job(const Options& o, Input& input, double held) {
  gravity::MagneticJob job;
  job.regular = input.regular;
  job.mesh = input.mesh;
  job.stations = input.stations;
  job.densities = std::move(input.densities);
  job.prisms = std::move(input.prisms);
  job.remanence = std::move(input.remanence);
  if (o.magnetic) job.magnetic_components = o.magnetic_components;
  job.components = o.components;
  job.ambient = o.ambient;
  job.options.strategy = o.strategy;
  job.options.constant = o.constant;
  job.options.far_tolerance = o.far_tolerance;
  job.options.tolerance = o.tolerance;
  job.options.memory_budget = o.memory;
  if (o.space != "cuda" && o.memory > 0) {
    job.options.memory_budget =
        static_cast<std::size_t>(std::max(static_cast<double>(o.memory) - held, 1.0));
  }
  job.options.team_size = o.team_size;
  job.options.teams = o.teams;
  return job;
}

std::string describe_mesh(const gravity::RegularMesh& mesh) {
  std::string cells, extent;
  for (int d = 0; d < 3; ++d) {
    cells += concat(d ? " x " : "", mesh.cells[d]);
    extent += concat(d ? ", " : "", "xyz"[d], " ", mesh.lower[d], " to ", mesh.upper[d]);
  }
  return concat("mesh of ", cells, " (", extent, " m)");
}

// Smallest and largest coordinate along an axis: every third number, starting at `axis`.
std::pair<double, double> range_of(const std::vector<double>& rows, std::size_t axis) {
  double low = rows[axis], high = rows[axis];
  for (std::size_t k = axis; k < rows.size(); k += 3) {
    low = std::min(low, rows[k]);
    high = std::max(high, rows[k]);
  }
  return {low, high};
}

void print_input(const Options& o, const Input& input, const gravity::Masses& masses,
                 const Session& session) {
  session.print(
      "prisms    ", input.name, ": ",
      input.regular ? describe_mesh(input.mesh) + ", " : std::string(),
      counted(masses.prisms, "prism"), " of ",
      o.magnetic ? std::string("susceptibility ") : std::string(), significant(masses.lowest, 6),
      masses.lowest == masses.highest ? std::string() : " to " + significant(masses.highest, 6),
      o.magnetic ? "" : " kg/m^3");
  if (o.magnetic) session.print(magnetic_text(o, input));
  std::string extent;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [low, high] = range_of(input.stations, d);
    extent += concat(d ? ", " : "", "xyz"[d], " ", low, low == high ? "" : concat(" to ", high));
  }
  session.print("stations  ", input.stations_name, ": ",
                input.grid ? concat(input.grid->nx, " x ", input.grid->ny)
                           : concat(input.stations.size() / 3),
                " (", extent, " m; z down)");
  for (const std::string& note : input.notes) session.print("          note: ", note);
  if (!o.grid && o.stations_file.empty()) {
    session.print("          note: no stations were given: those of the paper are taken");
  }
}

Json ensemble_json(const Input& input, const gravity::Masses& masses, bool magnetic) {
  Json json;
  json["name"] = input.name;
  json["kind"] = input.regular ? "regular" : "irregular";
  const auto three = [](const auto& list) { return Json::array({list[0], list[1], list[2]}); };
  if (input.regular) {
    json["cells"] = three(input.mesh.cells);
    json["lower"] = three(input.mesh.lower);
    json["upper"] = three(input.mesh.upper);
  }
  json["prisms"] = masses.prisms;
  const std::string name = magnetic ? "susceptibility" : "density";
  json[name + "_min"] = masses.lowest;
  json[name + "_max"] = masses.highest;
  return json;
}

Json stations_json(const Input& input) {
  Json json;
  json["name"] = input.stations_name;
  json["count"] = input.stations.size() / 3;
  if (input.grid) {
    const StationGrid& g = *input.grid;
    json["grid"] = Json::object(
        {{"nx", g.nx}, {"ny", g.ny}, {"dx", g.dx}, {"dy", g.dy}, {"x0", g.x0}, {"y0", g.y0}});
  } else {
    json["grid"] = nullptr;
  }
  if (!input.notes.empty()) json["notes"] = input.notes;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [low, high] = range_of(input.stations, d);
    json[std::string(1, "xyz"[d])] = Json::array({low, high});
  }
  return json;
}

RankReport report_of(const gravity::FieldResult& outcome) {
  RankReport report;
  if (::gethostname(report.host, sizeof(report.host) - 1) != 0) report.host[0] = '\0';
  std::strncpy(report.device, outcome.device.c_str(), sizeof(report.device) - 1);
  report.prisms = outcome.report.prisms;
  report.memory = outcome.report.memory;
  report.seconds = outcome.report.times.total();
  return report;
}

Json ranks_json(const std::vector<RankReport>& reports) {
  Json list = Json::array();
  for (std::size_t q = 0; q < reports.size(); ++q) {
    const RankReport& r = reports[q];
    list.push_back(Json::object({{"rank", q},
                                 {"host", r.host},
                                 {"device", r.device},
                                 {"prisms", r.prisms},
                                 {"memory_bytes", r.memory},
                                 {"seconds", r.seconds}}));
  }
  return list;
}

const char* table_name(const Options& o) { return o.magnetic ? "magnetic.csv" : "gravity.csv"; }

std::vector<std::string> names_of_results(const Options& o) {
  std::vector<std::string> names;
  for (const Quantity& quantity : quantities(o)) {
    names.push_back(quantity.name + ".npy");
    if (o.plot) names.push_back(quantity.name + ".png");
  }
  if (o.plot) names.emplace_back("maps.png");
  if (o.csv) names.emplace_back(table_name(o));
  if (!o.stations_file.empty()) names.emplace_back("stations.npy");
  return names;
}

// Host memory of the first rank's run, estimated from options and headers.
// The work space of the sum is not included. `held` gets the bytes in use during the sum.
MemoryEstimate estimate_memory(const Options& o, double& held) {
  const InputNeed need = need_of_input(o);
  const auto components = static_cast<double>(quantities(o).size());
  MemoryEstimate estimate;
  estimate.take(need.input,
                o.ensemble == Ensemble::prisms ? "prisms and stations" : "cells and stations");
  estimate.pass(need.passing, "reading files");
  // a second copy of the stations for the sum, and results
  estimate.take((24.0 + 8.0 * components) * need.stations, "results at stations");
  held = estimate.now() - MemoryEstimate::process;
  const MemoryLimit limit = memory_limit(o, o.space != "cuda");
  // packed stations, one grid of sums, and prisms of a list
  const bool on_host = o.space != "cuda";
  const double min = on_host ? (24.0 + 8.0 * components) * need.stations +
                                   (o.ensemble == Ensemble::prisms ? 64.0 * need.rows : 0.0)
                             : 0.0;
  MemoryEstimate whole = estimate;
  whole.pass(min, "the sum");
  if (o.plot) estimate.picture(8.0 * components * need.stations, limit.bytes);
  const double each = (48.0 + 16.0 * components);
  const double room = limit.bytes - MemoryEstimate::process - (need.input - 24.0 * need.stations);
  const std::string part = o.ensemble == Ensemble::prisms ? "prism" : "cell";
  check_memory(
      concat(o.grid ? "--grid: " : "", counted(std::round(need.rows), part), " and ",
             counted(std::round(need.stations), "station"), " with their results"),
      whole, limit,
      room > each ? concat("some ", counted(std::floor(room / each), "station"), " would fit")
                  : concat("some ",
                           counted(std::floor(std::max(limit.bytes - MemoryEstimate::process, 0.0) /
                                              (o.ensemble == Ensemble::prisms ? 120.0 : 8.0)),
                                   part),
                           " would fit"));
  return estimate;
}

Json components_json(const Options& o, const std::vector<gravity::Extremes>& extremes) {
  Json list = Json::array();
  const std::vector<Quantity> all = quantities(o);
  for (std::size_t c = 0; c < all.size(); ++c) {
    const gravity::Extremes& e = extremes[c];
    list.push_back(Json::object({{"name", all[c].name},
                                 {"unit", all[c].unit},
                                 {"min", e.any ? Json(e.lowest) : Json()},
                                 {"max", e.any ? Json(e.highest) : Json()},
                                 {"nan", e.missing}}));
  }
  return list;
}

void finish(const Options& o, const Input& input, const gravity::Masses& masses,
            const gravity::FieldResult& outcome, const std::vector<gravity::Extremes>& extremes,
            const std::vector<RankReport>& reports, Session& session) {
  double work = session.phases.seconds("ranks");
  for (const char* phase : {"prepare", "sum", "reduce"}) work += session.phases.seconds(phase);
  const double pairs =
      static_cast<double>(masses.prisms) * static_cast<double>(input.stations.size() / 3);
  const double rate = work > 0.0 ? pairs / work : 0.0;
  const gravity::Report& report = outcome.report;
  Json& summary = session.summary;
  summary["asked"] = session.requested();
  summary["units"] = Json::object({{"length", "m"},
                                   {"density", "kg/m3"},
                                   {"potential", "m2/s2"},
                                   {"attraction", "mGal"},
                                   {"gradient", "Eotvos"},
                                   {"magnetic", "nT"},
                                   {"magnetisation", "A/m"},
                                   {"constant", "m3/(kg s2)"}});
  summary["axes"] = "right-handed, z down; the attraction is positive towards the mass";
  summary["ensemble"] = ensemble_json(input, masses, o.magnetic);
  if (o.magnetic) {
    summary["magnetic"] = Json::object({{"intensity", o.ambient.intensity},
                                        {"inclination", o.ambient.inclination},
                                        {"declination", o.ambient.declination}});
  }
  summary["stations"] = stations_json(input);
  summary["components"] = components_json(o, extremes);
  summary["run"] = Json::object(
      {{"strategy", gravity::to_string(report.strategy)},
       {"device", outcome.device},
       {"threads", outcome.threads},
       {"ranks", reports.size()},
       {"pairs", pairs},
       {"corners", report.corners},
       {"private_grids", report.private_grids},
       {"difference", report.difference >= 0.0 ? Json(report.difference) : Json()},
       {"passes", report.passes},
       {"memory", Json::object({{"budget_bytes", outcome.budget}, {"bytes", report.memory}})},
       {"of_ranks", ranks_json(reports)}});
  summary["rates"] = Json::object({{"pairs_per_second", rate}});

  Ending ending;
  ending.script = "plot_maps.py";
  const std::vector<Quantity> all = quantities(o);
  for (const Quantity& quantity : all) ending.pictures.push_back(quantity.name + ".png");
  ending.pictures.emplace_back("maps.png");
  ending.picture_name = "maps.png";
  ending.lines = {
      concat("computed  ", counted(all.size(), "component"), ", ",
             gravity::to_string(report.strategy), ", ", o.double_precision ? "double" : "float",
             ": ", format_count(pairs), "pairs of prism and station"),
      concat("          on ", o.space, ": ", outcome.device,
             reports.size() > 1 ? concat(", and ", counted(reports.size() - 1, "more rank")) : "")};
  if (report.difference >= 0.0) {
    ending.lines.push_back(concat("          differs from direct sums by ",
                                  significant(report.difference, 2), " of the largest value"));
  }
  for (std::size_t c = 0; c < all.size(); ++c) {
    const gravity::Extremes& e = extremes[c];
    std::string text = concat("          ", all[c].name, " ");
    if (e.any) {
      text += concat(significant(e.lowest, 6), " to ", significant(e.highest, 6), " ", all[c].unit);
    }
    if (e.missing > 0) {
      text += concat(e.any ? "; NaN at " : "NaN at ", counted(e.missing, "station"),
                     ", on vertices or edges of prisms");
    }
    ending.lines.push_back(text);
  }
  ending.rate = concat("rate      ", format_count(rate), "pairs/s");
  session.finish(ending);
}

// Computes the attraction, or the magnetic field, of this rank's part of the prisms.
template <class T>
gravity::FieldResult field_of(const auto& exec, const gravity::MagneticJob& job) {
  return job.magnetic_components.empty() ? gravity::compute_field<T>(exec, job)
                                         : gravity::compute_magnetic_field<T>(exec, job);
}

// Writes the files of the results, and returns the extremes of the components.
std::vector<gravity::Extremes> write_results(const Options& o, const Input& input,
                                             const gravity::FieldResult& outcome,
                                             Session& session) {
  const HostPhase phase(session.phases, "write");
  const std::vector<Quantity> all = quantities(o);
  const std::size_t stations = input.stations.size() / 3;
  for (const std::string& name : write_components(session.folder(), input, all, outcome.results)) {
    session.wrote(name);
  }
  if (o.csv) {
    write_gravity_csv(session.folder() / table_name(o), input, all, outcome.results);
    session.wrote(table_name(o));
  }
  if (!input.grid) {
    // Positions of the values, which the maps need.
    io::write_npy(session.folder() / "stations.npy", input.stations.data(),
                  {static_cast<std::int64_t>(stations), 3});
    session.wrote("stations.npy");
  }
  std::vector<gravity::Extremes> extremes;
  for (std::size_t c = 0; c < all.size(); ++c) {
    extremes.push_back(gravity::extremes_of({outcome.results.data() + c * stations, stations}));
  }
  return extremes;
}

void run(const Options& o, Session& session) {
  auto& ranks = static_cast<Ranks&>(session.processes());
  PhaseTimes& phases = session.phases;
  Input input;
  gravity::Masses masses;
  gravity::MagneticJob job;
  Where where;
  MemoryEstimate memory;
  ranks.collectively([&] {
    if (!ranks.root()) return;
    session.will_write(names_of_results(o));
    double held = 0.0;
    memory = estimate_memory(o, held);
    session.leave_out_picture(why_no_picture(memory, memory_limit(o, o.space != "cuda")));
    {
      const HostPhase phase(phases, "read");
      input = load_input(o);
    }
    {
      const HostPhase phase(phases, "check");
      check_input(o, input);
      for (std::string& note : notes_on_stations(input)) input.notes.push_back(std::move(note));
      masses = gravity::count_masses(input.ensemble());
      if (o.magnetic) {
        masses.prisms = std::count_if(input.strengths.begin(), input.strengths.end(),
                                      [](double strength) { return strength > 0.0; });
      }
    }
    print_input(o, input, masses, session);
    const bool choose = ranks.size() > 1 && o.strategy == gravity::Strategy::automatic;
    const gravity::Strategy strategy =
        choose && !o.magnetic ? strategy_of_all(o, input, masses.prisms) : o.strategy;
    job = make_job(o, input, held);
    job.options.strategy = strategy;
    where.double_precision = o.double_precision;
    o.space.copy(where.space, sizeof(where.space) - 1);
  });

  {
    const HostPhase phase(phases, "share");
    ranks.broadcast(&where, sizeof(where));
    job = gravity::share_job(ranks, std::move(job));
    const bool device = std::string(where.space) == "cuda";
    job.sharing = device ? memory_sharing().device : memory_sharing().host;
  }
  job.options.progress = session.progress();
  gravity::FieldResult outcome;
  std::optional<HostPhase> waiting;
  ranks.collectively([&] {
    const auto compute = [&](const auto& exec) {
      outcome = where.double_precision ? field_of<double>(exec, job) : field_of<float>(exec, job);
    };
    call_named("", [&] { with_space(where.space, compute); });
    session.computed(outcome.phases);
    waiting.emplace(phases, "ranks");  // waits for slower ranks, at the end of collectively()
  });
  ranks.sum_to_root(outcome.results);
  const std::vector<RankReport> reports = ranks.gather(report_of(outcome));
  waiting.reset();
  session.more_versions["mpi"] = Ranks::with_mpi() ? Json(Ranks::version()) : Json();
  ranks.finish();
  if (!ranks.root()) return;
  if (job.options.parts > 1) {
    const HostPhase phase(phases, "check");
    with_space(where.space, [&](const auto& exec) {
      job.options.parts = 1;
      job.options.part = 0;
      outcome.report.difference = gravity::difference_from_sums(exec, job, outcome.results);
    });
  }

  if (o.space != "cuda") memory.pass(static_cast<double>(outcome.report.memory), "the sum");
  session.summary["memory"] = memory_json(memory, memory_limit(o, o.space != "cuda"));
  session.begin_output();
  const std::vector<gravity::Extremes> extremes = write_results(o, input, outcome, session);
  finish(o, input, masses, outcome, extremes, reports, session);
}

}  // namespace

}  // namespace moho::examples::model_gravity

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<model_gravity::Options>(
      argc, argv, model_gravity::describe, model_gravity::run,
      [](int& count, char**& words) { return std::make_unique<Ranks>(count, words); });
}
