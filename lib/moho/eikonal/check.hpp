// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of the eikonal solvers' arguments, and the setup of their sources.

#include <moho/core/copy.hpp>
#include <moho/core/positions.hpp>
#include <moho/eikonal/detail/layout.hpp>

#include <array>
#include <vector>

namespace moho::eikonal {

/// Throws InputError if the order or another option is not allowed.
void check_options(const Options& options);

namespace detail {

/// Faults of a node's model.
enum class Fault { none = 0, velocity = 1, epsilon = 2, delta = 3, concave = 4 };

/// Returns the fault of a node's velocity, epsilon and delta.
KOKKOS_INLINE_FUNCTION Fault fault_of(double velocity, double epsilon, double delta) {
  const auto in_range = [](double value) { return value >= min_thomsen && value <= max_thomsen; };
  if (!(velocity >= min_velocity && velocity <= max_velocity)) return Fault::velocity;
  if (!in_range(epsilon)) return Fault::epsilon;
  if (!in_range(delta)) return Fault::delta;
  return delta <= epsilon + 0.25 * (1.0 + 2.0 * epsilon) + 1e-6 ? Fault::none : Fault::concave;
}

/// Predicate: a node's model has a fault.
template <class T>
struct InspectModel {
  ModelData<T> model;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    return fault_of(static_cast<double>(model.velocity[i]),
                    model.epsilon ? static_cast<double>(model.epsilon[i]) : 0.0,
                    model.delta ? static_cast<double>(model.delta[i]) : 0.0) != Fault::none;
  }
};

/// Sums slownesses.
template <class T>
struct SumSlowness {
  const T* velocity;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    sum += 1.0 / static_cast<double>(velocity[i]);
  }
};

/// Velocity, epsilon and delta of a node.
struct NodeValues {
  double velocity, epsilon, delta;
};

/// Copies the values of selected nodes.
template <class T>
struct PickNodes {
  ModelData<T> model;
  const std::int64_t* nodes;
  NodeValues* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t node = nodes[i];
    values[i] = {static_cast<double>(model.velocity[node]),
                 model.epsilon ? static_cast<double>(model.epsilon[node]) : 0.0,
                 model.delta ? static_cast<double>(model.delta[node]) : 0.0};
  }
};

/// Returns the values of selected nodes on the host.
template <class T, class Memory>
std::vector<NodeValues> pick_nodes(const Instance<Memory>& exec, const ModelData<T>& model,
                                   const std::vector<std::int64_t>& nodes) {
  const auto list = upload(exec, nodes, "moho::eikonal::nodes");
  const auto values =
      allocate<Kokkos::View<NodeValues*, Memory>>(exec, "moho::eikonal::values", nodes.size());
  launch("moho::eikonal::pick_nodes", exec, static_cast<std::int64_t>(nodes.size()),
         PickNodes<T>{model, list.data(), values.data()});
  return download(exec, values);
}

/// Throws InputError for a node with invalid values.
template <int Dim>
[[noreturn]] void refuse_node(const Grid<Dim>& grid, std::int64_t node, const NodeValues& values,
                              bool without_delta);

/// Checks the model and returns its mean slowness. Throws InputError that names the first node
/// whose velocity, epsilon or delta is not allowed.
template <class T, int Dim, class Memory>
double check_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                   const Model<T, Dim, Memory>& model, const ModelData<T>& data) {
  check_shape(grid, model.velocity, "velocity");
  if (model.epsilon.size() > 0) check_shape(grid, model.epsilon, "epsilon");
  if (model.delta.size() > 0) check_shape(grid, model.delta, "delta");
  const std::int64_t first =
      find_first("moho::eikonal::inspect_model", exec, grid.size(), InspectModel<T>{data});
  if (first != none_found) {
    refuse_node(grid, first, pick_nodes(exec, data, {first}).front(), data.delta == nullptr);
  }
  return sum_of<double>("moho::eikonal::sum_slowness", exec, grid.size(),
                        SumSlowness<T>{data.velocity}) /
         static_cast<double>(grid.size());
}

/// Returns the addresses of the fields.
template <class T, int Dim, class Memory>
ModelData<T> addresses(const Model<T, Dim, Memory>& model) {
  return {model.velocity.data(), model.epsilon.size() > 0 ? model.epsilon.data() : nullptr,
          model.delta.size() > 0 ? model.delta.data() : nullptr};
}

/// Number of edges of a source's box along an axis.
template <int Dim>
inline constexpr int edges_of = 1 << (Dim - 1);

/// Number of nodes whose values complete_sources() needs for a source: the corners of its box, then
/// for each axis and each edge along it the nodes at both ends.
template <int Dim>
inline constexpr std::size_t nodes_of_source = (1 << Dim) + 2 * Dim* edges_of<Dim>;

/// Returns the lower corner of an edge along an axis; bit d of a corner: upper end along d.
inline int corner_of_edge(int edge, int axis) {
  const int below = edge & ((1 << axis) - 1);
  return below | (edge - below) << 1;
}

/// Returns the position of the lower node of an edge among the nodes of its source. The upper node
/// follows.
template <int Dim>
std::size_t place_of_edge(int axis, int edge) {
  return static_cast<std::size_t>((1 << Dim) + 2 * (axis * edges_of<Dim> + edge));
}

/// Returns the weight of a corner in the multilinear interpolation at the source.
/// \param without axis that is left out; -1: all axes count
template <int Dim>
double corner_weight(const Source<Dim>& source, int corner, int without = -1) {
  double weight = 1.0;
  for (int d = 0; d < Dim; ++d) {
    const double upper = source.position[d] - static_cast<double>(source.box.first[d]);
    if (d != without) weight *= (corner >> d) & 1 ? upper : 1.0 - upper;
  }
  return weight;
}

/// Returns sources at positions: their coordinates in nodes and the boxes of nodes around them.
/// \param nodes out: the nodes whose values complete_sources() needs
template <int Dim>
std::vector<Source<Dim>> locate_sources(const Grid<Dim>& grid, const Points<Dim>& points,
                                        std::vector<std::int64_t>& nodes);

/// Sets the medium at each source, and the times of the nodes around the source.
///
/// Between the source and a node of its cell the slowness is assumed linear along the straight
/// line. The time is the mean of the times of two homogeneous media, exact to third order in the
/// spacing.
template <int Dim>
void complete_sources(const Grid<Dim>& grid, const std::vector<NodeValues>& values, bool factored,
                      std::vector<Source<Dim>>& sources);

/// Returns sources with all starting values of the solvers.
template <class T, int Dim, class Memory>
std::vector<Source<Dim>> make_sources(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                      const ModelData<T>& model, const Points<Dim>& points,
                                      bool factored) {
  std::vector<std::int64_t> nodes;
  std::vector<Source<Dim>> sources = locate_sources(grid, points, nodes);
  complete_sources(grid, pick_nodes(exec, model, nodes), factored, sources);
  return sources;
}

/// Throws InputError unless grid, options and sources are valid for the solvers.
template <int Dim>
void check_call(const Grid<Dim>& grid, const Points<Dim>& sources, const Options& options);

/// Checks model, grid, options and sources, and returns the mean slowness. Throws InputError if one
/// of them is invalid.
template <class T, int Dim, class Memory>
double check_input(const Instance<Memory>& exec, const Grid<Dim>& grid,
                   const Model<T, Dim, Memory>& model, const Points<Dim>& sources,
                   const Options& options) {
  check_call(grid, sources, options);
  return check_model(exec, grid, model, addresses(model));
}

}  // namespace detail

}  // namespace moho::eikonal
