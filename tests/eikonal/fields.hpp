// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Media given by formulas, and solver runs with times on the host.

#include "spaces.hpp"

#include <moho/core/copy.hpp>
#include <moho/eikonal/eikonal.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace moho::testing {

/// Returns the instance of the sequential reference.
inline Instance<Kokkos::HostSpace> host() { return Kokkos::DefaultHostExecutionSpace(); }

/// Returns a cubic grid with n nodes along every axis and sides of the given length.
template <int Dim>
Grid<Dim> make_cube(int n, double length, double origin = 0.0) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] = n;
    grid.spacing[d] = length / (n - 1);
    grid.origin[d] = origin;
  }
  return grid;
}

/// A function of the position.
template <int Dim>
using Formula = std::function<double(const Kokkos::Array<double, Dim>&)>;

/// The formulas of a model; empty functions are absent fields.
template <int Dim>
struct Formulas {
  Formula<Dim> velocity, epsilon, delta;
  bool elliptical = false;  ///< delta is the same field as epsilon
};

/// Returns the formulas of an elliptical model.
template <int Dim>
Formulas<Dim> elliptical(Formula<Dim> velocity, Formula<Dim> epsilon) {
  return {std::move(velocity), std::move(epsilon), {}, true};
}

/// Returns a formula's values at the nodes, in memory order.
template <int Dim>
std::vector<double> values_at_nodes(const Grid<Dim>& grid,
                                    const std::type_identity_t<Formula<Dim>>& f) {
  std::vector<double> values(static_cast<std::size_t>(grid.size()));
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    values[static_cast<std::size_t>(i)] = f(grid.position(grid.node(i)));
  }
  return values;
}

/// Returns a field with a formula's values.
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> make_values(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                  const std::type_identity_t<Formula<Dim>>& f) {
  if (!f) return {};
  const std::vector<double> wide = values_at_nodes(grid, f);
  const std::vector<T> values(wide.begin(), wide.end());
  const auto field = make_field<T>(exec, grid, "values");
  copy(
      exec,
      Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(field.data(), field.size()),
      HostElements<const T>(values.data(), values.size()));
  exec.fence();
  return field;
}

/// Returns the model of some formulas.
template <class T, int Dim, class Memory>
eikonal::Model<T, Dim, Memory> make_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                          const std::type_identity_t<Formulas<Dim>>& formulas) {
  eikonal::Model<T, Dim, Memory> model{make_values<T>(exec, grid, formulas.velocity),
                                       make_values<T>(exec, grid, formulas.epsilon),
                                       make_values<T>(exec, grid, formulas.delta)};
  if (formulas.elliptical) model.delta = model.epsilon;
  return model;
}

/// Returns the values of a view on the host, in memory order.
template <class Memory, class View>
std::vector<double> to_host(const Instance<Memory>& exec, const View& view) {
  const auto values = download(exec, view);
  return std::vector<double>(values.begin(), values.end());
}

/// Returns the times of solve() on the host.
template <class T, int Dim, class Memory>
std::vector<double> solve(const Instance<Memory>& exec, const Grid<Dim>& grid,
                          const std::type_identity_t<Formulas<Dim>>& formulas,
                          const Points<Dim>& sources, const eikonal::Options& options = {}) {
  const auto model = make_model<T>(exec, grid, formulas);
  const auto times = make_field<T>(exec, grid, "times");
  eikonal::solve(exec, grid, model, sources, times, options);
  return to_host(exec, times);
}

/// Returns the times of fast_marching() on the host.
template <class T, int Dim>
std::vector<double> march(const Grid<Dim>& grid,
                          const std::type_identity_t<Formulas<Dim>>& formulas,
                          const Points<Dim>& sources, const eikonal::Options& options = {}) {
  const auto model = make_model<T>(host(), grid, formulas);
  const auto times = make_field<T>(host(), grid, "times");
  eikonal::fast_marching(host(), grid, model, sources, times, options);
  return to_host(host(), times);
}

/// Returns the largest error relative to the largest time.
template <int Dim>
double largest_error(const Grid<Dim>& grid, const std::vector<double>& times,
                     const std::type_identity_t<Formula<Dim>>& exact) {
  double worst = 0.0, latest = 0.0;
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const double t = exact(grid.position(grid.node(i)));
    const double error = std::abs(times[static_cast<std::size_t>(i)] - t);
    if (!(error <= worst)) worst = error;
    latest = std::max(latest, t);
  }
  return worst / latest;
}

/// Returns the largest difference of two fields relative to the largest value.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0, latest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= worst)) worst = difference;
    latest = std::max(latest, b[i]);
  }
  return worst / latest;
}

/// Returns a constant formula.
template <int Dim>
Formula<Dim> constant(double value) {
  return [value](const Point<Dim>&) { return value; };
}

/// Returns the velocity v0 + g z.
template <int Dim>
Formula<Dim> gradient(double v0, double g) {
  return [=](const Point<Dim>& p) { return v0 + g * p[Dim - 1]; };
}

/// Returns the traveltime in v0 + g z (circular rays, Slotnick).
template <int Dim>
Formula<Dim> gradient_time(double v0, double g, const Point<Dim>& source) {
  return [=](const Point<Dim>& p) {
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) square += (p[d] - source[d]) * (p[d] - source[d]);
    const double a = v0 + g * source[Dim - 1], b = v0 + g * p[Dim - 1];
    return std::acosh(1.0 + g * g * square / (2.0 * a * b)) / g;
  };
}

/// Returns white noise between two values; a seed and a grid always give the same noise.
template <int Dim>
Formula<Dim> noise(const Grid<Dim>& grid, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(static_cast<std::size_t>(grid.size()));
  for (double& v : values) v = uniform(random);
  return [grid, values](const Point<Dim>& p) {
    Index<Dim> node{};
    const Point<Dim> q = grid.to_index_space(p);
    for (int d = 0; d < Dim; ++d) node[d] = std::lround(q[d]);
    return values[static_cast<std::size_t>(grid.flat(node))];
  };
}

}  // namespace moho::testing
