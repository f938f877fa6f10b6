// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Models for the tests of the ray module, and copies to and from a space.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <moho/rays/paths.hpp>
#include <moho/rays/trace.hpp>

#include "spaces.hpp"

namespace moho::testing {

using Kokkos::HostSpace;

/// Returns the instance of the sequential reference.
inline Instance<HostSpace> host() { return Kokkos::DefaultHostExecutionSpace(); }

inline constexpr rays::Star all_stars[] = {rays::Star::coprime, rays::Star::full};
inline constexpr rays::WeightRule all_rules[] = {
    rays::WeightRule::slowness, rays::WeightRule::velocity, rays::WeightRule::cells,
    rays::WeightRule::sampled};
inline constexpr rays::WeightStorage both_storages[] = {rays::WeightStorage::stored,
                                                        rays::WeightStorage::on_the_fly};
inline const std::vector<rays::Method> parallel_methods = {
    rays::Method::active_tiles, rays::Method::relaxation, rays::Method::push,
    rays::Method::near_far};

/// Largest relative difference of traveltimes computed in different orders.
template <class T>
inline constexpr double same = std::is_same_v<T, float> ? 1e-6 : 1e-12;

/// A velocity model on the host.
template <int Dim>
struct Model {
  Grid<Dim> grid;
  std::vector<double> velocity;

  double at(const Index<Dim>& node) const {
    return velocity[static_cast<std::size_t>(grid.flat(node))];
  }
};

template <int Dim>
Point<Dim> all_ones() {
  Point<Dim> p{};
  for (int d = 0; d < Dim; ++d) p[d] = 1.0;
  return p;
}

/// Returns the model with velocity(node) at every node.
template <int Dim, class Velocity>
Model<Dim> make_model(const Grid<Dim>& grid, const Velocity& velocity) {
  Model<Dim> model{grid, {}};
  for (std::int64_t i = 0; i < grid.size(); ++i) model.velocity.push_back(velocity(grid.node(i)));
  return model;
}

template <int Dim>
Model<Dim> constant_model(const Index<Dim>& extents, double velocity,
                          const Point<Dim>& spacing = all_ones<Dim>(),
                          const Point<Dim>& origin = {}) {
  return make_model(Grid<Dim>{extents, spacing, origin}, [&](const auto&) { return velocity; });
}

/// Returns a model of independent random velocities from 1 to `contrast`, uniform in the logarithm.
template <int Dim>
Model<Dim> rough_model(const Index<Dim>& extents, double contrast, unsigned seed,
                       const Point<Dim>& spacing = all_ones<Dim>(), const Point<Dim>& origin = {}) {
  std::mt19937 random(seed);
  return make_model(Grid<Dim>{extents, spacing, origin}, [&](const auto&) {
    return std::exp(std::log(contrast) * static_cast<double>(random()) / 4294967296.0);
  });
}

/// Returns random positions in the model; the first is a node.
template <int Dim>
Points<Dim> random_points(const Grid<Dim>& grid, int count, unsigned seed) {
  std::mt19937 random(seed);
  Points<Dim> points;
  for (int i = 0; i < count; ++i) {
    Point<Dim> p{};
    for (int d = 0; d < Dim; ++d) {
      double q = static_cast<double>(random()) / 4294967296.0;
      q *= static_cast<double>(grid.extents[d] - 1);
      if (i == 0) q = std::floor(q);
      p[d] = grid.origin[d] + grid.spacing[d] * q;
    }
    points.push_back(p);
  }
  return points;
}

/// Copies a host array to a contiguous view on a space.
template <class Memory, class ViewType, class Value>
void to_space(const Instance<Memory>& exec, const ViewType& view,
              const std::vector<Value>& values) {
  using T = typename ViewType::non_const_value_type;
  const std::vector<T> own(values.begin(), values.end());
  ASSERT_EQ(own.size(), view.span());
  using Elements = Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  copy(exec, Elements(view.data(), own.size()), HostElements<const T>(own.data(), own.size()));
  exec.fence();
}

template <class T, int Dim, class Memory>
Field<T, Dim, Memory> velocity_field(const Instance<Memory>& exec, const Model<Dim>& model) {
  const auto field = make_field<T>(exec, model.grid, "velocity");
  to_space(exec, field, model.velocity);
  return field;
}

template <class T, int Dim, class Memory>
rays::GridGraph<T, Dim, Memory> make_graph(const Instance<Memory>& exec, const Model<Dim>& model,
                                           const rays::GraphOptions& options) {
  return rays::GridGraph<T, Dim, Memory>(exec, model.grid, velocity_field<T>(exec, model), options);
}

/// The results of trace() and ray_paths() on the host.
template <class T, int Dim>
struct Solution {
  std::vector<T> times;
  std::vector<std::int16_t> predecessors;
  rays::TraceReport report;
  rays::RayPaths<Dim> paths;
};

template <class T, int Dim, class Memory>
Solution<T, Dim> solve(const InstanceOf<Memory>& exec, const rays::GridGraph<T, Dim, Memory>& graph,
                       const Points<Dim>& sources, const rays::TraceOptions& options = {},
                       const Points<Dim>& receivers = {}) {
  Solution<T, Dim> solution;
  const std::int64_t count = static_cast<std::int64_t>(sources.size());
  const auto times = make_field_per_source<T>(exec, count, graph.grid(), "times");
  const auto predecessors =
      make_field_per_source<std::int16_t>(exec, count, graph.grid(), "predecessors");
  solution.report = rays::trace(exec, graph, sources, times, predecessors, options);
  solution.paths = rays::ray_paths(exec, graph, sources, times, predecessors, receivers);
  solution.times = download(exec, times);
  solution.predecessors = download(exec, predecessors);
  return solution;
}

/// Runs Dijkstra's algorithm on the host.
template <class T, int Dim>
Solution<T, Dim> reference(const Model<Dim>& model, rays::GraphOptions options,
                           const Points<Dim>& sources) {
  options.memory_budget = 0;
  options.storage = rays::WeightStorage::stored;
  rays::TraceOptions trace;
  trace.method = rays::Method::dijkstra;
  return solve(host(), make_graph<T>(host(), model, options), sources, trace);
}

/// Returns the largest |a - b| / b. It is infinite if one of a, b is NaN or only one is finite.
template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) /
                              std::abs(static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(largest)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

/// Returns a budget for two or three sources at a time with weights on the fly. The unit is words
/// per vertex of the padded grid.
inline int words_for_few_sources(rays::Method method) {
  switch (method) {
    case rays::Method::active_tiles:
      return 4;
    case rays::Method::near_far:
      return 24;
    default:
      return 8;
  }
}

inline std::string describe(const rays::GraphOptions& graph, rays::Method method) {
  return concat("radius ", graph.radius, ", star ", to_string(graph.star), ", rule ",
                to_string(graph.rule), ", weights ", to_string(graph.storage), ", method ",
                to_string(method));
}

/// Compares every parallel method, with stored and computed weights, with Dijkstra on the host.
template <class T, int Dim, class Memory>
void expect_dijkstra(const Instance<Memory>& exec, const Model<Dim>& model,
                     rays::GraphOptions options, const Points<Dim>& sources,
                     const std::vector<rays::Method>& methods,
                     const std::vector<rays::WeightStorage>& storages = {
                         rays::WeightStorage::stored, rays::WeightStorage::on_the_fly}) {
  const auto expected = reference<T>(model, options, sources);
  for (const auto storage : storages) {
    options.storage = storage;
    const auto graph = make_graph<T>(exec, model, options);
    for (const auto method : methods) {
      rays::TraceOptions trace;
      trace.method = method;
      const auto found = solve(exec, graph, sources, trace);
      EXPECT_LE(largest_difference(found.times, expected.times), same<T>)
          << describe(options, method) << ", shape " << shape_string(model.grid);
    }
  }
}

// model.cpp instantiates all of these templates.
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, velocity_field)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, make_graph)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, solve)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, expect_dijkstra)
MOHO_FOR_TYPES(MOHO_FUNCTION, extern template, reference)

}  // namespace moho::testing
