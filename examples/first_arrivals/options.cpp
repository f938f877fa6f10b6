// SPDX-License-Identifier: BSD-3-Clause
#include "first_arrivals/options.hpp"

#include "common/arguments.hpp"
#include "common/command_line.hpp"
#include "common/summary.hpp"

#include <moho/core/space.hpp>

#include <boost/program_options.hpp>

#include <sstream>
#include <utility>

namespace moho::examples::first_arrivals {

namespace {

namespace po = boost::program_options;

constexpr const char* intro =
    R"(first_arrivals: traveltimes of first arrivals by the eikonal equation.

  first_arrivals (--model FILE | --gradient v0,g | --builtin salt) [options]

Units are metres, metres per second and seconds. x points right, y into the page, z is DEPTH and points
down. On the command line coordinates are written x,z in 2D and x,z,y in 3D. Model files hold nodes in
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
  first_arrivals --model vp.npy --epsilon eps.npy --delta 0.05 --spacing 12.5 --source 1000,0
      A VTI medium; the horizontal velocity is vp sqrt(1 + 2 epsilon). Without --delta it is elliptical.

The number of CPU threads is that of OMP_NUM_THREADS. Exit status: 0 done, 2 the input is not usable (the
message says what and why), 1 anything else.
)";

// x,z,y as written on the command line to (x, y, z) as the library wants it.
template <class T>
std::vector<T> to_axes(std::vector<T> values) {
  if (values.size() == 3) std::swap(values[1], values[2]);
  return values;
}

}  // namespace

CommandLine read_command_line(const std::vector<std::string>& arguments) {
  const std::string program = "first_arrivals";
  const auto text_value = [] { return po::value<std::string>(); };
  po::options_description model("Model (exactly one of the first three)", 100, 60);
  model.add_options()  //
      ("model", text_value()->value_name("FILE|v"),
       "P or S velocity in m/s: NumPy .npy, Madagascar .rsf, SEG-Y .sgy or .segy, or one number "
       "for all nodes; on the command line --vp is the same")  //
      ("gradient", text_value()->value_name("v0,g"),
       "velocity v0 + g z: v0 in m/s at z = 0, g in 1/s")  //
      ("builtin", text_value()->value_name("salt"),
       "a made-up model: sediments of 1500 to 3500 m/s and a body of salt of 4500 m/s")  //
      ("epsilon", text_value()->value_name("FILE|e"),
       "Thomsen's epsilon, -0.4 to 2; alone it makes the medium elliptical")  //
      ("delta", text_value()->value_name("FILE|d"),
       "Thomsen's delta; with epsilon it makes the medium VTI")  //
      ("shape", text_value()->value_name("nx,nz[,ny]"),
       "nodes along each axis of a model that is no file (default for --gradient and --builtin: "
       "601,201)")  //
      ("spacing", text_value()->value_name("d | dx,dz[,dy]"),
       "metres between nodes; overrides the file's (default: that of the file; 10 for "
       "--gradient and --builtin)")  //
      ("origin", text_value()->value_name("x,z[,y]"),
       "position of the first node (default: that of the file, or 0)");
  po::options_description survey("Sources and receivers", 100, 60);
  survey.add_options()  //
      ("source", po::value<std::vector<std::string>>()->value_name("x,z[,y]"),
       "position of a source, on a node or not, or a table .csv or .npy; repeat it for more "
       "(default: the middle of the surface)")  //
      ("each", po::bool_switch(),
       "times from each source; without it at every node the earliest of all sources")  //
      ("receivers", text_value()->value_name("FILE|POINTS"),
       "where times are wanted: a table .csv or .npy with x,z or x,y,z, or points x,z; x,z; ...");
  po::options_description solving("Solving", 100, 60);
  solving.add_options()  //
      ("order", text_value()->value_name("n"),
       "order of the differences, 1 or 2 (default: 2)")  //
      ("unfactored", po::bool_switch(),
       "do not take the source's singularity out: less exact, for comparison")  //
      ("method", text_value()->value_name("NAME"),
       "active_tiles, sweeping, or fast_marching (sequential reference); all give the same times "
       "(default: active_tiles)")  //
      ("precision", text_value()->value_name("TYPE"), "float or double (default: float)");
  po::options_description running("Running", 100, 60);
  running.add_options()  //
      ("space", text_value()->value_name("NAME"),
       "where to compute: serial, openmp or cuda (default: the fastest that this program was built "
       "with)")  //
      ("memory", text_value()->value_name("BYTES"),
       "most memory to work in, such as 512M or 8G (default: what is free)")  //
      ("out", text_value()->value_name("DIR"),
       "folder for the results (default: first_arrivals_out)")  //
      ("no-plot", po::bool_switch(), "draw no picture");
  po::options_description console("Other", 100, 60);
  console.add_options()  //
      ("config", text_value()->value_name("FILE"),
       "read options from a file, one \"name = value\" a line, # starts a comment; the command "
       "line wins")          //
      ("help", "this text")  //
      ("version", "versions of the program and of what it was built with");
  po::options_description in_file, all;
  in_file.add(model).add(survey).add(solving).add(running);
  all.add(in_file).add(console);

  std::vector<std::string> named = arguments;  // other programs know the velocity as --vp
  for (std::string& argument : named) {
    if (argument == "--vp" || argument.rfind("--vp=", 0) == 0) argument.replace(0, 4, "--model");
  }
  po::variables_map values = parse_command_line(program, named, all);
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
    parse_config_file(program, values["config"].as<std::string>(), in_file,
                      {{{"model", "gradient", "builtin"}, {"shape", "spacing", "origin"}}}, values);
  }
  const auto given = [&](const char* name) { return values.count(name) > 0; };
  const auto text = [&](const char* name) {
    return given(name) ? values[name].as<std::string>() : std::string();
  };

  const int chosen = given("model") + given("gradient") + given("builtin");
  if (chosen != 1) {
    throw InputError(concat(chosen == 0 ? "no model was given" : "more than one model was given",
                            " (needed: one of --model, --gradient and --builtin): try "
                            "first_arrivals --builtin salt, or see first_arrivals --help"));
  }
  if (given("shape")) {
    const std::vector<std::string> pieces = split(text("shape"));
    if (pieces.size() != 2 && pieces.size() != 3) {
      throw InputError(concat("--shape: '", text("shape"), "' has ", pieces.size(),
                              pieces.size() == 1 ? " value" : " values",
                              " (allowed: nx,nz or nx,nz,ny, nodes along each axis)"));
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
      if (d > 0.0) continue;
      throw InputError(concat("--spacing: ", d, " in '", text("spacing"),
                              "' is not positive (allowed: metres between nodes)"));
    }
  }
  if (given("origin")) {
    o.origin = to_axes(parse_numbers("--origin", text("origin"), {2, 3}, "x,z in 2D, x,z,y in 3D"));
  }
  o.model = text("model");
  if (given("gradient")) {
    const auto numbers =
        parse_numbers("--gradient", text("gradient"), {2}, "v0,g: m/s at z = 0 and 1/s");
    o.v0 = numbers[0];
    o.gradient = numbers[1];
  }
  if (given("builtin")) {
    parse_name("--builtin", text("builtin"), {"salt"});
    o.salt = true;
  }
  if (!given("model")) {
    if (o.shape.empty()) o.shape = {601, 201};
    if (o.spacing.empty()) o.spacing = {10.0};
  }
  o.epsilon = text("epsilon");
  o.delta = text("delta");
  if (given("delta") && !given("epsilon")) {
    throw InputError(
        "--delta was given without --epsilon (allowed: --epsilon alone, which is elliptical, or "
        "both): give --epsilon");
  }

  if (given("source")) o.sources = values["source"].as<std::vector<std::string>>();
  o.each = values["each"].as<bool>();
  o.receivers = text("receivers");
  if (given("order")) o.order = static_cast<int>(parse_count("--order", text("order"), 1, 2));
  o.factored = !values["unfactored"].as<bool>();
  if (given("method")) {
    o.solver = static_cast<Solver>(parse_name("--method", text("method"),
                                              {solver_names[0], solver_names[1], solver_names[2]}));
  }
  if (given("precision")) {
    o.double_precision = parse_name("--precision", text("precision"), {"float", "double"}) == 1;
  }
  const bool marching = o.solver == Solver::fast_marching;
  o.space = marching ? space_names().front() : default_space_name();
  if (given("space")) o.space = parse_space(text("space"));
  if (marching && (o.space == "cuda" || o.each)) {
    throw InputError(concat("--method fast_marching was given with ",
                            o.each ? "--each" : "--space cuda",
                            " (it is sequential, and gives the earliest of all sources): leave ",
                            o.each ? "--each" : "--space", " out, or take another method"));
  }
  if (given("memory")) o.memory = parse_bytes("--memory", text("memory"));
  if (given("out")) o.out = text("out");
  if (o.out.empty()) {
    throw InputError(
        "--out is empty (allowed: the name of a folder): leave it out for first_arrivals_out");
  }
  o.plot = !values["no-plot"].as<bool>();
  return result;
}

}  // namespace moho::examples::first_arrivals
