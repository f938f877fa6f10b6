// SPDX-License-Identifier: BSD-3-Clause
#include "first_arrivals/options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"

#include <moho/core/error.hpp>

namespace moho::examples::first_arrivals {

namespace {

constexpr const char* intro =
    R"(first_arrivals: traveltimes of first arrivals by the eikonal equation.

  first_arrivals (--vp FILE | --gradient v0,g | --builtin salt) [options]

Units are metres, metres per second and seconds. x points right, y into the page, z is DEPTH and points
down. On the command line coordinates are written x,z in 2D and x,y,z in 3D. Model files hold nodes in
the order (x, z) or (x, y, z) with z running fastest.
)";

constexpr const char* outro =
    R"(
Results, in the folder of --out:
  times.npy       seconds, the shape of the model (sources x shape with --each)
  receivers.csv   times at the receivers             velocity.npy  the model as it was used
  summary.json    what was asked, versions, timings  times.png     the picture

Examples
  first_arrivals --builtin salt
      A made-up salt model, a source in the middle of the surface.
  first_arrivals --gradient 1500,0.8 --shape 801,301 --spacing 10 --source 503,17 --receivers "0,0; 8000,0"
  first_arrivals --vp vp.npy --epsilon eps.npy --delta 0.05 --spacing 12.5 --source 1000,0
      A VTI medium; the horizontal velocity is vp sqrt(1 + 2 epsilon). Without --delta it is elliptical.

mpirun -n RANKS first_arrivals --each ...: ranks share the sources, a device each.
The number of CPU threads is that of OMP_NUM_THREADS. Exit status: 0 done, 2 the input is not usable (the
message says what and why), 1 anything else, 130 interrupted.
)";

void check_one_model(const Arguments& given) {
  const int chosen = given.given("vp") + given.given("gradient") + given.given("builtin");
  if (chosen == 1) return;
  throw InputError(concat(chosen == 0 ? "no model was given" : "more than one model was given",
                          " (needed: one of --vp, --gradient and --builtin): try "
                          "first_arrivals --builtin salt, or see first_arrivals --help"));
}

// Checks the options of the model, and sets the shape of models by formula.
void check_model(const Arguments& given, Options& o) {
  if (given.given("builtin") && given.given("velocity-unit")) {
    throw InputError(
        "--velocity-unit was given with --builtin (it is the unit of --vp and --gradient): "
        "leave it out");
  }
  if (!given.given("vp")) {
    if (o.shape.empty()) o.shape = {601, 201};
    if (o.spacing.empty()) o.spacing = {10.0};
  }
  if (given.given("delta") && !given.given("epsilon")) {
    throw InputError(
        "--delta was given without --epsilon (allowed: --epsilon alone, which is elliptical, or "
        "both): give --epsilon");
  }
}

// Checks the space: the sequential method runs on the host in every build.
void check_space(const Arguments& given, Options& o) {
  if (o.solver != Solver::fast_marching) return;
  if (!given.given("space")) o.space = sequential_space();
  if (o.space != "cuda" && !o.each) return;
  throw InputError(concat("--method fast_marching was given with ",
                          o.each ? "--each" : "--space cuda",
                          " (it is sequential, and gives the earliest of all sources): leave ",
                          o.each ? "--each" : "--space", " out, or take another method"));
}

void bind_model(Description& d, Options& o) {
  d.group("Model (exactly one of the first three)");
  d.check(check_one_model);
  d.bind(o.model, "vp", "FILE|v",
         "P or S velocity in m/s: NumPy .npy, Madagascar .rsf, SEG-Y .sgy or .segy, or one number "
         "for all nodes; --model is the same",
         {.key = "model", .file = true});
  d.add("gradient", "v0,g", "velocity v0 + g z: v0 in m/s at z = 0, g in 1/s").read =
      [&o](const Arguments& given) {
        if (!given.given("gradient")) return;
        const auto numbers =
            parse_numbers("--gradient", given.text("gradient"), {2}, "v0,g: m/s at z = 0 and 1/s");
        o.v0 = numbers[0];
        o.gradient = numbers[1];
      };
  d.bind(o.builtin, "builtin", "salt",
         "a made-up model: sediments of 1500 to 3500 m/s and a body of salt of 4500 m/s",
         name_of({"salt"}), {.hidden = true});
  d.bind(o.epsilon, "epsilon", "FILE|e",
         "Thomsen's epsilon, -0.4 to 2; alone it makes the medium elliptical", {.file = true});
  d.bind(o.delta, "delta", "FILE|d", "Thomsen's delta; with epsilon it makes the medium VTI",
         {.file = true});
  d.bind(o.shape, "shape", "nx[,ny],nz",
         "nodes along each axis of a model that is no file (default for --gradient and "
         "--builtin: 601,201)",
         nodes_of_axes(), {.hidden = true});
  d.bind(o.spacing, "spacing", "d | dx[,dy],dz",
         "metres between nodes; overrides the file's (default: that of the file; 10 for "
         "--gradient and --builtin)",
         parsed(parse_spacing), {.hidden = true});
  d.bind(o.origin, "origin", "x[,y],z",
         "position of the first node (default: that of the file, or 0)", parsed(parse_origin),
         {.hidden = true});
  bind_velocity_unit(d, o.velocity_unit);
  d.check([&o](const Arguments& given) { check_model(given, o); });
}

void bind_survey(Description& d, Options& o) {
  d.group("Sources and receivers");
  d.bind(o.sources, "source", "POINTS",
         "positions of sources, on nodes or not: x,z, in 3D x,y,z, or x=..,z=..; a line "
         "x,z:x,z:n; a grid x,z:x,z:nxm (3D: nxmxk); several joined by ;  or a table .csv or .npy. "
         "May be repeated (default: the middle of the surface)",
         {.hidden = true, .file = true});
  d.flag(o.each, "each",
         "times from each source; without it at every node the earliest of all sources");
  d.bind(o.receivers, "receivers", "POINTS",
         "where times are wanted, written like sources; --receiver-line is the same",
         nonempty("points", "times at the nodes alone"), {.hidden = true, .file = true});
  bind_coordinates(d);
}

}  // namespace

Description describe(Options& o) {
  Description d;
  d.program = "first_arrivals";
  d.intro = intro;
  d.outro = outro;
  bind_model(d, o);
  bind_survey(d, o);
  d.group("Solving");
  d.bind(o.order, "order", "n", "order of the differences, 1 or 2 (default: 2)", count(1, 2));
  d.flag(o.factored, "unfactored",
         "do not take the source's singularity out: less exact, for comparison",
         {.key = "factored"}, false);
  d.bind(o.solver, "method", "NAME",
         "active_tiles, sweeping, or fast_marching (sequential reference); all give the same times "
         "(default: active_tiles)",
         one_of(solver_names));
  bind_precision(d, o);
  d.group("Running");
  bind_space(d, o);
  bind_memory(d, o, "for all arrays together, or on the device");
  bind_out(d, o);
  bind_no_plot(d, o, "picture");
  d.option("no-plot").shown = {};
  d.check([&o](const Arguments& given) { check_space(given, o); });
  d.move_in_summary("method", {"each"});
  d.move_in_summary("out", {"velocity_unit"});
  d.alternatives = {{{"vp", "gradient", "builtin"}, {"shape", "spacing", "origin"}}};
  d.aliases = {{"model", "vp"}, {"receiver-line", "receivers"}};
  return d;
}

}  // namespace moho::examples::first_arrivals
