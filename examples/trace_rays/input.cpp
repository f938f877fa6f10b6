// SPDX-License-Identifier: BSD-3-Clause
#include "trace_rays/input.hpp"

#include "common/builtin_models.hpp"
#include "common/memory.hpp"

#include <moho/io/csv.hpp>
#include <moho/io/model.hpp>
#include <moho/io/npy.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>

namespace moho::examples::trace_rays {

namespace {

// "(x, z) = (100, 20) m"
template <int Dim>
std::string place(const Point<Dim>& p) {
  return concat(Dim == 2 ? "(x, z) = " : "(x, y, z) = ", format_point(p), " m");
}

template <int Dim>
Point<Dim> to_point(const std::vector<double>& values) {
  Point<Dim> p{};
  for (int d = 0; d < Dim; ++d) p[d] = values[static_cast<std::size_t>(d)];
  return p;
}

// Values as they stand on the command line: x,z or x,z,y.
std::string as_written(const std::vector<double>& v) {
  return v.size() == 3 ? concat(v[0], ",", v[2], ",", v[1]) : concat(v[0], ",", v[1]);
}

template <int Dim>
void check_dimensions(const std::string& what, const std::vector<double>& values,
                      const Grid<Dim>& grid) {
  if (values.size() == Dim) return;
  throw InputError(concat(what, " ", as_written(values), " has ", values.size(),
                          " coordinates and the model ", Dim, " dimensions (", shape_string(grid),
                          " nodes): write ", Dim == 2 ? "x,z" : "x,z,y"));
}

template <int Dim>
void check_inside(const std::string& what, const Point<Dim>& p, const ModelGrid& model,
                  const Grid<Dim>& grid) {
  if (grid.contains(p)) return;
  throw InputError(
      concat(what, " at ", place<Dim>(p),
             " is outside of the model (allowed: ", describe_extent(model, " from "),
             " m): move it inside, or check --spacing and the order of the coordinates"));
}

std::string extension(const std::string& file) {
  std::string name = std::filesystem::path(file).extension().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

// Spacing of the command line along all axes.
std::vector<double> spread_spacing(const Options& o, std::size_t dimensions) {
  return spread("--spacing", o.spacing, dimensions,
                dimensions == 2 ? "one value, or dx,dz" : "one value, or dx,dz,dy");
}

}  // namespace

template <class T>
Model<T> load_model(const Options& o) {
  Model<T> model;
  if (o.model == ModelKind::file) {
    io::LoadedModel<T> file = io::read_model<T>(o.model_file);
    model.name = o.model_file;
    model.shape = std::move(file.values.shape);
    model.velocity = std::move(file.values.data);
    model.origin = file.origin;
    if (!o.spacing.empty()) {
      model.spacing = spread_spacing(o, model.shape.size());
    } else {
      model.spacing = file.spacing;
      if (!file.has_spacing()) {
        throw InputError(concat("--spacing is missing (--model ", o.model_file,
                                " does not say how far apart its nodes are): write --spacing 10 "
                                "for 10 m along all axes"));
      }
    }
    to_metres_per_second(concat("--model ", o.model_file), o.velocity_unit, file.value_unit,
                         file.length_unit, model.velocity, model.notes);
  } else {
    model.shape = o.shape;
    model.spacing = spread_spacing(o, model.shape.size());
    model.origin.assign(model.shape.size(), 0.0);
    double bytes = sizeof(T);
    for (const std::int64_t n : model.shape) bytes *= static_cast<double>(n);
    check_host_memory("--shape: the model takes", bytes, "take fewer nodes", "memory");
    if (o.model == ModelKind::gradient) {
      model.name = concat("--gradient ", o.v0, ",", o.gradient);
      std::vector<double> v0{o.v0};
      to_metres_per_second(model.name, o.velocity_unit, "", "", v0, model.notes);
      model.velocity = gradient_model<T>(model, v0.front(), o.gradient);
    } else {
      model.name = "--builtin salt";
      model.velocity = salt_model<T>(model);
    }
  }
  return model;
}

template <class T, int Dim>
void check_velocity(const Model<T>& model, const Grid<Dim>& grid) {
  const auto bad = std::find_if(model.velocity.begin(), model.velocity.end(),
                                [](T v) { return !(v > T(0)) || !std::isfinite(v); });
  if (bad == model.velocity.end()) return;
  const auto others = std::count_if(bad + 1, model.velocity.end(),
                                    [](T v) { return !(v > T(0)) || !std::isfinite(v); });
  const Index<Dim> node = grid.node(bad - model.velocity.begin());
  throw InputError(concat(model.name.rfind("--", 0) == 0 ? "" : "--model ", model.name,
                          ": the velocity is ", *bad, " m/s at node ", format_index(node), ", ",
                          place<Dim>(grid.position(node)),
                          others > 0 ? concat(", and not usable at ", others, " more nodes") : "",
                          " (allowed: positive and finite): mend the model"));
}

template <int Dim>
std::vector<Point<Dim>> make_sources(const Options& o, const ModelGrid& model,
                                     const Grid<Dim>& grid) {
  std::vector<Point<Dim>> sources;
  if (o.sources.empty()) {
    Point<Dim> p = grid.origin;
    for (int d = 0; d + 1 < Dim; ++d) p[d] = 0.5 * (grid.origin[d] + grid.upper(d));
    sources.push_back(p);
  }
  for (std::size_t s = 0; s < o.sources.size(); ++s) {
    check_dimensions("--source", o.sources[s], grid);
    sources.push_back(to_point<Dim>(o.sources[s]));
    check_inside<Dim>(concat("--source ", as_written(o.sources[s]), ": source ", s), sources.back(),
                      model, grid);
  }
  return sources;
}

namespace {

// Columns of the coordinates in a table of receivers, in the order of the axes.
template <int Dim>
std::vector<std::int64_t> coordinate_columns(const std::string& file, const io::Table& table) {
  std::vector<std::int64_t> columns;
  if (table.names.empty()) {
    if (table.columns != Dim) {
      throw InputError(concat("--receivers ", file, ": has ", table.columns,
                              " columns and no header line (allowed for a ", Dim, "D model: ",
                              Dim == 2 ? "2 columns, x and z" : "3 columns, x, y and z",
                              "): add a first line with their names"));
    }
    for (std::int64_t d = 0; d < Dim; ++d) columns.push_back(d);
    return columns;
  }
  for (int d = 0; d < Dim; ++d) {
    std::int64_t found = -1;
    for (std::size_t c = 0; c < table.names.size(); ++c) {
      std::string name = table.names[c];
      if (name.size() == 1) name[0] = static_cast<char>(std::tolower(name[0]));
      if (name == axis_name<Dim>(d)) found = static_cast<std::int64_t>(c);
    }
    if (found < 0) {
      throw InputError(concat("--receivers ", file, ": there is no column '", axis_name<Dim>(d),
                              "' (needed for a ", Dim,
                              "D model: ", Dim == 2 ? "x and z" : "x, y and z",
                              "): name the columns in the first line"));
    }
    columns.push_back(found);
  }
  return columns;
}

}  // namespace

template <int Dim>
std::vector<Point<Dim>> make_receivers(const Options& o, const ModelGrid& model,
                                       const Grid<Dim>& grid) {
  std::vector<Point<Dim>> receivers;
  if (!o.receivers_file.empty()) {
    const std::string& file = o.receivers_file;
    const std::string kind = extension(file);
    if (kind == ".npy") {
      const io::Array<double> array = io::read_npy<double>(file);
      if (array.shape.size() != 2 || array.shape[1] != Dim) {
        throw InputError(concat("--receivers ", file, ": its shape is ",
                                io::shape_string(array.shape), " (allowed for a ", Dim,
                                "D model: n x ", Dim, ", rows of ", Dim == 2 ? "x,z" : "x,y,z",
                                ")"));
      }
      for (std::size_t k = 0; k < array.data.size(); k += Dim) {
        receivers.push_back(to_point<Dim>(
            std::vector<double>(array.data.begin() + static_cast<std::ptrdiff_t>(k),
                                array.data.begin() + static_cast<std::ptrdiff_t>(k + Dim))));
      }
    } else if (kind == ".csv" || kind == ".txt") {
      const io::Table table = io::read_csv(file);
      const std::vector<std::int64_t> columns = coordinate_columns<Dim>(file, table);
      for (std::int64_t row = 0; row < table.rows(); ++row) {
        Point<Dim> p{};
        for (int d = 0; d < Dim; ++d) p[d] = table.at(row, columns[static_cast<std::size_t>(d)]);
        receivers.push_back(p);
      }
    } else {
      throw InputError(concat("--receivers ", file, ": '", kind,
                              "' is no kind of table (allowed: .csv, .txt, .npy): convert it"));
    }
    for (std::size_t k = 0; k < receivers.size(); ++k) {
      check_inside<Dim>(concat("--receivers ", file, ": receiver ", k), receivers[k], model, grid);
    }
    return receivers;
  }

  Point<Dim> begin = grid.origin;
  Point<Dim> end = grid.origin;
  if (!o.line_begin.empty()) {
    check_dimensions("--receiver-line: its end", o.line_begin, grid);
    begin = to_point<Dim>(o.line_begin);
    end = to_point<Dim>(o.line_end);
    check_inside<Dim>("--receiver-line: its first receiver", begin, model, grid);
    check_inside<Dim>("--receiver-line: its last receiver", end, model, grid);
  } else {
    end[0] = grid.upper(0);
    for (int d = 1; d + 1 < Dim; ++d) begin[d] = end[d] = 0.5 * (grid.origin[d] + grid.upper(d));
  }
  for (std::int64_t k = 0; k < o.line_count; ++k) {
    const double f =
        o.line_count > 1 ? static_cast<double>(k) / static_cast<double>(o.line_count - 1) : 0.0;
    Point<Dim> p{};
    for (int d = 0; d < Dim; ++d) p[d] = begin[d] + f * (end[d] - begin[d]);
    receivers.push_back(p);
  }
  return receivers;
}

template <int Dim>
int check_radius(const Options& o) {
  const int radius = o.radius.value_or(Dim == 2 ? 6 : 3);
  if (radius > rays::max_radius<Dim>) {
    throw InputError(concat("--radius is ", radius, " (allowed in ", Dim, "D: 1 to ",
                            rays::max_radius<Dim>, "): take a smaller one"));
  }
  return radius;
}

template Model<float> load_model(const Options&);
template Model<double> load_model(const Options&);
template void check_velocity(const Model<float>&, const Grid<2>&);
template void check_velocity(const Model<float>&, const Grid<3>&);
template void check_velocity(const Model<double>&, const Grid<2>&);
template void check_velocity(const Model<double>&, const Grid<3>&);
template std::vector<Point<2>> make_sources<2>(const Options&, const ModelGrid&, const Grid<2>&);
template std::vector<Point<3>> make_sources<3>(const Options&, const ModelGrid&, const Grid<3>&);
template std::vector<Point<2>> make_receivers<2>(const Options&, const ModelGrid&, const Grid<2>&);
template std::vector<Point<3>> make_receivers<3>(const Options&, const ModelGrid&, const Grid<3>&);
template int check_radius<2>(const Options&);
template int check_radius<3>(const Options&);

}  // namespace moho::examples::trace_rays
