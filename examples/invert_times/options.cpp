// SPDX-License-Identifier: BSD-3-Clause
#include "invert_times/options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"

#include <moho/core/error.hpp>
#include <moho/core/parse.hpp>
#include <moho/core/text.hpp>

#include <algorithm>

namespace moho::examples::invert_times {

namespace {

constexpr const char* intro =
    R"(invert_times: velocity from picked first arrivals, by traveltime tomography.

  invert_times --picks FILE --error abs,rel [options]

Units are metres, metres per second and seconds. x points right, y into the page, z is DEPTH and points
down; files .sgt have elevations. On the command line coordinates are written x,z in 2D and x,y,z in 3D.
)";

constexpr const char* outro =
    R"(
Picks are a table (.csv) with the columns sx,sz,rx,rz,time (3D: sy and ry also), or shot,receiver,time with
--shots and --receivers; optional columns are error, weight and use. Or a file .sgt.

Results, in the folder of --out:
  velocity.npy, slowness.npy, start.npy   the model, and the one at the start
  picks.csv       observed and predicted times, residuals, weights and flags
  coverage.npy, deviation.npy, resolution.npy   metres of rays, posterior deviation of ln v, resolution
  rays.vtk        rays of picks                  statics.csv   delays (--statics)
  sources.csv     positions and origin times (--locate)
  history.csv     a row for each iteration       lambda.csv    chi^2 over lambda
  check_true.npy, check_found.npy, checkerboard.csv   of --checkerboard
  jackknife.npy, jackknife.csv   deviation of ln v and runs of --jackknife
  state_0001.npy  the state for --resume         summary.json  what was asked, versions, times
  model.vtk, velocity.rsf, picks.sgt             of --export
  model.png, fit.png, history.png                the pictures

Examples
  invert_times --picks koenigsee.sgt --error 0.0005,0.02
  invert_times --picks line.csv --spacing 10 --depth 300 --lengths 120,60 --robust biweight
  invert_times --picks line.csv --error 0.002,0 --statics receiver --bounds 300,6000 --plan
  invert_times --picks blasts.csv --error 0.002,0 --locate --location-deviation 20,20,5
  mpirun -n 2 invert_times --picks volume.csv --error 0.003,0 --space cuda

The number of CPU threads is that of OMP_NUM_THREADS. Exit status: 0 done, 2 the input is not usable (the
message says what and why), 1 anything else, 130 interrupted.
)";

// Reads "abs,rel", or "abs" alone.
std::vector<double> parse_error(const std::string& text) {
  auto numbers = parse_numbers("--error", text, {1, 2}, "abs,rel: seconds, and a part of the time");
  if (numbers.size() == 1) numbers.push_back(0.0);
  if (numbers[0] >= 0.0 && numbers[1] >= 0.0 && numbers[0] + numbers[1] > 0.0) return numbers;
  throw InputError(concat("--error is '", text,
                          "' (allowed: two numbers from 0, not both 0): write --error 0.0005,0.02 "
                          "for 0.5 ms and 2 %"));
}

std::vector<double> parse_bounds(const std::string& text) {
  const auto v = parse_numbers("--bounds", text, {2}, "vmin,vmax in m/s");
  if (v[0] > 0.0 && v[0] < v[1]) return v;
  throw InputError(
      concat("--bounds is '", text, "' (allowed: 0 < vmin < vmax, m/s): write --bounds 300,6000"));
}

std::vector<double> parse_lengths(const std::string& text) {
  const auto v = parse_numbers("--lengths", text, {2, 3}, "lx,lz in m, in 3D lx,ly,lz", true);
  for (const double length : v) {
    if (length > 0.0) continue;
    throw InputError(concat("--lengths is '", text, "' (allowed: positive lengths in m)"));
  }
  return v;
}

void bind_picks(Description& d, Options& o) {
  d.group("Picks");
  d.bind(o.picks, "picks", "FILE", "picks of first arrivals, a table or .sgt (needed)",
         nonempty("a file", "koenigsee.sgt"), {.file = true});
  d.bind(o.format, "format", "NAME", "csv or sgt (default: by the ending of the file)",
         name_of({"csv", "sgt"}), {.unset = Json()});
  d.bind(o.shots, "shots", "FILE", "table id,x[,y],z of the sources of picks with ids",
         {.unset = Json(), .file = true});
  d.bind(o.receivers, "receivers", "FILE", "table id,x[,y],z of the receivers of picks with ids",
         {.unset = Json(), .file = true});
  d.bind(o.time_unit, "time-unit", "UNIT", "of times and errors: s, ms or us (default: s)",
         one_of({"s", "ms", "us"}));
  d.flag(o.elevations, "elevations", "z of tables is an elevation and points up");
  d.bind(o.error, "error", "abs,rel",
         "standard deviation of picks without one: seconds plus a part of the time",
         parsed(parse_error), {.unset = Json()});
  d.check([&o](const Arguments&) {
    if (!o.picks.empty()) return;
    throw InputError(
        "--picks is missing (needed: a table or a file .sgt of first arrivals): see "
        "invert_times --help");
  });
}

void bind_grid(Description& d, Options& o) {
  d.group("Grid");
  d.bind(o.spacing, "spacing", "h",
         "metres between nodes (default: half of the median distance of receivers)",
         Rule<std::vector<double>>{[](const std::string& option, const std::string& text) {
           return std::vector<double>{positive("metres").read(option, text)};
         }},
         {.unset = "auto"});
  d.bind(o.shape, "shape", "nx[,ny],nz", "nodes along each axis (default: chosen by the picks)",
         nodes_of_axes(), {.unset = "auto"});
  d.bind(o.origin, "origin", "x[,y],z", "position of the first node (default: chosen)",
         parsed(parse_origin), {.unset = "auto"});
  d.bind(o.margin, "margin", "m", "metres beside the points (default: four nodes)",
         number("0 or more metres", 0.0, true), {.hidden = true});
  d.bind(o.depth, "depth", "m", "metres below the deepest point (default: 0.4 longest offsets)",
         positive("metres"), {.unset = "auto"});
  d.bind(o.topography, "topography", "auto|none|FILE",
         "the ground: through the points in 2D, none where all of the grid is rock, or a table "
         "x[,y],z (default: auto, in 3D none)",
         nonempty("auto, none or a table", "auto"), {.file = true, .words = {"auto", "none"}});
  d.bind(o.buried_below, "buried-below", "m",
         "points deeper than this below their neighbours are in boreholes (default: 2)",
         positive("metres"));
  d.bind(o.coarsening, "coarsening", "c",
         "model nodes between unknowns (default: 1 in 2D, 2 in 3D)", count(1, 64),
         {.unset = "auto"});
}

void bind_location(Description& d, Options& o) {
  d.flag(o.locate, "locate", "positions and origin times of the sources are unknown");
  d.bind(o.location_deviation, "location-deviation", "dx[,dy],dz",
         "prior standard deviations of positions in metres, 0 where known (default: two nodes)",
         parsed([](const std::string& text) {
           return parse_numbers("--location-deviation", text, {2, 3}, "dx,dz, in 3D dx,dy,dz");
         }),
         {.unset = "auto"});
  d.bind(o.origin_deviation, "origin-deviation", "s",
         "prior standard deviation of origin times in seconds, 0 where known (default: 0.005)",
         number("0 or more seconds", 0.0, true));
  d.check([&o](const Arguments& given) {
    const auto needs = [&](const char* name, const char* other, bool has) {
      if (has || !given.given(name)) return;
      throw InputError(
          concat("--", name, " was given without ", other, " (allowed: with it): give both"));
    };
    needs("location-deviation", "--locate", o.locate);
    needs("origin-deviation", "--locate", o.locate);
    needs("static-deviation", "--statics", o.statics != tomography::Statics::none);
  });
}

void bind_model(Description& d, Options& o) {
  d.group("Model and prior");
  d.bind(o.start, "start", "auto|layers|v0,g|v|FILE",
         "start model: v0 + g z or layers fitted to the picks, v0 + g times the depth below the "
         "ground, one velocity, or a file with the shape of the grid (default: auto)",
         nonempty("auto, layers, numbers or a file", "auto"),
         {.file = true, .words = {"auto", "layers"}});
  d.bind(o.reference, "reference", "start|FILE",
         "model that the prior pulls to, such as that of an earlier survey (default: start)",
         nonempty("start or a file", "start"), {.file = true, .words = {"start"}});
  bind_velocity_unit(d, o.velocity_unit);
  d.bind(o.bounds, "bounds", "vmin,vmax",
         "velocities that the model may have, m/s or --velocity-unit", parsed(parse_bounds),
         {.unset = Json()});
  d.bind(o.lengths, "lengths", "lx[,ly],lz",
         "correlation lengths of the prior in metres (default: eight times the median "
         "distance of receivers)",
         parsed(parse_lengths), {.unset = "auto"});
  d.bind(o.deviation_max, "deviation-max", "s",
         "largest standard deviation of ln v that lambda may stand for (default: 0.5)",
         positive("a number"));
  d.bind(o.statics, "statics", "NAME",
         "unknown delays of stations: none, source, receiver or both (default: none)",
         one_of({"none", "source", "receiver", "both"}));
  d.bind(o.static_deviation, "static-deviation", "s",
         "prior standard deviation of delays in seconds (default: 0.005)", positive("seconds"));
  d.bind(o.epsilon, "epsilon", "FILE|e",
         "Thomsen's epsilon of a VTI medium, known; the velocity is that along the vertical axis",
         {.unset = Json(), .file = true});
  d.bind(o.delta, "delta", "FILE|d", "Thomsen's delta (default: epsilon, an elliptical medium)",
         {.unset = Json(), .file = true});
  d.check([&o](const Arguments&) {
    if (o.delta.empty() || !o.epsilon.empty()) return;
    throw InputError(
        "--delta was given without --epsilon (allowed: --epsilon alone, or both): give --epsilon");
  });
  bind_location(d, o);
}

void bind_inversion(Description& d, Options& o) {
  d.group("Inversion");
  d.bind(
      o.robust, "robust", "NAME",
      "weights of residuals: none, biweight (bad picks lose all weight) or huber (default: none)",
      one_of({"none", "biweight", "huber"}));
  d.bind(o.lambda, "lambda", "l", "damping, 1 / standard deviation of ln v (default: chosen)",
         positive("a number"), {.unset = "auto"});
  d.bind(o.rule, "lambda-by", "NAME",
         "choice of lambda: target (chi^2), or gcv, cross validation where errors are not known "
         "(default: target)",
         one_of({"target", "gcv"}));
  d.bind(o.target, "target", "chi2", "chi^2 to reach (default: 1)", positive("a number"));
  d.bind(o.tolerance, "tolerance", "d", "accepted distance from it (default: 0.04)",
         positive("a number"));
  d.bind(o.iterations, "iterations", "n", "most iterations (default: 20)", count(0, 1000),
         {.free = true});
  d.bind(o.krylov, "krylov", "n", "most steps of a bidiagonalisation (default: 100)",
         count(2, 1000));
  d.bind(
      o.times, "times", "NAME",
      "automatic, graph, or eikonal, whose times the rows of graph rays are scaled to; automatic "
      "is eikonal in 3D without air and with --epsilon, else graph (default: automatic)",
      one_of({"automatic", "graph", "eikonal"}));
  d.bind(o.radius, "radius", "r",
         "radius of the graph's neighbourhood, 1 to 8 in 2D, 1 to 4 in 3D (default: 8, in 3D 3)",
         count(1, 8), {.unset = "auto"});
  d.bind(o.checks, "checkerboard", "dx[,dy],dz,percent",
         "also invert times of the result with checks of this size in metres and strength",
         parsed([](const std::string& text) {
           return parse_numbers("--checkerboard", text, {3, 4},
                                "dx,dz,percent, in 3D dx,dy,dz,percent");
         }),
         {.unset = Json()});
  d.bind(o.jackknife, "jackknife", "n",
         "also n inversions, each without every n-th source: deviation of ln v from their spread",
         count(2, 1000000), {.unset = Json()});
  bind_precision(d, o, "float or double, of traced times (default: float)");
  d.check([&o](const Arguments& given) {
    for (const char* name : {"buried-below", "deviation-max", "target", "tolerance"}) {
      if (given.given(name)) o.given.insert(concat("--", name));
    }
    if (o.lambda == 0.0 || !given.given("lambda-by")) return;
    throw InputError(
        "--lambda and --lambda-by were both given (allowed: one of them): leave one out");
  });
}

}  // namespace

Description describe(Options& o) {
  Description d;
  d.program = "invert_times";
  d.intro = intro;
  d.outro = outro;
  bind_picks(d, o);
  bind_grid(d, o);
  bind_model(d, o);
  bind_inversion(d, o);
  d.group("Running");
  bind_space(d, o);
  bind_memory(d, o, "for all arrays together, or on the device");
  bind_plan(d, o, "read and check the picks, print grid, start model, memory and time, and stop");
  bind_resume(d, o, "iteration");
  bind_out(d, o);
  d.bind(o.exports, "export", "NAME,...",
         "also write for other programs: vtk (model.vtk), rsf (velocity.rsf), sgt (picks.sgt)",
         parsed([](const std::string& text) {
           const auto names = text::split(text, ',');
           for (auto name = names.begin(); name != names.end(); ++name) {
             parse_name("--export", *name, {"vtk", "rsf", "sgt"});
             if (std::find(names.begin(), name, *name) == name) continue;
             throw InputError(concat("--export names ", *name, " twice (allowed: once)"));
           }
           return names;
         }),
         {.unset = Json()});
  bind_no_plot(d, o, "pictures");
  return d;
}

}  // namespace moho::examples::invert_times
