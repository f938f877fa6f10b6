// SPDX-License-Identifier: BSD-3-Clause
#include "app/model_grid.hpp"

#include <moho/core/readable.hpp>

namespace moho::examples {

const char* ModelGrid::axis(std::size_t axis) const {
  const int number = static_cast<int>(axis);
  return shape.size() == 2 ? axis_name<2>(number) : axis_name<3>(number);
}

template <int Dim>
Grid<Dim> grid_of(const ModelGrid& model) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    const auto k = static_cast<std::size_t>(d);
    grid.extents[d] = model.shape[k];
    grid.spacing[d] = model.spacing[k];
    grid.origin[d] = model.origin[k];
  }
  grid.check();
  return grid;
}
template Grid<2> grid_of<2>(const ModelGrid&);
template Grid<3> grid_of<3>(const ModelGrid&);

std::string describe_extent(const ModelGrid& model, const char* from) {
  std::string text;
  for (std::size_t d = 0; d < model.shape.size(); ++d) {
    text += concat(d ? ", " : "", model.axis(d), from, readable(model.origin[d]), " to ",
                   readable(model.upper(d)));
  }
  return text;
}

std::string describe_grid(const ModelGrid& model) {
  const std::size_t dimensions = model.shape.size();
  bool same = true;
  for (const double d : model.spacing) same = same && d == model.spacing.front();
  std::string nodes, spacing;
  for (std::size_t d = 0; d < dimensions; ++d) {
    nodes += concat(d ? " x " : "", model.shape[d]);
    if (d == 0 || !same) spacing += concat(d ? " x " : "", readable(model.spacing[d]));
  }
  return concat(nodes, " nodes, ", spacing, " m apart (", describe_extent(model), " m)");
}

void add_grid(const ModelGrid& model, Json& json) {
  Json axes = Json::array();
  for (std::size_t d = 0; d < model.shape.size(); ++d) axes.push_back(model.axis(d));
  json["axes"] = axes;
  json["shape"] = model.shape;
  json["spacing"] = model.spacing;
  json["origin"] = model.origin;
}

std::vector<double> spread(const char* option, const std::vector<double>& values,
                           std::size_t dimensions, const char* form) {
  if (values.size() == dimensions) return values;
  if (values.size() == 1) return std::vector<double>(dimensions, values.front());
  throw InputError(concat(option, " has ", values.size(), " values and the model ", dimensions,
                          " dimensions: write ", form));
}

}  // namespace moho::examples
