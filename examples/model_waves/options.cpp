// SPDX-License-Identifier: BSD-3-Clause
#include "model_waves/options.hpp"

#include "common/arguments.hpp"
#include "common/boundary.hpp"
#include "common/command_line.hpp"
#include "common/summary.hpp"

#include <moho/core/space.hpp>

#include <boost/program_options.hpp>

#include <limits>
#include <sstream>
#include <utility>

namespace moho::examples::model_waves {

namespace {

namespace po = boost::program_options;

constexpr const char* intro =
    R"(model_waves: shots over a model of the ground by finite differences: acoustic waves of constant or
variable density, and anisotropic ones (VTI, TTI).

  model_waves --vp FILE [options]
  model_waves --vp 2000 --shape nx,nz[,ny] --spacing d [options]

Units are metres, seconds, Hz, m/s. x points right, y into the page, z is DEPTH and points down. On the
command line coordinates are written x,z in 2D and x,z,y in 3D. Model files hold nodes in the order (x, z)
or (x, y, z) with z running fastest; .npy, .rsf, .sgy and .segy are read.
)";

constexpr const char* outro =
    R"(
Boundaries. A kind for all faces, then exceptions by face: --boundary cpml:20,top=free,left=sponge:40. Kinds:
cpml (absorbs best; not for TTI), sponge, random (keeps the energy and scatters it), free (the free surface),
rigid. Faces: left, right (x), front, back (y), top, bottom (z). Layers lie OUTSIDE of the model.

Time. A sample of the wavelet at time t acts at time t; a Ricker wavelet has its peak 1.5 / frequency after
zero, and arrivals are that much later than the traveltime. --dt auto takes a step below the largest stable
one, such that samples of the gather are whole microseconds apart.

Results, in the folder of --out:
  gather.npy     pressure, receivers x samples (several shots: gather_0001.npy, ...)
  gather.sgy     all shots with their geometry, SEG-Y revision 1
  snapshot_0001.npy, ...  the wavefield of the first shot in the model, and vp.npy, the velocity
  summary.json   what was asked, dt, limits, timings      gather.png, snapshots.png   pictures

Examples
  model_waves --vp 2000 --shape 301,201 --spacing 10 --source 1500,20 --receivers 0,20:3000,20:151
      A shot in a homogeneous section; 151 receivers on a line.
  model_waves --vp vp.npy --spacing 12.5 --epsilon eps.npy --delta delta.npy --theta theta.npy --time 2.5
      A TTI section with a source in the middle of the surface; theta in radians.
  model_waves --vp volume.rsf --wavelet ormsby:3,6,25,35 --boundary cpml:16,top=free --expand amplitude
      A volume, with a free surface, stepping only where waves have come to.
  model_waves --vp vp.sgy --source 500,10:8500,10:17 --receivers=-1000,10:1000,10:81 --moving
      17 shots, receivers up to 1 km on either side of each.
  model_waves --config survey.cfg --space cuda
      Options from a file, one "name = value" a line.

The number of CPU threads is that of OMP_NUM_THREADS. Exit status: 0 done, 2 the input is not usable (the
message says what and why), 1 anything else.
)";

struct Descriptions {
  po::options_description model, survey, scheme, running, console;
};

Descriptions describe() {
  const auto text = [] { return po::value<std::string>(); };
  // A switch that says whether it was given, and that a file can write "name = true".
  const auto flag = [] { return po::value<bool>()->zero_tokens(); };
  Descriptions d{
      po::options_description("Model (each a file or a number)", 100, 60),
      po::options_description("Shots", 100, 60), po::options_description("Scheme", 100, 60),
      po::options_description("Running", 100, 60), po::options_description("Other", 100, 60)};
  d.model.add_options()                                                               //
      ("vp", text()->value_name("FILE | m/s"), "P velocity; needed")                  //
      ("rho", text()->value_name("FILE | kg/m3"), "density (default: constant)")      //
      ("epsilon", text()->value_name("FILE | e"), "Thomsen's epsilon, makes it VTI")  //
      ("delta", text()->value_name("FILE | d"), "Thomsen's delta, makes it VTI")      //
      ("theta", text()->value_name("FILE | angle"),
       "tilt of the symmetry axis from the vertical towards x, radians, makes it TTI; a number may "
       "be written 30deg")  //
      ("phi", text()->value_name("FILE | angle"),
       "azimuth of the symmetry axis from x to y, radians; 3D only")               //
      ("degrees", flag(), "theta and phi are in degrees")                          //
      ("shape", text()->value_name("nx,nz[,ny]"), "nodes, where all are numbers")  //
      ("spacing", text()->value_name("d | dx,dz[,dy]"),
       "metres between nodes, one value for all axes or one for each (default: that of the "
       "file)")  //
      ("origin", text()->value_name("x,z[,y]"),
       "position of the first node (default: that of the file, or 0)");
  d.survey.add_options()  //
      ("source", po::value<std::vector<std::string>>()->value_name("POINTS"),
       "each point is a shot: x,z[,y]; a line x,z:x,z:count; several joined by ;  or a table .csv "
       "or .npy. May be repeated (default: the middle, two nodes below the surface)")  //
      ("receivers", text()->value_name("POINTS"),
       "written like sources (default: a line two nodes below the surface)")  //
      ("moving", flag(),
       "receivers move with the source: horizontal distances from it; depths stay")  //
      ("shots", text()->value_name("FILE"),
       "a table shot,kind,x,z (3D: x,y,z) of sources and receivers, instead of both")  //
      ("wavelet", text()->value_name("WAVELET"),
       "ricker:FREQUENCY[:DELAY], ormsby:F1,F2,F3,F4[:DELAY], or file:PATH[:INTERVAL] with times "
       "and amplitudes (default: ricker:15)")                             //
      ("time", text()->value_name("s"), "seconds to model (default: 1)")  //
      ("interval", text()->value_name("s"),
       "between samples of the gather, whole microseconds (default: dt)")  //
      ("snapshot-every", text()->value_name("s"),
       "seconds between snapshots of the first shot, 0 for none (default: a quarter of the time)");
  d.scheme.add_options()                                                                         //
      ("dt", text()->value_name("s | auto"), "time step (default: auto)")                        //
      ("order", text()->value_name("n"), "of differences in space: 2, 4, ..., 16 (default: 8)")  //
      ("boundary", text()->value_name("LIST"),
       "see below (default: cpml:20; for TTI sponge:30)")  //
      ("width", text()->value_name("n"),
       "nodes of layers whose width --boundary does not say (default: 20 for cpml, 30 for sponge, "
       "40 for random)")                                                     //
      ("free-surface", flag(), "the same as top=free")                       //
      ("seed", text()->value_name("n"), "of random layers (default: 2011)")  //
      ("equations", text()->value_name("NAME"),
       "of VTI and TTI: self_adjoint (keeps energy in rough models) or fletcher (default: "
       "self_adjoint)")  //
      ("sigma", text()->value_name("s"),
       "for fletcher: shear velocity^2 = vp^2 |epsilon - delta| / sigma (default: 0.75)")  //
      ("source-taper", text()->value_name("m | auto"),
       "for self_adjoint: delta becomes epsilon up to half so far from sources and goes over into "
       "its own value up to there, so that no slow waves of shear come out of them; 0: nowhere "
       "(default: auto, twice the shortest wave)")  //
      ("expand", text()->value_name("NAME"),
       "step only where waves have come to, by: none, layers, eikonal, or amplitude (default: "
       "none)");
  d.running.add_options()                                                            //
      ("precision", text()->value_name("TYPE"), "float or double (default: float)")  //
      ("space", text()->value_name("NAME"),
       "where to compute: serial, openmp or cuda (default: the fastest that this program was built "
       "with)")                                                                                //
      ("out", text()->value_name("DIR"), "folder for the results (default: model_waves_out)")  //
      ("no-plot", flag(), "draw no pictures")                                                  //
      ("quiet", flag(), "print nothing but errors");
  d.console.add_options()  //
      ("config", text()->value_name("FILE"),
       "read options from a file, one \"name = value\" a line, # starts a comment; the command "
       "line wins. Sources and receivers chosen there replace the file's")  //
      ("help", "this text")                                                 //
      ("version", "versions of the program and of what it was built with");
  return d;
}

const std::vector<Alternatives>& alternatives() {
  static const std::vector<Alternatives> list{{{"source", "shots"}, {}},
                                              {{"receivers", "shots"}, {"moving"}}};
  return list;
}

// x,z,y as written on the command line to (x, y, z) as the library wants it.
template <class V>
V to_axes(V values) {
  if (values.size() == 3) std::swap(values[1], values[2]);
  return values;
}

}  // namespace

CommandLine read_command_line(const std::vector<std::string>& arguments) {
  const std::string program = "model_waves";
  const Descriptions described = describe();
  po::options_description in_file, all;
  in_file.add(described.model).add(described.survey).add(described.scheme).add(described.running);
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
  const auto flag = [&](const char* name) { return given(name) && values[name].as<bool>(); };
  const auto number = [&](const char* name, const std::string& form, double lowest, bool include) {
    const std::string option = concat("--", name);
    const double value = parse_number(option, text(name), form);
    if (value > lowest || (include && value == lowest)) return value;
    throw InputError(concat(option, " is ", value, " (allowed: ", form, ")"));
  };

  // The model.
  for (const char* name : {"vp", "rho", "epsilon", "delta", "theta", "phi"}) {
    if (given(name)) o.model.parameters[name] = text(name);
  }
  if (!given("vp")) {
    throw InputError(
        "--vp is missing (needed: a file, or a number of m/s with --shape and --spacing): try "
        "model_waves --vp 2000 --shape 301,201 --spacing 10, or see model_waves --help");
  }
  o.model.degrees = flag("degrees");
  if (given("shape")) {
    const std::vector<std::string> pieces = split(text("shape"));
    if (pieces.size() != 2 && pieces.size() != 3) {
      throw InputError(concat("--shape: '", text("shape"), "' has ", pieces.size(),
                              pieces.size() == 1 ? " value" : " values",
                              " (allowed: nx,nz or nx,nz,ny, nodes along each axis)"));
    }
    for (const std::string& piece : pieces) {
      o.model.shape.push_back(parse_count("--shape " + text("shape") + ": a number of nodes", piece,
                                          1, std::int64_t(1) << 31));
    }
    o.model.shape = to_axes(o.model.shape);
  }
  if (given("spacing")) {
    o.model.spacing = to_axes(parse_numbers("--spacing", text("spacing"), {1, 2, 3},
                                            "d, or dx,dz, or dx,dz,dy in metres"));
    for (const double d : o.model.spacing) {
      if (d > 0.0) continue;
      throw InputError(concat("--spacing: ", d, " in '", text("spacing"),
                              "' is not positive (allowed: metres between nodes)"));
    }
  }
  if (given("origin")) {
    o.model.origin =
        to_axes(parse_numbers("--origin", text("origin"), {2, 3}, "x,z or x,z,y in metres"));
  }

  // The shots.
  if (given("source")) o.sources = values["source"].as<std::vector<std::string>>();
  if (given("receivers")) o.receivers = text("receivers");
  if (given("receivers") && o.receivers.empty()) {
    throw InputError("--receivers is empty (allowed: points): leave it out for a line of them");
  }
  if (given("shots")) o.shots_file = text("shots");
  o.moving = flag("moving");
  if (given("shots") && (given("source") || given("receivers") || o.moving)) {
    throw InputError(
        concat("--shots and --",
               given("source")      ? "source"
               : given("receivers") ? "receivers"
                                    : "moving",
               " were both given (allowed: one of them): the table holds sources and receivers"));
  }
  if (o.moving && !given("receivers")) {
    throw InputError("--moving needs --receivers: give distances from the source and depths");
  }
  if (given("wavelet")) o.wavelet = text("wavelet");
  if (given("time")) o.time = number("time", "positive, in seconds", 0.0, false);
  if (given("interval")) o.interval = number("interval", "positive, in seconds", 0.0, false);
  if (given("snapshot-every")) {
    o.snapshots = number("snapshot-every", "positive, in seconds, or 0 for none", 0.0, true);
  }

  // The scheme.
  if (given("dt") && text("dt") != "auto") {
    o.dt = number("dt", "auto, or positive, in seconds", 0.0, false);
  }
  if (given("order")) {
    o.order = static_cast<int>(parse_count("--order", text("order"), 2, 16));
    if (o.order % 2 != 0) {
      throw InputError(concat("--order is ", o.order, " (allowed: 2, 4, 6, 8, 10, 12, 14, 16)"));
    }
  }
  if (given("boundary")) o.boundary = text("boundary");
  if (given("boundary") && o.boundary.empty()) {
    throw InputError("--boundary is empty (allowed: kinds of boundaries): leave it out for layers");
  }
  if (given("width")) o.width = static_cast<int>(parse_count("--width", text("width"), 1, 1000));
  o.free_surface = flag("free-surface");
  if (given("seed")) {
    o.seed = static_cast<std::uint64_t>(
        parse_count("--seed", text("seed"), 0, std::numeric_limits<std::int64_t>::max()));
  }
  if (given("equations")) {
    o.equations = parse_name("--equations", text("equations"), {"self_adjoint", "fletcher"}) == 0
                      ? wave::Equations::self_adjoint
                      : wave::Equations::fletcher;
  }
  if (given("sigma")) o.sigma = number("sigma", "positive numbers", 0.0, false);
  if (given("source-taper") && text("source-taper") != "auto") {
    o.source_taper = number("source-taper", "auto, or 0 or more metres", 0.0, true);
  }
  if (given("expand")) {
    o.expand = static_cast<rtm::Expansion>(
        parse_name("--expand", text("expand"), {"none", "layers", "eikonal", "amplitude"}));
  }

  // The run.
  if (given("precision")) {
    o.double_precision = parse_name("--precision", text("precision"), {"float", "double"}) == 1;
  }
  o.space = given("space") ? parse_space(text("space")) : default_space_name();
  if (given("out")) o.out = text("out");
  if (o.out.empty()) {
    throw InputError(
        "--out is empty (allowed: the name of a folder): leave it out for model_waves_out");
  }
  o.plot = !flag("no-plot");
  o.quiet = flag("quiet");
  return result;
}

}  // namespace moho::examples::model_waves
