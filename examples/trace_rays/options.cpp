// SPDX-License-Identifier: BSD-3-Clause
#include "trace_rays/options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"

#include <moho/core/text.hpp>

namespace moho::examples::trace_rays {

namespace {

constexpr const char* intro =
    R"(trace_rays: first-arrival traveltimes and rays through a velocity model, by shortest paths on a
grid graph.

  trace_rays (--model FILE | --gradient v0,g | --builtin salt) [options]

Units are metres, metres per second and seconds. x points right, y into the page, z is DEPTH and points
down. On the command line coordinates are written x,z in 2D and x,y,z in 3D. Model files hold nodes in
the order (x, z) or (x, y, z) with z running fastest.
)";

constexpr const char* outro =
    R"(
Accuracy. The traveltime is exact for the path found, and the path may turn at nodes only, so times come
out a little too long: between nodes at worst by 8.2 % with --radius 1, 1.3 % with 3, 0.34 % with 6 in 2D
(12.8 % with 1, 2.5 % with 3 in 3D), however fine the grid is; more where the spacing is not equal, and for
short rays from points between nodes. Work and memory grow with the square (3D: cube) of the radius.

Results, in the folder of --out:
  traveltime.npy  seconds; sources x model shape       rays.csv, rays.vtk  the rays (ParaView reads .vtk)
  velocity.npy    the model as it was used             receivers.csv       traveltime at each receiver
  summary.json    what was asked, versions, timings    rays.png            the picture
  matrix.npz, matrix.mtx  the tomography matrix (--matrix), for scipy.sparse.load_npz() and others

Examples
  trace_rays --builtin salt
      A made-up salt model, a source in the middle of the surface, rays to a line along the surface.
  trace_rays --gradient 1500,0.8 --shape 801,301 --spacing 10 --source 500,0 --receivers 0,2900:8000,2900:41
      v = 1500 m/s + 0.8 1/s * z; rays to 41 receivers at a depth of 2900 m.
  trace_rays --model vp.npy --spacing 12.5 --source 1000,0 --source 5000,0 --receivers stations.csv --out run1
      A model of your own, two shots, receivers from a table with the columns x and z.
  trace_rays --model volume.rsf --source x=500,y=750,z=0 --radius 3 --space cuda --memory 20G
      A volume; --source 500,750,0 is the same; on the GPU, in 20 GiB at most.
  trace_rays --config survey.cfg --radius 8
      Options from a file, one "name = value" a line (shape = 801,301), with another radius.

The number of CPU threads is that of OMP_NUM_THREADS. Exit status: 0 done, 2 the input is not usable (the
message says what and why), 1 anything else, 130 interrupted.
)";

// Throws unless exactly one model was given.
void check_one_model(const Arguments& given) {
  std::string chosen;
  for (const char* name : {"model", "gradient", "builtin"}) {
    if (!given.given(name)) continue;
    if (!chosen.empty()) {
      throw InputError(
          concat("--", chosen, " and --", name,
                 " were both given (allowed: one of --model, --gradient and --builtin): "
                 "leave one out"));
    }
    chosen = name;
  }
  if (chosen.empty()) {
    throw InputError(
        "no model was given (needed: one of --model, --gradient and --builtin): try trace_rays "
        "--builtin salt, or see trace_rays --help");
  }
}

// Sets the kind of the model, and the shape of models by formula.
void choose_model(const Arguments& given, Options& o) {
  if (given.given("builtin") && given.given("velocity-unit")) {
    throw InputError(
        "--velocity-unit was given with --builtin (it is the unit of --model and --gradient): "
        "leave it out");
  }
  const auto number = text::to_number(o.model_file);
  if (!given.given("model")) {
    o.model = given.given("builtin") ? ModelKind::salt : ModelKind::gradient;
    if (o.shape.empty()) o.shape = {601, 201};
    if (o.spacing.empty()) o.spacing = {10.0};
  } else if (number) {
    o.model = ModelKind::gradient;
    o.v0 = *number;
    for (const char* name : {"shape", "spacing"}) {
      if (given.given(name)) continue;
      throw InputError(concat("--", name, " is missing (it is needed where --model is a number): ",
                              "write --shape 301,201 --spacing 10 for nodes 10 m apart"));
    }
  } else if (!o.shape.empty()) {
    throw InputError(
        "--shape was given with --model (allowed: with --gradient and --builtin): leave it out, "
        "the model file has a shape of its own");
  }
}

// Checks the space: the sequential method runs on the host in every build.
void check_space(const Arguments& given, Options& o) {
  if (o.method != rays::Method::dijkstra) return;
  if (!given.given("space")) o.space = sequential_space();
  if (o.space != "cuda") return;
  throw InputError(
      "--method dijkstra was given with --space cuda (allowed: serial or openmp, it is "
      "sequential): leave --space out, or take another method");
}

void bind_model(Description& d, Options& o) {
  d.group("Model (exactly one of the first three)");
  d.check(check_one_model);
  d.bind(o.model_file, "model", "FILE|v",
         "P or S velocity in m/s: NumPy .npy, Madagascar .rsf, SEG-Y .sgy or .segy, or one number "
         "for all nodes; --vp is the same",
         {.file = true})
      .shown = [&o] {
    if (o.model_file.empty()) return Json();
    return o.model == ModelKind::file ? Json(o.model_file) : Json(o.v0);
  };
  const auto parse_gradient = [](const std::string& option, const std::string& text) {
    return parse_numbers(option, text, {2}, "v0,g: m/s at z = 0 and 1/s");
  };
  d.bind(o.linear, "gradient", "v0,g", "velocity v0 + g z: v0 in m/s at z = 0, g in 1/s",
         Rule<std::vector<double>>{parse_gradient}, {.unset = Json()});
  d.bind(o.builtin, "builtin", "salt",
         "a made-up model: sediments of 1500 to 3500 m/s and a body of salt of 4500 m/s",
         name_of({"salt"}), {.unset = Json()});
  d.bind(o.shape, "shape", "nx[,ny],nz",
         "nodes along each axis of a model that is no file; three make a volume (default for "
         "--gradient and --builtin: 601,201)",
         nodes_of_axes(), {.hidden = true});
  d.bind(o.spacing, "spacing", "d | dx[,dy],dz",
         "metres between nodes, one value for all axes or one for each; overrides the "
         "file's (default: that of the file; 10 for --gradient and --builtin)",
         parsed(parse_spacing), {.hidden = true});
  bind_velocity_unit(d, o.velocity_unit);
  bind_config(d, o);
  d.check([&o](const Arguments& given) {
    if (!o.linear.empty()) {
      o.v0 = o.linear[0];
      o.gradient = o.linear[1];
    }
    choose_model(given, o);
  });
}

void bind_survey(Description& d, Options& o) {
  d.group("Sources and receivers");
  d.bind(o.sources, "source", "POINTS",
         "positions of sources, anywhere in the model: x,z, in 3D x,y,z, or x=..,z=..; a "
         "line x,z:x,z:n; a grid x,z:x,z:nxm (3D: nxmxk); several joined by ;  or a table .csv or "
         ".npy. May be repeated (default: the middle of the surface)",
         {.hidden = true, .file = true});
  d.bind(o.receivers, "receivers", "POINTS",
         "written like sources; --receiver-line is the same (default: 41 along the surface)",
         nonempty("points", "a line of them"), {.unset = Json(), .file = true});
  bind_coordinates(d);
}

void bind_tracing(Description& d, Options& o) {
  d.group("Tracing");
  // The upper limit depends on the model's dimensions and is checked once they are known.
  d.bind(o.radius, "radius", "r",
         "radius of the neighbourhood in nodes, 1 to 8 in 2D and 1 to 4 in 3D: larger is more "
         "exact and slower (default: 6 in 2D, 3 in 3D)",
         count(1, rays::max_radius<2>), {.unset = "auto"});
  d.bind(o.star, "star", "NAME",
         "coprime: neighbours in different directions only; full: all of them, as in the paper "
         "(default: coprime; the times are the same)",
         one_of({"coprime", "full"}));
  d.bind(o.rule, "weights", "RULE",
         "traveltime along an edge. slowness: slowness linear in each cell, integrated exactly; "
         "velocity: the same with velocity; cells: constant cells; sampled: r+1 steps (default: "
         "slowness)",
         one_of({"slowness", "velocity", "cells", "sampled"}));
  d.bind(o.method, "method", "NAME",
         "active_tiles, relaxation (the paper's), push, near_far, or dijkstra (sequential "
         "reference); all give the same times (default: active_tiles)",
         one_of({"active_tiles", "relaxation", "push", "near_far", "dijkstra"}));
  bind_precision(d, o);
  d.bind(o.storage, "storage", "HOW",
         "edge weights: stored in a table, computed on_the_fly, by fragments of the table where "
         "the wave is, or automatic: by speed and memory (default: automatic)",
         one_of({"automatic", "stored", "on_the_fly", "fragments"}));
  d.bind(o.matrix, "matrix", "BASIS",
         "also write the tomography matrix, a row a ray: cells (metres in each cell) or nodes "
         "(derivative by the slowness at each node)",
         one_of({"cells", "nodes"}), {.unset = Json()});
}

}  // namespace

Description describe(Options& o) {
  Description d;
  d.program = "trace_rays";
  d.intro = intro;
  d.outro = outro;
  bind_model(d, o);
  bind_survey(d, o);
  bind_tracing(d, o);
  d.group("Running");
  bind_space(d, o);
  bind_memory(d, o, "for all arrays together, or on each device");
  d.bind(o.devices, "devices", "n",
         "devices over which one model is split, with the same results (default: 1); hosts stand "
         "in for any number",
         count(1, 64));
  d.bind(o.slabs, "slabs", "n",
         "parts of the model for each device; more than one keep all devices at work where the "
         "wave is (default: chosen)",
         count(1, 1024), {.unset = Json()});
  d.check([&o](const Arguments&) {
    if ((o.devices == 1 && o.slabs < 2) || o.method == rays::Method::active_tiles) return;
    throw InputError(concat("--devices or --slabs was given with --method ", to_string(o.method),
                            " (allowed: active_tiles): leave one of them out"));
  });
  bind_out(d, o);
  bind_no_plot(d, o, "picture");
  d.check([&o](const Arguments& given) { check_space(given, o); });
  d.config_note =
      ". A model chosen on the command line replaces the file's with its shape and spacing";
  d.alternatives = {{{"model", "gradient", "builtin"}, {"shape", "spacing"}}};
  d.aliases = {{"vp", "model"}, {"receiver-line", "receivers"}};
  return d;
}

}  // namespace moho::examples::trace_rays
