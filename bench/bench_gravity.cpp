// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of gravity forward modelling: the CPU against the GPU in one table.
//
// The problem is that of Couder-Castaneda et al. (2013): seven spheres of 252 thousand prisms, 150
// x 100 stations. On hosts, and for slow strategies, a subset of the prisms evenly spaced in the
// list is used. The name has their number, and pairs/s counts the computed pairs. The time covers
// the transfer of prisms and stations, forward() with its checks, and the transfer of results.
// Every benchmark compares six stations with the textbook's closed forms in double precision,
// summed sequentially.
//
// Names: gravity/<components>/<precision>/<strategy>/<space>/<problem>/far:<expansion or closed>
//          [/teams:<number>][/team_size:<threads>]/prisms:<count>/stations:<count>
// far:expansion is the default tolerance of the far field. far:closed is far_tolerance = 0: closed
// forms wherever an expansion would lose a digit. launch_per_prism is one kernel launch over all
// stations for every prism. Names with fmm are the fast multipole method for lists of random prisms
// and stations; the time is that of a product, and construct_s, adjoint_s and direct_s are others.
// operation/<operation>/<precision>/<space> are arithmetic rates, which
// show what bounds a kernel.

#include "bench_gravity/cases.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace moho;
using bench::Arrangement;
using bench::GravityCase;
using gravity::Component;
using gravity::Components;
using gravity::Strategy;

constexpr std::int64_t sphere_prisms = 251946;  ///< approximate number of prisms of seven_spheres()

int processors_of(const std::string& space) {
  int count = 1;
  with_space(space, [&](const auto& exec) { count = bench::processors(exec); });
  return count;
}

/// Returns a case of the spheres on a space: all prisms on a device, 512 of them on a host, 16 in a
/// smoke run.
GravityCase spheres(const std::string& space, const Components& components, bool single,
                    Strategy strategy) {
  GravityCase what;
  what.space = space;
  what.problem.name = "spheres";
  what.problem.prisms = !bench::on_host(space) ? 0 : processors_of(space) > 4 ? 8192 : 512;
  if (bench::smoke()) {
    what.problem.prisms = 16;
    what.problem.stations = 150;
  }
  what.settings.single = single;
  what.settings.components = components;
  what.settings.options.strategy = strategy;
  return what;
}

int iterations_of(const GravityCase& what) {
  if (bench::smoke()) return 1;
  return what.space == "cuda" ? 3 : 5;
}

void add_case(const GravityCase& what, bool name_teams = false) {
  const auto& options = what.settings.options;
  const bool launches = what.settings.arrangement == Arrangement::launch_per_prism;
  std::string name = concat("gravity/", bench::name_of(what.settings.components), "/",
                            what.settings.single ? "float" : "double", "/",
                            launches ? "launch_per_prism" : to_string(options.strategy), "/",
                            what.space, "/", what.problem.name);
  if (what.problem.name == "dense") {
    const auto& cells = what.problem.cells;
    name += concat("/cells:", cells[0], "x", cells[1], "x", cells[2]);
  }
  const bool closed =
      options.far_tolerance == 0.0 || launches || options.strategy == Strategy::by_corners;
  name += closed ? "/far:closed" : "/far:expansion";
  if (name_teams) {
    if (options.teams > 0) name += concat("/teams:", options.teams);
    if (options.team_size > 0) name += concat("/team_size:", options.team_size);
  }
  name += what.problem.prisms > 0 ? concat("/prisms:", what.problem.prisms) : "/prisms:all";
  name += concat("/stations:", what.problem.stations > 0 ? what.problem.stations : 15000);
  bench::add(name, name_teams ? 1 : iterations_of(what),
             [what](benchmark::State& state) { bench::time_gravity(state, what); });
}

std::vector<Components> component_sets() {
  const Components gz{Component::gz};
  if (bench::smoke()) return {gz, gravity::nine_components()};
  std::vector<Components> sets;
  for (const Component component : gravity::all_components()) sets.push_back({component});
  sets.push_back(gravity::nine_components());
  sets.push_back(gravity::all_components());
  return sets;
}

/// Adds single components, nine and ten, in both precisions, with and without the expansion.
void add_components(const std::string& space) {
  for (const Components& components : component_sets()) {
    for (const bool single : {false, true}) {
      GravityCase what = spheres(space, components, single, Strategy::tiles);
      add_case(what);
      what.settings.options.far_tolerance = 0.0;
      add_case(what);
    }
  }
}

/// Adds the other strategies for the same sums.
void add_strategies(const std::string& space) {
  for (const Components& components : {Components{Component::gz}, gravity::nine_components()}) {
    for (const Strategy strategy : {Strategy::by_stations, Strategy::by_prisms}) {
      for (const bool single : {false, true}) {
        add_case(spheres(space, components, single, strategy));
      }
    }
    GravityCase what = spheres(space, components, false, Strategy::tiles);
    what.settings.arrangement = Arrangement::launch_per_prism;
    if (!bench::on_host(space) && !bench::smoke()) what.problem.prisms = 8192;
    add_case(what);
  }
}

/// Adds regular meshes: corners evaluated once, compared with prism by prism.
void add_meshes(const std::string& space) {
  const bool smoke = bench::smoke(), host = bench::on_host(space);
  for (const char* const problem : {"spheres_mesh", "dense"}) {
    const bool dense = std::string(problem) == "dense";
    if (!dense && (smoke || host)) continue;  // too many prisms for a second on a host
    for (const Components& components : {Components{Component::gz}, gravity::nine_components()}) {
      for (const Strategy strategy : {Strategy::by_corners, Strategy::tiles}) {
        GravityCase what = spheres(space, components, false, strategy);
        what.problem.name = problem;
        what.problem.prisms = 0;
        if (dense) {
          what.problem.cells = smoke  ? std::array<int, 3>{4, 4, 2}
                               : host ? std::array<int, 3>{32, 32, 8}
                                      : std::array<int, 3>{128, 128, 32};
          if (host && !smoke) what.problem.stations = 1000;
        }
        add_case(what);
        if (strategy == Strategy::tiles) {
          what.settings.options.far_tolerance = 0.0;
          add_case(what);
        }
      }
    }
  }
}

/// Adds Figures 7 to 10 of the paper: threads per team at a fixed number of teams, and teams of 32
/// threads. by_prisms gets the prisms of four passes, the number of passes of the complete problem
/// with the most threads.
void add_team_sizes(const std::string& space) {
  if (bench::on_host(space) || bench::smoke()) return;
  const Components gz{Component::gz};
  const int multiprocessors = processors_of(space);
  const auto add_by_prisms = [&](bool single, int teams, int team_size) {
    GravityCase what = spheres(space, gz, single, Strategy::by_prisms);
    const std::int64_t four_passes = std::int64_t(4) * teams * team_size;
    what.problem.prisms = four_passes < sphere_prisms ? four_passes : 0;
    what.settings.options.teams = teams;
    what.settings.options.team_size = team_size;
    add_case(what, true);
  };
  // Cases of one problem are adjacent, so that its reference is computed once.
  for (int k = 1; k <= 16; ++k) {
    for (const bool single : {false, true}) {
      add_by_prisms(single, multiprocessors, 32 * k);
      if (k > 1) add_by_prisms(single, multiprocessors * k, 32);
    }
    for (const bool single : {false, true}) {
      add_by_prisms(single, 14, 32 * k);  // the paper's 14 multiprocessors
      if (k > 1) add_by_prisms(single, 14 * k, 32);
    }
  }
  for (int k = 1; k <= 16; ++k) {
    for (const bool single : {false, true}) {
      GravityCase what = spheres(space, gz, single, Strategy::tiles);
      what.settings.options.team_size = 32 * k;
      add_case(what, true);
    }
  }
}

/// Adds Figures 7 to 10 of the paper as times of its problem: nine components of all prisms.
void add_paper(const std::string& space) {
  if (bench::on_host(space) || bench::smoke()) return;
  const int multiprocessors = processors_of(space);
  for (int k = 1; k <= 16; ++k) {
    for (const bool single : {false, true}) {
      GravityCase what = spheres(space, gravity::nine_components(), single, Strategy::by_prisms);
      what.settings.options.far_tolerance = 0.0;
      what.settings.options.teams = multiprocessors;
      what.settings.options.team_size = 32 * k;
      add_case(what, true);
      if (k == 1) continue;
      what.settings.options.teams = multiprocessors * k;
      what.settings.options.team_size = 32;
      add_case(what, true);
    }
  }
}

/// Adds the fast multipole method: 10^4 and 10^5 prisms and stations on hosts, 3 10^4 to 10^6 on
/// devices.
void add_fmm(const std::string& space) {
  std::vector<std::int64_t> sizes{10000, 100000};
  if (!bench::on_host(space)) sizes = {30000, 100000, 1000000};
  if (bench::smoke()) sizes = {1000};
  for (const char* const scene : {"slab", "cells", "layer", "cube"}) {
    for (const std::int64_t size : sizes) {
      for (const double tolerance : {1e-6, 1e-9}) {
        const bench::FmmCase what{space, scene, size, size, gravity::nine_components(), tolerance};
        bench::add(concat("gravity/nine/double/fmm/", space, "/", scene, "/tolerance:", tolerance,
                          "/prisms:", size, "/stations:", size),
                   1, [what](benchmark::State& state) { bench::time_fmm_case(state, what); });
      }
    }
  }
}

/// Adds meshes with stations on their lattice.
void add_lattice(const std::string& space) {
  std::vector<std::array<int, 3>> meshes{{100, 100, 20}};
  if (!bench::on_host(space)) meshes = {{200, 200, 25}, {1000, 1000, 50}};
  if (bench::smoke()) meshes = {{8, 8, 3}};
  for (const auto& cells : meshes) {
    for (const bool nine : {false, true}) {
      const Components components = nine ? gravity::nine_components() : Components{Component::gz};
      bench::add(concat("gravity/", nine ? "nine" : "gz", "/double/lattice/", space,
                        "/cells:", cells[0], "x", cells[1], "x", cells[2]),
                 1, [=](benchmark::State& state) {
                   bench::time_lattice_case(state, space, cells, components);
                 });
    }
  }
}

void add_operations(const std::string& space) {
  using bench::Operation;
  const std::pair<Operation, const char*> operations[] = {{Operation::fma, "fma"},
                                                          {Operation::divide, "divide"},
                                                          {Operation::square_root, "sqrt"},
                                                          {Operation::logarithm, "log"},
                                                          {Operation::arc_tangent, "atan2"}};
  for (const auto& [operation, word] : operations) {
    for (const bool single : {false, true}) {
      const bench::Operation chosen = operation;
      bench::add(concat("operation/", word, "/", single ? "float" : "double", "/", space), 1,
                 [space, chosen, single](benchmark::State& state) {
                   bench::time_operation(state, space, chosen, single);
                 });
    }
  }
}

void add_space(const std::string& space) {
  add_components(space);
  add_strategies(space);
  add_meshes(space);
  add_team_sizes(space);
  add_paper(space);
  add_fmm(space);
  add_lattice(space);
  if (!bench::smoke()) add_operations(space);
}

void register_benchmarks() {
  for (const std::string& space : space_names()) add_space(space);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
