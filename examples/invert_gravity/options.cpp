// SPDX-License-Identifier: BSD-3-Clause
#include "invert_gravity/options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/prism_options.hpp"

#include <moho/core/text.hpp>
#include <moho/gravity_inversion/remarks.hpp>

#include <limits>

namespace moho::examples::invert_gravity {

namespace {

using gravity_inversion::Solver;

constexpr const char* intro =
    R"(invert_gravity: densities of cells below the ground from gravity and gravity gradients.

  invert_gravity --data FILE (--mesh BOX | --prisms FILE) [options]
  invert_gravity --demo                  a dyke, its data with noise, and their inversion

Units are metres, kg/m^3, mGal (gx, gy, gz) and Eotvos (gxx, gyy, gzz, gxy, gxz, gyz). x north, y east, z DOWN; a
station 100 m above z = 0 has z = -100. A dense body below a station gives a positive gz.
)";

constexpr const char* outro =
    R"(
Results, in the folder of --out:
  model.npy          kg/m^3; nz x ny x nx for --mesh (NaN: no unknown), otherwise one value a prism
  model_smooth.npy   the smooth result, with --compact
  predicted.csv      x,y,z and for each component data, field, trend and residual over error
  history.csv        every minimisation: beta, chi2, regularisation, iterations
  sections.png fit.png history.png       sections and map of the model; data, field, residuals; chi2
  weights.npy stations.npy summary.json  weights of cells; positions; what was asked, and the result

Examples
  invert_gravity --data gz.csv --errors 0.02 --mesh 40,40,16,0,2000,0,2000,0,800 --trend 1 --bounds=-500:500
      Columns x,y,z,gz; 25,600 cells of 50 m; a plane is removed from the data by projection.
  invert_gravity --data ftg.csv --errors gz:0.02,gzz:0.5,gxz:0.5 --mesh 40,40,16,0,2000,0,2000,0,800
                 --bounds=0:400 --compact 20
      Three components together; a compact body whose contrast is known.

beta is found so that chi^2, the mean squared residual in units of the errors, reaches --target. The number of
CPU threads is that of OMP_NUM_THREADS. Exit status: 0 done, 2 the input is not usable, 1 anything else, 130
interrupted.
)";

const std::string per_component = "a number, or component:number[,component:number...]";

PerComponent parse_per_component(const std::string& option, const std::string& text, double lowest,
                                 double highest, const std::string& form) {
  PerComponent values;
  const auto number = [&](const std::string& word) {
    const double value = parse_number(option, word, form);
    if (value >= lowest && value <= highest) return value;
    throw InputError(concat(option, " is ", word, " (allowed: ", form, ")"));
  };
  for (const std::string& piece : split(text)) {
    const auto colon = piece.find(':');
    if (colon == std::string::npos) {
      if (values.all || split(text).size() > 1) {
        throw InputError(concat(option, ": '", text, "' (allowed: ", per_component, ")"));
      }
      values.all = number(piece);
      continue;
    }
    const gravity::Components name = parse_prism_components(piece.substr(0, colon));
    for (const gravity::Component component : name) {
      values.separate[component] = number(piece.substr(colon + 1));
    }
  }
  return values;
}

Json per_component_json(const PerComponent& values) {
  if (values.all) return *values.all;
  if (values.separate.empty()) return {};
  Json json;
  for (const auto& [component, value] : values.separate)
    json[gravity::to_string(component)] = value;
  return json;
}

Rule<PerComponent> per_component_rule(double lowest, double highest, const std::string& form) {
  Rule<PerComponent> rule;
  rule.read = [=](const std::string& option, const std::string& text) {
    return parse_per_component(option, text, lowest, highest, form);
  };
  rule.show = per_component_json;
  return rule;
}

// "none" or degrees.
PerComponent parse_trend(const std::string& text) {
  if (text == "none") return {};
  const std::string form = "a degree from 0 to 3, or none";
  PerComponent values = parse_per_component("--trend", text, 0.0, 3.0, form);
  const auto check = [&](double value) {
    if (value != static_cast<double>(static_cast<int>(value))) {
      throw InputError(concat("--trend is ", text, " (allowed: ", form, ")"));
    }
  };
  if (values.all) check(*values.all);
  for (const auto& [component, value] : values.separate) check(value);
  return values;
}

std::pair<std::string, std::string> parse_bounds(const std::string& text) {
  const std::string form = "lowest:highest in kg/m^3, such as -500:500, or files of them";
  const auto pieces = split(text, ':');
  if (pieces.size() != 2) throw InputError(concat("--bounds: '", text, "' (allowed: ", form, ")"));
  const auto low = moho::text::to_number(pieces[0]), high = moho::text::to_number(pieces[1]);
  if (!low || !high || *low < *high) return {pieces[0], pieces[1]};
  throw InputError(concat("--bounds ", text, ": the lowest density is ", *low, " and the highest ",
                          *high, " (allowed: ", form, "): exchange them"));
}

GroundFile parse_ground(const std::string& text) {
  const std::string form = "FILE,x0,y0,dx,dy with metres";
  const auto pieces = split(text);
  if (pieces.size() != 5 || pieces[0].empty()) {
    throw InputError(concat("--topography: '", text, "' (allowed: ", form, ")"));
  }
  GroundFile ground;
  ground.path = pieces[0];
  double* const numbers[] = {&ground.x0, &ground.y0, &ground.dx, &ground.dy};
  for (std::size_t k = 0; k < 4; ++k) {
    *numbers[k] = parse_number("--topography", pieces[k + 1], form);
  }
  if (ground.dx > 0.0 && ground.dy > 0.0) return ground;
  throw InputError(concat("--topography ", text, ": points are ", ground.dx, " and ", ground.dy,
                          " m apart (allowed: positive distances dx and dy)"));
}

void read_weights(const std::string& text, Options& o) {
  const std::string form = "depth, depth:k with k from 0 to 10, sensitivity, or none";
  const auto pieces = split(text, ':');
  if (pieces[0] == "depth" && pieces.size() <= 2) {
    o.weights = Weights::depth;
    if (pieces.size() == 1) return;
    o.exponent = parse_number("--weights", pieces[1], form);
    if (*o.exponent >= 0.0 && *o.exponent <= 10.0) return;
  } else if (text == "sensitivity" || text == "none") {
    o.weights = text == "none" ? Weights::none : Weights::sensitivity;
    return;
  }
  throw InputError(concat("--weights: '", text, "' (allowed: ", form, ")"));
}

// The demo takes the place of data and cells.
void check_choices(const Arguments& given, Options& o) {
  if (o.demo) {
    for (const char* name :
         {"data", "mesh", "prisms", "topography", "mask", "components", "errors", "percent"}) {
      if (!given.given(name)) continue;
      throw InputError(
          concat("--demo and --", name, " were both given (allowed: one of them): leave one out"));
    }
    return;
  }
  if (!given.given("data")) {
    throw InputError(
        "no data were given (needed: --data and --mesh or --prisms): try invert_gravity --demo, or "
        "see invert_gravity --help");
  }
  if (given.given("mesh") == given.given("prisms")) {
    throw InputError(
        concat(given.given("mesh") ? "--mesh and --prisms were both given" : "no cells were given",
               " (needed: one of --mesh and --prisms): see invert_gravity --help"));
  }
  for (const char* name : {"topography", "mask"}) {
    if (!given.given(name) || given.given("mesh")) continue;
    throw InputError(concat("--", name,
                            " was given with --prisms (allowed: with --mesh): leave out "
                            "prisms of the list instead"));
  }
}

void bind_input(Description& d, Options& o) {
  d.group("Data and cells");
  d.flag(o.demo, "demo",
         "a made-up survey: a dyke that dips 45 degrees, 400 values of each of gz, gzz and gxz",
         {.unset = Json()});
  d.bind(o.data_file, "data", "FILE",
         "a row a station: x,y,z and columns named gz, gzz, ... and gz_error, ...; nan: no value; "
         ".csv, or .npy with the columns x,y,z and those of --components",
         {.unset = Json(), .file = true});
  d.bind(o.components, "components", "LIST",
         "which components are inverted, such as gz,gzz,gxz (default: those of the header)",
         parsed(parse_prism_components, prism_components_json), {.unset = Json()});
  d.bind(o.errors, "errors", "E",
         "standard errors where the file has none, mGal or Eotvos: " + per_component +
             " (needed, with --percent at least)",
         per_component_rule(0.0, 1e12, "a positive error in mGal or Eotvos"), {.unset = Json()});
  d.bind(o.percent, "percent", "P",
         "per cent of each value, added to the errors: " + per_component + " (default: 0)",
         per_component_rule(0.0, 1000.0, "per cent from 0 to 1000"), {.unset = Json()});
  d.bind(
      o.trend, "trend", "N",
      "degree of the regional trend in x and y that is removed by projection, 0 to 3 or none; or "
      "gz:1,gzz:0 (default: none)",
      parsed(parse_trend, per_component_json), {.unset = "none"});
  d.bind(o.mesh, "mesh", "BOX",
         "nx,ny,nz,x1,x2,y1,y2,z1,z2: the cells, a box cut into nx x ny x nz prisms",
         parsed(parse_prism_mesh, prism_mesh_json), {.unset = Json()});
  d.bind(o.prisms_file, "prisms", "FILE",
         "a list of cells, a row x1,x2,y1,y2,z1,z2,density each; the density is not read",
         {.unset = Json(), .file = true});
  d.bind(
      o.ground, "topography", "FILE,x0,y0,dx,dy",
      "elevations above z = 0, .npy of shape ny x nx: cells above the ground are left out, cells "
      "that it cuts end there",
      parsed(parse_ground, [](const GroundFile& g) {
        if (g.path.empty()) return Json();
        return Json::array({g.path, g.x0, g.y0, g.dx, g.dy});
      }));
  d.bind(o.mask_file, "mask", "FILE",
         "nz x ny x nx numbers or booleans: 0 leaves a cell of --mesh out",
         {.unset = Json(), .file = true});
  d.bind(o.reference, "reference", "V | FILE",
         "densities that the model is drawn to, kg/m^3 (default: 0)",
         {.unset = Json(), .file = true});
  d.bind(o.start, "start", "V | FILE", "first model, kg/m^3 (default: the reference)",
         {.unset = Json(), .file = true});
  d.bind(o.truth_file, "true", "FILE", "true densities, compared with the result",
         {.unset = Json(), .file = true});
  bind_config(d, o);
}

void bind_regularisation(Description& d, Options& o) {
  auto& inversion = o.inversion;
  inversion.names = gravity_inversion::option_names("auto", "more --rounds with --resume");
  d.group("Regularisation");
  d.bind(
      o.bounds, "bounds", "LOW:HIGH",
      "densities allowed, kg/m^3, such as --bounds=-500:500; each a number or a file of the cells",
      parsed(parse_bounds,
             [](const std::pair<std::string, std::string>& b) {
               return Json::array({b.first, b.second});
             }),
      {.unset = Json()});
  Option& row = d.add("weights", "KIND",
                      "depth[:k], (depth + height)^(-k/2) with k 2 for attractions and 3 for "
                      "gradients; sensitivity; or none (default: depth)");
  row.read = [&o](const Arguments& given) {
    if (given.given("weights")) read_weights(given.text("weights"), o);
  };
  row.shown = [&o]() -> Json {
    if (o.weights == Weights::none) return "none";
    if (o.weights == Weights::sensitivity) return "sensitivity";
    return o.exponent ? concat("depth:", *o.exponent) : "depth";
  };
  d.bind(inversion.small, "small", "A", "factor of the squared densities (default: 1)",
         number("0 or a positive factor", 0.0, true));
  d.bind(
      inversion.smooth, "smooth", "X,Y,Z",
      "factors of squared differences of neighbours along x, y, z (default: 0.2)",
      parsed(
          [](const std::string& text) {
            const auto list = parse_numbers("--smooth", text, {1, 3}, "one factor, or X,Y,Z");
            for (const double value : list) {
              if (value >= 0.0) continue;
              throw InputError(concat("--smooth is ", text, " (allowed: 0 or positive factors)"));
            }
            if (list.size() == 1) return std::array<double, 3>{list[0], list[0], list[0]};
            return std::array<double, 3>{list[0], list[1], list[2]};
          },
          [](const std::array<double, 3>& s) {
            return Json::array({s[0], s[1], s[2]});
          }));
  d.bind(
      inversion.compact, "compact", "EPS",
      "after the smooth model, rounds in which densities above EPS kg/m^3 cost no more than EPS: "
      "compact bodies; give --bounds with it (default: none)",
      positive("a positive density in kg/m^3"), {.unset = Json()});
  d.bind(inversion.rounds, "rounds", "N", "rounds of --compact (default: 8)", count(1, 1000),
         {.free = true});
  d.bind(inversion.beta, "beta", "B | auto",
         "factor of the regularisation (default: auto, that of the target)",
         positive("a positive factor"), {.word = "auto"});
  d.bind(inversion.target, "target", "CHI2", "chi^2 a value to be reached (default: 1)",
         positive("a positive number"));
}

void bind_search(Description& d, Options& o) {
  d.group("Search");
  d.bind(o.inversion.solver, "method", "NAME",
         "lbfgs, cg (without bounds), or automatic: lbfgs with bounds (default: automatic)",
         one_of({"automatic", "lbfgs", "cg"}));
  d.bind(o.inversion.iterations, "iterations", "N",
         "largest number of a minimisation (default: 30)", count(1, 1000000));
  d.bind(o.inversion.steps, "minimisations", "N",
         "largest number of minimisations of the search for beta (default: 30)", count(1, 10000));
  d.bind(o.inversion.pairs, "pairs", "N", "pairs that L-BFGS stores (default: 8)", count(1, 64));
  d.check([&o](const Arguments& given) { check_choices(given, o); });
}

}  // namespace

double PerComponent::of(gravity::Component component, double otherwise) const {
  const auto found = separate.find(component);
  if (found != separate.end()) return found->second;
  return all.value_or(otherwise);
}

Description describe(Options& o) {
  o.double_precision = true;
  Description d;
  d.program = "invert_gravity";
  d.intro = intro;
  d.outro = outro;
  bind_input(d, o);
  bind_regularisation(d, o);
  bind_search(d, o);
  d.group("Running");
  d.bind(o.products, "operator", "NAME",
         "direct sums of all pairs; lattice, Fourier transforms for a whole --mesh and stations at "
         "one height on the lattice of its cells; fmm, a fast multipole method; or automatic: "
         "lattice where possible, fmm where it is faster than direct (default: automatic)",
         one_of({"automatic", "direct", "lattice", "fmm"}));
  d.bind(o.tolerance, "tolerance", "R",
         "error allowed for --operator fmm, of the largest value of each component: 1e-10 to 0.01 "
         "(default: 1e-9)",
         parsed(parse_fmm_tolerance));
  bind_space(d, o);
  bind_memory(d, o, "for all arrays, or on the device");
  bind_out(d, o);
  bind_no_plot(d, o, "pictures");
  bind_plan(d, o, "print data, cells, memory and time of a product, and stop");
  bind_resume(d, o, "minimisation");
  d.alternatives = {{{"mesh", "prisms", "demo"}, {"topography", "mask"}}};
  return d;
}

}  // namespace moho::examples::invert_gravity
