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
#include <moho/gravity/field.hpp>
#include <moho/gravity/types.hpp>
#include <moho/io/npy.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace moho::examples::model_gravity {

namespace {

namespace fs = std::filesystem;

// Values that the root sends to the other ranks before they compute.
struct Plan {
  bool regular = false;
  bool double_precision = true;
  char space[16] = "";
  gravity::RegularMesh mesh;
  std::int64_t rows = 0;  // prisms, or cells of the mesh
  std::int64_t stations = 0;
  int component_count = 0;
  gravity::Component components[gravity::component_count] = {};
  gravity::Strategy strategy = gravity::Strategy::automatic;
  double constant = 0.0;
  double far_tolerance = 0.0;
  std::uint64_t memory = 0;  // bytes of the sum; 0: free memory
  int team_size = 0;
  int teams = 0;
};
static_assert(std::is_trivially_copyable_v<Plan>);

Plan make_plan(const Options& o, const Input& input, double held) {
  Plan plan;
  plan.regular = input.regular;
  plan.double_precision = o.double_precision;
  o.space.copy(plan.space, sizeof(plan.space) - 1);
  plan.mesh = input.mesh;
  plan.rows = input.ensemble().size();
  plan.stations = static_cast<std::int64_t>(input.stations.size() / 3);
  plan.component_count = static_cast<int>(o.components.size());
  std::copy(o.components.begin(), o.components.end(), plan.components);
  plan.strategy = o.strategy;
  plan.constant = o.constant;
  plan.far_tolerance = o.far_tolerance;
  plan.memory = o.memory;
  if (o.space != "cuda" && o.memory > 0) {
    plan.memory = static_cast<std::uint64_t>(std::max(static_cast<double>(o.memory) - held, 1.0));
  }
  plan.team_size = o.team_size;
  plan.teams = o.teams;
  return plan;
}

// Divides the input of the root among all ranks. The root's prisms are moved, not copied.
gravity::FieldJob share(Input& input, Plan& plan, std::int64_t masses, Ranks& ranks) {
  ranks.broadcast(&plan, sizeof(plan));
  std::vector<mpi::Part> parts(static_cast<std::size_t>(ranks.size()));
  gravity::FieldJob job;
  ranks.together([&] {
    if (ranks.root()) parts = gravity::divide_ensemble(input.ensemble(), masses, ranks.size());
  });
  ranks.broadcast(parts.data(), parts.size() * sizeof(mpi::Part));
  const mpi::Part mine = parts[static_cast<std::size_t>(ranks.rank())];
  const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  ranks.together([&] {
    if (ranks.root()) {
      job.stations = input.stations;
      job.densities = std::move(input.densities);
      job.prisms = std::move(input.prisms);
    } else {
      job.stations.resize(count(3 * plan.stations));
      if (plan.regular) job.densities.assign(count(plan.rows), 0.0);
      if (!plan.regular) job.prisms.resize(count(7 * mine.size()));
    }
  });
  ranks.broadcast(job.stations.data(), job.stations.size() * sizeof(double));
  if (plan.regular) {
    ranks.scatter_rows(job.densities.data(), 1, parts, job.densities.data() + mine.first);
    // The root keeps the first cells; other ranks compute the rest.
    if (ranks.root()) {
      std::fill(job.densities.begin() + static_cast<std::ptrdiff_t>(mine.last), job.densities.end(),
                0.0);
    }
  } else {
    ranks.scatter_rows(job.prisms.data(), 7, parts, job.prisms.data());
    if (ranks.root()) job.prisms.resize(count(7 * mine.size()));
  }

  job.regular = plan.regular;
  job.mesh = plan.mesh;
  job.components.assign(plan.components, plan.components + plan.component_count);
  job.options.strategy = plan.strategy;
  job.options.constant = plan.constant;
  job.options.far_tolerance = plan.far_tolerance;
  job.options.memory_budget = plan.memory;
  job.options.team_size = plan.team_size;
  job.options.teams = plan.teams;
  const bool device = std::string(plan.space) == "cuda" && visible_devices() > 0;
  job.sharing = mpi::ranks_on_device_of(ranks.rank_on_host(), ranks.size_of_host(),
                                        device ? visible_devices() : 1);
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
      input.regular ? describe_mesh(input.mesh) + ", " : std::string(), masses.prisms,
      masses.prisms == 1 ? " prism of " : " prisms of ", significant(masses.lowest, 6),
      masses.lowest == masses.highest ? std::string() : " to " + significant(masses.highest, 6),
      " kg/m^3");
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

Json ensemble_json(const Input& input, const gravity::Masses& masses) {
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
  json["density_min"] = masses.lowest;
  json["density_max"] = masses.highest;
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

// Range of a component, and the stations where it does not exist.
struct Extremes {
  double lowest = 0.0, highest = 0.0;
  std::int64_t missing = 0;
  bool any = false;  // true if it exists at some station
};

Extremes extremes_of(const double* values, std::size_t count) {
  Extremes e;
  for (std::size_t k = 0; k < count; ++k) {
    if (std::isnan(values[k])) {
      ++e.missing;
      continue;
    }
    e.lowest = e.any ? std::min(e.lowest, values[k]) : values[k];
    e.highest = e.any ? std::max(e.highest, values[k]) : values[k];
    e.any = true;
  }
  return e;
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

std::vector<std::string> names_of_results(const Options& o) {
  std::vector<std::string> names;
  for (const gravity::Component c : o.components) {
    names.push_back(gravity::to_string(c) + std::string(".npy"));
    if (o.plot) names.push_back(gravity::to_string(c) + std::string(".png"));
  }
  if (o.plot) names.emplace_back("maps.png");
  if (o.csv) names.emplace_back("gravity.csv");
  if (!o.stations_file.empty()) names.emplace_back("stations.npy");
  return names;
}

// Host memory of the first rank's run, estimated from options and headers.
// The work space of the sum is not included. `held` gets the bytes in use during the sum.
MemoryEstimate estimate_memory(const Options& o, double& held) {
  const InputNeed need = need_of_input(o);
  const auto components = static_cast<double>(o.components.size());
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
  const double least = on_host ? (24.0 + 8.0 * components) * need.stations +
                                     (o.ensemble == Ensemble::prisms ? 64.0 * need.rows : 0.0)
                               : 0.0;
  MemoryEstimate whole = estimate;
  whole.pass(least, "the sum");
  if (o.plot) estimate.picture(8.0 * components * need.stations, limit.bytes);
  const double each = (48.0 + 16.0 * components);
  const double room = limit.bytes - MemoryEstimate::process - (need.input - 24.0 * need.stations);
  check_memory(concat(o.grid ? "--grid: " : "", std::round(need.rows),
                      o.ensemble == Ensemble::prisms ? " prisms and " : " cells and ",
                      std::round(need.stations), " stations with their results"),
               whole, limit,
               room > each
                   ? concat("some ", std::floor(room / each), " stations would fit")
                   : concat("some ",
                            std::floor(std::max(limit.bytes - MemoryEstimate::process, 0.0) /
                                       (o.ensemble == Ensemble::prisms ? 120.0 : 8.0)),
                            o.ensemble == Ensemble::prisms ? " prisms" : " cells", " would fit"));
  return estimate;
}

Json components_json(const Options& o, const std::vector<Extremes>& extremes) {
  Json list = Json::array();
  for (std::size_t c = 0; c < o.components.size(); ++c) {
    const Extremes& e = extremes[c];
    list.push_back(Json::object({{"name", gravity::to_string(o.components[c])},
                                 {"unit", gravity::unit_of(o.components[c])},
                                 {"min", e.any ? Json(e.lowest) : Json()},
                                 {"max", e.any ? Json(e.highest) : Json()},
                                 {"nan", e.missing}}));
  }
  return list;
}

void finish(const Options& o, const Input& input, const gravity::Masses& masses,
            const gravity::FieldResult& outcome, const std::vector<Extremes>& extremes,
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
                                   {"constant", "m3/(kg s2)"}});
  summary["axes"] = "right-handed, z down; the attraction is positive towards the mass";
  summary["ensemble"] = ensemble_json(input, masses);
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
       {"passes", report.passes},
       {"memory", Json::object({{"budget_bytes", outcome.budget}, {"bytes", report.memory}})},
       {"of_ranks", ranks_json(reports)}});
  summary["rates"] = Json::object({{"pairs_per_second", rate}});

  Ending ending;
  ending.script = "plot_maps.py";
  for (const gravity::Component c : o.components) {
    ending.pictures.push_back(gravity::to_string(c) + std::string(".png"));
  }
  ending.pictures.emplace_back("maps.png");
  ending.picture_name = "maps.png";
  ending.lines = {
      concat("computed  ", o.components.size(),
             o.components.size() == 1 ? " component, " : " components, ",
             gravity::to_string(report.strategy), ", ", o.double_precision ? "double" : "float",
             ": ", format_count(pairs), "pairs of prism and station"),
      concat("          on ", o.space, ": ", outcome.device,
             reports.size() > 1 ? concat(", and ", reports.size() - 1, " more ranks") : "")};
  if (report.difference >= 0.0) {
    ending.lines.push_back(concat("          differs from direct sums by ",
                                  significant(report.difference, 2), " of the largest value"));
  }
  for (std::size_t c = 0; c < o.components.size(); ++c) {
    const Extremes& e = extremes[c];
    ending.lines.push_back(concat(
        "          ", gravity::to_string(o.components[c]), " ", significant(e.lowest, 6), " to ",
        significant(e.highest, 6), " ", gravity::unit_of(o.components[c]),
        e.missing == 0 ? std::string()
                       : concat("; NaN at ", e.missing, e.missing == 1 ? " station" : " stations",
                                ", on vertices or edges of prisms")));
  }
  ending.rate = concat("rate      ", format_count(rate), "pairs/s");
  session.finish(ending);
}

void run(const Options& o, Session& session) {
  auto& ranks = static_cast<Ranks&>(session.processes());
  PhaseTimes& phases = session.phases;
  Input input;
  gravity::Masses masses;
  Plan plan;
  MemoryEstimate memory;
  ranks.together([&] {
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
      plan = make_plan(o, input, held);
      if (ranks.size() > 1 && plan.strategy == gravity::Strategy::automatic) {
        plan.strategy = strategy_of_all(o, input);
      }
    }
    print_input(o, input, masses, session);
  });

  gravity::FieldJob job;
  {
    const HostPhase phase(phases, "share");
    job = share(input, plan, masses.prisms, ranks);
  }
  job.options.progress = session.progress();
  gravity::FieldResult outcome;
  std::optional<HostPhase> waiting;
  ranks.together([&] {
    with_space(plan.space, [&](const auto& exec) {
      outcome = plan.double_precision ? gravity::compute_field<double>(exec, job)
                                      : gravity::compute_field<float>(exec, job);
    });
    session.computed(outcome.phases);
    waiting.emplace(phases, "ranks");  // waits for slower ranks, at the end of together()
  });
  ranks.sum_to_root(outcome.results);
  const std::vector<RankReport> reports = ranks.gather(report_of(outcome));
  waiting.reset();
  session.more_versions["mpi"] = Ranks::with_mpi() ? Json(Ranks::version()) : Json();
  ranks.finish();
  if (!ranks.root()) return;

  if (o.space != "cuda") memory.pass(static_cast<double>(outcome.report.memory), "the sum");
  session.summary["memory"] = memory_json(memory, memory_limit(o, o.space != "cuda"));
  session.begin_output();
  std::vector<Extremes> extremes;
  {
    const HostPhase phase(phases, "write");
    const fs::path& folder = session.folder();
    const std::size_t stations = input.stations.size() / 3;
    for (const std::string& name : write_components(folder, input, o.components, outcome.results)) {
      session.wrote(name);
    }
    if (o.csv) {
      write_gravity_csv(folder / "gravity.csv", input, o.components, outcome.results);
      session.wrote("gravity.csv");
    }
    if (!input.grid) {
      // Positions of the values, which the maps need.
      io::write_npy(folder / "stations.npy", input.stations.data(),
                    {static_cast<std::int64_t>(stations), 3});
      session.wrote("stations.npy");
    }
    for (std::size_t c = 0; c < o.components.size(); ++c) {
      extremes.push_back(extremes_of(outcome.results.data() + c * stations, stations));
    }
  }
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
