// SPDX-License-Identifier: BSD-3-Clause
#include "trace_rays/input.hpp"

#include "app/builtin_models.hpp"
#include "app/memory.hpp"
#include "app/model_file.hpp"

#include <moho/core/positions.hpp>
#include <moho/eikonal/types.hpp>
#include <moho/io/model.hpp>
#include <moho/survey/points_text.hpp>
#include <moho/wave/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace moho::examples::trace_rays {

namespace {

// Text of a point: "(x, z) = (100, 20) m".
template <int Dim>
std::string position_text(const Point<Dim>& p) {
  return concat(Dim == 2 ? "(x, z) = " : "(x, y, z) = ", format_point(p), " m");
}

template <int Dim>
void check_inside(const std::string& option, const Points<Dim>& points, const std::string& name,
                  const Grid<Dim>& grid) {
  try {
    check_positions<Dim>(grid, points, name);
  } catch (const InputError& error) {
    throw InputError(concat(option, ": ", error.what()));
  }
}

// Spacing of the command line for all axes.
std::vector<double> spread_spacing(const Options& o, std::size_t dimensions) {
  return spread("--spacing", o.spacing, dimensions,
                dimensions == 2 ? "one value, or dx,dz" : "one value, or dx,dy,dz");
}

}  // namespace

template <class T>
Model<T> load_model(const Options& o) {
  Model<T> model;
  if (o.model == ModelKind::file) {
    io::LoadedModel<T> file = read_model_file<T>("--model", o.model_file, model.notes);
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
      model.name = o.model_file.empty() ? concat("--gradient ", o.v0, ",", o.gradient)
                                        : concat("--model ", o.model_file);
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
  // the limits of first_arrivals: beyond them sums and squares of traveltimes overflow
  const auto refused = [](T velocity) {
    const auto v = static_cast<double>(velocity);
    return !(v >= eikonal::min_velocity && v <= eikonal::max_velocity);
  };
  const auto bad = std::find_if(model.velocity.begin(), model.velocity.end(), refused);
  if (bad == model.velocity.end()) return;
  const auto others = std::count_if(bad + 1, model.velocity.end(), refused);
  const Index<Dim> node = grid.node(bad - model.velocity.begin());
  throw InputError(concat(model.name.rfind("--", 0) == 0 ? "" : "--model ", model.name,
                          ": the velocity is ", *bad, " m/s at node ", format_index(node), ", ",
                          position_text<Dim>(grid.position(node)),
                          others > 0 ? concat(", and not usable at ", others, " more nodes") : "",
                          " (allowed: positive and finite, ", eikonal::min_velocity, " to ",
                          eikonal::max_velocity, " m/s): correct the model"));
}

template <int Dim>
std::vector<Point<Dim>> make_sources(const Options& o, const Grid<Dim>& grid) {
  Points<Dim> sources = survey::points_from_texts<Dim>(o.sources, "--source");
  if (o.sources.empty()) {
    Point<Dim> p = grid.origin;
    for (int d = 0; d + 1 < Dim; ++d) p[d] = 0.5 * (grid.origin[d] + grid.upper(d));
    sources.push_back(p);
  }
  check_inside<Dim>("--source", sources, "source", grid);
  return sources;
}

template <int Dim>
std::vector<Point<Dim>> make_receivers(const Options& o, const Grid<Dim>& grid,
                                       std::vector<io::TextColumn>& texts) {
  if (o.receivers.empty()) {
    texts.clear();
    Point<Dim> begin = grid.origin;
    for (int d = 1; d + 1 < Dim; ++d) begin[d] = 0.5 * (grid.origin[d] + grid.upper(d));
    Point<Dim> end = begin;
    end[0] = grid.upper(0);
    return wave::point_line<Dim>(begin, end, grid.extents[0] > 1 ? default_receivers : 1);
  }
  const auto receivers = survey::points_from_text<Dim>(o.receivers, "--receivers", &texts);
  check_inside<Dim>(concat("--receivers ", o.receivers), receivers, "receiver", grid);
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
template std::vector<Point<2>> make_sources<2>(const Options&, const Grid<2>&);
template std::vector<Point<3>> make_sources<3>(const Options&, const Grid<3>&);
template std::vector<Point<2>> make_receivers<2>(const Options&, const Grid<2>&,
                                                 std::vector<io::TextColumn>&);
template std::vector<Point<3>> make_receivers<3>(const Options&, const Grid<3>&,
                                                 std::vector<io::TextColumn>&);
template int check_radius<2>(const Options&);
template int check_radius<3>(const Options&);

}  // namespace moho::examples::trace_rays
