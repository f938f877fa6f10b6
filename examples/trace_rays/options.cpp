// SPDX-License-Identifier: BSD-3-Clause
#include "trace_rays/options.hpp"

#include "common/arguments.hpp"
#include "common/command_line.hpp"
#include "common/summary.hpp"

#include <moho/core/space.hpp>

#include <boost/program_options.hpp>

#include <limits>
#include <sstream>
#include <utility>

namespace moho::examples::trace_rays {

namespace {

namespace po = boost::program_options;

constexpr const char* intro =
    R"(trace_rays: first-arrival traveltimes and rays through a velocity model, by shortest paths on a
grid graph.

  trace_rays (--model FILE | --gradient v0,g | --builtin salt) [options]

Units are metres, metres per second and seconds. x points right, y into the page, z is DEPTH and points
down. On the command line coordinates are written x,z in 2D and x,z,y in 3D. Model files hold nodes in
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

Examples
  trace_rays --builtin salt
      A made-up salt model, a source in the middle of the surface, rays to a line along the surface.
  trace_rays --gradient 1500,0.8 --shape 801,301 --spacing 10 --source 500,0 --receiver-line 0,2900,8000,2900,41
      v = 1500 m/s + 0.8 1/s * z; rays to 41 receivers at a depth of 2900 m.
  trace_rays --model vp.npy --spacing 12.5 --source 1000,0 --source 5000,0 --receivers stations.csv --out run1
      A model of your own, two shots, receivers from a table with the columns x and z.
  trace_rays --model volume.rsf --source 500,0,750 --radius 3 --space cuda --memory 20G
      A volume; the source is at x = 500 m, depth 0, y = 750 m; on the GPU, in 20 GiB at most.
  trace_rays --config survey.cfg --radius 8
      Options from a file, one "name = value" a line (shape = 801,301), with another radius.

The number of CPU threads is that of OMP_NUM_THREADS. Exit status: 0 done, 2 the input is not usable (the
message says what and why), 1 anything else.
)";

struct Descriptions {
  po::options_description model, survey, tracing, running, console;
};

Descriptions describe() {
  const auto text = [] { return po::value<std::string>(); };
  Descriptions d{po::options_description("Model (exactly one of the first three)", 100, 60),
                 po::options_description("Sources and receivers", 100, 60),
                 po::options_description("Tracing", 100, 60),
                 po::options_description("Running", 100, 60),
                 po::options_description("Other", 100, 60)};
  d.model.add_options()  //
      ("model", text()->value_name("FILE"),
       "P or S velocity in m/s: NumPy .npy, Madagascar .rsf, SEG-Y .sgy or .segy")  //
      ("gradient", text()->value_name("v0,g"),
       "velocity v0 + g z: v0 in m/s at z = 0, g in 1/s")  //
      ("builtin", text()->value_name("salt"),
       "a made-up model: sediments of 1500 to 3500 m/s and a body of salt of 4500 m/s")  //
      ("shape", text()->value_name("nx,nz[,ny]"),
       "nodes along each axis for --gradient and --builtin; three numbers make a volume (default: "
       "601,201)")  //
      ("spacing", text()->value_name("d | dx,dz[,dy]"),
       "metres between nodes, one value for all axes or one for each; overrides the file's "
       "(default: "
       "that of the file, or 1 if it has none; 10 for --gradient and --builtin)");
  d.survey.add_options()  //
      ("source", po::value<std::vector<std::string>>()->value_name("x,z[,y]"),
       "position of a source, anywhere in the model, on a node or not; repeat it for more sources "
       "(default: the middle of the surface)")  //
      ("receivers", text()->value_name("FILE"),
       "positions of receivers: .csv with the columns x,z or x,y,z, or .npy of shape n x 2 (x,z) "
       "or "
       "n x 3 (x,y,z)")  //
      ("receiver-line", text()->value_name("LINE"),
       "n receivers at equal distances on a straight line: x0,z0,x1,z1,n in 2D, "
       "x0,z0,y0,x1,z1,y1,n "
       "in 3D (default: 41 along the surface)");
  d.tracing.add_options()  //
      ("radius", text()->value_name("r"),
       "radius of the neighbourhood in nodes, 1 to 8 in 2D and 1 to 4 in 3D: larger is more exact "
       "and "
       "slower (default: 6 in 2D, 3 in 3D)")  //
      ("star", text()->value_name("NAME"),
       "coprime: neighbours in different directions only; full: all of them, as in the paper "
       "(default: coprime; the times are the same)")  //
      ("weights", text()->value_name("RULE"),
       "traveltime along an edge. slowness: slowness linear in each cell, integrated exactly; "
       "velocity: "
       "the same with velocity; cells: constant cells; sampled: r+1 steps (default: slowness)")  //
      ("method", text()->value_name("NAME"),
       "active_tiles, relaxation (the paper's), push, near_far, or dijkstra (sequential "
       "reference); all "
       "give the same times (default: active_tiles)")                                //
      ("precision", text()->value_name("TYPE"), "float or double (default: float)")  //
      ("storage", text()->value_name("HOW"),
       "edge weights: stored in a table, computed on_the_fly, or automatic: by speed and memory "
       "(default: automatic)");
  d.running.add_options()  //
      ("space", text()->value_name("NAME"),
       "where to compute: serial, openmp or cuda (default: the fastest that this program was built "
       "with)")  //
      ("memory", text()->value_name("BYTES"),
       "most memory that the tracing may take, such as 512M or 8G (default: what is free)")   //
      ("out", text()->value_name("DIR"), "folder for the results (default: trace_rays_out)")  //
      ("no-plot", po::bool_switch(), "draw no picture");
  d.console.add_options()  //
      ("config", text()->value_name("FILE"),
       "read options from a file, one \"name = value\" a line, # starts a comment; the command "
       "line "
       "wins. A model chosen on the command line replaces the file's with its shape and spacing")  //
      ("help", "this text")  //
      ("version", "versions of the program and of what it was built with");
  return d;
}

const std::vector<Alternatives>& alternatives() {
  static const std::vector<Alternatives> list{
      {{"model", "gradient", "builtin"}, {"shape", "spacing"}},
      {{"receivers", "receiver-line"}, {}}};
  return list;
}

// x,z,y as written on the command line to (x, y, z) as the library wants it.
template <class T>
std::vector<T> to_axes(std::vector<T> values) {
  if (values.size() == 3) std::swap(values[1], values[2]);
  return values;
}

}  // namespace

CommandLine read_command_line(const std::vector<std::string>& arguments) {
  const std::string program = "trace_rays";
  const Descriptions described = describe();
  po::options_description in_file, all;
  in_file.add(described.model).add(described.survey).add(described.tracing).add(described.running);
  all.add(in_file).add(described.console);

  po::variables_map values = parse_command_line(program, arguments, all);

  CommandLine result;
  Options& o = result.options;
  if (values.count("help")) {
    std::ostringstream help;
    help << intro << '\n' << all << outro;
    result.text = help.str();
    return result;
  }
  if (values.count("version")) {
    result.text = version_text(program);
    return result;
  }
  if (values.count("config")) {
    o.config = values["config"].as<std::string>();
    parse_config_file(program, o.config, in_file, alternatives(), values);
  }

  const auto given = [&](const char* name) { return values.count(name) > 0; };
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };

  // The model.
  std::string chosen;
  const std::vector<std::string> kinds{"model", "gradient", "builtin"};
  for (const std::string& name : kinds) {
    if (!given(name.c_str())) continue;
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
        "--builtin "
        "salt, or see trace_rays --help");
  }
  if (given("shape")) {
    const std::string form = "nx,nz or nx,nz,ny, nodes along each axis";
    const std::vector<std::string> pieces = split(text("shape"));
    if (pieces.size() != 2 && pieces.size() != 3) {
      throw InputError(concat("--shape: '", text("shape"), "' has ", pieces.size(),
                              pieces.size() == 1 ? " value" : " values", " (allowed: ", form, ")"));
    }
    for (const std::string& piece : pieces) {
      o.shape.push_back(parse_count("--shape " + text("shape") + ": a number of nodes", piece, 1,
                                    std::int64_t(1) << 40));
    }
    o.shape = to_axes(o.shape);
  }
  if (given("spacing")) {
    o.spacing = to_axes(parse_numbers("--spacing", text("spacing"), {1, 2, 3},
                                      "d, or dx,dz, or dx,dz,dy in metres"));
    for (const double d : o.spacing) {
      if (!(d > 0.0)) {
        throw InputError(concat("--spacing: ", d, " in '", text("spacing"),
                                "' is not positive (allowed: metres between nodes)"));
      }
    }
  }
  if (chosen == "model") {
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
  if (given("source")) {
    for (const std::string& source : values["source"].as<std::vector<std::string>>()) {
      o.sources.push_back(
          to_axes(parse_numbers("--source", source, {2, 3}, "x,z in 2D, x,z,y in 3D, in metres")));
    }
  }
  if (given("receivers") && given("receiver-line")) {
    throw InputError(
        "--receivers and --receiver-line were both given (allowed: one of them): leave one out");
  }
  if (given("receivers")) o.receivers_file = text("receivers");
  if (given("receiver-line")) {
    const std::string line = text("receiver-line");
    const auto numbers = parse_numbers("--receiver-line", line, {5, 7},
                                       "x0,z0,x1,z1,n in 2D, x0,z0,y0,x1,z1,y1,n in 3D");
    const std::size_t dim = numbers.size() / 2;
    const auto at = [&](std::size_t i) { return numbers.begin() + static_cast<std::ptrdiff_t>(i); };
    o.line_begin = to_axes(std::vector<double>(at(0), at(dim)));
    o.line_end = to_axes(std::vector<double>(at(dim), at(2 * dim)));
    o.line_count = parse_count("--receiver-line " + line + ": the number of receivers",
                               split(line).back(), 1, 100000000);
  }

  // The tracing.
  if (given("radius")) {
    // Whether it is too large depends on the model's dimensions and is said once they are known.
    o.radius = static_cast<int>(parse_count("--radius", text("radius"), 1, rays::max_radius<2>));
  }
  if (given("star")) {
    o.star = parse_name("--star", text("star"), {"coprime", "full"}) == 0 ? rays::Star::coprime
                                                                          : rays::Star::full;
  }
  if (given("weights")) {
    o.rule = static_cast<rays::WeightRule>(
        parse_name("--weights", text("weights"), {"slowness", "velocity", "cells", "sampled"}));
  }
  if (given("method")) {
    o.method = static_cast<rays::Method>(
        parse_name("--method", text("method"),
                   {"active_tiles", "relaxation", "push", "near_far", "dijkstra"}));
  }
  if (given("precision")) {
    o.double_precision = parse_name("--precision", text("precision"), {"float", "double"}) == 1;
  }
  if (given("storage")) {
    o.storage = static_cast<rays::WeightStorage>(
        parse_name("--storage", text("storage"), {"automatic", "stored", "on_the_fly"}));
  }

  // The run.
  // The sequential method runs on the host, whatever else the build has.
  o.space = o.method == rays::Method::dijkstra ? space_names().front() : default_space_name();
  if (given("space")) o.space = parse_space(text("space"));
  if (o.method == rays::Method::dijkstra && o.space == "cuda") {
    throw InputError(
        "--method dijkstra was given with --space cuda (allowed: serial or openmp, it is "
        "sequential): "
        "leave --space out, or take another method");
  }
  if (given("memory")) o.memory = parse_bytes("--memory", text("memory"));
  if (given("out")) o.out = text("out");
  if (o.out.empty()) {
    throw InputError(
        "--out is empty (allowed: the name of a folder): leave it out for trace_rays_out");
  }
  o.plot = !values["no-plot"].as<bool>();
  return result;
}

}  // namespace moho::examples::trace_rays
