// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Parameters of models: bounds, masks and errors.

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/fwi/objective_types.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::fwi {

/// \brief Returns the default range of a parameter without given bounds.
///
/// That of epsilon and delta stays within what models may have. It does not go below -0.45, where
/// waves are slow along one axis, unless the initial model does.
/// \param values values of the initial model
template <class T>
Range default_range(Parameter parameter, const std::vector<T>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double lowest = static_cast<double>(*low), highest = static_cast<double>(*high);
  if (is_positive(parameter)) return {0.8 * lowest, 1.2 * highest};
  const double min = std::max(lowest - 0.1, std::min(lowest, -0.45));
  return {std::max(min, wave::info(parameter).lowest),
          std::min(highest + 0.1, wave::info(parameter).highest)};
}

/// \brief Returns the bounds of each parameter, and checks the initial model against them.
///
/// Nodes with mask 0 may have values outside. The check of the model finds invalid values.
/// \param grid of the model
/// \param options parameters, bounds, mask, names
/// \param values_of function: nodal values of the initial model, by Parameter
/// \throws InputError for bounds beyond the values that models may have; with the value farthest
/// outside the bounds, and its node
template <class T, int Dim, class ValuesOf>
std::vector<Range> bounds_of(const Grid<Dim>& grid, const ObjectiveOptions<Dim>& options,
                             const ValuesOf& values_of) {
  std::vector<Range> bounds;
  for (std::size_t u = 0; u < options.parameters.size(); ++u) {
    const Parameter parameter = options.parameters[u];
    const std::vector<T>& values = values_of(parameter);
    const bool given = u < options.bounds.size() && options.bounds[u].given();
    if (given) {
      check_bounds(options.names("bounds"), options.names(to_string(parameter)), parameter,
                   options.bounds[u]);
    }
    bounds.push_back(given ? options.bounds[u] : default_range(parameter, values));
  }
  for (std::size_t u = 0; u < options.parameters.size(); ++u) {
    const Parameter parameter = options.parameters[u];
    const wave::ParameterInfo& row = wave::info(parameter);
    const std::vector<T>& values = values_of(parameter);
    std::size_t worst = 0;  // the node farthest outside
    double farthest = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = static_cast<double>(values[i]);
      const double slack = 1e-6 * std::max(1.0, std::fabs(value));
      if (!(value >= row.lowest && value <= row.highest)) continue;
      const bool constant = !options.mask.empty() && options.mask[i] == 0;
      const bool inside = value >= bounds[u].low - slack && value <= bounds[u].high + slack;
      if (constant || inside) continue;
      const double away = std::max(bounds[u].low - value, value - bounds[u].high);
      if (!(away > farthest)) continue;
      farthest = away;
      worst = i;
    }
    if (farthest == 0.0) continue;
    throw InputError(concat(options.names("bounds"), ": ", options.names(to_string(parameter)),
                            " is ", static_cast<double>(values[worst]), " at node ",
                            format_index(grid.node(static_cast<std::int64_t>(worst))),
                            " of the start (allowed: ", bounds[u].low, " to ", bounds[u].high,
                            "): widen the bounds"));
  }
  return bounds;
}

/// Returns a mask with constant nodes down to a depth in m.
template <int Dim>
std::vector<unsigned char> mask_above(const Grid<Dim>& grid, double depth) {
  std::vector<unsigned char> mask(static_cast<std::size_t>(grid.size()), 1);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const double z = grid.position(grid.node(static_cast<std::int64_t>(i)))[Dim - 1];
    if (z <= depth + 1e-6 * grid.spacing[Dim - 1]) mask[i] = 0;
  }
  return mask;
}

/// Returns a mask whose constant nodes have the value 0.
/// \param values on the nodes of the grid \param name of the values in messages
/// \throws InputError for a value that is not finite
template <class T, int Dim>
std::vector<unsigned char> mask_of(const Grid<Dim>& grid, const std::vector<T>& values,
                                   const std::string& name) {
  std::vector<unsigned char> mask;
  for (const T value : values) {
    if (!std::isfinite(value)) {
      const Index<Dim> node = grid.node(static_cast<std::int64_t>(mask.size()));
      throw InputError(concat(name, ": the value at node ", format_index(node), ", ",
                              format_point(grid.position(node)), ", is ", value,
                              " (allowed: finite; 0 keeps a node): correct it"));
    }
    mask.push_back(value == T(0) ? 0 : 1);
  }
  return mask;
}

/// Returns |values - truth| / |truth|, Euclidean norms of `count` values.
template <class T>
double relative_error(const T* values, const T* truth, std::size_t count) {
  double error = 0.0, size = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double v = static_cast<double>(truth[i]), d = static_cast<double>(values[i]) - v;
    error += d * d;
    size += v * v;
  }
  return std::sqrt(error / size);
}

}  // namespace moho::fwi
