// SPDX-License-Identifier: BSD-3-Clause
#include "app/earth_model.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/common_options.hpp"
#include "app/memory.hpp"
#include "app/model_file.hpp"

#include <moho/core/pages.hpp>
#include <moho/core/text.hpp>
#include <moho/io/model.hpp>
#include <moho/wave/media.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

namespace moho::examples {

namespace {

constexpr double pi = 3.14159265358979323846;

bool is_angle(const std::string& option) {
  return std::any_of(wave::parameters.begin(), wave::parameters.end(),
                     [&](const auto& row) { return row.angle && option == row.option; });
}

// The number for all nodes; empty if the text names a file. "30deg" is an angle.
std::optional<double> number_of(const std::string& option, std::string text, bool degrees) {
  if (is_angle(option) && text.size() > 3 && text.compare(text.size() - 3, 3, "deg") == 0) {
    text.erase(text.size() - 3);
    degrees = true;
  }
  const auto value = text::to_number(text::trim(text));
  if (!value) return std::nullopt;
  return is_angle(option) && degrees ? *value * pi / 180.0 : *value;
}

template <class T>
void read_parameter(const std::string& option, const std::string& path, const EarthModelOptions& o,
                    EarthModel<T>& model, std::string& first, io::ModelNodes& nodes) {
  if (path.find('.') == std::string::npos && !std::filesystem::exists(path)) {
    throw InputError(concat("--", o.prefix, option, ": '", path, "' is no finite number, and no ",
                            "file (allowed: a number, or a file .npy, .rsf, .sgy or .segy)"));
  }
  io::LoadedModel<T> file = read_model_file<T>(concat("--", o.prefix, option), path, model.notes);
  const std::string what = concat("--", o.prefix, option, " ", path);
  if (first.empty()) {
    model.shape = file.values.shape;
    model.spacing = file.spacing;
    model.origin = file.origin;
    nodes = io::nodes_of(file, o.spacing, o.origin);
  }
  if (first.empty() && o.nodes != nullptr) {  // options override what files state
    nodes = {o.nodes->shape, o.nodes->spacing, o.nodes->origin};
    if (!o.spacing.empty()) nodes.spacing.assign(nodes.shape.size(), 0.0);
    if (!o.origin.empty()) nodes.origin.assign(nodes.shape.size(), std::nan(""));
  }
  if (!first.empty() || o.nodes != nullptr) {
    io::check_nodes(what, file, nodes, o.nodes != nullptr ? "--vp" : first,
                    "give all parameters on the same nodes");
  }
  if (first.empty()) first = what;
  if (option == "vp") {
    to_metres_per_second(concat("--", o.prefix, "vp ", path), o.velocity_unit, file.value_unit,
                         file.length_unit, file.values.data, model.notes);
  }
  if (is_angle(option) && o.degrees) {
    for (T& value : file.values.data) value = static_cast<T>(static_cast<double>(value) * pi / 180);
  }
  model.values[option] = std::move(file.values.data);
}

}  // namespace

void bind_parameter(Description& d, EarthModelOptions& o, const std::string& name,
                    const std::string& form, const std::string& text) {
  Option& row = d.add(o.prefix + name, form, text, {.file = true});
  row.read = [&o, name, option = row.name](const Arguments& given) {
    if (given.given(option)) o.parameters[name] = given.text(option);
  };
  row.shown = [&o, name] {
    const auto found = o.parameters.find(name);
    return found == o.parameters.end() ? Json() : Json(found->second);
  };
}

void bind_earth_model(Description& d, EarthModelOptions& o) {
  d.group("Model (each a file or a number)");
  d.aliases = {{"model", "vp"}, {"true-model", "true-vp"}, {"receiver-line", "receivers"}};
  bind_parameter(d, o, "vp", "FILE | m/s", "P velocity; needed; --model is the same");
  bind_parameter(d, o, "rho", "FILE | kg/m3", "density (default: constant)");
  bind_parameter(d, o, "epsilon", "FILE | e", "Thomsen's epsilon, makes it VTI");
  bind_parameter(d, o, "delta", "FILE | d", "Thomsen's delta, makes it VTI");
  bind_parameter(d, o, "theta", "FILE | angle",
                 "tilt of the symmetry axis from the vertical towards x, radians, makes it TTI; a "
                 "number may be written 30deg");
  bind_parameter(d, o, "phi", "FILE | angle",
                 "azimuth of the symmetry axis from x to y, radians; 3D only");
  d.move_in_summary("delta", {"epsilon", "phi", "rho", "theta", "vp"});
  d.flag(o.degrees, "degrees", "theta and phi are in degrees");
  d.check([&o, program = d.program](const Arguments& given) {
    if (!given.given("vp")) {
      throw InputError(concat(
          "--vp is missing (needed: a file, or a number of m/s with --shape and --spacing): try ",
          program, " --vp 2000 --shape 301,201 --spacing 10, or see ", program, " --help"));
    }
    const bool angles = given.given("theta") || given.given("phi") || given.given("true-theta") ||
                        given.given("true-phi");
    if (o.degrees && !angles) {
      throw InputError(
          "--degrees was given and no angle was (it belongs to --theta and --phi): leave it out");
    }
  });
  bind_velocity_unit(d, o.velocity_unit);
  d.bind(o.shape, "shape", "nx[,ny],nz", "nodes, where all are numbers",
         nodes_of_axes(std::int64_t(1) << 31), {.hidden = true});
  d.bind(o.spacing, "spacing", "d | dx[,dy],dz",
         "metres between nodes, or 0.01km, one value for all axes or one for each (default: "
         "that of the file)",
         parsed(parse_spacing), {.hidden = true});
  d.bind(o.origin, "origin", "x[,y],z",
         "position of the first node (default: that of the file, or 0)", parsed(parse_origin),
         {.hidden = true});
  bind_coordinates(d);
}

double EarthModelNeed::nodes() const {
  double nodes = shape.empty() ? 0.0 : 1.0;
  for (const std::int64_t n : shape) nodes *= static_cast<double>(n);
  return nodes;
}

template <class T>
EarthModelNeed need_of_earth_model(const EarthModelOptions& o) {
  EarthModelNeed need;
  double parameters = 0.0;
  for (const auto& [option, text] : o.parameters) {
    parameters += 1.0;
    if (number_of(option, text, o.degrees)) continue;
    try {
      const io::ModelHeader header = io::peek_model<T>(text);
      if (need.shape.empty()) need.shape = header.shape;
      need.passing = std::max(need.passing, header.reading_bytes);
    } catch (const Error&) {
      return {};  // the reader reports the error
    }
  }
  if (need.shape.empty()) need.shape = o.shape;
  if (need.shape.size() != 2 && need.shape.size() != 3) return {};
  for (const std::int64_t n : need.shape) {
    if (n < 1) return {};
  }
  need.values = need.nodes() * parameters * sizeof(T);
  return need;
}

template <class T>
EarthModel<T> load_earth_model(const EarthModelOptions& o) {
  EarthModel<T> model;
  std::string first;
  io::ModelNodes shared;
  std::vector<std::pair<std::string, double>> constants;
  for (const wave::ParameterInfo& row : wave::parameters) {
    const char* const option = row.option;
    const auto given = o.parameters.find(option);
    if (given == o.parameters.end()) continue;
    if (const auto number = number_of(option, given->second, o.degrees)) {
      constants.emplace_back(option, *number);
    } else {
      read_parameter(option, given->second, o, model, first, shared);
    }
  }
  model.name = concat("--", o.prefix, "vp ", o.parameters.at("vp"));
  if (o.nodes != nullptr) {
    model.shape = o.nodes->shape;
    model.origin = o.nodes->origin;
  } else if (first.empty()) {
    if (o.shape.empty()) {
      throw InputError(
          "--shape is missing (it is needed where all parameters are numbers): write --shape "
          "nx,nz, or nx,ny,nz for a volume");
    }
    if (o.spacing.empty()) {
      throw InputError(
          "--spacing is missing (it is needed where all parameters are numbers): write --spacing "
          "10 for 10 m along all axes");
    }
    model.shape = o.shape;
    model.origin.assign(o.shape.size(), 0.0);
  } else if (!o.shape.empty() && o.shape != model.shape) {
    throw InputError(concat("--shape: ", io::shape_string(o.shape), " was given and ", first,
                            " has ", io::shape_string(model.shape),
                            " nodes: leave --shape out, the file has a shape of its own"));
  }
  const std::size_t dimensions = model.shape.size();
  if (dimensions != 2 && dimensions != 3) {
    throw InputError(concat(first, ": the model has ", dimensions,
                            " dimensions (allowed: 2, x and z, or 3, x, y and z): cut a section "
                            "or a volume out of it"));
  }
  if (o.nodes != nullptr) {
    model.spacing = o.nodes->spacing;
  } else if (!o.spacing.empty()) {
    model.spacing = spread("--spacing", o.spacing, dimensions,
                           dimensions == 2 ? "one value, or dx,dz" : "one value, or dx,dy,dz");
  } else if (std::count(model.spacing.begin(), model.spacing.end(), 0.0) > 0) {
    throw InputError(concat("--spacing is missing (", first,
                            " does not say how far apart its nodes are): write --spacing 10 for "
                            "10 m along all axes"));
  }
  if (!o.origin.empty()) {
    if (o.origin.size() != dimensions) {
      throw InputError(concat("--origin has ", o.origin.size(), " values and the model ",
                              dimensions, " dimensions: write ",
                              dimensions == 2 ? "x,z" : "x,y,z"));
    }
    model.origin = o.origin;
  }
  double nodes = 1.0;
  for (const std::int64_t n : model.shape) nodes *= static_cast<double>(n);
  const double bytes = nodes * sizeof(T) * static_cast<double>(constants.size());
  check_host_memory("--shape: the model takes", bytes, "take fewer nodes", "memory");
  for (auto& [option, value] : constants) {
    if (option == "vp") {
      std::vector<double> velocity{value};
      to_metres_per_second(model.name, o.velocity_unit, "", "", velocity, model.notes);
      value = velocity.front();
    }
    std::vector<T>& values = model.values[option];
    const auto count = static_cast<std::size_t>(nodes);
    values.reserve(count);
    moho::detail::advise_huge_pages(values.data(), count * sizeof(T));
    values.assign(count, static_cast<T>(value));
    model.constants[option] = value;
  }
  return model;
}

template EarthModelNeed need_of_earth_model<float>(const EarthModelOptions&);
template EarthModelNeed need_of_earth_model<double>(const EarthModelOptions&);
template EarthModel<float> load_earth_model(const EarthModelOptions&);
template EarthModel<double> load_earth_model(const EarthModelOptions&);

}  // namespace moho::examples
