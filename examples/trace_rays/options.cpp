// SPDX-License-Identifier: BSD-3-Clause
#include "trace_rays/options.hpp"

#include "common/arguments.hpp"

#include <moho/core/text.hpp>

#include <utility>

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
out a little too long: at worst by 8.2 % with --radius 1, 1.3 % with 3, 0.34 % with 6 in 2D (12.8 %, 2.5 %
and 0.67 % in 3D), whatever the spacing. Work and memory grow with the square (3D: cube) of the radius.

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

}  // namespace

Description describe() {
  Description d;
  d.program = "trace_rays";
  d.intro = intro;
  d.outro = outro;
  d.groups = {
      {"Model (exactly one of the first three)",
       {{"model", "FILE|v",
         "P or S velocity in m/s: NumPy .npy, Madagascar .rsf, SEG-Y .sgy or .segy, or one number "
         "for all nodes; --vp is the same"},
        {"gradient", "v0,g", "velocity v0 + g z: v0 in m/s at z = 0, g in 1/s"},
        {"builtin", "salt",
         "a made-up model: sediments of 1500 to 3500 m/s and a body of salt of 4500 m/s"},
        {"shape", "nx[,ny],nz",
         "nodes along each axis of a model that is no file; three make a volume (default for "
         "--gradient and --builtin: 601,201)"},
        {"spacing", "d | dx[,dy],dz",
         "metres between nodes, one value for all axes or one for each; overrides the file's "
         "(default: that of the file; 10 for --gradient and --builtin)"},
        velocity_unit_option()}},
      {"Sources and receivers",
       {repeated(
            "source", "POINTS",
            "positions of sources, anywhere in the model: x,z, in 3D x,y,z, or x=..,z=..; a "
            "line x,z:x,z:n; a grid x,z:x,z:nxm; several joined by ;  or a table .csv or .npy. "
            "May be repeated (default: the middle of the surface)"),
        {"receivers", "POINTS",
         "written like sources; --receiver-line is the same (default: 41 along the surface)"},
        coordinates_option()}},
      {"Tracing",
       {{"radius", "r",
         "radius of the neighbourhood in nodes, 1 to 8 in 2D and 1 to 4 in 3D: larger is more "
         "exact "
         "and slower (default: 6 in 2D, 3 in 3D)"},
        {"star", "NAME",
         "coprime: neighbours in different directions only; full: all of them, as in the paper "
         "(default: coprime; the times are the same)"},
        {"weights", "RULE",
         "traveltime along an edge. slowness: slowness linear in each cell, integrated exactly; "
         "velocity: the same with velocity; cells: constant cells; sampled: r+1 steps (default: "
         "slowness)"},
        {"method", "NAME",
         "active_tiles, relaxation (the paper's), push, near_far, or dijkstra (sequential "
         "reference); all give the same times (default: active_tiles)"},
        precision_option(),
        {"storage", "HOW",
         "edge weights: stored in a table, computed on_the_fly, or automatic: by speed and memory "
         "(default: automatic)"},
        {"matrix", "BASIS",
         "also write the tomography matrix, a row a ray: cells (metres in each cell) or nodes "
         "(derivative by the slowness at each node)"}}},
      {"Running",
       {space_option(), memory_option("for all arrays together, or on the device"),
        out_option(d.program), flag("no-plot", "draw no picture")}}};
  d.config_note =
      ". A model chosen on the command line replaces the file's with its shape and spacing";
  d.alternatives = {{{"model", "gradient", "builtin"}, {"shape", "spacing"}}};
  d.aliases = {{"vp", "model"}, {"receiver-line", "receivers"}};
  return d;
}

Options read_options(const Arguments& arguments) {
  Options o;
  const auto given = [&](const char* name) { return arguments.given(name); };
  const auto text = [&](const char* name) { return arguments.text(name); };

  // The model.
  std::string chosen;
  for (const char* name : {"model", "gradient", "builtin"}) {
    if (!arguments.given(name)) continue;
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
  if (given("shape")) o.shape = parse_shape(text("shape"), std::int64_t(1) << 40);
  if (given("spacing")) o.spacing = parse_spacing(text("spacing"));
  o.velocity_unit = read_velocity_unit(arguments);
  if (chosen == "builtin" && given("velocity-unit")) {
    throw InputError(
        "--velocity-unit was given with --builtin (it is the unit of --model and --gradient): "
        "leave it out");
  }
  const auto number = text::to_number(text("model"));
  if (chosen == "model" && number) {
    o.model = ModelKind::gradient;
    o.model_file = text("model");
    o.v0 = *number;
    for (const char* name : {"shape", "spacing"}) {
      if (given(name)) continue;
      throw InputError(concat("--", name, " is missing (it is needed where --model is a number): ",
                              "write --shape 301,201 --spacing 10 for nodes 10 m apart"));
    }
  } else if (chosen == "model") {
    o.model = ModelKind::file;
    o.model_file = text("model");
    if (!o.shape.empty()) {
      throw InputError(
          "--shape was given with --model (allowed: with --gradient and --builtin): leave it out, "
          "the "
          "model file has a shape of its own");
    }
  } else {
    if (chosen == "gradient") {
      o.model = ModelKind::gradient;
      const auto numbers =
          parse_numbers("--gradient", text("gradient"), {2}, "v0,g: m/s at z = 0 and 1/s");
      o.v0 = numbers[0];
      o.gradient = numbers[1];
    } else {
      o.model = ModelKind::salt;
      parse_name("--builtin", text("builtin"), {"salt"});
    }
    if (o.shape.empty()) o.shape = {601, 201};
    if (o.spacing.empty()) o.spacing = {10.0};
  }

  // The survey.
  o.sources = arguments.texts("source");
  o.receivers = text("receivers");
  if (given("receivers") && o.receivers.empty()) {
    throw InputError("--receivers is empty (allowed: points): leave it out for a line of them");
  }

  // The tracing.
  if (given("radius")) {
    // Whether it is too large depends on the model's dimensions and is said once they are known.
    o.radius = static_cast<int>(parse_count("--radius", text("radius"), 1, rays::max_radius<2>));
  }
  o.star = static_cast<rays::Star>(arguments.choice("star", {"coprime", "full"}, 0));
  o.rule = static_cast<rays::WeightRule>(
      arguments.choice("weights", {"slowness", "velocity", "cells", "sampled"}, 0));
  o.method = static_cast<rays::Method>(arguments.choice(
      "method", {"active_tiles", "relaxation", "push", "near_far", "dijkstra"}, 0));
  o.storage = static_cast<rays::WeightStorage>(
      arguments.choice("storage", {"automatic", "stored", "on_the_fly"}, 0));

  if (given("matrix")) {
    o.matrix = static_cast<rays::Basis>(arguments.choice("matrix", {"cells", "nodes"}, 0));
  }

  // The run.
  read_common(arguments, "trace_rays", o);
  for (const char* name : {"model", "source", "receivers"}) {
    for (const std::string& value : arguments.texts(name)) o.inputs.push_back({name, value});
  }
  // The sequential method runs on the host, whatever else the build has.
  if (o.method == rays::Method::dijkstra && !given("space")) o.space = sequential_space();
  if (o.method == rays::Method::dijkstra && o.space == "cuda") {
    throw InputError(
        "--method dijkstra was given with --space cuda (allowed: serial or openmp, it is "
        "sequential): "
        "leave --space out, or take another method");
  }
  return o;
}

}  // namespace moho::examples::trace_rays
