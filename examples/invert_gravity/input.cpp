// SPDX-License-Identifier: BSD-3-Clause
#include "invert_gravity/input.hpp"

#include "app/format.hpp"
#include "app/memory.hpp"

#include <moho/core/error.hpp>
#include <moho/core/parse.hpp>
#include <moho/gravity/overlap.hpp>
#include <moho/gravity_inversion/columns.hpp>
#include <moho/gravity_inversion/remarks.hpp>
#include <moho/gravity_inversion/synthetic.hpp>
#include <moho/io/array.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/point_tables.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>

namespace moho::examples::invert_gravity {

namespace {

using gravity::Component;
using gravity_inversion::column_of;
using gravity_inversion::error_name;

const double nan_value = std::nan("");

// Requested components, or those that the header names.
gravity::Components components_of(const Options& o, const io::Table& table,
                                  const std::string& what) {
  if (o.components) return *o.components;
  gravity::Components found;
  for (const Component component : gravity::all_components()) {
    if (column_of(table, gravity::to_string(component)) >= 0) found.push_back(component);
  }
  if (found.empty()) {
    throw InputError(concat(what,
                            ": no column has the name of a component (needed: gz, gx, gy, "
                            "gxx, gyy, gzz, gxy, gxz, gyz or potential; the header line names ",
                            gravity_inversion::with_suggestions(table, table.names),
                            "): name the columns in the first line"));
  }
  return found;
}

// The table of data: of a text with names, or of an array with the columns of --components.
io::Table data_table(const Options& o, const std::string& what) {
  if (io::is_text_table(what, o.data_file)) {
    io::Table table = io::read_csv(o.data_file, {.allow_nonfinite = true});
    if (!table.names.empty() || o.components) return table;
    throw InputError(concat(what,
                            ": it has no header line (needed: names of the columns, such as "
                            "x,y,z,gz): add one, or give --components"));
  }
  if (!o.components) {
    throw InputError(concat(what,
                            ": an array does not name its columns (needed: --components): "
                            "say which components follow x,y,z"));
  }
  io::Array<double> array = io::read_npy<double>(o.data_file);
  if (array.shape.size() != 2) {
    throw InputError(concat(what, ": its shape is ", io::shape_string(array.shape),
                            " (allowed: n x ", 3 + o.components->size(), ")"));
  }
  io::Table table;
  table.columns = array.shape[1];
  table.values = std::move(array.data);
  return table;
}

void load_data(const Options& o, Input& input) {
  const std::string what = "--data " + o.data_file;
  input.data_name = o.data_file;
  const io::Table table = data_table(o, what);
  auto& problem = input.problem;
  problem.components = components_of(o, table, what);
  std::vector<std::string> names{"x", "y", "z"};
  for (const Component component : problem.components) {
    names.emplace_back(gravity::to_string(component));
  }
  const auto columns = io::find_columns(what, table, names, input.notes);
  std::vector<std::int64_t> used;
  for (const io::TableColumn& column : columns) used.push_back(column.position);
  const std::int64_t rows = table.rows();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double value = table.at(row, columns[c].position);
      if (!std::isfinite(value)) {
        throw InputError(concat(what, ": row ", row + 1, ": ", names[c], " is ", value,
                                " (allowed: finite metres): mend the file"));
      }
      problem.stations.push_back(columns[c].upwards ? 0.0 - value : value);
    }
  }
  for (std::size_t c = 0; c < problem.components.size(); ++c) {
    const Component component = problem.components[c];
    const std::int64_t own = column_of(table, error_name(component));
    if (own >= 0) used.push_back(own);
    const double floor = o.errors.of(component, 0.0), percent = o.percent.of(component, 0.0);
    if (own < 0 && floor == 0.0 && percent == 0.0) {
      throw InputError(concat(what, ": nothing says the errors of ", gravity::to_string(component),
                              " (needed: a column ", error_name(component),
                              ", or --errors above 0): give its standard error in ",
                              gravity::unit_of(component)));
    }
    if (own >= 0 && (floor > 0.0 || percent > 0.0)) {
      input.notes.push_back(concat("errors of ", gravity::to_string(component),
                                   " are those of the file: --errors and --percent are for files "
                                   "without a column ",
                                   error_name(component)));
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      const double value = table.at(row, columns[3 + c].position);
      const double error = own >= 0 ? table.at(row, own) : floor + 0.01 * percent * std::abs(value);
      if (std::isinf(value)) {
        throw InputError(concat(what, ": row ", row + 1, ": ", gravity::to_string(component),
                                " is ", value,
                                " (allowed: finite numbers, or nan): mend the file"));
      }
      if (!std::isnan(value) && !(error > 0.0 && std::isfinite(error))) {
        throw InputError(
            concat(what, ": row ", row + 1, ": the error of ", gravity::to_string(component),
                   " is ", error,
                   " (allowed: positive numbers): mend the file, or leave its column out "
                   "and give --errors"));
      }
      problem.data.push_back(value);
      problem.errors.push_back(error);
    }
  }
  const std::string unused = gravity_inversion::unused_columns(table, used);
  if (!unused.empty()) input.notes.push_back(concat(what, ": columns that are not used: ", unused));
}

// A number for all cells, or a file in their order.
std::vector<double> cell_values(const std::string& option, const std::string& text,
                                const gravity_inversion::Cells& cells) {
  const auto count = static_cast<std::size_t>(cells.size());
  std::error_code ignored;
  if (!std::filesystem::exists(text, ignored)) {
    try {
      return std::vector<double>(count, text::parse_number(option, text, "kg/m^3"));
    } catch (const InputError&) {
      throw InputError(concat(option, ": '", text,
                              "' is neither a number nor an existing file "
                              "(allowed: kg/m^3, or the name of a file)"));
    }
  }
  std::vector<double> values;
  if (cells.regular()) {
    const auto& n = cells.mesh.cells;
    values = cells.from_mesh(io::read_values(option, text, {n[2], n[1], n[0]}, "nz x ny x nx"));
  } else {
    values = io::read_values(option, text, {cells.size()}, "prisms");
  }
  const auto bad = std::find_if(values.begin(), values.end(),
                                [](double density) { return !std::isfinite(density); });
  if (bad == values.end()) return values;
  throw InputError(concat(option, " ", text, ": the density of cell ", bad - values.begin() + 1,
                          " is ", *bad, " (allowed: finite numbers): mend the file"));
}

// Refuses a whole mesh whose cells do not fit the memory.
void check_cells(const Options& o) {
  if (!o.mask_file.empty() || !o.ground.path.empty()) return;  // fewer cells, counted when made
  MemoryEstimate estimate;
  estimate.take(gravity_inversion::bytes_of_cells(o.mesh->size()), "cells and their neighbours");
  check_memory(concat("a model of ", counted(o.mesh->size(), "cell")), estimate,
               memory_limit(o, o.space != "cuda"), "take fewer cells in --mesh");
}

void load_cells(const Options& o, Input& input) {
  auto& cells = input.problem.cells;
  if (!o.mesh) {
    input.cells_name = o.prisms_file;
    const std::vector<double> rows = io::read_rows(
        "--prisms", o.prisms_file, {"x1", "x2", "y1", "y2", "z1", "z2", "density"}, input.notes);
    try {
      cells = gravity_inversion::list_cells(rows);
    } catch (const InputError& error) {
      throw InputError(concat("--prisms ", o.prisms_file, ": ", error.what()));
    }
    if (const auto pair = gravity::find_overlap(cells.prisms.data(), cells.size())) {
      throw InputError(concat(
          "--prisms ", o.prisms_file, ": the prisms of rows ", pair->first + 1, " and ",
          pair->second + 1, " overlap (allowed: prisms that share faces at most): mend the file"));
    }
    return;
  }
  input.cells_name = "--mesh";
  const auto& n = o.mesh->cells;
  check_cells(o);
  std::vector<unsigned char> mask;
  if (!o.mask_file.empty()) {
    mask = gravity_inversion::mask_of(
        "--mask " + o.mask_file,
        io::read_values("--mask", o.mask_file, {n[2], n[1], n[0]}, "nz x ny x nx", true));
  }
  if (!o.ground.path.empty()) {
    const io::Array<double> array = io::read_npy<double>(o.ground.path);
    if (array.shape.size() != 2) {
      throw InputError(concat("--topography ", o.ground.path, ": its shape is ",
                              io::shape_string(array.shape), " (allowed: ny x nx)"));
    }
    input.ground = gravity_inversion::Ground{
        array.shape[1], array.shape[0], o.ground.x0, o.ground.y0,
        o.ground.dx,    o.ground.dy,    array.data,  "--topography " + o.ground.path};
  }
  try {
    cells = gravity_inversion::mesh_cells(*o.mesh, mask, input.ground ? &*input.ground : nullptr);
  } catch (const InputError& error) {
    const std::string what = error.what();
    throw InputError(what.rfind("mesh: ", 0) == 0 ? concat("--", what) : what);
  }
}

// Sets the mean height of the stations, and notes strange places.
void measure_heights(const Options& o, Input& input) {
  const auto heights = gravity_inversion::station_heights(
      input.problem.cells, input.problem.stations, input.ground ? &*input.ground : nullptr);
  input.height = heights.mean;
  const auto remarks =
      gravity_inversion::remarks_on_stations(input.problem.cells, input.problem.stations, heights,
                                             input.ground.has_value(), o.inversion.names);
  input.notes.insert(input.notes.end(), remarks.begin(), remarks.end());
}

}  // namespace

Input load_input(const Options& o) {
  Input input;
  auto& problem = input.problem;
  if (o.demo) {
    gravity_inversion::DykeSurvey survey = gravity_inversion::dyke_survey(100.0);
    input.data_name = input.cells_name = "the demo";
    problem.components = {Component::gz, Component::gzz, Component::gxz};
    problem.stations = std::move(survey.stations);
    problem.cells = gravity_inversion::mesh_cells(survey.mesh);
    input.truth = std::move(survey.densities);
    input.demo_errors = {0.02, 0.5, 0.5};
  } else {
    load_data(o, input);
    load_cells(o, input);
  }
  if (!o.reference.empty()) {
    problem.reference = cell_values("--reference", o.reference, problem.cells);
  }
  if (!o.start.empty()) problem.start = cell_values("--start", o.start, problem.cells);
  if (!o.truth_file.empty()) input.truth = cell_values("--true", o.truth_file, problem.cells);
  if (o.bounds) {
    problem.lower = cell_values("--bounds", o.bounds->first, problem.cells);
    problem.upper = cell_values("--bounds", o.bounds->second, problem.cells);
  }
  for (const Component component : problem.components) {
    problem.trend.push_back(static_cast<int>(o.trend.of(component, -1.0)));
  }
  measure_heights(o, input);
  for (const auto& [name, values] : {std::pair("--errors", &o.errors), {"--trend", &o.trend}}) {
    const std::string remark =
        gravity_inversion::remark_on_unused(name, values->separate, problem.components);
    if (!remark.empty()) input.notes.push_back(remark);
  }
  const auto remarks = gravity_inversion::remarks_on_options(problem, o.inversion);
  input.notes.insert(input.notes.end(), remarks.begin(), remarks.end());
  if (o.weights == Weights::depth) {
    const bool gradients = std::all_of(problem.components.begin(), problem.components.end(),
                                       [](Component c) { return c >= Component::gxx; });
    problem.weights = gravity_inversion::depth_weights(problem.cells, input.height,
                                                       o.exponent.value_or(gradients ? 3.0 : 2.0),
                                                       input.ground ? &*input.ground : nullptr);
  }
  return input;
}

}  // namespace moho::examples::invert_gravity
