// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Models from values on the host.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/wave/model.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace moho::wave {

/// \brief Values of a parameter on the host: one for each node, or a constant.
///
/// It refers to the values of nodes, which have to outlive it.
template <class T>
class ParameterValues {
 public:
  /// One value for each node, the last axis contiguous.
  ParameterValues(std::span<const T> nodes) : m_nodes(nodes) {}
  /// \overload
  ParameterValues(const std::vector<T>& nodes) : m_nodes(nodes) {}
  /// The same value at all nodes.
  ParameterValues(T constant) : m_constant(constant) {}
  /// Values of nodes that are all equal to `constant`: nothing is copied to a device.
  ParameterValues(std::span<const T> nodes, T constant) : m_nodes(nodes), m_constant(constant) {}

  /// Values of the nodes; empty for a constant without them.
  std::span<const T> nodes() const { return m_nodes; }
  /// The value at all nodes, if it is known to be the same.
  std::optional<T> constant() const { return m_constant; }

 private:
  std::span<const T> m_nodes;
  std::optional<T> m_constant;
};

/// Values of a model on the host, by parameter. Absent parameters are not in the map.
template <class T>
using ModelValues = std::map<Parameter, ParameterValues<T>>;

namespace detail {

/// Throws InputError unless values of nodes are as many as the nodes of a grid.
template <int Dim, class T>
void check_count(const Grid<Dim>& grid, Parameter parameter, std::span<const T> nodes) {
  if (static_cast<std::int64_t>(nodes.size()) == grid.size()) return;
  throw InputError(concat(to_string(parameter), ": it has ", nodes.size(),
                          " values (allowed: ", grid.size(), ", one for each of the ",
                          shape_string(grid), " nodes): give it on all nodes of the grid"));
}

/// A view of values of nodes on the host. Models have fields that may be written; these are not.
template <class T, int Dim>
Field<T, Dim, Kokkos::HostSpace> view_of_nodes(const Grid<Dim>& grid, std::span<const T> nodes) {
  using View = Field<T, Dim, Kokkos::HostSpace>;
  T* const data = const_cast<T*>(nodes.data());
  if constexpr (Dim == 2) {
    return View(data, grid.extents[0], grid.extents[1]);
  } else {
    return View(data, grid.extents[0], grid.extents[1], grid.extents[2]);
  }
}

/// The model of values. \param borrows fields on hosts refer to values of nodes
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> model_of_values(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                      const ModelValues<T>& values, bool borrows) {
  grid.check();
  Model<T, Dim, Memory> model;
  for (const auto& [parameter, given] : values) {
    Field<T, Dim, Memory>& field = model.field(parameter);
    const std::span<const T> nodes = given.nodes();
    if (nodes.data() != nullptr || !given.constant()) check_count(grid, parameter, nodes);
    if constexpr (is_host_memory<Memory>) {
      if (borrows && nodes.data() != nullptr) {
        field = view_of_nodes<T, Dim>(grid, nodes);
        continue;
      }
    }
    field = make_field<T>(exec, grid, to_string(parameter));
    if (given.constant()) {
      fill(exec, field, *given.constant());
    } else {
      copy(exec, field, view_of_nodes<T, Dim>(grid, nodes));
    }
  }
  exec.fence();
  return model;
}

}  // namespace detail

/// \brief A model in the memory of an instance, from values on the host.
///
///     const auto model = make_model(exec, grid, {{Parameter::vp, values}, {Parameter::density,
///     2200.0}});
///
/// It is single precision unless T is named or follows from a variable of type ModelValues<T>.
/// check_model() checks the values, and every function that a model is given to.
/// \param exec an Instance, or an instance of Kokkos; it is waited for
/// \param grid nodes of the model
/// \param values copied
/// \throws InputError where a parameter has another number of values than the grid has nodes
template <class T = float, int Dim, class Exec>
Model<T, Dim, MemoryOf<Exec>> make_model(const Exec& exec, const Grid<Dim>& grid,
                                         const ModelValues<T>& values) {
  return detail::model_of_values<T, Dim, MemoryOf<Exec>>(Instance<MemoryOf<Exec>>(exec), grid,
                                                         values, false);
}

/// \brief As make_model(), but fields on hosts refer to the values of nodes, which have to outlive
/// the model and its copies. Nothing in moho writes to them.
template <class T = float, int Dim, class Exec>
Model<T, Dim, MemoryOf<Exec>> borrow_model(const Exec& exec, const Grid<Dim>& grid,
                                           const ModelValues<T>& values) {
  return detail::model_of_values<T, Dim, MemoryOf<Exec>>(Instance<MemoryOf<Exec>>(exec), grid,
                                                         values, true);
}

}  // namespace moho::wave
