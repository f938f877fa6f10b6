// SPDX-License-Identifier: BSD-3-Clause
#include "model_gravity/options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/prism_options.hpp"
#include "ranks/ranks.hpp"

#include <filesystem>
#include <limits>

namespace moho::examples::model_gravity {

namespace {

constexpr const char* intro =
    R"(model_gravity: gravity, gravity gradient and potential of an ensemble of prisms at many stations.

  model_gravity (--prisms FILE | --mesh BOX --densities FILE | --spheres) [stations] [options]
  mpirun -n RANKS model_gravity ...       the same with the prisms divided among processes or GPUs

Units are metres, kg/m^3, mGal (gx, gy, gz), Eotvos (gxx, gyy, gzz, gxy, gxz, gyz) and m^2/s^2 (potential).
Axes are right-handed, x north, y east, z DOWN. The attraction is positive towards the mass along an axis: a
dense body below a station gives a positive gz. gab = d(ga)/db; gxx + gyy + gzz = 0 outside of the mass.
)";

constexpr const char* outro =
    R"(
Results, in the folder of --out:
  <component>.npy  float64; ny x nx for a grid (x fastest), one value a station for a list
  <component>.png  its map                           maps.png     all of them on one page
  gravity.csv      x,y,z and all components (--csv), or magnetic.csv
  summary.json what was asked, versions, timings
A component is NaN where it does not exist: the gradient on vertices and on edges of prisms.

Examples
  model_gravity --spheres --components all
      Seven spheres of 252,000 prisms below 150 x 100 stations, all components.
  model_gravity --prisms bodies.csv --grid 200,150,50,50,0,0 --elevation 100 --components gz,gzz --out run1
      A table with the columns x1,x2,y1,y2,z1,z2,density; 200 x 150 stations every 50 m, 100 m up.
  model_gravity --prisms bodies.csv --grid 200,150,50,50,0,0 --magnetic --field 48000,63,2 --remanence 2,-40,10
      The total-field anomaly of bodies with a column susceptibility and a remanence of 2 A/m.
  model_gravity --mesh 80,60,20,0,8000,0,6000,0,2000 --densities rho.npy --stations stations.csv
      80 x 60 x 20 prisms of 100 m, rho.npy of shape 20 x 60 x 80; stations from a table x,y,z (z down).
  mpirun -n 4 model_gravity --config survey.cfg --space cuda
      Options from a file, one "name = value" a line; four ranks, each with its GPU (rank mod devices).

The number of CPU threads is that of OMP_NUM_THREADS, for each rank. Exit status: 0 done, 2 the input is not
usable (the message says what and why), 1 anything else, 130 interrupted.
)";

constexpr std::int64_t max_per_axis = std::int64_t(1) << 31;

StationGrid parse_grid(const std::string& text) {
  const auto numbers = parse_numbers("--grid", text, {6}, "nx,ny,dx,dy,x0,y0 with metres", true);
  const auto pieces = split(text);
  StationGrid grid;
  grid.nx = parse_count("--grid " + text + ": the number of stations along x", pieces[0], 1,
                        max_per_axis);
  grid.ny = parse_count("--grid " + text + ": the number of stations along y", pieces[1], 1,
                        max_per_axis);
  grid.dx = numbers[2];
  grid.dy = numbers[3];
  grid.x0 = numbers[4];
  grid.y0 = numbers[5];
  if (!(grid.dx > 0.0 && grid.dy > 0.0)) {
    throw InputError(concat("--grid ", text, ": stations are ", grid.dx, " and ", grid.dy,
                            " m apart (allowed: positive distances dx and dy)"));
  }
  return grid;
}

double parse_constant(const std::string& text) {
  if (text == "2018") return gravity::gravitational_constant;
  if (text == "2013") return gravity::gravitational_constant_2013;
  const std::string form = "2018, 2013, or a positive number in m^3/(kg s^2)";
  const double value = parse_number("--constant", text, form);
  if (!(value > 0.0) || value > 1e-3) {
    throw InputError(concat("--constant: '", text, "' is no gravitational constant (allowed: ",
                            form, ", such as 6.6743e-11)"));
  }
  return value;
}

double parse_tolerance(const std::string& text) {
  const std::string form = "a relative error from 0 to 0.01";
  const double value = parse_number("--far-tolerance", text, form);
  if (value >= 0.0 && value <= 0.01) return value;
  throw InputError(concat("--far-tolerance is ", value, " (allowed: ", form, ")"));
}

// Names two options: "--prisms and --spheres".
std::string chosen_twice(const std::string& a, const std::string& b, const std::string& allowed) {
  return concat("--", a, " and --", b, " were both given (allowed: one of ", allowed,
                "): leave one out");
}

// Throws unless exactly one ensemble was given.
void choose_ensemble(const Arguments& given, Options& o) {
  std::string chosen;
  for (const char* name : {"prisms", "mesh", "spheres"}) {
    if (!given.given(name)) continue;
    if (!chosen.empty()) {
      throw InputError(chosen_twice(chosen, name, "--prisms, --mesh and --spheres"));
    }
    chosen = name;
  }
  if (chosen.empty()) {
    throw InputError(
        "no ensemble was given (needed: one of --prisms, --mesh and --spheres): try model_gravity "
        "--spheres, or see model_gravity --help");
  }
  o.ensemble = chosen == "prisms" ? Ensemble::prisms
               : chosen == "mesh" ? Ensemble::mesh
                                  : Ensemble::spheres;
}

void check_densities(const Arguments& given, const Options& o) {
  if (o.ensemble == Ensemble::mesh) {
    if (given.given("densities") || given.given("magnetic")) return;
    throw InputError(concat("--mesh was given without --densities (needed: the file of its ",
                            o.mesh.size(), " densities): name it"));
  }
  if (!given.given("densities")) return;
  throw InputError(concat("--densities was given with --",
                          o.ensemble == Ensemble::prisms ? "prisms" : "spheres",
                          " (allowed: with --mesh): leave it out"));
}

void check_stations(const Arguments& given, const Options& o) {
  const bool list = given.given("stations"), grid = given.given("grid");
  if (list && grid) throw InputError(chosen_twice("stations", "grid", "them"));
  if (given.given("elevation") && !grid) {
    throw InputError(concat("--elevation was given without --grid (allowed: with --grid): ",
                            list ? "the z of --stations says how high each station is"
                                 : "give the stations of a grid, too"));
  }
  if (list && given.text("stations").empty()) {
    throw InputError("--stations: no file is named (needed: a .npy or .csv file)");
  }
  if (!list && !grid && o.ensemble != Ensemble::spheres) {
    throw InputError(
        "no stations were given (needed: --stations or --grid; only --spheres has some of its "
        "own): see model_gravity --help");
  }
}

void read_elevation(const std::string& elevation, Options& o) {
  const std::string form = "metres above z = 0, or the name of a file";
  std::error_code ignored;
  if (std::filesystem::exists(elevation, ignored)) {
    o.elevation_file = elevation;
    return;
  }
  try {
    o.elevation = parse_numbers("--elevation", elevation, {1}, form, true).front();
  } catch (const InputError&) {
    throw InputError(concat("--elevation: '", elevation,
                            "' is neither a number nor a file that is there (allowed: ", form,
                            ")"));
  }
}

void check_strategy(const Arguments& given, const Options& o) {
  if (o.strategy == gravity::Strategy::lattice &&
      (o.ensemble == Ensemble::prisms || !o.double_precision)) {
    throw InputError(concat("--strategy lattice was given with ",
                            o.ensemble == Ensemble::prisms ? "--prisms" : "--precision float",
                            " (allowed: --mesh and --spheres in double precision): take another "
                            "strategy"));
  }
  if (o.strategy == gravity::Strategy::fmm && !o.double_precision) {
    throw InputError(
        "--strategy fmm was given with --precision float (allowed: double): take another strategy");
  }
  if (given.given("tolerance") && o.strategy != gravity::Strategy::fmm &&
      o.strategy != gravity::Strategy::automatic) {
    throw InputError(concat("--tolerance was given with --strategy ", to_string(o.strategy),
                            " (allowed: with fmm and automatic): leave it out"));
  }
  if (o.strategy == gravity::Strategy::by_corners && o.ensemble == Ensemble::prisms) {
    throw InputError(
        "--strategy by_corners was given with --prisms (allowed: with --mesh and --spheres, "
        "whose prisms share corners): take another strategy");
  }
  if (o.strategy == gravity::Strategy::by_corners && !o.double_precision) {
    throw InputError(
        "--strategy by_corners was given with --precision float (allowed: double): take another "
        "strategy");
  }
  if (given.given("teams") && o.strategy != gravity::Strategy::by_prisms) {
    throw InputError(
        "--teams was given without --strategy by_prisms (it is the number of teams of that "
        "strategy): leave it out, or take that strategy");
  }
}

void bind_ensemble(Description& d, Options& o) {
  d.group("Ensemble (exactly one of the first three)");
  d.check([&o](const Arguments& given) { choose_ensemble(given, o); });
  d.bind(o.prisms_file, "prisms", "FILE",
         "a row a prism, x1,x2,y1,y2,z1,z2,density: .csv, or .npy of shape n x 7; z1 is the top",
         {.file = true})
      .show_if([&o] { return o.ensemble == Ensemble::prisms; });
  d.bind(o.mesh, "mesh", "BOX",
         "a regular ensemble, nx,ny,nz,x1,x2,y1,y2,z1,z2: the box cut into nx x ny x nz prisms",
         parsed(parse_prism_mesh, prism_mesh_json))
      .show_if([&o] { return o.ensemble == Ensemble::mesh; });
  d.flag(o.spheres, "spheres",
         "a made-up ensemble: seven spheres in a box of 22 km x 22 km x 8 km, 252,000 prisms "
         "of a mesh of 700 x 700 x 50",
         {.unset = Json()});
  d.bind(o.densities_file, "densities", "FILE",
         "for --mesh: .npy of shape nz x ny x nx, or flat with x fastest; 0 is no prism",
         {.file = true})
      .show_if([&o] { return o.ensemble == Ensemble::mesh && !o.magnetic; });
  bind_config(d, o);
  d.check([&o](const Arguments& given) { check_densities(given, o); });
}

void bind_stations(Description& d, Options& o) {
  d.group("Stations");
  d.check([&o](const Arguments& given) { check_stations(given, o); });
  d.bind(o.stations_file, "stations", "FILE",
         "a row a station, x,y,z with z down: .csv, or .npy of shape n x 3",
         {.unset = Json(), .file = true});
  d.bind(o.grid, "grid", "GRID",
         "nx,ny,dx,dy,x0,y0: nx x ny stations, dx and dy apart, the first at x0,y0 (default for "
         "--spheres: the paper's 150 x 100 over the box, 100 m up)",
         parsed(parse_grid, [](const StationGrid& grid) {
           return Json::array({grid.nx, grid.ny, grid.dx, grid.dy, grid.x0, grid.y0});
         }));
  Option& row = d.add("elevation", "z | FILE",
                      "of the stations of --grid, metres ABOVE z = 0: a number, or .npy of shape "
                      "ny x nx or flat, or .csv with as many numbers (default: 0)",
                      {.file = true});
  row.read = [&o](const Arguments& given) {
    if (given.given("elevation")) read_elevation(given.text("elevation"), o);
  };
  row.shown = [&o] {
    if (!o.grid) return Json();
    return o.elevation_file.empty() ? Json(o.elevation) : Json(o.elevation_file);
  };
}

void bind_computing(Description& d, Options& o) {
  d.group("Computing");
  Option& components = d.add("components", "LIST",
                             "names separated by commas: potential, gx, gy, gz, gxx, gyy, gzz, "
                             "gxy, gxz, gyz; or all (default: gz; with --magnetic: total)");
  components.read = [&o](const Arguments& given) { read_components(given, o); };
  components.shown = [&o] {
    Json list = Json::array();
    for (const Quantity& quantity : quantities(o)) list.push_back(quantity.name);
    return list;
  };
  d.bind(
      o.strategy, "strategy", "NAME",
      "automatic, tiles, by_stations, by_prisms (the paper's), by_corners (regular ensembles in "
      "double), lattice (Fourier transforms for regular ensembles and stations at one height "
      "on the lattice of their prisms, in double), or fmm (a fast multipole method, in double); "
      "all give the same field (default: automatic)",
      one_of({"automatic", "tiles", "by_stations", "by_prisms", "by_corners", "lattice", "fmm"}));
  o.double_precision = true;
  bind_precision(d, o, "of the sums: float or double; results are double (default: double)");
  d.bind(o.constant, "constant", "G",
         "2018 (6.6743e-11, CODATA), 2013 (6.673e-11, the paper's), or a number in m^3/(kg s^2) "
         "(default: 2018)",
         parsed(parse_constant));
  d.bind(o.far_tolerance, "far-tolerance", "R",
         "relative error of a prism's field that is allowed where an expansion replaces the closed "
         "form far away; 0: to rounding (default: 1e-11, with --precision float 1e-6)",
         parsed(parse_tolerance))
      .shown = [&o]() -> Json {
    if (o.far_tolerance >= 0.0) return o.far_tolerance;
    return o.double_precision ? gravity::default_far_tolerance<double>
                              : gravity::default_far_tolerance<float>;
  };
  d.bind(o.tolerance, "tolerance", "R",
         "error allowed for --strategy fmm, of the largest value of each component: 1e-10 to 0.01 "
         "(default: 1e-9)",
         parsed(parse_fmm_tolerance));
  d.bind(o.team_size, "team-size", "N", "threads a team on a device (default: a tuned value)",
         count(1, 1024), {.unset = "tuned"});
  d.bind(o.teams, "teams", "N",
         "number of teams of by_prisms, each thread with a grid of its own (default: a tuned "
         "value)",
         count(1, std::numeric_limits<int>::max() / 1024), {.unset = "tuned"});
  d.flag(o.check_overlaps, "check-overlaps", "look for prisms that overlap first, and refuse them");
  d.check([&o](const Arguments& given) { check_strategy(given, o); });
}

}  // namespace

Description describe(Options& o) {
  Description d;
  d.program = "model_gravity";
  d.intro = intro;
  d.outro = outro;
  bind_ensemble(d, o);
  bind_stations(d, o);
  bind_computing(d, o);
  bind_magnetic(d, o);
  d.group("Running");
  bind_space(d, o);
  bind_memory(d, o, "for all arrays of each rank, or on its device", "its share of what is free");
  bind_out(d, o);
  d.flag(o.csv, "csv", "write gravity.csv, too: x,y,z (z down) and the components");
  bind_no_plot(d, o, "maps");
  d.move_in_summary("memory", {"csv"});
  d.config_note =
      ". An ensemble chosen on the command line replaces the file's, and so do stations";
  d.version_note = (Ranks::with_mpi() ? Ranks::version() : std::string("without MPI")) + "\n";
  d.alternatives = {{{"prisms", "mesh", "spheres"}, {"densities", "susceptibilities"}},
                    {{"stations", "grid"}, {"elevation"}}};
  return d;
}

}  // namespace moho::examples::model_gravity
